"""Changes of who plays: a player comes late, leaves or does not come, and what is not yet played is reseated.

A change is a ruling, and taken back as one. It names the plays that are otherwise from then on; each keeps its table,
round and deal, and none that a table has begun is changed. A table that has not heard of a change in time plays by the
plan before: what it has begun stays in the plan as it was begun. Pure.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import TypeGuard

from broker.event import BookedPlay, Event, PlanVersion
from broker.protocol import AnyDecision, CheckedIn, PlanChanged, Player, PlayerId, Seat, Undo
from broker.rulings.model import WHO_PLAYS, PlayKey, RulingBook, RulingEntry, event_subject

Plays = Mapping[PlayKey, BookedPlay]
Changes = Iterable[tuple[RulingEntry, PlanChanged]]

Begun = Mapping[PlayKey, Collection[str]]
"""Who sat down in the plays that tables have begun."""


def plan_changes(book: RulingBook) -> list[tuple[RulingEntry, PlanChanged]]:
    """Return the changes of who plays that count, oldest first."""
    return [(one, one.decision) for one in book.of(WHO_PLAYS) if isinstance(one.decision, PlanChanged)]


def ever_entered(book: RulingBook) -> dict[str, str]:
    """Return the names by the ids that changes have ever given, those that were taken back too."""
    ever = (one.decision for one in book.all_of(WHO_PLAYS) if isinstance(one.decision, PlanChanged))
    return {player.id: player.name for change in ever for player in change.entered}


def changes_plan(decision: AnyDecision, book: RulingBook) -> TypeGuard[PlanChanged | Undo]:
    """Return whether a decision changes who plays, or takes such a change back."""
    if isinstance(decision, Undo) and decision.ruling in book.entries:
        decision = book.root(book.entries[decision.ruling]).decision
    return isinstance(decision, PlanChanged)


def seats_stage(decision: AnyDecision, book: RulingBook) -> bool:
    """Return whether a decision seats a stage, or takes that back."""
    if isinstance(decision, Undo) and decision.ruling in book.entries:
        decision = book.root(book.entries[decision.ruling]).decision
    return isinstance(decision, PlanChanged) and decision.stage is not None


def planned_event(settled: Event, book: RulingBook, begun: Begun) -> Event:
    """Return an event as it is planned now. `settled`: as its organiser settled it."""
    about = [one for one in book.all_of(WHO_PLAYS) if isinstance(book.root(one).decision, PlanChanged)]
    if not about:
        return settled
    changes, ever = plan_changes(book), [(one, one.decision) for one in about if isinstance(one.decision, PlanChanged)]
    plans = list(_plans(settled, changes))
    plays = dict(plans[-1])
    for plan in chain(_plans(settled, ever), plans):  # what was begun by any of them stays as it was begun
        plays |= {key: plan[key] for key in begun if key in plan and _same(plan[key], begun[key])}
    order = {key: at for at, key in enumerate(settled.places)}
    listed = tuple(plays[key] for key in sorted(plays, key=order.__getitem__))
    version = PlanVersion(1 + len(about), max(one.at for one in about))
    seated = frozenset(change.stage for _, change in changes if change.stage)
    entered = [player for _, change in ever for player in change.entered]
    return settled.replanned(_listed(settled, changes, ever, listed), listed, version, seated, entered)


def follows_plan(event: Event, key: PlayKey, seated: Collection[str]) -> bool:
    """Return whether those who sat down at a table are those of the plan."""
    return key in event.bookings and _same(event.bookings[key], seated)


def _same(play: BookedPlay, seated: Collection[str]) -> bool:
    return set(play.players.values()) == set(seated)


def _plans(
    settled: Event, changes: Iterable[tuple[RulingEntry, PlanChanged]]
) -> Iterator[Mapping[PlayKey, BookedPlay]]:
    """Return the plays of each plan, the settled one first."""
    plays = dict(settled.bookings)
    yield plays
    for _, change in changes:
        plays = dict(plays)
        for round_, table in change.dropped:
            plays.pop((table, round_), None)
        for one in change.plays:
            if (booking := settled.places.get((one.table, one.round))) is not None:
                seats: dict[Seat, PlayerId] = {
                    "east": one.east,
                    "south": one.south,
                    "west": one.west,
                    "north": one.north,
                }
                plays[one.table, one.round] = BookedPlay(one.round, one.table, booking.deal, seats)
        yield plays


def _listed(settled: Event, changes: Changes, ever: Changes, plays: Iterable[BookedPlay]) -> tuple[Player, ...]:
    """Return the list of players: who has left without a play is in it no more.

    Who was entered by a change that was taken back, and has begun a play all the same, is in it.
    """
    playing = {player for play in plays for player in play.players.values()}
    listed, left = {player.id: player for player in settled.plan.players}, set[str]()
    for _, change in changes:
        listed |= {player.id: player for player in change.entered if player.id not in listed}
        left = (left | {*change.left}) - {player.id for player in change.entered}
    for player in (one for _, change in ever for one in change.entered if one.id in playing):
        listed.setdefault(player.id, player)
    return tuple(one for one in listed.values() if one.id in playing or one.id not in left)


def checked_in(before: Mapping[str, bool], book: RulingBook, player: str) -> Mapping[str, bool]:
    """Return who was seen at the door, once something was said of a player."""
    said = [one.decision for one in book.of(event_subject(CheckedIn(player=player, present=None)) or "")]
    last = said[-1].present if said and isinstance(said[-1], CheckedIn) else None
    others = {one: there for one, there in before.items() if one != player}
    return others if last is None else {**others, player: last}
