"""The standings: with the places that everybody can still reach, how players came to theirs, and as CSV."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct

from broker import output
from broker.event import UNKNOWN_ORIGIN, Origin, PlayColumns
from broker.files import write_file
from broker.output import decimal
from broker.protocol import Imp, Standing
from broker.scorer.snapshot import Snapshot
from broker.scoring import Bounds, Imps, Ranked, ScoredPlay, Totals, exact_imps, json_imp, reachable_bounds

DEAL_FACTOR: Final = 1_000_000_000
"""Above every number of a play (`CountedPlay.line`): with it deal and table become one number."""


class StandingsRow(Struct, frozen=True):
    """One player's line. `best` and `worst` are places, `least` and `most` the IMPs that lead there."""

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


class StandingsTable(Struct, frozen=True):
    """All players, best first."""

    final: bool
    deals: int
    """Deals that count."""
    deals_expected: int
    rungs: tuple[StandingsRow, ...]


def standings_table(moment: Snapshot, now: int) -> StandingsTable:
    """Return the standings of what is in a moment; what is not in it is taken as missing. `now` in ms since 1970.

    What the bounds say is sound, not tight (`scoring/bounds.py`); rulings yet to come are not foreseen.
    """
    bounds, planned = _bounds(moment), moment.event.plays_planned
    return StandingsTable(
        final=moment.is_final(now),
        deals=len(moment.by_deal.keys() | moment.unplayed.keys()),
        deals_expected=len(moment.event.expected),
        rungs=tuple(
            _standings_row(moment, line, bounds[line.name], planned.get(line.name, 0)) for line in moment.ranking
        ),
    )


def _standings_row(moment: Snapshot, line: Ranked, reach: Bounds, planned: int) -> StandingsRow:
    origin = moment.event.origin_of(line.name)
    return StandingsRow(
        place=line.place,
        player=line.name,
        name=moment.event.name_of(line.name),
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
    )


def _bounds(moment: Snapshot) -> dict[str, Bounds]:
    """Return everybody's bounds: planned plays that are not in the moment are to come."""
    plan, entries = _columns_as_played(moment), moment.ledger.entries.with_names(moment.event.players)
    to_come = ~np.isin(plan.deals * DEAL_FACTOR + plan.tables, list(_plays_over(moment)))
    deals, counts = np.unique(plan.deals[to_come], return_counts=True)
    joining = {(deal, ""): count for deal, count in zip(deals.tolist(), counts.tolist(), strict=True)}
    numbers = np.array([entries.number[player] for player in moment.event.players], dtype=np.int64)
    return reachable_bounds(moment.ledger, entries, joining, numbers[plan.players[to_come]].ravel())


def _columns_as_played(moment: Snapshot) -> PlayColumns:
    """Return the plan with what was ruled of it: a play out of place is of the deal that was really played."""
    moved = [laid for laid, _ in moment.ruled.values() if laid.deal != laid.planned]
    plan = moment.event.columns
    if not moved:
        return plan
    deals, lines = plan.deals.copy(), plan.tables.copy()
    for laid in moved:
        at = moment.event.row_of[laid.table, laid.round]
        deals[at], lines[at] = laid.deal, laid.line
    return plan._replace(deals=deals, tables=lines)


def _plays_over(moment: Snapshot) -> Iterator[int]:
    """Return deal and table of the plays that are over: a fine or an award may be known before its play is."""
    to_come = {(laid.deal, laid.line) for laid, _ in moment.ruled.values() if not laid.settled}
    for deal, rows in moment.by_deal.items():
        for row in rows:
            yield from (deal * DEAL_FACTOR + row.tables).tolist()
    for deal, plays in moment.unplayed.items():
        yield from (deal * DEAL_FACTOR + play.table for play in plays if (deal, play.table) not in to_come)


MOST_DEALS: Final = 60
"""More than so many points a chart does not tell apart, and nobody reads in a table."""


class HistoryLine(Struct, frozen=True):
    """One player's sums after each deal; fines and awards of its plays are in them."""

    player: str
    name: str
    imps: tuple[Imp, ...]


class StandingsHistory(Struct, frozen=True):
    """Deals, in order, and the sums after each."""

    deals: tuple[int, ...]
    lines: tuple[HistoryLine, ...]


def standings_history(moment: Snapshot, players: Sequence[str]) -> StandingsHistory:
    """Return the course of some players over all deals of a moment; of very many, after some and the last."""
    entries = moment.ledger.entries
    numbers = [entries.number[player] for player in players]
    deals = tuple(sorted(moment.by_deal.keys() | moment.unplayed.keys()))
    sums = np.zeros((len(deals), len(players)), dtype=object)
    for at, deal in enumerate(deals):
        sums[at] = _of_deal(moment, deal, len(entries.number))[numbers]
    added = sums.cumsum(axis=0)
    shown = _spread(len(deals))
    return StandingsHistory(
        tuple(deals[one] for one in shown),
        tuple(
            HistoryLine(
                player, moment.event.name_of(player), tuple(json_imp(Fraction(imp)) for imp in added[shown, at])
            )
            for at, player in enumerate(players)
        ),
    )


def _spread(length: int) -> list[int]:
    """Return the places that are shown of so many: all, or some evenly, the first and the last among them."""
    if length <= MOST_DEALS:
        return [*range(length)]
    return [at * (length - 1) // (MOST_DEALS - 1) for at in range(MOST_DEALS)]


def _of_deal(moment: Snapshot, deal: int, size: int) -> Imps:
    totals = Totals.nothing(size, fractions=moment.ledger.profile.imp.method.value == "cross")
    for row in moment.by_deal.get(deal, ()):
        np.add.at(totals.imp, row.entries, exact_imps(row.group))
        for play in row.group.members:
            _add_ruled(totals.imp, play, moment)
    for play in moment.unplayed.get(deal, ()):
        _add_ruled(totals.imp, play, moment)
    return totals.imp


def _add_ruled(imps: Imps, play: ScoredPlay, moment: Snapshot) -> None:
    """Add what the arbiter ruled, as the standings do."""
    number = moment.ledger.entries.number
    for seat, award in play.awards.items():
        imps[number[play.entry(seat)]] += award
    for seat, fine in play.fines.items():
        imps[number[play.entry(seat)]] -= fine


HEADER: Final = ("place", "player", "name", "imp", "fines", "plays", "country", "club")


def no_origin(_player: str) -> Origin:
    """Return the origin of who is in no list."""
    return UNKNOWN_ORIGIN


def standings_csv(standings: Iterable[Standing], origin_of: Callable[[str], Origin] = no_origin) -> str:
    """Write the standings; IMPs stay numbers. New columns come last: programs count columns."""
    lines = (
        (row.place, row.player, row.name, decimal(row.imp), row.fines, row.plays, *origin_of(row.player))
        for row in standings
    )
    return output.csv_text(HEADER, lines)


def write_standings_csv(
    path: Path, standings: Iterable[Standing], origin_of: Callable[[str], Origin] = no_origin
) -> None:
    """Put the file in place whole: a reader sees the old one or the new one.

    Nobody waits for the disk: it is made from the store, and anew at every start. On a busy disk that takes a second.
    """
    write_file(path, standings_csv(standings, origin_of).encode(), durable=False)
