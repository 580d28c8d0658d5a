"""What is staged beside the played hands."""

from random import Random
from typing import Final

from msgspec.structs import replace

from broker.club.event import Hosted
from broker.contract.words import SEATS, Seat
from broker.demo.courses import courses
from broker.rules.movement import sixteen_players
from tests.broker.club.playing import played

BOOKINGS: Final = sixteen_players()[:3]


def ended(*tempted: tuple[Seat, ...]) -> list[Hosted]:
    return [
        Hosted(booking, replace(played(1), tempted=seats)) for booking, seats in zip(BOOKINGS, tempted, strict=True)
    ]


def false_hu(plays: list[Hosted]) -> list[set[Seat]]:
    return [set(one.false_hu) for of_table in courses(plays, Random(1)).values() for one in of_table]


def winners() -> tuple[Seat, ...]:
    return tuple(played(1).outcome.winners)


LOSERS: Final = [seat for seat in SEATS if seat not in winners()]


def test_who_held_a_complete_hand_under_the_minimum_declares_it() -> None:
    assert false_hu(ended((), (LOSERS[1],), (LOSERS[2], LOSERS[1]))) == [set(), {LOSERS[1]}, {LOSERS[2]}]


def test_who_wins_does_not_declare_falsely_before() -> None:
    assert false_hu(ended((), winners(), (LOSERS[1],))) == [set(), set(), {LOSERS[1]}]


def test_where_nobody_was_tempted_a_loser_of_the_first_play_declares_without_a_hand() -> None:
    assert false_hu(ended((), (), ())) == [{LOSERS[0]}, set(), set()]


def test_no_more_than_two_declare_falsely() -> None:
    assert [len(one) for one in false_hu(ended(*[(LOSERS[0],)] * 3))] == [1, 1, 0]
