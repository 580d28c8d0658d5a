"""The web application: the routes of all features, the security headers, and how refused requests are answered."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from broker.errors import CodedError, RuleError
from broker.event import Origin
from broker.i18n import N_
from broker.people import Authentication
from broker.rules import Profile
from broker.scorer import ViewFeed
from broker.web import Access, LivePages, Sheets, embargo, errors, render_page
from broker.web.api.resources import ReadInterface
from broker.web.auth import wants_html
from broker.web.live import EventStreams, StreamPace
from broker.web.metrics import MetricsPage
from broker.web.paper.views import PaperPage
from broker.web.people.views import Login, PeoplePage
from broker.web.players.views import ChangesPage, CheckInPage
from broker.web.results.display import CeremonyPage, DisplayPage, SeatingPage
from broker.web.results.exports import ExportsPage
from broker.web.results.luck import LuckPage
from broker.web.results.sessions import SESSIONS_PATH, SessionsNow, SessionsPage
from broker.web.results.views import ReceiptPage, ResultsPage
from broker.web.rulings.final import FinalPage
from broker.web.rulings.questions import WHAT_HAPPENED_PATH, WhatHappenedPage, WhatIfPage
from broker.web.rulings.register import RegisterPage
from broker.web.rulings.views import RulingsPage
from broker.web.services import NO_SERVICES, AuditedRulings, Services
from broker.web.setup.corrections import CorrectionsPage
from broker.web.setup.views import SetupPage
from broker.web.tables.carriers import CarriersNow, CarriersPage
from broker.web.tables.dashboard import CallsPage, DashboardPage, DashboardRenderer
from broker.web.tables.devices import DevicesPage
from broker.web.tables.grid import GridPage, WirePage
from broker.web.tables.orders import OrdersPage
from broker.web.tables.pairing import PairingPage
from broker.web.tables.upgrades import UpgradeHandOut

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")

STATIC_PACKAGES: Final = (
    "broker.web",
    *(f"broker.web.{feature}" for feature in ("tables", "results", "rulings", "setup", "paper", "players")),
)
"""Packages that have a `static` folder: this one and those of the features."""


def create_app(
    feed: ViewFeed,
    *,
    hosts: Sequence[str] = LOOPBACK,
    streams: EventStreams | None = None,
    pace: StreamPace | None = None,
    auth: Authentication | None = None,
    open_room: bool = True,
    services: Services = NO_SERVICES,
) -> Starlette:
    """Return the desk's application.

    `hosts` are the names under which it answers. A request for any other host is refused, so that a foreign page whose
    name resolves to this machine can read nothing. `streams.end()` lets the open event streams finish. With
    `open_room`, everybody who reaches the desk may look as long as `auth` has no account; without it, nobody may.
    `services` determine which pages exist.
    """
    access = Access(
        auth,
        lambda: feed.current,
        open_room=open_room,
        open_public=services.open_public,
        plain=services.plain,
        withheld=frozenset() if services.orders else frozenset({"give_orders"}),
    )
    streams, pace = streams or EventStreams(), pace or StreamPace()
    attends = auth is not None and services.scorer is not None
    feeds, trace = embargo.Feeds(feed), embargo.EmbargoTrace(auth)
    live = LivePages(feeds, access, streams, pace, attends=attends)
    routes = [
        *_setup_routes(services, access),
        *DashboardPage(feeds, live, _dashboard(services, attends=attends), trace).routes(access),
        *(_people_routes(feed, services, access, auth) if auth else ()),
        *_result_routes(feeds, services, access, live, trace),
        *_scorer_routes(feeds, services, access, live),
    ]
    access.pages = _pages(routes, services)
    return Starlette(
        routes=[
            *routes,
            Mount("/static", StaticFiles(packages=[(package, "static") for package in STATIC_PACKAGES])),
        ],
        exception_handlers={
            404: not_found,
            405: method_refused,
            Exception: failed,
            CodedError: error_response,
            RuleError: error_response,
        },
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(KnownHosts, hosts),
        ],
    )


def _dashboard(services: Services, *, attends: bool) -> DashboardRenderer:
    if services.snapshots is None:
        return DashboardRenderer(attends=attends)
    snapshots = services.snapshots

    def origin_of(player: str) -> Origin:
        return snapshots().event.origin_of(player)

    teams = snapshots().event.plan.teams
    return DashboardRenderer(sheets=True, teams=teams, origin_of=origin_of, attends=attends)


def _pages(routes: Sequence[Route], services: Services) -> frozenset[str]:
    """Return the paths of this desk's pages. Those for riichi sessions and for turns exist only where they apply."""
    event = services.scorer.rulings.room.event if services.scorer else None
    without = {SESSIONS_PATH} if event and not event.riichi else set[str]()
    if event and not isinstance(event.profile, Profile):
        without.add(WHAT_HAPPENED_PATH)
    return frozenset(route.path for route in routes) - without


def _setup_routes(services: Services, access: Access) -> Iterator[Route]:
    """Return the routes of the set-up, which takes the dashboard's place until there is a scorer."""
    if services.folder and services.scorer is None:
        yield from SetupPage(access, services.folder).routes(first=True)


def _people_routes(feed: ViewFeed, services: Services, access: Access, auth: Authentication) -> Iterator[Route]:
    """Return the routes that need an account."""
    yield from Login(access, auth).routes()
    yield from PeoplePage(access, auth).routes()
    if services.orders:
        yield from OrdersPage(access, services.orders, feed).routes()
    if services.standby:
        yield from services.standby.routes()
    if services.pairing:
        yield from PairingPage(access, feed, auth, services.pairing).routes()
    if services.scorer:
        rulings = AuditedRulings(services.scorer, auth)
        yield from CallsPage(access, services.scorer, auth, feed).routes()
        yield from DevicesPage(access, services.scorer, auth, services).routes()
        if services.folder:
            yield from UpgradeHandOut(services.scorer, services.folder).routes()
        yield from RulingsPage(access, rulings).routes()
        yield from WhatIfPage(access, rulings).routes()
        yield from FinalPage(access, rulings, services.folder or Path("EVENT")).routes()
        yield from RegisterPage(access, rulings).routes()
        yield from WhatHappenedPage(access, rulings).routes()
        yield from (*CheckInPage(access, rulings).routes(), *ChangesPage(access, rulings).routes())
        if services.folder:
            media = SetupPage(access, services.folder).files()
            yield from CorrectionsPage(access, services.folder, rulings, media).routes()


def _result_routes(
    feeds: embargo.Feeds, services: Services, access: Access, live: LivePages, trace: embargo.EmbargoTrace
) -> Iterator[Route]:
    """Return the routes of pages made from the plays."""
    if services.snapshots is None:
        return
    sheets = Sheets(services.snapshots, services.clock, trace=trace)
    carriers = CarriersNow(services.snapshots, services.clock)
    yield from ReadInterface(access, feeds, sheets).routes()
    yield from ResultsPage(sheets, services.folder, feeds).routes(access, live)
    yield from CeremonyPage(access, sheets).routes()
    yield from LuckPage(access, sheets).routes()
    yield from ReceiptPage(feeds.public, sheets).routes()
    yield from CarriersPage(feeds.room, carriers).routes(live)
    yield from DisplayPage(feeds.public, access, sheets, lambda: carriers.at(feeds.room.current)).routes()
    yield from SeatingPage(sheets).routes(access, live)
    if services.wire:
        yield from GridPage(feeds.room, sheets, carriers, services.clock).routes(live)
        yield from WirePage(services.wire, feeds.room, trace).routes(live)


def _scorer_routes(feeds: embargo.Feeds, services: Services, access: Access, live: LivePages) -> Iterator[Route]:
    """Return the routes of pages that need the scorer, or the folder it writes to."""
    if services.scorer is None:
        return
    scorer, room, snapshots = services.scorer, services.scorer.rulings.room, services.snapshots
    yield MetricsPage(access, feeds, services, scorer).route()

    def sat(player: str, round_: int) -> str | None:
        return snapshots().sat(player, round_) if snapshots else None

    yield from SessionsPage(SessionsNow(lambda: room.event, room.tables.sessions, sat)).routes(access, live)
    if services.deals and room.planned.plan.plays and isinstance(room.event.profile, Profile):
        yield from PaperPage(access, feeds.room, room, services.deals, scorer).routes()
    if services.folder:
        yield from ExportsPage(access, feeds, services.folder, room).routes()


# Nothing inline and nothing from other sites: markup in a name that escaped our escaping still could not run.
CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)

SECURITY_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers send forms with `Origin: null`
    "Cross-Origin-Resource-Policy": "same-origin",
}

CACHE_LIVE: Final = "no-store"
CACHE: Final = {"/static/": "no-cache", "/api/": "private, no-cache"}
"""Cache-Control by path. Responses may be stored but are revalidated, so no page runs with an old version's style."""
CACHE_SENT: Final = "private, no-cache"
"""For pages that answer a form: a browser that goes back to one cannot fetch it again (ERR_CACHE_MISS). Logging out
clears what is stored."""


class SecurityHeaders:
    """Adds the headers to every response, refusals included. Plain ASGI, because it must not buffer a stream."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        default = CACHE_SENT if scope["method"] == "POST" else CACHE_LIVE
        caching = next((value for path, value in CACHE.items() if scope["path"].startswith(path)), default)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in {**SECURITY_HEADERS, "Cache-Control": caching}.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_guarded)


class KnownHosts:
    """Refuses requests for other hosts, with the desk's own page for refusals.

    Static files are served under any name, so that a browser can style the refusal.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str]) -> None:
        self._app, self._hosts = app, list(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        known = False

        async def accept(*_: object) -> None:
            nonlocal known
            known = True

        async def drop(_answer: Message) -> None:  # starlette's own answer, a line of plain text
            pass

        await TrustedHostMiddleware(accept, self._hosts, www_redirect=False)(scope, receive, drop)
        if known or scope["path"].startswith("/static/"):
            await self._app(scope, receive, send)
        else:
            others = [header for header in scope["headers"] if header[0] != b"host"]  # it may not be a valid host
            refusal = errors.HostUnknown("the desk does not answer to this name; --desk-name adds another")
            await error_response(Request({**scope, "headers": others}), refusal)(scope, receive, send)


def error_response(request: Request, error: Exception) -> Response:
    """Answer a refused request with the code, status and text of its error."""
    if wants_html(request):
        return render_page(request, "refused.html", N_("Not possible"), error=error)
    code, status = getattr(error, "code", "desk_error"), getattr(error, "status", 400)
    wait = getattr(error, "wait_s", 0)
    headers = {"Retry-After": str(wait)} if wait else None
    return JSONResponse({"error": {"code": code, "message": str(error)}}, status, headers)


def not_found(request: Request, _error: Exception) -> Response:
    """Answer a request for a page that does not exist."""
    return error_response(request, errors.PageUnknown("there is no such page"))


def method_refused(request: Request, error: Exception) -> Response:
    """Answer a request whose method its address does not support; the `Allow` header lists those it does."""
    answer = error_response(request, errors.MethodRefused(f"{request.method} is not allowed here"))
    answer.headers.update(getattr(error, "headers", None) or {})
    return answer


def failed(request: Request, _error: Exception) -> Response:
    """Answer a request on which the desk's program has failed, outside all middleware; the server logs the error."""
    answer = error_response(request, errors.DeskFailed("the desk's program failed; its log says where"))
    answer.headers.update(SECURITY_HEADERS)
    return answer
