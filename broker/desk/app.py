"""The desk's routes, each with the right that it asks for. What is read here changes nothing."""

import time
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from broker.desk.access import Access, Visitor, visitor_of
from broker.desk.annex import Annex
from broker.desk.attended_page import AttendedPage
from broker.desk.cards import Wanted
from broker.desk.carriers_now import CarriersNow
from broker.desk.carriers_page import CarriersPage
from broker.desk.display_page import DisplayPage
from broker.desk.errors import DeskError
from broker.desk.forms_page import language
from broker.desk.grid_page import GridPage, WirePage
from broker.desk.headers import Guarded
from broker.desk.live_sheet import LiveSheets
from broker.desk.login import Login
from broker.desk.offer import NOTHING, Offer
from broker.desk.orders import OrderDesk
from broker.desk.orders_page import OrdersPage
from broker.desk.page import Pages
from broker.desk.parts import Rendering
from broker.desk.people_page import PeoplePage
from broker.desk.receipt_page import ReceiptPage
from broker.desk.refusals import nothing_there, refused
from broker.desk.sheets import Sheets
from broker.desk.sheets_page import SheetsPage
from broker.desk.stream import Pace, Streams, Tell, event
from broker.people.door import Door
from broker.people.errors import PeopleError
from broker.rules.errors import RuleError
from broker.scorer.origins import Origin
from broker.scorer.standings import as_csv
from broker.scorer.view import View, ViewFeed
from broker.scorer.view import as_json as written

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
BYTE_ORDER_MARK: Final = "\ufeff"
"""Without it Excel garbles Chinese names."""

EVENT_STREAM: Final = "text/event-stream; charset=utf-8"


def create_app(  # noqa: PLR0913 - each is a part that a desk can do without
    feed: ViewFeed,
    *,
    hosts: Sequence[str] = LOOPBACK,
    streams: Streams | None = None,
    pace: Pace | None = None,
    door: Door | None = None,
    open_room: bool = True,
    orders: OrderDesk | None = None,
    annexes: Sequence[Annex] = (),
    offer: Offer = NOTHING,
) -> Starlette:
    """Make the desk's application.

    `hosts` are the names under which it answers: a request for any other host is refused, so that a foreign page whose
    name resolves to this machine reads nothing. `streams.end()` lets the open event streams finish. `open_room`: as
    long as the `door` knows no account everybody who reaches the desk may look; without it nobody may. `annexes`: pages
    of other rooms, which may stand in the place of ours.
    """
    access = Access(door, open_room=open_room, open_public=offer.open_public)
    streams, pace = streams or Streams(), pace or Pace()
    attends = door is not None and offer.attends is not None
    pages = _pages(offer, attends=attends)
    desk = Desk(feed, streams, pace, access, pages)
    if orders is None:
        access.withhold("give_orders")
    access.lead_to(way for annex in annexes for way in annex.ways)
    live = LiveSheets(feed, access, streams, pace, grids=offer.grids, attends=attends)
    return Starlette(
        routes=[
            *(route for annex in annexes for route in (*annex.routes(access, feed), *annex.live(live))),
            *desk.routes(),
            *(Login(access, door).routes() if door else ()),
            *(PeoplePage(access, door).routes() if door else ()),
            *(OrdersPage(access, orders, feed).routes() if orders else ()),
            *(AttendedPage(access, offer.attends, door, feed).routes() if door and offer.attends else ()),
            *_sheets(feed, offer, access, live),
            Mount("/static", StaticFiles(directory=str(files("broker.desk") / "static"))),
        ],
        exception_handlers={404: nothing_there, DeskError: refused, PeopleError: refused, RuleError: refused},
        middleware=[
            Middleware(Guarded),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False),
        ],
    )


def _pages(offer: Offer, *, attends: bool) -> Pages:
    if offer.moments is None:
        return Pages(grids=offer.grids, attends=attends)
    moments = offer.moments

    def origin_of(player: str) -> Origin:
        return moments().event.origin_of(player)

    teams = moments().event.plan.teams
    return Pages(sheets=True, grids=offer.grids, teams=teams, origin_of=origin_of, attends=attends)


def _sheets(feed: ViewFeed, offer: Offer, access: Access, live: LiveSheets) -> Iterator[Route]:
    """Give the routes of what is made from the plays."""
    if offer.moments is None:
        return
    sheets, carriers = Sheets(offer.moments, offer.clock), CarriersNow(offer.moments, offer.clock)
    yield from SheetsPage(access, sheets, live).routes()
    yield from ReceiptPage(sheets).routes()
    yield from CarriersPage(feed, carriers).routes(live)
    yield from DisplayPage(feed, access, sheets).routes()
    if offer.wire:
        yield from GridPage(feed, sheets, carriers, offer.clock).routes(live)
        yield from WirePage(offer.wire).routes(live)


class Desk:
    """Answers from the feed's newest view."""

    def __init__(self, feed: ViewFeed, streams: Streams, pace: Pace, access: Access, pages: Pages) -> None:
        self._feed = feed
        self._streams = streams
        self._pace = pace
        self._access = access
        self._pages = pages

    def routes(self) -> Sequence[Route]:
        """Give the routes. Whether the desk is alive is told to everybody, and nothing else."""
        return [
            self._access.route("/", self.page, "see_public"),
            self._access.route("/events", self.events, "see_public"),
            self._access.route("/view.json", self.view, "see_public"),
            self._access.route("/standings.csv", self.standings, "see_public"),
            Route("/health", self.health),
        ]

    async def page(self, request: Request) -> Response:
        """The page, with the newest view already in it."""
        html = self._pages.whole(
            self._feed.current, language(request), time.time_ns() // 1_000_000, visitor_of(request), _wanted(request)
        )
        return Response(html, media_type="text/html", headers={"Vary": "Accept-Language, Cookie"})

    async def events(self, request: Request) -> Response:
        """Views as they come: as JSON, or with `?show=page` as the part of the page that changes."""
        if request.method == "HEAD":  # a stream has no end, so its head is answered without beginning it
            return Response(media_type=EVENT_STREAM)
        if request.query_params.get("show") == "page":
            return self._stream(self._page_by_page(request), self._pace.room, visitor_of(request))
        visitor = visitor_of(request)

        def as_json(view: View) -> bytes:
            return event("view", view.version, written(self._pages.seen_by(view, visitor)).decode())

        return self._stream(as_json, self._pace, visitor)

    def _page_by_page(self, request: Request) -> Tell:
        """Tell one reader of the page what has changed in it since it was told last."""
        words, visitor, wanted = language(request), visitor_of(request), _wanted(request)
        last: Rendering | None = None

        def as_page(view: View) -> bytes | None:
            nonlocal last
            now, before = self._pages.rendering(view, words, visitor, wanted), last
            last = now
            text = now.after(before)
            return None if text is None else event("page", view.version, text)

        return as_page

    def _stream(self, tell: Tell, pace: Pace, visitor: Visitor) -> Response:
        stream = self._streams.follow(self._feed, tell, pace, lambda: self._access.goes_on(visitor))
        return StreamingResponse(stream, media_type=EVENT_STREAM, headers={"X-Accel-Buffering": "no"})

    async def view(self, request: Request) -> Response:
        """The newest view, for other programs."""
        return Response(written(self._seen(visitor_of(request))), media_type="application/json")

    async def standings(self, request: Request) -> Response:
        """The standings as a file."""
        view = self._seen(visitor_of(request))
        attachment = f'attachment; filename="standings-{view.event}-{view.version}.csv"'
        text = BYTE_ORDER_MARK + as_csv(view.standings, self._pages.origin_of)
        return Response(text, media_type="text/csv", headers={"Content-Disposition": attachment})

    async def health(self, _request: Request) -> Response:
        """Whether the desk answers, and what it knows of the line behind it."""
        view = self._feed.current
        return JSONResponse({"ok": True, "version": view.version, "connected": view.connected})

    def _seen(self, visitor: Visitor) -> View:
        return self._pages.seen_by(self._feed.current, visitor)


def _wanted(request: Request) -> Wanted:
    return Wanted(request.query_params.get("page", ""), request.query_params.get("table", ""))
