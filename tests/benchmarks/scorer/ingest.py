"""Messages a second, stored and receipted by the scorer, beside the same messages given to who does nothing with them.

One broker, one machine, the same publishing processes, with TLS: `... ingest [MESSAGES [plain]]`.
"""

import queue
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from broker.cli.encryption import Logins
from broker.mqtt.access import Credentials
from broker.mqtt.brokers import Kind, make_broker
from broker.protocol import encode, topics
from broker.protocol.link import Address, Incoming, Link, LinkChanged
from broker.scorer.service import Scorer
from broker.store.sqlite import SqliteJournal
from tests.benchmarks.scorer.large import NAME, Chains, calls, certify, large_event, list_devices, table_address

TABLES: Final = 4
ROUNDS: Final = 40
"""As many tables too, of which four speak: each plays each deal once. Room for 16,000 messages."""

LONGEST_S: Final = 60.0


def speak(folder: str, port: str, table: str, count: str) -> None:
    """Be one table (a process of its own): publish, and end when the broker has acknowledged everything."""
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


def measured(kind: Kind, count: int, take: Callable[[Address, Path, int], float], *, plain: bool) -> float:
    """Return messages a second: `take` says when the first and the last had come."""
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
            try:
                seconds = take(address, folder, share * TABLES)
            finally:
                for table in tables:
                    table.terminate()
                    table.wait()
    return share * TABLES / seconds


def bare(address: Address, _folder: Path, count: int) -> float:
    """Acknowledge and do nothing."""
    heard: queue.SimpleQueue[Incoming | LinkChanged] = queue.SimpleQueue()
    link = Link(address, f"homologue-{NAME}-scorer", (topics.LOG.at(NAME),), heard.put)
    link.start()
    first, come = 0.0, 0
    while come < count:
        one = heard.get(timeout=LONGEST_S)
        if isinstance(one, Incoming):
            first = first or time.monotonic()
            one.acknowledge()
            come += 1
    link.stop()
    return time.monotonic() - first


def scorer(address: Address, folder: Path, count: int) -> float:
    """Judge, commit, acknowledge, give receipts."""
    list_devices(folder, event := large_event(ROUNDS, ROUNDS))
    with closing(SqliteJournal(folder / "scorer.sqlite", NAME)) as journal:
        work = Scorer(event, journal, folder, lambda: time.time_ns() // 1_000_000)
        work.connect(address)
        known = journal.height
        first, deadline = 0.0, time.monotonic() + LONGEST_S
        while journal.height < known + count:
            assert time.monotonic() < deadline
            before = time.monotonic()
            work.step(timeout=0.2)
            if not first and journal.height > known:
                first = before
        done = time.monotonic()
        work.publisher.close()
    return done - first


def main(count: str = "8000", how: str = "") -> None:
    """Print the table: the ratio is what is promised."""
    print("| broker | bare, messages/s | stored and receipted, messages/s | ratio |")
    print("|---|---|---|---|")
    for kind in ("embedded", "mosquitto"):
        idle, stored = (measured(kind, int(count), take, plain=how == "plain") for take in (bare, scorer))
        print(f"| {kind} | {idle:.0f} | {stored:.0f} | {stored / idle:.2f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["speak"]:
        speak(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
