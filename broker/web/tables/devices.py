"""The page on which an arbiter lets the second device of a table serve it, while the first is still alive."""

from collections.abc import Sequence
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.errors import ScorerError
from broker.i18n import N_, Message
from broker.people import Authentication, PeopleError
from broker.scorer.devices import ID_SHOWN
from broker.web import Access, DeskError, Form, client_address, read_form, render_page, visitor_of
from broker.web.services import ScorerThread
from broker.web.tables.orders import LONGEST_REASON, read_reason

WHO: Final = "give_orders"
NOTED: Final = "table_handed_over"


class DevicesPage:
    """Answers arbiters."""

    def __init__(self, access: Access, scorer: ScorerThread, auth: Authentication) -> None:
        self._access, self._scorer, self._auth = access, scorer, auth

    def routes(self) -> Sequence[Route]:
        """Return the routes."""
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
        return await run_in_threadpool(
            self._page, request, None, N_("Table handed over. Both devices show this at once.")
        )

    def _do(self, request: Request, form: Form) -> None:
        """Note it first and commit the note last: where it is refused there is no note of it."""
        session = visitor_of(request).session
        if session is None:
            raise TypeError(f"a route that asks for `{WHO}` lets nobody in without a session")
        typed, to = form.get("table", ""), form.get("to", "")
        table = int(typed) if typed.isascii() and typed.isdigit() and len(typed) <= 4 else 0  # noqa: PLR2004 - digits
        about = f"{to[:ID_SHOWN]}; {read_reason(form.get('reason', ''))}"
        with self._auth.store.commit():
            self._auth.audit.note(
                self._auth.clock(), session.account.name, NOTED, str(table), about, address=client_address(request)
            )
            self._scorer.ask(lambda: self._scorer.devices.hand_over(table, to))

    def _page(self, request: Request, error: Exception | None = None, done: Message | None = None) -> Response:
        waiting = self._scorer.ask(self._scorer.devices.serving.waiting)
        rows = [(table, serves, serves[:ID_SHOWN], to, to[:ID_SHOWN]) for table, (serves, to) in waiting.items()]
        values = {"waiting": rows, "longest": LONGEST_REASON}
        return render_page(
            request,
            "devices.html",
            N_("Two devices at a table"),
            visitor_of(request),
            error=error,
            done=done,
            values=values,
        )
