"""The 136 places of a carrier, in the order in which eyes and hands go through it."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from broker.contract.words import SEATS, Seat
from broker.rules.deal import ROWS


class Place(NamedTuple):
    """One place: `row` 0..2, 0 the hand; `col` from the player's left, 0 the first."""

    seat: Seat
    row: int
    col: int

    @property
    def order(self) -> tuple[int, int, int]:
        """Where it stands in the order of reading: trays in turn order, rows from the hand, from the left."""
        return SEATS.index(self.seat), self.row, self.col


PLACES: Final = tuple(
    Place(seat, row, col) for seat in SEATS for row, length in enumerate(ROWS) for col in range(length)
)

Deal = Mapping[Place, int]
"""Which serial belongs at each place."""


def deal_of(order: Mapping[Seat, Sequence[Sequence[int]]]) -> dict[Place, int]:
    """Give which serial belongs at each place of a play's trays."""
    return {
        Place(seat, row, col): serial
        for seat in SEATS
        for row, line in enumerate(order[seat])
        for col, serial in enumerate(line)
    }


def homes(deal: Deal) -> dict[int, Place]:
    """Give where each serial belongs."""
    return {serial: place for place, serial in deal.items()}
