"""A table's program on a real broker. An arbiter receives everything it says; scorer and desk send to it."""

import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from broker.mqtt.access import Credentials
from broker.protocol import (
    SEATS,
    LogMessage,
    Message,
    Order,
    Receipt,
    Seat,
    TableState,
    decode_on_topic,
    encode,
    topics,
)
from firmware.reports import Pressed, Released, Report
from kiosk.config import KioskSettings
from kiosk.journal import TableJournal
from kiosk.program import TableProgram
from kiosk.table import Phase
from tests.broker.mqtt.brokers import make_broker
from tests.broker.mqtt.client import Client, Heard
from tests.kiosk.journals import OURS, receipt
from tests.kiosk.standing import Time, since
from tests.kiosk.tables import EVENT, MS, TABLE, S, plan, play, right
from tests.patience import PATIENCE_S

BESIDE = 1
"""Another table, whose marks show that everything this one has sent has arrived."""


class Table:
    """A real program on a real broker, with an arbiter who receives everything."""

    def __init__(
        self, program: TableProgram, time: Time, arbiter: Client, scorer: Client, desk: Client, beside: Client
    ) -> None:
        self.program, self.time, self._arbiter, self._scorer, self._desk = program, time, arbiter, scorer, desk
        self._beside, self._marks = beside, False
        self.encode: Callable[[Message], bytes] = encode
        """Encodes the messages of scorer and desk."""

    def until(self, phase: Phase) -> None:
        """Run the program until the table reaches a phase."""
        end = time.monotonic() + PATIENCE_S
        while self.program.state.phase is not phase:
            assert time.monotonic() < end, f"{self.program.state.phase}, not {phase}"
            self.program.step(timeout=0.01)

    def tell(self, message: Any) -> None:  # noqa: ANN401 - any of the scorer's messages
        topic = topics.RECEIPT if isinstance(message, Receipt) else topics.ASSIGNMENT
        self._scorer.say(topic.at(EVENT, table=TABLE), self.encode(message), retain=True)

    def order(self, *orders: Order) -> None:
        """Send orders, and run the program until the last one has been carried out."""
        for order in orders:
            self._desk.say(topics.ORDER.at(EVENT, table=TABLE), self.encode(order))
        end = time.monotonic() + PATIENCE_S
        while self.program.state.last_order != orders[-1].seq:
            assert time.monotonic() < end, f"{self.program.state.last_order}, not {orders[-1].seq}"
            self.program.step(timeout=0.01)

    def hello(self) -> None:
        """Let the table connect, and the scorer answer."""
        while self._arbiter.heard.empty():
            self.program.step(timeout=0.01)
        assert self.said("waiting") == ["waiting"]

    def press(self, *seats: Seat) -> None:
        self.time.now += 5 * S
        for seat in seats:
            self.time.now += 10 * MS
            self.program.report(Pressed(seat, self.time.now))
            self.program.report(Released(seat, self.time.now + 5 * MS))
        self.program.step(timeout=0)

    def tell_reports(self, began: int, reports: Iterable[Report]) -> None:
        """Report from devices. Times are in ns after the beginning."""
        for report in reports:
            self.program.report(since(began, report))
        self.program.step(timeout=0)

    def listen(self, topic: str) -> bool:
        """Subscribe the arbiter to another topic."""
        return self._arbiter.subscribe(topic) == [True]

    def hear_until_marked(self) -> list[Heard]:
        """Return what the arbiter receives until marks arrive that were sent after everything else.

        A broker keeps the order only within one subscription, so there is a mark on each topic to which tables write.
        """
        self.program._server.link.flush(PATIENCE_S)
        if not self._marks:
            self._marks = self._beside.connect()
        mark, written = uuid.uuid4().hex.encode(), [one.at(EVENT, table=BESIDE) for one in (topics.STATE, topics.LOG)]
        for topic in written:
            self._beside.say(topic, mark)
        return self._arbiter.hear_until(mark, *written)

    def said(self, *last: str) -> list[str]:
        """Wait until all of these were said, and return everything that was said: kinds of facts, and states.

        A fact without a receipt is sent again by the clock; here it counts once.
        """
        told: list[str] = []
        heard_before = set[str]()
        while not set(last) <= set(told):
            heard = self._arbiter.hear()
            _, message = decode_on_topic(heard.topic, heard.payload)
            if isinstance(message, TableState):
                told.append(message.state)
            elif isinstance(message, LogMessage) and message.id not in heard_before:
                heard_before.add(message.id)
                told.append(type(message.fact).__name__)
        return told


@contextmanager
def connected(tmp_path: Path) -> Iterator[Table]:
    """Open a program on a broker of its own."""
    credentials = Credentials.create(TABLE)
    password = tmp_path / "password"
    password.write_text(credentials.table(TABLE)[1], encoding="utf-8")
    password.chmod(0o600)
    with make_broker("embedded", tmp_path / "broker", EVENT, credentials, tables=TABLE) as broker:
        config = tmp_path / "table.toml"
        config.write_text(
            f'event = "{EVENT}"\ntable = {TABLE}\nfolder = "."\n'
            f'[broker]\nhost = "127.0.0.1"\nport = {broker.port}\npassword_file = "password"\nplain = true\n'
            '[devices]\nbuttons = "sim://buttons"\ncamera = "sim://tray"\n',
            encoding="utf-8",
        )
        arbiter = Client(broker, "arbiter", credentials.password("arbiter"))
        scorer = Client(broker, "scorer", credentials.password("scorer"))
        desk = Client(broker, "desk", credentials.password("desk"))
        beside = Client(broker, *credentials.table(BESIDE))
        with arbiter, scorer, desk, beside, closing(TableJournal(tmp_path / "table.sqlite", OURS)) as journal:
            assert arbiter.connect()
            assert scorer.connect()
            assert desk.connect()
            arbiter.subscribe(topics.STATE.at(EVENT), topics.LOG.at(EVENT))
            time = Time()
            program = TableProgram(KioskSettings(config), journal, time, time.of_day)
            program.start()
            yield Table(program, time, arbiter, scorer, desk, beside)
            program.stop()


def restore(table: Table) -> None:
    """Bring the table to the confirmation of tiles."""
    table.hello()
    table.tell(receipt())
    table.tell(replace(plan(play(1)), minutes={1: 40}))
    table.until(Phase.RESTORING)
    for seat in SEATS:
        table.program.observe(right(play(1), seat, table.time.now))
    table.until(Phase.SEATING)
    table.press(*SEATS)
    table.until(Phase.CONFIRMING)


def begin(table: Table) -> None:
    """Bring the table to a play in progress."""
    restore(table)
    table.press(*SEATS)
    assert table.program.state.phase is Phase.PLAYING
