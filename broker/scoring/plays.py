"""A play as scoring sees it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from broker.contract.words import Seat


@dataclass(frozen=True, slots=True)
class ScoredPlay:
    """One table playing one deal: who sat where, what they scored, what the arbiter took off (IMP)."""

    deal: int
    table: int
    players: Mapping[Seat, str]
    points: Mapping[Seat, int]
    fines: Mapping[Seat, int] = field(default_factory=dict)
    form: str | None = None
    """Hash of the verified serial order; plays of one deal and one form are compared."""
