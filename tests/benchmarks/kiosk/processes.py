"""A kiosk in its own process: how soon it shows a picture, and what it uses while idle."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kiosk.journal import TableJournal
from kiosk.table import Phase
from tests.benchmarks.hands.pins import percentile
from tests.kiosk.at_the_box import played
from tests.kiosk.cuts.killing import Found, Killing
from tests.kiosk.journals import OURS
from tests.kiosk.standing import CONFIG

STARTS: Final = 7
SETTLING_S: Final = 4
WATCHED_S: Final = 15
PATIENCE_S: Final = 60

TICK: Final = os.sysconf("SC_CLK_TCK")


@contextmanager
def kiosk(phase: Phase) -> Iterator[subprocess.Popen[str]]:
    """Run `homologue kiosk` at a table in a phase; it prints the time of its first picture."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "password").write_text("secret", encoding="utf-8")
        (folder / "password").chmod(0o600)
        (folder / "table.toml").write_text(CONFIG + '[screen]\ndriver = "dummy"\n', encoding="utf-8")
        journal = TableJournal(folder / "table.sqlite", OURS)
        played(journal, phase)
        journal.close()
        command = [sys.executable, "-m", "tests.benchmarks.kiosk.watched", "kiosk", str(folder / "table.toml")]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            yield running
        finally:
            running.terminate()
            running.wait(PATIENCE_S)


def _first_picture(running: subprocess.Popen[str]) -> tuple[int, float]:
    """Return the time of the first picture (ns), and the processor time until then (s)."""
    assert running.stdout is not None
    for line in running.stdout:
        if line.startswith("first picture"):
            _, _, at, cpu = line.split()
            return int(at), float(cpu)
    raise RuntimeError("the kiosk has ended")


def start() -> None:
    """Measure from the start of the process to the first picture (limit: 1.5 s)."""
    took, busy = list[float](), list[float]()
    for _ in range(STARTS):
        began = time.monotonic_ns()
        with kiosk(Phase.PLAYING) as running:
            at, cpu = _first_picture(running)
        took.append((at - began) / 1e9)
        busy.append(cpu)
    print(f"  first picture after {percentile(took, 0.5):.2f} s at the median, {max(took):.2f} s at most")
    print(f"  of the processor    {percentile(busy, 0.5):.2f} s at the median, {max(busy):.2f} s at most")


def killed() -> None:
    """Kill a table's program throughout a day, and measure until it is back (limit: 5 s from nothing)."""
    found = Found()
    with tempfile.TemporaryDirectory() as folder:
        kills = Killing("drawn", seed=1, folder=Path(folder), found=found, cold=0.5, every=7)
        for _ in kills.kills():
            pass
    print(f"  {found.total} kills, {len(found.differences)} differences")
    print(f"  back after          {found.slowest_ms:.0f} ms at most, in a process that has its modules")
    print(f"  first picture after {found.slowest_cold_ms:.0f} ms at most, from nothing ({found.colds} starts)")


def idle() -> None:
    """Measure the load of a waiting table (limit: 3 % of a core), and its peak memory (limit: 250 MB)."""
    for phase in (Phase.PLAYING, Phase.RESTORING):
        with kiosk(phase) as running:
            _first_picture(running)
            time.sleep(SETTLING_S)
            before = _busy_s(running.pid)
            time.sleep(WATCHED_S)
            share = (_busy_s(running.pid) - before) / WATCHED_S
            memory = _peak_mb(running.pid)
        seen = "no camera is asked" if phase is Phase.PLAYING else "the camera looks at an empty table"
        print(f"  {phase.value:<10} {share:6.1%} of a core, {memory:.0f} MB at most ({seen})")


def _busy_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def _peak_mb(pid: int) -> float:
    (line,) = [one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith("VmHWM")]
    return int(line.split()[1]) / 1024
