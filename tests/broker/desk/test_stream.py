"""Server-sent events, without a server: the pace and the ends of a stream."""

import asyncio
from collections.abc import Awaitable, Callable

from broker.desk.stream import BEAT, Pace, Streams, event
from broker.scorer.view import View, ViewFeed
from tests import event_loop
from tests.broker.desk import sample

DEADLINE_S = 60.0


def tell(view: View) -> bytes:
    return str(view.version).encode()


def run(steps: Callable[[], Awaitable[None]]) -> None:
    async def timed() -> None:
        async with asyncio.timeout(DEADLINE_S):
            await steps()

    event_loop.run(timed())


def test_an_event_has_a_name_an_id_and_a_data_line_for_each_line() -> None:
    assert event("page", 7, "a\r\nb\rc\nd") == b"event: page\nid: 7\ndata: a\ndata: b\ndata: c\ndata: d\n\n"


def test_a_stream_begins_with_the_newest_view() -> None:
    async def steps() -> None:
        assert await anext(Streams().follow(sample.feed(), tell, Pace())) == b"41"

    run(steps)


def test_a_silent_stream_beats() -> None:
    async def steps() -> None:
        stream = Streams().follow(sample.feed(), tell, Pace(heartbeat_s=0.001, gap_s=0))
        assert [await anext(stream), await anext(stream), await anext(stream)] == [b"41", BEAT, BEAT]

    run(steps)


def test_a_beat_does_not_end_the_views() -> None:
    async def steps() -> None:
        feed = sample.feed()
        stream = Streams().follow(feed, tell, Pace(heartbeat_s=0.001, gap_s=0))
        assert [await anext(stream), await anext(stream)] == [b"41", BEAT]
        feed.publish(sample.newer(feed.current))
        said = await anext(stream)
        while said == BEAT:  # as often as a slow machine beats before it has heard of the view
            said = await anext(stream)
        assert said == b"42"

    run(steps)


def test_after_each_view_a_reader_is_left_alone_for_a_quarter_of_a_second() -> None:
    pauses: list[float] = []

    async def steps() -> None:
        feed = sample.feed()

        async def publish_many(seconds: float) -> None:
            pauses.append(seconds)
            for _ in range(50):
                feed.publish(sample.newer(feed.current))

        stream = Streams().follow(feed, tell, Pace(sleep=publish_many))
        assert [await anext(stream), await anext(stream), await anext(stream)] == [b"41", b"91", b"141"]

    run(steps)
    assert pauses == [0.25, 0.25]


def test_a_stream_ends_when_the_server_does() -> None:
    async def steps() -> None:
        streams = Streams()
        stream = streams.follow(sample.feed(), tell, Pace(gap_s=0))
        await anext(stream)
        streams.end()
        assert [chunk async for chunk in stream] == []

    run(steps)


def test_a_stream_that_begins_while_the_server_ends_gives_nothing() -> None:
    async def steps() -> None:
        streams = Streams()
        streams.end()
        assert [chunk async for chunk in streams.follow(sample.feed(), tell, Pace())] == []

    run(steps)


class CountedFeed(ViewFeed):
    """Knows how many readers it still has."""

    @property
    def readers(self) -> int:
        return len(self._waiting)


def test_a_reader_that_goes_leaves_nothing_in_the_feed() -> None:
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
        async for _ in Streams().follow(feed, tell, Pace()):
            pass

    run(steps)
