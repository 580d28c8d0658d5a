"""A whole event of simulated players."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from broker.event.movement import NumberedPlay
from broker.rules import Deal, McrPaymentRules, seat_points
from broker.rules.mcr import fan_judge
from broker.scoring import ScoredPlay
from broker.sim.player import SimulatedPlayer
from broker.sim.table import DealTable, SimulatedPlay, play_in_step
from broker.sim.view import NewChance


class EventPlay(NamedTuple):
    """One play of an event, and how it went."""

    booking: NumberedPlay
    played: SimulatedPlay


def play_event(
    bookings: Iterable[NumberedPlay],
    deal_of: Callable[[NumberedPlay], Deal],
    strengths: Mapping[int, float],
    payments: McrPaymentRules,
    new_chance: NewChance,
) -> Iterator[EventPlay]:
    """Play all bookings, those of a round in step; `strengths` are by the players' numbers.

    In a duplicate event `deal_of` gives the same deal wherever a booking's number is the same; in an ordinary one every
    play has its own. Each seat of each play has its own source of chance, so that no play depends on another.
    """
    judge = fan_judge(payments)
    for _, of_round in groupby(bookings, key=lambda booking: booking.round):
        several, seated = [*of_round], []
        for booking in several:
            players = {
                seat: SimulatedPlayer(
                    strengths[number], new_chance(f"round {booking.round} table {booking.table} {seat}")
                )
                for seat, number in booking.players.items()
            }
            seated.append((DealTable(deal_of(booking), payments, judge), players))
        yield from map(EventPlay, several, play_in_step(seated))


def scored_play(hosted: EventPlay, payments: McrPaymentRules, name_of: Callable[[int], str] = str) -> ScoredPlay:
    """Return a play as scoring takes it."""
    booking = hosted.booking
    players = {seat: name_of(number) for seat, number in booking.players.items()}
    return ScoredPlay(booking.deal, booking.table, players, seat_points(hosted.played.outcome, payments))
