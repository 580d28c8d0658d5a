"""Whether a change of who plays may be given: what it names can be played, and no table has begun it."""

from collections.abc import Collection

from msgspec.structs import replace

from broker.event import BookedPlay, Event, stage_at
from broker.event.movement import check_movement
from broker.i18n import N_
from broker.protocol import PlanChanged, Refused, Undo
from broker.rulings.final import check_stage
from broker.rulings.model import WHO_PLAYS, PlayKey, RulingEntry
from broker.rulings.plan import Begun, ever_entered, plan_changes, planned_event, with_corrections
from broker.scorer.state import EventState


def kept_plays(room: EventState) -> set[PlayKey]:
    """Return the plays that no change may touch: a table has begun them, or something was ruled on them."""
    ruled = {key for key in room.book.plays() if room.book.of(key)}
    return {key for key in (*room.tables.seatings.begun(), *room.results, *ruled) if key in room.planned.bookings}


def check_plan_change(room: EventState, decision: PlanChanged | Undo) -> None:
    """Refuse a change of who plays that cannot be played, or comes too late.

    `team_event`, `player_listed_twice`, `not_printable`, `unknown_play`, `plan_changed_since`, `plan_play_begun`,
    `deal_over`, `player_leaves`, and as a movement `player_at_two_tables`, `player_repeats_deal`, `not_four_players`.
    """
    change = _change_of(room, decision)
    _check_kind(room, decision, change)
    before, kept = room.planned.bookings, kept_plays(room)
    as_said = _planned_after(room, decision, {}).bookings  # a play that has begun stays in the plan, whatever is said
    named = {(one.table, one.round) for one in change.plays} | {key[::-1] for key in change.dropped}
    for key in sorted(named & kept, key=lambda key: key[::-1]):
        if before.get(key) != as_said.get(key):
            table, round_ = key
            raise Refused(
                "plan_play_begun", N_("table {table} has already begun round {round}", table=table, round=round_)
            )
    after = _planned_after(room, decision, room.tables.seatings.begun())
    now = after.bookings
    changed = {key for key in before.keys() | now.keys() if before.get(key) != now.get(key)}
    for key in sorted(now.keys() - before.keys()):
        if room.plays_of(now[key].deal) and room.complete(now[key].deal):
            raise Refused(
                "deal_over",
                N_("deal {deal} is over and may be known: nobody can play it any more", deal=now[key].deal),
            )
    _check_seats(room, after, changed, decision)


def _check_kind(room: EventState, decision: PlanChanged | Undo, change: PlanChanged) -> None:
    if room.planned.plan.teams and change.stage is None:
        raise Refused(
            "team_event", N_("in a team event a player who leaves is replaced by a substitute: the seating stays")
        )
    if isinstance(decision, PlanChanged) and decision.stage is not None:
        check_stage(room, decision)
    elif isinstance(decision, PlanChanged):
        _check_names(room, decision)
    elif not _is_last(room, decision):
        raise Refused("plan_changed_since", N_("the plan was changed again since: first take that change back"))


def _is_last(room: EventState, undo: Undo) -> bool:
    """Return whether no change was given since one that is taken back, or comes back as it was published."""
    root = room.book.root(room.book.entries[undo.ruling])
    if room.book.counts(root.id):
        return plan_changes(room.book)[-1][0] is root
    return [one for one in room.book.all_of(WHO_PLAYS) if isinstance(one.decision, PlanChanged)][-1] is root


def _check_names(room: EventState, decision: PlanChanged) -> None:
    known, ever = {*room.planned.players}, ever_entered(room.book)
    for one in decision.entered:
        if one.id in known or ever.get(one.id, one.name) != one.name:  # a table may still play by that change
            raise Refused("player_listed_twice", N_("there is a player {id} already", id=one.id))
        if not one.name.isprintable() or one.name != " ".join(one.name.split()):
            raise Refused("not_printable", N_("a name has characters that cannot be displayed, or invisible spaces"))
        known.add(one.id)
    keys = [(one.table, one.round) for one in decision.plays] + [key[::-1] for key in decision.dropped]
    for table, round_ in keys:
        at = stage_at(room.original.plan.stages, round_)
        unseated = (table, round_) in room.original.later and not room.planned.is_seated(at or 0)
        if (table, round_) not in room.original.places or unseated:
            raise Refused(
                "unknown_play", N_("table {table} has no such play in round {round}", table=table, round=round_)
            )


def _change_of(room: EventState, decision: PlanChanged | Undo) -> PlanChanged:
    """Return the change that is given or taken back."""
    if isinstance(decision, Undo):
        root = room.book.root(room.book.entries[decision.ruling]).decision
        return root if isinstance(root, PlanChanged) else PlanChanged()
    return decision


def planned_after(room: EventState, decision: PlanChanged | Undo) -> Event:
    """Return the event as it would be planned after a change, with its corrections."""
    return with_corrections(_planned_after(room, decision, room.tables.seatings.begun()), room.event)


def _planned_after(room: EventState, decision: PlanChanged | Undo, begun: Begun) -> Event:
    book = room.book.copy()
    book.add(
        RulingEntry(id="-", at=0, author="-", account="", role="organiser", reason="-", decision=decision, number=1)
    )
    return planned_event(room.original, book, begun)


def _check_seats(room: EventState, after: Event, changed: Collection[PlayKey], decision: PlanChanged | Undo) -> None:
    """Refuse seats in which somebody would sit twice, meet a deal again, or not be in the list."""
    kept, plays = kept_plays(room), list[BookedPlay]()
    for key, play in after.bookings.items():
        counted = room.play(key) if key in kept else None
        plays.append(
            replace(play, deal=counted.deal, players=dict(counted.players)) if counted else play  # as it was played
        )
    keys = [(play.table, play.round) for play in plays]
    for fault in check_movement(plays, copies=len(after.tables)):
        if any(keys[at] in changed for at in fault.at):
            raise Refused(fault.code, fault.text)
    left = set(decision.left) if isinstance(decision, PlanChanged) else set[str]()
    for key in changed & after.bookings.keys():
        if strange := set(after.bookings[key].players.values()) - after.players.keys():
            raise Refused("nobody_of_event", N_("{who} is not in this event", who=", ".join(sorted(strange))))
    for key, play in after.bookings.items():
        if key not in kept and (still := left & set(play.players.values())):
            raise Refused("player_leaves", N_("{who} leaves, but is still seated", who=", ".join(sorted(still))))
