"""Checks of rulings before they are given. Whatever a form, or a second arbiter, can get wrong is refused by code."""

from collections import Counter
from collections.abc import Collection

from msgspec.structs import replace

from broker.event import BookedPlay, Event, stage_at
from broker.event.movement import check_movement
from broker.i18n import N_
from broker.protocol import (
    APART_DECISIONS,
    DEAL_DECISIONS,
    PLAY_DECISIONS,
    SEATS,
    Adjusted,
    AppealDecided,
    Appealed,
    Award,
    CheckedIn,
    Correct,
    Deadline,
    DealPlayed,
    Discarded,
    FinalDeclared,
    FineRuled,
    Fouled,
    PlanChanged,
    Refused,
    Reopen,
    Ruling,
    SeatsPlayed,
    Substitute,
    TakenOver,
    Undo,
    Void,
    Withdrawn,
    players_named,
)
from broker.rules import RuleError, points_paid
from broker.rulings import plan
from broker.rulings.final import check_final, check_stage, undoes_declaration
from broker.rulings.infractions import check_appeal, check_fine
from broker.rulings.model import (
    WHO_PLAYS,
    CountedPlay,
    PlayKey,
    RulingEntry,
    Subject,
    event_subject,
    seated,
)
from broker.scorer import EventState

HEAD = "head_arbiter"
ORGANISER = "organiser"


def check_ruling(event: Event, state: EventState, ruling: Ruling) -> None:
    """Check a ruling that is about to be given. A ruling on a play need not name its deal.

    Raises Refused with one of the codes `subject_missing`, `unknown_play`, `unknown_deal`, `nobody_of_event`,
    `nothing_to_undo`, `ruling_conflict`, `corrections_closed`, `head_arbiter_only`, `reopen_at_table`,
    `impossible_result`, `wrong_points`, `gifts_missing`, `gifts_stand`, `groups_wrong`, `not_of_play`, `seats_doubled`,
    `sits_elsewhere`, `plays_nothing`, `plan_only`, `not_printable`, `sessions_wrong`, `session_begun`, and as
    `check_plan_change`, `check_stage`, `check_fine`, `check_appeal` and `check_final`.
    """
    _check_permission(state, ruling)
    check_final(state, ruling.decision, ruling.at)
    subject = _subject(event, state, ruling)
    last = state.last_message_id(subject)
    if last != ruling.after:
        raise Refused("ruling_conflict", "something was entered or ruled here since this form was opened: check again")
    _check_rank(state, ruling, subject)
    if unknown := sorted(set(players_named(ruling.decision)) - set(event.players)):
        raise Refused("nobody_of_event", N_("{who} is not in this event", who=", ".join(unknown)))
    plan.check_correction(event, ruling.decision)
    if plan.changes_plan(ruling.decision, state.book):
        check_plan_change(state, ruling.decision)
    elif isinstance(subject, tuple) and not isinstance(ruling.decision, Undo):
        _check_at_table(event, state, subject, ruling)
    else:
        _check_other(event, state, ruling)


def _check_permission(state: EventState, ruling: Ruling) -> None:
    if ruling.role == HEAD or isinstance(ruling.decision, CheckedIn):
        return
    if plan.seats_stage(ruling.decision, state.book):
        raise Refused("head_arbiter_only", N_("only the head arbiter decides who qualifies for the next stage"))
    if plan.corrects_plan(state.book, ruling.decision) or plan.changes_plan(ruling.decision, state.book):
        if ruling.role != ORGANISER:
            raise Refused("head_arbiter_only", "only the head arbiter and the organiser can correct the plan")
        return
    if ruling.role == ORGANISER:
        raise Refused("plan_only", N_("organisers can correct the plan, but not make rulings"))
    _check_arbiter(state, ruling)


def _check_arbiter(state: EventState, ruling: Ruling) -> None:
    """Refuse a table arbiter decisions that are reserved to the head arbiter."""
    decision = ruling.decision
    if isinstance(decision, FinalDeclared) or undoes_declaration(state.book, decision):
        raise Refused("head_arbiter_only", N_("only the head arbiter declares the standings final"))
    if isinstance(decision, Deadline | Substitute | Withdrawn):
        raise Refused("head_arbiter_only", "only the head arbiter sets the end of corrections and decides who plays")
    if isinstance(decision, TakenOver | Discarded):
        raise Refused("head_arbiter_only", "only the head arbiter decides on messages that a table sent out of order")
    if isinstance(decision, AppealDecided) or (isinstance(decision, Appealed) and decision.exception):
        raise Refused("head_arbiter_only", N_("only the head arbiter admits a late appeal and records the decision"))
    if state.book.deadline is not None and ruling.at > state.book.deadline:
        raise Refused("corrections_closed", "the correction period is over: only the head arbiter can rule now")
    if isinstance(decision, Undo):
        target = state.book.entries.get(decision.ruling)
        if target is not None and target.role == HEAD:
            raise Refused("head_arbiter_only", "only the head arbiter can take back the head arbiter's rulings")


def _check_rank(state: EventState, ruling: Ruling, subject: Subject) -> None:
    """Refuse to overrule the head arbiter. Awards and fines at a play are allowed, since they overrule nothing."""
    adds_only = isinstance(ruling.decision, Award | FineRuled)
    if ruling.role in {HEAD, ORGANISER} or isinstance(ruling.decision, Undo):
        return
    if adds_only and ruling.table is None:
        raise Refused("head_arbiter_only", "only the head arbiter gives awards and fines that belong to no play")
    if not adds_only and any(entry.role == HEAD for entry in state.book.of(subject)):
        raise Refused("head_arbiter_only", "the head arbiter has ruled here: only the head arbiter can change that")


def _subject(event: Event, state: EventState, ruling: Ruling) -> Subject:
    """Return the subject of a ruling, after checking that it exists."""
    decision, place, deal = ruling.decision, (ruling.table, ruling.round), ruling.deal
    if isinstance(decision, Reopen):
        raise Refused("reopen_at_table", "a play can only be reopened at its table; correct it here")
    if isinstance(decision, Undo):
        target = state.book.entries.get(decision.ruling)
        if target is None or not state.book.counts(decision.ruling):
            raise Refused("nothing_to_undo", "there is no such ruling, or it no longer counts")
        return state.book.subject(target)
    of_play = isinstance(decision, PLAY_DECISIONS) or (
        isinstance(decision, Award | FineRuled) and place != (None, None)
    )
    of_deal = isinstance(decision, DEAL_DECISIONS)
    if (None in place) is of_play or (of_deal and deal is None) or (not of_deal and None in place and deal):
        raise Refused("subject_missing", N_("the ruling does not name a play, deal or player"))
    if of_play:
        return _play(event, state, ruling)
    if of_deal:
        return _deal(event, deal or 0)
    return event_subject(decision) or ruling.id


def _play(event: Event, state: EventState, ruling: Ruling) -> Subject:
    key = (ruling.table or 0, ruling.round or 0)
    if key in event.riichi and isinstance(ruling.decision, (*APART_DECISIONS, Void)):
        return key
    if key in event.dropped and isinstance(ruling.decision, Discarded):
        return key
    if key not in event.bookings or ruling.deal not in {None, state.play(key).deal}:
        raise _no_play(*key)
    return key


def _no_play(table: int, round_: int) -> Refused:
    return Refused("unknown_play", N_("table {table} has no such play in round {round}", table=table, round=round_))


def _deal(event: Event, deal: int) -> Subject:
    if deal not in event.expected:
        raise Refused("unknown_deal", N_("this event has no deal {deal}", deal=deal))
    return deal


def _check_other(event: Event, state: EventState, ruling: Ruling) -> None:
    match decision := ruling.decision:
        case Substitute() | Withdrawn():
            _check_absence(event, state, decision)
        case Fouled():
            _check_groups(state, decision, ruling.deal or 0)
        case FineRuled():
            check_fine(state, decision, None)
        case Appealed() | AppealDecided():
            check_appeal(state, decision, ruling.at)
        case Undo():
            _check_undo(event, state, decision)


def _check_undo(event: Event, state: EventState, undo: Undo) -> None:
    """Refuse an undo that conflicts with later rulings."""
    root, book = state.book.root(state.book.entries[undo.ruling]), state.book.with_decision(undo)
    key = root.play
    if key in event.dropped and isinstance(root.decision, TakenOver) and book.counts(root.id):
        raise _no_play(*key)
    if key in event.bookings:
        _check_gifts(state.play(key), state.play_under(key, book))


def _check_gifts(before: CountedPlay, after: CountedPlay) -> None:
    """Refuse a change that would leave an award or a fine with a player who no longer sits at the play."""
    if absent := after.absent_recipients - before.absent_recipients:
        raise Refused(
            "gifts_stand", N_("first take back the award or fine of {who} here", who=", ".join(sorted(absent)))
        )


def _check_at_table(event: Event, state: EventState, key: PlayKey, ruling: Ruling) -> None:
    if isinstance(ruling.decision, TakenOver | Discarded):
        _check_apart(state, key, ruling.decision)
    elif key not in event.riichi:
        _check_play(event, state.play(key), ruling)
        if isinstance(ruling.decision, FineRuled):
            check_fine(state, ruling.decision, state.play(key))
    elif state.tables.sessions.entries(key):
        raise Refused("session_begun", N_("hands of this session are recorded: it cannot be void"))


def _check_play(event: Event, play: CountedPlay, ruling: Ruling) -> None:
    decision, players = ruling.decision, set(play.players.values())
    match decision:
        case Correct():
            _check_outcome(event, play, decision)
        case Adjusted() if set(decision.gives) != players:
            raise Refused("gifts_missing", "an adjusted play needs an award, even if 0, for each of its four players")
        case Award() | FineRuled() if not set(players_named(decision)) <= players:
            raise Refused("not_of_play", "these are not players of this play")
        case SeatsPlayed():
            _check_seats(play, decision)
        case DealPlayed():
            if decision.played not in event.expected:
                raise Refused("unknown_deal", N_("this event has no deal {deal}", deal=decision.played))
            if decision.played == play.deal or decision.result != play.result:
                raise Refused("ruling_conflict", "the play already has this deal, or its result was entered again")


def _check_apart(state: EventState, key: PlayKey, decision: TakenOver | Discarded) -> None:
    """Refuse facts that are not kept apart or already decided on, and replacing another result than the present one."""
    apart = {one.message.id for one in state.undecided(key)}
    result = state.results.get(key)
    if not apart.issuperset(decision.facts) or (
        isinstance(decision, TakenOver) and decision.replaces != (result.id if result else None)
    ):
        raise Refused("ruling_conflict", "what is kept apart for this play has changed: check it again")


def _check_outcome(event: Event, play: CountedPlay, decision: Correct) -> None:
    if not set(players_named(decision)) <= set(play.players.values()):
        raise Refused("not_of_play", "these are not players of this play")
    if decision.replaces != play.source:
        raise Refused("ruling_conflict", "the outcome that this was to replace no longer counts")
    try:
        points = points_paid(decision, event.winds(play.deal)[1], event.profile)
    except RuleError as error:
        raise Refused("impossible_result", error.text) from error
    if points != decision.points:
        raise Refused("wrong_points", N_("the points do not match that outcome; they should be {right}", right=points))


def _check_seats(play: CountedPlay, decision: SeatsPlayed) -> None:
    if set(decision.players) != set(SEATS) or len(set(decision.players.values())) != len(SEATS):
        raise Refused("seats_doubled", "a table needs four different players, one at each seat")
    _check_gifts(play, seated(play, decision.players))


def _check_absence(event: Event, state: EventState, decision: Substitute | Withdrawn) -> None:
    plays = set(plan.plays_of_player(event, decision.player, decision.first_round))
    if isinstance(decision, Withdrawn):
        plays -= state.results.keys()
    if not plays:
        raise Refused(
            "plays_nothing",
            N_("{who} has no plays from round {round} on", who=decision.player, round=decision.first_round),
        )
    if isinstance(decision, Substitute) and plan.sits_elsewhere(event, state.book.of(WHO_PLAYS), decision):
        raise Refused("sits_elsewhere", N_("{who} already sits elsewhere in one of these rounds", who=decision.name))


def _check_groups(state: EventState, decision: Fouled, deal: int) -> None:
    tables = Counter(table for group in decision.groups for table in group)
    known = {table for table, _ in state.plays_with(deal)}
    if tables.keys() - known or max(tables.values()) > 1:
        raise Refused(
            "groups_wrong", N_("groups may only name tables that play deal {deal}, each table once", deal=deal)
        )


def kept_plays(state: EventState) -> set[PlayKey]:
    """Return the plays that no change may touch, because a table has begun them or somebody has ruled on them."""
    ruled = {key for key in state.book.plays() if state.book.of(key)}
    return {key for key in (*state.tables.seatings.begun(), *state.results, *ruled) if key in state.planned.bookings}


def check_plan_change(state: EventState, decision: PlanChanged | Undo) -> None:
    """Refuse a change of who plays that cannot be played, or comes too late.

    The codes are `team_event`, `player_listed_twice`, `not_printable`, `unknown_play`, `plan_changed_since`,
    `plan_play_begun`, `deal_over`, `player_leaves`, and as a movement `player_at_two_tables`, `player_repeats_deal`,
    `not_four_players`.
    """
    root = state.book.root_decision(decision)
    change = root if isinstance(root, PlanChanged) else PlanChanged()
    _check_kind(state, decision, change)
    before, kept, book = state.planned.bookings, kept_plays(state), state.book.with_decision(decision)
    as_requested = plan.planned_event(state.original, book, {}).bookings  # without regard to begun plays
    named = {(one.table, one.round) for one in change.plays} | {key[::-1] for key in change.dropped}
    for key in sorted(named & kept, key=lambda key: key[::-1]):
        if before.get(key) != as_requested.get(key):
            table, round_ = key
            raise Refused(
                "plan_play_begun", N_("table {table} has already begun round {round}", table=table, round=round_)
            )
    after = plan.planned_event(state.original, book, state.tables.seatings.begun())
    now = after.bookings
    changed = {key for key in before.keys() | now.keys() if before.get(key) != now.get(key)}
    for key in sorted(now.keys() - before.keys()):
        if state.plays_of(now[key].deal) and state.complete(now[key].deal):
            raise Refused(
                "deal_over",
                N_("deal {deal} is over and may be known: nobody can play it any more", deal=now[key].deal),
            )
    _check_planned_seats(state, after, changed, decision)


def _check_kind(state: EventState, decision: PlanChanged | Undo, change: PlanChanged) -> None:
    if state.planned.plan.teams and change.stage is None:
        raise Refused(
            "team_event", N_("in a team event a player who leaves is replaced by a substitute: the seating stays")
        )
    root = state.book.root(state.book.entries[decision.ruling]) if isinstance(decision, Undo) else None
    if root and not _is_last(state, root):
        raise Refused("plan_changed_since", N_("the plan was changed again since: first take that change back"))
    if change.stage is not None and not (root and state.book.counts(root.id)):  # the seating is given, or restored
        check_stage(state, change)
    elif root is None:
        _check_names(state, change)


def _is_last(state: EventState, root: RulingEntry) -> bool:
    """Return whether no change was given since the one that is undone, or restored as it was published."""
    if state.book.counts(root.id):
        return plan.plan_changes(state.book)[-1][0] is root
    return [one for one in state.book.all_of(WHO_PLAYS) if isinstance(one.decision, PlanChanged)][-1] is root


def _check_names(state: EventState, decision: PlanChanged) -> None:
    known, once_entered = {*state.planned.players}, plan.ever_entered(state.book)
    for one in decision.entered:
        if one.id in known or once_entered.get(one.id, one.name) != one.name:  # a table may still play by that change
            raise Refused("player_listed_twice", N_("there is already a player {id}", id=one.id))
        if not one.name.isprintable() or one.name != " ".join(one.name.split()):
            raise Refused("not_printable", N_("a name has characters that cannot be displayed, or invisible spaces"))
        known.add(one.id)
    keys = [(one.table, one.round) for one in decision.plays] + [key[::-1] for key in decision.dropped]
    for table, round_ in keys:
        at = stage_at(state.original.plan.stages, round_)
        unseated = (table, round_) in state.original.later and not state.planned.is_seated(at or 0)
        if (table, round_) not in state.original.places or unseated:
            raise _no_play(table, round_)


def planned_after(state: EventState, decision: PlanChanged | Undo) -> Event:
    """Return the event as planned after a change, with its corrections."""
    after = plan.planned_event(state.original, state.book.with_decision(decision), state.tables.seatings.begun())
    return plan.with_corrections(after, state.event)


def _check_planned_seats(
    state: EventState, after: Event, changed: Collection[PlayKey], decision: PlanChanged | Undo
) -> None:
    """Refuse seats in which a player would sit twice, meet a deal again, or not be listed."""
    kept, plays = kept_plays(state), list[BookedPlay]()
    for key, play in after.bookings.items():
        counted = state.play(key) if key in kept else None
        plays.append(
            replace(play, deal=counted.deal, players=dict(counted.players)) if counted else play  # as it was played
        )
    keys = [(play.table, play.round) for play in plays]
    for fault in check_movement(plays, copies=len(after.tables)):
        if any(keys[at] in changed for at in fault.at):
            raise Refused(fault.code, fault.text)
    leaving = set(decision.left) if isinstance(decision, PlanChanged) else set[str]()
    for key in changed & after.bookings.keys():
        if unknown := set(after.bookings[key].players.values()) - after.players.keys():
            raise Refused("nobody_of_event", N_("{who} is not in this event", who=", ".join(sorted(unknown))))
    for key, play in after.bookings.items():
        if key not in kept and (remaining := leaving & set(play.players.values())):
            raise Refused("player_leaves", N_("{who} leaves, but is still seated", who=", ".join(sorted(remaining))))
