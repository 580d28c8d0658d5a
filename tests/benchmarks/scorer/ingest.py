"""Messages a second that the scorer stores and receipts, compared with a reader that only acknowledges them.

One broker, one machine, the same publishing processes, with TLS: `... ingest [MESSAGES [plain]]`. The second ratio is
of the processor time that broker and reader use between the first message and the last, whatever else runs.
"""

import queue
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from broker.cli.encryption import Logins
from broker.mqtt.access import Credentials
from broker.mqtt.programs import Kind
from broker.protocol import encode, topics
from broker.protocol.link import Address, Incoming, Link, LinkChanged
from broker.scorer.service import Scorer
from broker.store import SqliteJournal
from tests.benchmarks.scorer.hall import cpu_s
from tests.benchmarks.scorer.large import NAME, Chains, calls, certify, large_event, list_devices, table_address
from tests.broker.mqtt.brokers import make_broker

TABLES: Final = 4
ROUNDS: Final = 40
"""An event with as many tables, of which four send messages: each plays each deal once. Room for 16,000 messages."""

LONGEST_S: Final = 600.0


class Taken(NamedTuple):
    """Time and processor time until all messages have arrived, in s."""

    wall: float
    processor: float


class Stopwatch:
    """Measures from `start` on."""

    def __init__(self, broker: int | None) -> None:
        self._broker = broker
        self.start()

    def start(self) -> None:
        """Begin, or start over."""
        self._began = self._now()

    def taken(self) -> Taken:
        """Return the measures since the start."""
        now = self._now()
        return Taken(now.wall - self._began.wall, now.processor - self._began.processor)

    def _now(self) -> Taken:
        return Taken(time.monotonic(), time.process_time() + cpu_s(self._broker))


def speak(folder: str, port: str, table: str, count: str) -> None:
    """Be one table (in its own process): publish, and exit when the broker has acknowledged everything."""
    up: queue.SimpleQueue[Incoming | LinkChanged] = queue.SimpleQueue()
    address = table_address(Path(folder), int(port), int(table))
    receipts = topics.RECEIPT.at(NAME, table=int(table))
    link = Link(address, f"homologue-{NAME}-table-{table}", (receipts,), up.put)
    chains = Chains()
    said = [encode(chains.signed(one)) for one in calls(large_event(ROUNDS, ROUNDS), int(table), int(count))]
    link.start()
    while not link.up:
        up.get(timeout=LONGEST_S)
    for payload in said:
        link.publish(topics.LOG.at(NAME, table=int(table)), payload, retain=False)
    link.flush(LONGEST_S)
    link.stop()


def measured(kind: Kind, count: int, take: Callable[[Address, Path, int, Stopwatch], None], *, plain: bool) -> Taken:
    """Return the time per message: `take` starts the watch at the first message, and returns after the last."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        known = Credentials.ensure(folder / "credentials.json", TABLES)
        certificates = None if plain else certify(folder, range(1, TABLES + 1))
        logins = Logins(folder / "credentials.json", certificates)
        with make_broker(kind, folder / "broker", NAME, known, tables=TABLES, certificates=certificates) as broker:
            address = logins.scorer(broker.host, broker.port)
            words = [sys.executable, "-m", "tests.benchmarks.scorer.ingest", "speak", name, str(broker.port)]
            share = count // TABLES
            tables = [subprocess.Popen([*words, str(t), str(share)]) for t in range(1, TABLES + 1)]
            watch = Stopwatch(broker.pid)
            try:
                take(address, folder, share * TABLES, watch)
                wall, processor = watch.taken()
            finally:
                for table in tables:
                    table.terminate()
                    table.wait()
    return Taken(wall / (share * TABLES), processor / (share * TABLES))


def bare(address: Address, _folder: Path, count: int, watch: Stopwatch) -> None:
    """Only acknowledge."""
    heard: queue.SimpleQueue[Incoming | LinkChanged] = queue.SimpleQueue()
    link = Link(address, f"homologue-{NAME}-scorer", (topics.LOG.at(NAME),), heard.put)
    link.start()
    come = 0
    while come < count:
        one = heard.get(timeout=LONGEST_S)
        if isinstance(one, Incoming):
            if not come:
                watch.start()
            one.acknowledge()
            come += 1
    link.stop()


def scorer(address: Address, folder: Path, count: int, watch: Stopwatch) -> None:
    """Judge, commit, acknowledge, send receipts."""
    list_devices(folder, event := large_event(ROUNDS, ROUNDS))
    with closing(SqliteJournal(folder / "scorer.sqlite", NAME)) as journal:
        work = Scorer(event, journal, folder, lambda: time.time_ns() // 1_000_000)
        work.connect(address)
        known = journal.height
        deadline = time.monotonic() + LONGEST_S
        while journal.height < known + count:
            assert time.monotonic() < deadline
            if journal.height == known:
                watch.start()
            work.step(timeout=0.2)
        work.publisher.close()


def main(count: str = "8000", how: str = "") -> None:
    """Print the table; the ratio is the figure that is promised."""
    print("| broker | bare, messages/s | stored and receipted, messages/s | ratio | ratio of processor time |")
    print("|---|---|---|---|---|")
    for kind in ("embedded", "mosquitto"):
        idle, stored = (measured(kind, int(count), take, plain=how == "plain") for take in (bare, scorer))
        ratios = f"{idle.wall / stored.wall:.2f} | {idle.processor / stored.processor:.2f}"
        print(f"| {kind} | {1 / idle.wall:.0f} | {1 / stored.wall:.0f} | {ratios} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["speak"]:
        speak(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
