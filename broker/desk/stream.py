"""Server-sent events: the newest view at once, then each newer one, with heartbeats in between."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, NamedTuple

from broker.scorer.view import View, ViewFeed

# The comment keeps proxies from closing a silent stream. A page cannot see comments, so the event beside it tells the
# page that the line still stands: without it a reader whose Wi-Fi went away would look at old news for minutes.
BEAT: Final = b": heartbeat\nevent: beat\ndata:\n\n"

BYE: Final = b"event: bye\ndata:\n\n"
"""The reader's session has ended: a page goes to where one logs in."""


Tell = Callable[[View], bytes | None]
"""What is sent of a view; None where it changes nothing of what its reader looks at."""


class Pace(NamedTuple):
    """How fast a stream may be."""

    heartbeat_s: float = 10.0
    gap_s: float = 0.25
    """At least this between two views to one reader: four a second are more than anyone reads."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    page_gap_s: float = 0.1
    """The same of the page, which is sent in parts: the arbiter is to see a result before its players look up."""

    @property
    def room(self) -> "Pace":
        """How fast the page may be."""
        return self._replace(gap_s=self.page_gap_s)


class Streams:
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
        feed: ViewFeed,
        tell: Tell,
        pace: Pace,
        goes_on: Callable[[], bool] = lambda: True,
        *,
        at_beats: bool = False,
    ) -> AsyncIterator[bytes]:
        """Give the bytes of one reader's stream until the server ends, the reader goes, or may not read any more.

        `tell` gives None where a view changes nothing of what this reader looks at. `at_beats`: it is asked at each
        heartbeat too, for what is not made anew at every change.
        """
        changed = asyncio.Event()
        self._wakers.add(changed)
        # A task of its own follows the feed: cutting the feed's iterator short at a heartbeat would end it.
        following = asyncio.create_task(_wake(feed, changed))
        silence: float | None = None  # no beat before the first view, however slow the machine
        try:
            while True:
                fresh = await _within(changed, silence)
                silence = pace.heartbeat_s
                if self.ending or following.done():
                    return
                if not goes_on():
                    yield BYE
                    return
                # A reader to whom a change brings nothing new still hears that the line stands.
                yield (tell(feed.current) if fresh or at_beats else None) or BEAT
                if fresh:
                    await pace.sleep(pace.gap_s)
        finally:
            following.cancel()
            self._wakers.discard(changed)


def event(name: str, version: int, text: str) -> bytes:
    """Write one event; a line break in the text becomes a further data line."""
    data = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\ndata: ")
    return f"event: {name}\nid: {version}\ndata: {data}\n\n".encode()


async def _wake(feed: ViewFeed, changed: asyncio.Event) -> None:
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
