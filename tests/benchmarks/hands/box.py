"""Measure the button box: `python -m tests.benchmarks.hands.box`.

Over a pseudo-terminal, with pyserial at one end and the flashed program at the other: the delay of an edge, pairs of
presses a millisecond apart, a million bytes of garbage on either port. Then a year of queries on a simulated clock.
"""

import os
import queue
import resource
import select
import tempfile
import time
from pathlib import Path
from statistics import quantiles
from typing import Final

from firmware.box.box import ButtonBox
from firmware.box.codec import encode_frame
from firmware.reports import SEATS, Health, Pressed, Released, Report
from firmware.sim.box import BoxSimulator
from firmware.sim.cable import WaitableCable
from firmware.sim.pico import SimulatedPico
from tests.firmware.box.fuzz import garbage
from tests.firmware.box.year import live
from tests.firmware.micropython.flashed import flash
from tests.firmware.micropython.process import MicroPython

MS: Final = 1_000_000
PRESSES: Final = 1000
BYTES: Final = 1_000_000
DAYS: Final = 365

Told = tuple[int, Report]


class Table:
    """A table with a simulated box; records what the table is told, and when."""

    def __init__(self, twin: BoxSimulator) -> None:
        self.twin, self._told = twin, queue.Queue[Told]()
        self.box = ButtonBox(str(twin.path), lambda report: self._told.put((time.monotonic_ns(), report)))
        while self.next()[1] != Health("buttons", None):
            pass

    def next(self) -> Told:
        """Wait for the next report."""
        return self._told.get(timeout=30)

    def some(self, kind: type[Pressed] | type[Released], count: int) -> list[Told]:
        """Wait for a number of reports of one type."""
        found: list[Told] = []
        while len(found) < count:
            told = self.next()
            if isinstance(told[1], kind):
                found.append(told)
        return found

    def left(self) -> list[Report]:
        """Return reports that were not requested."""
        return [self._told.get_nowait()[1] for _ in range(self._told.qsize())]


def wait_until(ns: int) -> None:
    """Wait busily, as a sleep would be late by tens of microseconds."""
    while time.monotonic_ns() < ns:
        pass


def edge_to_report(table: Table, presses: int = PRESSES) -> tuple[list[float], list[float]]:
    """Press repeatedly; return for each press its delay in ms, and the error of its time."""
    waits, errors = [], []
    for at in range(presses):
        seat = SEATS[at % 4]
        before = time.monotonic_ns()
        table.twin.touch(seat, closed=True)
        after = time.monotonic_ns()
        when, report = table.some(Pressed, 1)[0]
        assert isinstance(report, Pressed)
        waits.append((when - before) / MS)
        errors.append(max(0, before - report.at, report.at - after) / MS)
        table.twin.touch(seat, closed=False)
        table.some(Released, 1)
    return waits, errors


def pairs_in_order(table: Table, pairs: int = PRESSES) -> int:
    """Press two buttons a millisecond apart, repeatedly; return how many pairs were reported in order."""
    right = 0
    for at in range(pairs):
        first, second = SEATS[at % 4], SEATS[(at + 1 + at // 4 % 3) % 4]
        edge = time.monotonic_ns()
        table.twin.touch(first, closed=True)
        wait_until(edge + MS)
        table.twin.touch(second, closed=True)
        told = [report for _, report in table.some(Pressed, 2)]
        right += [report.seat for report in told if isinstance(report, Pressed)] == [first, second] and (
            told[0].at < told[1].at  # type: ignore[union-attr] # presses both
        )
        for seat in (first, second):
            table.twin.touch(seat, closed=False)
        table.some(Released, 2)
    return right


def push(cable: WaitableCable, piece: bytes) -> None:
    """Send all bytes, however slowly they are read."""
    while piece:
        select.select([], [cable], [], 30)
        piece = piece[os.write(cable.fileno(), piece) :]


def garbage_to_table(total: int = BYTES) -> tuple[list[Report], int]:
    """Send garbage through a pseudo-terminal; return unexpected reports, and the growth of memory in KB."""
    told = queue.Queue[Report]()
    with BoxSimulator() as twin, ButtonBox(str(twin.path), told.put) as box:
        while told.get(timeout=30) != Health("buttons", None):
            pass
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for piece in garbage(total, seed=1):
            with twin._lock:
                push(twin.cable, piece)
        twin.cable.send(b"\n")
        twin.touch("east", closed=True)
        reports: list[Report] = []
        while not isinstance(report := told.get(timeout=30), Pressed):
            reports.append(report)
        assert box._link._splitter.refused > 0
        return reports, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before


def garbage_to_box(total: int = BYTES) -> list[bytes]:
    """Send garbage to a box; return the edges that it reported, and its last answer."""
    ticks = iter(range(0, 1 << 40, 1000))
    box = SimulatedPico(lambda: next(ticks) % (1 << 30), 1)
    said = b""
    for piece in garbage(total, seed=2):
        for at in range(0, len(piece), 64):
            said += b"".join(line for line in box.turn(piece[at : at + 64]).split(b"\n") if line.startswith(b"!E"))
    assert box.lamps() == [0, 0, 0, 0]
    return [said, box.turn(b"\n" + encode_frame("Q", 5))]


def garbage_to_micropython(total: int = BYTES) -> int:
    """Send garbage to a box in real MicroPython; return the peak memory in bytes."""
    ticks = iter(range(0, 1 << 40, 1000))
    most = 0
    with tempfile.TemporaryDirectory() as folder, MicroPython(flash(Path(folder))) as micropython:
        box = micropython.start(lambda: next(ticks) % (1 << 30), 1)
        for piece in garbage(total, seed=3):
            for at in range(0, len(piece), 64):
                assert b"!E" not in box.turn(piece[at : at + 64])
            most = max(most, micropython.ask("memory"))
        assert b"!R 5" in box.turn(b"\n" + encode_frame("Q", 5))
    return most


def main() -> None:
    """Measure, and print one line each."""
    with BoxSimulator(ppm=60, seed=1) as twin:
        table = Table(twin)
        with table.box:
            waits, errors = edge_to_report(table)
            cut = quantiles(waits, n=100)
            print(
                f"box, edge to report over a pty: median {cut[49]:.1f} ms, p99 {cut[98]:.1f} ms; "
                f"time of the edge wrong by {max(errors):.2f} ms at the most ({PRESSES} presses)"
            )
            right = pairs_in_order(table)
            print(f"box, pairs of presses 1 ms apart in order: {right} of {PRESSES}; made up: {len(table.left())}")
    reports, grown = garbage_to_table()
    print(f"box, {BYTES} bytes of garbage to the table: told {reports}, memory grew by {grown} KB")
    said, answer = garbage_to_box()
    print(f"box, {BYTES} bytes of garbage to the box: edges said {said!r}, answers after it {b'!R 5' in answer}")
    most = garbage_to_micropython()
    print(f"box, the same to the box in MicroPython: no edges, answers after it; at most {most // 1024} KB in use")
    worst = live(DAYS)
    print(
        f"box, a year of {worst.queries} queries with {worst.wraps} wraps: mapping wrong by "
        f"{worst.error_ns / MS:.3f} ms at the most"
    )


if __name__ == "__main__":
    main()
