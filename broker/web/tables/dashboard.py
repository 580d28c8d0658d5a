"""The arbiters' dashboard: the room as one live page, and the buttons *I go* and *Seen* for calls and alerts.

A phone can show sixty cards but a hall may have a thousand tables, so the cards are divided into pages.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from broker.errors import ScorerError
from broker.event import Origin
from broker.i18n import N_
from broker.people import Account, Authentication, PeopleError
from broker.protocol import wall_clock_ms
from broker.scorer import (
    AlertView,
    DashboardView,
    TableView,
    ViewFeed,
    as_json,
    no_origin,
    standings_csv,
    team_standings_csv,
)
from broker.web import (
    Access,
    Form,
    HtmlTranslator,
    LivePages,
    Pagination,
    Visitor,
    account_of,
    alerts,
    embargo,
    errors,
    forms,
    labels,
    note_action,
    read_number,
    redirect,
    render,
    render_page,
    translator_for,
    visitor_of,
)
from broker.web.live import EncodeView, Renderer, Rendering, sse_event
from broker.web.services import ScorerThread

OPEN_ROOM_VISITOR: Final = Visitor(open_room=True)
"""The visitor of a desk that has no accounts."""


Query = Mapping[str, str]
"""The query of a request: a `page` of cards, or a `table` whose card's page is wanted."""

FIRST_CARDS: Final[Query] = MappingProxyType({})


class DashboardRenderer:
    """Renders views. Renderings are reused until the view changes, so any number of readers cost one per language."""

    def __init__(
        self,
        *,
        sheets: bool = False,
        teams: Iterable[str] = (),
        origin_of: Callable[[str], Origin] = no_origin,
        attends: bool = False,
    ) -> None:
        """`sheets`: whether travellers and player sheets exist to link to.

        `teams` are in the event's order, for the addresses of their sheets. `origin_of` returns a player's country and
        club. `attends`: whether calls and alerts have buttons.
        """
        self.origin_of = origin_of
        self._sheets, self._attends = sheets, attends
        self._numbers = {team: at for at, team in enumerate(teams, 1)}
        self._rooms: dict[bool, tuple[DashboardView, dict[Audience, Rendering]]] = {}
        """Renderings of the newest view: the arbiters' (True) and the public one (False)."""
        self._renderings = Renderer()

    def whole(
        self,
        view: DashboardView,
        _: HtmlTranslator,
        now: int,
        visitor: Visitor = OPEN_ROOM_VISITOR,
        query: Query = FIRST_CARDS,
    ) -> str:
        """Render the whole page. `now` (ms since 1970) is shown as its timestamp."""
        pagination = CardsPage.of(view, query).pagination
        here = f"page={pagination.number}&" if pagination.number > 1 else ""
        return render.render_template(
            "page.html",
            room=self.rendering(view, _, visitor, query).whole,
            view=view,
            _=_,
            now=now,
            stream=f"/events?show=page&{here}lang={_.language}",
            here=f"?{here}",
            visitor=visitor,
            attends=self._attends and visitor.may("give_orders"),
            to="/",
            back=f"/?{here}",
        )

    def rendering(
        self,
        view: DashboardView,
        _: HtmlTranslator,
        visitor: Visitor = OPEN_ROOM_VISITOR,
        query: Query = FIRST_CARDS,
    ) -> Rendering:
        """Render the part of the page that changes: everything except the head and the connection banners.

        `view` comes from the feed that the visitor may read (`Feeds.of`).
        """
        cached = self._rooms.get(visitor.may("see_room"))
        if cached is None or cached[0] is not view:
            cached = self._rooms[visitor.may("see_room")] = view, {}
        rendered, cards = cached[1], CardsPage.of(view, query)
        # One reader's rendering is shown to others, so it may depend on rights, but never on who the reader is.
        rights = visitor.may("see_room"), visitor.may("give_orders"), visitor.may_rule, visitor.may_key_sheets
        audience = (_.language, rights, cards.pagination.number)
        if audience not in rendered:
            values = {
                "view": view,
                "cards": cards,
                "calling": alerts.calling_tables(view.tables),
                "alerts": alerts.split_alerts(view.alerts),
                "arbiter": rights[0],
                "banners": labels.banners(view) if rights[0] else (),
                "commands": rights[1],
                "rules": rights[2],
                "keys_sheets": rights[3],
                "attends": self._attends and rights[1],
                "numbers": self._numbers,
                "_": _,
                "sheets": self._sheets,
                "origin_of": self.origin_of,
            }
            rendered[audience] = self._renderings.render(
                audience, render.environment().get_template("room.html"), values
            )
        return rendered[audience]


class DashboardPage:
    """Serves the dashboard from the feed's newest view."""

    def __init__(
        self, feeds: embargo.Feeds, live: LivePages, pages: DashboardRenderer, trace: embargo.EmbargoTrace
    ) -> None:
        self._feeds, self._live, self._pages, self._trace = feeds, live, pages, trace

    def routes(self, access: Access) -> Sequence[Route]:
        """Return the routes. Only `/health` is open to everybody."""
        return [
            access.route("/", self.page, "see_public"),
            access.route("/events", self.events, "see_public"),
            access.route("/view.json", self.view, "see_public"),
            access.route("/standings.csv", self.standings, "see_public"),
            access.route("/team-standings.csv", self.team_standings, "see_public"),
            Route("/health", self.health),
        ]

    async def page(self, request: Request) -> Response:
        """Return the page with the newest view already in it."""
        visitor = visitor_of(request)
        html = self._pages.whole(
            await self._traced_view(visitor),
            translator_for(request),
            wall_clock_ms(),
            visitor,
            request.query_params,
        )
        return render.html_response(html)

    async def events(self, request: Request) -> Response:
        """Stream views as they come: as JSON, or with `?show=page` as the part of the page that changes."""
        if request.method != "HEAD":
            await self._traced_view(visitor_of(request))
        if request.query_params.get("show") == "page":
            return self._live.stream(request, self._page_by_page(request), dashboard_pace=True)

        def as_event(view: DashboardView) -> bytes:
            return sse_event("view", view.version, as_json(view).decode())

        return self._live.stream(request, as_event)

    def _page_by_page(self, request: Request) -> EncodeView:
        """Return an encoder that sends one reader what has changed in the page since the last time."""
        _, visitor, query = translator_for(request), visitor_of(request), request.query_params
        last: Rendering | None = None

        def as_page(view: DashboardView) -> bytes | None:
            nonlocal last
            now, before = self._pages.rendering(view, _, visitor, query), last
            last = now
            text = now.changes_since(before)
            return None if text is None else sse_event("page", view.version, text)

        return as_page

    async def view(self, request: Request) -> Response:
        """Return the newest view as JSON, for other programs."""
        return Response(as_json(await self._traced_view(visitor_of(request))), media_type="application/json")

    async def standings(self, request: Request) -> Response:
        """Return the standings as a CSV file."""
        view = await self._traced_view(visitor_of(request))
        text = render.BYTE_ORDER_MARK + standings_csv(view.standings, self._pages.origin_of)
        return render.download(text, f"standings-{view.event}-{view.version}.csv", "text/csv")

    async def team_standings(self, request: Request) -> Response:
        """Return the team standings as a CSV file."""
        view = await self._traced_view(visitor_of(request))
        text = render.BYTE_ORDER_MARK + team_standings_csv(view.teams)
        return render.download(text, f"team-standings-{view.event}-{view.version}.csv", "text/csv")

    async def health(self, _request: Request) -> Response:
        """Return whether the desk answers, and whether the scorer is connected to the broker."""
        return JSONResponse({"ok": True, "connected": self._feeds.public.current.connected})

    async def _traced_view(self, visitor: Visitor) -> DashboardView:
        view = self._feeds.of(visitor).current
        await run_in_threadpool(partial(self._trace.note_page, visitor, "room", hidden=view.under_way))
        return view


Audience = tuple[str, tuple[bool, bool, bool, bool], int]
"""Language, rights and page of cards; readers who share them see the same."""


class CardsPage(NamedTuple):
    """One page of table cards."""

    pagination: Pagination
    shown: tuple[TableView, ...]

    @classmethod
    def of(cls, view: DashboardView, query: Query) -> "CardsPage":
        """Return the requested page, or the page with the requested table's card, or the nearest page that exists."""
        numbers = [str(table.table) for table in view.tables] if "table" in query else []
        if query.get("table") in numbers:
            query = {"page": str(numbers.index(query["table"]) // render.CARDS_A_PAGE + 1)}
        pagination = Pagination.at(query, len(view.tables), render.CARDS_A_PAGE)
        return cls(pagination, view.tables[pagination.lines])

    def card_link(self, table: int, language: str) -> str:
        """Return a link from this page to a table's card."""
        here = self.pagination.of == 1 or any(one.table == table for one in self.shown)
        return f"#table-{table}" if here else f"/?table={table}&lang={language}#table-{table}"


CALLS_RIGHT: Final = "give_orders"
ATTENDED_PATH: Final = "/attended"

RETURN_PAGES: Final = ("/", "/grid")
"""Pages that have buttons for calls and alerts."""

KEPT_FIELDS: Final = ("page", "kind")
"""Query parameters of those pages that are kept, so that a button pressed on the last page returns there."""

ACTIONS: Final = {"go": "call_taken", "stay": "call_left", "see": "alert_seen", "unsee": "alert_unseen"}
"""Names of the buttons, and their actions in the audit log."""

LONGEST_NUMBER: Final = 15
LONGEST_FIELD: Final = 64


class CallsPage:
    """Handles the arbiters' buttons for calls and alerts."""

    def __init__(self, access: Access, scorer: ScorerThread, auth: Authentication, feed: ViewFeed) -> None:
        self._access, self._scorer, self._auth, self._feed = access, scorer, auth, feed

    def routes(self) -> Sequence[Route]:
        """Return the route of the buttons."""
        return [self._access.route(ATTENDED_PATH, self.press, CALLS_RIGHT, ("POST",))]

    async def press(self, request: Request) -> Response:
        """Handle a pressed button and redirect to its page."""
        try:
            form = await forms.read_form(request, visitor_of(request))
            await run_in_threadpool(self._do, request, form)
        except (PeopleError, errors.DeskError, ScorerError) as error:
            return render_page(request, "refused.html", N_("Not possible"), error=error)
        path, query = _return_address(form.get("to", ""))
        return redirect(request, path, **query)

    def _do(self, request: Request, form: Form) -> None:
        """Write the audit entry first and commit it last: a press that is refused or changes nothing leaves none."""
        action = next((one for one in ACTIONS if one in form), "")
        about, work = self._work(action, form.get(action, ""), account_of(request))
        with suppress(_Unchanged), self._auth.store.commit():
            note_action(self._auth, request, ACTIONS[action], about)
            if not self._scorer.ask(work):
                raise _Unchanged

    def _work(self, action: str, value: str, who: Account) -> tuple[str, Callable[[], bool]]:
        """Return what the button is about (for the audit log) and the work. Raises NoCall, AlertGone, FormMalformed."""
        attended = self._scorer.live.attendance
        if action in ("go", "stay"):
            table, seen = self._call(value)
            number, since = table.table, table.calling_since
            if action == "go":
                return str(number), lambda: attended.attend(number, since, seen, who.name, who.full)
            return str(number), lambda: attended.leave(number, since, seen, who.name)
        if action in ("see", "unsee"):
            alert = self._alert(value)
            about = f"{alert.code} {alert.table or ''}".strip()
            if action == "see":
                return about, lambda: attended.mark_seen(alert, who.name, who.full)
            return about, lambda: attended.mark_unseen(alert)
        raise errors.FormMalformed("no button was pressed")

    def _call(self, value: str) -> tuple[TableView, int]:
        """Parse `TABLE-SEEN`: a calling table, and since when somebody was shown to be on the way there (0: nobody)."""
        table, seen = (read_number(part, LONGEST_NUMBER, -1) for part in value.partition("-")[::2])
        if table < 0 or seen < 0:
            raise errors.FormMalformed("a call is identified by TABLE-SEEN")
        for one in self._feed.current.tables:
            if one.table == table and one.calling:
                return one, seen
        raise errors.NoCall(f"table {table} does not call the arbiter")

    def _alert(self, value: str) -> AlertView:
        for one in self._feed.current.alerts:
            if alerts.alert_value(one) == value:
                return one
        raise errors.AlertGone("this alert is no longer stored")


class _Unchanged(Exception):
    """The button would not change anything."""


def _return_address(to: str) -> tuple[str, dict[str, str]]:
    """Parse the page a form came from, with the query to keep. Any page not in RETURN_PAGES becomes the dashboard."""
    path, _, query = to.partition("?")
    if path not in RETURN_PAGES:
        return RETURN_PAGES[0], {}
    fields = dict(parse_qsl(query))
    return path, {name: fields[name][:LONGEST_FIELD] for name in KEPT_FIELDS if name in fields}
