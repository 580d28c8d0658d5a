"""The demo's plays, played beforehand by the simulated club on the event's own deals."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Final

from broker.club.event import Hosted, play_event
from broker.rules.movement import Booking
from broker.rules.points import Outcome
from broker.rules.profile_files import DEFAULT, load
from broker.scorer.folder import DealRecord, HandRecord, write_hands

WEAKEST: Final = 0.0
"""Strength of the weakest of the demo's players; the strongest has 1. Wide apart, so that some plays are drawn."""

Said = Callable[[str], None]


def played_hands(bookings: Sequence[Booking], deals: Iterable[DealRecord], seed: int, said: Said) -> list[Hosted]:
    """Play all bookings; say how each ended."""
    by_number = {record.number: record.deal() for record in deals}
    hosted = []
    for one in play_event(
        bookings,
        lambda booking: by_number[booking.deal],
        strengths(seed),
        load(DEFAULT).payments,
        lambda words: Random(f"{seed} {words}"),  # noqa: S311 - simulated players, no secret
    ):
        hosted.append(one)
        said(f"round {one.booking.round}, table {one.booking.table}, deal {one.booking.deal}: {told(one)}")
    return hosted


def strengths(seed: int) -> dict[int, float]:
    """Give the 16 players strengths in equal steps; who is strong is drawn."""
    numbers = Random(f"{seed} strengths").sample(range(1, 17), 16)  # noqa: S311 - simulated players, no secret
    return {number: 1 - (1 - WEAKEST) * at / 15 for at, number in enumerate(numbers)}


def told(hosted: Hosted) -> str:
    """Say how a play ended."""
    outcome: Outcome = hosted.played.outcome
    if outcome.win == "draw":
        return "a draw"
    won = " and ".join(f"{seat} wins with {value}" for seat, value in outcome.winners.items())
    return f"{won}, self-drawn" if outcome.discarder is None else f"{won} on {outcome.discarder}'s discard"


def keep(folder: Path, hosted: Iterable[Hosted]) -> None:
    """Write what was done in each play beside its deal."""
    write_hands(
        folder,
        (HandRecord(booking.round, booking.table, booking.deal, played.actions) for booking, played in hosted),
    )
