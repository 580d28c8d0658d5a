"""The audit reports exactly what is wrong, and the luck of the deal agrees with a calculation by hand."""

import csv
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from broker.event import STANDINGS
from broker.protocol import SEATS, Confirmed, LogMessage, Restored, Result, Seat
from broker.rules import Outcome
from broker.scorer import as_json
from broker.scorer.service import Scorer
from broker.sim.demo_audit import audit_event, facts, kept_problems, luck_lines
from broker.store import SqliteJournal
from tests.broker.scorer.small import NAME, OTHER_FORM, event, result, whole_event

Log = list[LogMessage]
PLAYS: Final = 16
STORE: Final = "scorer.sqlite"
AT: Final = (2, 1)
"""Table and round of the play that the tests alter."""
DEAL: Final = event().bookings[AT].deal


def correct_log() -> Log:
    """Return a log in which every deal is laid as planned and nobody wins the deal of `AT`.

    It has no judged plays, so everything counts, whatever the tests remove or change.
    """
    return [
        replace(one, fact=result(one.table, one.fact.round, Outcome("draw", {}), one.fact.fines))
        if isinstance(one.fact, Result) and one.fact.deal == DEAL
        else one
        for one in whole_event()
        if not (isinstance(one.fact, Restored) and one.fact.form == OTHER_FORM)
    ]


def scored(folder: Path, log: Log) -> dict[str, Any]:
    """Store a log, let a real scorer load it and write its standings, and return its view."""
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        with journal.commit():
            for message in log:
                journal.append(message, 0)
        view: dict[str, Any] = json.loads(as_json(Scorer(event(), journal, folder, lambda: 0).feed.current))
    return view


def found(folder: Path, view: dict[str, Any]) -> list[str]:
    return audit_event(folder / STORE, folder / STANDINGS, view, PLAYS)


def without(kind: type[Any]) -> Log:
    return [one for one in correct_log() if (one.table, one.fact.round) != AT or not isinstance(one.fact, kind)]


def repeated(kind: type[Any]) -> Log:
    """Return the fact once more, numbered after the result, where it changes no IMP."""
    return [replace(one, seq=99, id="repeated") for one in correct_log() if one not in without(kind)]


def with_result(at: tuple[int, int], change: Callable[[Result], Result]) -> Log:
    return [
        replace(one, fact=change(one.fact))
        if isinstance(one.fact, Result) and (one.table, one.fact.round) == at
        else one
        for one in correct_log()
    ]


def test_the_audit_finds_nothing_if_all_is_right(tmp_path: Path) -> None:
    view = scored(tmp_path, correct_log())
    assert found(tmp_path, view) == []


def test_a_play_without_any_message_is_reported(tmp_path: Path) -> None:
    view = scored(tmp_path, without(object))
    assert found(tmp_path, view) == ["15 results of 15 plays, should be one each of 16"]


def test_a_play_without_a_result_is_reported(tmp_path: Path) -> None:
    view = scored(tmp_path, without(Result))
    assert found(tmp_path, view) == [
        "15 results of 15 plays, should be one each of 16",
        "not every play was restored",
        "not every play was confirmed",
    ]


def test_a_duplicate_result_is_reported(tmp_path: Path) -> None:
    view = scored(tmp_path, correct_log() + repeated(Result))
    assert found(tmp_path, view) == ["17 results of 16 plays, should be one each of 16"]


@pytest.mark.parametrize(("kind", "word"), [(Restored, "restored"), (Confirmed, "confirmed")])
def test_a_play_that_was_not_restored_or_not_confirmed_is_reported(tmp_path: Path, kind: type[Any], word: str) -> None:
    view = scored(tmp_path, without(kind))
    assert found(tmp_path, view) == [f"not every play was {word}"]


def test_a_deal_played_in_two_forms_is_reported(tmp_path: Path) -> None:
    in_other_form = [replace(one, fact=replace(one.fact, form=OTHER_FORM)) for one in repeated(Restored)]
    view = scored(tmp_path, correct_log() + in_other_form)
    assert found(tmp_path, view) == [f"deal {DEAL} was played in 2 forms"]


@pytest.mark.parametrize("round_", [1, 2, 3, 4])
@pytest.mark.parametrize("seat", SEATS)
def test_a_wrong_point_is_reported_with_its_play(tmp_path: Path, round_: int, seat: Seat) -> None:
    at = (3, round_)
    (fact,) = [one.fact for one in correct_log() if isinstance(one.fact, Result) and (one.table, one.fact.round) == at]
    wrong = {**fact.points, seat: fact.points[seat] + 1}
    view = scored(tmp_path, correct_log())
    # Alter it in the store, as a scorer starting with it would set it aside.
    (tmp_path / STORE).unlink()
    with closing(SqliteJournal(tmp_path / STORE, NAME)) as journal, journal.commit():
        for message in with_result(at, lambda fact: replace(fact, points=wrong)):
            journal.append(message, 0)
    first, *others = found(tmp_path, view)
    assert first == f"points of deal {fact.deal} at table 3: {wrong}, should be {dict(fact.points)}"
    assert [one for one in others if not one.startswith(("page, ", "standings"))] == []  # IMPs that one point moves


def test_a_wrong_imp_on_the_page_is_reported_with_its_seat(tmp_path: Path) -> None:
    view = scored(tmp_path, correct_log())
    play = view["plays"][0]
    imp = play["seats"]["west"]["imp"]
    play["seats"]["west"]["imp"] = imp + 1
    assert found(tmp_path, view) == [
        f"page, deal {play['deal']} at table {play['table']}, west: {imp + 1} IMP, should be {imp}"
    ]


def test_a_play_missing_from_the_page_is_reported_for_every_seat(tmp_path: Path) -> None:
    view = scored(tmp_path, correct_log())
    play = view["plays"].pop()
    assert found(tmp_path, view) == [
        f"page, deal {play['deal']} at table {play['table']}, {seat}: None IMP, should be {play['seats'][seat]['imp']}"
        for seat in SEATS
    ]


@pytest.mark.parametrize("column", ["place", "imp"])
def test_a_wrong_place_or_imp_in_the_standings_is_reported_with_its_player(tmp_path: Path, column: str) -> None:
    view = scored(tmp_path, correct_log())
    path = tmp_path / STANDINGS
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    before = (int(lines[4]["place"]), int(lines[4]["imp"]))
    lines[4][column] = str(int(lines[4][column]) + 1)
    after = (int(lines[4]["place"]), int(lines[4]["imp"]))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, lines[0].keys())
        writer.writeheader()
        writer.writerows(lines)
    player = lines[4]["player"]
    assert found(tmp_path, view) == [f"standings.csv: {[(player, before), (player, after)]}"]


LAID: Final[dict[str, dict[str, Any]]] = {
    "east": {"river": [5, 0, 7], "melds": [[1, 2, 3]], "hand": [9, 8]},
    "south": {"river": [44], "hand": None},
}


def problems_of_records(*seats: dict[str, Any]) -> list[str]:
    """Return the problems if table 2 recorded these plays, compared with `LAID`."""
    journal = [{"type": "laid", "table": 2, "seats": one} for one in seats]
    return list(kept_problems(journal, 2, {"laid": LAID}))


def test_a_recorded_play_is_compared_with_the_laid_tiles_in_either_direction_of_a_river() -> None:
    reversed_river = {"east": {"river": [7, 0, 0, 5], "melds": [[3, 1, 2]], "hand": [8, 9]}, "south": {"river": [44]}}
    assert problems_of_records(LAID) == problems_of_records(reversed_river) == []
    assert problems_of_records() == ["table 2 kept 0 plays, should be 1"]
    assert problems_of_records(LAID, LAID) == ["table 2 kept 2 plays, should be 1"]
    for part, read in (("river", [5, 8]), ("melds", [[1, 2, 4]]), ("hand", [9])):
        (problem,) = problems_of_records({**LAID, "east": {**LAID["east"], part: read}})
        assert problem.startswith("east of the play that table 2 kept")
    assert len(problems_of_records({"south": LAID["south"]})) == 1


@pytest.mark.parametrize("name", ["de#mo", "de?mo", "100%20", "a b"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    scored(tmp_path / name, correct_log())
    assert len(facts(tmp_path / name / STORE)) == len(correct_log())
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_missing_store_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError):
        facts(tmp_path / STORE)
    assert list(tmp_path.iterdir()) == []


def test_the_spread_of_points_compared_points_and_imps_is_reported() -> None:
    results = [
        {"deal": 1, "table": table, "points": dict(zip(SEATS, points, strict=True))}
        for table, points in ((1, (30, -10, -10, -10)), (2, (50, -10, -30, -10)))
    ]
    imps: dict[tuple[int, int, str], int] = {
        (1, table, seat): sign * 3 for table, sign in ((1, -1), (2, 1)) for seat in SEATS
    }
    assert list(luck_lines(results, imps)) == [
        "Luck of the deal: a seat was worth from -20 to +40 points on average.",
        "  points as scored: from -30 to +50, spread 24.5",
        "  points against the same seat at the other tables: from -10 to +10, spread 7.1",
        "  IMP: from -3 to +3, spread 3.0",
    ]


def test_nothing_is_reported_without_results() -> None:
    assert list(luck_lines([], {})) == []
