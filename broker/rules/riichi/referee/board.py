"""Where a hand of riichi stands, as everybody at the table may see it; concealed tiles only where they are known."""

from dataclasses import dataclass, field
from typing import Final, Literal

from broker.contract.words import SEATS, Seat
from broker.rules.errors import RuleError
from broker.rules.referee.actions import AT
from broker.rules.riichi.furiten import Seen
from broker.rules.riichi.waits import kind_of, waits

DEAD_WALL: Final = 14
"""Tiles that nobody draws: a replacement is made up for from the live wall, so that there are always 14."""

LIVE_WALL: Final = 136 - DEAD_WALL - 4 * 13
"""Tiles to draw once everybody has 13."""

MOST_KANS: Final = 4

Phase = Literal["draw", "hold", "claim", "kan"]
"""`draw`: the turn's seat takes a tile. `hold`: it holds the extra tile. `claim`: its discard may be called.
`kan`: its kan lies open and may be robbed."""

Extra = Literal["drawn", "replacement", "claimed"]
"""How the extra tile was come by, or in `draw` and `kan` how the next one will be."""

Over = Literal["win", "exhaustive_draw", "four_winds", "four_riichi", "four_kans", "nine_terminals", "triple_ron"]

MeldKind = Literal["chii", "pon", "kan"]

Situation = Literal[
    "rinshan", "chankan", "haitei", "houtei", "ippatsu", "riichi", "double_riichi", "tenhou", "chiihou", "renhou"
]


@dataclass(frozen=True, slots=True)
class Meld:
    """A set laid down; a kan of four drawn tiles is closed."""

    kind: MeldKind
    tiles: tuple[str, ...]
    open: bool = True


@dataclass(frozen=True, slots=True)
class Own:
    """What belongs to one seat."""

    melds: tuple[Meld, ...] = ()
    concealed: tuple[str, ...] | None = None
    """None: not known, so that what needs it is believed."""
    points: int | None = None
    riichi: Literal["", "riichi", "double_riichi"] = ""
    ippatsu: bool = False
    called: bool = False
    """Whether another has called one of its discards."""

    @property
    def open(self) -> bool:
        """Whether a tile of another's was called."""
        return any(meld.open for meld in self.melds)

    def waits(self) -> tuple[str, ...]:
        """Give what a known hand waits for."""
        return waits(self.concealed or (), [meld.tiles for meld in self.melds])


@dataclass(frozen=True, slots=True)
class Board:
    """Where a hand stands. `turn` stays with the discarder until somebody else draws or calls."""

    dealer: Seat
    turn: Seat
    phase: Phase = "draw"
    live: int = LIVE_WALL
    extra: Extra = "drawn"
    owns: tuple[Own, ...] = field(default=(Own(),) * 4)
    """In the order of SEATS."""
    seen: tuple[Seen, ...] = ()
    """Every tile that could be won on, in order; the one that is offered now is the last."""
    drawn: str = ""
    """The extra tile, where it is known."""
    kans: tuple[Seat, ...] = ()
    """Who made each."""
    indicators: int = 1
    """Dora indicators that are turned."""
    to_turn: int = 0
    """Those that are turned with the next discard."""
    unbroken: bool = True
    """Whether nobody has called or made a kan."""
    forbidden: frozenset[str] = frozenset()
    """What the caller may not discard (kuikae)."""
    over: Over | None = None
    situation: dict[Seat, tuple[Situation, ...]] = field(default_factory=dict)
    """What the way of winning adds to each winner's hand."""

    def own(self, seat: Seat) -> Own:
        """Give what belongs to a seat."""
        return self.owns[AT[seat]]

    def river(self, seat: Seat) -> tuple[str, ...]:
        """Give what a seat has discarded, in order; called tiles count as its own (RIICHI-PLAY)."""
        return tuple(one.tile for one in self.seen if one.player == AT[seat] and not one.kan)

    @property
    def offered(self) -> str:
        """The tile that others may call or rob now."""
        return self.seen[-1].tile if self.phase in ("claim", "kan") and self.seen else ""

    def first_turn(self, seat: Seat) -> bool:
        """Whether a seat has not discarded, and nobody has called."""
        return self.unbroken and not self.river(seat)


def begin(board: Board) -> Board:
    """Check where a hand starts from. Raises RuleError `bad_wall`, `five_of_a_tile`, `wrong_tile_count` and others."""
    if not 0 <= board.live <= LIVE_WALL or len(board.kans) > MOST_KANS:
        raise RuleError("bad_wall", f"0 to {LIVE_WALL} tiles in the live wall and at most {MOST_KANS} kans are needed")
    for seat in SEATS:
        own = board.own(seat)
        if own.concealed is not None:
            extra = board.phase == "hold" and seat == board.turn
            rest = own.concealed[:-1] if extra else own.concealed
            waits(rest, [meld.tiles for meld in own.melds])
    _only_four(board)
    return board


def _only_four(board: Board) -> None:
    tiles = [kind_of(tile) for own in board.owns for tile in own.concealed or ()]
    tiles += [kind_of(tile) for own in board.owns for meld in own.melds for tile in meld.tiles]
    for tile in {*tiles}:
        if tiles.count(tile) > 4:  # noqa: PLR2004 - copies of a tile
            raise RuleError("five_of_a_tile", f"{tile} is there {tiles.count(tile)} times; a set has 4")
