"""Compare three ways to carry a hall's rows to the centre, over a line that fails and with processes that are killed.

The journal as outbox (ours); the hall's Mosquitto as a bridge; the hall's NATS server as a leaf node whose stream the
centre copies. Each carries the same rows twice: on a good line, and with faults.
"""

import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final

from broker.cli.standby import reserve_port
from broker.event import CentreAddress, Event, HallsFile, open_event, save_event, write_halls
from broker.halls.centre import AcceptedRow, Centre
from broker.halls.link import FromCentre, HallLink
from broker.mqtt.access import Credentials
from broker.mqtt.mosquitto import find_mosquitto
from broker.mqtt.nats import NatsBroker, find_nats_server
from broker.mqtt.process import MqttBrokerSettings
from broker.protocol import Confirmed, HallRow, LogMessage, SigningKey, encode, topics
from broker.protocol.link import Address, Incoming, Link, transient_session_id
from broker.store import SqliteJournal
from tests.broker.halls.places import HALLS
from tests.broker.scorer.small import NAME, deals, plan, registry
from tests.e2e.proxy import Proxy

ROWS: Final = 3000
QUIET_S: Final = 20.0
"""Seconds without a row after which missing rows count as lost."""

CUT_S: Final = 2.0
HALL: Final = "paris"
TOPIC: Final = topics.HALL_ROW.at(NAME, hall=HALL)


class Counted(Proxy):
    """The line between hall and centre, which counts the bytes that it carries."""

    carried = 0

    def _take(self, flow: Any, read: bytes) -> None:  # noqa: ANN401 - the proxy's own type
        self.carried += len(read)
        super()._take(flow, read)


class Received:
    """Counts how often each row has arrived."""

    def __init__(self) -> None:
        self.rows: Counter[str] = Counter()
        self.came = threading.Condition()
        self.first = self.last = 0.0

    def take(self, row: str) -> None:
        """Count one row."""
        with self.came:
            self.last = time.monotonic()
            self.first = self.first or self.last
            self.rows[row] += 1
            self.came.notify_all()

    def wait(self, count: int) -> None:
        """Wait for a number of rows, or until no more arrive."""
        with self.came:
            while len(self.rows) < count and self.came.wait(QUIET_S):
                pass


def message(number: int) -> LogMessage:
    """Return a fact as a table of the hall sends it."""
    fact = Confirmed(round=1, deal=1)
    return LogMessage(id=f"{number:032x}", event=NAME, table=1, seq=number, at=0, fact=fact, device="d" * 32)


def rows(path: Path) -> Iterator[HallRow]:
    """Return the rows of a journal as they are sent."""
    linked = bytes(32)
    with closing(SqliteJournal(path, NAME)) as journal, closing(journal.linked_rows(0)) as stored:
        for height, at, body, link in stored:
            yield HallRow(
                id=link.hex()[:32],
                event=NAME,
                hall=HALL,
                store=journal.store,
                attempt=1,
                height=height,
                before=linked.hex(),
                link=link.hex(),
                at=at,
                body=bytes(body).decode(),
            )
            linked = link


class Way:
    """One way to carry rows. `lines`: lines of configuration that somebody has to maintain, on both sides."""

    name = ""
    lines = 0

    def __init__(self, folder: Path, journal: Path, received: Received, running: ExitStack) -> None:
        self.folder, self.journal, self.received, self.running = folder, journal, received, running

    def kill(self) -> None:
        """Kill the hall's end, and restart it."""
        raise NotImplementedError


@contextmanager
def centre_broker(folder: Path) -> Iterator[tuple[NatsBroker, Credentials]]:
    """Run the centre's broker."""
    known = Credentials.create(4, [HALL])
    settings = MqttBrokerSettings(
        folder=folder / "centre", event=NAME, credentials=known, tables=4, halls=lambda: (HALL,)
    )
    with NatsBroker(settings) as broker:
        yield broker, known


class Outbox(Way):
    """The journal of the hall's scorer, as `homologue scorer` sends it and `homologue centre` stores it."""

    name, lines = "journal as outbox", 0

    def __init__(self, folder: Path, journal: Path, received: Received, running: ExitStack) -> None:
        super().__init__(folder, journal, received, running)
        broker, known = running.enter_context(centre_broker(folder))
        self.line = Counted(broker.port)
        self._login = Address("127.0.0.1", self.line.port, "hall-paris", known.password("hall-paris"))
        self._key = SigningKey.new()
        self._ended = threading.Event()
        event = folder / "event"
        save_event(event, plan(), deals(), registry())
        self._centre = threading.Thread(target=self._take_rows, args=(open_event(event), broker, known), daemon=True)
        self._hall = threading.Thread(target=self._send_rows, daemon=True)
        self._killed = threading.Event()
        self._centre.start()
        self._hall.start()
        running.callback(self._end)

    def _end(self) -> None:
        self._ended.set()
        self._hall.join()
        self._centre.join()

    def _take_rows(self, event: Event, broker: NatsBroker, known: Credentials) -> None:
        news: SimpleQueue[Any] = SimpleQueue()
        journal = SqliteJournal(self.folder / "centre.sqlite", NAME)
        write_halls(self.folder, HALLS)
        centre = Centre(lambda: event, HallsFile(self.folder), journal, [], lambda _: False, lambda: 0, time.monotonic)
        address = Address("127.0.0.1", broker.port, "scorer", known.password("scorer"))
        heard = [topics.HALL_ROW.at(NAME), topics.HALL_STATE.at(NAME)]
        link = Link(address, transient_session_id("scorer"), heard, news.put)
        link.start()
        while not self._ended.is_set():
            batch = []
            with suppress(Empty):
                batch.append(news.get(timeout=0.05))
                while len(batch) < 200:
                    batch.append(news.get_nowait())
            taken = [
                row
                for one in batch
                if isinstance(one, Incoming)
                for row in centre.unpack(one)
                if isinstance(row, AcceptedRow)
            ]
            with journal.commit():
                for row in taken:
                    body = row.record.payload if isinstance(row.record, Incoming) else b""
                    journal.append(message(journal.height + 1), 0, body)
                centre.store_positions()
            for row in taken:
                row.acknowledge()
                self.received.take(str(self.received.rows.total() + 1) if isinstance(row.record, Incoming) else "")
            for receipt in centre.receipts(journal.height, self._key):
                link.publish(topics.HALL_RECEIPT.at(NAME, hall=HALL), encode(receipt), retain=True)
        link.stop()
        journal.close()

    def _send_rows(self) -> None:
        address = CentreAddress(HALL, "Paris", ("127.0.0.1:1",), self._key.public)
        while not self._ended.is_set():
            self._killed.clear()
            news: SimpleQueue[FromCentre] = SimpleQueue()
            with closing(SqliteJournal(self.journal, NAME)) as journal:
                hall = HallLink(address, NAME, journal, lambda: (), lambda: 0, time.monotonic)
                hall.connect((self._login,), self.folder, news.put)
                while not self._ended.is_set() and not self._killed.is_set():
                    with suppress(Empty):
                        hall.receive(news.get(timeout=0.02))
                    hall.step()
                hall.close()

    def kill(self) -> None:
        """Restart the hall's link, which remembers only the journal."""
        self._killed.set()


class Bridge(Way):
    """Mosquitto in the hall, with a bridge to the centre's broker."""

    name = "Mosquitto bridge"

    def __init__(self, folder: Path, journal: Path, received: Received, running: ExitStack) -> None:
        super().__init__(folder, journal, received, running)
        broker, known = running.enter_context(centre_broker(folder))
        self.line, self._port = Counted(broker.port), reserve_port()
        configuration = [
            "allow_anonymous true",
            f"listener {self._port} 127.0.0.1",
            "persistence true",
            f"persistence_location {folder}/",
            "autosave_interval 1",
            "max_queued_messages 0",
            "user root",
            "connection centre",
            f"address 127.0.0.1:{self.line.port}",
            "remote_username hall-paris",
            "remote_clientid hall-paris",
            f"remote_password {known.password('hall-paris')}",
            "cleansession false",
            "try_private false",
            "notifications false",
            "bridge_protocol_version mqttv311",
            "restart_timeout 1 3",
            "keepalive_interval 10",
            f"topic {TOPIC} out 1",
        ]  # fmt: skip - one line per line of the file, as these are counted
        self.lines = len(configuration) - 1
        (folder / "bridge.conf").write_text("\n".join(configuration) + "\n")
        address = Address("127.0.0.1", broker.port, "scorer", known.password("scorer"))
        centre = Link(address, "scorer", [topics.HALL_ROW.at(NAME)], self._heard)
        self._start()
        running.callback(lambda: self._process.kill())  # noqa: PLW0108 - of the latest process
        centre.start()
        running.callback(centre.stop)
        self._publish()

    def _heard(self, item: Any) -> None:  # noqa: ANN401 - a message, or a change of the connection
        if isinstance(item, Incoming):
            item.acknowledge()
            self.received.take(str(json.loads(item.payload)["height"]))

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [find_mosquitto(), "-c", str(self.folder / "bridge.conf")], stderr=subprocess.DEVNULL
        )
        _wait_for_port(self._port)

    def _publish(self) -> None:
        up = threading.Event()
        link = Link(Address("127.0.0.1", self._port, "", ""), "hall", [TOPIC + "/none"], lambda _: up.set())
        link.start()
        assert up.wait(30)
        for row in rows(self.journal):
            link.publish(TOPIC, encode(row), retain=False)
        assert link.flush(60)
        link.stop()

    def kill(self) -> None:
        """Kill the hall's broker, and restart it."""
        self._process.kill()
        self._process.wait()
        self._start()


class Leaf(Way):
    """A NATS server in the hall with a stream, which the centre's stream copies through a leaf node connection."""

    name = "NATS leaf node"

    def __init__(self, folder: Path, journal: Path, received: Received, running: ExitStack) -> None:
        super().__init__(folder, journal, received, running)
        self._ports = reserve_port(), reserve_port()
        leaf = reserve_port()
        self.line = Counted(leaf)
        login = {"user": HALL, "password": "a long secret"}
        remote = f"nats-leaf://{HALL}:a%20long%20secret@127.0.0.1:{self.line.port}"
        self._configurations: list[dict[str, Any]] = [
            {"leafnodes": {"remotes": [{"url": remote}], "reconnect": 1}},
            {"leafnodes": {"host": "127.0.0.1", "port": leaf, "authorization": login}},
        ]
        streams: list[dict[str, Any]] = [
            {"name": "ROWS", "subjects": ["rows"], "storage": "file"},
            {"name": "ALL", "storage": "file", "sources": [{"name": "ROWS", "external": {"api": "$JS.hall.API"}}]},
        ]
        self._processes: list[subprocess.Popen[bytes]] = []
        for at, (name, port) in enumerate(zip(("hall", "centre"), self._ports, strict=True)):
            store = {"store_dir": str(folder / name), "domain": name, "sync_interval": "1s"}
            self._configurations[at] |= {"server_name": name, "host": "127.0.0.1", "port": port, "jetstream": store}
            self._processes.append(self._start(at))
        written = json.dumps([self._configurations, streams], indent=1)
        self.lines = sum(line.strip(" []{},\n") != "" for line in written.splitlines())
        running.callback(self._end)
        while not self._sees_the_hall():
            pass
        for port, stream in zip(self._ports, streams, strict=True):
            with closing(NatsLine(port)) as line:
                said = line.ask(f"$JS.API.STREAM.CREATE.{stream['name']}", json.dumps(stream).encode())
                assert b'"error"' not in said, said
        threading.Thread(target=self._receive, daemon=True).start()
        with closing(NatsLine(self._ports[0])) as line:
            for row in rows(journal):
                assert b'"seq"' in line.ask("rows", encode(row))

    def _end(self) -> None:
        for process in self._processes:
            process.kill()

    def _sees_the_hall(self) -> bool:
        with closing(NatsLine(self._ports[1], 1)) as line, suppress(TimeoutError):
            return bool(line.ask("$JS.hall.API.INFO", b""))
        return False

    def _start(self, at: int) -> subprocess.Popen[bytes]:
        path = self.folder / f"{at}.conf"
        path.write_text(json.dumps(self._configurations[at]))
        with (self.folder / f"{at}.log").open("ab") as log:
            process = subprocess.Popen([find_nats_server(), "--config", str(path)], stderr=log)
        _wait_for_port(self._ports[at])
        return process

    def _receive(self) -> None:
        line = NatsLine(self._ports[1])
        wanted = {"deliver_subject": "in", "ack_policy": "none", "deliver_policy": "all"}
        line.send(b"SUB in 2\r\n")
        line.ask("$JS.API.CONSUMER.CREATE.ALL", json.dumps({"stream_name": "ALL", "config": wanted}).encode())
        with suppress(OSError):
            while True:
                subject, body = line.next()
                if subject != line.inbox:
                    self.received.take(str(json.loads(body)["height"]))

    def kill(self) -> None:
        """Kill the hall's server, and restart it."""
        self._processes[0].kill()
        self._processes[0].wait()
        self._processes[0] = self._start(0)


class NatsLine:
    """A connection with the part of NATS's protocol that is needed here (docs.nats.io, client protocol)."""

    inbox = "answers"

    def __init__(self, port: int, patience_s: float = 60) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), patience_s)
        self._file = self._socket.makefile("rb")
        self.inbox = f"answers.{self._socket.getsockname()[1]}"
        self._file.readline()
        self.send(b'CONNECT {"verbose":false,"pedantic":false}\r\n' + f"SUB {self.inbox} 1\r\n".encode())

    def send(self, said: bytes) -> None:
        """Send a line."""
        self._socket.sendall(said)

    def ask(self, subject: str, body: bytes) -> bytes:
        """Publish, and return the answer."""
        self.send(f"PUB {subject} {self.inbox} {len(body)}\r\n".encode() + body + b"\r\n")
        while True:
            came, answer = self.next()
            if came == self.inbox:
                return answer

    def next(self) -> tuple[str, bytes]:
        """Return subject and body of the next message. Raises OSError."""
        while line := self._file.readline():
            words = line.split()
            if words[0] == b"PING":
                self.send(b"PONG\r\n")
            elif words[0] == b"MSG":
                body = self._file.read(int(words[-1]) + 2)[:-2]
                return words[1].decode(), body
            elif words[0] == b"-ERR":
                raise OSError(line.decode())
        raise OSError("the server is gone")

    def close(self) -> None:
        """Close the connection."""
        self._file.close()
        self._socket.close()


def _wait_for_port(port: int) -> None:
    deadline, pause = time.monotonic() + 60, threading.Event()
    while time.monotonic() < deadline:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 5).close()
            return
        pause.wait(0.05)
    raise TimeoutError(f"nobody listens on {port}")


def carry(way: Callable[[Path, Path, Received, ExitStack], Any], *, faults: bool) -> str:
    """Carry all rows in one way; return the results."""
    received = Received()
    with ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o700)
        path = folder / "hall.sqlite"
        with closing(SqliteJournal(path, NAME)) as journal, journal.commit():
            for number in range(1, ROWS + 1):
                journal.append(message(number), 0)
        made = way(folder, path, received, running)
        running.callback(made.line.close)
        if faults:
            _fail(made, received)
        received.wait(ROWS)
        took = received.last - received.first
        threading.Event().wait(1.0 if faults else 0.0)  # duplicates may come late
        lost = ROWS - len(received.rows)
        doubled = sum(count - 1 for count in received.rows.values())
        rate = "" if faults else f"{ROWS / took:6,.0f} rows a second, {made.line.carried / ROWS:5,.0f} bytes a row, "
        kind = "with faults" if faults else "good line"
        return f"{made.name:18} {kind:12} {rate}{lost} lost, {doubled} doubled, {made.lines} lines of configuration"


def _fail(way: Any, received: Received) -> None:  # noqa: ANN401 - one of the three
    """Cut the line, let it drop everything, and kill the hall's end, each while rows are being sent."""
    pause = threading.Event()
    for share, fail in ((0.2, way.line.cut), (0.4, way.line.swallow), (0.6, way.kill)):
        received.wait(int(share * ROWS))
        fail()
        pause.wait(CUT_S)
        way.line.heal()


if __name__ == "__main__":
    for one in (Outbox, Bridge, Leaf):
        for bad in (False, True):
            print(carry(one, faults=bad), flush=True)
    sys.exit(0)
