"""A scorer without a wire: messages are put on its queue, and what it says is heard."""

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
    """The scorer's wall clock: `read` may be replaced."""

    def __init__(self) -> None:
        self.read: Callable[[], int] = lambda: NOW

    def __call__(self) -> int:
        return self.read()


@contextmanager
def open_journal(folder: Path, name: str = NAME) -> Iterator[SqliteJournal]:
    """Return the store in a folder, and close it."""
    journal = SqliteJournal(folder / STORE, name)
    try:
        yield journal
    finally:
        journal.close()


class Ear(Link):
    """In the wire's place: remembers what is said, in order, and who was acknowledged when."""

    def __init__(self) -> None:
        self.story: list[str] = []
        self.said: list[tuple[str, bytes, bool]] = []

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Hear what is said."""
        self.story.append(topic)
        self.said.append((topic, payload, retain))

    def stop(self) -> None:
        """Nothing was started."""
        self.story.append("stopped")

    def heard(self, end: str) -> list[Message]:
        """Return the messages said on topics that end so; each must be one that its readers take."""
        return [decode_on_topic(topic, payload)[1] for topic, payload, _ in self.said if topic.endswith(end)]

    def told(self, end: str) -> Any:  # noqa: ANN401 - any JSON
        """Return the last message said on a topic that ends so, as JSON."""
        return json.loads([payload for topic, payload, _ in self.said if topic.endswith(end)][-1])

    def forget(self) -> None:
        """Start over."""
        self.story.clear()
        self.said.clear()


class Height:
    """In the journal's place: how high it is."""

    store = "store-0001"

    def __init__(self, height: Callable[[], int]) -> None:
        self._height = height

    @property
    def height(self) -> int:
        """How many messages there are."""
        return self._height()


def publisher(
    state: EventState, books: Mapping[int, TableBook] | None = None, height: Callable[[], int] = lambda: 0
) -> tuple[Publisher, Ear]:
    """Return what publishes an event of which its state is known, and perhaps its tables' books; and what hears it."""
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
    """A scorer, its store, its folder, and what is heard of it."""

    scorer: Scorer
    journal: Journal
    folder: Path
    ear: Ear
    clock: Clock

    def hear(self, *messages: LogMessage | TableState | Beat) -> None:
        """Let messages arrive, and the scorer take them in one batch."""
        put(self.scorer, *messages, ear=self.ear)
        self.scorer.step(timeout=0)

    def arrive(self, topic: str, payload: bytes) -> None:
        """Let any bytes arrive on any topic."""
        self.scorer._inbox.put(Incoming(topic, payload, partial(self.ear.story.append, "acknowledged")))
        self.scorer.step(timeout=0)

    def connect(self, *, up: bool) -> None:
        """Let the broker accept the scorer, or be lost."""
        self.scorer._inbox.put(LinkChanged(up=up))
        self.scorer.step(timeout=0)

    def alerts(self) -> list[tuple[str, int | None]]:
        """Return code and table of the alerts that were published."""
        return [
            (json.loads(body)["code"], json.loads(body)["table"]) for t, body, _ in self.ear.said if t.endswith("alert")
        ]


def put(scorer: Scorer, *messages: LogMessage | TableState | Beat, ear: Ear | None = None) -> None:
    """Put messages on a scorer's queue; an ear hears that they are acknowledged."""
    for message in messages:
        topic, payload = sent(message)
        story = ear.story if ear else []
        scorer._inbox.put(Incoming(topic, payload, partial(story.append, "acknowledged")))


def admitting(scorer: Scorer, of: Event | None = None) -> Scorer:
    """Let the devices of these tests speak for all tables, without a record in the journal.

    At each of them is an arbiter who was let in before sessions had names (tests of sessions take them away).
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
