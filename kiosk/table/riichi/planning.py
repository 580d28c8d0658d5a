"""A plan with a riichi session: who sits at the table, and by which rules."""

from dataclasses import replace

from broker.contract.facts import Fact
from broker.contract.messages import Assignment
from broker.rules.errors import RuleError
from kiosk.table.errors import NotNow
from kiosk.table.events import Assigned
from kiosk.table.riichi.session import Session, begun, rules_of
from kiosk.table.state import Phase, Table, afresh


def assigned(state: Table, event: Assigned) -> tuple[Table, tuple[Fact, ...]]:
    """Take the plan in. A session that has begun goes on as it was planned; the next one may be another."""
    had, came = state.session, event.assignment
    if had is not None and _same(had, came, state.assignment):
        return replace(state, assignment=came), ()
    if had is not None and had.entries and state.phase is not Phase.FINISHED:
        raise NotNow("plan_rewrites_past", "a riichi session is being played here; it ends first")
    fresh = replace(afresh(state, event.at), assignment=came)
    if came.session is None:
        return replace(fresh, phase=Phase.RESTORING if fresh.play else Phase.FINISHED), ()
    session = _begun(came)
    phase = Phase.FINISHED if session.state.over else Phase.CONFIRMING
    return replace(fresh, session=session, phase=phase), ()


def _same(session: Session, came: Assignment, had: Assignment | None) -> bool:
    """Say whether a plan has the session that is here: where the scorer says that it stands is our own word."""
    planned = came.session
    return (
        planned is not None
        and had is not None
        and (planned.round, planned.players) == (session.planned.round, session.planned.players)
        and (came.store, came.profile, came.rules) == (had.store, had.profile, had.rules)
    )


def _begun(plan: Assignment) -> Session:
    """Begin it. Raises NotNow where there are no such rules, or no such state."""
    try:
        rules = rules_of(plan)
        session = begun(plan.session, rules) if plan.session else None
    except RuleError as error:
        raise NotNow(error.code, error.text) from None
    if session is None or rules.id != plan.profile:
        raise NotNow("bad_profile", f"the plan names {plan.profile} and brings {rules.id}")
    return session
