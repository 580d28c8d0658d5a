"""Duplicate riichi: what a hand scores by itself, to be compared with the same deal at other tables.

Our own definition, since no source has one (docs/riichi-session.md): a hand is scored alone, without counters,
deposits and paarenchan, in hundreds of points. What is left is zero-sum.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from broker.contract.riichi import RiichiEvent
from broker.contract.words import SEATS, Seat
from broker.rules.errors import RuleError
from broker.rules.points import Outcome
from broker.rules.referee.actions import AT
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.session.apply import apply
from broker.rules.riichi.session.events import Abort, Event, ExhaustiveDraw, Ron, Tsumo
from broker.rules.riichi.session.state import State
from broker.rules.riichi.session.told import event_of
from broker.rules.riichi.session.wins import counted

HUNDRED: Final = 100

ENOUGH: Final = 100_000_000
"""Points that nobody runs out of: a hand that is scored alone ends no session."""

YAKUMAN: Final = 13
"""Han that stand for a yakuman where a hand is told by one number."""


def scored(told: RiichiEvent, dealer: Seat, rules: RiichiProfile) -> tuple[Outcome, dict[Seat, int]]:
    """Give a play's outcome, its winners by their han, and each seat's points in hundreds.

    Winners are those whom the rules let win, of all who declared. Raises RuleError as `alone`, and where it cannot be.
    """
    event = event_of(told)
    points = alone(event, dealer, rules)
    if not isinstance(event, Ron | Tsumo):
        return Outcome("draw", {}), points
    if isinstance(event, Tsumo):
        return Outcome("self_drawn", _by_han(told, [event.win.winner])), points
    winners = [win.winner for win in counted(_begun(dealer), event, rules)]
    return Outcome("discard", _by_han(told, winners), told.loser) if winners else Outcome("draw", {}), points


def _by_han(told: RiichiEvent, winners: Iterable[int]) -> dict[Seat, int]:
    han = {seat: win.yakuman * YAKUMAN or win.han for seat, win in told.wins.items()}
    return {SEATS[winner]: han[SEATS[winner]] for winner in winners}


def alone(event: Event, dealer: Seat, rules: RiichiProfile) -> dict[Seat, int]:
    """Give each seat's points in hundreds; the players of an event are the seats in turn order.

    Raises RuleError `fined_not_scored` for what is no end of a hand: a fault costs IMPs, as a false hu does.
    """
    if not isinstance(event, Ron | Tsumo | ExhaustiveDraw | Abort):
        raise RuleError("fined_not_scored", "a hand is won, drawn or broken off; a fault is fined in IMP")
    deltas = apply(_begun(dealer), _without_table(event), rules).deltas
    return {seat: points // HUNDRED for seat, points in zip(SEATS, deltas, strict=True)}


def _begun(dealer: Seat) -> State:
    return State("E", AT[dealer], 0, 0, (ENOUGH, ENOUGH, ENOUGH, ENOUGH))


def _without_table(event: Ron | Tsumo | ExhaustiveDraw | Abort) -> Event:
    """Take out what depends on the hands before: deposits, and the win that follows the last of eight counters."""
    if isinstance(event, Ron):
        wins = tuple(replace(win, after_eight_counters=False) for win in event.wins)
        return replace(event, riichi=(), chombo=(), wins=wins)
    if isinstance(event, Tsumo):
        return replace(event, riichi=(), chombo=(), win=replace(event.win, after_eight_counters=False))
    return replace(event, riichi=())
