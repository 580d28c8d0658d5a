"""A session by seats, as the wire tells it, and by players, as the rules reckon it: 0 to 3, the seats in turn order."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from broker.contract.riichi import RiichiEvent, RiichiStanding, RiichiWin
from broker.contract.words import SEATS, Seat
from broker.rules.errors import RuleError
from broker.rules.referee.actions import AT
from broker.rules.riichi.session.events import (
    Abort,
    Chombo,
    Event,
    ExhaustiveDraw,
    MinorFault,
    Ron,
    SessionEnd,
    Tsumo,
    Win,
)
from broker.rules.riichi.session.state import ROUNDS, Player, Points, State


def event_of(told: RiichiEvent) -> Event:
    """Give the event. Raises RuleError where it cannot be, `winner_missing`, `loser_missing` or `reason_missing`."""
    return _MADE[told.kind](told)


def _ron(told: RiichiEvent) -> Event:
    if told.loser is None:
        raise RuleError("loser_missing", "a ron needs to know on whose tile")
    wins = tuple(_win(seat, win) for seat, win in told.wins.items())
    return Ron(loser=AT[told.loser], wins=wins, riichi=players(told.riichi), chombo=players(told.offenders))


def _tsumo(told: RiichiEvent) -> Event:
    if len(told.wins) != 1:
        raise RuleError("winner_missing", "exactly one wins on a tile drawn")
    ((seat, win),) = told.wins.items()
    kan_from = None if told.kan_from is None else AT[told.kan_from]
    return Tsumo(win=_win(seat, win), kan_from=kan_from, riichi=players(told.riichi), chombo=players(told.offenders))


def _abort(told: RiichiEvent) -> Event:
    if told.reason is None:
        raise RuleError("reason_missing", "a hand is broken off for a reason")
    return Abort(reason=told.reason, riichi=players(told.riichi))


_MADE: Final[Mapping[str, Callable[[RiichiEvent], Event]]] = {
    "ron": _ron,
    "tsumo": _tsumo,
    "draw": lambda told: ExhaustiveDraw(
        tenpai=players(told.tenpai), nagashi=players(told.nagashi), riichi=players(told.riichi)
    ),
    "abort": _abort,
    "chombo": lambda told: Chombo(
        offenders=players(told.offenders),
        dependent=players(told.dependent),
        yakuman_tenpai=players(told.yakuman_tenpai),
        riichi=players(told.riichi),
    ),
    "minor_fault": lambda told: MinorFault(offenders=players(told.offenders)),
    "end": lambda _: SessionEnd(),
}


def _win(seat: Seat, win: RiichiWin) -> Win:
    responsible = None if win.responsible is None else AT[win.responsible]
    if win.yakuman:
        return Win(AT[seat], yakuman_count=win.yakuman, responsible=responsible)
    return Win(AT[seat], han=win.han or None, fu=win.fu or None, responsible=responsible)


def state_of(standing: RiichiStanding) -> State:
    """Give the state. Raises RuleError where there can be no such state."""
    east, south, west, north = (standing.scores.get(seat, 0) for seat in SEATS)
    round_wind = ROUNDS[SEATS.index(standing.round_wind)]
    scores = (east, south, west, north)
    return State(round_wind, AT[standing.dealer], standing.counters, standing.deposits, scores, standing.over)


def standing_of(state: State, hand: int) -> RiichiStanding:
    """Tell where a session stands before a hand."""
    return RiichiStanding(
        hand=hand,
        round_wind=SEATS[state.round],
        dealer=SEATS[state.dealer],
        counters=state.counters,
        deposits=state.deposits,
        scores=by_seat(state.scores),
        over=state.over,
    )


def by_seat(points: Points) -> dict[Seat, int]:
    """Give each seat's points."""
    return dict(zip(SEATS, points, strict=True))


def players(seats: Iterable[Seat]) -> tuple[Player, ...]:
    """Give the players on these seats."""
    return tuple(AT[seat] for seat in seats)
