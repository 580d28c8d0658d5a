"""Helpers that settle the events of a session."""

from dataclasses import replace
from typing import Final

from broker.rules import RuleError, load_riichi
from broker.rules.riichi import Ron, SessionEvent, SessionState, SessionWin, SettledEvent, Tsumo, settle_event

MONTREAL: Final = load_riichi("montreal")
TENHOU: Final = load_riichi("tenhou")
BASIC: Final = load_riichi("basic")

BEGIN: Final = SessionState("E", 0, 0, 0, (25000, 25000, 25000, 25000))
"""The first hand, dealt by player 0."""

LAST: Final = replace(BEGIN, round_wind="S", dealer=3)
"""The last hand before a possible extension."""


def settled(event: SessionEvent, state: SessionState = BEGIN) -> SettledEvent:
    """Return an event settled under the rules of Montréal."""
    return settle_event(state, event, MONTREAL)


def ron(winner: int, loser: int, han: int = 3, fu: int = 30) -> Ron:
    """Return a win on a discard, by default worth 3900, or 5800 for the dealer."""
    return Ron(loser=loser, wins=(SessionWin(winner, han, fu),))


def tsumo(winner: int, han: int = 3, fu: int = 30) -> Tsumo:
    """Return a self-drawn win, by default paid 1000 and 2000, or 2000 by each to the dealer."""
    return Tsumo(win=SessionWin(winner, han, fu))


def deal_name(state: SessionState) -> str:
    """Return the players' name of the deal: `S4` is the fourth of the south round."""
    return f"{state.round_wind}{state.dealer + 1}"


def refusal(event: SessionEvent, state: SessionState = BEGIN) -> str:
    """Return the code with which an event is refused, or an empty text if it is accepted."""
    try:
        settle_event(state, event, MONTREAL)
    except RuleError as refused:
        return refused.code
    return ""
