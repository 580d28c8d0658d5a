"""The desk's routes. It only reads: nothing here can change an event."""

import time
from collections.abc import Sequence
from importlib.resources import files
from typing import Final

import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from broker.desk.catalogue import Catalogue, choose
from broker.desk.headers import Guarded
from broker.desk.page import Pages
from broker.desk.stream import Pace, Streams, event
from broker.scorer.standings import as_csv
from broker.scorer.view import View, ViewFeed

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
BYTE_ORDER_MARK: Final = "\ufeff"
"""Without it Excel garbles Chinese names."""

EVENT_STREAM: Final = "text/event-stream; charset=utf-8"


def create_app(
    feed: ViewFeed, *, hosts: Sequence[str] = LOOPBACK, streams: Streams | None = None, pace: Pace | None = None
) -> Starlette:
    """Make the desk's application.

    `hosts` are the names under which it answers: a request for any other host is refused, so that a foreign page whose
    name resolves to this machine reads nothing. `streams.end()` lets the open event streams finish.
    """
    desk = Desk(feed, streams or Streams(), pace or Pace())
    return Starlette(
        routes=[
            Route("/", desk.page),
            Route("/events", desk.events),
            Route("/view.json", desk.view),
            Route("/standings.csv", desk.standings),
            Route("/health", desk.health),
            Mount("/static", StaticFiles(directory=str(files("broker.desk") / "static"))),
        ],
        middleware=[
            Middleware(Guarded),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False),
        ],
    )


class Desk:
    """Answers from the feed's newest view."""

    def __init__(self, feed: ViewFeed, streams: Streams, pace: Pace) -> None:
        self._feed = feed
        self._streams = streams
        self._pace = pace
        self._pages = Pages()

    async def page(self, request: Request) -> Response:
        """The page, with the newest view already in it."""
        words = _language(request)
        html = self._pages.whole(self._feed.current, words, now=time.time_ns() // 1_000_000)
        return Response(html, media_type="text/html", headers={"Vary": "Accept-Language"})

    async def events(self, request: Request) -> Response:
        """Views as they come: as JSON, or with `?show=page` as the part of the page that changes."""
        if request.method == "HEAD":  # a stream has no end, so its head is answered without beginning it
            return Response(media_type=EVENT_STREAM)
        words = _language(request)

        def as_json(view: View) -> bytes:
            return event("view", view.version, msgspec.json.encode(view).decode())

        def as_page(view: View) -> bytes:
            return event("page", view.version, self._pages.room(view, words))

        tell = as_page if request.query_params.get("show") == "page" else as_json
        stream = self._streams.follow(self._feed, tell, self._pace)
        return StreamingResponse(stream, media_type=EVENT_STREAM, headers={"X-Accel-Buffering": "no"})

    async def view(self, _request: Request) -> Response:
        """The newest view, for other programs."""
        return Response(msgspec.json.encode(self._feed.current), media_type="application/json")

    async def standings(self, _request: Request) -> Response:
        """The standings as a file."""
        view = self._feed.current
        attachment = f'attachment; filename="standings-{view.event}-{view.version}.csv"'
        text = BYTE_ORDER_MARK + as_csv(view.standings)
        return Response(text, media_type="text/csv", headers={"Content-Disposition": attachment})

    async def health(self, _request: Request) -> Response:
        """Whether the desk answers, and what it knows of the line behind it."""
        view = self._feed.current
        return JSONResponse({"ok": True, "version": view.version, "connected": view.connected})


def _language(request: Request) -> Catalogue:
    return choose(request.query_params.get("lang"), request.headers.get("accept-language", ""))
