"""An event as its folder tells it, read while a scorer may be at work on it: nothing is locked, nothing written."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from msgspec import Struct

from broker.contract.messages import LogMessage, Result
from broker.contract.wire import Refused, decode
from broker.rules.errors import RuleError
from broker.scorer.errors import StoreBroken
from broker.scorer.event import Event, open_event
from broker.scorer.folder import DealRecord, HandRecord, read_deals, read_hands
from broker.scorer.journal import VERSION
from broker.scorer.room import Room

STORE: Final = "scorer.sqlite"


class Stored(Struct, frozen=True):
    """An event, its room at one moment, its deals, and what was done in its plays where that is known. All secret."""

    event: Event
    room: Room
    deals: Mapping[int, DealRecord]
    hands: Mapping[tuple[int, int], HandRecord]
    """By round and table."""

    def results(self) -> Iterator[tuple[LogMessage, Result]]:
        """Give all results, by round and table."""
        for _, message in sorted(self.room.results.items(), key=lambda item: (item[0][1], item[0][0])):
            if isinstance(message.fact, Result):
                yield message, message.fact

    def embargoed(self, deal: int) -> bool:
        """Say whether a table has the deal still to play."""
        return not self.room.complete(deal)


def open_stored(folder: Path) -> Stored:
    """Read an event and its store. Raises ScorerError, RuleError `store_missing`."""
    event = open_event(folder)
    room = Room(event)
    for message in _messages(folder / STORE, event.name):
        room.apply(message)
    hands = {(hand.round, hand.table): hand for hand in read_hands(folder)}
    return Stored(event, room, {deal.number: deal for deal in read_deals(folder)}, hands)


def _messages(path: Path, event: str) -> list[LogMessage]:
    if not path.is_file():
        raise RuleError("store_missing", f"there is no {path.name} in {path.parent}: nothing has been recorded")
    try:
        with closing(_connected(path)) as store:
            about = dict(store.execute("SELECT key, value FROM about"))
            if about.get("event") != event or about.get("version") != str(VERSION):
                raise StoreBroken(f"{path.name} is of event {about.get('event')}, version {about.get('version')}")
            bodies = store.execute("SELECT body FROM journal ORDER BY height").fetchall()
        return [decode(LogMessage, body) for (body,) in bodies]
    except (sqlite3.Error, Refused) as error:
        raise StoreBroken(f"{path.name}: {error}") from None


def _connected(path: Path) -> sqlite3.Connection:
    """Open it for reading alone.

    Beside a scorer at work there is a write-ahead log, and readers of it hinder nobody. Without one the file is
    whole as it lies; then nothing may be laid beside it, which SQLite would do if it were not told so.
    """
    at_work = path.with_name(path.name + "-wal").exists()
    how = "mode=ro" if at_work else "mode=ro&immutable=1"
    return sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)
