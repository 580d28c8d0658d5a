"""What is done in a hand of riichi."""

from typing import Final, Literal, get_args

from msgspec import Struct

from broker.contract.words import Seat

Do = Literal[
    "draw",
    "discard",
    "riichi",
    "no_call",
    "chii",
    "pon",
    "daiminkan",
    "ankan",
    "shouminkan",
    "tsumo",
    "ron",
    "nine_terminals",
]
"""All that happens. `riichi` is the discard with which it is declared."""

DOES: Final[tuple[Do, ...]] = get_args(Do)


class Action(Struct, frozen=True):
    """Something done.

    `seat` acts; nobody does for `no_call`, and a ron may name its `seats`. `tile`: what is drawn (where it is known),
    discarded, or made a kan of. `tiles`: the two tiles of the hand that a chii takes, or a pon where one may be red.
    """

    do: Do
    seat: Seat | None = None
    tile: str | None = None
    tiles: tuple[str, ...] = ()
    seats: tuple[Seat, ...] = ()

    @property
    def actors(self) -> tuple[Seat, ...]:
        """Who acts."""
        if self.do == "ron" and self.seats:
            return self.seats
        return () if self.seat is None else (self.seat,)
