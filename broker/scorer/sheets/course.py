"""How players came to their places: IMPs added up, deal by deal; of very many deals after some of them."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np
from msgspec import Struct

from broker.contract.words import Imp
from broker.scorer.moment import Moment
from broker.scoring.plays import ScoredPlay
from broker.scoring.totals import Imps, Totals, exact_imps
from broker.scoring.written import written

MOST_DEALS: Final = 60
"""More than so many points a chart does not tell apart, and nobody reads in a table."""


class CourseLine(Struct, frozen=True):
    """One player's sums after each deal; fines and awards of its plays are in them."""

    player: str
    name: str
    imps: tuple[Imp, ...]


class Course(Struct, frozen=True):
    """Deals, in order, and the sums after each."""

    deals: tuple[int, ...]
    lines: tuple[CourseLine, ...]


def course(moment: Moment, players: Sequence[str]) -> Course:
    """Give the course of some players over all deals of a moment; of very many, after some and the last."""
    entries = moment.ledger.entries
    numbers = [entries.number[player] for player in players]
    deals = tuple(sorted(moment.by_deal.keys() | moment.unplayed.keys()))
    sums = np.zeros((len(deals), len(players)), dtype=object)
    for at, deal in enumerate(deals):
        sums[at] = _of_deal(moment, deal, len(entries.number))[numbers]
    added = sums.cumsum(axis=0)
    shown = _spread(len(deals))
    return Course(
        tuple(deals[one] for one in shown),
        tuple(
            CourseLine(player, moment.event.name_of(player), tuple(written(Fraction(imp)) for imp in added[shown, at]))
            for at, player in enumerate(players)
        ),
    )


def _spread(length: int) -> list[int]:
    """Give the places that are shown of so many: all, or some evenly, the first and the last among them."""
    if length <= MOST_DEALS:
        return [*range(length)]
    return [at * (length - 1) // (MOST_DEALS - 1) for at in range(MOST_DEALS)]


def _of_deal(moment: Moment, deal: int, size: int) -> Imps:
    totals = Totals.nothing(size, fractions=moment.ledger.profile.imp.method.value == "cross")
    for row in moment.by_deal.get(deal, ()):
        np.add.at(totals.imp, row.entries, exact_imps(row.group))
        for play in row.group.members:
            _rule(totals.imp, play, moment)
    for play in moment.unplayed.get(deal, ()):
        _rule(totals.imp, play, moment)
    return totals.imp


def _rule(imps: Imps, play: ScoredPlay, moment: Moment) -> None:
    """Add what the arbiter ruled, as the standings do."""
    number = moment.ledger.entries.number
    for seat, award in play.awards.items():
        imps[number[play.entry(seat)]] += award
    for seat, fine in play.fines.items():
        imps[number[play.entry(seat)]] -= fine
