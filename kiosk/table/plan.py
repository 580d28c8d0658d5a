"""Before a play: which play comes next at a table, its walls, and who sits where.

Staff lay the right carrier and every tray is verified; otherwise the deal is not played (MIL).
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

PREPARING: Final = (Phase.RESTORING, Phase.SEATING)
"""Phases in which nobody has begun to play."""


def on_assigned(state: Table, event: events.Assigned) -> Step:
    """Accept a plan. Plays recorded here stay recorded; the next play comes from the new plan. Raises NotNow."""
    if event.assignment.session is not None or state.session is not None:
        return on_session_assigned(state, event)
    _refuse_unknown(event.assignment)
    current = state.assignment
    if current is None or current.store != event.assignment.store:
        if state.phase is Phase.SEATING:
            raise NotNow("not_now", "people sit down for a play of another store")
        return _from_another_store(state, event), ()
    _refuse_rewritten(state, event.assignment, current)
    if may_renew(state, event.assignment):
        return _with_walls(state, event.assignment), ()
    if state.phase in PREPARING and not gives_way(state, event.assignment):
        raise NotNow("not_now", "the trays of a play are being laid")
    at = _current_index(state, event.assignment)
    renewed = replace(state, assignment=event.assignment, index=state.index if at is None else at)
    return (renewed if state.phase is Phase.RECORDED else begin_play(renewed, _next(renewed), event.at)), ()


def _refuse_rewritten(state: Table, assignment: Assignment, current: Assignment) -> None:
    """Refuse a plan that changes plays or rules of what was played here. Raises NotNow."""
    if _played_plays(state, assignment) != _played_plays(state, current):
        raise NotNow("plan_rewrites_past", "the new plan differs in plays that were played here")
    if state.played and (assignment.profile, assignment.rules) != (current.profile, current.rules):
        raise NotNow("plan_rewrites_past", "the new plan has another profile than the results recorded here")


def may_renew(state: Table, assignment: Assignment) -> bool:
    """Return whether a plan that arrives during laying or seating leaves the trays as they are.

    The players may differ. If an arbiter has let two of them change seats, only a change of people undoes that.
    """
    current, at = state.assignment, _current_index(state, assignment)
    if current is None or at is None or state.phase not in PREPARING or settled_now(state, assignment):
        return False
    if (current.profile, current.rules) != (assignment.profile, assignment.rules) or state.play is None:
        return False
    play, coming = state.play, assignment.plays[at]
    if structs.replace(play, players={}) != structs.replace(coming, players={}):
        return False
    if state.seating and _apart_from_names(play) == _apart_from_names(coming):
        return False
    return _upcoming(current) != _upcoming(assignment)


def _upcoming(assignment: Assignment) -> tuple[object, ...]:
    return assignment.plays, assignment.minutes, assignment.onward


def _current_index(state: Table, assignment: Assignment) -> int | None:
    """Return the index of the current play in another plan, or None."""
    return next((at for at, one in enumerate(assignment.plays) if state.play and one.round == state.play.round), None)


def _with_walls(state: Table, assignment: Assignment) -> Table:
    """Keep the trays as laid. Players who are new, or renamed as substitutes are, have not checked in."""
    renewed = replace(state, assignment=assignment, index=_current_index(state, assignment) or 0, seating={})
    return replace(renewed, arrived=frozenset(s for s in state.arrived if renewed.players[s] == state.players[s]))


def gives_way(state: Table, assignment: Assignment) -> bool:
    """Return whether a plan drops the current play: arbiters have settled it, or the plan does not contain it."""
    return settled_now(state, assignment) or (state.play is not None and _current_index(state, assignment) is None)


def settled_now(state: Table, assignment: Assignment) -> bool:
    """Return whether arbiters have settled the current play, so that nobody need lay its trays."""
    return state.play is not None and state.play.round in assignment.settled


def _from_another_store(state: Table, event: events.Assigned) -> Table:
    """Begin at the first open play of another store's plan; if that is where we are, the table stays as it is."""
    renewed = replace(state, assignment=event.assignment)
    we_are_at = {Phase.RESTORING: state.index, Phase.RECORDED: state.index + 1}.get(state.phase)
    if event.first == we_are_at and renewed.play == state.play:
        return renewed
    played = tuple(_as_planned(one) for one in event.assignment.plays[: event.first])
    return begin_play(replace(renewed, played=played), event.first, event.at)


def _as_planned(play: PlannedPlay) -> FinishedPlay:
    """Return a play made on another device. Only the scorer knows who really sat there."""
    return FinishedPlay(play.round, play.deal, frozenset(player.id for player in play.players.values()))


def _played_plays(state: Table, assignment: Assignment) -> list[PlannedPlay]:
    """Return the plays of a plan that were played at this table, ignoring names, which substitutes may have changed."""
    rounds = {one.round for one in state.played}
    return [_apart_from_names(one) for one in assignment.plays if one.round in rounds]


def _apart_from_names(play: PlannedPlay) -> PlannedPlay:
    nameless = {seat: structs.replace(player, name="-") for seat, player in play.players.items()}
    return structs.replace(play, players=nameless)


def with_this_play(state: Table) -> tuple[FinishedPlay, ...]:
    """Return the plays finished at this table, including the current one."""
    if state.play is None:
        return state.played
    players = frozenset(player.id for player in state.players.values())
    return (*state.played, FinishedPlay(state.play.round, state.play.deal, players))


def _next(state: Table) -> int:
    """Return the index of the first play still to be played here, or the number of plays if there is none."""
    plays = state.assignment.plays if state.assignment else ()
    behind = {one.round for one in state.played}
    recorded = set(state.assignment.recorded) if state.assignment else set()
    return next((at for at, one in enumerate(plays) if one.round not in behind | recorded), len(plays))


def _refuse_unknown(assignment: Assignment) -> None:
    """Refuse rules unknown to this program before they enter the journal, with which it could not start again."""
    try:
        profile = profile_of(assignment)
    except RuleError as error:
        raise NotNow(error.code, error.text) from None
    if profile.id != assignment.profile:
        raise NotNow("bad_profile", f"the plan names {assignment.profile} and brings {profile.id}")


def on_next_deal(state: Table, event: events.NextDealCalled) -> Step:
    """Go on to the next play, or finish."""
    return begin_play(state, _next(state), event.at), ()


def on_play_kept(state: Table, event: events.PlayKept) -> Step:
    """Report the tiles as they lay. Raises NotNow `not_kept_here`."""
    if not state.may_keep or state.play is None:
        raise NotNow("not_kept_here", "there is no result, the event keeps no plays, or it was done often enough")
    laid = TilesLaid(round=state.play.round, deal=state.play.deal, seats=event.seats, winning=event.winning)
    return replace(state, kept=state.kept + 1), (laid,)


def begin_play(state: Table, index: int, at: int) -> Table:
    """Begin a play. Nobody needs to check in again if the same people stay in their seats."""
    plays = state.assignment.plays if state.assignment else ()
    seated = len(state.arrived) == len(SEATS) and index < len(plays)
    stays = seated and dict(state.players) == dict(plays[index].players)  # a substitute has not checked in
    arrived = state.arrived if stays else frozenset()
    fresh = replace(cleared(state, at), played=state.played, arrived=arrived, index=index)
    return replace(fresh, phase=Phase.RESTORING if fresh.play else Phase.FINISHED)


def on_session_assigned(state: Table, event: events.Assigned) -> Step:
    """Accept a plan. A session that has begun continues as planned then; the next one may differ. Raises NotNow."""
    ours, new = state.session, event.assignment
    if ours is not None and _same_session(ours, new, state.assignment):
        return replace(state, assignment=new, session=replace(ours, planned=_renamed(ours.planned, new.session))), ()
    if ours is not None and ours.entries and state.phase is not Phase.FINISHED:
        raise NotNow("plan_rewrites_past", "a riichi session is being played here; it ends first")
    fresh = replace(cleared(state, event.at), assignment=new)
    if new.session is None:
        _refuse_unknown(new)
        return _from_another_store(fresh, event), ()
    session = _new_session(new)
    phase = Phase.FINISHED if session.state.over else Phase.CONFIRMING
    return replace(fresh, session=session, phase=phase), ()


def _same_session(session: RiichiSession, offered: Assignment, current: Assignment | None) -> bool:
    """Return whether a plan holds the session played here. Its standing is ignored, as we reported it ourselves."""
    planned = offered.session
    return (
        planned is not None
        and current is not None
        and (planned.round, _player_ids(planned)) == (session.planned.round, _player_ids(session.planned))
        and (offered.store, offered.profile, offered.rules) == (current.store, current.profile, current.rules)
    )


def _player_ids(planned: PlannedSession) -> dict[Seat, str]:
    return {seat: player.id for seat, player in planned.players.items()}


def _renamed(planned: PlannedSession, offered: PlannedSession | None) -> PlannedSession:
    """Return a session as planned, with the players' current names."""
    return structs.replace(planned, players=offered.players) if offered else planned


def _new_session(plan: Assignment) -> RiichiSession:
    """Begin the session of a plan. Raises NotNow if its rules or its standing are invalid."""
    try:
        rules = riichi_rules_of(plan)
        session = begin_session(plan.session, rules) if plan.session else None
    except RuleError as error:
        raise NotNow(error.code, error.text) from None
    if session is None or rules.id != plan.profile:
        raise NotNow("bad_profile", f"the plan names {plan.profile} and brings {rules.id}")
    return session


def on_seating_press(state: Table, event: events.ButtonPressed) -> Step:
    """Check a player in, whether or not all trays are laid. Raises NotNow."""
    check_settled(state, event)
    if event.seat in state.arrived:
        raise NotNow("press_before_play", f"{event.seat} has checked in")
    return after_restoring(replace(state, arrived=state.arrived | {event.seat}), event.at)


def after_restoring(state: Table, at: int) -> Step:
    """Go on once all four trays are right: to confirming if everybody is here, otherwise to seating."""
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
    """Let two players stay in each other's seats; both check in again, under the names now shown there."""
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
"""Places out of 34 that must agree. Two deals of a set share a quarter of a place on average, so 17 is no accident."""

Rows = tuple[tuple[int | None, ...], ...]


def agreeing_places(rows: Rows, play: PlannedPlay) -> int:
    """Return the number of places in which a tray agrees with the best matching tray of a play."""
    return max(_same(rows, play.order[seat]) for seat in SEATS)


def of_another_deal(state: Table, rows: Rows) -> PlannedPlay | None:
    """Return the other play of this table to which a tray belongs, or None."""
    if state.assignment is None or state.play is None or agreeing_places(rows, state.play) >= ENOUGH:
        return None
    others = (one for one in state.assignment.plays if one.deal != state.play.deal)
    best = max(others, key=lambda one: agreeing_places(rows, one), default=None)
    return best if best is not None and agreeing_places(rows, best) >= ENOUGH else None


def is_unknown_carrier(state: Table, look: events.TrayChecked) -> bool:
    """Return whether a tray belongs to no deal known here, as less than half of its tiles belong in this tray.

    A quarter would by chance. A tray that staff have begun is theirs to finish, whatever they put into it.
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
    """Return whether a tray was recognised but is not right yet. One that was right may have been replaced since."""
    return look.seat not in state.work.by and any(one.seat == look.seat for one in state.work.looks)


MOST_REFUSALS: Final = 9999
"""The most that a fact may report. A tray under a flickering lamp must not produce a fact that cannot be decoded."""


def on_tray_checked(state: Table, event: events.TrayChecked) -> Step:
    """Record one check of a tray. It is right only if all 34 places were read and match the deal."""
    play = current_play(state)
    right = event.rows == play.order[event.seat] and not event.wrong
    other = None if right else of_another_deal(state, event.rows)
    unknown = not right and other is None and is_unknown_carrier(state, event)
    work = (
        state.work if other or unknown else work_after_look(state.work, event, serial_by_place(play.order), right=right)
    )
    if right:
        return _verified(replace(state, work=work, check=None), event.at)
    unread = sum(serial is None for row in event.rows for serial in row)
    unknown_look = structs.replace(event, at=0) if unknown else None
    check = TrayProblem(event.seat, event.wrong, unread, None if other is None else other.deal, unknown_look)
    if check == state.check and work == state.work:
        return state, ()
    refusals = min(state.refusals + (bool(event.wrong) and check != state.check), MOST_REFUSALS)
    return replace(state, check=check, work=work, refusals=refusals), ()


def on_carrier_taken_apart(state: Table, event: events.CarrierTakenApart) -> Step:
    """Lay the deal from the tiles here: from now on, any tray is accepted as a start. Raises NotNow."""
    check = state.check
    if check is None or (look := check.unknown_look) is None or check.of_another_set:
        raise NotNow("no_such_carrier", "no carrier of unknown tiles of this set has been shown")
    return on_tray_checked(replace(state, taken_apart=True, check=None), structs.replace(look, at=event.at))


def on_row_ticked(state: Table, event: events.RowTicked) -> Step:
    """Accept somebody's word that a row is right; the facts say that it was not verified. Raises NotNow."""
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
    """Record that a player confirms the tiles of the own trays; the fourth begins the play."""
    play, state = current_play(state), with_acceptance(state, event)
    if len(state.agreed) < len(SEATS):
        return state, ()
    begun_elsewhere = state.session is not None and state.session.recorded > 0  # on a device that this one replaces
    clock = None if begun_elsewhere else PlayClock(event.at)
    begun = replace(state, phase=Phase.PLAYING, since=event.at, agreed=frozenset(), play_clock=clock)
    return begun, (Confirmed(round=play.round, deal=play.deal),)
