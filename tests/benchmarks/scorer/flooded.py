"""Measure whether a flood of the desk delays scoring: from a fact to its receipt, with and without a flood, in turns.

Real broker, the real `homologue scorer`, one table that sends facts, and a laptop without an account, which holds as
many connections as one address may, requests pages without a pause, and tries to open more. The same flood of another
scorer's desk shows how much is due to the shared processors: `... flooded [SECONDS [BROKER]]`.
"""

import asyncio
import contextlib
import queue
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Final, cast

import msgspec

from broker.event import save_event
from broker.mqtt.access import Credentials
from broker.mqtt.process import Broker
from broker.mqtt.programs import Kind
from broker.protocol import encode, topics
from broker.protocol.link import Address, Incoming, Link, LinkChanged
from broker.sim.processes import DemoProcess
from broker.web.server import ConnectionLimits
from tests.benchmarks.scorer.hall import cpu_s, scorer
from tests.benchmarks.scorer.large import NAME, Chains, calls, large_event, large_folder, list_devices
from tests.broker.mqtt.brokers import make_broker

TABLES: Final = 40
TURNS: Final = 3
GAP_S: Final = 0.02
"""Seconds between two facts: fifty a second, as in a hall of a thousand tables at its busiest."""

LONGEST_S: Final = 60.0
PATHS: Final = ("/login", "/health", "/receipt", "/receipt/ABCDEFG", "/static/desk.js", "/view.json")
"""Pages that a visitor without an account may request, and some that it may not."""


class Table:
    """A table that sends one fact after another."""

    def __init__(self, broker: Broker, known: Credentials) -> None:
        self._heard: queue.SimpleQueue[Incoming | LinkChanged] = queue.SimpleQueue()
        chains = Chains()
        self._said = (chains.signed(one) for one in calls(large_event(TABLES, TABLES), 1, TABLES * 100))
        address = Address(broker.host, broker.port, *known.table(1))
        self._link = Link(address, f"homologue-{NAME}-table-1", (topics.RECEIPT.at(NAME, table=1),), self._heard.put)
        self._link.start()
        while not self._link.up:
            self._heard.get(timeout=LONGEST_S)

    def receipts_ms(self, seconds: float) -> list[float]:
        """Send facts for some seconds; return how long each waited for its receipt."""
        took, until = [], time.monotonic() + seconds
        while (now := time.monotonic()) < until:
            message = next(self._said)
            self._link.publish(topics.LOG.at(NAME, table=1), encode(message), retain=False)
            self._wait(message.seq)
            took.append(1e3 * (time.monotonic() - now))
            time.sleep(max(0.0, now + GAP_S - time.monotonic()))  # the pace of the load, as measured
        return took

    def _wait(self, seq: int) -> None:
        while True:
            one = self._heard.get(timeout=LONGEST_S)
            if isinstance(one, Incoming):
                one.acknowledge()
                if msgspec.json.decode(one.payload)["upto"] >= seq:
                    return

    def leave(self) -> None:
        """Disconnect."""
        self._link.stop()


async def flood(port: int) -> None:
    """Run the laptop until the process is ended; print the number of answers each second."""
    asked = 0

    async def asks(path: str) -> None:
        nonlocal asked
        request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n".encode()
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                while True:
                    writer.write(request)
                    head = (await reader.readuntil(b"\r\n\r\n")).lower()
                    length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
                    await reader.readexactly(int(length or b"0"))
                    asked += 1
            await asyncio.sleep(0.001)  # a refused laptop retries at once, but lets other processes run

    async def tells() -> None:
        while True:
            before = asked
            await asyncio.sleep(1)  # the second whose answers are counted
            print(asked - before, flush=True)

    more = ConnectionLimits().of_address + 20
    await asyncio.gather(tells(), *(asks(PATHS[number % len(PATHS)]) for number in range(more)))


@contextmanager
def flooding(port: int) -> Iterator[None]:
    """Flood a desk during the block."""
    words = [sys.executable, "-m", "tests.benchmarks.scorer.flooded", "flood", str(port)]
    with Popen(words, stdout=PIPE, text=True) as laptop:
        assert laptop.stdout
        laptop.stdout.readline()
        try:
            yield
        finally:
            laptop.terminate()
            answers = [int(line) for line in laptop.stdout]
            print(f"  answered a second: {answers}", file=sys.stderr)


@contextmanager
def hall(kind: Kind) -> Iterator[tuple[Broker, Credentials, DemoProcess, int]]:
    """Run an event; yield its broker, passwords, scorer, and its desk's port."""
    with ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
        save_event(folder, *large_folder(TABLES, TABLES))
        list_devices(folder, large_event(TABLES, TABLES))
        known = Credentials.ensure(folder / "credentials.json", TABLES)
        broker = running.enter_context(make_broker(kind, folder / "broker", NAME, known, tables=TABLES))
        child, url = running.enter_context(scorer(folder, broker, plain=True))
        yield broker, known, child, int(url.rstrip("/").rpartition(":")[2])


def main(seconds: float = 6.0, kind: Kind = "embedded") -> None:
    """Print the measurements."""
    with hall(kind) as (broker, known, child, own), hall(kind) as (_, _, _, other):
        table = Table(broker, known)
        table.receipts_ms(1)
        took: dict[str, list[float]] = {"not flooded": [], "another desk flooded": [], "its own desk flooded": []}
        used = dict.fromkeys(took, 0.0)
        for _ in range(TURNS):
            for name, port in zip(took, (0, other, own), strict=True):
                with flooding(port) if port else contextlib.nullcontext():
                    before = cpu_s(child.pid)
                    took[name] += table.receipts_ms(seconds)
                    used[name] += cpu_s(child.pid) - before
        table.leave()
    quiet = 0.0
    print(f"| {kind}: fact to receipt | facts | p50 ms | p99 ms | p99, of not flooded | scorer, of a core |")
    print("|---|---|---|---|---|---|")
    for name, each in took.items():
        p50, p99 = (sorted(each)[int(len(each) * part)] for part in (0.5, 0.99))
        quiet = quiet or p99
        share = 100 * used[name] / (TURNS * seconds)
        print(f"| {name} | {len(each)} | {p50:.1f} | {p99:.1f} | {p99 / quiet:.1f} | {share:.0f} % |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["flood"]:
        asyncio.run(flood(int(sys.argv[2])))
    else:
        main(float((sys.argv[1:] or ["6"])[0]), *(cast("Kind", kind) for kind in sys.argv[2:]))
