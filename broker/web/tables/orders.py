"""Orders to tables: read from a form, stored, sent over the desk's own connection, and tracked until carried out.

An order is stored before it is sent and never changed. The page shows which tables have carried it out.
"""

import re
import threading
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Protocol, get_args

import msgspec
from msgspec import Meta, Struct
from sqlalchemy import Executable, func, insert, select
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.i18n import N_
from broker.people import Account, Authentication, PeopleStoreBroken, database
from broker.people.errors import BadOrder, OrderGivenBefore, OrderUnsent, TablesUnheard
from broker.protocol import LAST_TABLE, MOST_ORDERS_KEPT, Command, Count, Name, Order, TableNo, encode, topics
from broker.protocol.arbiter_session import SessionKey
from broker.protocol.link import Address, Incoming, Link, LinkChanged, transient_session_id
from broker.scorer import TableView, ViewFeed
from broker.web import (
    Access,
    Form,
    account_of,
    client_address,
    errors,
    form_page,
    forms,
    read_number,
    redirect,
    render_page,
)

COMMANDS: Final[tuple[Command, ...]] = get_args(Command)
LONGEST_REASON: Final = 200
MOST_MINUTES: Final = 60


class OrderGiven(Struct, frozen=True, forbid_unknown_fields=True):
    """One order to one or more tables."""

    tables: Annotated[tuple[TableNo, ...], Meta(min_length=1, max_length=LAST_TABLE)]
    command: Command
    minutes: Count
    reason: Annotated[str, Meta(min_length=1, max_length=LONGEST_REASON)]
    author: Name
    """The full name of the account that gave the order."""


_GIVEN: Final = msgspec.json.Decoder(OrderGiven)


@dataclass(frozen=True, slots=True)
class KeptOrder:
    """A stored order. `seq` grows with each order, and the messages to all of its tables carry it."""

    seq: int
    id: str
    at: int
    who: str
    given: OrderGiven

    def id_at(self, table: int) -> str:
        """Return the id of the message to one table, with which the table confirms that it carried the order out."""
        return f"{self.id}-{table}"


def read_order(
    tables: Collection[int], known: Collection[int], command: str, minutes: str, reason: str, author: str
) -> OrderGiven:
    """Build an order from typed values. Raises BadOrder."""
    kind = next((one for one in COMMANDS if one == command), None)
    if kind is None:
        raise BadOrder(f"an order is one of {', '.join(COMMANDS)}")
    if not tables or not set(tables) <= set(known):
        raise BadOrder("an order goes to tables of this event")
    return OrderGiven(tuple(sorted(set(tables))), kind, _minutes(kind, minutes), order_reason(reason), author)


def order_reason(typed: str) -> str:
    """Return a reason in the form in which it is stored. Raises BadOrder."""
    reason = " ".join(typed.split())
    if not 1 <= len(reason) <= LONGEST_REASON or not reason.isprintable():
        raise BadOrder(f"a reason has 1 to {LONGEST_REASON} printable characters")
    return reason


def _minutes(command: Command, text: str) -> int:
    if command != "extra_time":
        return 0
    if not 1 <= (minutes := read_number(text, 2)) <= MOST_MINUTES:
        raise BadOrder(f"extra time is 1 to {MOST_MINUTES} minutes")
    return minutes


class Orders:
    """All orders of an event, in its folder's store."""

    def __init__(self, store: database.PeopleDatabase) -> None:
        self._store = store

    def keep(self, id_: str, given: OrderGiven, who: str, now: int, *, above: int = 0) -> KeptOrder:
        """Store an order durably. `above` is the highest number that any table has obeyed.

        Tables only obey orders newer than the last one they obeyed. This store may not be the one that counted up to
        there (a copy, or another machine whose clock is behind), so its own last number is not enough. For tables that
        were never heard, seconds of the wall clock are the best guess. Raises OrderGivenBefore if the id is in use, so
        that a form sent twice gives one order.
        """
        with self._store.commit() as sql:
            _refuse_again(sql.execute(_bodies(id_)).all(), given)
            last = sql.execute(select(func.max(database.ORDERS.c.number))).scalar() or 0
            seq = max(last + 1, above + 1, now // 1000)
            row = (seq, id_, now, ",".join(map(str, given.tables)), who, msgspec.json.encode(given))
            sql.execute(insert(database.ORDERS).values(row))
        return KeptOrder(seq, id_, now, who, given)

    def refuse_again(self, id_: str, given: OrderGiven) -> None:
        """Raise OrderGivenBefore if an order with this id exists. Raises PeopleStoreBroken."""
        _refuse_again(self._store.rows(_bodies(id_)), given)

    def newest(self, count: int) -> list[KeptOrder]:
        """Return the last orders, newest first. Raises PeopleStoreBroken."""
        query = select(*(database.ORDERS.c[name] for name in ("number", "id", "at", "who", "body")))
        return [
            _stored_order(row) for row in self._store.rows(query.order_by(database.ORDERS.c.number.desc()).limit(count))
        ]


def _bodies(id_: str) -> Executable:
    return select(database.ORDERS.c.body).where(database.ORDERS.c.id == id_)


def _refuse_again(before: Iterable[tuple[Any, ...]], given: OrderGiven) -> None:
    for (body,) in before:
        raise OrderGivenBefore(same=body == msgspec.json.encode(given))


def _stored_order(row: tuple[Any, ...]) -> KeptOrder:
    seq, id_, at, who, body = row
    try:
        given = _GIVEN.decode(body)
    except msgspec.DecodeError as error:
        raise PeopleStoreBroken(f"an order cannot be read: {error}") from None
    return KeptOrder(seq, id_, at, who, given)


OrderOutcome = Literal["done", "refused", "waiting", "passed", "forgotten"]
"""Outcome of an order at one table. `passed`: the table has obeyed a later order, and will never obey this one."""

ORDER_OUTCOMES: Final[tuple[OrderOutcome, ...]] = get_args(OrderOutcome)


def order_outcomes(order: KeptOrder, states: Mapping[int, TableView]) -> dict[OrderOutcome, list[int]]:
    """Group an order's tables by its outcome there. A table of which nothing is known counts as waiting."""
    found: dict[OrderOutcome, list[int]] = {outcome: [] for outcome in ORDER_OUTCOMES}
    for number in order.given.tables:
        table = states.get(number)
        found[_order_outcome(order, table) if table else "waiting"].append(number)
    return found


def order_refusals(order: KeptOrder, states: Mapping[int, TableView]) -> dict[str, list[int]]:
    """Group the tables that refused an order by the code of the reason."""
    found: dict[str, list[int]] = {}
    for number in order_outcomes(order, states)["refused"]:
        found.setdefault(states[number].refused[order.seq], []).append(number)
    return found


def _order_outcome(order: KeptOrder, table: TableView) -> OrderOutcome:
    if table.obeyed.get(order.seq) == order.id_at(table.table):
        return "refused" if order.seq in table.refused else "done"
    if order.seq > table.ordered:
        return "waiting"
    # A table remembers only its last orders; the outcome of an older one is unknown.
    remembers_all = 0 < len(table.obeyed) < MOST_ORDERS_KEPT
    return "passed" if remembers_all or order.seq > min(table.obeyed, default=table.ordered) else "forgotten"


RESEND_MS: Final = 60_000
"""An order younger than this is sent again on a new connection, as a broker may have lost it. Tables obey it once."""


class _Sender(Protocol):
    """The part of a link that is used here."""

    @property
    def up(self) -> bool:
        """Whether the broker has accepted the connection."""

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Send one message if connected."""


class OrderDesk:
    """Publishes orders to the tables of one event."""

    def __init__(self, event: str, auth: Authentication, sender: _Sender, sessions: SessionKey | None = None) -> None:
        """`sessions` makes the sessions that an order opens, which tables name in the facts that follow from it."""
        self._event, self._auth, self._sender, self._sessions = event, auth, sender, sessions
        self.book = Orders(auth.store)

    @property
    def up(self) -> bool:
        """Whether an order can be given now."""
        return self._sender.up

    def give(
        self, given: OrderGiven, account: Account, address: str, room: Iterable[TableView], id_: str | None = None
    ) -> KeptOrder:
        """Store an order and send it. `room` has the last state of all tables; `id_` is the id of the order's form.

        Raises OrderUnsent or TablesUnheard with nothing stored or sent, so that no table carries out an old order.
        Raises OrderGivenBefore if the form was sent before. That check comes first: somebody told that a given order
        was not sent would give it again.
        """
        if id_:
            self.book.refuse_again(id_, given)
        if not self._sender.up:
            raise OrderUnsent("the desk is not connected to the broker")
        heard = {table.table: table.ordered for table in room if table.lifecycle is not None}
        if heard.keys().isdisjoint(given.tables):
            raise TablesUnheard("none of these tables has connected yet")
        now = self._auth.clock()
        with self._auth.store.commit():
            order = self.book.keep(id_ or uuid.uuid4().hex, given, account.name, now, above=max(heard.values()))
            about = f"{given.command} {forms.as_ranges(given.tables, ',')}"
            detail = f"{given.minutes} min; {given.reason}" if given.minutes else given.reason
            self._auth.audit.note(now, account.name, "order_given", about, detail, address=address)
        self._send(order)
        return order

    def connected(self) -> None:
        """Send recent orders again, oldest first."""
        now = self._auth.clock()
        for order in reversed(self.book.newest(20)):
            if 0 <= now - order.at <= RESEND_MS:
                self._send(order)

    def _send(self, order: KeptOrder) -> None:
        for message in self._messages(order):
            self._sender.publish(topics.ORDER.at(self._event, table=message.table), encode(message), retain=False)

    def _messages(self, order: KeptOrder) -> Iterator[Order]:
        given, sessions = order.given, self._sessions
        for table in given.tables:
            opened = sessions.order(table, given.command, given.author, order.id, order.at) if sessions else None
            yield Order(
                id=order.id_at(table),
                event=self._event,
                table=table,
                seq=order.seq,
                command=given.command,
                minutes=given.minutes,
                author=given.author,
                session=opened,
            )


class DeskLink:
    """The desk's connection to the broker, and the orders sent over it."""

    def __init__(self, event: str, auth: Authentication, address: Address, sessions: SessionKey | None = None) -> None:
        # It must subscribe to something to notice that it is connected. Alerts are few, and the desk may read them.
        self._connected = threading.Event()
        self._link = Link(
            address,
            transient_session_id(f"homologue-{event}-desk"),
            [topics.ALERT.at(event)],
            self._handle,
            persistent=False,
        )
        self.orders = OrderDesk(event, auth, self._link, sessions)

    def start(self) -> None:
        """Start connecting, and keep trying."""
        self._link.start()

    def wait(self, seconds: float) -> bool:
        """Wait until the broker has accepted the first connection; return whether it has."""
        return self._connected.wait(seconds)

    def stop(self) -> None:
        """Send what is queued, then disconnect. May be called twice."""
        self._link.flush(2.0)
        self._link.stop()

    def _handle(self, item: Incoming | LinkChanged) -> None:
        if isinstance(item, Incoming):
            item.acknowledge()
        elif item.up:
            self.orders.connected()
            self._connected.set()


SHOWN_ORDERS: Final = 100
ALL_TABLES: Final = "all"
FORM_ID: Final = re.compile(r"[0-9a-f]{32}")
LONGEST_TABLES: Final = 2000
"""Maximum length of the field for tables: more than anybody needs for a thousand tables."""

DONE_MESSAGES: Final = {
    "given": N_("Order sent. It is marked as done once the table confirms."),
    "again": N_("This order was already sent. It was not sent again."),
}
"""Confirmations of the last order, by the query's `done`."""


class OrdersPage:
    """Serves the page of orders to arbiters."""

    def __init__(self, access: Access, orders: OrderDesk, feed: ViewFeed) -> None:
        self._access, self._orders, self._feed = access, orders, feed

    def routes(self) -> Sequence[Route]:
        """Return the routes of the page and its form."""
        return form_page(self._access, "/orders", self._page, self._give, "give_orders")

    def _give(self, request: Request, form: Form) -> Response:
        """Send an order, then redirect to the page so that reloading sends nothing."""
        account = account_of(request)
        if not FORM_ID.fullmatch(form.get("id", "")):
            raise errors.FormMalformed("the form has no valid id")
        room = self._feed.current.tables
        known = [table.table for table in room]
        tables = (
            known
            if ALL_TABLES in form
            else {*forms.ticked_tables(form), *forms.read_known_tables(known, form.get("tables", ""))}
        )
        command, minutes, reason = (form.get(field, "") for field in ("command", "minutes", "reason"))
        given = read_order(tables, known, command, minutes.strip(), reason, account.full)
        try:
            self._orders.give(given, account, client_address(request), room, form["id"])
        except OrderGivenBefore as before:
            if not before.same:
                raise
            return redirect(request, "/orders", done="again")
        return redirect(request, "/orders", done="given")

    def _page(self, request: Request, form: Form, error: Exception | None = None) -> Response:
        """Show the form, filled in with the tables in the query, and the orders so far."""
        query, tables = request.query_params, self._feed.current.tables
        form = form or {"tables": query.get("tables", query.get("table", ""))}
        states = {table.table: table for table in tables}
        written = form.get("tables", "")[:LONGEST_TABLES]
        writes = len(tables) > forms.MOST_BOXES_ONLY
        values: dict[str, object] = {
            "id": uuid.uuid4().hex,
            "tables": tables if len(tables) <= forms.MOST_TICK_BOXES else (),
            "chosen": {*forms.ticked_tables(form), *(() if writes else _written_tables(written))},
            "all": ALL_TABLES in form,
            "writes": writes,
            "written": written,
            "calling": forms.as_ranges(table.table for table in tables if table.calling),
            "paused": forms.as_ranges(table.table for table in tables if table.paused),
            "filled": {field: form.get(field, "")[:LONGEST_REASON] for field in ("command", "minutes", "reason")},
            "commands": COMMANDS,
            "most_minutes": MOST_MINUTES,
            "longest": LONGEST_REASON,
            "longest_tables": LONGEST_TABLES,
            "up": self._orders.up,
            "orders": [
                (order, order_outcomes(order, states), order_refusals(order, states))
                for order in self._orders.book.newest(SHOWN_ORDERS)
            ],
        }
        return render_page(request, "orders.html", N_("Orders"), error=error, done=DONE_MESSAGES, values=values)


def _written_tables(written: str) -> list[int]:
    """Parse typed tables; return none if they cannot be read."""
    try:
        return forms.read_tables(written)
    except errors.TablesUnreadable:
        return []
