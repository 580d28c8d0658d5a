"""`par.json`: what simulated players made of an event's deals, seat by seat. Secret until the deals are public.

Of each seat it holds how often which points came, so that plays can be added at any time and nothing depends on the
order in which they were played.
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
"""Standard errors to either side in which the truth lies in 9 of 10 cases."""

MOST_TIMES: Final = 0.8
"""The share of plays that the usual range holds."""

Points = dict[int, int]
"""How often each number of points came."""


class SeatPar(NamedTuple):
    """What a seat of a deal was worth to simulated players."""

    mean: float
    low: float
    high: float
    """Between these the mean of endless plays lies in 9 of 10 cases."""
    least: int
    most: int
    """Between these 8 plays of 10 ended."""
    spread: float
    """Standard deviation of one play."""


class DealPar(Struct, frozen=True, forbid_unknown_fields=True):
    """The plays of one deal. `deal_hash` tells whether it is still the same deal."""

    deal_hash: Hash
    plays: int
    points: dict[Seat, Points]

    def plus(self, plays: int, points: Mapping[Seat, Mapping[int, int]]) -> "DealPar":
        """Return it with more plays."""
        added = {
            seat: dict(sorted((Counter(self.points.get(seat, {})) + Counter(points[seat])).items())) for seat in SEATS
        }
        return replace(self, plays=self.plays + plays, points=added)

    def seats(self) -> dict[Seat, SeatPar]:
        """Return what each seat was worth; nothing before there are two plays."""
        return {seat: _seat_par(self.points[seat], self.plays) for seat in SEATS} if self.plays > 1 else {}


def _seat_par(points: Points, plays: int) -> SeatPar:
    mean = sum(one * times for one, times in points.items()) / plays
    spread = sqrt(sum(times * (one - mean) ** 2 for one, times in points.items()) / (plays - 1))
    half = Z90 * spread / sqrt(plays)
    tail = plays * (1 - MOST_TIMES) / 2
    up = sorted(points.items())
    return SeatPar(mean, mean - half, mean + half, _reached(iter(up), tail), _reached(reversed(up), tail), spread)


def _reached(points: Iterator[tuple[int, int]], tail: float) -> int:
    """Return the first points at which more plays have been passed than the tail holds."""
    passed = 0
    for one, times in points:
        passed += times
        if passed > tail:
            return one
    raise ValueError("no plays")


class EventPar(Struct, frozen=True, forbid_unknown_fields=True):
    """What `par.json` holds. `players` names the version of the simulated players: others would play otherwise."""

    schema: Literal[1]
    event: EventName
    seed: int
    players: int
    deals: dict[DealNo, DealPar]


def played_hash(deal: Deal, payments: McrPaymentRules) -> str:
    """Return what tells two deals apart, and the rules by which they are paid (SHA-256)."""
    lines = [f"{deal.number} {deal.prevalent_wind} {deal.dealer}", *(" ".join(deal.faces[seat]) for seat in SEATS)]
    return hashlib.sha256("\n".join([*lines, repr(payments)]).encode()).hexdigest()


def par_of_deal(par: EventPar | None, event: EventName, deal: Deal, payments: McrPaymentRules) -> DealPar | None:
    """Return what was played of a deal; None if nothing was, or of a deal that was another then."""
    known = par.deals.get(deal.number) if par and par.event == event else None
    return known if known and known.deal_hash == played_hash(deal, payments) else None


def read_par(folder: Path) -> EventPar | None:
    """Return what was played of an event's deals; None if nothing was. Raises RuleError `malformed`, `too_large`."""
    try:
        return read_json(folder / PAR, EventPar)
    except FileNotFoundError:
        return None


def write_par(folder: Path, par: EventPar) -> None:
    """Write it, for its owner alone. Raises OSError."""
    write_private(folder / PAR, msgspec.json.encode(par) + b"\n")
