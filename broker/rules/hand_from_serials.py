"""A winner's face-down hand: from groups of serials to concealed tiles, melds and the winning tile.

In a duplicate play everybody draws only from their own wall, so the tray to which a tile was dealt tells who drew it. A
group made up of the winner's own tiles is concealed, a group with another player's tile was claimed, and a winning tile
from another player's tray was that player's discard (`sort_by_walls`). A layout that no hand can have is refused, never
corrected.

Where no wall was read, or where all draw from one wall (riichi), the hand is taken as it lies and as people describe it
(`sort_as_described`): the concealed tiles lie first, and each group after them is a meld.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from broker.errors import RuleError
from broker.protocol import SEATS, Seat
from broker.rules.deal import ROWS, SerialTray

TILES: Final = 14
"""Tiles of a winning hand without kongs. Each kong adds one."""

MELD, KONG = 3, 4

WALL: Final = sum(ROWS[1:])

MOST_KONGS: Final = 4

Group = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LaidMeld:
    """A meld by its serials. Only kongs can be concealed; other concealed tiles form no meld."""

    serials: Group
    concealed: bool = False


@dataclass(frozen=True, slots=True)
class LaidHand:
    """A winner's hand by its serials. `discarder`: who drew the winning tile; None if the winner did."""

    concealed: Group
    melds: tuple[LaidMeld, ...]
    winning: int
    discarder: Seat | None
    drawn: int
    """The least number of tiles that the winner has drawn from their own wall."""

    @property
    def self_drawn(self) -> bool:
        """Whether the winner drew the winning tile."""
        return self.discarder is None

    @property
    def has_kong(self) -> bool:
        """Whether a replacement tile was drawn for one of these melds."""
        return any(len(meld.serials) == KONG for meld in self.melds)

    @property
    def may_be_last_tile(self) -> bool:
        """Whether the last tile of the wall may have been reached (OEDMC rule 3), judging from the winner's wall.

        The next player draws once after each of the winner's discards, and besides only a dealer's first tile and up to
        four replacements. The winner discards once for each tile drawn, chow or pung. A win on a discard tells nothing
        of the walls, so then it may have been.
        """
        claimed = sum(not meld.concealed for meld in self.melds)
        return self.discarder is not None or self.drawn > WALL - MOST_KONGS - 1 - claimed


def sort_by_walls(groups: Sequence[Group], order: Mapping[Seat, SerialTray], winner: Seat) -> LaidHand:
    """Classify each group. The last one is the winning tile alone.

    `order` has everybody's serials as they were dealt. Raises RuleError `winning_tile_not_apart`, `tile_laid_twice`,
    `wrong_tile_count`, `not_a_meld`, `kong_unclear` or `not_drawn_last`.
    """
    winning = winning_serial(groups)
    dealt = {serial: seat for seat in SEATS for row in order[seat] for serial in row}
    claimed = [group for group in groups[:-1] if any(dealt[serial] != winner for serial in group)]
    own = [group for group in groups[:-1] if group not in claimed]
    for group in claimed:
        _refuse_invalid_meld(group, sum(dealt[serial] != winner for serial in group))
    kongs = _concealed_kongs(groups, claimed, own)
    concealed = tuple(chain.from_iterable(group for group in own if group not in kongs))
    melds = (*map(LaidMeld, claimed), *(LaidMeld(group, concealed=True) for group in kongs))
    if len(concealed) + MELD * len(melds) != TILES - 1:
        raise RuleError(
            "wrong_tile_count", f"{len(concealed)} concealed tiles and {len(melds)} melds are no whole hand"
        )
    discarder = dealt[winning] if dealt[winning] != winner else None
    drawn = _count_drawn(order[winner], groups, winning, self_drawn=discarder is None)
    return LaidHand(concealed, melds, winning, discarder, drawn)


def winning_serial(groups: Sequence[Group]) -> int:
    """Return the tile that lies last, alone. Raises RuleError `winning_tile_not_apart` or `tile_laid_twice`."""
    if not groups or len(groups[-1]) != 1:
        raise RuleError("winning_tile_not_apart", "the winning tile lies last, apart from all others")
    serials = [*chain.from_iterable(groups)]
    if len(set(serials)) != len(serials):
        raise RuleError("tile_laid_twice", "a serial appears twice")
    return groups[-1][0]


def _refuse_invalid_meld(group: Group, of_others: int) -> None:
    if len(group) not in (MELD, KONG) or of_others > 1:
        text = f"{len(group)} tiles side by side, {of_others} of them drawn by others: a claimed meld has one of 3 or 4"
        raise RuleError("not_a_meld", text)


def _concealed_kongs(groups: Sequence[Group], claimed: Iterable[Group], own: Iterable[Group]) -> list[Group]:
    """Return the winner's own groups of four that are kongs. The number of all tiles tells how many are."""
    tiles = sum(map(len, groups))
    missing = tiles - TILES - sum(len(group) == KONG for group in claimed)
    fours = [group for group in own if len(group) == KONG]
    if not 0 <= missing <= len(fours):
        raise RuleError("wrong_tile_count", f"{tiles} tiles are no whole hand: 14, and one more for each kong")
    if 0 < missing < len(fours):
        raise RuleError("kong_unclear", "it is unclear which concealed tiles are the kong: lay the others without gaps")
    return fours if missing else []


def _count_drawn(tray: SerialTray, groups: Sequence[Group], winning: int, *, self_drawn: bool) -> int:
    """Return the least number of tiles that the winner has drawn, of which a self-drawn winning tile must be last."""
    wall = {serial: at for at, serial in enumerate(chain.from_iterable(tray[1:]), 1)}
    drawn = max((wall.get(serial, 0) for serial in chain.from_iterable(groups)), default=0)
    if self_drawn and wall.get(winning) != drawn:
        raise RuleError("not_drawn_last", "the winning tile is from the winner's own wall but not the last drawn")
    return drawn


SIZES: Final = (MELD, KONG)


@dataclass(frozen=True, slots=True)
class DescribedHand:
    """A winner's hand by its serials, known only from how the tiles lie and what the players said."""

    concealed: Group
    melds: tuple[LaidMeld, ...]
    winning: int
    self_drawn: bool

    @property
    def kongs(self) -> int:
        """The number of melds that are kongs."""
        return sum(len(meld.serials) == KONG for meld in self.melds)

    @property
    def has_kong(self) -> bool:
        """Whether a replacement tile was drawn for one of these melds."""
        return self.kongs > 0

    @property
    def may_be_last_tile(self) -> bool:
        """Whether the last tile of the wall may have been reached. Always True, since nothing rules it out."""
        return True


def sort_as_described(
    groups: Sequence[Group], *, self_drawn: bool, concealed_kongs: Collection[int] = ()
) -> DescribedHand:
    """Classify each group: first the concealed tiles, then melds, last the winning tile alone.

    `concealed_kongs`: numbers of groups, counted from 1. Raises RuleError `winning_tile_not_apart`, `tile_laid_twice`,
    `wrong_tile_count`, `not_a_meld` or `concealed_meld`.
    """
    winning = winning_serial(groups)
    concealed, melds = groups[0], groups[1:-1]
    _refuse_invalid_hand(concealed if len(groups) > 1 else (), melds)
    for number in concealed_kongs:
        if not 1 < number < len(groups) or len(groups[number - 1]) != KONG:
            raise RuleError("concealed_meld", f"group {number} is no kong; every other meld was claimed")
    laid = tuple(LaidMeld(group, concealed=number in concealed_kongs) for number, group in enumerate(melds, 2))
    return DescribedHand(tuple(concealed), laid, winning, self_drawn)


def _refuse_invalid_hand(concealed: Group, melds: Sequence[Group]) -> None:
    tiles = len(concealed) + sum(map(len, melds)) + 1
    if not TILES <= tiles <= TILES + sum(len(group) == KONG for group in melds):
        raise RuleError("wrong_tile_count", f"{tiles} tiles are no whole hand: 14, and one more for each kong")
    if any(len(meld) not in SIZES for meld in melds) or len(concealed) + MELD * len(melds) != TILES - 1:
        raise RuleError("not_a_meld", "lay the concealed tiles first, then melds of 3 or 4 tiles")
