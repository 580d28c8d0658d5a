"""Event streams, and renderings of which only changed parts are sent."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment
from msgspec.structs import replace

from broker.scorer import DashboardView, ViewFeed
from broker.web.i18n import translators
from broker.web.live import HEARTBEAT, EventStreams, Renderer, Rendering, StreamPace, sse_event
from broker.web.tables.dashboard import DashboardRenderer
from tests import event_loop
from tests.broker.web import sample
from tests.patience import PATIENCE_S


def tell(view: DashboardView) -> bytes:
    return str(view.version).encode()


def run(steps: Callable[[], Awaitable[None]]) -> None:
    async def timed() -> None:
        async with asyncio.timeout(PATIENCE_S):
            await steps()

    event_loop.run(timed())


def test_an_event_has_a_name_an_id_and_a_data_line_for_each_line() -> None:
    assert sse_event("page", 7, "a\r\nb\rc\nd") == b"event: page\nid: 7\ndata: a\ndata: b\ndata: c\ndata: d\n\n"


def test_a_stream_begins_with_the_newest_view() -> None:
    async def steps() -> None:
        assert await anext(EventStreams().follow(sample.feed(), tell, StreamPace())) == b"41"

    run(steps)


def test_an_idle_stream_sends_heartbeats() -> None:
    async def steps() -> None:
        stream = EventStreams().follow(sample.feed(), tell, StreamPace(heartbeat_s=0.001, gap_s=0))
        assert [await anext(stream), await anext(stream), await anext(stream)] == [b"41", HEARTBEAT, HEARTBEAT]

    run(steps)


def test_a_stream_continues_after_a_heartbeat() -> None:
    async def steps() -> None:
        feed = sample.feed()
        stream = EventStreams().follow(feed, tell, StreamPace(heartbeat_s=0.001, gap_s=0))
        assert [await anext(stream), await anext(stream)] == [b"41", HEARTBEAT]
        feed.publish(sample.newer(feed.current))
        said = await anext(stream)
        while said == HEARTBEAT:  # a slow machine may send several before it notices the view
            said = await anext(stream)
        assert said == b"42"

    run(steps)


def test_a_reader_gets_at_most_four_views_a_second() -> None:
    pauses: list[float] = []

    async def steps() -> None:
        feed = sample.feed()

        async def publish_many(seconds: float) -> None:
            pauses.append(seconds)
            for _ in range(50):
                feed.publish(sample.newer(feed.current))

        stream = EventStreams().follow(feed, tell, StreamPace(sleep=publish_many))
        assert [await anext(stream), await anext(stream), await anext(stream)] == [b"41", b"91", b"141"]

    run(steps)
    assert pauses == [0.25, 0.25]


def test_a_stream_ends_with_the_server() -> None:
    async def steps() -> None:
        streams = EventStreams()
        stream = streams.follow(sample.feed(), tell, StreamPace(gap_s=0))
        await anext(stream)
        streams.end()
        assert [chunk async for chunk in stream] == []

    run(steps)


def test_a_stream_begun_while_the_server_ends_is_empty() -> None:
    async def steps() -> None:
        streams = EventStreams()
        streams.end()
        assert [chunk async for chunk in streams.follow(sample.feed(), tell, StreamPace())] == []

    run(steps)


class CountedFeed(ViewFeed):
    """A feed that exposes the number of its readers."""

    @property
    def readers(self) -> int:
        return len(self._waiting)


def test_a_reader_that_leaves_is_removed_from_the_feed() -> None:
    async def steps() -> None:
        feed = CountedFeed(sample.view())
        reading = asyncio.create_task(read_for_ever(feed))
        while feed.readers == 0:
            await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait({reading})
        while feed.readers:
            await asyncio.sleep(0)

    async def read_for_ever(feed: ViewFeed) -> None:
        async for _ in EventStreams().follow(feed, tell, StreamPace()):
            pass

    run(steps)


TEMPLATE: Final = Environment(autoescape=True).from_string(
    '{% macro line(one) %}<li data-key="{{ one[0] }}">{{ one[1] }}</li>{% endmacro %}'
    "<h1>{{ title }}</h1><ul>{% for one in lines %}{{ part(one[0], one, line) }}{% endfor %}</ul>"
)

KEYED: Final = re.compile(r'<li data-key="([^"]*)"( data-same)?>(.*?)</li>')

Line = tuple[str, str]
"""A key and its text."""


def render(renderings: Renderer, lines: list[Line], title: str = "") -> Rendering:
    return renderings.render("everybody", TEMPLATE, {"title": title, "lines": lines})


def laid(text: str, before: str) -> str:
    """Apply a sent update to the page shown before, as desk.js does."""
    shown = {key: html for html, key in ((found[0], found[1]) for found in KEYED.finditer(before))}
    return KEYED.sub(lambda found: shown[found[1]] if found[2] else found[0], text)


rooms = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from(["1", "<part 0>", "&"])), max_size=6)


@given(st.lists(rooms, min_size=1, max_size=4))
def test_applying_the_changes_to_the_previous_page_gives_the_whole_page(moments: list[list[Line]]) -> None:
    renderings = Renderer()
    made = [render(renderings, lines, str(len(lines))) for lines in moments]
    for before, after in pairwise(made):
        text = after.changes_since(before)
        assert laid(before.whole if text is None else text, before.whole) == after.whole


def test_a_new_reader_gets_the_whole_page() -> None:
    assert render(Renderer(), [("a", "1")]).changes_since(None) == '<h1></h1><ul><li data-key="a">1</li></ul>'


def test_an_unchanged_line_is_sent_as_a_placeholder() -> None:
    renderings = Renderer()
    before, now = render(renderings, [("a", "1"), ("b", "1")]), render(renderings, [("b", "1"), ("a", "2")])
    assert now.changes_since(before) == ('<h1></h1><ul><li data-key="b" data-same></li><li data-key="a">2</li></ul>')


def test_nothing_is_sent_if_nothing_changed() -> None:
    renderings = Renderer()
    before = render(renderings, [("a", "1")])
    assert render(renderings, [("a", "1")]).changes_since(before) is None


def test_lines_with_the_same_key_are_always_sent() -> None:
    renderings, lines = Renderer(), [("a", "1"), ("a", "2")]
    before = render(renderings, lines)
    later = render(renderings, lines, "later")
    assert later.changes_since(before) == f"<h1>later</h1>{before.whole.partition('</h1>')[2]}"


def test_audiences_do_not_share_parts() -> None:
    renderings = Renderer()
    both = [
        renderings.render(number, TEMPLATE, {"title": "", "lines": [("a", str(number))]}).whole for number in (1, 2)
    ]
    assert ["<li" in html and str(number) in html for number, html in enumerate(both, 1)] == [True, True]


def test_a_part_without_a_key_raises_an_error() -> None:
    with pytest.raises(ValueError, match="one element with a key"):
        Renderer().render("", TEMPLATE.environment.from_string("{{ part('a', 1, draw) }}"), {"draw": str})


def test_a_new_result_sends_only_the_lines_that_changed() -> None:
    pages, words, view = DashboardRenderer(), translators()["en"], sample.view()
    before = pages.rendering(view, words)
    later = sample.newer(view, plays=(replace(view.plays[0], table=4, deal=9), *view.plays))
    sent = pages.rendering(later, words).changes_since(before) or ""
    assert (sent.count('class="play"'), sent.count("data-same")) == (1, len(before.parts))
