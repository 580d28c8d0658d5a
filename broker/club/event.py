"""A whole event: a movement, a deal for each play, players of known strength."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from broker.club.chance import NewChance
from broker.club.judge import judge_of
from broker.club.table import Played, Seated, play_deal
from broker.rules.deal import Deal
from broker.rules.movement import Booking
from broker.rules.points import points
from broker.rules.profile import Payments
from broker.scoring.plays import ScoredPlay


class Hosted(NamedTuple):
    """One play of an event, and how it went."""

    booking: Booking
    played: Played


def play_event(
    bookings: Iterable[Booking],
    deal_of: Callable[[Booking], Deal],
    strengths: Mapping[int, float],
    payments: Payments,
    new_chance: NewChance,
) -> Iterator[Hosted]:
    """Play all bookings, one after the other; `strengths` are by the players' numbers.

    In a duplicate event `deal_of` gives the same deal wherever a booking's number is the same; in an ordinary one every
    play has its own. Each seat of each play has its own source of chance, so that no play depends on another.
    """
    judge = judge_of(payments)
    for booking in bookings:
        players = {
            seat: Seated(strengths[number], new_chance(f"round {booking.round} table {booking.table} {seat}"))
            for seat, number in booking.players.items()
        }
        yield Hosted(booking, play_deal(deal_of(booking), players, payments, judge))


def scored(hosted: Hosted, payments: Payments, name_of: Callable[[int], str] = str) -> ScoredPlay:
    """Give a play as scoring takes it."""
    booking = hosted.booking
    players = {seat: name_of(number) for seat, number in booking.players.items()}
    return ScoredPlay(booking.deal, booking.table, players, points(hosted.played.outcome, payments))
