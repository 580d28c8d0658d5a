"""Who goes on to the next stage, and when standings are final.

Standings become final when the head arbiter declares them so, and not before everything is played and decided.

From then on nothing more can be ruled, except corrections of names; to rule, the declaration must be undone first. If
an arbiter nevertheless rules at a table, on a play that is reopened there, the standings become provisional again.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from broker.event import Stage, ranks_of
from broker.i18n import N_
from broker.protocol import (
    SEATS,
    AnyDecision,
    CheckedIn,
    FinalDeclared,
    PlanChanged,
    PlayerCorrected,
    Refused,
    SeatedAnew,
    TitleCorrected,
    Undo,
    Void,
)
from broker.rules import RuleError
from broker.rulings.infractions import appeals, dead_hands_that_won
from broker.rulings.model import FINAL, PlayKey, RulingBook
from broker.scorer import EventState
from broker.scoring import Exact

ALWAYS = (CheckedIn, PlayerCorrected, TitleCorrected)
"""Decisions allowed even after the declaration, as long as they give nobody a standing."""


class OpenMatters(NamedTuple):
    """What is still open in an event."""

    plays: int
    """Plays without a result."""
    stage: str
    """The stage whose seats are not assigned yet; empty if there is none."""
    repeated: int
    """Plays in which somebody met a deal again, and on which nobody has ruled."""
    apart: int
    """Plays with messages that are kept apart."""
    left_out: int
    """Deals that count for no team, except those in which an arbiter made a play void or adjusted it."""
    sessions: tuple[PlayKey, ...]
    """Riichi sessions without a recorded hand, and on which nobody has ruled."""
    appeals: int
    """Appeals that a committee has to decide, or whose ruling it has changed and which still counts."""
    dead_hands: tuple[PlayKey, ...]
    """Plays won by a player whose hand was ruled dead."""
    corrections_until: int | None
    """The end of the correction period, ms since 1970, if it is still to come."""

    @property
    def nothing(self) -> bool:
        """Whether the standings may be declared final."""
        return not any(self)


def open_matters(room: EventState, now: int) -> OpenMatters:
    """Return what is still open. `now` in ms since 1970."""
    stage, deadline = next_stage(room), room.book.deadline
    return OpenMatters(
        plays=len(room.planned.plan.plays) - room.plays_in,
        stage=stage.name if stage else "",
        repeated=len(room.snapshot().doubles),
        apart=len(room.apart_plays()),
        left_out=sum(not _is_ended(room, deal) for deal in room.teams.left_out),
        sessions=tuple(sorted(key for key in room.event.riichi if not _is_settled(room, key))),
        appeals=sum(one.is_open for one in appeals(room)),
        dead_hands=tuple(dead_hands_that_won(room)),
        corrections_until=deadline if deadline is not None and deadline >= now else None,
    )


def _is_settled(room: EventState, session: PlayKey) -> bool:
    """Return whether a riichi session was begun, or an arbiter has ruled that it does not take place."""
    ruled = (one.decision for one in room.book.of(session))
    return bool(room.tables.sessions.entries(session)) or any(isinstance(one, Void) for one in ruled)


def _is_ended(room: EventState, deal: int) -> bool:
    """Return whether a play of a deal is void or adjusted, so that it cannot count for all teams any more."""
    return any((play := room.play(key)).settled and play.points is None for key in room.plays_with(deal))


def check_final(room: EventState, decision: AnyDecision, now: int) -> None:
    """Refuse a declaration while something is open, and a ruling after it: `still_open`, `declared_final`."""
    if isinstance(decision, FinalDeclared) or _declares_again(room.book, decision):
        if room.book.declared is not None:
            raise Refused("declared_final", N_("the standings have already been declared final"))
        if not open_matters(room, now).nothing:
            raise Refused("still_open", N_("something is still open: the list says what"))
        return
    allowed = isinstance(decision, ALWAYS) and not _gives_a_place(room, decision)
    if room.book.declared is not None and not allowed and not takes_back(room.book, decision):
        raise Refused("declared_final", N_("the standings have been declared final: take the declaration back first"))


def _gives_a_place(room: EventState, decision: AnyDecision) -> bool:
    """Return whether a correction gives a player a standing, or takes it away."""
    if not isinstance(decision, PlayerCorrected) or decision.without_standing is None:
        return False
    return decision.without_standing != room.event.is_guest(decision.player)


def _declares_again(book: RulingBook, decision: AnyDecision) -> bool:
    """Return whether a decision restores a declaration that was undone."""
    if not isinstance(decision, Undo) or not takes_back(book, decision):
        return False
    return not book.counts(book.root(book.entries[decision.ruling]).id)


def takes_back(book: RulingBook, decision: AnyDecision) -> bool:
    """Return whether a decision undoes a declaration."""
    if not isinstance(decision, Undo) or decision.ruling not in book.entries:
        return False
    return book.subject(book.entries[decision.ruling]) == FINAL


class Qualified(NamedTuple):
    """A player or team who goes on: the rank, and the place and IMPs in their section."""

    rank: int
    name: str
    section: str
    place: int
    imp: Exact


def next_stage(room: EventState) -> Stage | None:
    """Return the first stage whose players are not known yet; None if there is none."""
    stages = room.planned.plan.stages
    return next((stage for at, stage in enumerate(stages) if not room.planned.is_seated(at)), None)


def unsettled_before(room: EventState) -> int:
    """Return how many plays of the seated stages have no result yet, or need a decision."""
    stage = next_stage(room)
    begun = (key for key in room.planned.bookings if stage and key[1] in stage.rounds)  # before the seating was undone
    open_ = len(room.planned.plan.plays) - room.plays_in - sum(not room.play(key).settled for key in begun)
    return open_ + len(room.snapshot().doubles) + len(room.apart_plays())


def qualified(room: EventState, stage: Stage, without: Collection[str] = ()) -> list[Qualified]:
    """Return who qualifies for a stage, by rank. `without`: those who do not qualify, although they could.

    Raises RuleError `too_few_qualified`, `cut_tied`.
    """
    at = room.planned.plan.stages.index(stage)
    names = [one.name for one in room.planned.plan.stages[at - 1].sections] or [""]  # who has not played is in none
    sections = [one for one in room.ranked_sections() if one.stage == at - 1 and one.section in names]
    each = stage.cut // len(names)
    found = []
    for section in sections:
        lines = [line for line in section.ranking if line.name not in without]
        if len(lines) < each:
            raise RuleError(
                "too_few_qualified",
                N_("{count} can qualify, {wanted} are needed", count=len(lines), wanted=each),
            )
        if len(lines) > each and lines[each].place == lines[each - 1].place:
            tied = ", ".join(room.event.name_of(one.name) for one in lines if one.place == lines[each].place)
            text = N_(
                "place {place} is shared at the cut by {names}: decide by your regulations who does not qualify",
                place=lines[each].place,
                names=tied,
            )
            raise RuleError("cut_tied", text)
        found += [(line.place, -line.imp, line.name, section.section) for line in lines[:each]]
    if len(found) < stage.cut:
        raise RuleError(
            "too_few_qualified", N_("{count} can qualify, {wanted} are needed", count=len(found), wanted=stage.cut)
        )
    return [
        Qualified(rank, name, section, place, -minus)
        for rank, (place, minus, name, section) in enumerate(sorted(found), 1)
    ]


def draft_stage(room: EventState, stage: Stage, without: Collection[str] = ()) -> PlanChanged:
    """Return the decision that seats a stage. Raises RuleError as `qualified`, `stage_not_over`, `too_few_members`."""
    if unsettled_before(room):
        raise RuleError("stage_not_over", _not_over(room))
    who = _players(room, stage, [one.name for one in qualified(room, stage, without)])
    plays = (play for play in room.original.later.values() if play.round in stage.rounds)
    return PlanChanged(
        stage=stage.name,
        plays=tuple(SeatedAnew(play.round, play.table, *(who[play.players[seat]] for seat in SEATS)) for play in plays),
    )


def _players(room: EventState, stage: Stage, going_on: list[str]) -> Mapping[str | int, str]:
    """Return the player for each rank or placeholder in the movement."""
    teams, found = room.planned.plan.teams, dict[str | int, str]()
    for written, (rank, member) in ranks_of(stage, room.original.later.values()).items():
        name = going_on[rank - 1]
        members = teams[name] if teams else (name,)
        if member > len(members):
            raise RuleError("too_few_members", N_("players in {team}: {count}", team=name, count=len(members)))
        found[written] = members[member - 1]
    return found


def _not_over(room: EventState) -> str:
    return N_(
        "plays of the previous stage without a result, or that need a decision: {count}", count=unsettled_before(room)
    )


def check_stage(room: EventState, decision: PlanChanged) -> None:
    """Refuse to seat a stage too early, twice, or in other seats than its movement has for the ranks.

    The codes are `unknown_stage`, `stage_not_over` and `stage_seats_wrong`.
    """
    stage = next_stage(room)
    if stage is None or stage.name != decision.stage or decision.entered or decision.left or decision.dropped:
        raise Refused("unknown_stage", N_("{stage} is not the next stage to be seated", stage=decision.stage))
    if unsettled_before(room):
        raise Refused("stage_not_over", _not_over(room))
    ranked = {key: play for key, play in room.original.later.items() if play.round in stage.rounds}
    named = {(one.table, one.round): one for one in decision.plays}
    pairs = {
        (rank, player)
        for key, play in ranked.items()
        if key in named
        for rank, player in zip((play.players[seat] for seat in SEATS), named[key].players.values(), strict=True)
    }
    if named.keys() != ranked.keys() or not _one_to_one(pairs):
        raise Refused("stage_seats_wrong", N_("the seats are not those of the movement of {stage}", stage=stage.name))


def _one_to_one(pairs: Iterable[tuple[str, str]]) -> bool:
    listed = list(pairs)
    return len({rank for rank, _ in listed}) == len({player for _, player in listed}) == len(listed)
