"""The standings of an event in stages: of each section of each stage, and of all by the stage that they are in.

A stage counts its own deals, and a part of the total of the stage before. Who was cut keeps the place in the section in
which they played last. Players and teams alike; pure.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np

from broker.event import Event
from broker.event.stages import Stage, read_part
from broker.rules import ComparisonRules
from broker.scoring import (
    Adjustment,
    Exact,
    Ledger,
    PreviousPlaces,
    Ranked,
    Ranking,
    Whole,
    carry_over,
    player_standings,
    standing_places,
)


class SectionStandings(NamedTuple):
    """The standings of a section. `stage` is its number, from 0; `section` is empty where there are none."""

    stage: int
    section: str
    ranking: Ranking
    """Its totals have what is carried over in them."""
    carried: Mapping[str, Exact]


Members = Mapping[tuple[int, str], Collection[str]]
"""Who plays in each section: by the number of the stage and the section."""

RankSection = Callable[[int, Sequence[Adjustment], PreviousPlaces, Collection[str]], Ranking]
"""Ranks a section of a stage; takes its number, IMPs of no play, the places before, and the names in it."""


def part_of(stage: Stage) -> Fraction | None:
    """Return the part of the stage before that counts in a stage; None: what the profile says."""
    return read_part(stage.carry_over) if stage.carry_over else None


def section_standings(
    stages: Sequence[Stage],
    members: Members,
    beside: Sequence[Adjustment],
    profile: ComparisonRules,
    rank: RankSection,
) -> tuple[SectionStandings, ...]:
    """Return the standings of every section whose players are known, stage by stage."""
    found: list[SectionStandings] = []
    lines: list[Ranked] = []
    places: PreviousPlaces = {}
    for at, stage in enumerate(stages):
        carried = {one.name: one for one in carry_over(lines, profile, part_of(stage))}
        of_stage = [one for one in beside if _stage_of(one, members) == at]
        groups = []
        for (_, section), names in (one for one in members.items() if one[0][0] == at):
            brought = {name: carried[name] for name in names if name in carried}
            ranking = rank(at, [*of_stage, *brought.values()], places, names)
            groups.append(SectionStandings(at, section, ranking, {name: one.imp for name, one in brought.items()}))
        if groups:
            lines = [line for group in groups for line in group.ranking]
            places, found = standing_places(lines), [*found, *groups]
    return tuple(found)


def _stage_of(one: Adjustment, members: Members) -> int:
    """Return the stage in which IMPs of no play count: of who was cut before they were given, the last one played."""
    return max((at for (at, _), names in members.items() if at <= one.stage and one.name in names), default=one.stage)


def player_sections(event: Event, ledger: Ledger, beside: Sequence[Adjustment]) -> tuple[SectionStandings, ...]:
    """Return the standings of the players. `ledger`: of all stages."""
    members: dict[tuple[int, str], Collection[str]] = dict(event.sections)
    if loose := event.players.keys() - {one for names in members.values() for one in names}:
        members[0, ""] = {*members.get((0, ""), ()), *loose}
    deals = event.stage_of_deal

    @cache
    def of_stage(at: int) -> Ledger:
        return ledger.of_deals({deal for deal, stage in deals.items() if stage == at})

    def rank(at: int, more: Sequence[Adjustment], places: PreviousPlaces, names: Collection[str]) -> Ranking:
        counted = of_stage(at).with_adjustments(more)
        others = counted.entries.number.keys() - set(names)
        return player_standings(counted, previous=places, without_standing=others)

    return section_standings(event.plan.stages, members, beside, ledger.profile, rank)


def latest_first(groups: Iterable[SectionStandings]) -> Iterator[tuple[SectionStandings, Whole]]:
    """Return the sections, the latest stage first, each with the numbers of those who have not gone on from there."""
    listed = np.zeros(0, dtype=np.int64)
    for group in sorted(groups, key=lambda one: -one.stage):
        order = group.ranking.order
        yield group, np.flatnonzero(~np.isin(order, listed))
        listed = np.concatenate([listed, order])


def whole_ranking(groups: Sequence[SectionStandings]) -> Ranking:
    """Return the lines of all, each of the stage that they are in, with the place in its section."""
    latest = max(groups, key=lambda one: one.stage).ranking
    totals = latest.totals.resized(len(latest.entries.number))
    parts = [(group.ranking, at) for group, at in latest_first(groups)]
    for ranking, at in parts:
        for column, of_stage in zip(totals.columns, ranking.totals.columns, strict=True):
            column[ranking.order[at]] = of_stage[ranking.order[at]]
    return Ranking(
        np.concatenate([ranking.places[at] for ranking, at in parts]),
        np.concatenate([ranking.order[at] for ranking, at in parts]),
        latest.entries,
        totals,
    )
