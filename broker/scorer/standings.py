"""Ranking and writing the standings: by stage and section and as a whole, of players and of teams, and as CSV.

A stage counts its own deals, and a part of the total of the stage before. Whoever was cut keeps the place in the
section they played in last. The same holds for players and teams; for teams, only deals that all of them have played
count.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from broker.event import UNKNOWN_ORIGIN, Brought, Event, Origin, Stage, read_part
from broker.protocol import Standing, TeamStanding
from broker.rules import ComparisonRules, RuleError
from broker.scoring import (
    Adjustment,
    Entries,
    Exact,
    Ledger,
    Lineup,
    PreviousPlaces,
    Ranked,
    Ranking,
    TeamDeal,
    Whole,
    carry_over,
    compare_teams,
    deal_lineups,
    missing_seats,
    player_standings,
    rank_teams,
    standing_places,
    team_of_players,
)
from broker.spreadsheet import csv_rows, decimal


class SectionStandings(NamedTuple):
    """The standings of a section. `stage` is its number, from 0; `section` is empty if there are none."""

    stage: int
    section: str
    ranking: Ranking
    """Its totals include what is carried over."""
    carried: Mapping[str, Exact]


Members = Mapping[tuple[int, str], Collection[str]]
"""The players or teams in each section, by stage number and section."""

RankSection = Callable[[int, Sequence[Adjustment], PreviousPlaces, Collection[str]], Ranking]
"""Ranks a section of a stage. Takes the stage's number, IMPs that belong to no play, earlier places, and the names."""


def section_standings(
    stages: Sequence[Stage],
    members: Members,
    adjustments: Sequence[Adjustment],
    profile: ComparisonRules,
    rank: RankSection,
    before: Brought,
) -> tuple[SectionStandings, ...]:
    """Return the standings of every section whose players are known, stage by stage.

    `adjustments`: IMPs that belong to no play, including those from `before`, an earlier event.
    """
    found: list[SectionStandings] = []
    lines: list[Ranked] = []
    places = before.places
    for at, stage in enumerate(stages):
        part = read_part(stage.carry_over) if stage.carry_over else None  # use the profile's
        carried = {one.name: one for one in carry_over(lines, profile, part)}
        of_stage = [one for one in adjustments if _stage_of(one, members) == at]
        groups = []
        for (_, section), names in (one for one in members.items() if one[0][0] == at):
            brought = {name: carried[name] for name in names if name in carried}
            ranking = rank(at, [*of_stage, *brought.values()], places, names)
            brought_in = brought.values() if at else before.adjustments
            groups.append(SectionStandings(at, section, ranking, {one.name: one.imp for one in brought_in}))
        if groups:
            lines = [line for group in groups for line in group.ranking]
            places, found = standing_places(lines), [*found, *groups]
    return tuple(found)


def _stage_of(one: Adjustment, members: Members) -> int:
    """Return the stage in which IMPs of no play count: the last one, up to their own, that their owner played in."""
    return max((at for (at, _), names in members.items() if at <= one.stage and one.name in names), default=one.stage)


def player_sections(event: Event, ledger: Ledger, adjustments: Sequence[Adjustment]) -> tuple[SectionStandings, ...]:
    """Return the standings of the players. `ledger`: of all stages."""
    members: dict[tuple[int, str], Collection[str]] = dict(event.sections)
    if unassigned := event.players.keys() - {one for names in members.values() for one in names}:
        members[0, ""] = {*members.get((0, ""), ()), *unassigned}
    deals, unranked = event.stage_of_deal, event.without_standing

    @cache
    def of_stage(at: int) -> Ledger:
        return ledger.of_deals({deal for deal, stage in deals.items() if stage == at})

    def rank(at: int, adjustments: Sequence[Adjustment], places: PreviousPlaces, names: Collection[str]) -> Ranking:
        counted = of_stage(at).with_adjustments(adjustments)
        others = unranked | (counted.entries.number.keys() - set(names))
        return player_standings(counted, previous=places, without_standing=others)

    return section_standings(event.plan.stages, members, adjustments, ledger.profile, rank, event.brought("individual"))


def latest_first(groups: Iterable[SectionStandings]) -> Iterator[tuple[SectionStandings, Whole]]:
    """Yield the sections, latest stage first, each with the indices of those who have not gone on from there."""
    listed = np.zeros(0, dtype=np.int64)
    for group in sorted(groups, key=lambda one: -one.stage):
        order = group.ranking.order
        yield group, np.flatnonzero(~np.isin(order, listed))
        listed = np.concatenate([listed, order])


def whole_ranking(groups: Sequence[SectionStandings]) -> Ranking:
    """Return the lines of everybody, each from the last stage they played in, with the place in its section."""
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


Teams = Mapping[str, tuple[str, ...]]


class TeamState:
    """The teams' results in each deal that all of them have played."""

    def __init__(
        self, teams: Teams, profile: ComparisonRules, of_deal: Callable[[int], Mapping[str, Teams]] | None = None
    ) -> None:
        """`of_deal` returns the sections of a deal, each with its teams. By default, all teams are in one section."""
        self._teams, self._profile = teams, profile
        self._of_deal = of_deal or (lambda _deal: {"": teams})
        self._entries = Entries().with_names(teams)
        self._team_of = team_of_players(teams)
        self._played: dict[tuple[int, str], TeamDeal] = {}
        self.left_out: frozenset[int] = frozenset()
        """Deals in which a team sat twice at a wind. They are compared once an arbiter has ruled who sat where."""

    def copy(self) -> "TeamState":
        """Return an independent copy."""
        new = TeamState(self._teams, self._profile, self._of_deal)
        new._played, new.left_out = dict(self._played), self.left_out
        return new

    def update(self, ledger: Ledger, deals: Iterable[int], complete: Callable[[int], bool]) -> None:
        """Compare some deals again. `complete`: whether all plays of a deal are settled; others do not count yet.

        A fine or an award may be known before its play is over, while the teams' standings are public.
        """
        for deal in deals if self._teams else ():
            for key in [key for key in self._played if key[0] == deal]:
                del self._played[key]
            self.left_out -= {deal}
            if complete(deal):
                for section, teams in self._of_deal(deal).items():
                    self._compare(deal, section, teams, ledger)

    def _compare(self, deal: int, section: str, teams: Teams, ledger: Ledger) -> None:
        plays = [play for play in ledger.plays_of(deal) if (play.section or "") == section]
        try:
            found = deal_lineups(deal, plays, teams)
        except RuleError:
            self.left_out |= {deal}
            return
        if not missing_seats(found):
            self._played[deal, section] = compare_teams(found, self._entries, self._profile)

    @property
    def lineups(self) -> list[tuple[int, Mapping[str, Lineup]]]:
        """The lineups in each deal that counts, by deals and sections."""
        return [(deal, self._played[deal, section].lineups) for deal, section in sorted(self._played)]

    @property
    def won(self) -> list[Exact]:
        """What teams have won in the single deals that count."""
        number = self._entries.number
        return [one.totals.imp[number[team]] for one in self._played.values() for team in one.lineups]

    def sections(
        self, event: Event, adjustments: Iterable[Adjustment], unranked: frozenset[str]
    ) -> tuple[SectionStandings, ...]:
        """Return the standings of each section of each stage. Empty in an event without stages or teams.

        `adjustments`: players' IMPs that belong to no play. They count for their teams.
        """
        before = event.brought("team")

        def rank(at: int, extra: Sequence[Adjustment], places: PreviousPlaces, names: Collection[str]) -> Ranking:
            keys = [key for key in self._played if event.stage_of_deal.get(key[0]) == at]
            return self.ranked(keys, extra, places, unranked | (self._teams.keys() - set(names)))

        brought_in = (*before.adjustments, *self._of_teams(adjustments))
        return section_standings(event.plan.stages, event.team_sections, brought_in, self._profile, rank, before)

    def standings(self, event: Event, adjustments: Iterable[Adjustment], unranked: frozenset[str]) -> Ranking:
        """Rank all teams. `adjustments`: as in `sections`."""
        all_adjustments = tuple(adjustments)
        if sections := self.sections(event, all_adjustments, unranked):
            return whole_ranking(sections)
        before = event.brought("team")
        return self.ranked(None, (*before.adjustments, *self._of_teams(all_adjustments)), before.places, unranked)

    def _of_teams(self, adjustments: Iterable[Adjustment]) -> list[Adjustment]:
        return [one._replace(name=self._team_of[one.name]) for one in adjustments if one.name in self._team_of]

    def ranked(
        self,
        keys: Iterable[tuple[int, str]] | None = None,
        adjustments: Sequence[Adjustment] = (),
        places: PreviousPlaces | None = None,
        without: Collection[str] = (),
    ) -> Ranking:
        """Rank teams by some deals and sections, or (None) by all. `adjustments`: their IMPs that belong to no deal."""
        played = (self._played[key] for key in sorted(self._played if keys is None else keys))
        return rank_teams(
            played, self._entries, self._profile, previous=places, adjustments=adjustments, without_standing=without
        )


LINES_AT_ONCE: Final = 1000

HEADER: Final = ("place", "player", "name", "imp", "fines", "plays", "country", "club")


TEAM_HEADER: Final = ("place", "team", "imp", "fines", "deals")


def no_origin(_player: str) -> Origin:
    """Return the unknown origin."""
    return UNKNOWN_ORIGIN


def standings_csv(standings: Iterable[Standing], origin_of: Callable[[str], Origin] = no_origin) -> str:
    """Format the standings as CSV. IMPs stay numbers. New columns come last, because programs count columns."""
    return "".join(standings_csv_parts(standings, origin_of))


def standings_csv_parts(standings: Iterable[Standing], origin_of: Callable[[str], Origin]) -> Iterator[str]:
    """Format the standings in parts, since 40,000 lines take a third of a second."""
    rows = tuple(standings)
    staged = any(row.stage for row in rows)
    yield csv_rows([(*HEADER, *(("stage", "section") if staged else ()))])
    for first in range(0, len(rows), LINES_AT_ONCE):
        yield csv_rows(
            (
                *(row.place, row.player, row.name, decimal(row.imp), row.fines, row.plays, *origin_of(row.player)),
                *((row.stage, row.section) if staged else ()),
            )
            for row in rows[first : first + LINES_AT_ONCE]
        )


def team_standings_csv(standings: Iterable[TeamStanding]) -> str:
    """Format the standings of teams. A team without a deal that counts has no place yet."""
    rows = tuple(standings)
    staged = any(row.stage for row in rows)
    return csv_rows(
        (
            (*TEAM_HEADER, *(("stage", "section") if staged else ())),
            *(
                (
                    *(row.place if row.deals else "", row.team, decimal(row.imp), row.fines, row.deals),
                    *((row.stage, row.section) if staged else ()),
                )
                for row in rows
            ),
        )
    )
