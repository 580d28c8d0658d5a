"""The target: `homologue scorer` with its broker and desk, an honest table, and accounts of every role."""

import hashlib
import itertools
import queue
import socket
import sqlite3
import ssl
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self, cast

import httpx
import msgspec

from broker.files import PEOPLE_FILE
from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.mqtt.process import Broker
from broker.mqtt.programs import Kind
from broker.people import ROLES, Actor, Authentication
from broker.protocol import Call, LogMessage, Role, TableState, encode, fact_hash, topics
from broker.protocol.link import Address, Incoming, Link, LinkChanged, session_id
from broker.protocol.signing import open_key
from broker.protocol.tls import Identity, event_context
from broker.sim.demo_audit import facts
from broker.sim.demo_event import NAME
from broker.sim.processes import COMMAND, DemoProcess
from broker.web.auth import COOKIE, SECURE_COOKIE
from tests.broker.mqtt.client import Client
from tests.demo_event import MakeEvent
from tests.encryption import table_identity
from tests.patience import PATIENCE_S

HERE: Final = "127.0.0.1"
HONEST: Final = 2
"""The table that plays during the attacks. Attackers have the passwords of table 1 and of the offices."""

STOLEN: Final = 1
TABLES: Final = (STOLEN, HONEST)
USERS: Final = (f"table-{STOLEN}", "arbiter", "desk", "display", "scorer")
"""The users whose passwords the attackers have."""

PASSWORD: Final = "four winds and a dragon"
LOST: Final = "lost"
"""The account of a head arbiter that is disabled during its session."""

CALLS_A_PLAY: Final = 150
"""Calls that the table sends in one play; a table may send two hundred facts (docs/codes.md, `too_many_facts`)."""

ROUNDS: Final = 4

TRIES: Final = 10

LINES: Final = 2
"""Connections with the broker: those of scorer and desk."""

ESTABLISHED: Final = "01"
"""The state of an established connection in /proc/net/tcp."""

RESEND_S: Final = 3.0
PULSE_S: Final = 30.0
"""Seconds without a receipt after which scoring counts as stopped, unless stated otherwise; busy machines are slow."""


@dataclass(frozen=True)
class Where:
    """The broker's address, in the form that a client needs."""

    host: str
    port: int


class Honest:
    """A table's own device, with its key: it sends one fact after another and waits for each receipt."""

    def __init__(self, address: Address, folder: Path) -> None:
        self._key = open_key(folder / f"table-{HONEST}" / "device.key")
        self._before: str | None = None
        self._told = itertools.count(1)
        self._news: queue.SimpleQueue[Incoming | LinkChanged] = queue.SimpleQueue()
        self.cut_off = 0
        """How often its connection was lost."""
        heard = (topics.RECEIPT.at(NAME, table=HONEST), topics.ASSIGNMENT.at(NAME, table=HONEST))
        self.sent: list[bytes] = []
        self._unsafe: list[bytes] = []
        name = f"homologue-{NAME}-table-{HONEST}"
        self._link = Link(address, session_id(name, folder / f"table-{HONEST}"), heard, self._news.put)
        self._link.start()
        self._plan = self._assignment()

    def pulse(self, patience_s: float) -> str:
        """Send a fact; return what is wrong if its receipt does not come in time."""
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
        self._unsafe.append(body)
        until = time.monotonic() + patience_s
        while (now := time.monotonic()) < until:
            for each in self._unsafe:  # a table resends everything that has no receipt
                self._link.publish(topics.LOG.at(NAME, table=HONEST), each, retain=False)
            while receipt := self._next(min(until, now + RESEND_S)):
                if refused := [one["code"] for one in receipt["refused"] if one["id"] == said.id]:
                    return f"refused: {refused[0]}"
                if receipt["upto"] >= seq and not receipt["gaps"] and receipt["head"] == self._before:
                    self._unsafe.clear()
                    return ""
        return f"no receipt in {patience_s:.0f} s"

    def _next(self, until: float) -> dict[str, Any] | None:
        """Wait for a receipt; return None if none has come by then."""
        while (left := until - time.monotonic()) > 0:
            try:
                one = self._news.get(timeout=left)
            except queue.Empty:
                return None
            if isinstance(one, LinkChanged):
                self.cut_off += not one.up
                continue
            one.acknowledge()
            if one.payload.startswith(b"{") and "/receipt/" in one.topic:  # attackers send other messages on this topic
                return cast("dict[str, Any]", msgspec.json.decode(one.payload))
        return None

    def _assignment(self) -> dict[str, Any]:
        """Publish the table's state, so that the scorer sends the plan even if the retained one was missed."""
        plan: dict[str, Any] = {}
        greeted = False
        while not (plan and greeted):
            one = self._news.get(timeout=PATIENCE_S)
            if self._link.up and not greeted:
                self._link.publish(topics.STATE.at(NAME, table=HONEST), encode(self._state()), retain=True)
                greeted = True
            if isinstance(one, Incoming):
                one.acknowledge()
                if "/assignment/" in one.topic:
                    plan = msgspec.json.decode(one.payload)
        return plan

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
        """Disconnect."""
        self._link.stop()


class Target:
    """The running programs, as a context manager."""

    def __init__(
        self,
        folder: Path,
        make: MakeEvent,
        kind: Kind,
        *,
        plain: bool = False,
        program: Sequence[str] = (str(COMMAND),),
        patience_s: float = PULSE_S,
    ) -> None:
        """`make` creates an event in `folder`. `plain`: without TLS. `program`: the command, which may be faulty.

        `patience_s`: seconds without an answer after which the target counts as stopped.
        """
        self.folder, self.kind, self.plain, self.patience_s = folder, kind, plain, patience_s
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
        words += ["--plain"] if self.plain else []
        self.scorer = DemoProcess("scorer", words, self._said, self._program)
        self._running.callback(self.scorer.stop)
        port = int(self.scorer.wait_for(r"^Broker: \w+, port (\d+)", PATIENCE_S))
        self.where = Where(HERE, port)
        self.url = self.scorer.wait_for(r"^Desk: (\S+)", PATIENCE_S)
        self.desk = Where(HERE, httpx.URL(self.url).port or 0)
        self.honest = Honest(self.address(f"table-{HONEST}"), self.folder)
        self._running.callback(self.honest.stop)
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def _said(self, _who: str, line: str) -> None:
        with self._lock:
            self.log.append(line)

    def identity(self, user: str) -> Identity:
        """Return the certificate and key that identify a user."""
        if user.startswith("table-"):
            return table_identity(self.folder, int(user.removeprefix("table-")))
        return Certificates.of_event(self.folder).office(cast("Role", user))

    def context(self, identity: Identity | None = None) -> ssl.SSLContext:
        """Return the TLS context for broker and desk, with or without a client certificate."""
        return event_context(Certificates.of_event(self.folder).authority, identity)

    def address(self, user: str) -> Address:
        """Return the broker's address, with a user's credentials."""
        if self.plain:
            return Address(self.where.host, self.where.port, user, self.credentials.password(user))
        ca = Certificates.of_event(self.folder).ca
        return Address(self.where.host, self.where.port, user, "", ca, identity=self.identity(user))

    def client(self, user: str, *, session: str | None = None) -> Client:
        """Return a client of a user, not connected yet."""
        if self.plain:
            return Client(cast("Broker", self.where), user, self.credentials.password(user), session=session)
        made = Client(cast("Broker", self.where), session=session)
        made.trust(Certificates.of_event(self.folder).authority, self.identity(user))
        return made

    def stranger(self, user: str | None, password: str | None, identity: Identity | None = None) -> Client:
        """Return a client with any name, password and certificate, not connected yet."""
        made = Client(cast("Broker", self.where), user, password)
        if not self.plain:
            made.trust(Certificates.of_event(self.folder).authority, identity)
        return made

    def login(self, user: str) -> tuple[str, str] | None:
        """Return the name and password that a user sends; None if the certificate identifies it."""
        return (user, self.credentials.password(user)) if self.plain else None

    def opened(self, at: str, address: str = HERE, user: str = "") -> socket.socket:
        """Return an authenticated connection to the `broker` or the `desk`, made with a user's device."""
        if self.plain:
            return self.link(at, address)
        context = self.context(self.identity(user) if user else None)
        for _ in range(TRIES):  # nats-server aborts handshakes after five seconds
            with suppress(OSError):
                return context.wrap_socket(self.link(at, address))
        return context.wrap_socket(self.link(at, address))

    @property
    def cookie(self) -> str:
        """The name of the desk's cookie."""
        return COOKIE if self.plain else SECURE_COOKIE

    def link(self, at: str, address: str = HERE) -> socket.socket:
        """Return a connection to the `broker` or the `desk` on which nothing has been sent."""
        where = self.where if at == "broker" else self.desk
        return socket.create_connection((where.host, where.port), PATIENCE_S, (address, 0))

    def browser(self, *, agent: str = "Firefox", address: str = HERE, patience_s: float = PATIENCE_S) -> httpx.Client:
        """Return a browser without a session."""
        headers = {"Origin": self.url.rstrip("/"), "User-Agent": agent, "Accept": "application/json"}
        return httpx.Client(
            base_url=self.url,
            headers=headers,
            timeout=patience_s,
            transport=httpx.HTTPTransport(verify=True if self.plain else self.context(), local_address=address),
        )

    @contextmanager
    def logged_in(self, name: str) -> Iterator[httpx.Client]:
        """Return a browser with a user's session. Raises RuntimeError if the login fails."""
        with self.browser() as browser:
            answer = browser.post("/login", data={"name": name, "password": PASSWORD})
            if answer.status_code != httpx.codes.SEE_OTHER:
                raise RuntimeError(f"{name} cannot log in: {answer.status_code} {answer.text[:200]}")
            yield browser

    def dismiss(self, name: str) -> None:
        """Disable an account, as is done on the scorer's machine."""
        with closing(Authentication(self.folder)) as people:
            people.accounts.disable(name, Actor("installation"))

    def token(self, role: str) -> str:
        """Create a token for a role, as is done on the scorer's machine; a revoked one was an arbiter's."""
        name = role.removeprefix("token ")
        with closing(Authentication(self.folder)) as people:
            made = people.tokens.add(name, "arbiter" if name == "revoked" else name, Actor("installation"))
            if name == "revoked":
                people.tokens.revoke(name, Actor("installation"))
        return made

    def pulse(self) -> str:
        """Return what is wrong with scoring; "" if a fact gets its receipt."""
        return self.honest.pulse(self.patience_s)

    def lines(self) -> frozenset[str]:
        """Return the connections of scorer and desk with the broker, by the inodes of their sockets."""
        own = set[str]()
        for file in Path(f"/proc/{self.scorer.pid}/fd").iterdir():
            with suppress(OSError):
                own.add(str(file.readlink()))
        found = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
        return frozenset(
            inode
            for _, _, remote, state, *_, inode in (one[:10] for one in found)
            if state == ESTABLISHED and remote.endswith(f":{self.where.port:04X}") and f"socket:[{inode}]" in own
        )

    def all_lines(self) -> frozenset[str]:
        """Return these connections as soon as both exist and the table is connected too."""
        deadline, pause = time.monotonic() + PATIENCE_S, threading.Event()
        while len(found := self.lines()) < LINES or self.pulse():
            assert time.monotonic() < deadline, f"{len(found)} connections of scorer and desk: {self.log[-3:]}"
            pause.wait(0.05)
        return found

    def unwell(self) -> str:
        """Return what is wrong with the programs; "" if all of them work."""
        if self.scorer.exit_code is not None:
            return f"the scorer has ended with {self.scorer.exit_code}: {self.log[-3:]}"
        if wrong := self.pulse():
            return wrong
        try:
            with self.browser(patience_s=self.patience_s) as visitor:
                answer = visitor.get("/health")
        except httpx.HTTPError as error:
            return f"the desk does not answer: {error!r}"
        return "" if answer.status_code == httpx.codes.OK else f"the desk answers {answer.status_code}"

    def kept(self) -> dict[str, Any]:
        """Return all stored data, except the honest table's facts and the audit log."""
        with closing(sqlite3.connect(f"{(self.folder / PEOPLE_FILE).absolute().as_uri()}?mode=ro", uri=True)) as people:
            rows = {
                table: people.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()  # noqa: S608 - names of tables, below
                for table in ("accounts", "orders", "keyings")
            }
        told = [fact for fact in facts(self.folder / "scorer.sqlite") if fact["table"] != HONEST]
        return {**rows, "facts": told, **self._files()}

    def _files(self) -> dict[str, str]:
        found = (
            path
            for path in self.folder.iterdir()
            if path.suffix != ".new" and ".sqlite" not in path.name and path.is_file()
        )
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in found if path.name not in MOVING}


MOVING: Final = frozenset({"standings.csv", "people.witness"})
"""Files that the scorer rewrites by itself, and with each entry of the audit log."""
