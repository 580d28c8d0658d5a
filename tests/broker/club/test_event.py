"""Events: reproducible, each play by itself, and scored as the profile says."""

from collections.abc import Iterable
from random import Random

from broker.club.event import Hosted, play_event, scored
from broker.contract.words import SEATS
from broker.rules.movement import Booking, sixteen_players
from broker.rules.points import points
from tests.broker.club.playing import dealt
from tests.broker.rules.variants import OEDMC

FIRST = sixteen_players()[:3]
STRENGTHS = {number: number / 16 for number in range(1, 17)}


def hosted(bookings: Iterable[Booking], seed: int = 1) -> list[Hosted]:
    def chance(words: str) -> Random:
        return Random(f"{seed} {words}")

    return list(play_event(bookings, lambda booking: dealt(booking.deal), STRENGTHS, OEDMC, chance))


def test_a_play_does_not_depend_on_those_before_it() -> None:
    assert hosted(reversed(FIRST)) == hosted(FIRST)[::-1]


def test_another_seed_gives_other_plays() -> None:
    assert [one.played.actions for one in hosted(FIRST, 2)] != [one.played.actions for one in hosted(FIRST)]


def test_a_play_is_scored_for_who_sat_there() -> None:
    for one in hosted(FIRST):
        play = scored(one, OEDMC, "p{:02}".format)
        assert (play.deal, play.table) == (one.booking.deal, one.booking.table)
        assert play.players == {seat: f"p{one.booking.players[seat]:02}" for seat in SEATS}
        assert play.points == points(one.played.outcome, OEDMC)
