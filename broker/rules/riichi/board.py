"""The state of a riichi hand as everybody at the table can see it; concealed tiles only where they are known.

Also the actions of a hand, how they change a seat's tiles, and when a hand is aborted (MONTREAL: all abortive draws,
nine terminals must be different).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, get_args

from msgspec import Struct

from broker.errors import RuleError
from broker.i18n import N_
from broker.protocol import SEATS, Seat
from broker.rules.deal import DEAD_WALL, SEAT_INDEX
from broker.rules.riichi.hand import RiichiHandMeld
from broker.rules.riichi.profile import AbortReason, RiichiProfile
from broker.rules.riichi.waits import ORPHANS, PassedTile, riichi_waits, tile_kind

ActionKind = Literal[
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
"""Everything that happens in a hand. `riichi` is the discard with which riichi is declared."""

ACTION_KINDS: Final[tuple[ActionKind, ...]] = get_args(ActionKind)


class RiichiAction(Struct, frozen=True):
    """An action in a hand.

    `seat` is the acting seat; it is None for `no_call`, and a ron may list its `seats` instead. `tile`: the tile drawn
    (where known), discarded, or made a kan of. `tiles`: the two tiles of the hand used for a chii, or for a pon where
    one may be red.
    """

    do: ActionKind
    seat: Seat | None = None
    tile: str | None = None
    tiles: tuple[str, ...] = ()
    seats: tuple[Seat, ...] = ()

    @property
    def actors(self) -> tuple[Seat, ...]:
        """The acting seats."""
        if self.do == "ron" and self.seats:
            return self.seats
        return () if self.seat is None else (self.seat,)


LIVE_WALL: Final = 136 - DEAD_WALL - 4 * 13
"""Tiles left to draw once everybody has 13."""

MOST_KANS: Final = 4

Phase = Literal["draw", "hold", "claim", "kan"]
"""What may happen next.

`draw`: the seat whose turn it is takes a tile. `hold`: it holds the extra tile. `claim`: its discard may be called.
`kan`: its kan lies open and may be robbed.
"""

Extra = Literal["drawn", "replacement", "claimed"]
"""How the extra tile was obtained or, in the phases `draw` and `kan`, how the next one will be."""

Over = Literal["win", "exhaustive_draw", "four_winds", "four_riichi", "four_kans", "nine_terminals", "triple_ron"]

WinSituation = Literal[
    "rinshan", "chankan", "haitei", "houtei", "ippatsu", "riichi", "double_riichi", "tenhou", "chiihou", "renhou"
]


@dataclass(frozen=True, slots=True)
class SeatBoard:
    """The state of one seat."""

    melds: tuple[RiichiHandMeld, ...] = ()
    concealed: tuple[str, ...] | None = None
    """None if unknown; then actions that need these tiles are assumed to be possible."""
    points: int | None = None
    riichi: Literal["", "riichi", "double_riichi"] = ""
    ippatsu: bool = False
    discard_called: bool = False
    """Whether another player has called one of its discards."""

    @property
    def open(self) -> bool:
        """Whether one of the melds has a tile claimed from another player."""
        return any(meld.open for meld in self.melds)

    def waits(self) -> tuple[str, ...]:
        """Return the tiles that a known hand waits for."""
        return riichi_waits(self.concealed or (), [meld.tiles for meld in self.melds])


@dataclass(frozen=True, slots=True)
class Board:
    """The state of a hand. `turn` stays with the discarder until another player draws or calls."""

    dealer: Seat
    turn: Seat
    phase: Phase = "draw"
    live: int = LIVE_WALL
    extra: Extra = "drawn"
    players: tuple[SeatBoard, ...] = field(default=(SeatBoard(),) * 4)
    """In the order of SEATS."""
    seen: tuple[PassedTile, ...] = ()
    """Every tile that could be won on, in order. The tile offered now is the last."""
    drawn: str = ""
    """The extra tile, where it is known."""
    kans: tuple[Seat, ...] = ()
    """The seat that made each kan."""
    indicators: int = 1
    """The number of dora indicators turned so far."""
    indicators_due: int = 0
    """The number of indicators that will be turned with the next discard."""
    no_calls_yet: bool = True
    """Whether nobody has called or made a kan yet."""
    forbidden: frozenset[str] = frozenset()
    """Tiles that the caller may not discard now (kuikae)."""
    over: Over | None = None
    situation: dict[Seat, tuple[WinSituation, ...]] = field(default_factory=dict)
    """What the way of winning adds to each winner's hand."""

    def player(self, seat: Seat) -> SeatBoard:
        """Return the state of a seat."""
        return self.players[SEAT_INDEX[seat]]

    def river(self, seat: Seat) -> tuple[str, ...]:
        """Return a seat's discards in order. Tiles called by others still count as its own (RIICHI-PLAY)."""
        return tuple(one.tile for one in self.seen if one.player == SEAT_INDEX[seat] and not one.kan)

    @property
    def offered(self) -> str:
        """The tile that others may call or rob now; empty if there is none."""
        return self.seen[-1].tile if self.phase in ("claim", "kan") and self.seen else ""

    def first_turn(self, seat: Seat) -> bool:
        """Return whether a seat has not discarded yet and nobody has called."""
        return self.no_calls_yet and not self.river(seat)


def check_board(board: Board) -> Board:
    """Return a starting board. Raises RuleError `bad_wall`, `five_of_a_tile`, `wrong_tile_count` and others."""
    if not 0 <= board.live <= LIVE_WALL or len(board.kans) > MOST_KANS:
        raise RuleError("bad_wall", f"0 to {LIVE_WALL} tiles in the live wall and at most {MOST_KANS} kans are needed")
    for seat in SEATS:
        player = board.player(seat)
        if player.concealed is not None:
            extra = board.phase == "hold" and seat == board.turn
            rest = player.concealed[:-1] if extra else player.concealed
            riichi_waits(rest, [meld.tiles for meld in player.melds])
    _refuse_five_of_a_tile(board)
    return board


def _refuse_five_of_a_tile(board: Board) -> None:
    tiles = [tile_kind(tile) for player in board.players for tile in player.concealed or ()]
    tiles += [tile_kind(tile) for player in board.players for meld in player.melds for tile in meld.tiles]
    for tile in {*tiles}:
        if tiles.count(tile) > 4:  # noqa: PLR2004 - copies of a tile
            raise RuleError("five_of_a_tile", f"{tile} is there {tiles.count(tile)} times; a set has 4")


def with_seat(board: Board, seat: Seat, player: SeatBoard) -> tuple[SeatBoard, ...]:
    """Return the states of all seats, with one seat's replaced."""
    at = SEAT_INDEX[seat]
    return (*board.players[:at], player, *board.players[at + 1 :])


def with_drawn(player: SeatBoard, tile: str | None) -> SeatBoard:
    """Return a seat after drawing a tile. A known hand that draws an unknown tile becomes unknown."""
    if tile is not None:
        tile_kind(tile)
    if player.concealed is None:
        return player
    return replace(player, concealed=None if tile is None else (*player.concealed, tile))


def without_tiles(player: SeatBoard, used: Sequence[str]) -> tuple[str, ...] | None:
    """Return a hand without the given tiles. Raises RuleError `tiles_missing` or `unknown_tile`."""
    kinds = [tile_kind(tile) for tile in used]
    if player.concealed is None:
        return None
    left = list(player.concealed)
    for tile, kind in zip(used, kinds, strict=True):
        found = tile if tile in left else next((one for one in left if tile_kind(one) == kind), None)
        if found is None:
            raise RuleError("tiles_missing", f"the hand does not hold {' '.join(used)}")
        left.remove(found)
    return tuple(left)


def with_meld(player: SeatBoard, meld: RiichiHandMeld, used: Sequence[str]) -> SeatBoard:
    """Return a seat after laying down a set with tiles of the hand."""
    return replace(player, concealed=without_tiles(player, used), melds=(*player.melds, meld))


def check_sets_left(player: SeatBoard, seat: Seat) -> None:
    """Raise RuleError `tiles_missing` if the seat has four sets already."""
    if len(player.melds) == 4:  # noqa: PLR2004 - sets of a hand
        raise RuleError("tiles_missing", f"{seat} has laid four sets down")


NINE: Final = 9

WINDS: Final = frozenset({"1z", "2z", "3z", "4z"})


def abort_after_pass(board: Board, rules: RiichiProfile) -> Over | None:
    """Return why a hand is aborted once nobody calls a discard, or None."""
    found: list[tuple[bool, AbortReason, Over]] = [
        (_four_winds(board), "four_winds", "four_winds"),
        (all(player.riichi for player in board.players), "four_riichi", "four_riichi"),
        (len(board.kans) == MOST_KANS and len({*board.kans}) > 1, "four_kans", "four_kans"),
    ]
    return next((over for true, reason, over in found if true and reason in rules.session.draw.aborts.value), None)


def _four_winds(board: Board) -> bool:
    discards = [tile_kind(one.tile) for one in board.seen]
    return board.no_calls_yet and len(discards) == len(SEATS) and len({*discards}) == 1 and discards[0] in WINDS


def check_nine_terminals(board: Board, seat: Seat, rules: RiichiProfile) -> None:
    """Raise RuleError unless a seat may abort the hand for nine different terminals and honours."""
    if "nine_terminals" not in rules.session.draw.aborts.value:
        raise RuleError("abort_not_played", N_("nine terminals do not abort a hand under these rules"))
    if not board.first_turn(seat) or board.extra != "drawn":
        raise RuleError("first_turn_over", f"{seat} has discarded, or somebody has called")
    held = board.player(seat).concealed
    if held is not None and len({tile_kind(tile) for tile in held} & ORPHANS) < NINE:
        raise RuleError("not_nine_terminals", f"{seat} has fewer than {NINE} different terminals and honours")


def nagashi_seats(board: Board) -> tuple[Seat, ...]:
    """Return the seats that discarded only terminals and honours, had none called, and have no sets or kans.

    MONTREAL: no call by them or of their tiles, and no concealed kan either. Used after an exhaustive draw only.
    """
    return tuple(
        seat
        for seat in SEATS
        if (river := board.river(seat))
        and all(tile_kind(tile) in ORPHANS for tile in river)
        and not board.player(seat).discard_called
        and not board.player(seat).melds
    )
