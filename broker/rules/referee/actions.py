"""The words of the turn engine, and what a player does with them."""

from typing import Final, Literal, get_args

from msgspec import Struct

from broker.contract.words import SEATS, Seat

Do = Literal[
    "draw",
    "discard",
    "no_claim",
    "chow",
    "pung",
    "melded_kong",
    "concealed_kong",
    "added_kong",
    "self_hu",
    "hu_on_discard",
]
"""All that happens in a play."""

DOES: Final[tuple[Do, ...]] = get_args(Do)

AT: Final[dict[Seat, int]] = {seat: at for at, seat in enumerate(SEATS)}
"""A seat's place in whatever is listed in turn order."""

NEXT: Final[dict[Seat, Seat]] = {seat: SEATS[(at + 1) % 4] for seat, at in AT.items()}
"""Whose turn comes after a seat's."""


class Action(Struct, frozen=True):
    """Something done.

    `seat` acts; nobody does for `no_claim`, and hu on a discard names its one to three `seats`.
    `tile` is what a discard or a kong is of, and the lowest of a chow's three. A draw, a pung and a melded kong can be
    of one tile only and need not name it. Turns look at no tiles.
    """

    do: Do
    seat: Seat | None = None
    tile: str | None = None
    seats: tuple[Seat, ...] = ()

    @property
    def actors(self) -> tuple[Seat, ...]:
        """Who acts. Only hu on a discard looks at `seats`; a single winner may as well be its `seat`."""
        if self.do == "hu_on_discard" and self.seats:
            return self.seats
        return () if self.seat is None else (self.seat,)


def distance(seat: Seat, other: Seat) -> int:
    """Count the turns from one seat to another, 0 to 3."""
    return (AT[other] - AT[seat]) % 4
