"""What a simulated player sees of a play, and the source of random numbers. Nothing here draws any by itself.

Players get nothing but this, so none can look at hidden tiles. Tiles are columns 0 to 33.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from msgspec import Struct

from broker.rules import COPIES, KINDS
from broker.rules.mcr import TableMeld
from broker.sim.plans import CHOWS, NONE, Whole, set_of


class OpenSeat(Struct):
    """What lies open before one seat."""

    wall: int
    """Tiles left in the player's own wall."""
    river: list[int] = []
    """The tiles that were discarded and not claimed for a set."""
    sets: tuple[int, ...] = ()
    """The number of each meld; NONE for another player's concealed kong, which lies face down."""

    def meld(self, meld: TableMeld) -> None:
        """Lay down a set."""
        self.sets = (*self.sets, NONE if meld.concealed else set_of(meld))


class PlayerView(Struct):
    """A play as one seat sees it. Seats are 0 to 3 in the order of SEATS."""

    seat: int
    held: Whole
    """34: the player's own concealed tiles."""
    melds: tuple[TableMeld, ...]
    """The player's own melds."""
    before: tuple[OpenSeat, ...]
    shown: Whole
    """34: all tiles lying open, without the player's own concealed kongs."""
    turn: int
    winds: tuple[int, int]
    """The seat wind and the round wind, 0 for east."""
    offered: int = NONE
    """The tile that may be claimed."""

    @property
    def own(self) -> OpenSeat:
        """What lies open before the player."""
        return self.before[self.seat]


def stacked(counts: Sequence[Whole]) -> Whole:
    """Return counts of 34 kinds as the rows of one array."""
    return np.frombuffer(b"".join([one.tobytes() for one in counts]), dtype=np.int8).reshape(-1, len(KINDS))


def unseen(views: Sequence[PlayerView]) -> Whole:
    """Return the tiles that are neither open nor in the player's own hand: views x 34."""
    left: Whole = COPIES - stacked([one.shown for one in views]) - stacked([one.held for one in views])
    for row, view in enumerate(views):
        for meld in view.melds:
            if meld.concealed:
                left[row, set_of(meld) - CHOWS] = 0
    return left


class Rng(Protocol):
    """A source of random numbers: `random.Random(seed)`."""

    def random(self) -> float:
        """Return a random number from 0 up to 1."""


NewRng = Callable[[str], Rng]
"""Returns a source that gives the same numbers each time for the same words: `random.Random`."""
