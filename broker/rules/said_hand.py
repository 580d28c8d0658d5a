"""A winner's hand as it lies face down, where no wall tells who drew which tile: as its groups lie, and as is said.

So it is where the walls were only ticked by hand, and under riichi rules, where all draw from one wall. The serials
tell the faces still; all else is asked. The concealed tiles lie first, and each group after them is a meld.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from broker.rules.errors import RuleError
from broker.rules.laid_hand import KONG, MELD, TILES, Group, LaidMeld, winning_tile

SIZES: Final = (MELD, KONG)


@dataclass(frozen=True, slots=True)
class SaidHand:
    """A winner's hand by its serials, of which nothing is known but what lies there and was said."""

    concealed: Group
    melds: tuple[LaidMeld, ...]
    winning: int
    self_drawn: bool

    @property
    def kongs(self) -> int:
        """How many of the melds are kongs."""
        return sum(len(meld.serials) == KONG for meld in self.melds)

    @property
    def has_kong(self) -> bool:
        """Whether a replacement tile was drawn for one of these melds."""
        return self.kongs > 0

    @property
    def may_be_last_tile(self) -> bool:
        """Whether the last tile of the wall may have been reached: nothing says that it was not."""
        return True


def sort_as_said(groups: Sequence[Group], *, self_drawn: bool, concealed_kongs: Collection[int] = ()) -> SaidHand:
    """Say what each group is: first the concealed tiles, then melds, last the winning tile alone.

    `concealed_kongs`: numbers of groups, counted from 1. Raises RuleError `winning_tile_not_apart`, `tile_laid_twice`,
    `wrong_tile_count`, `not_a_meld` or `concealed_meld`.
    """
    winning = winning_tile(groups)
    concealed, melds = groups[0], groups[1:-1]
    _refuse_no_hand(concealed if len(groups) > 1 else (), melds)
    for number in concealed_kongs:
        if not 1 < number < len(groups) or len(groups[number - 1]) != KONG:
            raise RuleError("concealed_meld", f"group {number} is no kong; every other meld was claimed")
    laid = tuple(LaidMeld(group, concealed=number in concealed_kongs) for number, group in enumerate(melds, 2))
    return SaidHand(tuple(concealed), laid, winning, self_drawn)


def _refuse_no_hand(concealed: Group, melds: Sequence[Group]) -> None:
    tiles = len(concealed) + sum(map(len, melds)) + 1
    if not TILES <= tiles <= TILES + sum(len(group) == KONG for group in melds):
        raise RuleError("wrong_tile_count", f"{tiles} tiles are no whole hand: 14, and one more for each kong")
    if any(len(meld) not in SIZES for meld in melds) or len(concealed) + MELD * len(melds) != TILES - 1:
        raise RuleError("not_a_meld", "the concealed tiles lie first, and each meld after them has 3 or 4")
