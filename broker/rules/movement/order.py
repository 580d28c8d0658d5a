"""What the organiser orders: how many players, tables, rounds, deals a round, carriers of each deal."""

from dataclasses import dataclass
from typing import Final

from broker.rules.errors import RuleError
from broker.rules.movement.check import SEATED

MOST_PLAYERS: Final = 1000
"""Above it counting pairs alone takes longer than anyone waits."""

MOST_DEALS: Final = 9999
"""As in `broker.contract.words.DealNo`."""

MOST_ROUNDS: Final = 999

MOST_COMPARED: Final = 1_000_000
"""Of each deal its plays, squared, in all: what it takes to count who is compared with whom."""


@dataclass(frozen=True, slots=True)
class Order:
    """A movement to be made. `copies` is how many carriers there are of each deal."""

    players: int
    tables: int
    rounds: int
    deals_per_round: int = 1
    copies: int = 1

    def __post_init__(self) -> None:
        """Raise RuleError `impossible_size` where no movement can have these numbers."""
        if not SEATED <= self.players <= MOST_PLAYERS:
            raise RuleError("impossible_size", f"{self.players} players; there can be {SEATED} to {MOST_PLAYERS}")
        if not 1 <= self.tables <= self.players // SEATED:
            raise RuleError(
                "impossible_size", f"{self.tables} tables; {self.players} players fill 1 to {self.players // SEATED}"
            )
        if not 1 <= self.rounds <= MOST_ROUNDS:
            raise RuleError("impossible_size", f"{self.rounds} rounds; there can be 1 to {MOST_ROUNDS}")
        if self.deals_per_round < 1 or self.copies < 1:
            raise RuleError("impossible_size", "a round needs a deal, and a deal a carrier")
        deals = max(self.rounds, self.pods) * self.deals_per_round
        if deals > MOST_DEALS:
            raise RuleError("impossible_size", f"that would take more than {MOST_DEALS} deals")
        if deals * (min(self.rounds, self.pods) * self.pod) ** 2 > MOST_COMPARED:
            raise RuleError("impossible_size", "so many plays of so many deals cannot be compared in reasonable time")

    @property
    def pod(self) -> int:
        """How many tables can share the deals of a round, each deal going round among them."""
        return min(self.tables, self.deals_per_round * self.copies)

    @property
    def pods(self) -> int:
        """How many such groups of tables there are; the last may be smaller."""
        return -(-self.tables // self.pod)
