"""A session to try things in."""

from dataclasses import replace
from typing import Final

from broker.rules import RuleError, load_riichi
from broker.rules.riichi import Ron, SessionEvent, SessionState, SessionWin, SettledEvent, Tsumo, settle_event

MONTREAL: Final = load_riichi("montreal")
TENHOU: Final = load_riichi("tenhou")
BASIC: Final = load_riichi("basic")

BEGIN: Final = SessionState("E", 0, 0, 0, (25000, 25000, 25000, 25000))
"""Player 0 deals the first hand."""

LAST: Final = replace(BEGIN, round_wind="S", dealer=3)
"""The last deal that is played in any case."""


def settled(event: SessionEvent, state: SessionState = BEGIN) -> SettledEvent:
    """Settle an event under the rules of Montréal."""
    return settle_event(state, event, MONTREAL)


def ron(winner: int, loser: int, han: int = 3, fu: int = 30) -> Ron:
    """Win on a discard: 3900, or 5800 by the dealer, unless said."""
    return Ron(loser=loser, wins=(SessionWin(winner, han, fu),))


def tsumo(winner: int, han: int = 3, fu: int = 30) -> Tsumo:
    """Win on a drawn tile: 1000 and 2000, or 2000 each to the dealer, unless said."""
    return Tsumo(win=SessionWin(winner, han, fu))


def place(state: SessionState) -> str:
    """Return the deal as players say it: `S4` is the fourth of the south round."""
    return f"{state.round_wind}{state.dealer + 1}"


def refusal(event: SessionEvent, state: SessionState = BEGIN) -> str:
    """Return the code with which an event is refused, or nothing."""
    try:
        settle_event(state, event, MONTREAL)
    except RuleError as refused:
        return refused.code
    return ""
