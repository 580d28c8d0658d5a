"""The page on which an arbiter lets the second device of a table serve it, while the first is still alive."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.desk.access import Access, address, visitor_of
from broker.desk.annex import Annex
from broker.desk.errors import DeskError
from broker.desk.forms import Form, read_form
from broker.desk.forms_page import render
from broker.people.door import Door
from broker.people.errors import PeopleError
from broker.people.orders import LONGEST_REASON, reason_of
from broker.scorer.devices import Devices
from broker.scorer.errors import ScorerError
from broker.scorer.serving import SHOWN
from broker.scorer.view import ViewFeed

WHO: Final = "give_orders"
NOTED: Final = "table_handed_over"

T = TypeVar("T")


class Thread(Protocol):
    """What is needed of a scorer."""

    devices: Devices

    def ask(self, work: Callable[[], T]) -> T:
        """Have something done between two batches. Raises ScorerBusy."""


def annex(scorer: Thread, door: Door) -> Annex:
    """Give the desk this page; the page of orders leads to it."""

    def routes(access: Access, _: ViewFeed) -> Sequence[Route]:
        return DevicesPage(access, scorer, door).routes()

    return Annex(routes)


class DevicesPage:
    """Answers arbiters."""

    def __init__(self, access: Access, scorer: Thread, door: Door) -> None:
        self._access, self._scorer, self._door = access, scorer, door

    def routes(self) -> Sequence[Route]:
        """Give the routes."""
        return [
            self._access.route("/devices", self.show, WHO),
            self._access.route("/devices", self.hand_over, WHO, ("POST",)),
        ]

    async def show(self, request: Request) -> Response:
        """Show the tables at which a second device waits."""
        return await run_in_threadpool(self._page, request)

    async def hand_over(self, request: Request) -> Response:
        """Let one of them serve its table."""
        try:
            form = await read_form(request, visitor_of(request))
            await run_in_threadpool(self._do, request, form)
        except (PeopleError, DeskError, ScorerError) as error:
            return await run_in_threadpool(self._page, request, error)
        return await run_in_threadpool(self._page, request, None, "devices_done")

    def _do(self, request: Request, form: Form) -> None:
        """Note it first and commit the note last: where it is refused there is no note of it."""
        session = visitor_of(request).session
        if session is None:
            raise TypeError(f"a route that asks for `{WHO}` lets nobody in without a session")
        typed, to = form.get("table", ""), form.get("to", "")
        table = int(typed) if typed.isascii() and typed.isdigit() and len(typed) <= 4 else 0  # noqa: PLR2004 - digits
        about = f"{to[:SHOWN]}; {reason_of(form.get('reason', ''))}"
        with self._door.store.commit():
            self._door.audit.note(
                self._door.clock(), session.account.name, NOTED, str(table), about, address=address(request)
            )
            self._scorer.ask(lambda: self._scorer.devices.hand_over(table, to))

    def _page(self, request: Request, error: Exception | None = None, done: str = "") -> Response:
        waiting = self._scorer.ask(self._scorer.devices.serving.waiting)
        rows = [(table, serves, serves[:SHOWN], to, to[:SHOWN]) for table, (serves, to) in waiting.items()]
        values = {"waiting": rows, "longest": LONGEST_REASON}
        return render(request, "devices.html", "devices", visitor_of(request), error=error, done=done, values=values)
