"""Which play comes next."""

from dataclasses import replace

from broker.contract.messages import Fact
from broker.rules.errors import RuleError
from broker.rules.profile import load
from kiosk.table.errors import NotNow
from kiosk.table.events import Assigned, NextDealCalled
from kiosk.table.state import Phase, Table


def assigned(state: Table, event: Assigned) -> tuple[Table, tuple[Fact, ...]]:
    """Take the plan in. What has been recorded here stays recorded; the next play comes from the new plan."""
    _refuse_unknown(event.assignment.profile)
    if state.assignment is None:
        return _begin(replace(state, assignment=event.assignment), event.first, event.at), ()
    done = state.index + (state.phase is Phase.RECORDED)
    kept = state.assignment.plays[:done]
    if event.assignment.plays[:done] != kept:
        raise NotNow("plan_rewrites_past", "the new plan differs in plays that were played here")
    if done and event.assignment.profile != state.assignment.profile:
        raise NotNow("plan_rewrites_past", "the new plan has another profile; results here stand by the old one")
    renewed = replace(state, assignment=event.assignment)
    return (renewed if state.phase is Phase.RECORDED else _begin(renewed, done, event.at)), ()


def _refuse_unknown(profile: str) -> None:
    """Refuse what this kiosk has no rules for, before the journal keeps it: it could never start again."""
    try:
        load(profile)
    except RuleError as error:
        raise NotNow(error.code, error.text) from None


def next_deal(state: Table, event: NextDealCalled) -> tuple[Table, tuple[Fact, ...]]:
    """Go on to the next play, or end."""
    return _begin(state, state.index + 1, event.at), ()


def _begin(state: Table, index: int, at: int) -> Table:
    """Begin a play with nothing of the one before but an open call."""
    fresh = Table(assignment=state.assignment, index=index, since=at, calling=state.calling)
    return replace(fresh, phase=Phase.RESTORING if fresh.play else Phase.FINISHED)
