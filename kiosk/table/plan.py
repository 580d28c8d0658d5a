"""Which play comes next."""

from dataclasses import replace

from msgspec import structs

from broker.contract.facts import Fact
from broker.contract.messages import Assignment
from broker.contract.plans import PlannedPlay
from broker.rules.errors import RuleError
from kiosk.table.errors import NotNow
from kiosk.table.events import Assigned, NextDealCalled
from kiosk.table.riichi import planning
from kiosk.table.seating import still_seated
from kiosk.table.state import Phase, Played, Table, afresh, profile_of


def assigned(state: Table, event: Assigned) -> tuple[Table, tuple[Fact, ...]]:
    """Take the plan in. What has been recorded here stays recorded; the next play comes from the new plan."""
    if event.assignment.session is not None or state.session is not None:
        return planning.assigned(state, event)
    _refuse_unknown(event.assignment)
    had = state.assignment
    if had is None or had.store != event.assignment.store:
        return _from_another_store(state, event), ()
    if renames(state, event.assignment):
        return _with_names(state, event.assignment), ()
    if state.phase is Phase.RESTORING and not settled_now(state, event.assignment):
        raise NotNow("not_now", "the trays of a play are being laid")
    if _behind(state, event.assignment) != _behind(state, had):
        raise NotNow("plan_rewrites_past", "the new plan differs in plays that were played here")
    if state.played and (event.assignment.profile, event.assignment.rules) != (had.profile, had.rules):
        raise NotNow("plan_rewrites_past", "the new plan has another profile; results here stand by the old one")
    renewed = replace(state, assignment=event.assignment)
    return (renewed if state.phase is Phase.RECORDED else begin(renewed, _next(renewed), event.at)), ()


def renames(state: Table, assignment: Assignment) -> bool:
    """Say whether a plan that comes while trays are laid tells nothing new of the plays but names and minutes."""
    had = state.assignment
    if had is None or state.phase is not Phase.RESTORING or state.seating or settled_now(state, assignment):
        return False
    same = [_apart_from_names(one) for one in had.plays] == [_apart_from_names(one) for one in assignment.plays]
    ruled = (had.profile, had.rules) == (assignment.profile, assignment.rules)
    return same and ruled and (had.plays, had.minutes) != (assignment.plays, assignment.minutes)


def _with_names(state: Table, assignment: Assignment) -> Table:
    """Go on with what is laid; who sits there under another name, as a substitute does, has not checked in."""
    renewed = replace(state, assignment=assignment)
    return replace(renewed, arrived=frozenset(s for s in state.arrived if renewed.players[s] == state.players[s]))


def settled_now(state: Table, assignment: Assignment) -> bool:
    """Say whether a plan tells that arbiters have settled the present play: nobody need lay its trays any further."""
    return state.play is not None and state.play.round in assignment.settled


def _from_another_store(state: Table, event: Assigned) -> Table:
    """Begin where that store says; where that is where we are, the table stays as it is."""
    renewed = replace(state, assignment=event.assignment)
    we_are_at = {Phase.RESTORING: state.index, Phase.RECORDED: state.index + 1}.get(state.phase)
    if event.first == we_are_at and renewed.play == state.play:
        return renewed
    played = tuple(_as_planned(one) for one in event.assignment.plays[: event.first])
    return begin(replace(renewed, played=played), event.first, event.at)


def _as_planned(play: PlannedPlay) -> Played:
    """What another device saw played here; who really sat there the scorer knows."""
    return Played(play.round, play.deal, frozenset(player.id for player in play.players.values()))


def _behind(state: Table, assignment: Assignment) -> list[PlannedPlay]:
    """Give the plays of a plan that this table has behind it, whatever the people are called by now (substitutes)."""
    rounds = {one.round for one in state.played}
    return [_apart_from_names(one) for one in assignment.plays if one.round in rounds]


def _apart_from_names(play: PlannedPlay) -> PlannedPlay:
    nameless = {seat: structs.replace(player, name="-") for seat, player in play.players.items()}
    return structs.replace(play, players=nameless)


def over(state: Table) -> tuple[Played, ...]:
    """Give what the table has behind it with the present play."""
    if state.play is None:
        return state.played
    players = frozenset(player.id for player in state.players.values())
    return (*state.played, Played(state.play.round, state.play.deal, players))


def _next(state: Table) -> int:
    """Give the index of the first play that this table has still to do, after the last where there is none."""
    plays = state.assignment.plays if state.assignment else ()
    behind = {one.round for one in state.played}
    recorded = set(state.assignment.recorded) if state.assignment else set()
    return next((at for at, one in enumerate(plays) if one.round not in behind | recorded), len(plays))


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
    return begin(state, _next(state), event.at), ()


def begin(state: Table, index: int, at: int) -> Table:
    """Begin a play. Who sits where is known still where the same people stay in their seats."""
    plays = state.assignment.plays if state.assignment else ()
    coming = plays[index] if index < len(plays) else None
    arrived = state.arrived if still_seated(state, coming) else frozenset()
    fresh = replace(afresh(state, at), played=state.played, arrived=arrived, index=index)
    return replace(fresh, phase=Phase.RESTORING if fresh.play else Phase.FINISHED)
