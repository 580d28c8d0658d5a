"""The arbiters' dashboard: the room as one live page, and the buttons *I go* and *Seen* for calls and alerts.

A phone draws sixty cards, and a hall may have a thousand tables: the cards come in pages.
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

ANYBODY: Final = Visitor(open_room=True)
"""Who asks a desk that nobody has an account of."""


Asked = Mapping[str, str]
"""What an address asks for: a `page` of cards, or whichever page has that of a `table`."""

FIRST_CARDS: Final[Asked] = MappingProxyType({})


class DashboardRenderer:
    """Renders views. A room is kept until the view changes: any number of readers cost one rendering a language."""

    def __init__(
        self,
        *,
        sheets: bool = False,
        teams: Iterable[str] = (),
        origin_of: Callable[[str], Origin] = no_origin,
        attends: bool = False,
    ) -> None:
        """`sheets`: there are travellers and players' sheets to point to.

        `teams`: as the event lists them, for the addresses of their sheets. `origin_of`: a player's country and club.
        `attends`: calls and alerts have buttons.
        """
        self.origin_of = origin_of
        self._sheets, self._attends = sheets, attends
        self._numbers = {team: at for at, team in enumerate(teams, 1)}
        self._rooms: dict[bool, tuple[DashboardView, dict[Audience, Rendering]]] = {}
        """What was rendered of the newest view: of the arbiters' (True), and of everybody's."""
        self._renderings = Renderer()

    def whole(
        self,
        view: DashboardView,
        _: HtmlTranslator,
        now: int,
        visitor: Visitor = ANYBODY,
        wanted: Asked = FIRST_CARDS,
    ) -> str:
        """Render the page. `now` (ms since 1970) is told as the time of what is shown."""
        pagination = CardsPage.of(view, wanted).pagination
        here = f"page={pagination.number}&" if pagination.number > 1 else ""
        return render.render_template(
            "page.html",
            room=self.rendering(view, _, visitor, wanted).whole,
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
        visitor: Visitor = ANYBODY,
        wanted: Asked = FIRST_CARDS,
    ) -> Rendering:
        """Render what changes, in parts: everything but the head and the banners of the connection.

        The view is of the feed that the visitor may read (`Feeds.of`).
        """
        kept = self._rooms.get(visitor.may("see_room"))
        if kept is None or kept[0] is not view:
            kept = self._rooms[visitor.may("see_room")] = view, {}
        rendered, cards = kept[1], CardsPage.of(view, wanted)
        # What is rendered for one reader is shown to others: it may depend on rights alone, never on who it is.
        rights = visitor.may("see_room"), visitor.may("give_orders"), visitor.rules, visitor.keys_sheets
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
    """Answers from the feed's newest view."""

    def __init__(
        self, feeds: embargo.Feeds, live: LivePages, pages: DashboardRenderer, trace: embargo.EmbargoTrace
    ) -> None:
        self._feeds, self._live, self._pages, self._trace = feeds, live, pages, trace

    def routes(self, access: Access) -> Sequence[Route]:
        """Return the routes. Whether the desk is alive is told to everybody, and nothing else."""
        return [
            access.route("/", self.page, "see_public"),
            access.route("/events", self.events, "see_public"),
            access.route("/view.json", self.view, "see_public"),
            access.route("/standings.csv", self.standings, "see_public"),
            access.route("/team-standings.csv", self.team_standings, "see_public"),
            Route("/health", self.health),
        ]

    async def page(self, request: Request) -> Response:
        """The page, with the newest view already in it."""
        visitor = visitor_of(request)
        html = self._pages.whole(
            await self._seen(visitor),
            translator_for(request),
            wall_clock_ms(),
            visitor,
            request.query_params,
        )
        return render.html_response(html)

    async def events(self, request: Request) -> Response:
        """Views as they come: as JSON, or with `?show=page` as the part of the page that changes."""
        if request.method != "HEAD":
            await self._seen(visitor_of(request))
        if request.query_params.get("show") == "page":
            return self._live.stream(request, self._page_by_page(request), of_room=True)

        def as_event(view: DashboardView) -> bytes:
            return sse_event("view", view.version, as_json(view).decode())

        return self._live.stream(request, as_event)

    def _page_by_page(self, request: Request) -> EncodeView:
        """Tell one reader of the page what has changed in it since it was told last."""
        _, visitor, wanted = translator_for(request), visitor_of(request), request.query_params
        last: Rendering | None = None

        def as_page(view: DashboardView) -> bytes | None:
            nonlocal last
            now, before = self._pages.rendering(view, _, visitor, wanted), last
            last = now
            text = now.after(before)
            return None if text is None else sse_event("page", view.version, text)

        return as_page

    async def view(self, request: Request) -> Response:
        """The newest view, for other programs."""
        return Response(as_json(await self._seen(visitor_of(request))), media_type="application/json")

    async def standings(self, request: Request) -> Response:
        """The standings as a file."""
        view = await self._seen(visitor_of(request))
        text = render.BYTE_ORDER_MARK + standings_csv(view.standings, self._pages.origin_of)
        return render.download(text, f"standings-{view.event}-{view.version}.csv", "text/csv")

    async def team_standings(self, request: Request) -> Response:
        """The standings of the teams as a file."""
        view = await self._seen(visitor_of(request))
        text = render.BYTE_ORDER_MARK + team_standings_csv(view.teams)
        return render.download(text, f"team-standings-{view.event}-{view.version}.csv", "text/csv")

    async def health(self, _request: Request) -> Response:
        """Whether the desk answers, and what it knows of the line behind it."""
        return JSONResponse({"ok": True, "connected": self._feeds.public.current.connected})

    async def _seen(self, visitor: Visitor) -> DashboardView:
        view = self._feeds.of(visitor).current
        await run_in_threadpool(partial(self._trace.watched, visitor, "room", hidden=view.under_way))
        return view


Audience = tuple[str, tuple[bool, bool, bool, bool], int]
"""Language, rights and page of cards of those who see the same."""


class CardsPage(NamedTuple):
    """The cards of one page."""

    pagination: Pagination
    shown: tuple[TableView, ...]

    @classmethod
    def of(cls, view: DashboardView, wanted: Asked) -> "CardsPage":
        """Return the page that is wanted, or the one that has a table's, or the nearest that there is."""
        numbers = [str(table.table) for table in view.tables] if "table" in wanted else []
        if wanted.get("table") in numbers:
            wanted = {"page": str(numbers.index(wanted["table"]) // render.CARDS_A_PAGE + 1)}
        pagination = Pagination.at(wanted, len(view.tables), render.CARDS_A_PAGE)
        return cls(pagination, view.tables[pagination.lines])

    def card_link(self, table: int, language: str) -> str:
        """Return the address of a table's card, as seen from this page."""
        here = self.pagination.of == 1 or any(one.table == table for one in self.shown)
        return f"#table-{table}" if here else f"/?table={table}&lang={language}#table-{table}"


CALLS_RIGHT: Final = "give_orders"
ATTENDED_PATH: Final = "/attended"

BACK: Final = ("/", "/grid")
"""Pages that have such buttons."""

KEPT_FIELDS: Final = ("page", "kind")
"""What of their addresses leads back to where the button was: one that is pressed on the last page stays there."""

ACTIONS: Final = {"go": "call_taken", "stay": "call_left", "see": "alert_seen", "unsee": "alert_unseen"}
"""Names of buttons, and how the audit log calls what they do."""

LONGEST_NUMBER: Final = 15
LONGEST_KEPT: Final = 64


class CallsPage:
    """Answers arbiters."""

    def __init__(self, access: Access, scorer: ScorerThread, auth: Authentication, feed: ViewFeed) -> None:
        self._access, self._scorer, self._auth, self._feed = access, scorer, auth, feed

    def routes(self) -> Sequence[Route]:
        """Return the route."""
        return [self._access.route(ATTENDED_PATH, self.press, CALLS_RIGHT, ("POST",))]

    async def press(self, request: Request) -> Response:
        """Do what a button says, and lead back to its page."""
        try:
            form = await forms.read_form(request, visitor_of(request))
            await run_in_threadpool(self._do, request, form)
        except (PeopleError, errors.DeskError, ScorerError) as error:
            return render_page(request, "refused.html", N_("Not possible"), error=error)
        path, asked = _back(form.get("to", ""))
        return redirect(request, path, **asked)

    def _do(self, request: Request, form: Form) -> None:
        """Note it first and commit the note last: where it is refused, or no news, there is no note of it."""
        action = next((one for one in ACTIONS if one in form), "")
        about, work = self._work(action, form.get(action, ""), account_of(request))
        with suppress(_NoNews), self._auth.store.commit():
            note_action(self._auth, request, ACTIONS[action], about)
            if not self._scorer.ask(work):
                raise _NoNews

    def _work(self, action: str, value: str, who: Account) -> tuple[str, Callable[[], bool]]:
        """Return what it is about, and what is to be done. Raises NoCall, AlertGone, FormMalformed."""
        attended = self._scorer.live.attendance
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
        raise errors.FormMalformed("no button was pressed")

    def _call(self, value: str) -> tuple[TableView, int]:
        """Read `TABLE-SEEN`: a table that calls, and since when somebody went there as it was shown; 0: nobody."""
        table, seen = (read_number(part, LONGEST_NUMBER, -1) for part in value.partition("-")[::2])
        if table < 0 or seen < 0:
            raise errors.FormMalformed("a call is named by its table and by who goes there")
        for one in self._feed.current.tables:
            if one.table == table and one.calling:
                return one, seen
        raise errors.NoCall(f"table {table} does not call the arbiter")

    def _alert(self, value: str) -> AlertView:
        for one in self._feed.current.alerts:
            if alerts.alert_value(one) == value:
                return one
        raise errors.AlertGone("this alert is not kept any more")


class _NoNews(Exception):
    """What a button says was so already."""


def _back(to: str) -> tuple[str, dict[str, str]]:
    """Read where a form came from: a page of ours, and what it was asked for. Whatever else is said leads nowhere."""
    path, _, query = to.partition("?")
    if path not in BACK:
        return BACK[0], {}
    said = dict(parse_qsl(query))
    return path, {name: said[name][:LONGEST_KEPT] for name in KEPT_FIELDS if name in said}
