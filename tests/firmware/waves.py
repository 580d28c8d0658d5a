"""Waveforms of contacts: lists of (time in ns, closed) that start open and alternate."""

from collections.abc import Iterable
from itertools import accumulate

from hypothesis import strategies as st

from firmware.presses import MS, ContactLimits, ContactOutcome, Presses
from firmware.reports import SEATS, Health, Pressed, Seat

LIMITS = ContactLimits()

Wave = list[tuple[int, bool]]

spark = st.integers(1, LIMITS.finger_ns - 1)
"""Closed for too short a time for a finger."""

gap = st.integers(1, LIMITS.bounce_ns - 1)
"""Open for so short a time that the contact still bounces."""

pause = st.integers(LIMITS.release_ns, 5_000 * MS)
"""Open for long enough to count as released."""


def flat(pairs: Iterable[tuple[int, int]]) -> list[int]:
    """Return the numbers of all pairs in order."""
    return [one for pair in pairs for one in pair]


@st.composite
def presses(draw: st.DrawFn) -> list[int]:
    """Return the durations of one press, closed first: it bounces, holds, bounces, and opens."""
    closing = draw(st.lists(st.tuples(spark, gap), max_size=2))
    held = draw(st.integers(LIMITS.finger_ns, 4_000 * MS))
    opening = draw(st.lists(st.tuples(gap, spark), max_size=3))
    return [*flat(closing), held, *flat(opening)]


@st.composite
def noises(draw: st.DrawFn) -> list[int]:
    """Return the durations of pulses too short for a finger, closed first."""
    return [*flat(draw(st.lists(st.tuples(spark, gap), max_size=6))), draw(spark)]


def wave(start: int, bursts: Iterable[tuple[list[int], int]]) -> Wave:
    """Return the edges of bursts, each with the pause after it."""
    times = accumulate(flat_bursts(bursts), initial=start)
    return [(at, index % 2 == 0) for index, at in enumerate(times)][:-1]


def flat_bursts(bursts: Iterable[tuple[list[int], int]]) -> list[int]:
    """Return all durations in order; closed and open alternate."""
    return [one for durations, after in bursts for one in (*durations, after)]


def play(waves: dict[Seat, Wave], ticks: Iterable[int] = (), limits: ContactLimits = LIMITS) -> list[ContactOutcome]:
    """Process all edges and ticks in order of time, then a long time without any; return the outcomes."""
    machine = Presses(limits)
    told = machine.begin(dict.fromkeys(SEATS, False))
    edges = [(at, 1, index, seat, closed) for seat, w in waves.items() for index, (at, closed) in enumerate(w)]
    for at, kind, _, seat, closed in sorted([*edges, *((at, 0, 0, SEATS[0], False) for at in ticks)]):
        told += machine.edge(seat, closed=closed, at=at) if kind else machine.pass_time(at)
    return told + machine.pass_time(10**18)


def pressed(outcomes: Iterable[ContactOutcome]) -> list[tuple[Seat, int]]:
    """Return seat and time of the presses."""
    return [(one.seat, one.at) for one in outcomes if isinstance(one, Pressed)]


def of(seat: Seat, outcomes: Iterable[ContactOutcome]) -> list[ContactOutcome]:
    """Return the outcomes of one seat."""
    return [one for one in outcomes if (one.part == f"button-{seat}" if isinstance(one, Health) else one.seat == seat)]
