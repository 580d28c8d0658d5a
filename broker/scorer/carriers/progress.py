"""How far the plays of a plan are: what the model of carriers and times is made from. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

Stage = Literal["to_come", "laid_out", "under_way", "recorded"]
"""`laid_out`: the table says that it restores it; `under_way`: the tiles were verified, the carrier is there."""

PlayKey = tuple[int, int]
"""Table and round."""

Carrier = tuple[int, int]
"""Deal and copy, from 1."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One play of the plan: a table needs a deal's carrier in a round."""

    round: int
    table: int
    deal: int

    @property
    def key(self) -> PlayKey:
        """Which play it is."""
        return self.table, self.round


@dataclass(frozen=True)
class Progress:
    """The plan, and what is known of it at one moment. Times are wall clock, ms since 1970."""

    legs: tuple[Leg, ...]
    now: int
    recorded: Mapping[PlayKey, int] = field(default_factory=dict)
    """When each result was accepted."""
    at_work: Mapping[int, tuple[int, Stage]] = field(default_factory=dict)
    """Of a table that is busy: its round, and how far it is."""
    begins: Mapping[int, int] = field(default_factory=dict)
    """Of a round before which nobody plays: when, by the plan's clocks."""
    last_of_session: frozenset[int] = frozenset()
    """Rounds after which there is a long pause."""

    @cached_property
    def ways(self) -> "Mapping[Carrier, Way]":
        """Each carrier's way."""
        return by_carrier(self.legs)

    @cached_property
    def copies(self) -> Mapping[int, int]:
        """How many carriers each deal has."""
        return most_at_once(self.legs)

    def stage(self, leg: Leg) -> Stage:
        """Say how far a play is."""
        if leg.key in self.recorded:
            return "recorded"
        round_, stage = self.at_work.get(leg.table, (0, "to_come"))
        return stage if round_ == leg.round else "to_come"


UNKNOWN: Final = 0

Way = tuple[Leg, ...]


def by_carrier(legs: Iterable[Leg]) -> dict[Carrier, Way]:
    """Give each carrier's way: deal and copy (from 1), and its plays in order.

    A deal has as many carriers as tables that play it at once: fewer could not serve the plan. A play gets the copy
    that has been free longest, so that copies of a deal share its tables evenly.
    """
    ordered = sorted(legs, key=lambda leg: (leg.deal, leg.round, leg.table))
    copies = most_at_once(ordered)
    ways: dict[Carrier, list[Leg]] = {}
    for leg in ordered:
        last = {copy: ways.get((leg.deal, copy), []) for copy in range(1, copies[leg.deal] + 1)}
        copy = min(last, key=lambda one: (last[one][-1].round if last[one] else UNKNOWN, one))
        ways.setdefault((leg.deal, copy), []).append(leg)
    return {carrier: tuple(way) for carrier, way in ways.items()}


def most_at_once(legs: Iterable[Leg]) -> dict[int, int]:
    """Say of each deal at how many tables it is played in one round, at most."""
    found: dict[int, int] = {}
    for (deal, _), count in Counter((leg.deal, leg.round) for leg in legs).items():
        found[deal] = max(count, found.get(deal, 0))
    return found
