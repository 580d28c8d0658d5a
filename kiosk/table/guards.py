"""What stops a play before a tile is touched. The arbiter may let it go on; what really happened is then a fact."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from broker.contract.facts import Fact, Overridden
from kiosk.table import calls, plan
from kiosk.table.authority import arbiter_of
from kiosk.table.carrier import brought
from kiosk.table.errors import NotNow
from kiosk.table.events import (
    ArbiterAdmitted,
    ArbiterLeft,
    Assigned,
    ButtonHeld,
    ButtonPressed,
    CallToggled,
    DealBroughtForward,
    Event,
    ExtraTimeGiven,
    GuardOverridden,
    Ordered,
    PauseRuled,
    PinRefused,
    PlayAdjusted,
    PlayVoided,
    Restarted,
    SeatsSwapped,
    SelfTestBegun,
    SelfTestEnded,
)
from kiosk.table.state import Phase, Table

OUT_OF_ORDER: Final = "out_of_order"

GOES_ON: Final = (
    ArbiterAdmitted,
    ArbiterLeft,
    Assigned,
    ButtonHeld,
    ButtonPressed,
    CallToggled,
    DealBroughtForward,
    ExtraTimeGiven,
    GuardOverridden,
    Ordered,
    PauseRuled,
    PinRefused,
    PlayAdjusted,
    PlayVoided,
    Restarted,
    SeatsSwapped,
    SelfTestBegun,
    SelfTestEnded,
)
"""What a play that is stopped still allows: people sit down, the arbiter is called and rules."""


def standing(state: Table) -> tuple[str, ...]:
    """Give the codes of what stops the present play, the gravest first."""
    return tuple(stop.code for stop in _stops(state) if stop.code not in state.allowed)


def _stops(state: Table) -> Iterator[NotNow]:
    if state.phase is not Phase.RESTORING or state.play is None:
        return
    if any(one.deal == state.play.deal for one in state.played):
        yield NotNow("deal_played_here", f"deal {state.play.deal}")
    if again := repeating(state):
        yield NotNow("player_played_deal", ", ".join(again))


def repeating(state: Table) -> tuple[str, ...]:
    """Give the ids of those at the table who have played this deal already, here or, as the scorer says, elsewhere."""
    if state.play is None or state.assignment is None:
        return ()
    here = {player.id for player in state.players.values()}
    had = {one for play in state.played if play.deal == state.play.deal for one in play.players}
    return tuple(sorted(here & (had | set(state.assignment.repeats.get(state.play.round, ())))))


def refuse(state: Table, event: Event) -> None:
    """Refuse to go on with a play that is stopped. Raises NotNow with the code of what stops it."""
    if not isinstance(event, GOES_ON) and (stopped := standing(state)):
        raise NotNow(stopped[0])


def overridden(state: Table, event: GuardOverridden) -> tuple[Table, tuple[Fact, ...]]:
    """Let the play go on; what had stopped it is told."""
    arbiter_of(state)
    codes, play = standing(state), calls.play_of(state)
    if not codes:
        raise NotNow("nothing_to_override", "nothing stops this play")
    fact = Overridden(round=play.round, deal=play.deal, guards=codes, reason=event.reason)
    return replace(state, allowed=state.allowed | {*codes}), (fact,)


def brought_forward(state: Table, event: DealBroughtForward) -> tuple[Table, tuple[Fact, ...]]:
    """Take another play of this table before its turn; the one that had its turn comes later."""
    arbiter_of(state)
    index = brought(state, event.round)
    begun = plan.begin(state, index, event.at)
    play = calls.play_of(begun)
    fact = Overridden(round=play.round, deal=play.deal, guards=(OUT_OF_ORDER,), reason=event.reason)
    return begun, (fact,)
