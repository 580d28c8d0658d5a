"""Par: simulated players play the deals of an event thousands of times, and the points of each seat are counted.

The plays of a deal are numbered, and each has its own random source, so the same seed gives the same counts on any
machine, in one run or several. Players misjudge their options by different amounts, so that plays differ as they do
among people.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import lru_cache
from random import Random
from typing import Final, NamedTuple

from broker.event import DealPar, EventPar, played_hash
from broker.protocol import SEATS, Seat
from broker.rules import Deal, McrPaymentRules, seat_points
from broker.rules.mcr import Judge, fan_judge
from broker.sim.outlook import Style
from broker.sim.plans import plans
from broker.sim.player import SimulatedPlayer
from broker.sim.table import DealTable

PLAYERS: Final = 1
"""The version of the players, increased with every change that makes them play differently."""

CHUNK: Final = 250
"""The number of plays after which the counts are stored."""

LEAST_MISJUDGEMENT, MISJUDGEMENT_SPREAD = 0.2, 0.8
"""How much players misjudge discards, in points: uniform between the first and the sum of both."""


class Stretch(NamedTuple):
    """Consecutive plays of a deal."""

    deal: Deal
    payments: McrPaymentRules
    seed: int
    first: int
    plays: int


class PointCounts(NamedTuple):
    """How often each seat of a deal got which points."""

    deal: int
    plays: int
    points: dict[Seat, Counter[int]]


def play_stretch(stretch: Stretch) -> PointCounts:
    """Play a stretch and count the points."""
    deal, payments = stretch.deal, stretch.payments
    table, points = DealTable(deal, payments, _judge(payments)), {seat: Counter[int]() for seat in SEATS}
    numbers = range(stretch.first, stretch.first + stretch.plays)
    for play in table.play_all([_players(stretch, number) for number in numbers]):
        for seat, got in seat_points(play.outcome, payments).items():
            points[seat][got] += 1
    return PointCounts(deal.number, stretch.plays, points)


def _players(stretch: Stretch, number: int) -> dict[Seat, SimulatedPlayer]:
    players = {}
    for seat in SEATS:
        rng = Random(f"{stretch.seed} deal {stretch.deal.number} play {number} {seat}")  # noqa: S311 - simulated, to be repeated
        players[seat] = SimulatedPlayer(
            1.0, rng, Style(misjudgement=LEAST_MISJUDGEMENT + MISJUDGEMENT_SPREAD * rng.random())
        )
    return players


@lru_cache(maxsize=1)
def _judge(payments: McrPaymentRules) -> Judge:
    return fan_judge(payments)


def still_to_play(
    par: EventPar, deals: Sequence[Deal], payments: McrPaymentRules, plays: int
) -> tuple[EventPar, list[Stretch]]:
    """Return what is left to play until each deal has this many plays.

    A deal that has changed, or is paid differently, starts over; all deals do if another version of the players played
    them.
    """
    known = dict(par.deals) if par.players == PLAYERS else {}
    for deal in deals:
        of = played_hash(deal, payments)
        if deal.number not in known or known[deal.number].deal_hash != of:
            known[deal.number] = DealPar(of, 0, {seat: {} for seat in SEATS})
    left = [
        Stretch(deal, payments, par.seed, first, min(CHUNK, plays - first))
        for deal in deals
        for first in range(known[deal.number].plays, plays, CHUNK)
    ]
    return EventPar(1, par.event, par.seed, PLAYERS, known), left


def play_par(par: EventPar, stretches: Sequence[Stretch], jobs: int) -> Iterator[EventPar]:
    """Play the stretches in `jobs` processes, yielding all counts so far after each."""
    known = dict(par.deals)
    with ExitStack() as stack:
        each: Callable[..., Iterator[PointCounts]] = map
        if jobs > 1 and len(stretches) > 1:
            plans()  # computed once, so that forked processes share it
            pool = ProcessPoolExecutor(min(jobs, len(stretches)))
            stack.callback(pool.shutdown, cancel_futures=True)
            each = pool.map
        for counted in each(play_stretch, stretches):
            known[counted.deal] = known[counted.deal].plus(counted.plays, counted.points)
            yield EventPar(1, par.event, par.seed, PLAYERS, dict(known))
