"""A table's link to the event's broker: opened under the device's own name, and to wherever the broker is by now.

The broker may be at the scorer's machine, or at that of its standby once that has taken over. The scorer says where its
standby is, and the table keeps that: a table that is started while the first machine is gone finds the other one.
Nobody has to be believed for it, as only the event's broker has the event's certificate.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import msgspec

from broker.files import write_private
from broker.protocol import ScorerState, TableState, encode, topics
from broker.protocol.link import Incoming, Link, LinkChanged, Place, Will, session_id
from kiosk.config import KioskSettings


class MessageSender(Protocol):
    """What sends messages."""

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Send one message if connected."""


class TableConnection(MessageSender, Protocol):
    """What a table's program needs of a link."""

    @property
    def up(self) -> bool:
        """Whether somebody listens."""

    def start(self) -> None:
        """Begin to connect."""

    def stop(self) -> None:
        """End; may be called twice."""

    def flush(self, timeout_s: float) -> object:
        """Wait until the last message is away."""


OpenLink = Callable[[Callable[[Incoming | LinkChanged], None]], TableConnection]
"""Opens a link, which tells from its own thread what comes."""


def open_table_link(settings: KioskSettings, lost: TableState, tell: Callable[[Incoming | LinkChanged], None]) -> Link:
    """Return a table's link, which does not connect yet. `lost`: what the broker says when the table is gone."""
    event, table = settings.config.event, settings.config.table
    return Link(
        settings.address(),
        # Of each device its own: under one id two devices would cut each other off, again and again.
        client_id=session_id(f"homologue-{event}-table-{table}", settings.folder),
        topics=[topic.at(event, table=table) for topic in topics.TOPICS if "table" in topic.readers],
        tell=tell,
        will=Will(topics.STATE.at(event, table=table), encode(lost)),
    )


PLACES_FILE: Final = "brokers.json"
"""In the table's folder: the places, the one that was reached last first."""

GONE_NS: Final = 5_000_000_000
"""So long after a broker has said that its scorer is gone, another place is tried."""

MOST_PLACES: Final = 4
"""Places that are remembered."""


class Brokers:
    """The places of one table's link. Times are monotonic, in ns."""

    def __init__(self, link: Link, folder: Path) -> None:
        """Begin where the broker was reached last. Before the link is started."""
        self._link, self._file = link, folder / PLACES_FILE
        self._gone_since: int | None = None
        configured = link.place
        self._places = self._read() or [configured]
        if configured not in self._places:
            self._places = [configured, *self._places]  # the device was paired, or configured, again
        self._known = list(self._places)
        link.begin_at(*self._places)

    def _read(self) -> list[Place]:
        with suppress(OSError, msgspec.DecodeError):
            return msgspec.json.decode(self._file.read_bytes(), type=list[Place])
        return []

    def connected(self) -> None:
        """Remember where the broker is."""
        self._gone_since = None
        self._remember(self._link.place)

    def _remember(self, first: Place, *more: Place) -> None:
        self._places = list(dict.fromkeys((first, *more, *self._places)))[:MOST_PLACES]
        if self._places != self._known:
            with suppress(OSError):  # without it, the next start begins at the place that is configured
                write_private(self._file, msgspec.json.encode(self._places))
                self._known = list(self._places)

    def take(self, state: ScorerState, now: int) -> None:
        """Take in where a scorer says that it is, and its standby. Raises nothing: what is no place was refused."""
        gone = state.lifecycle == "gone"
        self._gone_since = None if not gone else now if self._gone_since is None else self._gone_since
        if moved := _place(state.moved):
            self._remember(moved)
            self._link.move(moved)
        elif standby := _place(state.standby):
            self._remember(self._link.place, standby)
            self._link.reach(*self._places)

    def due(self, now: int, *, silent: bool) -> None:
        """Go on to the next place where the scorer here is gone, or says nothing."""
        gone = self._gone_since is not None and now - self._gone_since >= GONE_NS
        others = [one for one in self._places if one != self._link.place]
        if others and (gone or silent):
            self._gone_since = None
            self._link.move(others[0])


def _place(told: str) -> Place | None:
    host, _, port = told.rpartition(":")
    return (host.strip("[]"), int(port)) if host else None
