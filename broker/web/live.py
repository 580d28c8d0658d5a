"""Live pages: server-sent events, with renderings of which only the changed parts are sent.

A large event's page is a quarter of a megabyte, and one result changes a few lines of it. In templates, `part` calls a
macro to draw one line or card and reuses the result until the object drawn has changed. `desk.js` leaves an element as
it is where it receives an empty one with the same key and `data-same`.
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
from broker.web.auth import Access, Visitor, query_to_keep, visitor_of
from broker.web.embargo import Feeds, PublicFeed
from broker.web.i18n import HtmlTranslator
from broker.web.render import html_response, render_template, translator_for

EVENT_STREAM: Final = "text/event-stream; charset=utf-8"

# The comment keeps proxies from closing a silent stream. A page cannot see comments, so the event beside it tells the
# page that the connection is alive: otherwise a reader who lost the Wi-Fi would look at old news for minutes.
HEARTBEAT: Final = b": heartbeat\nevent: beat\ndata:\n\n"

SESSION_ENDED: Final = b"event: bye\ndata:\n\n"
"""Sent when the reader's session has ended; the page then goes to the login."""

EncodeView = Callable[[DashboardView], bytes | None]
"""Returns the bytes to send for a view; None if it changes nothing for this reader."""


class StreamPace(NamedTuple):
    """How often a stream may send."""

    heartbeat_s: float = 10.0
    gap_s: float = 0.25
    """Minimum time between two views sent to one reader: four a second are more than anyone can read."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    page_gap_s: float = 0.1
    """The same for the dashboard, which is sent in parts: an arbiter should see a result before its players look up."""

    @property
    def dashboard(self) -> "StreamPace":
        """The pace of the dashboard."""
        return self._replace(gap_s=self.page_gap_s)


class EventStreams:
    """All open streams of one server, so that they can be ended with it. For use within one event loop."""

    def __init__(self) -> None:
        self.ending = False
        self._wakers: set[asyncio.Event] = set()

    def end(self) -> None:
        """Let every stream finish by itself; a server that waits for its readers to leave would never stop."""
        self.ending = True
        for waker in self._wakers:
            waker.set()

    async def follow(
        self,
        feed: ViewFeed | PublicFeed,
        encode: EncodeView,
        pace: StreamPace,
        may_continue: Callable[[], bool] = lambda: True,
        *,
        at_beats: bool = False,
    ) -> AsyncIterator[bytes]:
        """Yield one reader's stream until the server ends, the reader leaves or loses the right to read.

        `encode` returns None where a view changes nothing for this reader. With `at_beats` it is also called at each
        heartbeat, for content that does not change along with the view.
        """
        changed = asyncio.Event()
        self._wakers.add(changed)
        # The feed is followed in a task of its own: cancelling its iterator at a heartbeat would end it.
        following = asyncio.create_task(_wake_on_change(feed, changed))
        silence: float | None = None  # no heartbeat before the first view, however slow the machine
        try:
            while True:
                fresh = await _wait_for_change(changed, silence)
                silence = pace.heartbeat_s
                if self.ending or following.done():
                    return
                if not may_continue():
                    yield SESSION_ENDED
                    return
                # A change may bring this reader nothing new; a heartbeat still shows that the connection is alive.
                yield (encode(feed.current) if fresh or at_beats else None) or HEARTBEAT
                if fresh:
                    await pace.sleep(pace.gap_s)
        finally:
            following.cancel()
            self._wakers.discard(changed)


def sse_event(name: str, version: int, text: str) -> bytes:
    """Encode one event; each line of the text becomes a data line."""
    data = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\ndata: ")
    return f"event: {name}\nid: {version}\ndata: {data}\n\n".encode()


async def _wake_on_change(feed: ViewFeed | PublicFeed, changed: asyncio.Event) -> None:
    async for _ in feed.views():
        changed.set()


async def _wait_for_change(changed: asyncio.Event, seconds: float | None) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await changed.wait()
    except TimeoutError:
        return False
    changed.clear()
    return True


PART_MARK: Final = re.compile(r"<part (\d+)>")
"""A part's place in the page. Text typed by people is escaped and has no `<`, so nobody can forge one."""

KEYED_TAG: Final = re.compile(r'<(?P<tag>[a-z]+)\b[^>]*?\bdata-key="(?P<key>[^"]*)"')

MOST_AUDIENCES: Final = 24
"""Maximum number of audiences whose parts are cached. An audience is a language, a set of rights and a page."""

_numbers = count(1)


class Part(NamedTuple):
    """One element with a key. `placeholder` is sent in its place to a reader who already has it."""

    thing: object
    html: str
    placeholder: str


class Rendering:
    """A page as everybody in one audience sees it at one time."""

    def __init__(self, skeleton: str, parts: list[Part]) -> None:
        """`skeleton` is the page with a numbered mark for each of its parts."""
        pieces = PART_MARK.split(skeleton)
        self.between, self.parts = pieces[::2], [parts[int(number)] for number in pieces[1::2]]
        found = Counter(part.placeholder for part in self.parts)
        # With two elements of the same key it would be unclear which one stays.
        self.known = {part.placeholder: part for part in self.parts if found[part.placeholder] == 1}
        self.number = next(_numbers)
        self._last_changes: tuple[int, str | None] = (0, None)

    @cached_property
    def whole(self) -> Markup:
        """The whole page."""
        return Markup(self._assemble([part.html for part in self.parts]))  # noqa: S704 - escaped output of the templates

    def changes_since(self, before: "Rendering | None") -> str | None:
        """Return the page for a reader who last got `before`, without its unchanged parts; None if nothing changed."""
        if before is None:
            return self.whole
        # Nearly all readers have the same `before`. Only its number is stored: a reference would chain all renderings.
        if self._last_changes[0] != before.number:
            self._last_changes = before.number, self._difference(before)
        return self._last_changes[1]

    def _difference(self, before: "Rendering") -> str | None:
        if self.between == before.between and self.parts == before.parts:
            return None
        before_by_key, by_key = before.known.get, self.known.get
        unchanged = (before_by_key(part.placeholder) is part is by_key(part.placeholder) for part in self.parts)
        return self._assemble(
            [part.placeholder if same else part.html for part, same in zip(self.parts, unchanged, strict=True)],
        )

    def _assemble(self, filling: list[str]) -> str:
        texts = [text for pair in zip(self.between, [*filling, ""], strict=True) for text in pair]
        return "".join(texts)


class Renderer:
    """Makes renderings one after another. For use by one thread only."""

    def __init__(self) -> None:
        self._parts: OrderedDict[Hashable, dict[str, Part]] = OrderedDict()

    def render(self, audience: Hashable, template: Template, values: Mapping[str, Any]) -> Rendering:
        """Render a template that calls `part(key, thing, macro)` for each of its parts.

        A macro's output may depend only on `audience` and `thing`; it is reused while `thing` compares equal. The key
        is the element's `data-key`.
        """
        known, current, parts = self._parts.pop(audience, {}), dict[str, Part](), list[Part]()

        def part(key: str, thing: object, draw: Callable[[Any], str]) -> Markup:
            old = known.get(key)
            current[key] = old if old and (old.thing is thing or old.thing == thing) else _draw_part(thing, draw)
            parts.append(current[key])
            return _mark(len(parts) - 1)

        rendering = Rendering(template.render(values, part=part), parts)
        self._parts[audience] = current
        while len(self._parts) > MOST_AUDIENCES:
            self._parts.popitem(last=False)
        return rendering


@cache
def _mark(number: int) -> Markup:
    """Return the mark of a part; cached, because a page has hundreds of them, many times a second."""
    return Markup("<part {}>").format(number)


def _draw_part(thing: object, draw: Callable[[Any], str]) -> Part:
    html = str(draw(thing)).strip()
    opening = KEYED_TAG.match(html)
    if opening is None:
        raise ValueError(f"a part is one element with a key, not {html[:60]!r}")
    tag, key = opening["tag"], opening["key"]
    return Part(thing, html, f'<{tag} data-key="{key}" data-same></{tag}>')


MOST_CACHED: Final = 64


@dataclass(frozen=True)
class LivePage:
    """The content of a page. While `key` is equal, it is the same for all who have the same rights and language."""

    template: str
    title: str
    values: Mapping[str, object] = field(default_factory=dict)
    key: object = None


MakePage = Callable[[Request, Visitor, HtmlTranslator], LivePage]


class LivePages:
    """Serves sheets as pages, and as streams of their changes."""

    def __init__(
        self,
        feeds: Feeds,
        access: Access,
        streams: EventStreams,
        pace: StreamPace,
        *,
        attends: bool = False,
    ) -> None:
        """`attends` is whether calls and alerts have buttons."""
        self._attends = attends
        self._feeds, self._access, self._streams, self._pace = feeds, access, streams, pace
        self._cached: OrderedDict[Hashable, tuple[object, Markup]] = OrderedDict()
        """Rendered sheets by address, language and rights; never by who the reader is."""

    def routes(self, path: str, make: MakePage, right: Right) -> tuple[Route, Route]:
        """Return the routes of a kind of page and of its stream, which has the same path under `/live`."""

        async def page(request: Request) -> Response:
            return self._page(request, make(request, visitor_of(request), translator_for(request)))

        async def live(request: Request) -> Response:
            visitor, _ = visitor_of(request), translator_for(request)
            make(request, visitor, _)  # refuses a page that does not exist before the stream begins
            return self.stream(request, self._changes(request, make, _, visitor), at_beats=True)

        return self._access.route(path, page, right), self._access.route("/live" + path, live, right)

    def _page(self, request: Request, sheet: LivePage) -> Response:
        _, visitor, query = translator_for(request), visitor_of(request), query_to_keep(request)
        html = render_template(
            "live_sheet.html",
            room=self._rendered(request, sheet, _, visitor),
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
        self, request: Request, encode: EncodeView, *, dashboard_pace: bool = False, at_beats: bool = False
    ) -> Response:
        """Answer with a stream of what the visitor may follow, for as long as they may.

        `dashboard_pace` streams at the pace of the dashboard. `at_beats` is as in `follow`.
        """
        if request.method == "HEAD":  # a stream never ends, so answer without starting one
            return Response(media_type=EVENT_STREAM)
        visitor, pace = visitor_of(request), self._pace.dashboard if dashboard_pace else self._pace
        stream = self._streams.follow(
            self._feeds.of(visitor), encode, pace, lambda: self._access.may_continue(visitor), at_beats=at_beats
        )
        return StreamingResponse(stream, media_type=EVENT_STREAM, headers={"X-Accel-Buffering": "no"})

    def _changes(self, request: Request, make: MakePage, _: HtmlTranslator, visitor: Visitor) -> EncodeView:
        """Return an encoder that sends one reader a sheet whenever it differs from the last one sent."""
        last: list[Markup] = []

        def encode(view: DashboardView) -> bytes | None:
            html = self._rendered(request, make(request, visitor, _), _, visitor)
            if last == [html]:
                return None
            last[:] = [html]
            return sse_event("page", view.version, html)

        return encode

    def _rendered(self, request: Request, sheet: LivePage, _: HtmlTranslator, visitor: Visitor) -> Markup:
        address = request.url.path.removeprefix("/live") + urlencode(query_to_keep(request))
        audience = address, _.language, *map(visitor.may, get_args(Right)), visitor.may_rule
        banners = labels.banners(self._feeds.of(visitor).current) if visitor.may("see_room") else ()
        cached, key = self._cached.pop(audience, None), (sheet.key, banners)
        if cached is None or cached[0] != key or sheet.key is None:
            title, attends = self._feeds.of(visitor).current.title, self._attends and visitor.may("give_orders")
            cached = (key, render_sheet(sheet, _, visitor, title, banners=banners, attends=attends))
        self._cached[audience] = cached
        while len(self._cached) > MOST_CACHED:
            self._cached.popitem(last=False)
        return cached[1]


def render_sheet(
    sheet: LivePage,
    _: HtmlTranslator,
    visitor: Visitor,
    view_title: str,
    *,
    banners: Sequence[Message] = (),
    attends: bool = False,
) -> Markup:
    """Render the content of a page without the frame around it."""
    html = render_template(
        sheet.template,
        _=_,
        view_title=view_title,
        title=sheet.title,
        arbiter=visitor.may("see_room"),
        may=visitor.may,
        banners=banners,
        commands=visitor.may("give_orders"),
        rules=visitor.may_rule,
        attends=attends,
        **sheet.values,
    )
    return Markup(html)  # noqa: S704 - the template's own escaped output
