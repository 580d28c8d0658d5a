"""The audit finds nothing where all is right, and names exactly what is wrong; the luck of the deal adds up by hand."""

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
"""Table and round of the play with which something is wrong."""
DEAL: Final = event().bookings[AT].deal


def right() -> Log:
    """Return what the tables say where every deal lies as planned; nobody wins the deal of `AT`, at any table.

    It is from before plays were judged: all of it counts, whatever the tests take out or change.
    """
    return [
        replace(one, fact=result(one.table, one.fact.round, Outcome("draw", {}), one.fact.fines))
        if isinstance(one.fact, Result) and one.fact.deal == DEAL
        else one
        for one in whole_event()
        if not (isinstance(one.fact, Restored) and one.fact.form == OTHER_FORM)
    ]


def scored(folder: Path, log: Log) -> dict[str, Any]:
    """Keep a log in a store and let a real scorer read it, write its standings, and give its view."""
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        with journal.commit():
            for message in log:
                journal.append(message, 0)
        view: dict[str, Any] = json.loads(as_json(Scorer(event(), journal, folder, lambda: 0).feed.current))
    return view


def found(folder: Path, view: dict[str, Any]) -> list[str]:
    return audit_event(folder / STORE, folder / STANDINGS, view, PLAYS)


def without(kind: type[Any]) -> Log:
    return [one for one in right() if (one.table, one.fact.round) != AT or not isinstance(one.fact, kind)]


def said_again(kind: type[Any]) -> Log:
    """Return the fact once more, with a number after the result: there it changes no IMP."""
    return [replace(one, seq=99, id="said-again") for one in right() if one not in without(kind)]


def with_result(at: tuple[int, int], change: Callable[[Result], Result]) -> Log:
    return [
        replace(one, fact=change(one.fact))
        if isinstance(one.fact, Result) and (one.table, one.fact.round) == at
        else one
        for one in right()
    ]


def test_where_all_is_right_nothing_is_found(tmp_path: Path) -> None:
    view = scored(tmp_path, right())
    assert found(tmp_path, view) == []


def test_a_play_of_which_nothing_came_is_missed(tmp_path: Path) -> None:
    view = scored(tmp_path, without(object))
    assert found(tmp_path, view) == ["15 results of 15 plays, should be one each of 16"]


def test_a_play_without_its_result_is_missed(tmp_path: Path) -> None:
    view = scored(tmp_path, without(Result))
    assert found(tmp_path, view) == [
        "15 results of 15 plays, should be one each of 16",
        "not every play was restored",
        "not every play was confirmed",
    ]


def test_a_result_that_is_there_twice_is_named(tmp_path: Path) -> None:
    view = scored(tmp_path, right() + said_again(Result))
    assert found(tmp_path, view) == ["17 results of 16 plays, should be one each of 16"]


@pytest.mark.parametrize(("kind", "word"), [(Restored, "restored"), (Confirmed, "confirmed")])
def test_a_play_that_was_not_restored_or_not_confirmed_is_missed(tmp_path: Path, kind: type[Any], word: str) -> None:
    view = scored(tmp_path, without(kind))
    assert found(tmp_path, view) == [f"not every play was {word}"]


def test_a_deal_that_lay_in_two_forms_is_named(tmp_path: Path) -> None:
    otherwise = [replace(one, fact=replace(one.fact, form=OTHER_FORM)) for one in said_again(Restored)]
    view = scored(tmp_path, right() + otherwise)
    assert found(tmp_path, view) == [f"deal {DEAL} was played in 2 forms"]


@pytest.mark.parametrize("round_", [1, 2, 3, 4])
@pytest.mark.parametrize("seat", SEATS)
def test_one_point_that_is_wrong_is_named_with_its_play(tmp_path: Path, round_: int, seat: Seat) -> None:
    at = (3, round_)
    (fact,) = [one.fact for one in right() if isinstance(one.fact, Result) and (one.table, one.fact.round) == at]
    wrong = {**fact.points, seat: fact.points[seat] + 1}
    view = scored(tmp_path, right())
    # Altered in the store: a scorer that starts with it would set it aside.
    (tmp_path / STORE).unlink()
    with closing(SqliteJournal(tmp_path / STORE, NAME)) as journal, journal.commit():
        for message in with_result(at, lambda fact: replace(fact, points=wrong)):
            journal.append(message, 0)
    first, *others = found(tmp_path, view)
    assert first == f"points of deal {fact.deal} at table 3: {wrong}, should be {dict(fact.points)}"
    assert [one for one in others if not one.startswith(("page, ", "standings"))] == []  # IMPs that one point moves


def test_one_imp_on_the_page_that_is_wrong_is_named_with_its_seat(tmp_path: Path) -> None:
    view = scored(tmp_path, right())
    play = view["plays"][0]
    said = play["seats"]["west"]["imp"]
    play["seats"]["west"]["imp"] = said + 1
    assert found(tmp_path, view) == [
        f"page, deal {play['deal']} at table {play['table']}, west: {said + 1} IMP, should be {said}"
    ]


def test_a_play_that_is_not_on_the_page_is_missed_at_every_seat(tmp_path: Path) -> None:
    view = scored(tmp_path, right())
    play = view["plays"].pop()
    assert found(tmp_path, view) == [
        f"page, deal {play['deal']} at table {play['table']}, {seat}: None IMP, should be {play['seats'][seat]['imp']}"
        for seat in SEATS
    ]


@pytest.mark.parametrize("column", ["place", "imp"])
def test_a_place_or_imp_that_is_wrong_in_the_standings_is_named_with_its_player(tmp_path: Path, column: str) -> None:
    view = scored(tmp_path, right())
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
    who = lines[4]["player"]
    assert found(tmp_path, view) == [f"standings.csv: {[(who, before), (who, after)]}"]


LAID: Final[dict[str, dict[str, Any]]] = {
    "east": {"river": [5, 0, 7], "melds": [[1, 2, 3]], "hand": [9, 8]},
    "south": {"river": [44], "hand": None},
}


def kept(*seats: dict[str, Any]) -> list[str]:
    """Return what is wrong where these were read at table 2, each from what lay there."""
    journal = [{"type": "laid", "table": 2, "seats": one} for one in seats]
    return list(kept_problems(journal, 2, {"laid": LAID}))


def test_a_kept_play_is_held_against_what_lay_there_whichever_way_round_a_river_was_seen() -> None:
    turned = {"east": {"river": [7, 0, 0, 5], "melds": [[3, 1, 2]], "hand": [8, 9]}, "south": {"river": [44]}}
    assert kept(LAID) == kept(turned) == []
    assert kept() == ["table 2 kept 0 plays, should be 1"]
    assert kept(LAID, LAID) == ["table 2 kept 2 plays, should be 1"]
    for part, read in (("river", [5, 8]), ("melds", [[1, 2, 4]]), ("hand", [9])):
        (problem,) = kept({**LAID, "east": {**LAID["east"], part: read}})
        assert problem.startswith("east of the play that table 2 kept")
    assert len(kept({"south": LAID["south"]})) == 1


@pytest.mark.parametrize("name", ["de#mo", "de?mo", "100%20", "a b"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    scored(tmp_path / name, right())
    assert len(facts(tmp_path / name / STORE)) == len(right())
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError):
        facts(tmp_path / STORE)
    assert list(tmp_path.iterdir()) == []


def test_the_spread_is_told_of_points_of_points_compared_and_of_imps() -> None:
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


def test_without_results_nothing_is_told() -> None:
    assert list(luck_lines([], {})) == []
