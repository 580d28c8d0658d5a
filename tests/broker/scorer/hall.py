"""A scorer without a broker: messages are put on its queue, and what it publishes is recorded."""

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from broker.event import Event
from broker.protocol import Beat, LetIn, LogMessage, Message, TableState, decode_on_topic
from broker.protocol.link import Incoming, Link, LinkChanged
from broker.scorer import EventState
from broker.scorer.intake import TableBook
from broker.scorer.live_event import LiveEvent, WireLog
from broker.scorer.publisher import Publisher
from broker.scorer.service import Scorer
from broker.scorer.space import DiskSpace
from broker.store import Journal, SqliteJournal
from tests.broker.scorer.small import KEY, NAME, admissions, event, sent

NOW = 1_800_000_000_000

STORE = "store.sqlite3"


class Clock:
    """The scorer's wall clock. `read` may be replaced."""

    def __init__(self) -> None:
        self.read: Callable[[], int] = lambda: NOW

    def __call__(self) -> int:
        return self.read()


@contextmanager
def open_journal(folder: Path, name: str = NAME) -> Iterator[SqliteJournal]:
    """Return the store in a folder, and close it afterwards."""
    journal = SqliteJournal(folder / STORE, name)
    try:
        yield journal
    finally:
        journal.close()


class Ear(Link):
    """Stands in for the link: records the published messages, in order, and when each message was acknowledged."""

    def __init__(self) -> None:
        self.story: list[str] = []
        self.said: list[tuple[str, bytes, bool]] = []

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Record a published message."""
        self.story.append(topic)
        self.said.append((topic, payload, retain))

    def stop(self) -> None:
        """Do nothing, since nothing was started."""
        self.story.append("stopped")

    def heard(self, end: str) -> list[Message]:
        """Return the messages published on topics with this ending. Each must be one that its readers accept."""
        return [decode_on_topic(topic, payload)[1] for topic, payload, _ in self.said if topic.endswith(end)]

    def told(self, end: str) -> Any:  # noqa: ANN401 - any JSON
        """Return the last message published on a topic with this ending, as JSON."""
        return json.loads([payload for topic, payload, _ in self.said if topic.endswith(end)][-1])

    def forget(self) -> None:
        """Forget the recorded messages."""
        self.story.clear()
        self.said.clear()


class Height:
    """Stands in for the journal: only its height is known."""

    store = "store-0001"

    def __init__(self, height: Callable[[], int]) -> None:
        self._height = height

    @property
    def height(self) -> int:
        """The number of messages."""
        return self._height()


def publisher(
    state: EventState, books: Mapping[int, TableBook] | None = None, height: Callable[[], int] = lambda: 0
) -> tuple[Publisher, Ear]:
    """Return a publisher for an event of which the state and perhaps the tables' books are known, and its ear."""
    live = SimpleNamespace(
        state=state,
        journal=Height(height),
        wire=WireLog(),
        centre=None,
        intake=SimpleNamespace(books=books or defaultdict[int, TableBook](TableBook)),
        homes=SimpleNamespace(records=lambda _table: ()),
    )
    made, ear = Publisher(cast("LiveEvent", live), Path("/nowhere"), KEY, lambda: NOW), Ear()
    made.link = ear
    return made, ear


@dataclass(frozen=True)
class Hall:
    """A scorer with its store, its folder, and what it publishes."""

    scorer: Scorer
    journal: Journal
    folder: Path
    ear: Ear
    clock: Clock

    def hear(self, *messages: LogMessage | TableState | Beat) -> None:
        """Let messages arrive, and have the scorer handle them as one batch."""
        put(self.scorer, *messages, ear=self.ear)
        self.scorer.step(timeout=0)

    def arrive(self, topic: str, payload: bytes) -> None:
        """Let any bytes arrive on any topic."""
        self.scorer._inbox.put(Incoming(topic, payload, partial(self.ear.story.append, "acknowledged")))
        self.scorer.step(timeout=0)

    def connect(self, *, up: bool) -> None:
        """Report that the broker was connected, or lost."""
        self.scorer._inbox.put(LinkChanged(up=up))
        self.scorer.step(timeout=0)

    def alerts(self) -> list[tuple[str, int | None]]:
        """Return code and table of the published alerts."""
        return [
            (json.loads(body)["code"], json.loads(body)["table"]) for t, body, _ in self.ear.said if t.endswith("alert")
        ]


def put(scorer: Scorer, *messages: LogMessage | TableState | Beat, ear: Ear | None = None) -> None:
    """Return a function that puts messages on a scorer's queue; an ear records their acknowledgements."""
    for message in messages:
        topic, payload = sent(message)
        story = ear.story if ear else []
        scorer._inbox.put(Incoming(topic, payload, partial(story.append, "acknowledged")))


def admitting(scorer: Scorer, of: Event | None = None) -> Scorer:
    """Let the devices of these tests speak for all tables, without a record in the journal.

    At each table there is an arbiter who was let in before sessions had names. Tests of sessions remove them.
    """
    for table in (of or event()).tables:
        scorer.live.access._of(table).visits[0] = LetIn(round=1, deal=1, author="Ada", by="desk")
    for record in admissions(of or event()):
        scorer.live.devices.admissions.apply(record)
    scorer.live.devices.admissions.number = 0
    return scorer


def make_hall(
    folder: Path,
    journal: Journal,
    of: Event | None = None,
    seconds: Callable[[], float] = time.monotonic,
    space: DiskSpace | None = None,
) -> Hall:
    """Start a scorer on a store."""
    clock, ear = Clock(), Ear()
    scorer = admitting(Scorer(of or event(), journal, folder, clock, seconds, space), of)
    scorer.publisher.link = ear
    return Hall(scorer, journal, folder, ear, clock)
