"""Turns: what each seat may do, and which claim takes precedence (OEDMC rules 3-5, MIL).

All of this follows from the number of tiles in each wall; the tiles themselves are not needed.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from broker.errors import RuleError
from broker.protocol import SEATS, Seat
from broker.rules.deal import NEXT_SEAT, ROWS, SEAT_INDEX, TRAY, acting_seat, seat_in_turn, turns_between

ActionKind = Literal[
    "draw",
    "discard",
    "no_claim",
    "chow",
    "pung",
    "melded_kong",
    "concealed_kong",
    "added_kong",
    "self_hu",
    "hu_on_discard",
]
"""Everything that happens in a play."""

ACTION_KINDS: Final[tuple[ActionKind, ...]] = get_args(ActionKind)


class Action(Struct, frozen=True):
    """An action of a play.

    `seat` is the acting seat. It is None for `no_claim`; hu on a discard names its one to three winners in `seats`.
    `tile` is the tile of a discard or a kong, or the lowest of a chow's three. A draw, a pung and a melded kong can be
    of one tile only and need not name it. Turns ignore the tile.
    """

    do: ActionKind
    seat: Seat | None = None
    tile: str | None = None
    seats: tuple[Seat, ...] = ()

    @property
    def actors(self) -> tuple[Seat, ...]:
        """The acting seats. Only hu on a discard uses `seats`; a single winner may be given as `seat` instead."""
        if self.do == "hu_on_discard" and self.seats:
            return self.seats
        return () if self.seat is None else (self.seat,)


WALL: Final = TRAY - ROWS[0]
"""Tiles in a full wall."""

StartPhase = Literal["draw", "hold", "claim"]

Phase = Literal[StartPhase, "kong"]
"""What may happen next.

`draw`: the seat whose turn it is takes a tile. `hold`: it holds the extra tile. `claim`: its discard may be claimed.
`kong`: its added kong lies open and may be robbed.
"""

Extra = Literal["drawn", "replacement", "claimed", "unknown"]
"""How the extra tile was obtained or, in the phases `draw` and `kong`, how the next one will be."""

Over = Literal["win", "exhausted draw"]

SituationFan = Literal["Last Tile Draw", "Last Tile Claim", "Out with Replacement Tile", "Robbing the Kong"]


class TurnState(Struct, frozen=True):
    """The state of a play. `turn` stays with the discarder until another player draws or claims."""

    walls: tuple[int, ...]
    """Tiles left, in the order of SEATS."""
    turn: Seat
    phase: Phase
    ltw: bool
    extra: Extra
    nearest_only: bool
    """Whether only the declarer nearest in turn order wins on a discard."""
    over: Over | None = None
    situation_fans: tuple[SituationFan, ...] = ()
    """The fan that the way of winning adds to each winner's hand; empty until a win."""


def begin_turns(
    walls: Mapping[Seat, int], turn: Seat, phase: StartPhase = "draw", *, ltw: bool = False, nearest_only: bool = False
) -> TurnState:
    """Return the state at a given position. LTW counts as reached if the walls show it, even if `ltw` is False.

    Raises RuleError `bad_walls` unless there are four walls of 0 to 21 tiles.
    """
    if set(walls) != set(SEATS) or not all(0 <= left <= WALL for left in walls.values()):
        raise RuleError("bad_walls", f"a wall of 0 to {WALL} tiles is needed for each of the four seats")
    extra: Extra = "drawn" if phase == "draw" else "unknown"
    return TurnState(
        tuple(walls[seat] for seat in SEATS), turn, phase, ltw or not walls[NEXT_SEAT[turn]], extra, nearest_only
    )


def apply_turn(state: TurnState, action: Action) -> TurnState:
    """Return the state after an action; the given one is unchanged. Raises RuleError if the action is not legal."""
    if state.over is not None:
        raise RuleError("play_over", f"{action.do}: the play is over ({state.over})")
    if state.phase not in PHASES[action.do]:
        raise RuleError("wrong_phase", f"{action.do} does not follow here: {state.turn} is at {state.phase}")
    return MOVES[action.do](state, action)


def _draw(state: TurnState, action: Action) -> TurnState:
    at = SEAT_INDEX[seat_in_turn(state.turn, action)]
    left = state.walls[at]
    if not left:
        raise RuleError("wall_empty", f"{state.turn} has no tile left to draw")
    return replace(state, walls=(*state.walls[:at], left - 1, *state.walls[at + 1 :]), phase="hold")


def _discard(state: TurnState, action: Action) -> TurnState:
    seat_in_turn(state.turn, action)
    return replace(state, phase="claim")


def _no_claim(state: TurnState, _: Action) -> TurnState:
    if state.phase == "kong":  # nobody robs it, and its replacement is still to be drawn
        return replace(state, phase="draw")
    if state.ltw:
        return replace(state, over="exhausted draw")
    # Without LTW the next wall holds a tile: it did when this turn began, and nobody else has drawn since.
    return _pass_turn(state, NEXT_SEAT[state.turn], "draw", "drawn")


def _chow(state: TurnState, action: Action) -> TurnState:
    seat = _claimant(state, action)
    if seat != NEXT_SEAT[state.turn]:
        raise RuleError("chow_not_next", f"{seat} does not sit next after {state.turn}")
    return _pass_turn(state, seat, "hold", "claimed")


def _pung(state: TurnState, action: Action) -> TurnState:
    return _pass_turn(state, _claimant(state, action), "hold", "claimed")


def _melded_kong(state: TurnState, action: Action) -> TurnState:
    seat = _claimant(state, action)
    _refuse_kong_without_wall(state, seat)
    return _pass_turn(state, seat, "draw", "replacement")


def _concealed_kong(state: TurnState, action: Action) -> TurnState:
    _refuse_own_kong(state, action)
    return replace(state, phase="draw", extra="replacement")


def _added_kong(state: TurnState, action: Action) -> TurnState:
    _refuse_own_kong(state, action)
    return replace(state, phase="kong", extra="replacement")


def _self_hu(state: TurnState, action: Action) -> TurnState:
    seat_in_turn(state.turn, action)
    if state.extra == "claimed":
        raise RuleError("hu_on_claimed_tile", f"{state.turn} has claimed a tile, not drawn one")
    last: tuple[SituationFan, ...] = ("Last Tile Draw",) if state.ltw else ()
    kong: tuple[SituationFan, ...] = ("Out with Replacement Tile",) if state.extra == "replacement" else ()
    return replace(state, over="win", situation_fans=last + kong)


def _hu_on_discard(state: TurnState, action: Action) -> TurnState:
    winners = action.actors
    if not winners:
        raise RuleError("winner_missing", "name the player who declares hu")
    if len(set(winners)) < len(winners):
        raise RuleError("winner_twice", "a seat is named twice")
    if state.turn in winners:
        raise RuleError("discarder_wins", f"{state.turn} cannot win on their own discard")
    if state.nearest_only and len(winners) > 1:
        raise RuleError("several_winners", "only the nearest in turn order wins under this profile")
    last: tuple[SituationFan, ...] = ("Last Tile Claim",) if state.ltw else ()
    kong: tuple[SituationFan, ...] = ("Robbing the Kong",) if state.phase == "kong" else ()
    return replace(state, over="win", situation_fans=last + kong)


def _pass_turn(state: TurnState, seat: Seat, phase: Phase, extra: Extra) -> TurnState:
    """Pass the turn to a seat, by a draw or a claim. LTW is reached if the next player's wall is empty (OEDMC)."""
    return replace(state, turn=seat, phase=phase, extra=extra, ltw=not state.walls[SEAT_INDEX[NEXT_SEAT[seat]]])


def _claimant(state: TurnState, action: Action) -> Seat:
    """Return the seat that claims a discard for a set, which nobody can in LTW (OEDMC rule 4)."""
    seat = acting_seat(action)
    if seat == state.turn:
        raise RuleError("own_discard", f"{seat} has discarded this tile")
    _refuse_in_ltw(state, action)
    return seat


def _refuse_in_ltw(state: TurnState, action: Action) -> None:
    if state.ltw:
        raise RuleError("only_hu_in_ltw", f"{action.do}: the last tile of the wall is reached")


def _refuse_kong_without_wall(state: TurnState, seat: Seat) -> None:
    """Refuse a kong that has no replacement tile (OEDMC rule 3B)."""
    if not state.walls[SEAT_INDEX[seat]]:
        raise RuleError("kong_without_wall", f"{seat} has no tile left to replace it with")


def _refuse_own_kong(state: TurnState, action: Action) -> None:
    """Refuse a concealed or added kong in LTW, with an empty wall, or when the extra tile was claimed."""
    seat = seat_in_turn(state.turn, action)
    _refuse_in_ltw(state, action)
    _refuse_kong_without_wall(state, seat)
    if state.extra == "claimed":
        raise RuleError("kong_after_claim", f"{seat} has claimed a tile, not drawn one, and must discard")


PHASES: Final[Mapping[ActionKind, tuple[Phase, ...]]] = {
    "draw": ("draw", "kong"),  # drawing the replacement means that nobody robbed the kong
    "discard": ("hold",),
    "no_claim": ("claim", "kong"),
    "chow": ("claim",),
    "pung": ("claim",),
    "melded_kong": ("claim",),
    "concealed_kong": ("hold",),
    "added_kong": ("hold",),
    "self_hu": ("hold",),
    "hu_on_discard": ("claim", "kong"),
}
"""The phases in which each action is possible."""

MOVES: Final[Mapping[ActionKind, Callable[[TurnState, Action], TurnState]]] = {
    "draw": _draw,
    "discard": _discard,
    "no_claim": _no_claim,
    "chow": _chow,
    "pung": _pung,
    "melded_kong": _melded_kong,
    "concealed_kong": _concealed_kong,
    "added_kong": _added_kong,
    "self_hu": _self_hu,
    "hu_on_discard": _hu_on_discard,
}

PRECEDENCE: Final[Mapping[ActionKind, int]] = {"hu_on_discard": 0, "pung": 1, "melded_kong": 1, "chow": 2}
"""Hu goes before pung and kong, which go before chow."""


def settle_claims(state: TurnState, claims: Iterable[Action]) -> Action:
    """Return the action that results from the claims on one tile, in whatever order they arrived; `no_claim` for none.

    Each claim must already be legal by itself; only their precedence is decided here. All hu go through (OEDMC rule 2),
    or only the nearest in turn order where the profile says so. Two hands cannot both have a pung or kong of one tile.
    Raises RuleError `not_a_claim`, `seat_missing` or `claimed_twice`.
    """
    made = tuple(claims)
    _check_claims(made)
    if not made:
        return Action("no_claim")
    away = partial(turns_between, state.turn)
    first = min(made, key=lambda claim: (PRECEDENCE[claim.do], min(map(away, claim.actors))))
    if first.do != "hu_on_discard":
        return first
    hu = {seat for claim in made if claim.do == "hu_on_discard" for seat in claim.actors}
    in_turn = sorted(hu, key=away)
    return Action("hu_on_discard", seats=tuple(in_turn[:1] if state.nearest_only else in_turn))


def _check_claims(claims: tuple[Action, ...]) -> None:
    for claim in claims:
        if claim.do not in PRECEDENCE:
            raise RuleError("not_a_claim", f"{claim.do} claims no tile")
        if not claim.actors:
            raise RuleError("seat_missing", f"{claim.do}: whose?")
    times: Counter[Seat] = Counter(seat for claim in claims for seat in claim.actors)
    twice = [seat for seat, count in times.items() if count > 1]
    if twice:
        raise RuleError("claimed_twice", f"{', '.join(sorted(twice))}: one claim a seat")
