"""A riichi hand as the winner lays it down, and how it won; none that cannot be is ever made.

Tiles are written as in `broker.rules.tiles`, with `0m 0p 0s` for the red fives.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from broker.contract.words import SEATS
from broker.rules.errors import RuleError
from broker.rules.fan import hand as tiles_of
from broker.rules.tiles import COPIES, RED

KINDS_OF_MELD: Final[Mapping[str, str]] = {"chii": "chow", "pon": "pung", "kan": "kong"}
"""What the other rule book calls them."""

MOST_INDICATORS: Final = 5
"""One to begin with, and one for each of four kans."""


@dataclass(frozen=True, slots=True)
class Meld:
    """A set laid down: `chii`, `pon` or `kan`. Only a kan can be closed.

    Raises RuleError `unknown_tile`, `not_a_meld` or `concealed_meld`.
    """

    kind: str
    tiles: tuple[str, ...]
    open: bool = True

    def __post_init__(self) -> None:
        """Refuse what is no meld."""
        if self.kind not in KINDS_OF_MELD:
            raise RuleError("not_a_meld", f"{self.kind[:20]!r} is no meld; there are: {', '.join(KINDS_OF_MELD)}")
        _ = self.plain

    @property
    def plain(self) -> tiles_of.Meld:
        """The meld without red, as the tiles of any rule book are checked."""
        return tiles_of.Meld(KINDS_OF_MELD[self.kind], plain(self.tiles), concealed=not self.open)


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
        melds = [meld.plain for meld in self.melds]
        tiles_of.check_tiles(plain(self.concealed), melds, *plain((self.winning_tile,)))

    @property
    def standing(self) -> tuple[str, ...]:
        """The tiles outside melds with the winning one, red as any five."""
        return plain((*self.concealed, self.winning_tile))

    @property
    def all_tiles(self) -> tuple[str, ...]:
        """All tiles as they are, the winning one last."""
        return (*(tile for meld in self.melds for tile in meld.tiles), *self.concealed, self.winning_tile)

    @property
    def open(self) -> bool:
        """Whether a tile of another's was claimed before the win."""
        return any(meld.open for meld in self.melds)


@dataclass(frozen=True, slots=True)
class Situation:
    """How the hand won. Raises RuleError `unknown_wind`, `unknown_tile` or `too_many_indicators`.

    `riichi`: 0 none, 1 riichi, 2 double riichi. `first_turn`: before any call and before the winner's first discard
    (tenhou, chiihou, renhou). `after_eight_counters`: eight counters lay on the table (paarenchan).
    """

    seat_wind: str
    round_wind: str
    self_drawn: bool
    riichi: int = 0
    open_riichi: bool = False
    ippatsu: bool = False
    rinshan: bool = False
    chankan: bool = False
    haitei: bool = False
    houtei: bool = False
    first_turn: bool = False
    after_eight_counters: bool = False
    dora_indicators: tuple[str, ...] = ()
    ura_indicators: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse winds and tiles that there are not."""
        for which, said in (("seat", self.seat_wind), ("round", self.round_wind)):
            if said not in SEATS:
                raise RuleError("unknown_wind", f"{said[:20]!r} is no {which} wind; there are: {', '.join(SEATS)}")
        for indicators in (self.dora_indicators, self.ura_indicators):
            tiles_of.refuse_unknown(plain(indicators))
            if len(indicators) > MOST_INDICATORS:
                raise RuleError("too_many_indicators", f"{len(indicators)} indicators, at most {MOST_INDICATORS}")
        dora, ura = len(self.dora_indicators), len(self.ura_indicators)
        if 0 < dora < ura:  # where no dora is told, those below may be all that is asked about
            raise RuleError("too_many_indicators", f"{ura} indicators below {dora}: one lies under each")

    @property
    def dealer(self) -> bool:
        """Whether the winner deals: the dealer's wind is east."""
        return self.seat_wind == "east"


def plain(tiles: Iterable[str]) -> tuple[str, ...]:
    """Give tiles with a red five as a five."""
    return tuple(RED.get(tile, tile) for tile in tiles)


def check_seen(hand: Hand, situation: Situation) -> None:
    """Raise RuleError `five_of_a_tile` where the hand and the indicators together have too many of a tile."""
    seen = plain((*hand.all_tiles, *situation.dora_indicators, *situation.ura_indicators))
    for tile in set(seen):
        if seen.count(tile) > COPIES:
            text = f"{tile} is there {seen.count(tile)} times with the indicators; a set has {COPIES}"
            raise RuleError("five_of_a_tile", text)
