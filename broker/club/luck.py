"""Why duplicate: the same players in ordinary and in duplicate events, and how well each tells who is strong.

`python -m broker.club.luck --events 320 --seed 1`. Each event is played twice by the same 16 players in the same seats:
once with a deal of its own at every table, once with four deals that all tables play. docs/why-duplicate.md tells it.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from random import Random
from typing import Any, Final, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from broker.club.event import play_event, scored
from broker.club.measure import longer, measured, share_of_deal
from broker.contract.words import SEATS
from broker.rules.deal import Deal, new_deal
from broker.rules.movement import Booking, sixteen_players
from broker.rules.profile import load
from broker.scoring.ledger import Ledger
from broker.scoring.plays import ScoredPlay

PLAYERS: Final = 16
PROFILE: Final = load()
STRONGEST: Final = 1.0


class Session(NamedTuple):
    """Four rounds, played both ways; totals are by strength, the strongest first."""

    own_points: list[int]
    same_points: list[int]
    same_imps: list[int]
    by_seat: list[list[int]]
    """Points of the duplicate plays: for each play of a deal, those of its 16 deals and seats."""


def strengths(weakest: float) -> list[float]:
    """Give the strengths in equal steps, the strongest first."""
    return [STRONGEST - (STRONGEST - weakest) * at / (PLAYERS - 1) for at in range(PLAYERS)]


def session(seed: int, weakest: float, number: int) -> Session:
    """Play one session both ways. The players' numbers in the movement are drawn anew for each."""
    words = f"{seed} session {number}"
    numbers = Random(words).sample(range(1, PLAYERS + 1), PLAYERS)  # noqa: S311 - simulated, to be repeated
    names = {number: str(at) for at, number in enumerate(numbers)}
    of_number = {number: strengths(weakest)[at] for at, number in enumerate(numbers)}
    own = _plays(f"{words} own", of_number, names, lambda booking: 4 * booking.round + booking.table)
    same = _plays(f"{words} same", of_number, names, lambda booking: booking.deal)
    ledger = Ledger.of(same, PROFILE)
    imps = {name: int(ledger.totals.imp[at]) for name, at in ledger.entries.number.items()}
    return Session(_points(own), _points(same), [imps[str(at)] for at in range(PLAYERS)], _by_seat(same))


def _plays(
    words: str, of_number: Mapping[int, float], names: Mapping[int, str], which: Callable[[Booking], int]
) -> list[ScoredPlay]:
    """Play one session. Prevalent wind and dealer follow the movement's deal number either way."""

    def deal_of(booking: Booking) -> Deal:
        chance = Random(f"{words} deal {which(booking)}")  # noqa: S311 - simulated, to be repeated
        return new_deal(booking.deal, "east", SEATS[booking.deal - 1], chance)

    def new_chance(what: str) -> Random:
        return Random(f"{words} {what}")  # noqa: S311 - simulated, to be repeated

    hosted = play_event(sixteen_players(), deal_of, of_number, PROFILE.payments, new_chance)
    return [scored(one, PROFILE.payments, names.__getitem__) for one in hosted]


def _points(plays: list[ScoredPlay]) -> list[int]:
    totals = [0] * PLAYERS
    for play in plays:
        for seat, points in (play.points or {}).items():
            totals[int(play.players[seat])] += points
    return totals


def _by_seat(plays: list[ScoredPlay]) -> list[list[int]]:
    deals = sorted({play.deal for play in plays})
    of_deal = [sorted((play for play in plays if play.deal == deal), key=lambda play: play.table) for deal in deals]
    return [
        [(play.points or {})[seat] for play in at_a_table for seat in SEATS]
        for at_a_table in zip(*of_deal, strict=True)
    ]


def report(sessions: list[Session]) -> Iterator[str]:
    """Give the lines of the table."""
    columns: dict[str, NDArray[Any]] = {
        "own deals, points": np.array([one.own_points for one in sessions]),
        "same deals, points": np.array([one.same_points for one in sessions]),
        "same deals, IMP": np.array([one.same_imps for one in sessions]),
    }
    yield "| plays a player | ranked by | events | variance of a place | correlation with strength | strongest first |"
    yield "|---|---|---|---|---|---|"
    for length in (1, 4, 16):
        for name, totals in columns.items():
            summed = longer(totals, length)
            if len(summed) > 1:
                found = measured(summed)
                yield (
                    f"| {4 * length} | {name} | {len(summed)} | {found.variance:.1f} | {found.correlation:.2f} "
                    f"| {100 * found.best_first:.0f} % |"
                )
    deals = np.concatenate([np.array(one.by_seat) for one in sessions], axis=1)
    yield f"\nOf the variance of points in one play {100 * share_of_deal(deals):.0f} % lies in the deal and the seat."


@click.command()
@click.option("--events", default=320, show_default=True, help="Sessions of 4 rounds, each played both ways.")
@click.option("--seed", default=1, show_default=True)
@click.option("--weakest", default=0.0, show_default=True, help="Strength of the weakest player; the strongest has 1.")
@click.option("--jobs", default=1, show_default=True, help="Processes.")
def luck(events: int, seed: int, weakest: float, jobs: int) -> None:
    """Play events both ways and print how well each tells who is strong."""
    with ExitStack() as open_pool:
        each = map if jobs == 1 else open_pool.enter_context(ProcessPoolExecutor(jobs)).map
        played = each(partial(session, seed, weakest), range(events))
        with click.progressbar(played, length=events, label="Sessions", file=sys.stderr) as bar:
            sessions = list(bar)
    for line in report(sessions):
        click.echo(line)


if __name__ == "__main__":
    luck()
