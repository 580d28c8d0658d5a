"""Many tables playing: the delay from a published result to the standings on the desk's page, and memory.

Real broker, the real `homologue scorer`, all tables in another process, a reader of the page's stream in this one, and
a browser with the page, all with TLS: `... hall [TABLES RATE SECONDS [BROKER [plain]]]`.
"""

import os
import queue
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Final, cast

from broker.event import save_event
from broker.mqtt.access import Credentials
from broker.mqtt.process import Broker
from broker.mqtt.programs import Kind
from broker.protocol import LogMessage, Result
from broker.sim.processes import DemoProcess
from broker.store import SqliteReader, message_of
from tests.benchmarks.scorer import watching
from tests.benchmarks.scorer.large import NAME, certify, large_event, large_folder, list_devices
from tests.broker.mqtt.brokers import make_broker
from tests.encryption import trusting

ROUNDS: Final = 4
HALL: Final = (1_000, 20, 20)
"""Tables, results a second, seconds."""
LONGEST_S: Final = 3600.0
TICKS: Final = os.sysconf("SC_CLK_TCK")


@contextmanager
def scorer(folder: Path, broker: Broker, *, plain: bool) -> Iterator[tuple[DemoProcess, str]]:
    """Run an event's scorer; yield it and the desk's address."""
    heard: queue.SimpleQueue[str] = queue.SimpleQueue()
    words = ["scorer", str(folder), "--broker", f"127.0.0.1:{broker.port}", "--desk-port", "0"]
    child = DemoProcess("scorer", [*words, *(["--plain"] if plain else [])], lambda _, line: heard.put(line))
    try:
        yield child, child.wait_for(r"^Desk: (\S+)", LONGEST_S)
    finally:
        child.stop()


def cpu_s(pid: int | None) -> float:
    """Return a process's processor time."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def children(pid: int) -> list[int]:
    """Return the brokers that a process has started."""
    started = (
        int(one) for task in Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text().split()
    )
    return [child for child in started if not Path(f"/proc/{child}/comm").read_text().startswith("python")]


def waited_s(pid: int | None) -> float:
    """Return how long a process was ready to run without a processor, because of other programs."""
    found = 0.0
    for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        found += int(thread.read_text().split()[1]) / 1e9
    return found


def memory_mb(pid: int) -> float:
    """Return a process's peak memory."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM:"))


def published(store: Path) -> tuple[watching.Seen, watching.Seen]:
    """Return when each result was published, by its table's clock, and when the scorer processed it."""
    said: watching.Seen = {}
    taken: watching.Seen = {}
    with closing(SqliteReader(store, NAME)) as reader:
        for received_at, body in reader.entries():
            one = message_of(body)
            if isinstance(one, LogMessage) and isinstance(one.fact, Result):
                key = one.table, one.fact.round
                said[key], taken[key] = float(one.at), float(received_at)
    return said, taken


def told(who: str, said: watching.Seen, seen: watching.Seen, since: float = 0.0) -> None:
    """Print one line: the delay (ms) of each result from its publication, only of those since the observer started."""
    said = {key: at for key, at in said.items() if at >= since}
    late = sorted(seen[key] - at for key, at in said.items() if key in seen)
    if not late:
        print(f"| {who} | nothing seen of {len(said)} |", flush=True)
        return
    p50, p99 = (late[int(len(late) * part)] for part in (0.5, 0.99))
    print(f"| {who} | {len(late)} of {len(said)} seen | p50 {p50:.0f} ms | p99 {p99:.0f} ms | last {late[-1]:.0f} ms |")


def main(tables: int, rate: int, seconds: int, kind: Kind = "embedded", how: str = "TLS") -> None:
    """Print the measurements."""
    print(f"| {tables} tables, {rate} results/s for {seconds} s, {kind}, {how} |", flush=True)
    plain = how == "plain"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_event(folder, *large_folder(tables, ROUNDS))
        list_devices(folder, large_event(tables, ROUNDS))
        known = Credentials.ensure(folder / "credentials.json", tables)
        certificates = None if plain else certify(folder, range(1, tables + 1))
        with (
            make_broker(kind, folder / "broker", NAME, known, tables=tables, certificates=certificates) as broker,
            scorer(folder, broker, plain=plain) as (child, url),
        ):
            words = [sys.executable, "-m", "tests.benchmarks.scorer.crowd", name, str(broker.port)]
            with Popen([*words, str(rate), str(seconds)], stdout=PIPE, text=True) as crowd:
                play(crowd, broker, child, url, folder)


def play(crowd: Popen[str], broker: Broker, child: DemoProcess, url: str, folder: Path) -> None:
    """Watch a hall from its connecting to its last result."""
    lines = iter(crowd.stdout or ())
    print(f"| all tables {next(lines).strip()} s |", flush=True)
    next(lines)
    begun, before = time.monotonic(), (cpu_s(child.pid), cpu_s(broker.pid))
    waited, trust = waited_s(child.pid), trusting(folder) if url.startswith("https:") else None
    with watching.Reader(url, trust) as reader, watching.browser(url) as page:
        painted, there = watching.first_paint_ms(page), time.time_ns() / 1e6
        next(lines)
        took = time.monotonic() - begun
        in_browser = watching.seen_in(page)
        again = page.goto(url) and watching.first_paint_ms(page)
    said, taken = published(folder / "scorer.sqlite")
    told("the scorer, through the broker", said, taken)
    told("a reader of the page's stream", said, reader.seen, there)
    told("Chromium's page", said, in_browser, there)
    print(f"| first paint | {painted:.0f} ms | once more, when all is played {again:.0f} ms |")
    shares = [
        f"{name} {100 * (cpu_s(pid) - had) / took:.0f} %"
        for name, pid, had in zip(("scorer", "broker"), (child.pid, broker.pid), before, strict=True)
    ]
    waited, load = 100 * (waited_s(child.pid) - waited) / took, os.getloadavg()[0]
    print(f"| {', '.join(shares)} of a core | scorer at most {memory_mb(child.pid):.0f} MB |")
    print(f"| the scorer waited {waited:.0f} % of the time for a processor | load {load:.1f} |")


if __name__ == "__main__":
    asked = [int(word) for word in sys.argv[1:4]]
    main(*(asked or HALL), *(cast("Kind", kind) for kind in sys.argv[4:5]), *sys.argv[5:])
