"""Measure how long tables take to restore what an older copy of the store lacks: `... recovery [TABLES ROUNDS]`.

The real scorer on a real store, real journals and uplinks of all tables, and a list in place of the network; the clock
advances only when somebody waits. Half of the plays are lost.
"""

import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

from broker.event import Event
from broker.protocol import LogMessage, Receipt, decode, encode
from broker.protocol.link import Incoming, Link, LinkChanged
from broker.scorer.service import Scorer
from broker.store import STORE, SqliteJournal
from kiosk.journal import TableJournal
from kiosk.journal_file import JournalOwner
from kiosk.uplink import RESEND_NS, Uplink
from tests.benchmarks.scorer.large import NAME, Chains, key_of, large_event, list_devices, plays


class Wire(Link):
    """Passes the scorer's messages to their readers at once."""

    def __init__(self) -> None:
        self.receipts: list[bytes] = []

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:  # noqa: ARG002 - the link's
        """Collect receipts."""
        if "/receipt/" in topic:
            self.receipts.append(payload)

    def stop(self) -> None:
        """Nothing to start."""


class Sender:
    """One table's connection to the scorer's inbox."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer, self.sent = scorer, 0

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:  # noqa: ARG002 - the link's
        """Pass a message to the scorer."""
        self.sent += 1
        self._scorer._inbox.put(Incoming(topic, payload, lambda: None))


def played(event: Event) -> dict[int, list[LogMessage]]:
    """Return all facts by table, signed and chained."""
    chains, found = Chains(), defaultdict[int, list[LogMessage]](list)
    for one in plays(event):
        found[one.table].append(chains.signed(one))
    return found


def tables(folder: Path, said: dict[int, list[LogMessage]], leaving: ExitStack) -> Iterator[tuple[int, TableJournal]]:
    """Return each table's journal, in which the scorer has confirmed everything."""
    for table, facts in said.items():
        whose = JournalOwner(NAME, table)
        journal = leaving.enter_context(
            closing(TableJournal(folder / f"{table}" / "table.sqlite", whose, key_of(table)))
        )
        journal.add_facts(map(encode, facts))
        journal._store.execute("UPDATE outbox SET state = 'safe'")
        journal.store = "store-before"
        yield table, journal


def recover(folder: Path, event: Event, said: dict[int, list[LogMessage]], leaving: ExitStack) -> None:
    """Print the time that it takes."""
    store = leaving.enter_context(closing(SqliteJournal(folder / STORE, NAME)))
    with store.commit():
        for fact in (fact for facts in said.values() for fact in facts[: len(facts) // 2]):
            store.append(fact, fact.at, encode(fact))
    journals = dict(tables(folder, said, leaving))
    scorer = Scorer(event, store, folder, lambda: time.time_ns() // 1_000_000)
    scorer.publisher.link = wire = Wire()
    senders = {table: Sender(scorer) for table in journals}
    uplinks = {table: Uplink(journals[table], senders[table], NAME, table) for table in journals}
    scorer._inbox.put(LinkChanged(up=True))
    now, height, begun, in_scorer = 0, store.height, time.process_time(), 0.0
    lost = sum(map(len, said.values())) - height
    while store.height < height + lost:
        before = time.process_time()
        while scorer._inbox.qsize():
            scorer.step(timeout=0)
        in_scorer += time.process_time() - before
        settle(uplinks, wire, now)
        due = [uplink for uplink in uplinks.values() if uplink.overdue(now)]
        for uplink in due:
            uplink.resend(now)
        now += 0 if due else RESEND_NS
    sent = sum(one.sent for one in senders.values())
    print(
        f"| {len(said)} tables | {lost} facts lost | {sent} sent, {sent / lost:.2f} each | waited {now / 1e9:.0f} s |"
    )
    print(f"| processor: scorer {in_scorer:.1f} s, all {time.process_time() - begun:.1f} s |", flush=True)


def settle(uplinks: dict[int, Uplink], wire: Wire, now: int) -> None:
    """Pass the receipts to all tables."""
    receipts, wire.receipts = wire.receipts, []
    for payload in receipts:
        receipt = decode(Receipt, payload)
        uplinks[receipt.table].apply_receipt(receipt, now)


def main(count: int = 100, rounds: int = 100) -> None:
    """Measure."""
    event = large_event(count, rounds)
    with tempfile.TemporaryDirectory() as name, ExitStack() as leaving:
        folder = Path(name)
        list_devices(folder, event)
        recover(folder, event, played(event), leaving)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
