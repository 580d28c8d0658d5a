"""A winner's hand, how it was won, and whether its tiles win at all. Impossible hands cannot be constructed.

Tiles are written as in `broker.rules.deal`. A winning shape is four sets and a pair, seven pairs, thirteen orphans, a
knitted straight with a set and a pair, or fourteen single honours and knitted tiles (Green Book, 7). Each meld takes a
set away, so that 14, 11, 8, 5 or 2 tiles are left standing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final

from broker.errors import RuleError
from broker.protocol import SEATS
from broker.rules.deal import COPIES, KINDS

SIZES: Final[Mapping[str, int]] = {"chow": 3, "pung": 3, "kong": 4}
"""Tiles of each kind of meld."""

STARTING_TILES: Final = 13


@dataclass(frozen=True, slots=True)
class McrMeld:
    """A set laid down: `chow`, `pung` or `kong`. Only a kong can be concealed.

    Raises RuleError `unknown_tile`, `not_a_meld` or `concealed_meld`.
    """

    kind: str
    tiles: tuple[str, ...]
    concealed: bool = False

    def __post_init__(self) -> None:
        """Refuse tiles that do not form the meld."""
        refuse_unknown(self.tiles)
        if len(self.tiles) != SIZES.get(self.kind, -1):
            raise RuleError("not_a_meld", f"{len(self.tiles)} tiles are no {self.kind[:20]!r}: {self}")
        if self.kind == "chow" and not _consecutive(self.tiles):
            raise RuleError("not_a_meld", f"not three consecutive tiles of a suit: {self}")
        if self.kind != "chow" and len(set(self.tiles)) > 1:
            raise RuleError("not_a_meld", f"the tiles of a {self.kind} are alike: {self}")
        if self.concealed and self.kind != "kong":
            raise RuleError("concealed_meld", f"a concealed {self.kind} is not laid down: {self}")

    def __str__(self) -> str:
        return " ".join(self.tiles[:5])


@dataclass(frozen=True, slots=True)
class McrHand:
    """A winner's tiles: the concealed ones without the winning tile, the winning tile, and the melds.

    Raises RuleError `unknown_tile`, `wrong_tile_count` or `five_of_a_tile`.
    """

    concealed: tuple[str, ...]
    winning_tile: str
    melds: tuple[McrMeld, ...] = ()

    def __post_init__(self) -> None:
        """Refuse tiles that one player cannot have."""
        check_tiles(self.concealed, self.melds, self.winning_tile)

    @property
    def standing(self) -> tuple[str, ...]:
        """The tiles that are not in melds, including the winning tile."""
        return (*self.concealed, self.winning_tile)


@dataclass(frozen=True, slots=True)
class McrSituation:
    """How the hand won. Raises RuleError `unknown_wind`.

    `last_of_kind`: the three others of the winning tile lie open on the table. `last_tile`: the last tile of the wall
    was reached (OEDMC rules 3 to 5). `kong`: the tile was drawn as a replacement, or won by robbing a kong.
    """

    self_drawn: bool
    seat_wind: str
    prevalent_wind: str
    last_of_kind: bool = False
    last_tile: bool = False
    kong: bool = False

    def __post_init__(self) -> None:
        """Refuse winds that do not exist."""
        for which, wind in (("seat", self.seat_wind), ("prevalent", self.prevalent_wind)):
            if wind not in SEATS:
                raise RuleError("unknown_wind", f"{wind[:20]!r} is no {which} wind; there are: {', '.join(SEATS)}")


def check_tiles(concealed: Sequence[str], melds: Sequence[McrMeld], *more: str) -> None:
    """Raise RuleError `unknown_tile`, `wrong_tile_count` or `five_of_a_tile` unless one player can have these tiles.

    The concealed tiles are 13, three less for each meld. `more` holds the tiles drawn or claimed after that.
    """
    refuse_unknown((*concealed, *more))
    expected = STARTING_TILES - 3 * len(melds)
    if expected < 1 or len(concealed) != expected:
        held = f"{len(concealed)} concealed tiles and {len(melds)} melds"
        raise RuleError("wrong_tile_count", f"{held}: 13 concealed tiles without the winning one, 3 less for each meld")
    for tile, number in held_of_each(concealed, melds, *more).items():
        if number > COPIES:
            raise RuleError("five_of_a_tile", f"{tile} is there {number} times; a set has {COPIES}")


def held_of_each(concealed: Iterable[str], melds: Iterable[McrMeld], *more: str) -> Counter[str]:
    """Count each tile over the whole hand."""
    return Counter(concealed) + Counter(more) + Counter(tile for meld in melds for tile in meld.tiles)


def refuse_unknown(tiles: Iterable[str]) -> None:
    """Raise RuleError `unknown_tile` for the first tile that does not exist."""
    for tile in tiles:
        if tile not in KINDS:
            raise RuleError("unknown_tile", f"{tile[:20]!r} is no tile: 1m..9m, 1p..9p, 1s..9s, 1z..7z")


def _consecutive(tiles: Sequence[str]) -> bool:
    low = KINDS.index(min(tiles))
    return tuple(sorted(tiles)) == KINDS[low : low + 3] and len({tile[1] for tile in tiles} - {"z"}) == 1


def check_situation(hand: McrHand, situation: McrSituation) -> None:
    """Raise RuleError if the hand contradicts the situation.

    The codes are `not_last_of_kind`, `replacement_without_kong`, `robbed_on_last_tile` and `kong_not_robbed`.
    PyMahjongGB drops such flags silently, so a judge would never learn that the declaration is impossible.
    """
    tile = hand.winning_tile
    if situation.last_of_kind and tile in hand.concealed:
        raise RuleError("not_last_of_kind", f"the winner holds another {tile}, so not all three others lie open")
    if situation.kong and situation.self_drawn:
        # This may be the last tile as well: the turn that reaches it may have come by claiming the kong (OEDMC, LTW).
        if all(meld.kind != "kong" for meld in hand.melds):
            raise RuleError("replacement_without_kong", "a replacement tile is drawn after a kong, and there is none")
    elif situation.kong:
        # The robbed tile was to be added to its owner's melded pung, so all four tiles are accounted for.
        if situation.last_tile:
            raise RuleError(
                "robbed_on_last_tile", "no kong is declared in the last tile of the wall, so none is robbed"
            )
        if held_of_each(hand.concealed, hand.melds)[tile]:
            raise RuleError("kong_not_robbed", f"the winner has another {tile}, so nobody makes a kong of it")


Counts = list[int]
"""The number of each of the 34 kinds, in the order of `KINDS`."""

WHOLE: Final = 14
"""Standing tiles of a hand without melds, including the winning tile."""

SUITED: Final = 27
"""Kinds below this index are suited, nine for each suit; the others are honours."""

ORPHANS: Final = frozenset(index for index, kind in enumerate(KINDS) if kind[1] == "z" or kind[0] in "19")

KNITTED: Final = tuple(
    frozenset(9 * suit + low + step for suit, low in zip(suits, range(3), strict=True) for step in (0, 3, 6))
    for suits in permutations(range(3))
)
"""The six ways to assign 147, 258 and 369 to the three suits, nine kinds each."""


def is_winning(standing: Sequence[str]) -> bool:
    """Return whether the tiles outside melds, including the winning tile, complete a hand."""
    counts = kind_counts(standing)
    if len(standing) == WHOLE and (is_seven_pairs(counts) or is_thirteen_orphans(counts) or _is_knitted(counts)):
        return True
    return _is_regular(counts) or _is_knitted_straight(counts)


def kind_counts(tiles: Sequence[str]) -> Counts:
    """Count tiles by kind."""
    return [tiles.count(kind) for kind in KINDS]


def is_seven_pairs(counts: Counts) -> bool:
    """Return whether 14 tiles form seven pairs. Four alike are two pairs."""
    return sum(counts) == WHOLE and all(number % 2 == 0 for number in counts)


def is_thirteen_orphans(counts: Counts) -> bool:
    """Return whether 14 tiles are one of each terminal and honour, and a second one of any of them."""
    return {index for index, number in enumerate(counts) if number} == ORPHANS


def _is_knitted(counts: Counts) -> bool:
    """Return whether 14 tiles are single honours and knitted tiles."""
    suited = {index for index, number in enumerate(counts) if number and index < SUITED}
    return max(counts) == 1 and any(suited <= knitted for knitted in KNITTED)


def _is_knitted_straight(counts: Counts) -> bool:
    for knitted in KNITTED:
        rest = [number - (index in knitted) for index, number in enumerate(counts)]
        if min(rest) >= 0 and _is_regular(rest):
            return True
    return False


def _is_regular(counts: Counts) -> bool:
    for index, number in enumerate(counts):
        if number > 1:
            counts[index] -= 2
            found = _are_sets(counts)
            counts[index] += 2
            if found:
                return True
    return False


def _are_sets(counts: Counts) -> bool:
    """Return whether the tiles divide into pungs and chows, trying both for the lowest tile."""
    low = next((index for index, number in enumerate(counts) if number), None)
    if low is None:
        return True
    chow = [low, low + 1, low + 2] if low < SUITED and low % 9 < 7 else []  # noqa: PLR2004 - no chow begins at 8 or 9
    return any(_are_sets_without(counts, tiles) for tiles in ([low] * 3, chow) if tiles)


def _are_sets_without(counts: Counts, tiles: Sequence[int]) -> bool:
    if any(counts[tile] < tiles.count(tile) for tile in tiles):
        return False
    rest = counts.copy()
    for tile in tiles:
        rest[tile] -= 1
    return _are_sets(rest)
