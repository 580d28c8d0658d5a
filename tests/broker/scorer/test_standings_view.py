"""Standings as a file: one that spreadsheets open safely, and that is there whole or not yet."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.event import STANDINGS, Origin
from broker.protocol import Player, Standing
from broker.scorer import standing_rows, standings_csv
from broker.scorer.publisher import LARGE_EVENT
from broker.scorer.service import Scorer
from broker.scorer.standings import write_standings_csv
from broker.scoring import Ranked
from tests.benchmarks.scorer.large import large_event, plays
from tests.broker.scorer.hall import Ear, admitting, open_journal, put
from tests.patience import PATIENCE_S

T = TypeVar("T")


def row(name: str, player: str = "p01") -> Standing:
    return Standing(place=1, player=player, name=name, imp=-3, fines=4, plays=2)


def name_in(text: str) -> str:
    """Return the name in the second line of a CSV file."""
    _, (_, _, name, *_) = csv.reader(io.StringIO(text, newline=""))
    return name


def test_a_file_is_this_to_the_byte() -> None:
    assert standings_csv([row("Ana")]) == "place,player,name,imp,fines,plays,country,club\r\n1,p01,Ana,-3,4,2,,\r\n"


def test_country_and_club_stand_behind_all_other_columns_and_are_no_formula_either() -> None:
    written = standings_csv([row("Ana")], {"p01": Origin("FR", "=Club")}.__getitem__)
    assert written.splitlines()[1] == "1,p01,Ana,-3,4,2,FR,'=Club"


def test_a_mean_of_imps_is_written_as_a_decimal_that_no_spreadsheet_takes_for_a_date() -> None:
    mean = Standing(place=1, player="p01", name="Ana", imp="-7/3", fines=0, plays=2)
    assert standings_csv([mean]).splitlines()[1].split(",")[3] == "-2.333"


def test_nobody_leaves_the_header() -> None:
    assert standings_csv([]) == "place,player,name,imp,fines,plays,country,club\r\n"


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", " =", "\u3000＝"])
def test_a_name_that_would_be_a_formula_is_made_text(first: str) -> None:
    assert name_in(standings_csv([row(f"{first}1+1")])) == f"'{first}1+1"


def test_a_player_s_id_that_would_be_a_formula_is_made_text() -> None:
    assert standings_csv([row("Ana", player="-1")]).splitlines()[1] == "1,'-1,Ana,-3,4,2,,"


def test_numbers_stay_numbers() -> None:
    assert standings_csv([row("Ana")]).splitlines()[1].split(",")[3] == "-3"


@pytest.mark.parametrize(
    "name", ["Li, Wei", 'Ana "Tiger" Silva', "two\nlines", "李伟", "Zoë", "a'b", "x=1", "O’Neill - Tom"]
)
def test_any_other_name_comes_back_as_it_was(name: str) -> None:
    assert name_in(standings_csv([row(name)])) == name


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_no_cell_with_a_name_begins_a_formula_and_no_name_is_lost(name: str) -> None:
    cell = name_in(standings_csv([row(name)]))
    assert cell in {name, f"'{name}"}
    assert cell[0] not in "=+-@\t\r\n＝＋－＠"
    assert cell.lstrip()[:1] not in {*"=+-@＝＋－＠"}


def test_lines_have_the_names_of_the_players() -> None:
    ranked = [Ranked(1, "p01", 3, 4, 2), Ranked(2, "p02", 1, 0, 2), Ranked(3, "gone", 0, 0, 1)]
    named = standing_rows(ranked, {"p01": Player(id="p01", name="Ana"), "p02": Player(id="p02", name="Ben")})
    assert [(one.place, one.player, one.name, one.imp, one.fines, one.plays) for one in named] == [
        (1, "p01", "Ana", 3, 4, 2),
        (2, "p02", "Ben", 1, 0, 2),
        (3, "gone", "gone", 0, 0, 1),
    ]


def test_a_reader_of_the_old_file_reads_it_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "standings.csv"
    write_standings_csv(path, standings_csv([row("Ana")]))
    with path.open(encoding="utf-8", newline="") as reader:
        write_standings_csv(path, standings_csv([row("Ben")]))
        assert reader.read() == standings_csv([row("Ana")])
    assert path.read_bytes().decode("utf-8") == standings_csv([row("Ben")])
    assert [file.name for file in tmp_path.iterdir()] == ["standings.csv"]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "standings.csv"
    write_standings_csv(path, standings_csv([row("Ana")]))
    with pytest.raises(UnicodeEncodeError):
        write_standings_csv(path, standings_csv([row("half a character: \ud800")]))
    assert path.read_bytes().decode() == standings_csv([row("Ana")])


def test_a_large_room_hears_who_leads_once_a_second_and_the_last_word_always(tmp_path: Path) -> None:
    told = large_room(tmp_path, lambda _, ear: [json.loads(one)["plays_in"] for one in bodies(ear)])
    assert told == [[1], [1], [1], [1, 2]]


def test_a_large_room_hears_of_plays_once_a_second_and_of_the_last_always(tmp_path: Path) -> None:
    told = large_room(tmp_path, lambda _, ear: sum("/traveller/" in one and "public" not in one for one in ear.story))
    assert told == [1, 1, 1, 2]


def test_a_large_room_is_shown_twenty_times_a_second_and_the_last_of_it_always(tmp_path: Path) -> None:
    shown = large_room(tmp_path, lambda scorer, _: scorer.feed.current.plays_in, scale=0.05)
    assert shown == [1, 1, 1, 2]


def test_results_are_taken_while_what_shows_all_players_is_made_bit_by_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.scorer.publisher.SLICE_S", 0.0)
    monkeypatch.setattr("broker.scorer.standings.LINES_AT_ONCE", 100)
    event, ear, steps = large_event(LARGE_EVENT // 4 + 1, 1), Ear(), 0
    file = tmp_path / STANDINGS
    with open_journal(tmp_path, event.name) as journal:
        scorer = admitting(Scorer(event, journal, tmp_path, lambda: 0, lambda: 0.0), event)
        scorer.publisher.link, empty = ear, file.read_bytes()
        while scorer.publisher.busy or not steps:
            steps += 1
            for message in (one for one in plays(event) if one.table == steps):
                put(scorer, message)
            assert file.read_bytes() == empty
            scorer.step(timeout=PATIENCE_S)
            assert scorer.state.plays_in == steps
            assert sum("/traveller/" in topic or topic.endswith("/standings") for topic in ear.story) <= 1
            ear.forget()
        assert file.read_bytes() != empty
    assert steps > len(event.players) / 100


def test_what_was_begun_of_all_players_is_begun_again_and_ended_where_somebody_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.scorer.publisher.SLICE_S", 0.0)
    event, ear = large_event(LARGE_EVENT // 4 + 1, 1), Ear()
    with open_journal(tmp_path, event.name) as journal:
        scorer = admitting(Scorer(event, journal, tmp_path, lambda: 0, lambda: 0.0), event)
        scorer.publisher.link = ear
        for message in (one for one in plays(event) if one.table == 1):
            put(scorer, message)
        scorer.step(timeout=0)
        assert (scorer.publisher.busy, bodies(ear)) == (True, [])
        scorer.publisher.hurry()
        assert scorer.publisher.standings_if_due(whole=True) == []
        assert not scorer.publisher.busy
        assert [json.loads(one)["plays_in"] for one in bodies(ear)] == [1]
        assert (tmp_path / STANDINGS).read_bytes().decode() == standings_csv(scorer.state.snapshot().standings)


def large_room(folder: Path, look: Callable[[Scorer, Ear], T], scale: float = 1.0) -> list[T]:
    """Let two results come soon after each other, then nothing; look at 0, 0.5, 0.9 and 1.1 times `scale` seconds."""
    event, ear, now = large_event(LARGE_EVENT // 4 + 1, 1), Ear(), [0.0]
    first, second = ([one for one in plays(event) if one.table == table] for table in (1, 2))
    looked = []
    with open_journal(folder, event.name) as journal:
        scorer = admitting(Scorer(event, journal, folder, lambda: 0, lambda: now[0]), event)
        scorer.publisher.link = ear
        for at, come in ((0.0, first), (0.5, second), (0.9, []), (1.1, [])):
            now[0] = at * scale
            for message in come:
                put(scorer, message)
            scorer.step(timeout=0)
            looked.append(look(scorer, ear))
    return looked


def bodies(ear: Ear) -> list[bytes]:
    return [payload for topic, payload, _ in ear.said if topic.endswith("/standings") and "public" not in topic]
