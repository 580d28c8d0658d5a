"""Measure how long a scorer with a long journal takes from its start to its pages.

`... restart [TABLES ROUNDS [BROKER [plain]]]`, with TLS unless plain.

A real folder, the real `homologue scorer` with its broker, and a reader that polls until the page and the standings are
there. Then the parts, in a separate process.
"""

import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import groupby
from pathlib import Path
from typing import Final

import httpx

from broker.event import save_event
from broker.scorer.service import Scorer
from broker.sim.processes import DemoProcess
from broker.store import STORE, SqliteJournal
from tests.benchmarks.scorer.hall import LONGEST_S, cpu_s, memory_mb, waited_s
from tests.benchmarks.scorer.large import NAME, Chains, certify, large_event, large_folder, list_devices, plays
from tests.encryption import trusting

STARTS: Final = 3
PAGES: Final = ("", "standings")


def made(folder: Path, tables: int, rounds: int, *, plain: bool) -> None:
    """Write the folder of an event in which all plays are over, as a scorer leaves it."""
    save_event(folder, *large_folder(tables, rounds))
    event = large_event(tables, rounds)
    list_devices(folder, event)
    if not plain:
        certify(folder, event.tables)
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        Scorer(event, journal, folder, lambda: 0)  # accepts the devices
        chains = Chains()
        for _, said in groupby(plays(event), key=lambda one: one.fact.round):
            with journal.commit():
                for message in sorted(said, key=lambda one: one.seq):  # all tables play at one time
                    signed = chains.signed(message)
                    journal.append(signed, signed.at)  # tables whose clocks are right


def started(folder: Path, kind: str) -> None:
    """Start a scorer, load its pages, and print when each was there, from the start of the process (s)."""
    begun = time.monotonic()
    child = DemoProcess(
        "scorer", ["scorer", str(folder), "--broker", kind, "--desk-port", "0", "--mqtt-port", "0"], _silent
    )
    try:
        url = child.wait_for(r"^Desk: (\S+)", LONGEST_S)
        trust = trusting(folder) if url.startswith("https:") else True
        there = [("desk", time.monotonic() - begun)]
        for page in PAGES:
            httpx.get(f"{url}{page}", timeout=LONGEST_S, verify=trust).raise_for_status()
            there.append((f"/{page}", time.monotonic() - begun))
        shown = " | ".join(f"{name} {at:.2f} s" for name, at in there)
        used, waited = cpu_s(child.pid), waited_s(child.pid)
        print(f"| {shown} | processor {used:.2f} s, waited for it {waited:.2f} s |", end=" ")
        print(f"at most {memory_mb(child.pid):.0f} MB | load {os.getloadavg()[0]:.1f} |", flush=True)
    finally:
        child.stop()


def _silent(_who: str, _line: str) -> None:
    """Discard the scorer's messages."""


def parts(folder: Path) -> None:
    """Print the parts of a start, in processor time (s)."""
    with _timed("Python and its libraries", since=0.0):
        import broker.cli.scorer_process  # noqa: F401, PLC0415 - its time is measured
        from broker.event import open_event  # noqa: PLC0415 - loaded where it is measured
        from broker.scorer.service import Scorer  # noqa: PLC0415
    gc.disable()
    with _timed("the event's folder"):
        event = open_event(folder)
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        with _timed("the journal, read and decoded"):
            read = sum(1 for _ in journal.messages())
        with _timed("the scorer, which reads it once more"):
            scorer = Scorer(event, journal, folder, lambda: 0)
    print(f"| {scorer.feed.current.plays_in} plays, {read} messages |")


@contextmanager
def _timed(part: str, since: float | None = None) -> Iterator[None]:
    begun = time.process_time() if since is None else since
    yield
    print(f"| {part} | {time.process_time() - begun:.2f} s |", flush=True)


def main(tables: int = 1_000, rounds: int = 160, kind: str = "embedded", how: str = "TLS") -> None:
    """Print the times of several starts, and the parts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "event"
        _compile(Path(name) / "compiled")
        # In a separate process, as a process that starts others should be small.
        _again("made", str(folder), str(tables), str(rounds), how)
        sizes = [f"{file} {(folder / file).stat().st_size / 1e6:.0f} MB" for file in ("movement.csv", STORE)]
        print(f"| {tables * rounds} plays | {', '.join(sizes)} | {kind}, {how} |", flush=True)
        for _ in range(STARTS):
            started(folder, kind)
        _again("parts", str(folder))


def _compile(folder: Path) -> None:
    """Write compiled modules from now on, as an installed package has them."""
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run([sys.executable, "-c", "import broker.cli.main, broker.cli.scorer_process"], check=True)


def _again(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "tests.benchmarks.scorer.restart", *words], check=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["made", folder, tables, rounds, how]:
            made(Path(folder), int(tables), int(rounds), plain=how == "plain")
        case ["parts", folder]:
            parts(Path(folder))
        case [tables, rounds, *kind]:
            main(int(tables), int(rounds), *kind)
        case _:
            main()
