"""Duplicate riichi: what a hand scores by itself, to be compared with the same deal at other tables.

Our own definition, since no source has one (docs/riichi-session.md): a hand is scored alone, without counters,
deposits and paarenchan, in hundreds of points. What is left is zero-sum.
"""

from dataclasses import replace
from typing import Final

from broker.contract.words import SEATS, Seat
from broker.rules.errors import RuleError
from broker.rules.referee.actions import AT
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.session.apply import apply
from broker.rules.riichi.session.events import Abort, Event, ExhaustiveDraw, Ron, Tsumo
from broker.rules.riichi.session.state import State

HUNDRED: Final = 100

ENOUGH: Final = 100_000_000
"""Points that nobody runs out of: a hand that is scored alone ends no session."""


def alone(event: Event, dealer: Seat, rules: RiichiProfile) -> dict[Seat, int]:
    """Give each seat's points in hundreds; the players of an event are the seats in turn order.

    Raises RuleError `fined_not_scored` for what is no end of a hand: a fault costs IMPs, as a false hu does.
    """
    if not isinstance(event, Ron | Tsumo | ExhaustiveDraw | Abort):
        raise RuleError("fined_not_scored", "a hand is won, drawn or broken off; a fault is fined in IMP")
    begun = State("E", AT[dealer], 0, 0, (ENOUGH, ENOUGH, ENOUGH, ENOUGH))
    deltas = apply(begun, _without_table(event), rules).deltas
    return {seat: points // HUNDRED for seat, points in zip(SEATS, deltas, strict=True)}


def _without_table(event: Ron | Tsumo | ExhaustiveDraw | Abort) -> Event:
    """Take out what depends on the hands before: deposits, and the win that follows the last of eight counters."""
    if isinstance(event, Ron):
        wins = tuple(replace(win, after_eight_counters=False) for win in event.wins)
        return replace(event, riichi=(), chombo=(), wins=wins)
    if isinstance(event, Tsumo):
        return replace(event, riichi=(), chombo=(), win=replace(event.win, after_eight_counters=False))
    return replace(event, riichi=())
