"""Fetches everything that a desk shows to somebody who has not logged in, from all of its routes."""

import re
from collections.abc import Iterator
from typing import Final

import httpx
from starlette.routing import Route

from broker.web.app import create_app
from broker.web.live import EventStreams, StreamPace
from broker.web.services import Services
from tests import event_loop
from tests.broker.scorer.hall import NOW, Hall

FILLED: Final = {
    "deal": [str(deal) for deal in range(1, 5)],
    "player": ["p01", "p06", "p11"],
    "team": ["1"],
    "page": ["1", "2"],
}
PARAMETER: Final = re.compile(r"\{(\w+)(?::\w+)?\}")
HEADERS: Final = {"Accept": "text/html", "Host": "127.0.0.1"}


def fetched(hall: Hall, more: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the answer of each address to somebody who has not logged in; of streams, the first event."""
    return event_loop.run(_fetched(hall, more))


async def _fetched(hall: Hall, more: tuple[str, ...]) -> dict[str, str]:
    streams = EventStreams()

    async def once(_seconds: float) -> None:
        streams.end()

    services = Services(lambda: hall.scorer.snapshot, hall.scorer.wire, clock=lambda: NOW, open_public=True)
    app = create_app(hall.scorer.feed, streams=streams, pace=StreamPace(sleep=once), open_room=False, services=services)
    answers = {}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        for path in (*addresses([one.path for one in app.routes if isinstance(one, Route)]), *more):
            streams.ending = False
            answer = await client.get(path, headers=HEADERS)
            answers[path] = f"{answer.status_code} {answer.text}"
    return answers


def addresses(paths: list[str]) -> Iterator[str]:
    """Yield the addresses with their parameters filled in."""
    for path in paths:
        open_ = PARAMETER.search(path)
        if open_ is None:
            yield path
        else:
            yield from addresses([path.replace(open_[0], value, 1) for value in FILLED.get(open_[1], ["none"])])
