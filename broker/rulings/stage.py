"""A stage by rank is seated from the standings of the stage before: by the head arbiter, once that stage is over.

Each section sends equally many. Rank 1 is the winner of a section, and so on down: first by place, then by IMP. Who
does not play on is named, and the next one takes the place; so a tie at the cut is settled, by whatever the regulations
of the event say. The decision is a change of who plays, and is taken back as one while nothing of the stage has begun.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from broker.event.stages import Stage, ranks_of
from broker.i18n import N_
from broker.protocol import SEATS, PlanChanged, Refused, SeatedAnew
from broker.rules import RuleError
from broker.scorer.state import EventState
from broker.scoring import Exact


class Qualified(NamedTuple):
    """Who goes on, a player or a team: the rank, and the place and IMP in the section."""

    rank: int
    name: str
    section: str
    place: int
    imp: Exact


def next_stage(room: EventState) -> Stage | None:
    """Return the stage that is to be seated next; None: there is none, or it is known who plays in all."""
    stages = room.planned.plan.stages
    return next((stage for at, stage in enumerate(stages) if not room.planned.is_seated(at)), None)


def unsettled_before(room: EventState) -> int:
    """Return how many plays of the stages that are seated have no result yet, or need a decision."""
    open_ = len(room.planned.plan.plays) - room.plays_in
    return open_ + len(room.snapshot().doubles) + len(room.apart_plays())


def qualified(room: EventState, stage: Stage, without: Collection[str] = ()) -> list[Qualified]:
    """Return who goes on to a stage, by rank. `without`: who does not, although they could.

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
            raise RuleError(
                "cut_tied",
                N_(
                    "place {place} is shared at the cut by {names}: decide by your regulations who does not qualify",
                    place=lines[each].place,
                    names=tied,
                ),
            )
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
    """Return the players by what the movement has in their place."""
    teams, found = room.planned.plan.teams, dict[str | int, str]()
    for written, (rank, member) in ranks_of(stage, room.original.later.values()).items():
        name = going_on[rank - 1]
        members = teams[name] if teams else (name,)
        if member > len(members):
            raise RuleError("too_few_members", N_("{team} has {count} players", team=name, count=len(members)))
        found[written] = members[member - 1]
    return found


def _not_over(room: EventState) -> str:
    return N_(
        "{count} plays of the previous stage have no result yet, or need a decision", count=unsettled_before(room)
    )


def check_stage(room: EventState, decision: PlanChanged) -> None:
    """Refuse to seat a stage too early, twice, or otherwise than its movement has the ranks.

    `unknown_stage`, `stage_not_over`, `stage_seats_wrong`.
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
        for rank, player in zip((play.players[seat] for seat in SEATS), _four(named[key]), strict=True)
    }
    if named.keys() != ranked.keys() or not _one_to_one(pairs):
        raise Refused("stage_seats_wrong", N_("the seats are not those of the movement of {stage}", stage=stage.name))


def _four(one: SeatedAnew) -> tuple[str, str, str, str]:
    return one.east, one.south, one.west, one.north


def _one_to_one(pairs: Iterable[tuple[str, str]]) -> bool:
    listed = list(pairs)
    return len({rank for rank, _ in listed}) == len({player for _, player in listed}) == len(listed)
