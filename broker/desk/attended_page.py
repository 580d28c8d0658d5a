"""Where an arbiter says that they go to a call, or have seen an alert: buttons on pages that follow the room.

A page is rendered once for all who read it, so that no button in it can carry a session's token. They belong to one
form in what is around the page (`page.html`), and their values say what their reader had before them.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.desk.access import Access, address, visitor_of
from broker.desk.errors import AlertGone, DeskError, FormMalformed, NoCall
from broker.desk.forms import Form, read_form
from broker.desk.forms_page import lead, render
from broker.desk.offer import Attends
from broker.desk.page import alert_value
from broker.people.accounts import Account
from broker.people.door import Door
from broker.people.errors import PeopleError
from broker.scorer.errors import ScorerError
from broker.scorer.view import AlertView, TableView, ViewFeed

WHO: Final = "give_orders"
PATH: Final = "/attended"

BACK: Final = ("/", "/grid")
"""Pages that have such buttons."""

KEPT: Final = ("page", "kind")
"""What of their addresses leads back to where the button was: one that is pressed on the last page stays there."""

ACTIONS: Final = {"go": "call_taken", "stay": "call_left", "see": "alert_seen", "unsee": "alert_unseen"}
"""Names of buttons, and how the audit log calls what they do."""

LONGEST_NUMBER: Final = 15
LONGEST_KEPT: Final = 64


class AttendedPage:
    """Answers arbiters."""

    def __init__(self, access: Access, scorer: Attends, door: Door, feed: ViewFeed) -> None:
        self._access, self._scorer, self._door, self._feed = access, scorer, door, feed

    def routes(self) -> Sequence[Route]:
        """Give the route."""
        return [self._access.route(PATH, self.press, WHO, ("POST",))]

    async def press(self, request: Request) -> Response:
        """Do what a button says, and lead back to its page."""
        try:
            form = await read_form(request, visitor_of(request))
            await run_in_threadpool(self._do, request, form)
        except (PeopleError, DeskError, ScorerError) as error:
            return render(request, "refused.html", "refused", visitor_of(request), error=error)
        path, asked = _back(form.get("to", ""))
        return lead(request, path, **asked)

    def _do(self, request: Request, form: Form) -> None:
        """Note it first and commit the note last: where it is refused, or no news, there is no note of it."""
        session = visitor_of(request).session
        if session is None:
            raise TypeError(f"a route that asks for `{WHO}` lets nobody in without a session")
        action = next((one for one in ACTIONS if one in form), "")
        about, work = self._work(action, form.get(action, ""), session.account)
        with suppress(_NoNews), self._door.store.commit():
            self._door.audit.note(
                self._door.clock(), session.account.name, ACTIONS[action], about, address=address(request)
            )
            if not self._scorer.ask(work):
                raise _NoNews

    def _work(self, action: str, value: str, who: Account) -> tuple[str, Callable[[], bool]]:
        """Give what it is about, and what is to be done. Raises NoCall, AlertGone, FormMalformed."""
        attended = self._scorer.attended
        if action in ("go", "stay"):
            table, seen = self._call(value)
            number, since = table.table, table.calling_since
            if action == "go":
                return str(number), lambda: attended.go(number, since, seen, who.name, who.full)
            return str(number), lambda: attended.stay(number, since, seen, who.name)
        if action in ("see", "unsee"):
            alert = self._alert(value)
            about = f"{alert.code} {alert.table or ''}".strip()
            if action == "see":
                return about, lambda: attended.see(alert, who.name, who.full)
            return about, lambda: attended.unsee(alert)
        raise FormMalformed("no button was pressed")

    def _call(self, value: str) -> tuple[TableView, int]:
        """Read `TABLE-SEEN`: a table that calls, and since when somebody went there as it was shown; 0: nobody."""
        table, _, seen = value.partition("-")
        if not (_is_number(table) and _is_number(seen)):
            raise FormMalformed("a call is named by its table and by who goes there")
        for one in self._feed.current.tables:
            if one.table == int(table) and one.calling:
                return one, int(seen)
        raise NoCall(f"table {table} does not call the arbiter")

    def _alert(self, value: str) -> AlertView:
        for one in self._feed.current.alerts:
            if alert_value(one) == value:
                return one
        raise AlertGone("this alert is not kept any more")


class _NoNews(Exception):
    """What a button says was so already."""


def _back(to: str) -> tuple[str, dict[str, str]]:
    """Read where a form came from: a page of ours, and what it was asked for. Whatever else is said leads nowhere."""
    path, _, query = to.partition("?")
    if path not in BACK:
        return BACK[0], {}
    said = dict(parse_qsl(query))
    return path, {name: said[name][:LONGEST_KEPT] for name in KEPT if name in said}


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER
