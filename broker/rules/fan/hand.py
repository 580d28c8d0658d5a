"""A hand as the winner lays it down, and how it won; none that cannot be is ever made.

Tiles are written as in `broker.rules.tiles`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from broker.contract.words import SEATS
from broker.rules.errors import RuleError
from broker.rules.tiles import COPIES, KINDS

SIZES: Final[Mapping[str, int]] = {"chow": 3, "pung": 3, "kong": 4}
"""Tiles of each kind of meld."""

STARTING_TILES: Final = 13


@dataclass(frozen=True, slots=True)
class Meld:
    """A set laid down: `chow`, `pung` or `kong`. Only a kong can be concealed.

    Raises RuleError `unknown_tile`, `not_a_meld` or `concealed_meld`.
    """

    kind: str
    tiles: tuple[str, ...]
    concealed: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no meld."""
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
        """Give the tiles."""
        return " ".join(self.tiles[:5])


@dataclass(frozen=True, slots=True)
class Hand:
    """What the winner holds: the concealed tiles without the winning one, the winning tile, the melds.

    Raises RuleError `unknown_tile`, `wrong_tile_count` or `five_of_a_tile`.
    """

    concealed: tuple[str, ...]
    winning_tile: str
    melds: tuple[Meld, ...] = ()

    def __post_init__(self) -> None:
        """Refuse tiles that cannot be one player's."""
        check_tiles(self.concealed, self.melds, self.winning_tile)

    @property
    def standing(self) -> tuple[str, ...]:
        """The tiles that are not in melds, with the winning one."""
        return (*self.concealed, self.winning_tile)


@dataclass(frozen=True, slots=True)
class Situation:
    """How the hand won. Raises RuleError `unknown_wind`.

    `last_of_kind`: the three others of the winning tile lie open on the table. `last_tile`: the last tile of the wall
    was reached (OEDMC rules 3 to 5). `kong`: the tile was drawn as a replacement, or a kong was robbed of it.
    """

    self_drawn: bool
    seat_wind: str
    prevalent_wind: str
    last_of_kind: bool = False
    last_tile: bool = False
    kong: bool = False

    def __post_init__(self) -> None:
        """Refuse winds that there are not."""
        for which, said in (("seat", self.seat_wind), ("prevalent", self.prevalent_wind)):
            if said not in SEATS:
                raise RuleError("unknown_wind", f"{said[:20]!r} is no {which} wind; there are: {', '.join(SEATS)}")


def check_tiles(concealed: Sequence[str], melds: Sequence[Meld], *more: str) -> None:
    """Raise RuleError `unknown_tile`, `wrong_tile_count` or `five_of_a_tile` unless one player can have these tiles.

    The concealed tiles are 13, three less for each meld; `more` is what was drawn or claimed then.
    """
    refuse_unknown((*concealed, *more))
    expected = STARTING_TILES - 3 * len(melds)
    if expected < 1 or len(concealed) != expected:
        held = f"{len(concealed)} concealed tiles and {len(melds)} melds"
        raise RuleError("wrong_tile_count", f"{held}: 13 concealed tiles without the winning one, 3 less for each meld")
    for tile, number in held_of_each(concealed, melds, *more).items():
        if number > COPIES:
            raise RuleError("five_of_a_tile", f"{tile} is there {number} times; a set has {COPIES}")


def held_of_each(concealed: Iterable[str], melds: Iterable[Meld], *more: str) -> Counter[str]:
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
