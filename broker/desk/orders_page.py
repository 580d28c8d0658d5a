"""The page on which an arbiter gives orders, and sees which tables have carried them out."""

import re
import uuid
from collections.abc import Sequence
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.desk.access import Access, address, visitor_of
from broker.desk.errors import DeskError, FormMalformed, TablesUnreadable
from broker.desk.forms import Form, read_form, typed
from broker.desk.forms_page import lead, render
from broker.desk.obeyed import fates
from broker.desk.orders import OrderDesk
from broker.desk.ranges import TICKED, TICKED_ALONE, as_ranges, tables_among, tables_of
from broker.people.errors import OrderGivenBefore, PeopleError
from broker.people.orders import COMMANDS, LONGEST_REASON, MOST_MINUTES, order_of
from broker.scorer.view import ViewFeed

SHOWN: Final = 100
ALL: Final = "all"
ID: Final = re.compile(r"[0-9a-f]{32}")
LONGEST_TABLES: Final = 2000
"""Characters: more than anybody writes of a thousand tables."""

DONE: Final = {"given": "order_given", "again": "order_not_again"}
"""What the address says of the order that was sent last, and how the page says it."""


class OrdersPage:
    """Answers arbiters."""

    def __init__(self, access: Access, orders: OrderDesk, feed: ViewFeed) -> None:
        self._access, self._orders, self._feed = access, orders, feed

    def routes(self) -> Sequence[Route]:
        """Give the routes."""
        return [
            self._access.route("/orders", self.show, "give_orders"),
            self._access.route("/orders", self.give, "give_orders", ("POST",)),
        ]

    async def show(self, request: Request) -> Response:
        """Show the form, for the tables that the address names, and the orders so far."""
        asked = request.query_params
        tables = asked.get("tables", asked.get("table", ""))
        return await run_in_threadpool(self._page, request, {"tables": tables}, None, DONE.get(asked.get("done", "")))

    async def give(self, request: Request) -> Response:
        """Give an order. The page is then asked for anew: who loads it again gives nothing."""
        form: Form = {}
        try:
            form = await read_form(request, visitor_of(request))
            done = await run_in_threadpool(self._give, request, form)
        except (PeopleError, DeskError) as error:
            return await run_in_threadpool(self._page, request, typed(form, error), error)
        return lead(request, "/orders", done=done)

    def _give(self, request: Request, form: Form) -> str:
        session = visitor_of(request).session
        if session is None:
            raise TypeError("a route that asks for `give_orders` lets nobody in without a session")
        if not ID.fullmatch(form.get("id", "")):
            raise FormMalformed("the form does not say which it is")
        room = self._feed.current.tables
        known = [table.table for table in room]
        tables = known if ALL in form else {*_ticked(form), *tables_among(known, form.get("tables", ""))}
        said = [form.get(field, "") for field in ("command", "minutes", "reason")]
        given = order_of(tables, known, said[0], said[1].strip(), said[2], session.account.full)
        try:
            self._orders.give(given, session.account, address(request), room, form["id"])
        except OrderGivenBefore as before:
            if not before.same:
                raise
            return "again"
        return "given"

    def _page(self, request: Request, form: Form, error: Exception | None = None, done: str | None = None) -> Response:
        tables = self._feed.current.tables
        said = {table.table: table for table in tables}
        written = form.get("tables", "")[:LONGEST_TABLES]
        writes = len(tables) > TICKED_ALONE
        values: dict[str, object] = {
            "id": uuid.uuid4().hex,
            "tables": tables if len(tables) <= TICKED else (),
            "chosen": {*_ticked(form), *(() if writes else _named(written))},
            "all": ALL in form,
            "writes": writes,
            "written": written,
            "calling": as_ranges(table.table for table in tables if table.calling),
            "paused": as_ranges(table.table for table in tables if table.paused),
            "filled": {field: form.get(field, "")[:LONGEST_REASON] for field in ("command", "minutes", "reason")},
            "commands": COMMANDS,
            "most_minutes": MOST_MINUTES,
            "longest": LONGEST_REASON,
            "longest_tables": LONGEST_TABLES,
            "up": self._orders.up,
            "orders": [(kept, fates(kept, said)) for kept in self._orders.book.newest(SHOWN)],
            "as_ranges": as_ranges,
        }
        visitor = visitor_of(request)
        return render(request, "orders.html", "orders", visitor, error=error, done=done or "", values=values)


def _ticked(form: Form) -> list[int]:
    """Give the tables that are ticked: a field a table, as no field may come twice."""
    return [table for name in form if name.startswith("table-") for table in _named(name.removeprefix("table-"))]


def _named(written: str) -> list[int]:
    """Give tables that are written; none where they cannot be read."""
    try:
        return tables_of(written)
    except TablesUnreadable:
        return []
