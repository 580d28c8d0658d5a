"""What parts equal totals: each name of a profile's chain, as a key for those who are tied (RULES, "Ties")."""

from collections.abc import Mapping

import numpy as np

from broker.rules.profile import TieBreak
from broker.scoring.entries import Entries
from broker.scoring.imp import Whole, cross
from broker.scoring.ledger import Ledger
from broker.scoring.ranking import TieBreaker
from broker.scoring.totals import Totals

Places = Mapping[str, int]
"""Names and their places after the session before."""


def breaker(name: TieBreak, ledger: Ledger, previous: Places) -> TieBreaker:
    """Give one tie-break of an individual event."""
    if name == "direct_comparison":
        return lambda tied: direct_comparison(ledger, tied)
    return simple_breaker(name, ledger.entries, ledger.totals, previous)


def simple_breaker(name: TieBreak, entries: Entries, totals: Totals, previous: Places) -> TieBreaker:
    """Give a tie-break that looks at each entry by itself; who was not ranked before comes last."""
    if name == "points":
        return lambda tied: totals.points[tied]
    if name == "fewest_fines":
        return lambda tied: -totals.fines[tied]
    last = max(previous.values(), default=0) + 1
    return lambda tied: np.array([-previous.get(entries.names[entry], last) for entry in tied.tolist()])


def direct_comparison(ledger: Ledger, tied: Whole) -> Whole:
    """Give the IMPs won against those of the tied who sat at the same wind of the same deal, play against play."""
    won = np.zeros(len(ledger.entries.names), dtype=np.int64)
    for row in ledger.rows.values():
        among = np.isin(row.entries, tied)
        for seat in range(among.shape[1]):
            rows = among[:, seat]
            np.add.at(won, row.entries[rows, seat], cross(row.group.points[rows, seat], ledger.profile.imp))
    return won[tied]
