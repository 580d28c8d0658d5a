"""The standings, with the places that everybody can still reach while plays are missing."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from msgspec import Struct

from broker.contract.words import Imp
from broker.scorer.columns import Columns
from broker.scorer.moment import Moment
from broker.scoring.bounds import Bounds, reach
from broker.scoring.ranking import Ranked
from broker.scoring.written import written

KEY: Final = 1_000_000_000
"""Above every number of a play (`Laid.line`): with it deal and table become one number."""


class Rung(Struct, frozen=True):
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


class Ladder(Struct, frozen=True):
    """All players, best first."""

    final: bool
    deals: int
    """Deals that count."""
    deals_expected: int
    rungs: tuple[Rung, ...]


def ladder(moment: Moment, now: int) -> Ladder:
    """Give the standings of what is in a moment; what is not in it is taken as missing. `now` in ms since 1970.

    What the bounds say is sound, not tight (`scoring/bounds.py`); rulings yet to come are not foreseen.
    """
    bounds, planned = _bounds(moment), moment.event.plays_planned
    return Ladder(
        final=moment.is_final(now),
        deals=len(moment.by_deal.keys() | moment.unplayed.keys()),
        deals_expected=len(moment.event.expected),
        rungs=tuple(_rung(moment, line, bounds[line.name], planned.get(line.name, 0)) for line in moment.ranking),
    )


def _rung(moment: Moment, line: Ranked, reach: Bounds, planned: int) -> Rung:
    origin = moment.event.origin_of(line.name)
    return Rung(
        place=line.place,
        player=line.name,
        name=moment.event.name_of(line.name),
        imp=written(line.imp),
        fines=line.fines,
        plays=line.plays,
        plays_expected=planned,
        best=reach.best,
        worst=reach.worst,
        least=written(reach.least),
        most=written(reach.most),
        country=origin.country,
        club=origin.club,
    )


def _bounds(moment: Moment) -> dict[str, Bounds]:
    """Give everybody's bounds: planned plays that are not in the moment are to come."""
    plan, entries = _really(moment), moment.ledger.entries.with_names(moment.event.players)
    to_come = ~np.isin(plan.deals * KEY + plan.tables, list(_there(moment)))
    deals, counts = np.unique(plan.deals[to_come], return_counts=True)
    joining = {(deal, ""): count for deal, count in zip(deals.tolist(), counts.tolist(), strict=True)}
    numbers = np.array([entries.number[player] for player in moment.event.players], dtype=np.int64)
    return reach(moment.ledger, entries, joining, numbers[plan.players[to_come]].ravel())


def _really(moment: Moment) -> Columns:
    """Give the plan with what was ruled of it: a play out of place is of the deal that was really played."""
    moved = [laid for laid, _ in moment.ruled.values() if laid.deal != laid.planned]
    plan = moment.event.columns
    if not moved:
        return plan
    deals, lines = plan.deals.copy(), plan.tables.copy()
    for laid in moved:
        at = moment.event.row_of[laid.table, laid.round]
        deals[at], lines[at] = laid.deal, laid.line
    return plan._replace(deals=deals, tables=lines)


def _there(moment: Moment) -> Iterator[int]:
    """Give deal and table of the plays that are over: a fine or an award may be known before its play is."""
    to_come = {(laid.deal, laid.line) for laid, _ in moment.ruled.values() if not laid.settled}
    for deal, rows in moment.by_deal.items():
        for row in rows:
            yield from (deal * KEY + row.tables).tolist()
    for deal, plays in moment.unplayed.items():
        yield from (deal * KEY + play.table for play in plays if (deal, play.table) not in to_come)
