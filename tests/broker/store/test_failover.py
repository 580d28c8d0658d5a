"""Two scorers on one PostgreSQL, as processes that are killed and frozen: nothing is lost, nothing counts twice."""

import os
import queue
import secrets
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import pytest

from broker.event import save_event
from broker.mqtt.access import Credentials
from broker.mqtt.process import Broker
from broker.people import Actor, Authentication
from broker.protocol import LogMessage, Receipt, decode, topics
from broker.protocol.arbiter_session import SessionKey
from broker.protocol.link import Address, Incoming, Link, LinkChanged
from broker.protocol.signing import open_event_key
from broker.sim.processes import DemoProcess
from broker.store.records import decoded
from tests.broker.mqtt.brokers import make_broker
from tests.broker.scorer.small import NAME, deals, in_session, list_devices, plan, registry, sent, whole_log
from tests.broker.store.server import Server
from tests.broker.store.stores import Kept, in_postgresql
from tests.patience import PATIENCE_S, tries

pytestmark = pytest.mark.slow


AGAIN_S = 1.0
"""After this long without an answer, a table resends what has no receipt."""

AGENT = "Firefox"

TABLES = (1, 2, 3, 4)

OF_FACTS = {"fouled", "unverified", "gap", "fined_at_table"}
"""Alerts that follow from facts of tables."""


class Table:
    """A table's outbox: it sends facts without a receipt, and resends them after each sign of life from a scorer."""

    def __init__(self, table: int, broker: Broker, credentials: Credentials, sessions: SessionKey) -> None:
        self.outbox = {message.seq: in_session(message, sessions) for message in whole_log(table)}
        self.safe: dict[int, str] = {}
        self._news: queue.SimpleQueue[Incoming | LinkChanged] = queue.SimpleQueue()
        self._topic = topics.LOG.at(NAME, table=table)
        user, password = credentials.table(table)
        self._link = Link(
            Address(broker.host, broker.port, user, password),
            client_id=f"homologue-{NAME}-table-{table}",
            topics=(topics.RECEIPT.at(NAME, table=table),),
            on_event=self._news.put,
        )
        self._link.start()

    def say(self, count: int) -> None:
        """Publish the next facts without a receipt."""
        for message in [one for seq, one in self.outbox.items() if seq not in self.safe][:count]:
            self._link.publish(self._topic, sent(message)[1], retain=False)

    def hear(self) -> bool:
        """Wait for the next receipt. Return whether one arrived before it was time to resend everything."""
        try:
            heard = self._news.get(timeout=AGAIN_S)
        except queue.Empty:
            return False
        if isinstance(heard, Incoming):
            heard.acknowledge()
            receipt = decode(Receipt, heard.payload)
            self.safe |= {seq: receipt.store for seq in range(1, receipt.upto + 1) if seq not in receipt.gaps}
        return isinstance(heard, Incoming)

    def until_safe(self, count: int) -> None:
        """Send and receive until this many facts have a receipt."""
        deadline = time.monotonic() + PATIENCE_S
        self.say(count - len(self.safe))
        while len(self.safe) < count:
            assert time.monotonic() < deadline
            if not self.hear():
                self.say(count - len(self.safe))

    def stop(self) -> None:
        """Stop the link."""
        self._link.stop()


class Hall:
    """A broker, a database, and two machines with the event's folder."""

    def __init__(self, folder: Path, server: Server, leaving: ExitStack) -> None:
        self.kept = in_postgresql(folder / "a", server)
        save_event(self.kept.folder, plan(), deals(), registry())
        list_devices(self.kept.folder, TABLES)
        sessions = SessionKey.of_event(NAME, open_event_key(self.kept.folder))
        self.credentials = Credentials.ensure(self.kept.folder / "credentials.json", 4)
        shutil.copytree(folder / "a", folder / "b")
        self.folder, self._leaving = folder, leaving
        self.broker = leaving.enter_context(
            make_broker("embedded", folder / "broker", NAME, self.credentials, tables=4)
        )
        self.tables = [Table(table, self.broker, self.credentials, sessions) for table in TABLES]
        for table in self.tables:
            leaving.callback(table.stop)

    def start(self, name: str) -> DemoProcess:
        """Start a scorer on a machine."""
        options = ["--broker", f"127.0.0.1:{self.broker.port}", "--desk-port", "0", "--standby", "--plain"]
        child = DemoProcess(name, ["scorer", str(self.folder / name), *options], lambda *_: None)
        self._leaving.callback(child.stop)
        return child

    def until_safe(self, share: float) -> None:
        """Let all tables go on until this share of their facts has a receipt."""
        for table in self.tables:
            table.until_safe(round(len(table.outbox) * share))

    def logged_in(self, name: str) -> str:
        """Create an account for an arbiter on a machine, and log in. Return the session's token."""
        with closing(Authentication(self.folder / name)) as auth:
            account = auth.accounts.add("tao", "Tao Lin", "table_arbiter", secrets.token_urlsafe(), Actor("test"))
            return auth.admit(account, agent=AGENT, address="127.0.0.1")

    def close_out(self, name: str) -> None:
        """Disable the arbiter's account on a machine."""
        with closing(Authentication(self.folder / name)) as auth:
            auth.accounts.disable("tao", Actor("test"))

    def sees_the_grid(self, desk: str, token: str) -> bool:
        """Return whether a desk accepts a session's token."""
        return self._get(f"{desk}grid", token).status_code == 200

    def _get(self, address: str, token: str) -> httpx.Response:
        return httpx.get(address, headers={"Cookie": f"homologue={token}", "User-Agent": AGENT}, timeout=PATIENCE_S)

    def alerts(self, desk: str, token: str) -> list[object]:
        """Return a desk's alerts that follow from facts of tables."""
        view = self._get(f"{desk}view.json", token).json()
        return [(one["code"], one["table"], one["text"]) for one in view["alerts"] if one["code"] in OF_FACTS]

    def check(self) -> None:
        """Check that everything with a receipt is in one store, once, and nothing else."""
        with Kept(self.kept.folder).reader() as reader:
            found = [one for one in decoded(reader.entries()) if isinstance(one, LogMessage)]
        assert sorted(found, key=_key) == [one for table in self.tables for one in table.outbox.values()]
        assert len({store for table in self.tables for store in table.safe.values()}) == 1


def _key(message: LogMessage) -> tuple[int, int]:
    return message.table, message.seq


@pytest.fixture
def hall(tmp_path: Path, server: Server) -> Iterator[Hall]:
    with ExitStack() as leaving:
        yield Hall(tmp_path, server, leaving)


def test_the_standby_takes_over_from_a_killed_scorer_with_its_alerts(hall: Hall) -> None:
    active = hall.start("a")
    before = active.wait_for(r"^Desk: (\S+)", PATIENCE_S)
    standby = hall.start("b")
    standby.wait_for(r"^Standby: store_in_use", PATIENCE_S)
    hall.until_safe(0.5)
    assert [line for line in standby._seen if line.startswith("Desk")] == []
    token = hall.logged_in("a")
    alerts = hall.alerts(before, token)
    for table in hall.tables:
        table.say(3)
    active.kill()
    desk = standby.wait_for(r"^Desk: (\S+)", PATIENCE_S)
    assert alerts != []
    assert hall.alerts(desk, token)[-len(alerts) :] == alerts
    assert hall.sees_the_grid(desk, token)
    hall.close_out("b")
    assert not hall.sees_the_grid(desk, token)
    hall.until_safe(1)
    standby.stop()
    hall.check()


def test_a_frozen_scorer_that_wakes_up_after_a_takeover_writes_nothing_and_ends(hall: Hall, server: Server) -> None:
    active = hall.start("a")
    active.wait_for(r"^Desk: ", PATIENCE_S)
    hall.until_safe(0.5)
    standby = hall.start("b")
    standby.wait_for(r"^Standby: store_in_use", PATIENCE_S)
    os.kill(active.pid, signal.SIGSTOP)
    try:
        # Stands in for what the server does by itself after 15 seconds of silence (test_postgresql.py).
        server.ask(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted", hall.kept.database
        )
        standby.wait_for(r"^Desk: ", PATIENCE_S)
        hall.until_safe(0.75)
    finally:
        os.kill(active.pid, signal.SIGCONT)
    active.wait_for(r"store_lost|scorer_replaced", PATIENCE_S)  # whichever it notices first
    assert active.wait(PATIENCE_S) == 1
    hall.until_safe(1)
    standby.stop()
    hall.check()


def test_after_a_restart_of_the_server_exactly_one_scorer_goes_on_and_nothing_is_lost(
    hall: Hall, server: Server
) -> None:
    active = hall.start("a")
    active.wait_for(r"^Desk: ", PATIENCE_S)
    standby = hall.start("b")
    standby.wait_for(r"^Standby: store_in_use", PATIENCE_S)
    hall.until_safe(0.5)
    for table in hall.tables:
        table.say(3)
    server.stop()
    try:
        active.wait_for(r"store_lost|people_store_broken", PATIENCE_S)  # journal and people are both stored there
        assert active.wait(PATIENCE_S) == 1
        scorers = [standby, hall.start("a")]  # as systemd does
        for each in scorers:
            each.wait_for(r"^Standby: store_unreachable", PATIENCE_S)
    finally:
        server.start()
    hall.until_safe(1)
    for _ in tries():  # its output may be read after its tables' receipts
        if open_desks := [each for each in scorers if any(line.startswith("Desk") for line in each._seen)]:
            break
    (one,) = open_desks
    (other,) = [each for each in scorers if each is not one]
    other.wait_for(r"^Standby: store_in_use", PATIENCE_S)
    for each in (other, one):
        each.stop()
    hall.check()
