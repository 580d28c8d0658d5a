"""Which play comes next."""

from dataclasses import replace

from broker.contract.messages import Assignment, Fact
from broker.rules.errors import RuleError
from kiosk.table.errors import NotNow
from kiosk.table.events import Assigned, NextDealCalled
from kiosk.table.riichi import seating
from kiosk.table.state import Phase, Table, profile_of


def assigned(state: Table, event: Assigned) -> tuple[Table, tuple[Fact, ...]]:
    """Take the plan in. What has been recorded here stays recorded; the next play comes from the new plan."""
    if event.assignment.session is not None or state.session is not None:
        return seating.assigned(state, event)
    _refuse_unknown(event.assignment)
    had = state.assignment
    if had is None or had.store != event.assignment.store:
        return _from_another_store(state, event), ()
    if state.phase is Phase.RESTORING:
        raise NotNow("not_now", "the trays of a play are being laid")
    done = state.index + (state.phase is Phase.RECORDED)
    if event.assignment.plays[:done] != had.plays[:done]:
        raise NotNow("plan_rewrites_past", "the new plan differs in plays that were played here")
    if done and (event.assignment.profile, event.assignment.rules) != (had.profile, had.rules):
        raise NotNow("plan_rewrites_past", "the new plan has another profile; results here stand by the old one")
    renewed = replace(state, assignment=event.assignment)
    return (renewed if state.phase is Phase.RECORDED else _begin(renewed, done, event.at)), ()


def _from_another_store(state: Table, event: Assigned) -> Table:
    """Begin where that store says; where that is where we are, the table stays as it is."""
    renewed = replace(state, assignment=event.assignment)
    we_are_at = {Phase.RESTORING: state.index, Phase.RECORDED: state.index + 1}.get(state.phase)
    if event.first == we_are_at and renewed.play == state.play:
        return renewed
    return _begin(renewed, event.first, event.at)


def _refuse_unknown(assignment: Assignment) -> None:
    """Refuse what this kiosk has no rules for, before the journal keeps it: it could never start again."""
    try:
        profile = profile_of(assignment)
    except RuleError as error:
        raise NotNow(error.code, error.text) from None
    if profile.id != assignment.profile:
        raise NotNow("bad_profile", f"the plan names {assignment.profile} and brings {profile.id}")


def next_deal(state: Table, event: NextDealCalled) -> tuple[Table, tuple[Fact, ...]]:
    """Go on to the next play, or end."""
    return _begin(state, state.index + 1, event.at), ()


def _begin(state: Table, index: int, at: int) -> Table:
    """Begin a play with nothing of the one before but an open call, a pause that lasts, and which order came last."""
    fresh = Table(
        assignment=state.assignment,
        index=index,
        since=at,
        calling=state.calling,
        discreet=state.discreet,
        pause=state.pause if state.paused else None,
        ordered=state.ordered,
    )
    return replace(fresh, phase=Phase.RESTORING if fresh.play else Phase.FINISHED)
