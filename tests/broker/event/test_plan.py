"""A plan and its plays, which are in `movement.csv` or in older folders in `event.toml`."""

import tomllib
from collections import Counter
from pathlib import Path

import msgspec
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.errors import BadEvent
from broker.event import (
    EVENT,
    MOVEMENT,
    BookedPlay,
    Plan,
    by_round,
    places_of,
    read_plan,
    seating_of,
    seating_rounds,
    tables_of_rounds,
    write_plan,
)
from broker.protocol import SEATS, Player, Session
from tests.broker.scorer.small import plan

SESSION = Session(name="Morning", first_round=1, last_round=4)
WHOLE = replace(
    plan(), players=plan().players[:4], plays=plan().plays[:4], sessions=(SESSION,), teams={"A": ("1", "2", "3", "4")}
)
HEAD = "round,table,deal,east,south,west,north"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_plan(tmp_path, WHOLE)
    return tmp_path


def refused(folder: Path) -> list[tuple[str, str]]:
    with pytest.raises(BadEvent) as refusal:
        read_plan(folder)
    return [(one.code, one.text) for one in refusal.value.found]


def test_a_written_plan_is_read_unchanged(folder: Path) -> None:
    assert read_plan(folder) == WHOLE
    assert (folder / MOVEMENT).read_text().splitlines()[:2] == [HEAD, "1,1,1,p14,p03,p02,p01"]
    assert "plays" not in tomllib.loads((folder / EVENT).read_text())


def test_plays_in_event_toml_are_read(tmp_path: Path) -> None:
    (tmp_path / EVENT).write_text(tomli_w.dumps(msgspec.to_builtins(WHOLE)), encoding="utf-8")
    assert read_plan(tmp_path) == WHOLE


def test_writing_a_plan_moves_its_plays_out_of_event_toml(tmp_path: Path) -> None:
    (tmp_path / EVENT).write_text(tomli_w.dumps(msgspec.to_builtins(WHOLE)), encoding="utf-8")
    write_plan(tmp_path, read_plan(tmp_path))
    assert (read_plan(tmp_path), (tmp_path / MOVEMENT).exists()) == (WHOLE, True)


def test_a_plan_without_plays_has_no_movement_file(folder: Path) -> None:
    write_plan(folder, replace(WHOLE, plays=()))
    assert (read_plan(folder).plays, (folder / MOVEMENT).exists()) == ((), False)


def test_plays_in_both_files_are_refused(folder: Path) -> None:
    (folder / EVENT).write_text(tomli_w.dumps(msgspec.to_builtins(WHOLE)), encoding="utf-8")
    assert [code for code, _ in refused(folder)] == ["plays_twice"]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["1,1,1,a,b,c,d"] * 2 + ["1,0,1,a,b,c,d"], [("malformed", 4)]),
        (["1,1,1,a b,b,c,d", "x,1,1,a,b,c,d"], [("malformed", 2), ("malformed", 3)]),
        (["1,1,1,a,b,c"], [("malformed", 2)]),
        ([], [("no_plays", 1)]),
    ],
    ids=str,
)
def test_problems_with_a_movement_are_reported_with_file_and_line(
    folder: Path, lines: list[str], found: list[tuple[str, int]]
) -> None:
    (folder / MOVEMENT).write_text("\n".join([HEAD, *lines]))
    told = refused(folder)
    assert [(code, text.partition(": ")[0]) for code, text in told] == [
        (code, f"{MOVEMENT}, line {line}") for code, line in found
    ]


def test_a_movement_saved_by_a_spreadsheet_is_read(folder: Path) -> None:
    text = (folder / MOVEMENT).read_text()
    (folder / MOVEMENT).write_text("\ufeff" + text.replace(",", ";") + ";;;;;;\r\n", encoding="utf-8")
    assert read_plan(folder) == WHOLE


def test_columns_may_come_in_any_order(folder: Path) -> None:
    rows = [line.split(",") for line in (folder / MOVEMENT).read_text().splitlines()]
    (folder / MOVEMENT).write_text("\n".join(",".join(reversed(row)) for row in rows))
    assert read_plan(folder) == WHOLE


PLAYERS = tuple(Player(id=f"p{number:02}", name=f"Player {number}") for number in range(1, 13))


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Draw a plan in which some of twelve players sit at up to three tables in each round."""
    plays = []
    for round_ in range(1, draw(st.integers(1, 5)) + 1):
        order = draw(st.permutations([one.id for one in PLAYERS]))
        for table in range(1, draw(st.integers(1, 3)) + 1):
            players = dict(zip(SEATS, order[4 * (table - 1) : 4 * table], strict=True))
            plays.append(BookedPlay(round_, table, round_, players))
    return Plan("cup", "Cup", "oedmc-2020", PLAYERS, tuple(plays))


@given(plans())
def test_every_seat_is_listed_once(plan: Plan) -> None:
    listed = Counter(
        (one.round, one.table, one.seat, who) for who, places in seating_of(plan).items() for one in places
    )
    planned = Counter((one.round, one.table, seat, who) for one in plan.plays for seat, who in one.players.items())
    assert listed == planned
    assert [(one.round, one.table) for one in tables_of_rounds(plan)] == sorted(
        (one.round, one.table) for one in plan.plays
    )


@given(plans())
def test_a_players_seats_are_found_by_round(plan: Plan) -> None:
    for places in seating_of(plan).values():
        assert list(by_round(places).values()) == list(places)
        assert set(by_round(places)) <= set(seating_rounds(plan))


@given(plans())
def test_one_players_seats_equal_those_in_the_whole_seating(plan: Plan) -> None:
    assert {player.id: places_of(plan, player.id) for player in PLAYERS} == seating_of(plan)


def test_a_player_without_plays_has_no_seats_and_a_seat_has_its_session() -> None:
    session = Session("Saturday", 1, 1, "2026-11-28 10:00")
    plan = Plan(
        *("cup", "Cup", "oedmc-2020", PLAYERS),
        (BookedPlay(1, 1, 1, dict(zip(SEATS, ("p01", "p02", "p03", "p04"), strict=True))),),
        sessions=(session,),
    )
    assert seating_of(plan)["p12"] == ()
    assert seating_of(plan)["p03"][0].session is session
