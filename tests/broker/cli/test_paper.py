"""`homologue rules sheet` prints the score sheet of a riichi session."""

import json
from pathlib import Path

import pypdfium2
import pytest
from click.testing import CliRunner, Result

from broker.cli.main import homologue
from tests.refusals import codes

EVENTS = [
    {"type": "ron", "winner": 1, "loser": 2, "han": 3, "fu": 30, "riichi_declared": [1, 3]},
    {"type": "exhaustive_draw", "tenpai": [1], "riichi_declared": [1]},
    {"type": "chombo", "offender": 1},
    {"type": "multi_ron", "loser": 0, "wins": [{"winner": 2, "han": 2, "fu": 40}, {"winner": 3, "han": 5}]},
]
END = {"type": "game_end"}
LONG = [*EVENTS, *[{"type": "abort", "reason": "four_winds"}] * 30]


def sheet(*events: object, options: tuple[str, ...] = ()) -> Result:
    said = "".join(json.dumps({"event": event}) + "\n" for event in events)
    return CliRunner().invoke(homologue, ["sheet", "--players", "Ann,Bob,Cho,Dov", *options], input=said)


def test_the_sheet_lists_every_hand_its_payments_and_the_places() -> None:
    told = sheet(*EVENTS, END).stdout.splitlines()
    assert told[0] == "Session: Riichi, Montréal club"
    assert [" ".join(line.split()) for line in told[2:]] == [
        "Ann Bob Cho Dov on the table",
        "start 25000 25000 25000 25000",
        "E1 ron Bob from Cho, riichi: Bob + Dov 25000 +4900 29900 -3900 21100 -1000 24000",
        "E2 draw, tenpai: Bob, riichi: Bob -1000 24000 +2000 31900 -1000 20100 -1000 23000 1",
        "E2 +1 chombo: Bob +4000 28000 -12000 19900 +4000 24100 +4000 27000 1",
        "E3 +1 ron Cho + Dov from Ann -12200 15800 19900 +5200 29300 +8000 35000",
        "E3 +2 end of session; remaining deposits paid out 15800 19900 29300 35000",
        "",
        "place 4 3 2 1",
    ]


def test_an_unfinished_session_says_with_which_hand_it_continues() -> None:
    assert sheet(*EVENTS).stdout.splitlines()[-1] == "continues with E3"
    assert sheet().stdout.splitlines()[-1] == "continues with E1"


def test_the_pdf_has_the_same_content_as_the_text(tmp_path: Path) -> None:
    file = tmp_path / "session.pdf"
    assert sheet(*LONG, END, options=("--pdf", str(file), "--language", "fr")).exit_code == 0
    document = pypdfium2.PdfDocument(file)
    pages = [page.get_textpage().get_text_range() for page in document]
    document.close()
    assert len(pages) == 2
    assert "Ann" in pages[0]
    assert "départ" in pages[0]
    assert "rang 4 3 2 1" in pages[1]
    again = file.read_bytes()
    sheet(*LONG, END, options=("--pdf", str(file), "--language", "fr"))
    assert file.read_bytes() == again


def test_an_impossible_event_is_reported_and_nothing_is_written(tmp_path: Path) -> None:
    file = tmp_path / "session.pdf"
    said = sheet(EVENTS[0], {"type": "exhaustive_draw", "tenpai": [4]}, options=("--pdf", str(file)))
    assert (said.exit_code, file.exists()) == (1, False)
    assert said.stderr == "homologue: player 4: there are 0, 1, 2 and 3, in turn order [no_such_player]\n"
    over = sheet(END, EVENTS[0])
    assert (over.exit_code, codes(over.stderr), "event 2: " in over.stderr) == (1, ["session_over"], True)


@pytest.mark.parametrize("players", ["Ann,Bob,Cho", "Ann,Bob,Cho,", ""])
def test_four_names_are_needed(players: str) -> None:
    assert CliRunner().invoke(homologue, ["sheet", "--players", players], input="").exit_code == 2


def test_a_sheet_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    said = sheet(END, options=("--pdf", str(tmp_path / "none" / "x.pdf")))
    assert (said.exit_code, "No such file" in said.stderr) == (1, True)
