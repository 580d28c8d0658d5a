"""What lies before one seat."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from broker.contract.words import Seat

MeldKind = Literal["chow", "pung", "kong"]


class Meld(Struct, frozen=True):
    """A declared set. A kong that was added to a pung keeps that pung's source and claimed tile."""

    kind: MeldKind
    tiles: tuple[str, ...]
    source: Seat | None = None
    """Who discarded its claimed tile; nobody did for a concealed kong."""
    claimed: str | None = None

    @property
    def concealed(self) -> bool:
        """Whether all its tiles were drawn."""
        return self.source is None


class Hand(Struct, frozen=True):
    """One seat's tiles but for the wall."""

    concealed: tuple[str, ...]
    """In the order of the tray, then as drawn: while its player holds a drawn tile, that is the last."""
    melds: tuple[Meld, ...] = ()
    river: tuple[str, ...] = ()
    """What was discarded and not claimed for a set."""

    def drew(self, tile: str) -> "Hand":
        """Take a tile from the wall."""
        return replace(self, concealed=(*self.concealed, tile))

    def discarded(self, tile: str) -> "Hand":
        """Lay a tile into the river."""
        return replace(self, concealed=_without(self.concealed, (tile,)), river=(*self.river, tile))

    def gave(self) -> "Hand":
        """Lose the last discard to who claimed it."""
        return replace(self, river=self.river[:-1])

    def melded(self, meld: Meld, used: Sequence[str]) -> "Hand":
        """Declare a set with tiles of the hand."""
        return replace(self, concealed=_without(self.concealed, used), melds=(*self.melds, meld))

    def added(self, tile: str) -> "Hand":
        """Make a pung a kong: the only meld with that tile, since it has the three others."""
        melds = tuple(
            replace(meld, kind="kong", tiles=(*meld.tiles, tile)) if tile in meld.tiles else meld for meld in self.melds
        )
        return replace(self, concealed=_without(self.concealed, (tile,)), melds=melds)


def _without(tiles: tuple[str, ...], used: Sequence[str]) -> tuple[str, ...]:
    left = list(tiles)
    for tile in used:
        left.remove(tile)
    return tuple(left)
