"""The page on which an arbiter gives orders, and sees which tables have carried them out."""

from collections.abc import Sequence
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.contract.words import LAST_TABLE
from broker.desk.access import Access, address, visitor_of
from broker.desk.errors import DeskError
from broker.desk.forms import Form, read_form
from broker.desk.forms_page import render
from broker.desk.obeyed import fates
from broker.desk.orders import OrderDesk
from broker.people.errors import PeopleError
from broker.people.orders import COMMANDS, LONGEST_REASON, MOST_MINUTES, order_of
from broker.scorer.view import ViewFeed

SHOWN: Final = 100
ALL: Final = "all"


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
        """Show the form, for one table if the address names it, and the orders so far."""
        return await run_in_threadpool(self._page, request, {})

    async def give(self, request: Request) -> Response:
        """Give an order."""
        form: Form = {}
        try:
            form = await read_form(request, visitor_of(request))
            await run_in_threadpool(self._give, request, form)
        except (PeopleError, DeskError) as error:
            return await run_in_threadpool(self._page, request, form, error)
        return await run_in_threadpool(self._page, request, {}, None, "order_given")

    def _give(self, request: Request, form: Form) -> None:
        session = visitor_of(request).session
        if session is None:
            raise TypeError("a route that asks for `give_orders` lets nobody in without a session")
        room = self._feed.current.tables
        known = [table.table for table in room]
        tables = known if ALL in form else _tables(form)
        said = [form.get(field, "") for field in ("command", "minutes", "reason")]
        given = order_of(tables, known, said[0], said[1].strip(), said[2], session.account.full)
        self._orders.give(given, session.account, address(request), room)

    def _page(self, request: Request, form: Form, error: Exception | None = None, done: str = "") -> Response:
        tables = self._feed.current.tables
        said = {table.table: table for table in tables}
        asked = request.query_params.get("table", "")
        values: dict[str, object] = {
            "tables": tables,
            "chosen": set(_tables(form)) or ({int(asked)} if _is_number(asked) else set()),
            "filled": {field: form.get(field, "")[:LONGEST_REASON] for field in ("command", "minutes", "reason")},
            "commands": COMMANDS,
            "most_minutes": MOST_MINUTES,
            "longest": LONGEST_REASON,
            "up": self._orders.up,
            "orders": [(kept, fates(kept, said)) for kept in self._orders.book.newest(SHOWN)],
        }
        return render(request, "orders.html", "orders", visitor_of(request), error=error, done=done, values=values)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= len(str(LAST_TABLE))


def _tables(form: Form) -> list[int]:
    """Give the tables that are ticked: a field a table, as no field may come twice."""
    numbers = (name.removeprefix("table-") for name in form if name.startswith("table-"))
    return [int(number) for number in numbers if _is_number(number)]
