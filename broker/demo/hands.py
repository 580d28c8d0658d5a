"""The demo's plays, played beforehand by the simulated club on the event's own deals."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec
from msgspec import Struct

from broker.club.event import Hosted, play_event
from broker.contract.words import DealNo, PlayerId, RoundNo, Seat, TableNo
from broker.credentials import write_private
from broker.rules.movement import Booking
from broker.rules.points import Outcome
from broker.rules.profile_files import DEFAULT, load
from broker.rules.referee.actions import Action
from broker.scorer.folder import DealRecord

WEAKEST: Final = 0.0
"""Strength of the weakest of the demo's players; the strongest has 1. Wide apart, so that some plays are drawn."""

Said = Callable[[str], None]


class Hand(Struct, frozen=True, forbid_unknown_fields=True):
    """One played hand in `table-N.hands.json`, as secret as its deal; with the deal, all that `replay` needs."""

    round: RoundNo
    table: TableNo
    deal: DealNo
    players: dict[Seat, PlayerId]
    actions: tuple[Action, ...]


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


def keep(folder: Path, hosted: Iterable[Hosted], ids: Sequence[str]) -> None:
    """Write each table's `table-N.hands.json`, for its owner alone: whoever has it knows the deals."""
    by_table: dict[int, list[Hand]] = {}
    for booking, played in hosted:
        players = {seat: ids[number - 1] for seat, number in booking.players.items()}
        hand = Hand(booking.round, booking.table, booking.deal, players, played.actions)
        by_table.setdefault(booking.table, []).append(hand)
    for table, hands in by_table.items():
        write_private(folder / f"table-{table}.hands.json", msgspec.json.encode([_short(hand) for hand in hands]))


def _short(hand: Hand) -> dict[str, Any]:
    """Leave out what an action does not say."""
    said: dict[str, Any] = msgspec.to_builtins(hand)
    actions = [{word: value for word, value in action.items() if value} for action in said["actions"]]
    return {**said, "actions": actions}


def read_hands(folder: Path) -> Iterator[Hand]:
    """Read all hands that were played, by table and round."""
    for path in sorted(folder.glob("table-*.hands.json")):
        yield from msgspec.json.decode(path.read_bytes(), type=list[Hand])
