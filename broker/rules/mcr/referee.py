"""The referee of a play with its tiles: which actions are legal, what they change, and the replay of a recorded play.

All rules of `turns` apply; this module adds those that depend on the tiles. `OPTIONS` alone decides which moves the
tiles allow, and any other move is refused. A declared hu is put to a judge; the referee itself never counts fan.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from broker.errors import RuleError
from broker.protocol import SEATS, Seat, Wind
from broker.rules.deal import COPIES, KINDS, ROWS, SEAT_INDEX, TRAY, Deal, seat_wind
from broker.rules.mcr.turns import WALL, Action, ActionKind, SituationFan, TurnState, apply_turn, begin_turns
from broker.rules.profile import McrPaymentRules

MeldKind = Literal["chow", "pung", "kong"]


class TableMeld(Struct, frozen=True):
    """A declared set. A kong made by adding a tile to a pung keeps that pung's source and claimed tile."""

    kind: MeldKind
    tiles: tuple[str, ...]
    source: Seat | None = None
    """The discarder of the claimed tile; None for a concealed kong."""
    claimed: str | None = None

    @property
    def concealed(self) -> bool:
        """Whether all its tiles were drawn."""
        return self.source is None


class SeatTiles(Struct, frozen=True):
    """One seat's tiles, without its wall."""

    concealed: tuple[str, ...]
    """In the order of the tray, then as drawn: while the player holds a drawn tile, it is the last."""
    melds: tuple[TableMeld, ...] = ()
    river: tuple[str, ...] = ()
    """The tiles that were discarded and not claimed for a set."""

    def drew(self, tile: str) -> "SeatTiles":
        """Return the tiles after drawing one from the wall."""
        return replace(self, concealed=(*self.concealed, tile))

    def discarded(self, tile: str) -> "SeatTiles":
        """Return the tiles after discarding one into the river."""
        return replace(self, concealed=tiles_left(self.concealed, (tile,)), river=(*self.river, tile))

    def discard_claimed(self) -> "SeatTiles":
        """Return the tiles after another player claimed the last discard."""
        return replace(self, river=self.river[:-1])

    def melded(self, meld: TableMeld, used: Sequence[str]) -> "SeatTiles":
        """Return the tiles after declaring a set with tiles of the hand."""
        return replace(self, concealed=tiles_left(self.concealed, used), melds=(*self.melds, meld))

    def added(self, tile: str) -> "SeatTiles":
        """Return the tiles after adding one to a pung, the only meld that can contain it."""
        melds = tuple(
            replace(meld, kind="kong", tiles=(*meld.tiles, tile)) if tile in meld.tiles else meld for meld in self.melds
        )
        return replace(self, concealed=tiles_left(self.concealed, (tile,)), melds=melds)


def tiles_left(tiles: Sequence[str], used: Sequence[str]) -> tuple[str, ...]:
    """Return a hand without the given tiles."""
    left = list(tiles)
    for tile in used:
        left.remove(tile)
    return tuple(left)


class Hu(Struct, frozen=True):
    """A declared hu: the hand and how it wins."""

    seat: Seat
    concealed: tuple[str, ...]
    """Without the winning tile."""
    melds: tuple[TableMeld, ...]
    winning_tile: str
    self_drawn: bool
    seat_wind: Wind
    prevalent_wind: Wind
    last_of_kind: bool
    """Whether the other three of the winning tile were visible to everybody, in rivers and melds, before it came."""
    situation_fans: tuple[SituationFan, ...]

    @property
    def last_tile(self) -> bool:
        """Whether the last tile of the wall was reached."""
        return "Last Tile Draw" in self.situation_fans or "Last Tile Claim" in self.situation_fans

    @property
    def kong(self) -> bool:
        """Whether the winning tile was a kong's replacement, or was robbed from a kong."""
        return "Out with Replacement Tile" in self.situation_fans or "Robbing the Kong" in self.situation_fans


class Judge(Protocol):
    """A function that values declared hands."""

    def __call__(self, hu: Hu, /) -> int:
        """Return the hand value. Raises RuleError if the hand does not win."""


class WonHu(Struct, frozen=True):
    """A hu that the judge has accepted."""

    hu: Hu
    hand_value: int


class PlayState(Struct, frozen=True):
    """The state of a play, all tiles face up. Players may be shown their own hand, the rivers and all open melds."""

    deal: Deal
    turns: TurnState
    hands: tuple[SeatTiles, ...]
    """In the order of SEATS."""
    offered: str = ""
    """The tile that others may claim now: a discard, or one added to a pung. Empty if there is none."""
    wins: tuple[WonHu, ...] = ()

    def hand(self, seat: Seat) -> SeatTiles:
        """Return a seat's tiles, without its wall."""
        return self.hands[SEAT_INDEX[seat]]

    def wall(self, seat: Seat) -> tuple[str, ...]:
        """Return the tiles left in a seat's wall, the next one first."""
        return self.deal.faces[seat][TRAY - self.turns.walls[SEAT_INDEX[seat]] :]


def open_play(deal: Deal, payments: McrPaymentRules) -> PlayState:
    """Return a play's first state: 13 tiles and a full wall for each seat. The dealer draws, then discards (MIL)."""
    nearest_only = payments.several_hu.value == "nearest"
    turns = begin_turns(dict.fromkeys(SEATS, WALL), deal.dealer, nearest_only=nearest_only)
    return PlayState(deal, turns, tuple(SeatTiles(deal.faces[seat][: ROWS[0]]) for seat in SEATS))


Options = Mapping[str, tuple[str, ...]]

RUNS: Final[tuple[tuple[str, str, str], ...]] = tuple(
    (f"{low}{suit}", f"{low + 1}{suit}", f"{low + 2}{suit}") for suit in "mps" for low in range(1, 8)
)
"""The 21 chows."""

CHOWS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    claimed: {run[0]: tuple(tile for tile in run if tile != claimed) for run in RUNS if claimed in run}
    for claimed in KINDS
}
"""By claimed tile: each possible chow by its lowest tile, with the two tiles that the hand must hold."""


def _draw_options(play: PlayState, seat: Seat) -> Options:
    left = play.turns.walls[SEAT_INDEX[seat]]
    return {play.deal.faces[seat][TRAY - left]: ()} if left else {}


def _discard_options(play: PlayState, seat: Seat) -> Options:
    return {tile: (tile,) for tile in play.hand(seat).concealed}


def _chow_options(play: PlayState, seat: Seat) -> Options:
    held = play.hand(seat).concealed
    chows = CHOWS.get(play.offered, {})
    return {low: others for low, others in chows.items() if all(tile in held for tile in others)}


def _identical_options(play: PlayState, seat: Seat, count: int) -> Options:
    tile = play.offered
    return {tile: (tile,) * count} if play.hand(seat).concealed.count(tile) >= count else {}


def _concealed_kong_options(play: PlayState, seat: Seat) -> Options:
    held = play.hand(seat).concealed
    return {tile: (tile,) * COPIES for tile in held if held.count(tile) == COPIES}


def _added_kong_options(play: PlayState, seat: Seat) -> Options:
    hand = play.hand(seat)
    pungs = (meld.tiles[0] for meld in hand.melds if meld.kind == "pung")
    return {tile: (tile,) for tile in pungs if tile in hand.concealed}


OPTIONS: Final[Mapping[ActionKind, Callable[[PlayState, Seat], Options]]] = {
    "draw": _draw_options,
    "discard": _discard_options,
    "chow": _chow_options,
    "pung": lambda play, seat: _identical_options(play, seat, 2),
    "melded_kong": lambda play, seat: _identical_options(play, seat, 3),
    "concealed_kong": _concealed_kong_options,
    "added_kong": _added_kong_options,
}
"""For each action that is of a tile: the possible tiles, each with the tiles of the hand that it uses."""

ONE_TILE_ONLY: Final[frozenset[ActionKind]] = frozenset({"draw", "pung", "melded_kong"})
"""Actions that are possible with one tile only, the next of the wall or the discard, so they need not name it."""


def apply_action(play: PlayState, action: Action, judge: Judge) -> PlayState:
    """Return the play after an action, leaving the given one unchanged.

    Raises RuleError if the turns, the tiles or the judge do not allow it.
    """
    turns = apply_turn(play.turns, action)
    if turns.over == "win":
        return _won(play, turns, action, judge)
    if action.do == "no_claim":
        return replace(play, turns=turns, offered="")
    tile, used = _chosen(play, turns.turn, action)
    return _moved(play, turns, action.do, tile, used)


def _chosen(play: PlayState, seat: Seat, action: Action) -> tuple[str, tuple[str, ...]]:
    """Return the action's tile, and the tiles of the hand that it uses."""
    options = OPTIONS[action.do](play, seat)
    tile = action.tile or ""
    if not tile and action.do in ONE_TILE_ONLY:
        tile = next(iter(options), "")
    if tile in options:
        return tile, options[tile]
    if action.do == "draw":
        raise RuleError("wall_differs", f"{seat} cannot have drawn {tile}: another tile is next in that wall")
    raise RuleError("tiles_missing", f"{seat} has not the tiles for {action.do} of {tile or play.offered or 'no tile'}")


def _moved(play: PlayState, turns: TurnState, do: ActionKind, tile: str, used: tuple[str, ...]) -> PlayState:
    """Return the play with the tiles moved as the action says."""
    hand = play.hand(turns.turn)
    match do:
        case "draw":
            hand, offered = hand.drew(tile), ""
        case "discard":
            hand, offered = hand.discarded(tile), tile
        case "concealed_kong":
            hand, offered = hand.melded(TableMeld("kong", used), used), ""
        case "added_kong":
            hand, offered = hand.added(tile), tile
        case _:  # a claim
            discarder, claimed = play.turns.turn, play.offered
            kind: MeldKind = "chow" if do == "chow" else "pung" if do == "pung" else "kong"
            meld = TableMeld(kind, tuple(sorted((*used, claimed))), discarder, claimed)
            play = replace(play, hands=_with_hand(play, discarder, play.hand(discarder).discard_claimed()))
            hand, offered = hand.melded(meld, used), ""
    return replace(play, turns=turns, hands=_with_hand(play, turns.turn, hand), offered=offered)


def _with_hand(play: PlayState, seat: Seat, hand: SeatTiles) -> tuple[SeatTiles, ...]:
    at = SEAT_INDEX[seat]
    return (*play.hands[:at], hand, *play.hands[at + 1 :])


def _won(play: PlayState, turns: TurnState, action: Action, judge: Judge) -> PlayState:
    """End the play if the judge accepts every declared hu. A false hu is not a move but a matter for the arbiter."""
    declared = [_declared_hu(play, turns, seat, self_drawn=action.do == "self_hu") for seat in action.actors]
    return replace(play, turns=turns, wins=tuple(WonHu(hu, judge(hu)) for hu in declared))


def _declared_hu(play: PlayState, turns: TurnState, seat: Seat, *, self_drawn: bool) -> Hu:
    hand = play.hand(seat)
    tile = hand.concealed[-1] if self_drawn else play.offered
    return Hu(
        seat=seat,
        concealed=hand.concealed[:-1] if self_drawn else hand.concealed,
        melds=hand.melds,
        winning_tile=tile,
        self_drawn=self_drawn,
        seat_wind=seat_wind(seat, play.deal.dealer),
        prevalent_wind=play.deal.prevalent_wind,
        last_of_kind=_seen_by_all(play, tile) == (COPIES - 1 if self_drawn else COPIES),  # an offered tile counts too
        situation_fans=turns.situation_fans,
    )


def _seen_by_all(play: PlayState, tile: str) -> int:
    """Count a tile in rivers and melds. A concealed kong has all four, so whether they are visible never matters."""
    return sum(hand.river.count(tile) + sum(meld.tiles.count(tile) for meld in hand.melds) for hand in play.hands)


class StepRefused(RuleError):
    """A recorded action that was not legal. `code` is that of its refusal."""

    def __init__(self, problem: RuleError, step: int, play: PlayState) -> None:
        super().__init__(problem.code, f"step {step}: {problem.text}")
        self.reason = problem.text
        """The refusal's text, without the number of the step."""
        self.step = step
        """Counted from 1."""
        self.play = play
        """The play before the illegal step."""


def replay_actions(deal: Deal, actions: Iterable[Action], payments: McrPaymentRules, judge: Judge) -> PlayState:
    """Return the play after all actions, finished or not. Raises StepRefused at the first illegal one."""
    play = open_play(deal, payments)
    for step, action in enumerate(actions, 1):
        try:
            play = apply_action(play, action, judge)
        except RuleError as problem:
            raise StepRefused(problem, step, play) from None
    return play
