"""An event into what it pays and the state after it. Points are conserved but for what lies on the table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from broker.rules.errors import RuleError
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.session.ending import out, places, unclaimed
from broker.rules.riichi.session.events import (
    Abort,
    Chombo,
    DeadHand,
    Event,
    ExhaustiveDraw,
    Hand,
    MinorFault,
    Ron,
    SessionEnd,
    Tsumo,
)
from broker.rules.riichi.session.losses import chombo_payment, draw_payment
from broker.rules.riichi.session.state import NOTHING, Player, Points, State, added
from broker.rules.riichi.session.succession import after, after_chombo
from broker.rules.riichi.session.wins import counted, deposits_to, laid_down, ron_payment, tsumo_payment


@dataclass(frozen=True, slots=True)
class Settled:
    """What an event pays to each player, deposits included, the state after it, and the places at the end."""

    deltas: Points
    state: State
    places: tuple[int, ...] | None = None


def apply(state: State, event: Event, rules: RiichiProfile) -> Settled:
    """Settle an event. Raises RuleError where it cannot be; the state is a value and stays."""
    if not isinstance(event, SessionEnd) and (state.over or out(state.scores, rules.session)):
        raise RuleError("session_over", "the session is over; only its end can be settled")
    if isinstance(event, Hand):
        _can_pay(state, event.riichi, rules)
    return SETTLES[type(event)](state, event, rules)


def _can_pay(state: State, riichi: tuple[Player, ...], rules: RiichiProfile) -> None:
    poor = [player for player in riichi if state.scores[player] < rules.points.deposit.value]
    if poor:
        raise RuleError("riichi_without_points", f"player {poor[0]} has {state.scores[poor[0]]} points, too few")


def _ron(state: State, ron: Ron, rules: RiichiProfile) -> Settled:
    wins = counted(state, ron, rules)
    if not wins:  # a triple ron is refused: the hand is broken off
        return _abort(state, Abort(reason="triple_ron", riichi=ron.riichi), rules)
    each = rules.session.ron.counters.value == "each"
    paid = (
        ron_payment(state, ron.loser, win, state.counters if each or not at else 0, rules)
        for at, win in enumerate(wins)
    )
    return _won(state, ron, added(*paid), [win.winner for win in wins], rules)


def _tsumo(state: State, tsumo: Tsumo, rules: RiichiProfile) -> Settled:
    return _won(state, tsumo, tsumo_payment(state, tsumo, rules), [tsumo.win.winner], rules)


def _won(state: State, hand: Ron | Tsumo, paid: Points, won: list[Player], rules: RiichiProfile) -> Settled:
    """Settle a win: the first in turn order takes what lies on the table."""
    taken = deposits_to(won[0], state.deposits + len(hand.riichi), rules)
    fault = NOTHING
    if hand.chombo and not rules.session.faults.win_cancels.value:
        fault = chombo_payment(state.dealer, Chombo(offenders=hand.chombo), rules.session)
    deltas = added(laid_down(hand.riichi, rules), paid, taken, fault)
    came = _with(state, deltas, 0)
    return _settled(deltas, after(came, "won", won, rules.session), rules)


def _draw(state: State, draw: ExhaustiveDraw, rules: RiichiProfile) -> Settled:
    if draw.nagashi and not rules.session.draw.nagashi.value:
        raise RuleError("nagashi_not_played", "nagashi does not count under these rules")
    deltas = added(laid_down(draw.riichi, rules), draw_payment(state.dealer, draw, rules.session))
    came = _with(state, deltas, state.deposits + len(draw.riichi))
    return _settled(deltas, after(came, "drawn", draw.tenpai, rules.session), rules)


def _abort(state: State, abort: Abort, rules: RiichiProfile) -> Settled:
    if abort.reason not in rules.session.draw.aborts.value:
        raise RuleError("abort_not_played", f"{abort.reason[:40]} does not break a hand off under these rules")
    deltas = laid_down(abort.riichi, rules)
    came = _with(state, deltas, state.deposits + len(abort.riichi))
    return _settled(deltas, after(came, "aborted", (), rules.session), rules)


def _chombo(state: State, chombo: Chombo, rules: RiichiProfile) -> Settled:
    """Settle grave faults. Riichi deposits of the hand are given back, so they are not taken at all."""
    deltas = chombo_payment(state.dealer, chombo, rules.session)
    came = _with(state, deltas, state.deposits)
    return _settled(deltas, after_chombo(came, chombo.offenders, rules.session), rules)


def _minor_fault(state: State, fault: MinorFault, rules: RiichiProfile) -> Settled:
    times = rules.session.faults.minor.value
    deltas = laid_down(fault.offenders, rules, times)
    came = _with(state, deltas, state.deposits + times * len(fault.offenders))
    return _settled(deltas, replace(came, over=out(came.scores, rules.session)), rules)


def _dead_hand(state: State, _: DeadHand, rules: RiichiProfile) -> Settled:
    return _settled(NOTHING, state, rules)


def _end(state: State, _: SessionEnd, rules: RiichiProfile) -> Settled:
    given = rules.session.end.deposits.value != "nobody"
    deltas = unclaimed(state.scores, state.deposits * rules.points.deposit.value, rules.session)
    came = _with(state, deltas, 0 if given else state.deposits)
    return Settled(deltas, replace(came, over=True), places(state.scores, rules.session))


def _with(state: State, deltas: Points, deposits: int) -> State:
    return replace(state, scores=added(state.scores, deltas), deposits=deposits)


def _settled(deltas: Points, state: State, rules: RiichiProfile) -> Settled:
    return Settled(deltas, state, places(state.scores, rules.session) if state.over else None)


SETTLES: Final[Mapping[type, Callable[[State, Any, RiichiProfile], Settled]]] = {
    Ron: _ron,
    Tsumo: _tsumo,
    ExhaustiveDraw: _draw,
    Abort: _abort,
    Chombo: _chombo,
    MinorFault: _minor_fault,
    DeadHand: _dead_hand,
    SessionEnd: _end,
}
"""How each event is settled."""
