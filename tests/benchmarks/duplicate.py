"""Measure how well ordinary and duplicate events rank the same players by their strength.

`python -m tests.benchmarks.duplicate --events 80 --seed 1`. An event has four sections of 16 players with the same 16
strengths. Everything is played twice: once with a separate deal at every table, once with four deals that all tables
play. Ranks are within a section. IMPs are computed three times, against the 4 tables of a section, of two sections, or
of all four, so that the same plays show the benefit of more tables. See docs/why-duplicate.md.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import chain
from random import Random
from typing import Any, Final, NamedTuple

import click
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from broker.event.movement import SIZE, NumberedPlay, sixteen_players
from broker.protocol import SEATS
from broker.rules import Deal, load_mcr, new_deal
from broker.scoring import Ledger, ScoredPlay
from broker.sim.table import play_event, scored_play

Table = NDArray[Any]


class RankingMeasures(NamedTuple):
    """Measures of a way of ranking over many events of the same players."""

    variance: float
    """Variance of a player's place from event to event, averaged over the players."""
    correlation: float
    """Spearman's correlation of an event's places with the true order, averaged over the events."""


def shared_places(totals: Table) -> Table:
    """Return the places of each row's totals, best first; equal totals share the mean of their places."""
    better = (totals[:, None, :] > totals[:, :, None]).sum(axis=2)
    equal = (totals[:, None, :] == totals[:, :, None]).sum(axis=2)
    shared: Table = better + (equal + 1) / 2
    return shared


def measure_ranking(totals: Table) -> RankingMeasures:
    """Measure totals, with a row per event and a column per player, the strongest first."""
    found = shared_places(totals)
    true = np.broadcast_to(np.arange(1, totals.shape[1] + 1), found.shape)
    return RankingMeasures(float(found.var(axis=0, ddof=1).mean()), float(_correlations(found, true).mean()))


def _correlations(found: Table, true: Table) -> Table:
    """Correlate row by row; a row with all values equal has the correlation 0."""
    one = found - found.mean(axis=1, keepdims=True)
    other = true - true.mean(axis=1, keepdims=True)
    over = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    correlations: Table = (one * other).sum(axis=1) / np.where(over, over, 1)
    return correlations


def add_up_sessions(totals: Table, sessions: int) -> Table:
    """Add up every `sessions` consecutive events to a longer one; events left over are dropped."""
    events = len(totals) // sessions
    summed: Table = totals[: events * sessions].reshape(events, sessions, totals.shape[1]).sum(axis=1)
    return summed


def share_of_columns(values: Table) -> float:
    """Return the share of the variance that lies between the columns, without the part that is due to chance.

    One-way analysis of variance. For plays of a deal by deals and seats it is the share of the deal; for events by
    players, that of strength.
    """
    rows = len(values)
    within = values.var(axis=0, ddof=1).mean()
    between = values.mean(axis=0).var(ddof=1) - within / rows
    return float(between / (between + within)) if between + within else 0.0


PLAYERS: Final = 16
SECTIONS: Final = 4
TOGETHER: Final = (1, 2, 4)
"""Numbers of sections whose plays are compared with each other."""

LENGTHS: Final = (1, 4, 16)
"""Numbers of events that are added up to a longer one."""

PROFILE: Final = load_mcr()

SectionTotals = list[list[int]]
"""By section, then by strength, the strongest first."""


class EventBothWays(NamedTuple):
    """Four rounds in four sections, played both ways."""

    own_points: SectionTotals
    same_points: SectionTotals
    same_imps: list[SectionTotals]
    """One for each number in TOGETHER."""
    by_seat: list[list[int]]
    """Points of the duplicate plays: for each of the 16 tables, those of its 16 deals and seats."""


def strength_ladder(weakest: float) -> list[float]:
    """Return the strengths in equal steps down from 1, the strongest first."""
    return [1 - (1 - weakest) * at / (PLAYERS - 1) for at in range(PLAYERS)]


def play_both_ways(seed: int, weakest: float, number: int) -> EventBothWays:
    """Play one event both ways, drawing the players' numbers in the movement anew for each section."""
    words = f"{seed} event {number}"
    own, same = (
        [
            _section(f"{words} {way}", section, strength_ladder(weakest), shared=way == "same")
            for section in range(SECTIONS)
        ]
        for way in ("own", "same")
    )
    return EventBothWays(_points(own), _points(same), [_imps(same, together) for together in TOGETHER], _by_seat(same))


def _section(words: str, section: int, ladder: list[float], *, shared: bool) -> list[ScoredPlay]:
    """Play one section. In both ways, prevalent wind and dealer follow the deal's number in the movement.

    A player's name is the index of the strength, 0 to 15, plus 16 for each section before.
    """
    here = f"{words} section {section}"
    drawn = _chance(f"{here} numbers").sample(range(PLAYERS), PLAYERS)

    def deal_of(booking: NumberedPlay) -> Deal:
        which = f"{words} deal {booking.deal}" if shared else f"{here} round {booking.round} table {booking.table}"
        return new_deal(booking.deal, "east", SEATS[booking.deal - 1], _chance(which))

    hosted = play_event(
        sixteen_players(),
        deal_of,
        {number: ladder[at] for number, at in enumerate(drawn, 1)},
        PROFILE.payments,
        lambda what: _chance(f"{here} {what}"),
    )
    plays = (
        scored_play(one, PROFILE.payments, lambda number: str(PLAYERS * section + drawn[number - 1])) for one in hosted
    )
    return [replace(play, table=SIZE * section + play.table) for play in plays]


def _chance(words: str) -> Random:
    return Random(words)


def _points(sections: list[list[ScoredPlay]]) -> SectionTotals:
    totals = [0] * (PLAYERS * SECTIONS)
    for play in chain(*sections):
        for seat, points in (play.points or {}).items():
            totals[int(play.players[seat])] += points
    return _by_section(totals)


def _imps(sections: list[list[ScoredPlay]], together: int) -> SectionTotals:
    totals = [0] * (PLAYERS * SECTIONS)
    for first in range(0, SECTIONS, together):
        ledger = Ledger.of(chain(*sections[first : first + together]), PROFILE)
        for name, at in ledger.entries.number.items():
            totals[int(name)] = int(ledger.totals.imp[at])
    return _by_section(totals)


def _by_section(totals: list[int]) -> SectionTotals:
    return [totals[first : first + PLAYERS] for first in range(0, len(totals), PLAYERS)]


def _by_seat(sections: list[list[ScoredPlay]]) -> list[list[int]]:
    rows: dict[int, list[int]] = {}
    for play in sorted(chain(*sections), key=lambda play: (play.table, play.deal)):
        rows.setdefault(play.table, []).extend((play.points or {})[seat] for seat in SEATS)
    return list(rows.values())


def report_lines(events: list[EventBothWays]) -> Iterator[str]:
    """Return the lines of the table."""
    columns = dict(_columns(events))
    yield "| plays | ranked by | events | variance of a place | correlation with strength | share of strength |"
    yield "|---|---|---|---|---|---|"
    for length in LENGTHS:
        for name, totals in columns.items():
            summed = np.concatenate([add_up_sessions(totals[:, section], length) for section in range(SECTIONS)])
            if len(summed) >= 2 * SECTIONS:
                found = measure_ranking(summed)
                yield (
                    f"| {SIZE * length} | {name} | {len(summed)} | {found.variance:.1f} | {found.correlation:.3f} "
                    f"| {100 * share_of_columns(summed):.1f} % |"
                )
    yield from _in_one_play(events, columns)


def _columns(events: list[EventBothWays]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Return totals by way of ranking: events x sections x players."""
    yield "own deals, points", np.array([one.own_points for one in events])
    yield "same deals, points", np.array([one.same_points for one in events])
    for at, together in enumerate(TOGETHER):
        yield f"same deals, IMP, {SIZE * together} tables", np.array([one.same_imps[at] for one in events])


def _in_one_play(events: list[EventBothWays], columns: Mapping[str, NDArray[Any]]) -> Iterator[str]:
    points = np.concatenate([np.array(one.by_seat) for one in events], axis=1)
    share = 100 * share_of_columns(points)
    yield f"\nPoints in one play: spread {points.std():.1f}; {share:.0f} % of their variance lies in deal and seat."
    mean = (columns["own deals, points"] + columns["same deals, points"]).mean(axis=(0, 1)) / (2 * SIZE)
    yield f"Mean points a play: the four strongest {mean[:4].mean():+.1f}, the four weakest {mean[-4:].mean():+.1f}."


@click.command()
@click.option(
    "--events", default=80, show_default=True, help="Of four rounds and four sections, each played both ways."
)
@click.option("--seed", default=1, show_default=True)
@click.option("--weakest", default=0.0, show_default=True, help="Strength of the weakest player; the strongest has 1.")
@click.option("--jobs", default=1, show_default=True, help="Processes.")
def luck(events: int, seed: int, weakest: float, jobs: int) -> None:
    """Play events both ways, and print how well each way ranks by strength."""
    with ExitStack() as open_pool:
        each: Callable[..., Any] = map if jobs == 1 else open_pool.enter_context(ProcessPoolExecutor(jobs)).map
        played = each(partial(play_both_ways, seed, weakest), range(events))
        with click.progressbar(played, length=events, label="Events", file=sys.stderr) as bar:
            finished = list(bar)
    for line in report_lines(finished):
        click.echo(line)


if __name__ == "__main__":
    luck()
