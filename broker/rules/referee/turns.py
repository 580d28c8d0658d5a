"""Turns: who may do what, told from the number of tiles in each wall alone (OEDMC rules 3-5, MIL)."""

from collections.abc import Callable, Mapping
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from broker.contract.words import SEATS, Seat
from broker.rules.deal import ROWS, TRAY
from broker.rules.errors import RuleError
from broker.rules.referee.actions import AT, NEXT, Action, Do

WALL: Final = TRAY - ROWS[0]
"""Tiles in a full wall."""

StartPhase = Literal["draw", "hold", "claim"]

Phase = Literal[StartPhase, "kong"]
"""`draw`: the turn's seat takes a tile. `hold`: it holds the extra tile. `claim`: its discard may be claimed.
`kong`: its added kong lies open and may be robbed."""

Extra = Literal["drawn", "replacement", "claimed", "unknown"]
"""How the extra tile was come by, or in `draw` and `kong` how the next one will be."""

Over = Literal["win", "exhausted draw"]

SituationFan = Literal["Last Tile Draw", "Last Tile Claim", "Out with Replacement Tile", "Robbing the Kong"]


class Turns(Struct, frozen=True):
    """Where a play stands. `turn` stays with the discarder until somebody else draws or claims."""

    walls: tuple[int, ...]
    """Tiles left, in the order of SEATS."""
    turn: Seat
    phase: Phase
    ltw: bool
    extra: Extra
    one_winner: bool
    """Whether only the nearest in turn order wins on a discard."""
    over: Over | None = None
    situation_fans: tuple[SituationFan, ...] = ()
    """What the way of winning adds to every winner's hand; empty until a win."""


def begin(
    walls: Mapping[Seat, int], turn: Seat, phase: StartPhase = "draw", *, ltw: bool = False, one_winner: bool = False
) -> Turns:
    """Start from a position. LTW counts as reached where the walls say so, even if `ltw` does not.

    Raises RuleError `bad_walls` unless there are four walls of 0 to 21 tiles.
    """
    if set(walls) != set(SEATS) or not all(0 <= left <= WALL for left in walls.values()):
        raise RuleError("bad_walls", f"a wall of 0 to {WALL} tiles is needed for each of the four seats")
    extra: Extra = "drawn" if phase == "draw" else "unknown"
    return Turns(tuple(walls[seat] for seat in SEATS), turn, phase, ltw or not walls[NEXT[turn]], extra, one_winner)


def apply(state: Turns, action: Action) -> Turns:
    """Give the state after an action. Raises RuleError where it is not legal; the state is a value and stays."""
    if state.over is not None:
        raise RuleError("play_over", f"{action.do}: the play is over ({state.over})")
    if state.phase not in PHASES[action.do]:
        raise RuleError("wrong_phase", f"{action.do} does not follow here: {state.turn} is at {state.phase}")
    return MOVES[action.do](state, action)


def asked(state: Turns) -> tuple[Seat, ...]:
    """Give the seats whose word is awaited: the turn's, or the three others, who may claim; none after the end."""
    if state.over is not None:
        return ()
    second = NEXT[state.turn]
    third = NEXT[second]
    return (state.turn,) if state.phase in ("draw", "hold") else (second, third, NEXT[third])


def _draw(state: Turns, action: Action) -> Turns:
    at = AT[_own_turn(state, action)]
    left = state.walls[at]
    if not left:
        raise RuleError("wall_empty", f"{state.turn} has no tile left to draw")
    return replace(state, walls=(*state.walls[:at], left - 1, *state.walls[at + 1 :]), phase="hold")


def _discard(state: Turns, action: Action) -> Turns:
    _own_turn(state, action)
    return replace(state, phase="claim")


def _no_claim(state: Turns, _: Action) -> Turns:
    if state.phase == "kong":  # nobody robs it: its replacement is still to be drawn
        return replace(state, phase="draw")
    if state.ltw:
        return replace(state, over="exhausted draw")
    # Without LTW the next wall holds a tile: it did when this turn began, and nobody else has drawn since.
    return _comes_to(state, NEXT[state.turn], "draw", "drawn")


def _chow(state: Turns, action: Action) -> Turns:
    seat = _claimant(state, action)
    if seat != NEXT[state.turn]:
        raise RuleError("chow_not_next", f"{seat} does not sit next after {state.turn}")
    return _comes_to(state, seat, "hold", "claimed")


def _pung(state: Turns, action: Action) -> Turns:
    return _comes_to(state, _claimant(state, action), "hold", "claimed")


def _melded_kong(state: Turns, action: Action) -> Turns:
    seat = _claimant(state, action)
    _refuse_kong_without_wall(state, seat)
    return _comes_to(state, seat, "draw", "replacement")


def _concealed_kong(state: Turns, action: Action) -> Turns:
    _refuse_own_kong(state, action)
    return replace(state, phase="draw", extra="replacement")


def _added_kong(state: Turns, action: Action) -> Turns:
    _refuse_own_kong(state, action)
    return replace(state, phase="kong", extra="replacement")


def _self_hu(state: Turns, action: Action) -> Turns:
    _own_turn(state, action)
    if state.extra == "claimed":
        raise RuleError("hu_on_claimed_tile", f"{state.turn} has claimed a tile, not drawn one")
    last: tuple[SituationFan, ...] = ("Last Tile Draw",) if state.ltw else ()
    kong: tuple[SituationFan, ...] = ("Out with Replacement Tile",) if state.extra == "replacement" else ()
    return replace(state, over="win", situation_fans=last + kong)


def _hu_on_discard(state: Turns, action: Action) -> Turns:
    winners = action.actors
    if not winners:
        raise RuleError("winner_missing", "nobody is named who declares hu")
    if len(set(winners)) < len(winners):
        raise RuleError("winner_twice", "a seat is named twice")
    if state.turn in winners:
        raise RuleError("discarder_wins", f"{state.turn} cannot win on the own tile")
    if state.one_winner and len(winners) > 1:
        raise RuleError("several_winners", "only the nearest in turn order wins under this profile")
    last: tuple[SituationFan, ...] = ("Last Tile Claim",) if state.ltw else ()
    kong: tuple[SituationFan, ...] = ("Robbing the Kong",) if state.phase == "kong" else ()
    return replace(state, over="win", situation_fans=last + kong)


def _comes_to(state: Turns, seat: Seat, phase: Phase, extra: Extra) -> Turns:
    """Make it a seat's turn, by drawing or by a claim: LTW is reached if the next player's wall is empty (OEDMC)."""
    return replace(state, turn=seat, phase=phase, extra=extra, ltw=not state.walls[AT[NEXT[seat]]])


def _acting(action: Action) -> Seat:
    if action.seat is None:
        raise RuleError("seat_missing", f"{action.do}: whose?")
    return action.seat


def _own_turn(state: Turns, action: Action) -> Seat:
    seat = _acting(action)
    if seat != state.turn:
        raise RuleError("not_your_turn", f"{action.do}: it is the turn of {state.turn}, not of {seat}")
    return seat


def _claimant(state: Turns, action: Action) -> Seat:
    """Give who claims a discard for a set, which nobody can in LTW (OEDMC rule 4)."""
    seat = _acting(action)
    if seat == state.turn:
        raise RuleError("own_discard", f"{seat} has discarded this tile")
    _refuse_in_ltw(state, action)
    return seat


def _refuse_in_ltw(state: Turns, action: Action) -> None:
    if state.ltw:
        raise RuleError("only_hu_in_ltw", f"{action.do}: the last tile of the wall is reached")


def _refuse_kong_without_wall(state: Turns, seat: Seat) -> None:
    """Refuse a kong that has no replacement tile (OEDMC rule 3B)."""
    if not state.walls[AT[seat]]:
        raise RuleError("kong_without_wall", f"{seat} has no tile left to replace it with")


def _refuse_own_kong(state: Turns, action: Action) -> None:
    """Refuse a concealed or added kong in LTW, with an empty wall, or on a tile that was claimed and not drawn."""
    seat = _own_turn(state, action)
    _refuse_in_ltw(state, action)
    _refuse_kong_without_wall(state, seat)
    if state.extra == "claimed":
        raise RuleError("kong_after_claim", f"{seat} has claimed a tile, not drawn one, and must discard")


PHASES: Final[Mapping[Do, tuple[Phase, ...]]] = {
    "draw": ("draw", "kong"),  # drawing the replacement says that nobody robbed the kong
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
"""When each action has its place."""

MOVES: Final[Mapping[Do, Callable[[Turns, Action], Turns]]] = {
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
