"""The demo's plays are legal by the referee, and the scripts of the tables say what was played and what is staged."""

import json
import stat
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from msgspec.structs import replace

from broker.event import DEALS, HANDS, SETS, open_event, read_hands
from broker.event.movement import sixteen_players
from broker.protocol import SEATS, Seat
from broker.rules.mcr import fan_judge, replay_actions
from broker.sim.demo_event import make_event, player_strengths, stage_plays
from broker.sim.table import EventPlay
from tests.broker.rules.variants import OEDMC
from tests.broker.sim.playing import played

SEED = 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "event"
    make_event(path, rounds=2, seed=SEED)
    return path


def courses(folder: Path) -> dict[tuple[int, int], dict[str, Any]]:
    return {
        (table, course["round"]): course
        for table in range(1, 5)
        for course in json.loads((folder / f"table-{table}.plays.json").read_text())["plays"]
    }


def test_what_the_tables_act_out_is_how_the_kept_hands_end(folder: Path) -> None:
    event, acted, judge = open_event(folder), courses(folder), fan_judge(OEDMC)
    deals = {record.number: record.deal() for record in event._deals.values()}
    found = {}
    for hand in read_hands(folder):
        assert event.bookings[hand.table, hand.round].deal == hand.deal
        end = replay_actions(deals[hand.deal], hand.actions, OEDMC, judge)
        win = {"self_hu": "self_drawn", "hu_on_discard": "discard"}.get(hand.actions[-1].do, "draw")
        winners = {won.hu.seat: won.hand_value for won in end.wins}
        found[hand.table, hand.round] = (win, winners, end.turns.turn if win == "discard" else None)
    assert found == {key: (one["win"], one["winners"], one["discarder"]) for key, one in acted.items()}


def test_secrets_and_what_was_played_are_for_their_owner_alone(folder: Path) -> None:
    tables = [f"table-{table}.plays.json" for table in range(1, 5)]
    keys = [str(path.relative_to(folder)) for path in folder.rglob("*.key")]
    assert len(keys) > len(tables)
    private = [HANDS, DEALS, SETS, "credentials.json", *tables, *keys]
    assert {name: oct(stat.S_IMODE((folder / name).stat().st_mode)) for name in private} == dict.fromkeys(
        private, "0o600"
    )


def test_somebody_declares_falsely_who_does_not_win_that_play(folder: Path) -> None:
    false = [(seat, course) for course in courses(folder).values() for seat in course["false_hu"]]
    assert 1 <= len(false) <= 2
    assert [seat for seat, course in false if seat in course["winners"]] == []


def test_a_tray_is_laid_wrongly_at_every_other_table_in_the_first_round(folder: Path) -> None:
    slips = {key for key, course in courses(folder).items() if course["slips"]}
    assert slips == {(1, 1), (3, 1)}


def test_nobody_is_as_strong_as_another() -> None:
    assert sorted(player_strengths(1)) == list(range(1, 17))
    assert len(set(player_strengths(1).values())) == 16
    assert player_strengths(1) == player_strengths(1) != player_strengths(2)


BOOKINGS: Final = sixteen_players()[:3]


def ended(*tempted: tuple[Seat, ...]) -> list[EventPlay]:
    return [
        EventPlay(booking, replace(played(1), tempted=seats)) for booking, seats in zip(BOOKINGS, tempted, strict=True)
    ]


def false_hu(plays: list[EventPlay]) -> list[set[Seat]]:
    return [set(one.false_hu) for of_table in stage_plays(plays, Random(1)).values() for one in of_table]


def winners() -> tuple[Seat, ...]:
    return tuple(played(1).outcome.winners)


def loser(which: int) -> Seat:
    return [seat for seat in SEATS if seat not in winners()][which]


def test_who_held_a_complete_hand_under_the_minimum_declares_it() -> None:
    assert false_hu(ended((), (loser(1),), (loser(2), loser(1)))) == [set(), {loser(1)}, {loser(2)}]


def test_who_wins_does_not_declare_falsely_before() -> None:
    assert false_hu(ended((), winners(), (loser(1),))) == [set(), set(), {loser(1)}]


def test_where_nobody_was_tempted_a_loser_of_the_first_play_declares_without_a_hand() -> None:
    assert false_hu(ended((), (), ())) == [{loser(0)}, set(), set()]


def test_no_more_than_two_declare_falsely() -> None:
    assert [len(one) for one in false_hu(ended(*[(loser(0),)] * 3))] == [1, 1, 0]
