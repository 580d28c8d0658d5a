"""The page on which a head arbiter keeps accounts and reads the audit log."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from broker.desk.access import Access, Visitor, address, visitor_of
from broker.desk.errors import DeskError, FormMalformed
from broker.desk.forms import Form, read_form, typed
from broker.desk.forms_page import render
from broker.people.accounts import By
from broker.people.audit import Entry
from broker.people.command import audit_line
from broker.people.door import Door
from broker.people.errors import AuditBroken, PeopleError
from broker.people.passwords import SHORTEST
from broker.people.roles import ROLES

SHOWN: Final = 50
"""Entries of the audit log on the page; the file has all."""


class PeoplePage:
    """Answers head arbiters."""

    def __init__(self, access: Access, door: Door) -> None:
        self._access, self._door = access, door

    def routes(self) -> Sequence[Route]:
        """Give the routes."""
        return [
            self._access.route("/people", self.show, "keep_people"),
            self._access.route("/people", self.change, "keep_people", ("POST",)),
            self._access.route("/audit.csv", self.audit, "keep_people"),
        ]

    async def show(self, request: Request) -> Response:
        """Show accounts and the newest of the log."""
        return await run_in_threadpool(self._page, request)

    async def change(self, request: Request) -> Response:
        """Do what a form asks for."""
        visitor, form = visitor_of(request), Form()
        try:
            form = await read_form(request, visitor)
            await run_in_threadpool(self._act, visitor, form, By(_name(visitor), address(request)))
        except (PeopleError, DeskError) as error:
            return await run_in_threadpool(self._page, request, typed(form, error), error)
        return await run_in_threadpool(self._page, request, None, None, "saved")

    async def audit(self, _request: Request) -> Response:
        """Give the whole log as a file."""
        name = {"Content-Disposition": 'attachment; filename="audit.csv"'}
        return StreamingResponse(iterate_in_threadpool(self._lines()), media_type="text/csv", headers=name)

    def _lines(self) -> Iterator[str]:
        yield "\ufeff" + ",".join(Entry._fields) + "\r\n"
        try:
            for entry in self._door.audit.checked():
                yield audit_line(entry, as_csv=True)
        except AuditBroken as broken:
            yield f"{broken.code},{broken}\r\n"

    def _act(self, visitor: Visitor, form: Form, by: By) -> None:
        accounts, name = self._door.accounts, form.get("name", "").strip()
        actions: dict[str, Callable[[], object]] = {
            "add": lambda: accounts.add(name, form.get("full", ""), form.get("role", ""), form.get("password", ""), by),
            "disable": lambda: accounts.disable(name, by),
            "enable": lambda: accounts.enable(name, by),
            "password": lambda: accounts.set_password(name, form.get("password", ""), by),
            "end_sessions": lambda: accounts.end_sessions(name, by, but=visitor.session.key if visitor.session else ""),
        }
        act = actions.get(form.get("action", ""))
        if act is None:
            raise FormMalformed("the form does not say what it asks for")
        act()

    def _page(
        self, request: Request, form: Form | None = None, error: Exception | None = None, done: str = ""
    ) -> Response:
        adding = form or {} if (form or {}).get("action") == "add" else {}
        values: dict[str, object] = {
            "accounts": [(one, self._door.sessions.of(one.name)) for one in self._door.accounts.all()],
            "entries": self._door.audit.newest(SHOWN),
            "roles": ROLES,
            "shortest": SHORTEST,
            "filled": {field: adding.get(field, "")[:64] for field in ("name", "full", "role")},
        }
        return render(request, "people.html", "people", visitor_of(request), error=error, done=done, values=values)


def _name(visitor: Visitor) -> str:
    return visitor.session.account.name if visitor.session else ""
