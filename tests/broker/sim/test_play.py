"""A whole event of simulated players."""

from collections.abc import Iterable
from random import Random

from broker.event.movement import NumberedPlay, sixteen_players
from broker.protocol import SEATS
from broker.rules import seat_points
from broker.sim.play import EventPlay, play_event, scored_play
from tests.broker.rules.variants import OEDMC
from tests.broker.sim.playing import dealt

FIRST = sixteen_players()[:3]
STRENGTHS = {number: number / 16 for number in range(1, 17)}


def hosted(bookings: Iterable[NumberedPlay], seed: int = 1) -> list[EventPlay]:
    def chance(words: str) -> Random:
        return Random(f"{seed} {words}")

    return list(play_event(bookings, lambda booking: dealt(booking.deal), STRENGTHS, OEDMC, chance))


def test_a_play_does_not_depend_on_others_played_before_it_or_in_step() -> None:
    assert (
        hosted(reversed(FIRST)) == hosted(FIRST)[::-1] == [*hosted(FIRST[2:]), *hosted(FIRST[1:2]), *hosted(FIRST[:1])]
    )


def test_another_seed_gives_other_plays() -> None:
    assert [one.played.actions for one in hosted(FIRST, 2)] != [one.played.actions for one in hosted(FIRST)]


def test_a_play_is_scored_for_who_sat_there() -> None:
    for one in hosted(FIRST):
        play = scored_play(one, OEDMC, "p{:02}".format)
        assert (play.deal, play.table) == (one.booking.deal, one.booking.table)
        assert play.players == {seat: f"p{one.booking.players[seat]:02}" for seat in SEATS}
        assert play.points == seat_points(one.played.outcome, OEDMC)
