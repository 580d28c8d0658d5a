"""Orders on their way: kept first, then sent to each table by the desk's own connection with the broker."""

import threading
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol

from broker.contract import topics
from broker.contract.link import Address, Incoming, Link, LinkChanged
from broker.contract.messages import Order
from broker.contract.wire import encode
from broker.desk.event_pin import EventPin, PinTeller
from broker.desk.ranges import as_ranges
from broker.people.accounts import Account
from broker.people.door import Door
from broker.people.errors import OrderUnsent, TablesUnheard
from broker.people.orders import Given, KeptOrder, Orders
from broker.scorer.view import TableView

AGAIN_MS: Final = 60_000
"""An order so young is sent again on a new connection: a broker may have lost it. A table obeys it once."""


class Sender(Protocol):
    """What is needed of a link."""

    @property
    def up(self) -> bool:
        """Whether the broker has accepted us."""

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Send one message if connected."""


class OrderDesk:
    """Gives orders to the tables of one event."""

    def __init__(self, event: str, door: Door, sender: Sender) -> None:
        self._event, self._door, self._sender = event, door, sender
        self.book = Orders(door.store)

    @property
    def up(self) -> bool:
        """Whether an order can be given now."""
        return self._sender.up

    def give(
        self, given: Given, account: Account, address: str, room: Iterable[TableView], id_: str | None = None
    ) -> KeptOrder:
        """Keep an order and send it. `room`: all tables, as they last said of themselves; `id_`: its form's.

        Raises OrderUnsent and TablesUnheard, and then it is neither: no table carries out an old order. Raises
        OrderGivenBefore where the form was sent before; that comes first: who hears of an order that was given that
        it was not gives it again.
        """
        if id_:
            self.book.refuse_again(id_, given)
        if not self._sender.up:
            raise OrderUnsent("the desk is not connected with the broker")
        heard = {table.table: table.ordered for table in room if table.lifecycle is not None}
        if heard.keys().isdisjoint(given.tables):
            raise TablesUnheard("none of these tables has said anything yet")
        now = self._door.clock()
        with self._door.store.commit():
            kept = self.book.keep(id_ or uuid.uuid4().hex, given, account.name, now, above=max(heard.values()))
            about = f"{given.command} {as_ranges(given.tables, ',')}"
            detail = f"{given.minutes} min; {given.reason}" if given.minutes else given.reason
            self._door.audit.note(now, account.name, "order_given", about, detail, address=address)
        self._send(kept)
        return kept

    def connected(self) -> None:
        """Send again what is young, oldest first."""
        now = self._door.clock()
        for kept in reversed(self.book.newest(20)):
            if 0 <= now - kept.at <= AGAIN_MS:
                self._send(kept)

    def _send(self, kept: KeptOrder) -> None:
        for message in self._messages(kept):
            self._sender.publish(topics.ORDER.at(self._event, table=message.table), encode(message), retain=False)

    def _messages(self, kept: KeptOrder) -> Iterator[Order]:
        given = kept.given
        for table in given.tables:
            yield Order(
                id=kept.id_at(table),
                event=self._event,
                table=table,
                seq=kept.seq,
                command=given.command,
                minutes=given.minutes,
                author=given.author,
            )


class DeskLink:
    """The desk's connection with the broker, and the orders and the arbiters' PIN that go over it."""

    def __init__(self, event: str, tables: Sequence[int], door: Door, address: Address, pin: EventPin) -> None:
        # It has to hear something to know that it is heard: the alerts are few, and it may read them.
        self._connected = threading.Event()
        self._link = Link(address, f"homologue-{event}-desk", [topics.ALERT.at(event)], self._told)
        self.orders, self.pin = OrderDesk(event, door, self._link), PinTeller(event, tables, pin, self._link)

    def start(self) -> None:
        """Begin to connect, and go on trying."""
        self._link.start()

    def wait(self, seconds: float) -> bool:
        """Wait until the broker has accepted us for the first time; say whether it has."""
        return self._connected.wait(seconds)

    def stop(self) -> None:
        """Send what is under way, and go. May be called twice."""
        self._link.flush(2.0)
        self._link.stop()

    def _told(self, item: Incoming | LinkChanged) -> None:
        if isinstance(item, Incoming):
            item.acknowledge()
        elif item.up:
            self.orders.connected()
            self.pin.tell()
            self._connected.set()
