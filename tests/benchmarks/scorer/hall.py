"""Many tables connected and playing: from a result's publishing to the standings at a reader of the desk, and memory.

Real broker; a session a table, in a process of their own; scorer, desk and reader in this one: `... hall [TABLES RATE
SECONDS]`.
"""

import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Final

import httpx
from msgspec.structs import replace

from broker.brokers import make_broker
from broker.contract import topics
from broker.contract.link import Address, Link
from broker.contract.wire import encode
from broker.credentials import Credentials
from broker.desk.server import DeskServer
from broker.scorer.service import Scorer
from broker.store.sqlite import SqliteJournal
from tests.benchmarks.scorer.large import NAME, large_event, plays

ROUNDS: Final = 4
LONGEST_S: Final = 120.0
AT: Final = re.compile(rb'"plays":\[(.*?)\],"standings"')


def speak(folder: str, port: str, tables: str, rate: str, seconds: str) -> None:
    """Be all tables: connect, say `ready`, then publish so many results a second."""
    known, links = Credentials.load(Path(folder) / "credentials.json"), {}
    for table in range(1, int(tables) + 1):
        user, password = known.table(table)
        address = Address("127.0.0.1", int(port), user, password, keepalive_s=60)
        receipts = topics.RECEIPT.at(NAME, table=table)
        links[table] = Link(address, f"homologue-{NAME}-table-{table}", (receipts,), lambda _: None)
        links[table].start()
    while not all(link.up for link in links.values()):
        time.sleep(0.1)
    print("ready", flush=True)
    said = plays(large_event(int(tables), ROUNDS))
    begun = time.monotonic()
    for number in range(int(float(rate) * float(seconds))):
        for message in (next(said), next(said)):
            time.sleep(max(0.0, begun + number / float(rate) - time.monotonic()))
            now = replace(message, at=time.time_ns() // 1_000_000)
            links[message.table].publish(topics.LOG.at(NAME, table=message.table), encode(now), retain=False)
    time.sleep(2)


def read(url: str, took_ms: list[float], stop: threading.Event) -> None:
    """Be a reader of the desk: note how old each result is when it is there."""
    newest, body = 0, b""
    with httpx.stream("GET", f"{url}events", timeout=LONGEST_S) as answer:
        for chunk in answer.iter_bytes():
            body += chunk
            while b"\n\n" in body:
                event, body = body.split(b"\n\n", 1)
                now, found = time.time_ns() / 1e6, AT.search(event)
                times = [int(at) for at in re.findall(rb'"at":(\d+)', found[1])] if found else []
                took_ms.extend(now - at for at in times if at > newest)
                newest = max([newest, *times])
            if stop.is_set():
                return


def main(tables: int = 1_000, rate: int = 20, seconds: int = 20) -> None:
    """Print the table."""
    event, stop, took_ms = large_event(tables, ROUNDS), threading.Event(), list[float]()
    with tempfile.TemporaryDirectory() as name, closing(SqliteJournal(Path(name) / "scorer.sqlite", NAME)) as journal:
        folder = Path(name)
        known = Credentials.ensure(folder / "credentials.json", tables)
        with make_broker("embedded", folder / "broker", NAME, known, tables=tables) as broker:
            work = Scorer(event, journal, folder, lambda: time.time_ns() // 1_000_000)
            work.connect(Address(broker.host, broker.port, "scorer", known.password("scorer")))
            threading.Thread(target=work.run, args=(stop,), daemon=True).start()
            with DeskServer(work.feed, port=0) as desk:
                threading.Thread(target=read, args=(desk.url, took_ms, stop), daemon=True).start()
                words = [sys.executable, "-m", "tests.benchmarks.scorer.hall", "speak", name, str(broker.port)]
                spoken = [*words, str(tables), str(rate), str(seconds)]
                with subprocess.Popen(spoken, stdout=subprocess.PIPE) as speaker:
                    speaker.wait(timeout=LONGEST_S + seconds)
                stop.set()
    took_ms.sort()
    p50, p99 = (took_ms[int(len(took_ms) * part)] for part in (0.5, 0.99))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"| {tables} tables, {rate} results/s | {len(took_ms)} seen | p50 {p50:.0f} ms | p99 {p99:.0f} ms |", end=" ")
    print(f"scorer, desk and one reader {memory:.0f} MB |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["speak"]:
        speak(*sys.argv[2:])
    else:
        main(*map(int, sys.argv[1:]))
