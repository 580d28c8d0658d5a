"""`par.json`: the results of simulated players on an event's deals, seat by seat. Secret until the deals are public.

For each seat it stores how often each number of points occurred, so that plays can be added at any time and in any
order.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from math import sqrt
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from broker.event.file_io import read_json
from broker.files import write_private
from broker.protocol import SEATS, DealNo, EventName, Hash, Seat
from broker.rules import Deal, McrPaymentRules

PAR: Final = "par.json"

Z90: Final = 1.645
"""Half-width of a 90 % confidence interval, in standard errors."""

CENTRAL_SHARE: Final = 0.8
"""The share of plays that lies in a seat's usual range (`least` to `most`)."""

Points = dict[int, int]
"""How often each number of points occurred."""


class SeatPar(NamedTuple):
    """What a seat of a deal was worth to simulated players, in points."""

    mean: float
    low: float
    high: float
    """`low` to `high` is a 90 % confidence interval of the mean."""
    least: int
    most: int
    """`least` to `most` is the central range of 80 % of the plays."""
    spread: float
    """Standard deviation of one play."""


class DealPar(Struct, frozen=True, forbid_unknown_fields=True):
    """The simulated plays of one deal. `deal_hash` shows whether the deal has changed since."""

    deal_hash: Hash
    plays: int
    points: dict[Seat, Points]

    def plus(self, plays: int, points: Mapping[Seat, Mapping[int, int]]) -> "DealPar":
        """Return a copy with more plays added."""
        added = {
            seat: dict(sorted((Counter(self.points.get(seat, {})) + Counter(points[seat])).items())) for seat in SEATS
        }
        return replace(self, plays=self.plays + plays, points=added)

    def seats(self) -> dict[Seat, SeatPar]:
        """Return what each seat was worth; empty if there are fewer than two plays."""
        return {seat: _seat_par(self.points[seat], self.plays) for seat in SEATS} if self.plays > 1 else {}


def _seat_par(points: Points, plays: int) -> SeatPar:
    mean = sum(value * times for value, times in points.items()) / plays
    spread = sqrt(sum(times * (value - mean) ** 2 for value, times in points.items()) / (plays - 1))
    half = Z90 * spread / sqrt(plays)
    tail = plays * (1 - CENTRAL_SHARE) / 2
    up = sorted(points.items())
    return SeatPar(mean, mean - half, mean + half, _quantile(iter(up), tail), _quantile(reversed(up), tail), spread)


def _quantile(points: Iterator[tuple[int, int]], tail: float) -> int:
    """Return the first number of points at which the cumulative count of plays exceeds the tail."""
    passed = 0
    for value, times in points:
        passed += times
        if passed > tail:
            return value
    raise ValueError("no plays")


class EventPar(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `par.json`. `players` is the version of the simulated players, since versions play differently."""

    schema: Literal[1]
    event: EventName
    seed: int
    players: int
    deals: dict[DealNo, DealPar]


def played_hash(deal: Deal, payments: McrPaymentRules) -> str:
    """Return a SHA-256 hash (hex) of a deal and the payment rules by which it is played."""
    lines = [f"{deal.number} {deal.prevalent_wind} {deal.dealer}", *(" ".join(deal.faces[seat]) for seat in SEATS)]
    return hashlib.sha256("\n".join([*lines, repr(payments)]).encode()).hexdigest()


def par_of_deal(par: EventPar | None, event: EventName, deal: Deal, payments: McrPaymentRules) -> DealPar | None:
    """Return the simulated plays of a deal; None if there are none, or the deal or its rules have changed since."""
    known = par.deals.get(deal.number) if par and par.event == event else None
    return known if known and known.deal_hash == played_hash(deal, payments) else None


def read_par(folder: Path) -> EventPar | None:
    """Return the content of `par.json`; None if there is none. Raises RuleError `malformed`, `too_large`."""
    try:
        return read_json(folder / PAR, EventPar)
    except FileNotFoundError:
        return None


def write_par(folder: Path, par: EventPar) -> None:
    """Write `par.json`, readable by its owner only. Raises OSError."""
    write_private(folder / PAR, msgspec.json.encode(par) + b"\n")
