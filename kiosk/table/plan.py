"""Before a play: which comes next at a table, its walls, and who sits where.

Staff lay the right carrier and every tray is verified, else the deal is not played (MIL).
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from msgspec import structs

from broker.protocol import (
    SEATS,
    Assignment,
    Confirmed,
    PlannedPlay,
    PlannedSession,
    Restored,
    Seat,
    Seated,
    TilesLaid,
)
from broker.rules import RuleError, form_hash
from kiosk.table import events
from kiosk.table.session import RiichiSession, begin_session, riichi_rules_of
from kiosk.table.state import (
    FinishedPlay,
    NotNow,
    Phase,
    PlayClock,
    Step,
    Table,
    TrayProblem,
    arbiter_name,
    check_settled,
    cleared,
    current_play,
    profile_of,
    with_acceptance,
)
from kiosk.table.trays import Work, is_foreign, serial_by_place, work_after_look, work_after_tick

LAYING: Final = (Phase.RESTORING, Phase.SEATING)
"""Where nobody has begun to play yet."""


def on_assigned(state: Table, event: events.Assigned) -> Step:
    """Take the plan in. What has been recorded here stays recorded; the next play comes from the new plan."""
    if event.assignment.session is not None or state.session is not None:
        return on_session_assigned(state, event)
    _refuse_unknown(event.assignment)
    had = state.assignment
    if had is None or had.store != event.assignment.store:
        if state.phase is Phase.SEATING:
            raise NotNow("not_now", "people sit down for a play of another store")
        return _from_another_store(state, event), ()
    _refuse_rewritten(state, event.assignment, had)
    if may_renew(state, event.assignment):
        return _with_walls(state, event.assignment), ()
    if state.phase in LAYING and not gives_way(state, event.assignment):
        raise NotNow("not_now", "the trays of a play are being laid")
    at = _place(state, event.assignment)
    renewed = replace(state, assignment=event.assignment, index=state.index if at is None else at)
    return (renewed if state.phase is Phase.RECORDED else begin_play(renewed, _next(renewed), event.at)), ()


def _refuse_rewritten(state: Table, assignment: Assignment, had: Assignment) -> None:
    """Refuse a plan in which what was played here is otherwise."""
    if _played_plays(state, assignment) != _played_plays(state, had):
        raise NotNow("plan_rewrites_past", "the new plan differs in plays that were played here")
    if state.played and (assignment.profile, assignment.rules) != (had.profile, had.rules):
        raise NotNow("plan_rewrites_past", "the new plan has another profile; results here stand by the old one")


def may_renew(state: Table, assignment: Assignment) -> bool:
    """Return whether a plan that comes while trays are laid, or people sit down, leaves the trays as they are.

    Others may sit there. Where an arbiter has let two change seats, only other people undo that.
    """
    had, at = state.assignment, _place(state, assignment)
    if had is None or at is None or state.phase not in LAYING or settled_now(state, assignment):
        return False
    if (had.profile, had.rules) != (assignment.profile, assignment.rules) or state.play is None:
        return False
    play, coming = state.play, assignment.plays[at]
    if structs.replace(play, players={}) != structs.replace(coming, players={}):
        return False
    if state.seating and _apart_from_names(play) == _apart_from_names(coming):
        return False
    return _to_come(had) != _to_come(assignment)


def _to_come(assignment: Assignment) -> tuple[object, ...]:
    return assignment.plays, assignment.minutes, assignment.onward


def _place(state: Table, assignment: Assignment) -> int | None:
    """Return the place of the present play in another plan; None if it is not in it."""
    return next((at for at, one in enumerate(assignment.plays) if state.play and one.round == state.play.round), None)


def _with_walls(state: Table, assignment: Assignment) -> Table:
    """Go on with what is laid; who is new there, or goes by another name as a substitute does, has not checked in."""
    renewed = replace(state, assignment=assignment, index=_place(state, assignment) or 0, seating={})
    return replace(renewed, arrived=frozenset(s for s in state.arrived if renewed.players[s] == state.players[s]))


def gives_way(state: Table, assignment: Assignment) -> bool:
    """Return whether the present play is not to be played: arbiters have settled it, or it is no longer in the plan."""
    return settled_now(state, assignment) or (state.play is not None and _place(state, assignment) is None)


def settled_now(state: Table, assignment: Assignment) -> bool:
    """Whether a plan tells that arbiters have settled the present play: nobody need lay its trays any further."""
    return state.play is not None and state.play.round in assignment.settled


def _from_another_store(state: Table, event: events.Assigned) -> Table:
    """Begin where that store says; where that is where we are, the table stays as it is."""
    renewed = replace(state, assignment=event.assignment)
    we_are_at = {Phase.RESTORING: state.index, Phase.RECORDED: state.index + 1}.get(state.phase)
    if event.first == we_are_at and renewed.play == state.play:
        return renewed
    played = tuple(_as_planned(one) for one in event.assignment.plays[: event.first])
    return begin_play(replace(renewed, played=played), event.first, event.at)


def _as_planned(play: PlannedPlay) -> FinishedPlay:
    """What another device saw played here; who really sat there the scorer knows."""
    return FinishedPlay(play.round, play.deal, frozenset(player.id for player in play.players.values()))


def _played_plays(state: Table, assignment: Assignment) -> list[PlannedPlay]:
    """Return the plays of a plan that this table has behind it, whatever the people are called by now (substitutes)."""
    rounds = {one.round for one in state.played}
    return [_apart_from_names(one) for one in assignment.plays if one.round in rounds]


def _apart_from_names(play: PlannedPlay) -> PlannedPlay:
    nameless = {seat: structs.replace(player, name="-") for seat, player in play.players.items()}
    return structs.replace(play, players=nameless)


def with_this_play(state: Table) -> tuple[FinishedPlay, ...]:
    """Return what the table has behind it with the present play."""
    if state.play is None:
        return state.played
    players = frozenset(player.id for player in state.players.values())
    return (*state.played, FinishedPlay(state.play.round, state.play.deal, players))


def _next(state: Table) -> int:
    """Return the index of the first play that this table has still to do, after the last if there is none."""
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


def on_next_deal(state: Table, event: events.NextDealCalled) -> Step:
    """Go on to the next play, or end."""
    return begin_play(state, _next(state), event.at), ()


def on_play_kept(state: Table, event: events.PlayKept) -> Step:
    """Tell what lay there. Raises NotNow `not_kept_here`."""
    if not state.may_keep or state.play is None:
        raise NotNow("not_kept_here", "there is no result, the event keeps no plays, or it was done often enough")
    laid = TilesLaid(round=state.play.round, deal=state.play.deal, seats=event.seats, winning=event.winning)
    return replace(state, kept=state.kept + 1), (laid,)


def begin_play(state: Table, index: int, at: int) -> Table:
    """Begin a play. Who sits where is known still where the same people stay in their seats."""
    plays = state.assignment.plays if state.assignment else ()
    seated = len(state.arrived) == len(SEATS) and index < len(plays)
    stays = seated and dict(state.players) == dict(plays[index].players)  # a substitute has not checked in
    arrived = state.arrived if stays else frozenset()
    fresh = replace(cleared(state, at), played=state.played, arrived=arrived, index=index)
    return replace(fresh, phase=Phase.RESTORING if fresh.play else Phase.FINISHED)


def on_session_assigned(state: Table, event: events.Assigned) -> Step:
    """Take the plan in. A session that has begun goes on as it was planned; the next one may be another."""
    had, came = state.session, event.assignment
    if had is not None and _same_session(had, came, state.assignment):
        return replace(state, assignment=came, session=replace(had, planned=_renamed(had.planned, came.session))), ()
    if had is not None and had.entries and state.phase is not Phase.FINISHED:
        raise NotNow("plan_rewrites_past", "a riichi session is being played here; it ends first")
    fresh = replace(cleared(state, event.at), assignment=came)
    if came.session is None:
        _refuse_unknown(came)
        return _from_another_store(fresh, event), ()
    session = _new_session(came)
    phase = Phase.FINISHED if session.state.over else Phase.CONFIRMING
    return replace(fresh, session=session, phase=phase), ()


def _same_session(session: RiichiSession, came: Assignment, had: Assignment | None) -> bool:
    """Return whether a plan has the session that is here: where the scorer says that it stands is our own word."""
    planned = came.session
    return (
        planned is not None
        and had is not None
        and (planned.round, _player_ids(planned)) == (session.planned.round, _player_ids(session.planned))
        and (came.store, came.profile, came.rules) == (had.store, had.profile, had.rules)
    )


def _player_ids(planned: PlannedSession) -> dict[Seat, str]:
    return {seat: player.id for seat, player in planned.players.items()}


def _renamed(planned: PlannedSession, came: PlannedSession | None) -> PlannedSession:
    """Return a session as it was planned, with the players as they are called by now."""
    return structs.replace(planned, players=came.players) if came else planned


def _new_session(plan: Assignment) -> RiichiSession:
    """Begin it. Raises NotNow if there are no such rules, or no such state."""
    try:
        rules = riichi_rules_of(plan)
        session = begin_session(plan.session, rules) if plan.session else None
    except RuleError as error:
        raise NotNow(error.code, error.text) from None
    if session is None or rules.id != plan.profile:
        raise NotNow("bad_profile", f"the plan names {plan.profile} and brings {rules.id}")
    return session


def on_seating_press(state: Table, event: events.ButtonPressed) -> Step:
    """Check a player in, while trays are still laid or when they lie. Raises NotNow."""
    check_settled(state, event)
    if event.seat in state.arrived:
        raise NotNow("press_before_play", f"{event.seat} has checked in")
    return after_restoring(replace(state, arrived=state.arrived | {event.seat}), event.at)


def after_restoring(state: Table, at: int) -> Step:
    """Go on where all four trays lie right: to the tiles when everybody is here, else wait for them."""
    play = state.play
    if play is None or state.unlaid:
        return state, ()
    if len(state.arrived) < len(SEATS):
        return (replace(state, phase=Phase.SEATING, since=at) if state.phase is Phase.RESTORING else state), ()
    seated = Seated(
        round=play.round, deal=play.deal, players={seat: player.id for seat, player in state.players.items()}
    )
    return replace(state, phase=Phase.CONFIRMING, since=at, agreed=frozenset()), (seated,)


def on_seats_swapped(state: Table, event: events.SeatsSwapped) -> Step:
    """Let two players stay in each other's seats; both check in again, under the names that now stand there."""
    arbiter_name(state)
    if state.play is None or event.one == event.other:
        raise NotNow("not_two_seats", f"{event.one}, {event.other}")
    seating = {**state.players, event.one: state.players[event.other], event.other: state.players[event.one]}
    ordered = {seat: seating[seat] for seat in SEATS}
    as_planned = ordered == dict(state.play.players)
    phase = Phase.SEATING if state.phase is Phase.CONFIRMING else state.phase
    return (
        replace(
            state,
            phase=phase,
            since=event.at,
            seating={} if as_planned else ordered,
            arrived=state.arrived - {event.one, event.other},
            agreed=frozenset(),
        ),
        (),
    )


ENOUGH: Final = 17
"""Places of a tray, of 34. Two deals of a set agree in a quarter of a place on average: so many are no accident."""

Rows = tuple[tuple[int | None, ...], ...]


def agreeing_places(rows: Rows, play: PlannedPlay) -> int:
    """Return in how many places a tray lies as one of the trays of a play."""
    return max(_same(rows, play.order[seat]) for seat in SEATS)


def of_another_deal(state: Table, rows: Rows) -> PlannedPlay | None:
    """Return the play of this table whose tray this is, where it is not the present one's."""
    if state.assignment is None or state.play is None or agreeing_places(rows, state.play) >= ENOUGH:
        return None
    others = (one for one in state.assignment.plays if one.deal != state.play.deal)
    best = max(others, key=lambda one: agreeing_places(rows, one), default=None)
    return best if best is not None and agreeing_places(rows, best) >= ENOUGH else None


def is_unknown_carrier(state: Table, look: events.TrayChecked) -> bool:
    """Return whether a tray is of no deal that this table knows: of what lies in it less than half belongs there.

    A quarter would by chance. A tray that staff have begun here is theirs to finish, whatever they put into it.
    """
    if state.play is None or state.taken_apart or _begun(state, look):
        return False
    own = {serial for row in state.play.order[look.seat] for serial in row}
    lying = [
        not is_foreign(look, (row, col)) and serial in own
        for row, line in enumerate(look.rows)
        for col, serial in enumerate(line)
        if serial is not None or is_foreign(look, (row, col))
    ]
    return len(lying) >= ENOUGH and 2 * sum(lying) < len(lying)


def _same(rows: Rows, tray: Iterable[Iterable[int]]) -> int:
    return sum(
        one == other
        for row, planned in zip(rows, tray, strict=False)
        for one, other in zip(row, planned, strict=False)
        if one is not None
    )


def _begun(state: Table, look: events.TrayChecked) -> bool:
    """A tray that was seen to be ours and is not right yet; one that was right may have been changed for another."""
    return look.seat not in state.work.by and any(one.seat == look.seat for one in state.work.looks)


MOST_REFUSALS: Final = 9999
"""As many as a fact can tell; a tray left under a flickering lamp must not make one that nobody can read."""


def on_tray_checked(state: Table, event: events.TrayChecked) -> Step:
    """Take in one look at a tray. It is right only when all 34 places were read and are as the deal wants them."""
    play = current_play(state)
    right = event.rows == play.order[event.seat] and not event.wrong
    other = None if right else of_another_deal(state, event.rows)
    strange = not right and other is None and is_unknown_carrier(state, event)
    work = (
        state.work if other or strange else work_after_look(state.work, event, serial_by_place(play.order), right=right)
    )
    if right:
        return _verified(replace(state, work=work, check=None), event.at)
    unread = sum(serial is None for row in event.rows for serial in row)
    aside = structs.replace(event, at=0) if strange else None
    check = TrayProblem(event.seat, event.wrong, unread, None if other is None else other.deal, aside)
    if check == state.check and work == state.work:
        return state, ()
    refusals = min(state.refusals + (bool(event.wrong) and check != state.check), MOST_REFUSALS)
    return replace(state, check=check, work=work, refusals=refusals), ()


def on_carrier_taken_apart(state: Table, event: events.CarrierTakenApart) -> Step:
    """Lay the deal from the tiles that are here: from now on every tray is work, whatever lies in it. Raises NotNow."""
    check = state.check
    if check is None or check.aside is None or check.of_another_set:
        raise NotNow("no_such_carrier", "no carrier of unknown tiles of this set has been shown")
    return on_tray_checked(replace(state, taken_apart=True, check=None), structs.replace(check.aside, at=event.at))


def on_row_ticked(state: Table, event: events.RowTicked) -> Step:
    """Take somebody's word that a row is right; it is told that nothing was verified."""
    current_play(state)
    if state.work.by.get(event.seat, "hand") != "hand":
        raise NotNow("tray_is_right", f"{event.seat} was read and is right")
    return _verified(replace(state, work=work_after_tick(state.work, event)), event.at)


def _verified(state: Table, at: int) -> Step:
    """Go on to the players once all four trays are vouched for."""
    if len(state.verified) < len(SEATS):
        return state, ()
    play, by = current_play(state), state.work.verifier
    fact = Restored(
        round=play.round,
        deal=play.deal,
        verified=by != "hand",
        by=by,
        form=form_hash(play.order),
        refusals=state.refusals,
    )
    after, seated = after_restoring(replace(state, work=Work(by=state.work.by)), at)
    return after, (fact, *seated)


def on_confirming_press(state: Table, event: events.ButtonPressed) -> Step:
    """Take one player's word that the own tiles are right; the fourth begins the play."""
    play, state = current_play(state), with_acceptance(state, event)
    if len(state.agreed) < len(SEATS):
        return state, ()
    begun_elsewhere = state.session is not None and state.session.recorded > 0  # on a device that this one replaces
    clock = None if begun_elsewhere else PlayClock(event.at)
    begun = replace(state, phase=Phase.PLAYING, since=event.at, agreed=frozenset(), play_clock=clock)
    return begun, (Confirmed(round=play.round, deal=play.deal),)
