"""The table's state machine: a table of phases and events, no IO.

`handle(state, event)` gives the new state and the facts to be told. An event that the phase does not allow
raises NotNow and leaves the state as it was. The diagram in docs/ is made from RULES.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from broker.contract.messages import Call, Fact
from kiosk.table import claim, plan, restore, settle
from kiosk.table.errors import NotNow
from kiosk.table.events import (
    Assigned,
    ButtonPressed,
    CallToggled,
    ClaimWindowElapsed,
    Event,
    FalseHuRuled,
    Happened,
    NextDealCalled,
    Ordered,
    PlayEndedDrawn,
    Restarted,
    ResultRefused,
    TrayChecked,
    ValueEntered,
)
from kiosk.table.state import SETTLE_NS, Phase, Table

Step = tuple[Table, tuple[Fact, ...]]
Handler = Callable[[Table, Any], Step]


@dataclass(frozen=True, slots=True)
class Rule:
    """In these phases this event is handled so, and leads there (or stays)."""

    phases: tuple[Phase, ...]
    event: type[Happened]
    handler: Handler
    leads_to: tuple[Phase, ...] = ()


def _call(state: Table, event: CallToggled) -> Step:
    if state.play is None:
        raise NotNow("no_play", "nothing is being played here")
    if state.calling == event.open:
        return state, ()
    fact = Call(round=state.play.round, deal=state.play.deal, open=event.open)
    return replace(state, calling=event.open), (fact,)


def _ordered(state: Table, event: Ordered) -> Step:
    """Carry an order out, once: the wire may bring it again, or after a later one."""
    if event.seq <= state.ordered:
        return state, ()
    state = replace(state, ordered=event.seq)
    match event.command:
        case "clear_call":
            return _call(state, CallToggled(at=event.at, open=False)) if state.play else (state, ())
        case "pause" | "resume":
            return replace(state, paused=event.command == "pause"), ()
        case "extra_time":
            return replace(state, extra_min=state.extra_min + event.minutes), ()


def _restarted(state: Table, event: Restarted) -> Step:
    """Times before this are of another clock: an open claim window begins again, so that nobody loses their time.

    Elsewhere presses count at once: whoever has waited for the restart is not pushing twice.
    """
    since = event.at if state.phase is Phase.CLAIMING else event.at - SETTLE_NS
    return replace(state, since=since, declarations=claim.rebased(state.declarations, event.at)), ()


EVERY: Final = tuple(Phase)
BETWEEN: Final = (Phase.WAITING, Phase.RECORDED, Phase.FINISHED)

RULES: Final = (
    Rule((*BETWEEN, Phase.RESTORING), Assigned, plan.assigned, (Phase.RESTORING, Phase.FINISHED)),
    Rule((Phase.RESTORING,), TrayChecked, restore.checked, (Phase.CONFIRMING,)),
    Rule((Phase.CONFIRMING,), ButtonPressed, restore.confirmed, (Phase.PLAYING,)),
    Rule((Phase.PLAYING, Phase.CLAIMING), ButtonPressed, claim.pressed, (Phase.CLAIMING,)),
    Rule((Phase.PLAYING, Phase.CLAIMING), PlayEndedDrawn, claim.ended, (Phase.CLAIMING,)),
    Rule((Phase.CLAIMING,), ClaimWindowElapsed, claim.elapsed, (Phase.DECLARED, Phase.ACCEPTING)),
    Rule((Phase.DECLARED,), FalseHuRuled, settle.false_hu, (Phase.PLAYING,)),
    Rule((Phase.DECLARED,), ValueEntered, settle.valued, (Phase.ACCEPTING,)),
    Rule((Phase.ACCEPTING,), ButtonPressed, settle.accepted, (Phase.RECORDED,)),
    Rule((Phase.ACCEPTING,), ResultRefused, settle.refused, (Phase.PLAYING, Phase.DECLARED)),
    Rule((Phase.RECORDED,), NextDealCalled, plan.next_deal, (Phase.RESTORING, Phase.FINISHED)),
    Rule(EVERY, CallToggled, _call),
    Rule(EVERY, Ordered, _ordered),
    Rule(EVERY, Restarted, _restarted),
)

_HANDLERS: Final = {(phase, rule.event): rule.handler for rule in RULES for phase in rule.phases}


def handle(state: Table, event: Event) -> Step:
    """Give the state after an event, and the facts to tell. Raises NotNow."""
    handler = _HANDLERS.get((state.phase, type(event)))
    if handler is None:
        raise _refusal(state.phase, event)
    return handler(state, event)


def _refusal(phase: Phase, event: Event) -> NotNow:
    text = f"{type(event).__name__} while {phase.value}"
    if not isinstance(event, ButtonPressed):
        return NotNow("not_now", text)
    if phase in (Phase.WAITING, Phase.RESTORING):
        return NotNow("press_before_play", text)
    if phase is Phase.DECLARED:
        return NotNow("press_after_window", text)
    return NotNow("press_after_play", text)
