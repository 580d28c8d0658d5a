"""Individual event: the sum of a player's IMPs over all plays, minus fines (MIL, OEDMC)."""

from collections.abc import Collection

from broker.scoring.ledger import Ledger
from broker.scoring.ranking import Ranking, rank
from broker.scoring.ties import Places, breaker


def standings(ledger: Ledger, *, previous: Places | None = None, without_standing: Collection[str] = ()) -> Ranking:
    """Rank the players. `previous`: their places after the session before, for a tie-break that asks for them."""
    chain = [breaker(name, ledger, previous or {}) for name in ledger.profile.ties.chain.value]
    return rank(ledger.entries, ledger.totals, chain, without_standing)
