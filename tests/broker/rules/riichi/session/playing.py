"""A session to try things in."""

from dataclasses import replace
from typing import Final

from broker.rules.errors import RuleError
from broker.rules.riichi.profile_files import load
from broker.rules.riichi.session.apply import Settled, apply
from broker.rules.riichi.session.events import Event, Ron, Tsumo, Win
from broker.rules.riichi.session.state import State

MONTREAL: Final = load("montreal")
TENHOU: Final = load("tenhou")
BASIC: Final = load("basic")

BEGIN: Final = State("E", 0, 0, 0, (25000, 25000, 25000, 25000))
"""Player 0 deals the first hand."""

LAST: Final = replace(BEGIN, round_wind="S", dealer=3)
"""The last deal that is played in any case."""


def settled(event: Event, state: State = BEGIN) -> Settled:
    """Settle an event under the rules of Montréal."""
    return apply(state, event, MONTREAL)


def ron(winner: int, loser: int, han: int = 3, fu: int = 30) -> Ron:
    """Win on a discard: 3900, or 5800 by the dealer, unless said."""
    return Ron(loser=loser, wins=(Win(winner, han, fu),))


def tsumo(winner: int, han: int = 3, fu: int = 30) -> Tsumo:
    """Win on a drawn tile: 1000 and 2000, or 2000 each to the dealer, unless said."""
    return Tsumo(win=Win(winner, han, fu))


def place(state: State) -> str:
    """Give the deal as players say it: `S4` is the fourth of the south round."""
    return f"{state.round_wind}{state.dealer + 1}"


def refusal(event: Event, state: State = BEGIN) -> str:
    """Give the code with which an event is refused, or nothing."""
    try:
        apply(state, event, MONTREAL)
    except RuleError as refused:
        return refused.code
    return ""
