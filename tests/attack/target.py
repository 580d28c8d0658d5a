"""What is attacked: `homologue scorer` with its broker and desk, an honest table, and accounts of every role."""

import hashlib
import itertools
import queue
import socket
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self, cast

import httpx
import msgspec

from broker.key_files import open_key
from broker.mqtt.access import Credentials
from broker.mqtt.brokers import Broker, Kind
from broker.people import PEOPLE_FILE, ROLES, Actor, Authentication
from broker.protocol import Call, LogMessage, TableState, encode, topics
from broker.protocol.link import Address, Incoming, Link, LinkChanged, session_id
from broker.protocol.signing import fact_hash
from broker.sim.demo_audit import facts
from broker.sim.demo_event import NAME
from broker.sim.processes import COMMAND, DemoProcess
from tests.broker.mqtt.client import Client
from tests.demo_event import MakeEvent

HERE: Final = "127.0.0.1"
HONEST: Final = 2
"""The table that plays while everything is attacked. Attackers have the password of table 1, and of the offices."""

STOLEN: Final = 1
TABLES: Final = (STOLEN, HONEST)
USERS: Final = (f"table-{STOLEN}", "arbiter", "desk", "display", "scorer")
"""Whose passwords attackers have."""

PASSWORD: Final = "four winds and a dragon"
LOST: Final = "lost"
"""The account of a head arbiter that is disabled while its session is open."""

PATIENCE_S: Final = 60.0
CALLS_A_PLAY: Final = 150
"""A table may tell two hundred (docs/codes.md, `too_many_facts`)."""

ROUNDS: Final = 4

PULSE_S: Final = 30.0
"""After so long without a receipt scoring has fallen. The machine may be busy, so that is no measure of speed."""


@dataclass(frozen=True)
class Where:
    """Where the broker is; as much of a broker as a client asks for."""

    host: str
    port: int


class Honest:
    """A table's own device, with its key: it tells one fact after the other and waits for each receipt."""

    def __init__(self, address: Address, folder: Path) -> None:
        self._key = open_key(folder / f"table-{HONEST}" / "device.key")
        self._before: str | None = None
        self._told = itertools.count(1)
        self._news: queue.SimpleQueue[Incoming | LinkChanged] = queue.SimpleQueue()
        self.cut_off = 0
        """How often its connection was lost."""
        heard = (topics.RECEIPT.at(NAME, table=HONEST), topics.ASSIGNMENT.at(NAME, table=HONEST))
        self.sent: list[bytes] = []
        name = f"homologue-{NAME}-table-{HONEST}"
        self._link = Link(address, session_id(name, folder / f"table-{HONEST}"), heard, self._news.put)
        self._link.start()
        while not self._link.up:
            self._news.get(timeout=PATIENCE_S)
        self._plan = self._assignment()
        self._link.publish(topics.STATE.at(NAME, table=HONEST), encode(self._state()), retain=True)

    def pulse(self) -> str:
        """Tell a fact; return what is wrong where its receipt does not come, or somebody cut the connection."""
        seq = next(self._told)
        play = self._plan["plays"][(seq - 1) // CALLS_A_PLAY]
        said = LogMessage(
            id=uuid.uuid4().hex,
            event=NAME,
            table=HONEST,
            seq=seq,
            at=0,
            fact=Call(round=play["round"], deal=play["deal"], open=seq % 2 == 1),
            device=self._key.device,
            before=self._before,
        )
        body = encode(self._key.sign(said))
        self._before = fact_hash(body)
        self.sent.append(body)
        cut_off, until = self.cut_off, time.monotonic() + PULSE_S
        self._link.publish(topics.LOG.at(NAME, table=HONEST), body, retain=False)
        while time.monotonic() < until:
            receipt = self._next(until)
            if receipt and receipt["upto"] >= seq and receipt["head"] == self._before:
                return "the table was cut off" if self.cut_off > cut_off else ""
            if not receipt and self._link.up and self.cut_off > cut_off:
                self._link.publish(topics.LOG.at(NAME, table=HONEST), body, retain=False)
        return f"no receipt in {PULSE_S:.0f} s"

    def _next(self, until: float) -> dict[str, Any] | None:
        try:
            one = self._news.get(timeout=max(0.01, until - time.monotonic()))
        except queue.Empty:
            return None
        if isinstance(one, LinkChanged):
            self.cut_off += not one.up
            return None
        one.acknowledge()
        if one.payload.startswith(b"{") and "/receipt/" in one.topic:  # attackers say other things there
            return cast("dict[str, Any]", msgspec.json.decode(one.payload))
        return None

    def _assignment(self) -> dict[str, Any]:
        """Wait for the plan that is retained for this table."""
        while True:
            one = self._news.get(timeout=PATIENCE_S)
            if isinstance(one, Incoming):
                one.acknowledge()
                if "/assignment/" in one.topic:
                    return cast("dict[str, Any]", msgspec.json.decode(one.payload))

    def _state(self) -> TableState:
        return TableState(
            id=uuid.uuid4().hex,
            event=NAME,
            table=HONEST,
            seq=0,
            device=self._key.device,
            key=self._key.public,
            start=1,
            count=1,
            lifecycle="ready",
            state="waiting",
            round=None,
            deal=None,
            unsent=0,
            calling=False,
            health={},
        )

    def stop(self) -> None:
        """Leave."""
        self._link.stop()


class Target:
    """The running programs. A context manager."""

    def __init__(self, folder: Path, make: MakeEvent, kind: Kind, *, program: Sequence[str] = (str(COMMAND),)) -> None:
        """`make` puts an event into `folder`. `program`: what is run as `homologue`, for who makes it faulty."""
        self.folder, self.kind = folder, kind
        make(folder, ROUNDS)
        self.credentials = Credentials.load(folder / "credentials.json")
        with closing(Authentication(folder)) as people:
            for role in ROLES:
                people.accounts.add(role, f"A {role}", role, PASSWORD, Actor("installation"))
            people.accounts.add(LOST, "Who is gone", "head_arbiter", PASSWORD, Actor("installation"))
        self._running = ExitStack()
        self._program = program
        self.log: list[str] = []
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        words = ["scorer", str(self.folder), "--broker", self.kind, "--mqtt-port", "0", "--desk-port", "0"]
        self.scorer = DemoProcess("scorer", words, self._said, self._program)
        self._running.callback(self.scorer.stop)
        port = int(self.scorer.wait_for(r"^Broker: \w+, port (\d+)", PATIENCE_S))
        self.where = Where(HERE, port)
        self.url = self.scorer.wait_for(r"^Desk: (\S+)", PATIENCE_S)
        self.desk = Where(HERE, httpx.URL(self.url).port or 0)
        self.watch = self._running.enter_context(self.client("arbiter"))
        self.watch.connect()
        self.watch.subscribe(topics.SCORER.at(NAME))
        self.honest = Honest(self.address(f"table-{HONEST}"), self.folder)
        self._running.callback(self.honest.stop)
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def _said(self, _who: str, line: str) -> None:
        with self._lock:
            self.log.append(line)

    def address(self, user: str) -> Address:
        """Return where and as whom a user connects with the broker."""
        return Address(self.where.host, self.where.port, user, self.credentials.password(user))

    def client(self, user: str | None, password: str | None = None, *, session: str | None = None) -> Client:
        """Return a client that has not connected yet; without a password it has the user's own."""
        known = self.credentials.passwords.get(user or "") if password is None else password
        return Client(cast("Broker", self.where), user, known, session=session)

    def link(self, at: str, address: str = HERE) -> socket.socket:
        """Return a connection with the `broker` or the `desk` on which nothing has been said."""
        where = self.where if at == "broker" else self.desk
        return socket.create_connection((where.host, where.port), PATIENCE_S, (address, 0))

    def browser(self, *, agent: str = "Firefox", address: str = HERE, patience_s: float = PATIENCE_S) -> httpx.Client:
        """Return a browser that has not logged in."""
        headers = {"Origin": self.url.rstrip("/"), "User-Agent": agent, "Accept": "application/json"}
        return httpx.Client(
            base_url=self.url,
            headers=headers,
            timeout=patience_s,
            transport=httpx.HTTPTransport(local_address=address),
        )

    @contextmanager
    def logged_in(self, name: str) -> Iterator[httpx.Client]:
        """Return a browser in which somebody has logged in. Raises RuntimeError where they cannot."""
        with self.browser() as browser:
            answer = browser.post("/login", data={"name": name, "password": PASSWORD})
            if answer.status_code != httpx.codes.SEE_OTHER:
                raise RuntimeError(f"{name} cannot log in: {answer.status_code} {answer.text[:200]}")
            yield browser

    def dismiss(self, name: str) -> None:
        """Disable an account, as on the scorer's own machine."""
        with closing(Authentication(self.folder)) as people:
            people.accounts.disable(name, Actor("installation"))

    def pulse(self) -> str:
        """Return what is wrong with scoring: a fact has no receipt, or the table or the scorer was cut off."""
        wrong = self.honest.pulse()
        while not self.watch.heard.empty():
            if b'"lifecycle":"gone"' in self.watch.heard.get().payload:
                return "the scorer was cut off"
        return wrong

    def unwell(self) -> str:
        """Return what is wrong with the programs; nothing where all of them do their work."""
        if self.scorer.exit_code is not None:
            return f"the scorer has ended with {self.scorer.exit_code}: {self.log[-3:]}"
        if wrong := self.pulse():
            return wrong
        try:
            with self.browser(patience_s=PULSE_S) as visitor:
                answer = visitor.get("/health")
        except httpx.HTTPError as error:
            return f"the desk does not answer: {error!r}"
        return "" if answer.status_code == httpx.codes.OK else f"the desk answers {answer.status_code}"

    def kept(self) -> dict[str, Any]:
        """Return all that lasts, but for what the honest table tells and what the audit log notes."""
        with closing(sqlite3.connect(f"{(self.folder / PEOPLE_FILE).absolute().as_uri()}?mode=ro", uri=True)) as people:
            rows = {
                table: people.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()  # noqa: S608 - names of tables, below
                for table in ("accounts", "orders", "keyings")
            }
        told = [fact for fact in facts(self.folder / "scorer.sqlite") if fact["table"] != HONEST]
        return {**rows, "facts": told, **self._files()}

    def _files(self) -> dict[str, str]:
        found = (path for path in self.folder.iterdir() if path.is_file() and ".sqlite" not in path.name)
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in found if path.name not in MOVING}


MOVING: Final = frozenset({"standings.csv", "people.witness"})
"""Files that the scorer writes anew by itself, and at each line of the audit log."""
