"""The standings as shown on pages, with the places that can still be reached, and a history deal by deal."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np
from msgspec import Struct

from broker.event import Earlier, PlayColumns
from broker.protocol import Imp
from broker.scorer.snapshot import Snapshot
from broker.scorer.standings import SectionStandings
from broker.scoring import (
    Bounds,
    Exact,
    Imps,
    Ranked,
    ScoredPlay,
    Totals,
    exact_imps,
    json_imp,
    reachable_bounds,
    with_likely_places,
)

DEAL_FACTOR: Final = 1_000_000_000
"""Larger than every play's number (`CountedPlay.scoring_table`), so that deal and table combine into one number."""


class StandingsRow(Struct, frozen=True):
    """One player's line. `best` and `worst` are places, `least` and `most` the IMPs that lead to them."""

    place: int
    player: str
    name: str
    imp: Imp
    fines: int
    plays: int
    plays_expected: int
    best: int
    worst: int
    least: Imp
    most: Imp
    country: str = ""
    club: str = ""
    likely: tuple[int, int] | None = None
    """The range of places in which the player is likely to end (`scoring/bounds.py`)."""
    stage: str = ""
    """The stage of the place, in an event in stages; `section` likewise."""
    section: str = ""
    carried: Imp = 0
    """The part of the IMPs carried over from the stage before, or from an earlier event."""


class StandingsTable(Struct, frozen=True):
    """All players, best first."""

    final: bool
    deals: int
    """Number of deals that count."""
    deals_expected: int
    rungs: tuple[StandingsRow, ...]
    without_standing: tuple[str, ...] = ()
    """Names of the players and teams that take no place."""
    earlier: str = ""
    """Title of the earlier event from whose standings IMPs are carried over."""

    @property
    def has_likely(self) -> bool:
        """Whether any line has a likely range."""
        return any(row.likely for row in self.rungs)


def standings_table(snapshot: Snapshot, stage: int | None = None) -> StandingsTable:
    """Return the standings of a snapshot. Plays that are not in it count as missing.

    `stage`: only this one, by its number from 0, including those who have gone on since. The bounds are sound, but not
    tight (`scoring/bounds.py`), and do not foresee future rulings.
    """
    groups = [one for one in snapshot.sections if stage in {None, one.stage}]
    bounds, planned = _bounds(snapshot), _plays_planned(snapshot)
    carried = {one.name: one.imp for one in snapshot.event.brought("individual").adjustments}
    lines: Iterable[tuple[Ranked, SectionStandings | None]] = (
        ((line, snapshot.section_of.get(line.name)) for line in snapshot.ranking)
        if stage is None
        else ((line, group) for group in groups for line in group.ranking)
    )
    event = snapshot.event
    return StandingsTable(
        without_standing=event.unranked_names,
        earlier=event.plan.earlier.title if isinstance(event.plan.earlier, Earlier) else "",
        final=snapshot.final,
        deals=len(snapshot.by_deal.keys() | snapshot.unplayed.keys()),
        deals_expected=len(event.expected),
        rungs=tuple(
            _standings_row(
                snapshot,
                line,
                group,
                bounds[group.stage if group else 0, line.name],
                planned.get((group.stage if group else 0, line.name), 0),
                carried,
            )
            for line, group in lines
        ),
    )


def _plays_planned(snapshot: Snapshot) -> Mapping[tuple[int, str], int]:
    """Return the number of plays planned for each player in each stage."""
    event = snapshot.event
    if not event.plan.stages:
        return {(0, player): count for player, count in event.plays_planned.items()}
    return Counter(
        (event.stage_of_deal[play.deal], player) for play in event.plan.plays for player in play.players.values()
    )


def _standings_row(
    snapshot: Snapshot,
    line: Ranked,
    group: SectionStandings | None,
    reach: Bounds,
    planned: int,
    carried: Mapping[str, Exact],
) -> StandingsRow:
    """Return a line. `carried`: from an earlier event, in an event without stages."""
    origin = snapshot.event.origin_of(line.name)
    return StandingsRow(
        place=line.place,
        player=line.name,
        name=snapshot.event.name_of(line.name),
        imp=json_imp(line.imp),
        fines=line.fines,
        plays=line.plays,
        plays_expected=planned,
        best=reach.best,
        worst=reach.worst,
        least=json_imp(reach.least),
        most=json_imp(reach.most),
        country=origin.country,
        club=origin.club,
        likely=reach.likely,
        stage=snapshot.event.plan.stages[group.stage].name if group else "",
        section=group.section if group else "",
        carried=json_imp((group.carried if group else carried).get(line.name, 0)),
    )


def _bounds(snapshot: Snapshot) -> dict[tuple[int, str], Bounds]:
    """Return each player's bounds in each stage. Planned plays that are not in the snapshot are still to come."""
    event, plan, entries = (
        snapshot.event,
        _columns_as_played(snapshot),
        snapshot.ledger.entries.with_names(snapshot.event.players),
    )
    to_come = ~np.isin(plan.deals * DEAL_FACTOR + plan.tables, list(_plays_over(snapshot)))
    numbers = np.array([entries.number[player] for player in event.players], dtype=np.int64)
    if not snapshot.sections:
        deals, counts = np.unique(plan.deals[to_come], return_counts=True)
        joining = {(deal, ""): count for deal, count in zip(deals.tolist(), counts.tolist(), strict=True)}
        waiting = numbers[plan.players[to_come]].ravel()
        found = reachable_bounds(snapshot.ledger, entries, joining, waiting, np.sort(snapshot.ranking.order))
        found = with_likely_places(found, snapshot.ledger, entries, joining, waiting)
        return {(0, name): bounds for name, bounds in found.items()}
    joining = Counter(
        (int(plan.deals[at]), event.section_at(play.table, play.round) or "")
        for at, play in enumerate(event.plan.plays)
        if to_come[at]
    )
    stage = np.array([event.stage_of_deal[int(deal)] for deal in plan.deals], dtype=np.int64)
    in_stages: dict[tuple[int, str], Bounds] = {}
    for group in snapshot.sections:
        waiting = numbers[plan.players[to_come & (stage == group.stage)]].ravel()
        ledger = replace(snapshot.ledger, totals=group.ranking.totals)
        found = reachable_bounds(ledger, entries, joining, waiting, group.ranking.order)
        found = with_likely_places(found, ledger, entries, joining, waiting)
        in_stages |= {(group.stage, name): bounds for name, bounds in found.items()}
    return in_stages


def _columns_as_played(snapshot: Snapshot) -> PlayColumns:
    """Return the plan as changed by rulings: a play out of place belongs to the deal that was actually played."""
    moved = [counted for counted, _ in snapshot.ruled.values() if counted.deal != counted.planned]
    plan = snapshot.event.columns
    if not moved:
        return plan
    deals, lines = plan.deals.copy(), plan.tables.copy()
    for counted in moved:
        at = snapshot.event.row_of[counted.table, counted.round]
        deals[at], lines[at] = counted.deal, counted.scoring_table
    return plan._replace(deals=deals, tables=lines)


def _plays_over(snapshot: Snapshot) -> Iterator[int]:
    """Yield deal and table of the plays that are over. Plays with only a fine or an award may not be."""
    to_come = {(counted.deal, counted.scoring_table) for counted, _ in snapshot.ruled.values() if not counted.settled}
    for deal, rows in snapshot.by_deal.items():
        for row in rows:
            yield from (deal * DEAL_FACTOR + row.tables).tolist()
    for deal, plays in snapshot.unplayed.items():
        yield from (deal * DEAL_FACTOR + play.table for play in plays if (deal, play.table) not in to_come)


MOST_DEALS: Final = 60
"""Most deals in a history: a chart cannot show more points, and nobody reads a longer table."""


class HistoryLine(Struct, frozen=True):
    """One player's totals after each deal, including fines and awards of its plays."""

    player: str
    name: str
    imps: tuple[Imp, ...]


class StandingsHistory(Struct, frozen=True):
    """Deals, in order, and the totals after each."""

    deals: tuple[int, ...]
    lines: tuple[HistoryLine, ...]


def standings_history(snapshot: Snapshot, players: Sequence[str]) -> StandingsHistory:
    """Return some players' totals after each deal of a snapshot. If there are very many, only some are included.

    In an event in stages, only deals of the last stage are included.
    """
    entries = snapshot.ledger.entries
    numbers = [entries.number[player] for player in players]
    stage = max((one.stage for one in snapshot.sections), default=None)
    deals = tuple(
        deal
        for deal in sorted(snapshot.by_deal.keys() | snapshot.unplayed.keys())
        if stage is None or snapshot.event.stage_of_deal[deal] == stage
    )
    sums = np.zeros((len(deals), len(players)), dtype=object)
    for at, deal in enumerate(deals):
        sums[at] = _of_deal(snapshot, deal, len(entries.number))[numbers]
    added = sums.cumsum(axis=0)
    if stage is not None and deals:  # including what was carried over
        added = added + (snapshot.ranking.totals.imp[numbers] - added[-1])
    elif carried := {one.name: one.imp for one in snapshot.event.brought("individual").adjustments}:
        added = added + np.array([carried.get(player, 0) for player in players], dtype=object)
    shown = _spread(len(deals))
    return StandingsHistory(
        tuple(deals[one] for one in shown),
        tuple(
            HistoryLine(
                player, snapshot.event.name_of(player), tuple(json_imp(Fraction(imp)) for imp in added[shown, at])
            )
            for at, player in enumerate(players)
        ),
    )


def _spread(length: int) -> list[int]:
    """Return the indices to show: all, or MOST_DEALS at even distances, including the first and the last."""
    if length <= MOST_DEALS:
        return [*range(length)]
    return [at * (length - 1) // (MOST_DEALS - 1) for at in range(MOST_DEALS)]


def _of_deal(snapshot: Snapshot, deal: int, size: int) -> Imps:
    totals = Totals.zero(size, fractions=snapshot.ledger.profile.imp.method.value == "cross")
    for row in snapshot.by_deal.get(deal, ()):
        np.add.at(totals.imp, row.entries, exact_imps(row.group))
        for play in row.group.members:
            _add_ruled(totals.imp, play, snapshot)
    for play in snapshot.unplayed.get(deal, ()):
        _add_ruled(totals.imp, play, snapshot)
    return totals.imp


def _add_ruled(imps: Imps, play: ScoredPlay, snapshot: Snapshot) -> None:
    """Add awards and subtract fines, as the standings do."""
    number = snapshot.ledger.entries.number
    for seat, award in play.awards.items():
        imps[number[play.entry(seat)]] += award
    for seat, fine in play.fines.items():
        imps[number[play.entry(seat)]] -= fine
