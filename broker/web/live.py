"""Live pages: server-sent events, and renderings of which only the changed parts are sent.

A large event's page is a quarter of a megabyte, of which a result changes a few lines. A macro draws each line or card,
and `part` in a template keeps what it drew until the thing that it drew has changed. `desk.js` leaves an element as it
is where an empty one with its key and `data-same` stands in its place.
"""

import asyncio
import re
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import count
from typing import Any, Final, NamedTuple, get_args
from urllib.parse import urlencode

from jinja2 import Template
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from broker.i18n import Message
from broker.people import Right
from broker.scorer import DashboardView, ViewFeed
from broker.web import labels
from broker.web.auth import Access, Visitor, kept_query, visitor_of
from broker.web.embargo import Feeds, PublicFeed
from broker.web.i18n import HtmlTranslator
from broker.web.render import html_response, render_template, translator_for

EVENT_STREAM: Final = "text/event-stream; charset=utf-8"

# The comment keeps proxies from closing a silent stream. A page cannot see comments, so the event beside it tells the
# page that the line still stands: without it a reader whose Wi-Fi went away would look at old news for minutes.
HEARTBEAT: Final = b": heartbeat\nevent: beat\ndata:\n\n"

SESSION_ENDED: Final = b"event: bye\ndata:\n\n"
"""The reader's session has ended: a page goes to where one logs in."""

EncodeView = Callable[[DashboardView], bytes | None]
"""What is sent of a view; None if it changes nothing of what its reader looks at."""


class StreamPace(NamedTuple):
    """How fast a stream may be."""

    heartbeat_s: float = 10.0
    gap_s: float = 0.25
    """At least this between two views to one reader: four a second are more than anyone reads."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    page_gap_s: float = 0.1
    """The same of the page, which is sent in parts: the arbiter is to see a result before its players look up."""

    @property
    def room(self) -> "StreamPace":
        """How fast the page may be."""
        return self._replace(gap_s=self.page_gap_s)


class EventStreams:
    """All open streams of one server, so that they can be told that it ends. Used within one event loop."""

    def __init__(self) -> None:
        self.ending = False
        self._wakers: set[asyncio.Event] = set()

    def end(self) -> None:
        """Let every stream finish by itself: a server that waits for its readers would never end."""
        self.ending = True
        for waker in self._wakers:
            waker.set()

    async def follow(
        self,
        feed: ViewFeed | PublicFeed,
        encode: EncodeView,
        pace: StreamPace,
        goes_on: Callable[[], bool] = lambda: True,
        *,
        at_beats: bool = False,
    ) -> AsyncIterator[bytes]:
        """Return the bytes of one reader's stream until the server ends, the reader goes, or may not read any more.

        `encode` gives None where a view changes nothing of what this reader looks at. `at_beats`: it is asked at each
        heartbeat too, for what is not recreated at every change.
        """
        changed = asyncio.Event()
        self._wakers.add(changed)
        # A task of its own follows the feed: cutting the feed's iterator short at a heartbeat would end it.
        following = asyncio.create_task(_wake_on_change(feed, changed))
        silence: float | None = None  # no beat before the first view, however slow the machine
        try:
            while True:
                fresh = await _within(changed, silence)
                silence = pace.heartbeat_s
                if self.ending or following.done():
                    return
                if not goes_on():
                    yield SESSION_ENDED
                    return
                # A reader to whom a change brings nothing new still hears that the line stands.
                yield (encode(feed.current) if fresh or at_beats else None) or HEARTBEAT
                if fresh:
                    await pace.sleep(pace.gap_s)
        finally:
            following.cancel()
            self._wakers.discard(changed)


def sse_event(name: str, version: int, text: str) -> bytes:
    """Write one event; a line break in the text becomes a further data line."""
    data = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\ndata: ")
    return f"event: {name}\nid: {version}\ndata: {data}\n\n".encode()


async def _wake_on_change(feed: ViewFeed | PublicFeed, changed: asyncio.Event) -> None:
    async for _ in feed.views():
        changed.set()


async def _within(changed: asyncio.Event, seconds: float | None) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await changed.wait()
    except TimeoutError:
        return False
    changed.clear()
    return True


PART_MARK: Final = re.compile(r"<part (\d+)>")
"""Where a part stands. Whatever a person has written is escaped and has no `<`, so that nobody can write one."""

KEYED_TAG: Final = re.compile(r'<(?P<tag>[a-z]+)\b[^>]*?\bdata-key="(?P<key>[^"]*)"')

MOST_AUDIENCES: Final = 24
"""Of so many the parts are kept: languages, rights and pages that are being looked at."""

_numbers = count(1)


class Part(NamedTuple):
    """One element with a key. `same` stands for it where the reader has it."""

    thing: object
    html: str
    same: str


class Rendering:
    """What everybody of one audience sees at one moment."""

    def __init__(self, skeleton: str, parts: list[Part]) -> None:
        """`skeleton`: the page with a mark for each of its parts, by number."""
        pieces = PART_MARK.split(skeleton)
        self.between, self.parts = pieces[::2], [parts[int(number)] for number in pieces[1::2]]
        found = Counter(part.same for part in self.parts)
        # Of two elements with one key nobody could say which one stays.
        self.known = {part.same: part for part in self.parts if found[part.same] == 1}
        self.number = next(_numbers)
        self._after: tuple[int, str | None] = (0, None)

    @cached_property
    def whole(self) -> Markup:
        """All of it."""
        return Markup(self._filled([part.html for part in self.parts]))  # noqa: S704 - templates' own escaped output

    def after(self, before: "Rendering | None") -> str | None:
        """Return it to a reader who was given another one `before`; None if that is the same."""
        if before is None:
            return self.whole
        # Nearly all readers had the same one before. Its number is kept, not itself: each would keep the one before it.
        if self._after[0] != before.number:
            self._after = before.number, self._beside(before)
        return self._after[1]

    def _beside(self, before: "Rendering") -> str | None:
        if self.between == before.between and self.parts == before.parts:
            return None
        had, now = before.known.get, self.known.get
        stays = (had(part.same) is part is now(part.same) for part in self.parts)
        return self._filled(
            [part.same if same else part.html for part, same in zip(self.parts, stays, strict=True)],
        )

    def _filled(self, filling: list[str]) -> str:
        texts = [text for pair in zip(self.between, [*filling, ""], strict=True) for text in pair]
        return "".join(texts)


class Renderer:
    """Makes renderings, one after the other; for one thread alone."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, dict[str, Part]] = OrderedDict()

    def render(self, audience: Hashable, template: Template, values: Mapping[str, Any]) -> Rendering:
        """Render a template that says `part(key, thing, macro)` where it has a part.

        What a macro draws may depend on the `audience` and the thing alone: while the thing is equal it is not drawn
        again. The key is what the element has as `data-key`.
        """
        had, now, parts = self._kept.pop(audience, {}), dict[str, Part](), list[Part]()

        def part(key: str, thing: object, draw: Callable[[Any], str]) -> Markup:
            old = had.get(key)
            now[key] = old if old and (old.thing is thing or old.thing == thing) else _drawn_part(thing, draw)
            parts.append(now[key])
            return _mark(len(parts) - 1)

        rendering = Rendering(template.render(values, part=part), parts)
        self._kept[audience] = now
        while len(self._kept) > MOST_AUDIENCES:
            self._kept.popitem(last=False)
        return rendering


@cache
def _mark(number: int) -> Markup:
    """Return what stands for a part: made once, as a page has hundreds of them many times a second."""
    return Markup("<part {}>").format(number)


def _drawn_part(thing: object, draw: Callable[[Any], str]) -> Part:
    html = str(draw(thing)).strip()
    opening = KEYED_TAG.match(html)
    if opening is None:
        raise ValueError(f"a part is one element with a key, not {html[:60]!r}")
    tag, key = opening["tag"], opening["key"]
    return Part(thing, html, f'<{tag} data-key="{key}" data-same></{tag}>')


MOST_KEPT: Final = 64


@dataclass(frozen=True)
class LivePage:
    """One page's content. While `key` is equal it is the same for all who have the same rights and language."""

    template: str
    title: str
    values: Mapping[str, object] = field(default_factory=dict)
    key: object = None


MakePage = Callable[[Request, Visitor, HtmlTranslator], LivePage]


class LivePages:
    """Serves sheets as pages, and as streams of what changes in them."""

    def __init__(
        self,
        feeds: Feeds,
        access: Access,
        streams: EventStreams,
        pace: StreamPace,
        *,
        attends: bool = False,
    ) -> None:
        """`attends`: calls and alerts have buttons."""
        self._attends = attends
        self._feeds, self._access, self._streams, self._pace = feeds, access, streams, pace
        self._kept: OrderedDict[Hashable, tuple[object, Markup]] = OrderedDict()
        """Of each address by language and rights, never by who it is."""

    def routes(self, path: str, make: MakePage, right: Right) -> tuple[Route, Route]:
        """Return the routes of one kind of page: itself, and its stream, which is the same path under `/live`."""

        async def page(request: Request) -> Response:
            return self._page(request, make(request, visitor_of(request), translator_for(request)))

        async def live(request: Request) -> Response:
            visitor, _ = visitor_of(request), translator_for(request)
            make(request, visitor, _)  # what is not there is refused before the stream begins
            return self.stream(request, self._changes(request, make, _, visitor), at_beats=True)

        return self._access.route(path, page, right), self._access.route("/live" + path, live, right)

    def _page(self, request: Request, sheet: LivePage) -> Response:
        _, visitor, query = translator_for(request), visitor_of(request), kept_query(request)
        html = render_template(
            "live_sheet.html",
            room=self._room(request, sheet, _, visitor),
            view=self._feeds.of(visitor).current,
            title=sheet.title,
            _=_,
            stream=f"/live{request.url.path}?{urlencode({**query, 'lang': _.language})}",
            now=None,
            here="?" + urlencode(query) + ("&" if query else ""),
            visitor=visitor,
            attends=self._attends and visitor.may("give_orders"),
            to=request.url.path,
            back=f"{request.url.path}?{urlencode(query)}",
        )
        return html_response(html)

    def stream(
        self, request: Request, encode: EncodeView, *, of_room: bool = False, at_beats: bool = False
    ) -> Response:
        """Answer with a stream of what its visitor may follow, as long as they may.

        `of_room`: at the pace of the dashboard. `at_beats`: as in `follow`.
        """
        if request.method == "HEAD":  # a stream has no end, so its head is answered without beginning it
            return Response(media_type=EVENT_STREAM)
        visitor, pace = visitor_of(request), self._pace.room if of_room else self._pace
        stream = self._streams.follow(
            self._feeds.of(visitor), encode, pace, lambda: self._access.goes_on(visitor), at_beats=at_beats
        )
        return StreamingResponse(stream, media_type=EVENT_STREAM, headers={"X-Accel-Buffering": "no"})

    def _changes(self, request: Request, make: MakePage, _: HtmlTranslator, visitor: Visitor) -> EncodeView:
        """Return what tells one reader of a sheet how it is now, where it is not as they were told last."""
        last: list[Markup] = []

        def encode(view: DashboardView) -> bytes | None:
            html = self._room(request, make(request, visitor, _), _, visitor)
            if last == [html]:
                return None
            last[:] = [html]
            return sse_event("page", view.version, html)

        return encode

    def _room(self, request: Request, sheet: LivePage, _: HtmlTranslator, visitor: Visitor) -> Markup:
        address = request.url.path.removeprefix("/live") + urlencode(kept_query(request))
        place = address, _.language, *map(visitor.may, get_args(Right)), visitor.rules
        red = labels.banners(self._feeds.of(visitor).current) if visitor.may("see_room") else ()
        kept, key = self._kept.pop(place, None), (sheet.key, red)
        if kept is None or kept[0] != key or sheet.key is None:
            title, attends = self._feeds.of(visitor).current.title, self._attends and visitor.may("give_orders")
            kept = (key, render_sheet(sheet, _, visitor, title, banners=red, attends=attends))
        self._kept[place] = kept
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return kept[1]


def render_sheet(
    sheet: LivePage,
    _: HtmlTranslator,
    visitor: Visitor,
    view_title: str,
    *,
    banners: Sequence[Message] = (),
    attends: bool = False,
) -> Markup:
    """Render a page's content, without what is around it."""
    html = render_template(
        sheet.template,
        _=_,
        view_title=view_title,
        title=sheet.title,
        arbiter=visitor.may("see_room"),
        may=visitor.may,
        banners=banners,
        commands=visitor.may("give_orders"),
        rules=visitor.rules,
        attends=attends,
        **sheet.values,
    )
    return Markup(html)  # noqa: S704 - the template's own escaped output
