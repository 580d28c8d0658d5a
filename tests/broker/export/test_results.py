"""All plays as CSV: complete, and without formulas that a spreadsheet would run."""

import csv
import io
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.cli import export
from broker.cli.score import read_plays
from broker.export import results
from broker.protocol import SEATS, Seat
from broker.rules import RuleError, load_mcr
from broker.scorer import open_stored_event
from broker.scoring import ScoredPlay, compare_plays
from broker.spreadsheet import decimal
from tests.broker.scorer.small import OTHER_FORM, event

PLAYERS = dict(zip(SEATS, ("p1", "p2", "p3", "p4"), strict=True))

LINES = """\
{"deal": 1, "table": 3, "players": {"east": "a", "south": "b", "west": "c", "north": "d"}, "points": {"east": 42, "south": -8, "west": -8, "north": -26}, "fines": {"south": 4}}
{"deal": 1, "table": 4, "players": {"east": "e", "south": "f", "west": "g", "north": "h"}, "points": {"east": 0, "south": 0, "west": 0, "north": 0}}
{"deal": 2, "table": 3, "players": {"east": "a", "south": "b", "west": "c", "north": "d"}, "unplayed": {"east": "nobody", "south": "nobody", "west": "nobody", "north": "nobody"}}
{"player": "h", "award": 20, "fine": 4}
{"player": "i"}
"""  # noqa: E501 - a play is a line


def table(text: str) -> list[dict[str, str]]:
    """Read CSV."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_row_has_these_columns() -> None:
    plays = [
        ScoredPlay(1, 1, PLAYERS, dict(zip(SEATS, (42, -8, -8, -26), strict=True)), fines={"west": 4}, form="a"),
        ScoredPlay(1, 2, PLAYERS, dict(zip(SEATS, (0, 0, 0, 0), strict=True)), form="a"),
        ScoredPlay(1, 3, PLAYERS, dict(zip(SEATS, (0, 0, 0, 0), strict=True)), form="a"),
    ]

    def details(play: ScoredPlay, seat: Seat) -> results.Row:
        row: results.Row = {"event": "cup", "name": play.players[seat].upper()}
        won = 18 if seat == "east" else None
        return row | (
            {"round": 2, "win": "discard", "hand_value": won, "discarder": "north"} if play.table == 1 else {}
        )

    rows = list(results.result_rows(compare_plays(plays, load_mcr()), details=details))
    assert results.results_csv(rows).splitlines()[:4] == [
        "event,round,table,deal,form,seat,player,name,points,hand_value,win,discarder,datum,imp,fine,award,sat,country,club,instead",
        "cup,2,1,1,a,east,p1,P1,42,18,discard,north,14,7,0,0,,,,",
        "cup,2,1,1,a,south,p2,P2,-8,,discard,north,-2.667,-2,0,0,,,,",
        "cup,2,1,1,a,west,p3,P3,-8,,discard,north,-2.667,-2,4,0,,,,",
    ]


def test_the_rows_of_an_event_add_up_to_its_standings(over: Path) -> None:
    stored = open_stored_event(over)
    totals: Counter[str] = Counter()
    for row in table(results.results_csv(results.event_result_rows(stored))):
        totals[row["player"]] += int(row["imp"]) - int(row["fine"]) + int(row["award"])
    assert totals == {line.name: line.imp for line in stored.state.snapshot().ranking}


def test_each_seat_of_each_play_has_one_row_with_the_tables_result(over: Path) -> None:
    stored = open_stored_event(over)
    rows = {
        (row["table"], row["round"], row["seat"]): row
        for row in table(results.results_csv(results.event_result_rows(stored)))
    }
    assert len(rows) == 64
    for message, result in stored.results():
        for seat in SEATS:
            row = rows[str(message.table), str(result.round), seat]
            assert (row["player"], row["points"]) == (result.players[seat], str(result.points[seat]))
            assert row["hand_value"] == str(result.winners.get(seat, ""))
            assert (row["win"], row["discarder"]) == (result.win, result.discarder or "")
            assert row["name"] == event().players[row["player"]].name
            assert row["fine"] == str(result.fines[seat].imp if seat in result.fines else 0)


def test_a_fouled_deal_is_compared_only_within_its_own_form(over: Path) -> None:
    rows = table(results.results_csv(results.event_result_rows(open_stored_event(over))))
    fouled = [row for row in rows if row["form"] == OTHER_FORM]
    assert {(row["table"], row["round"]) for row in fouled} == {("3", "2")}
    assert [row["datum"] for row in fouled] == [row["points"] for row in fouled]


def test_deals_under_embargo_are_included_only_on_request(under_way: Path) -> None:
    stored = open_stored_event(under_way)
    assert results.event_result_rows(stored) == []
    assert len(results.event_result_rows(stored, embargoed=True)) == 48


def test_plays_in_json_give_one_row_per_seat_with_rulings_last() -> None:
    rows = table(
        results.results_csv(export.rows_of_plays(read_plays(enumerate(LINES.splitlines(), 1), load_mcr()), load_mcr()))
    )
    assert [(row["table"], row["deal"], row["seat"], row["datum"], row["imp"], row["fine"]) for row in rows[:2]] == [
        ("3", "1", "east", "21", "5", "0"),
        ("3", "1", "south", "-4", "-1", "4"),
    ]
    assert [(row["deal"], row["points"], row["imp"], row["award"], row["round"]) for row in rows[8:12]] == [
        ("2", "", "", "0", "")
    ] * 4
    told = [{column: text for column, text in row.items() if text} for row in rows[12:]]
    assert told == [{"player": "h", "name": "h", "fine": "4", "award": "20"}]


def test_standings_of_plays_in_json_equal_the_sum_of_their_rows() -> None:
    plays = read_plays(enumerate(LINES.splitlines(), 1), load_mcr())
    totals: Counter[str] = Counter()
    for row in table(results.results_csv(export.rows_of_plays(plays, load_mcr()))):
        totals[row["player"]] += int(row["imp"] or 0) - int(row["fine"]) + int(row["award"])
    assert {**totals, "i": 0} == {line.player: line.imp for line in export.standings_of(plays, load_mcr())}


def test_one_invalid_line_refuses_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "plays.jsonl"
    path.write_text("\ufeff" + LINES + LINES.splitlines()[0], encoding="utf-8")
    with pytest.raises(RuleError) as problem:
        export.read_played_lines(path, load_mcr())
    assert problem.value.code == "duplicate_play"


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RuleError) as problem:
        export.read_played_lines(tmp_path / "none", load_mcr())
    assert problem.value.code == "unreadable"


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), st.fractions(-50, 50, max_denominator=99))
def test_hostile_names_survive_and_start_no_formula(name: str, imp: Fraction) -> None:
    (read,) = table(results.results_csv([{"event": "=1+1", "name": name, "imp": decimal(imp)}]))
    assert read["name"] in {name, f"'{name}"}
    assert read["name"].lstrip()[:1] not in {*"=+-@＝＋－＠"}
    assert read["event"] == "'=1+1"
    assert abs(Fraction(read["imp"]) - imp) <= Fraction(1, 2000)
