"""Pages that follow the room by themselves, of which the server renders the part that changes."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from broker.desk.access import Access, Visitor, visitor_of
from broker.desk.catalogue import LANGUAGES, Catalogue, catalogues
from broker.desk.forms_page import language
from broker.desk.page import environment
from broker.desk.stream import Pace, Streams, event
from broker.people.roles import Right
from broker.scorer.view import View, ViewFeed

EVENT_STREAM: Final = "text/event-stream; charset=utf-8"
MOST_KEPT: Final = 64
KEPT_QUERY: Final = ("page", "table", "tables", "kind", "text")
"""What of an address stays when the language is changed, or the page follows the room."""


@dataclass(frozen=True)
class Sheet:
    """One page's content. While `key` is equal it is the same for all who have the same rights and language."""

    template: str
    title: str
    values: Mapping[str, object] = field(default_factory=dict)
    key: object = None


Make = Callable[[Request, Visitor, Catalogue], Sheet]


class Place(NamedTuple):
    """Whose rendering is kept: language and rights, never who it is."""

    path: str
    language: str
    rights: tuple[bool, ...]


class LiveSheets:
    """Serves sheets as pages, and as streams of what changes in them."""

    def __init__(
        self, feed: ViewFeed, access: Access, streams: Streams, pace: Pace, *, grids: bool, attends: bool = False
    ) -> None:
        """`grids`: there are the arbiters' grid and feed to point to; `attends`: calls and alerts have buttons."""
        self._grids, self._attends = grids, attends
        self._feed, self._access, self._streams, self._pace = feed, access, streams, pace
        self._kept: OrderedDict[Place, tuple[object, Markup]] = OrderedDict()

    def routes(self, path: str, make: Make, right: Right) -> tuple[Route, Route]:
        """Give the routes of one kind of page: itself, and its stream, which is the same path under `/live`."""

        async def page(request: Request) -> Response:
            return self._page(request, make(request, visitor_of(request), language(request)))

        async def live(request: Request) -> Response:
            return self._stream(request, make)

        return self._access.route(path, page, right), self._access.route("/live" + path, live, right)

    def _page(self, request: Request, sheet: Sheet) -> Response:
        words, visitor, query = language(request), visitor_of(request), _kept(request)
        html = (
            environment()
            .get_template("live_sheet.html")
            .render(
                room=self._room(request, sheet, words, visitor),
                view=self._feed.current,
                title=sheet.title,
                words=words,
                say=words.say,
                names=[(one, catalogues()[one]) for one in LANGUAGES],
                stream=f"/live{request.url.path}?{urlencode({**query, 'lang': words.language})}",
                now=None,
                here="?" + urlencode(query) + ("&" if query else ""),
                visitor=visitor,
                log_in=visitor.open_public,
                grids=self._grids,
                attends=self._attends and visitor.may("give_orders"),
                to=request.url.path,
                back=f"{request.url.path}?{urlencode(query)}",
            )
        )
        return HTMLResponse(html, headers={"Vary": "Accept-Language, Cookie"})

    def _stream(self, request: Request, make: Make) -> Response:
        if request.method == "HEAD":
            return Response(media_type=EVENT_STREAM)
        words, visitor = language(request), visitor_of(request)
        make(request, visitor, words)  # what is not there is refused before the stream begins
        last: list[Markup] = []

        def tell(view: View) -> bytes | None:
            html = self._room(request, make(request, visitor, words), words, visitor)
            if last == [html]:
                return None
            last[:] = [html]
            return event("page", view.version, html)

        stream = self._streams.follow(
            self._feed, tell, self._pace, lambda: self._access.goes_on(visitor), at_beats=True
        )
        return StreamingResponse(stream, media_type=EVENT_STREAM, headers={"X-Accel-Buffering": "no"})

    def _room(self, request: Request, sheet: Sheet, words: Catalogue, visitor: Visitor) -> Markup:
        address = request.url.path.removeprefix("/live") + urlencode(_kept(request))
        rights = (visitor.may("see_room"), visitor.may("give_orders"), visitor.rules)
        place = Place(address, words.language, rights)
        kept = self._kept.pop(place, None)
        if kept is None or kept[0] != sheet.key or sheet.key is None:
            html = (
                environment()
                .get_template(sheet.template)
                .render(
                    words=words,
                    say=words.say,
                    view_title=self._feed.current.title,
                    title=sheet.title,
                    arbiter=visitor.may("see_room"),
                    commands=visitor.may("give_orders"),
                    rules=visitor.rules,
                    attends=self._attends and visitor.may("give_orders"),
                    **sheet.values,
                )
            )
            kept = (sheet.key, Markup(html))  # noqa: S704 - the template's own escaped output
        self._kept[place] = kept
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return kept[1]


def _kept(request: Request) -> dict[str, str]:
    return {name: request.query_params[name][:64] for name in KEPT_QUERY if name in request.query_params}
