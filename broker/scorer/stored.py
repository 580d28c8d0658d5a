"""An event as its folder tells it, read while a scorer may be at work on it: nothing is locked, nothing written."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from broker.contract.messages import LogMessage, Result
from broker.scorer.event import Event, open_event
from broker.scorer.folder import DealRecord, HandRecord, read_deals, read_hands
from broker.scorer.room import Room
from broker.store.journal import decoded
from broker.store.opened import open_reader


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
    """Read an event and its store. Raises ScorerError, StoreError."""
    event = open_event(folder)
    room = Room(event)
    with closing(open_reader(folder, event.name)) as journal:
        room.load(decoded(journal.entries()))
    hands = {(hand.round, hand.table): hand for hand in read_hands(folder)}
    return Stored(event, room, {deal.number: deal for deal in read_deals(folder)}, hands)
