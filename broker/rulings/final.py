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

ALLOWED_WHEN_FINAL = (CheckedIn, PlayerCorrected, TitleCorrected)
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
    def is_empty(self) -> bool:
        """Whether the standings may be declared final."""
        return not any(self)


def open_matters(state: EventState, now: int) -> OpenMatters:
    """Return what is still open. `now` in ms since 1970."""
    stage, deadline = next_stage(state), state.book.deadline
    return OpenMatters(
        plays=len(state.planned.plan.plays) - state.plays_in,
        stage=stage.name if stage else "",
        repeated=len(state.snapshot().doubles),
        apart=len(state.apart_plays()),
        left_out=sum(not _is_ended(state, deal) for deal in state.teams.left_out),
        sessions=tuple(sorted(key for key in state.event.riichi if not _is_settled(state, key))),
        appeals=sum(one.is_open for one in appeals(state)),
        dead_hands=tuple(dead_hands_that_won(state)),
        corrections_until=deadline if deadline is not None and deadline >= now else None,
    )


def _is_settled(state: EventState, session: PlayKey) -> bool:
    """Return whether a riichi session was begun, or an arbiter has ruled that it does not take place."""
    ruled = (one.decision for one in state.book.of(session))
    return bool(state.tables.sessions.entries(session)) or any(isinstance(one, Void) for one in ruled)


def _is_ended(state: EventState, deal: int) -> bool:
    """Return whether a play of a deal is void or adjusted, so that it cannot count for all teams any more."""
    return any((play := state.play(key)).settled and play.points is None for key in state.plays_with(deal))


def check_final(state: EventState, decision: AnyDecision, now: int) -> None:
    """Refuse a declaration while something is open, and a ruling after it: `still_open`, `declared_final`."""
    if isinstance(decision, FinalDeclared) or _restores_declaration(state.book, decision):
        if state.book.declared is not None:
            raise Refused("declared_final", N_("the standings have already been declared final"))
        if not open_matters(state, now).is_empty:
            raise Refused("still_open", N_("something is still open: the list says what"))
        return
    allowed = isinstance(decision, ALLOWED_WHEN_FINAL) and not _gives_a_place(state, decision)
    if state.book.declared is not None and not allowed and not undoes_declaration(state.book, decision):
        raise Refused("declared_final", N_("the standings have been declared final: take the declaration back first"))


def _gives_a_place(state: EventState, decision: AnyDecision) -> bool:
    """Return whether a correction gives a player a standing, or takes it away."""
    if not isinstance(decision, PlayerCorrected) or decision.without_standing is None:
        return False
    return decision.without_standing != state.event.is_guest(decision.player)


def _restores_declaration(book: RulingBook, decision: AnyDecision) -> bool:
    """Return whether a decision restores a declaration that was undone."""
    if not isinstance(decision, Undo) or not undoes_declaration(book, decision):
        return False
    return not book.counts(book.root(book.entries[decision.ruling]).id)


def undoes_declaration(book: RulingBook, decision: AnyDecision) -> bool:
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


def next_stage(state: EventState) -> Stage | None:
    """Return the first stage whose players are not known yet; None if there is none."""
    stages = state.planned.plan.stages
    return next((stage for at, stage in enumerate(stages) if not state.planned.is_seated(at)), None)


def unsettled_before(state: EventState) -> int:
    """Return how many plays of the seated stages have no result yet, or need a decision."""
    stage = next_stage(state)
    begun = (key for key in state.planned.bookings if stage and key[1] in stage.rounds)  # before the seating was undone
    open_ = len(state.planned.plan.plays) - state.plays_in - sum(not state.play(key).settled for key in begun)
    return open_ + len(state.snapshot().doubles) + len(state.apart_plays())


def qualified(state: EventState, stage: Stage, without: Collection[str] = ()) -> list[Qualified]:
    """Return who qualifies for a stage, by rank. `without`: those who do not qualify, although they could.

    Raises RuleError `too_few_qualified`, `cut_tied`.
    """
    at = state.planned.plan.stages.index(stage)
    names = [one.name for one in state.planned.plan.stages[at - 1].sections] or [""]  # who has not played is in none
    sections = [one for one in state.ranked_sections() if one.stage == at - 1 and one.section in names]
    per_section = stage.cut // len(names)
    found = []
    for section in sections:
        lines = [line for line in section.ranking if line.name not in without]
        if len(lines) < per_section:
            raise RuleError(
                "too_few_qualified",
                N_("{count} can qualify, {wanted} are needed", count=len(lines), wanted=per_section),
            )
        if len(lines) > per_section and lines[per_section].place == lines[per_section - 1].place:
            tied = ", ".join(state.event.name_of(one.name) for one in lines if one.place == lines[per_section].place)
            text = N_(
                "place {place} is shared at the cut by {names}: decide by your regulations who does not qualify",
                place=lines[per_section].place,
                names=tied,
            )
            raise RuleError("cut_tied", text)
        found += [(line.place, -line.imp, line.name, section.section) for line in lines[:per_section]]
    if len(found) < stage.cut:
        raise RuleError(
            "too_few_qualified", N_("{count} can qualify, {wanted} are needed", count=len(found), wanted=stage.cut)
        )
    return [
        Qualified(rank, name, section, place, -negated)
        for rank, (place, negated, name, section) in enumerate(sorted(found), 1)
    ]


def draft_stage(state: EventState, stage: Stage, without: Collection[str] = ()) -> PlanChanged:
    """Return the decision that seats a stage. Raises RuleError as `qualified`, `stage_not_over`, `too_few_members`."""
    if unsettled_before(state):
        raise RuleError("stage_not_over", _not_over(state))
    player_of = _players(state, stage, [one.name for one in qualified(state, stage, without)])
    plays = (play for play in state.original.later.values() if play.round in stage.rounds)
    return PlanChanged(
        stage=stage.name,
        plays=tuple(
            SeatedAnew(play.round, play.table, *(player_of[play.players[seat]] for seat in SEATS)) for play in plays
        ),
    )


def _players(state: EventState, stage: Stage, qualifiers: list[str]) -> Mapping[str | int, str]:
    """Return the player for each rank or placeholder in the movement."""
    teams, found = state.planned.plan.teams, dict[str | int, str]()
    for written, (rank, member) in ranks_of(stage, state.original.later.values()).items():
        name = qualifiers[rank - 1]
        members = teams[name] if teams else (name,)
        if member > len(members):
            raise RuleError("too_few_members", N_("players in {team}: {count}", team=name, count=len(members)))
        found[written] = members[member - 1]
    return found


def _not_over(state: EventState) -> str:
    return N_(
        "plays of the previous stage without a result, or that need a decision: {count}", count=unsettled_before(state)
    )


def check_stage(state: EventState, decision: PlanChanged) -> None:
    """Refuse to seat a stage too early, twice, or in other seats than its movement has for the ranks.

    The codes are `unknown_stage`, `stage_not_over` and `stage_seats_wrong`.
    """
    stage = next_stage(state)
    if stage is None or stage.name != decision.stage or decision.entered or decision.left or decision.dropped:
        raise Refused("unknown_stage", N_("{stage} is not the next stage to be seated", stage=decision.stage))
    if unsettled_before(state):
        raise Refused("stage_not_over", _not_over(state))
    ranked = {key: play for key, play in state.original.later.items() if play.round in stage.rounds}
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
