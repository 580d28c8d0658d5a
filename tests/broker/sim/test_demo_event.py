"""The demo's plays are legal, and the tables' scripts contain them with staged slips and false hu."""

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


def scripts(folder: Path) -> dict[tuple[int, int], dict[str, Any]]:
    return {
        (table, script["round"]): script
        for table in range(1, 5)
        for script in json.loads((folder / f"table-{table}.plays.json").read_text())["plays"]
    }


def test_the_tables_scripts_have_the_outcomes_of_the_recorded_hands(folder: Path) -> None:
    event, acted, judge = open_event(folder), scripts(folder), fan_judge(OEDMC)
    deals = {record.number: record.deal() for record in event._deals.values()}
    found = {}
    for hand in read_hands(folder):
        assert event.bookings[hand.table, hand.round].deal == hand.deal
        end = replay_actions(deals[hand.deal], hand.actions, OEDMC, judge)
        win = {"self_hu": "self_drawn", "hu_on_discard": "discard"}.get(hand.actions[-1].do, "draw")
        winners = {won.hu.seat: won.hand_value for won in end.wins}
        found[hand.table, hand.round] = (win, winners, end.turns.turn if win == "discard" else None)
    assert found == {key: (one["win"], one["winners"], one["discarder"]) for key, one in acted.items()}


def test_secrets_and_played_hands_are_readable_only_by_their_owner(folder: Path) -> None:
    tables = [f"table-{table}.plays.json" for table in range(1, 5)]
    keys = [str(path.relative_to(folder)) for path in folder.rglob("*.key")]
    assert len(keys) > len(tables)
    private = [HANDS, DEALS, SETS, "credentials.json", *tables, *keys]
    assert {name: oct(stat.S_IMODE((folder / name).stat().st_mode)) for name in private} == dict.fromkeys(
        private, "0o600"
    )


def test_false_hu_are_declared_by_players_who_do_not_win_the_play(folder: Path) -> None:
    false = [(seat, script) for script in scripts(folder).values() for seat in script["false_hu"]]
    assert 1 <= len(false) <= 2
    assert [seat for seat, script in false if seat in script["winners"]] == []


def test_a_tray_is_laid_wrongly_at_every_second_table_in_the_first_round(folder: Path) -> None:
    slips = {key for key, script in scripts(folder).items() if script["slips"]}
    assert slips == {(1, 1), (3, 1)}


def test_all_players_have_different_strengths() -> None:
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


def test_a_player_with_a_complete_hand_below_the_minimum_declares_it() -> None:
    assert false_hu(ended((), (loser(1),), (loser(2), loser(1)))) == [set(), {loser(1)}, {loser(2)}]


def test_winners_declare_no_false_hu() -> None:
    assert false_hu(ended((), winners(), (loser(1),))) == [set(), set(), {loser(1)}]


def test_without_a_tempted_player_a_loser_of_the_first_play_declares_without_a_hand() -> None:
    assert false_hu(ended((), (), ())) == [{loser(0)}, set(), set()]


def test_at_most_two_false_hu_are_declared() -> None:
    assert [len(one) for one in false_hu(ended(*[(loser(0),)] * 3))] == [1, 1, 0]
