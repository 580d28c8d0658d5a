"""A name whose letters no font has is printed as the list of players spells it; where it does not, that is said."""

from datetime import UTC, datetime
from pathlib import Path

import pypdfium2
import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from starlette.requests import Request

from broker.cli.main import homologue
from broker.event import PLAYERS, Plan, RiichiBooking, open_event, read_players
from broker.export.archive import BY_NAME, ExportSource
from broker.export.pdf import is_printable
from broker.export.seating import seating_pdf
from broker.export.spelling import spelled, spelling_notes, unprintable_names
from broker.i18n import Translator
from broker.protocol import SEATS
from broker.scorer.stored_event import open_stored_event
from broker.scorer.tables import RiichiSessions
from broker.web.results.sessions import SessionsNow, SessionsPage
from tests.broker.scorer.folders import declare, event_folder
from tests.broker.scorer.small import NAME, plan

ARABIC, HEBREW, THAI = "محمد العلي", "דוד לוי", "สมชาย ใจดี"
NAMES = {"p01": ARABIC, "p02": HEBREW, "p03": THAI, "p04": "Zoë Žižka?"}
LISTED = f"""\
id,name,first_name,last_name
p01,{ARABIC},Muhammad,Al-Ali
p02,{HEBREW},דוד,לוי
p03,{THAI},,
p04,Zoë Žižka?,Other,Name
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of an event that is over, with three names that cannot be printed."""
    players = tuple(replace(one, name=NAMES.get(one.id, one.name)) for one in plan().players)
    made = declare(event_folder(tmp_path / "cup", of=replace(plan(), players=players)))
    (made / PLAYERS).write_text(LISTED, encoding="utf-8")
    return made


def text_of(content: bytes) -> str:
    return "\n".join(page.get_textpage().get_text_bounded() for page in pypdfium2.PdfDocument(content))


@pytest.mark.parametrize("name", [one.name for one in BY_NAME.values() if one.name.endswith(".pdf")])
def test_every_printed_export_has_the_spelling_and_question_marks_where_there_is_none(folder: Path, name: str) -> None:
    stored = open_stored_event(folder)
    source = ExportSource(folder, stored, Translator("en"), datetime(2026, 5, 1, tzinfo=UTC))
    text = text_of(BY_NAME[name].content(source))
    assert ("Al-Ali" in text, "Other" in text, "????" in text) == (True, False, True)


def test_the_seating_plan_and_place_cards_have_it_too(folder: Path) -> None:
    event = open_event(folder)
    with spelled(event):
        texts = [text_of(seating_pdf(event, kind, Translator("en"))) for kind in ("names", "tables", "cards")]
    assert ["Muhammad" in text for text in texts] == [True] * 3
    assert "Muhammad" not in text_of(seating_pdf(event, "names", Translator("en")))


def test_the_sheet_of_a_riichi_session_has_it_too_from_the_desk_and_from_the_command(tmp_path: Path) -> None:
    booked = RiichiBooking(1, 7, "riichi-montreal", dict(zip(SEATS, ("p01", "p02", "p03", "p04"), strict=True)))
    players = tuple(replace(one, name=NAMES.get(one.id, one.name)) for one in plan().players)
    club = Plan(name=NAME, title="Club", profile="oedmc-2020", players=players, riichi=(booked,))
    folder = event_folder(tmp_path / "cup", [], of=club)
    (folder / PLAYERS).write_text(LISTED, encoding="utf-8")
    event = open_event(folder)
    shown = SessionsPage(lambda: event, SessionsNow(lambda: event, RiichiSessions(event.session_rules)))
    request = Request({"type": "http", "query_string": b"", "headers": [], "path_params": {"table": 7, "round": 1}})
    done = CliRunner().invoke(
        homologue, ["rules", "sheet", "--event", str(folder), "--table", "7", "--pdf", str(tmp_path / "sheet.pdf")]
    )
    for content in (shown._printed(request).body, (tmp_path / "sheet.pdf").read_bytes()):
        text = text_of(bytes(content))
        assert ("Al-Ali" in text, "Other" in text, "????" in text) == (True, False, True)
    assert (done.exit_code, [name in done.stderr for name in (ARABIC, HEBREW, THAI)]) == (0, [False, True, True])


def test_who_cannot_be_printed_is_named_by_the_list_the_event_and_the_commands(folder: Path) -> None:
    assert unprintable_names(open_event(folder)) == (("p02", HEBREW), ("p03", THAI))
    assert [code for code, _text in spelling_notes(read_players(folder / PLAYERS))] == ["name_unprintable"] * 2
    for said in (["export", "certificates"], ["event", "seating"]):
        done = CliRunner().invoke(homologue, [*said, str(folder), "--output", str(folder / f"{said[1]}.pdf")])
        assert (done.exit_code, [name in done.stderr for name in (ARABIC, HEBREW, THAI)]) == (0, [False, True, True])


@pytest.mark.parametrize(
    ("text", "printable"),
    [("Ada?", True), ("Łódź 杯 김", True), ("Žižka", True), (ARABIC, False), (f"Ada {THAI}", False)],
)
def test_a_question_mark_of_ones_own_is_none_for_want_of_letters(text: str, *, printable: bool) -> None:
    assert is_printable(text) == printable
