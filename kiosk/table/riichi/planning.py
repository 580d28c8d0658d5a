"""A plan with a riichi session: who sits at the table, and by which rules."""

from dataclasses import replace

from msgspec import structs

from broker.contract.facts import Fact
from broker.contract.messages import Assignment
from broker.contract.plans import PlannedSession
from broker.contract.words import Seat
from broker.rules.errors import RuleError
from kiosk.table.errors import NotNow
from kiosk.table.events import Assigned
from kiosk.table.riichi.session import Session, begun, rules_of
from kiosk.table.state import Phase, Table, afresh


def assigned(state: Table, event: Assigned) -> tuple[Table, tuple[Fact, ...]]:
    """Take the plan in. A session that has begun goes on as it was planned; the next one may be another."""
    had, came = state.session, event.assignment
    if had is not None and _same(had, came, state.assignment):
        return replace(state, assignment=came, session=replace(had, planned=_named(had.planned, came.session))), ()
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
        and (planned.round, _ids(planned)) == (session.planned.round, _ids(session.planned))
        and (came.store, came.profile, came.rules) == (had.store, had.profile, had.rules)
    )


def _ids(planned: PlannedSession) -> dict[Seat, str]:
    return {seat: player.id for seat, player in planned.players.items()}


def _named(planned: PlannedSession, came: PlannedSession | None) -> PlannedSession:
    """Give a session as it was planned, with the players as they are called by now."""
    return structs.replace(planned, players=came.players) if came else planned


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
