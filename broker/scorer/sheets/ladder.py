"""The standings, with the places that everybody can still reach while plays are missing."""

from collections.abc import Iterator

from msgspec import Struct

from broker.contract.words import Imp
from broker.scorer.moment import Moment
from broker.scoring.bounds import Bounds, bounds
from broker.scoring.plays import ScoredPlay
from broker.scoring.ranking import Ranked
from broker.scoring.written import written


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


class Ladder(Struct, frozen=True):
    """All players, best first."""

    final: bool
    deals: int
    """Deals that count."""
    deals_expected: int
    rungs: tuple[Rung, ...]


def ladder(moment: Moment) -> Ladder:
    """Give the standings of what is in a moment; what is not in it is taken as missing.

    What the bounds say is sound, not tight (`scoring/bounds.py`); rulings yet to come are not foreseen.
    """
    reach = bounds(moment.ledger, tuple(missing(moment)))
    return Ladder(
        final=moment.final,
        deals=len(moment.by_deal.keys() | moment.unplayed.keys()),
        deals_expected=len(moment.event.expected),
        rungs=tuple(_rung(moment, line, reach[line.name]) for line in moment.ranking),
    )


def _rung(moment: Moment, line: Ranked, reach: Bounds) -> Rung:
    return Rung(
        place=line.place,
        player=line.name,
        name=moment.event.name_of(line.name),
        imp=written(line.imp),
        fines=line.fines,
        plays=line.plays,
        plays_expected=len(moment.event.bookings_of.get(line.name, ())),
        best=reach.best,
        worst=reach.worst,
        least=written(reach.least),
        most=written(reach.most),
    )


def missing(moment: Moment) -> Iterator[ScoredPlay]:
    """Give the planned plays that are not in a moment, without points."""
    there = {(play.deal, play.table) for rows in moment.by_deal.values() for row in rows for play in row.group.members}
    there |= {(deal, play.table) for deal, plays in moment.unplayed.items() for play in plays}
    for booking in moment.event.plan.plays:
        if (booking.deal, booking.table) not in there:
            yield ScoredPlay(booking.deal, booking.table, booking.players, None)
