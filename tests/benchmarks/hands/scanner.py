"""Measure a scanner's line: `python -m tests.benchmarks.hands.scanner [BYTES]`.

Over a pseudo-terminal, and so through pyserial: BYTES (a million) of noise from each alphabet, then one real scan; the
delay of a scan; the time to notice unplugging and plugging in. On a simulated clock: bursts of noise, each with silence
around it like a scan.
"""

import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from queue import Queue
from random import Random
from typing import Final, get_args

from firmware.presses import MS
from firmware.reports import Health, NotScanned, Report, Scanned
from firmware.scan_reader import CodeSettings, PlainNumbers, ReaderSettings, ScanReader
from firmware.scanners import Scanner, open_scanner
from firmware.sim.scanner import SimulatedScanner
from tests.firmware.scanner_noise import ALPHABETS, noise

ADDRESS: Final = "sim://scanner?double_ms=0"
SCANS: Final = 1000
PULLS: Final = 20
PIECE: Final = 1024
BURST: Final = 20
DEADLINE_S: Final = 60
LAST: Final = "HM1-99-136"


class Bench:
    """A scanner, its simulated counterpart, and the reports."""

    def __init__(self) -> None:
        self.told = Queue[Report]()
        self.opened: Scanner = open_scanner(ADDRESS, self.told.put)
        self.until(lambda report: report == Health("scanner", None))

    @property
    def hand(self) -> SimulatedScanner:
        """The seat that scans."""
        if self.opened.simulated is None:
            raise AssertionError(ADDRESS)
        return self.opened.simulated

    def until(self, last: Callable[[Report], bool]) -> list[Report]:
        """Return the reports up to this one."""
        told = [self.told.get(timeout=DEADLINE_S)]
        while not last(told[-1]):
            told.append(self.told.get(timeout=DEADLINE_S))
        return told


def flood(alphabet: str, length: int) -> str:
    """Send noise and then a real scan."""
    bench, content = Bench(), noise(ALPHABETS[alphabet], length, Random(11))
    with bench.opened:
        tracemalloc.start()
        before = time.perf_counter()
        for start in range(0, length, PIECE):
            bench.hand.send(content[start : start + PIECE])
        bench.hand.send(b"\r")
        bench.hand.scan(LAST)
        told = bench.until(
            lambda report: isinstance(report, Scanned) and report.set_text == "99" and report.serial == 136
        )
        seconds = time.perf_counter() - before
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    scanned = [report for report in told[:-1] if isinstance(report, Scanned)]
    refused = Counter(report.code for report in told if isinstance(report, NotScanned))
    return (
        f"{alphabet:6} {length:>9} bytes {seconds:6.1f} s  scans {len(scanned)}  of those without a label's structure "
        f"{sum(report.set_text is None for report in scanned)}  refusals {dict(refused)}  peak {peak / 1024:.0f} KiB"
    )


def bursts(plain: PlainNumbers, length: int) -> str:
    """Send noise in separate bursts."""
    reader, chance, told = ScanReader(ReaderSettings(CodeSettings(plain=plain))), Random(12), list[Report]()
    for at in range(length // BURST):
        told += reader.take(noise(ALPHABETS["bytes"], BURST, chance), (at + 1) * 700 * MS)
    scanned = sum(isinstance(report, Scanned) for report in told)
    return f"plain={plain:5} {length // BURST} bursts of {BURST} bytes: scans {scanned}"


def latencies() -> list[float]:
    """Return the ms from the first byte to the report."""
    bench, taken = Bench(), list[float]()
    with bench.opened:
        for at in range(SCANS):
            before = time.perf_counter()
            bench.hand.scan(f"HM1-08-{at % 136 + 1:03d}")
            bench.until(lambda report: isinstance(report, Scanned))
            taken.append((time.perf_counter() - before) * 1000)
    return sorted(taken)


def plugging() -> tuple[list[float], list[float]]:
    """Return the seconds until unplugging is reported, and until plugging in is."""
    bench, pulled, back = Bench(), list[float](), list[float]()
    with bench.opened:
        for _ in range(PULLS):
            for act, taken, code in (
                (bench.hand.plug.pull, pulled, "device_unplugged"),
                (bench.hand.plug.put_in, back, None),
            ):
                before = time.perf_counter()
                act()
                bench.until(lambda report, code=code: isinstance(report, Health) and report.code == code)  # type: ignore[misc]  # the checker cannot infer a lambda's default
                taken.append(time.perf_counter() - before)
    return sorted(pulled), sorted(back)


def main(length: int = 1_000_000) -> None:
    """Measure and print."""
    for alphabet in ALPHABETS:
        print(flood(alphabet, length), flush=True)
    for plain in get_args(PlainNumbers):
        print(bursts(plain, length), flush=True)
    taken = latencies()
    p50, p99 = taken[SCANS // 2], taken[SCANS * 99 // 100]
    print(f"scan to report, {SCANS}: p50 {p50:.2f} ms, p99 {p99:.2f} ms, worst {taken[-1]:.2f} ms")
    pulled, back = plugging()
    print(f"plug, {PULLS} times: pulled told within {pulled[-1]:.3f} s, back within {back[-1]:.3f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
