"""An event as its folder tells it, read while a scorer may be at work on it: nothing is locked, nothing written."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from broker.contract.facts import Result
from broker.contract.messages import LogMessage
from broker.scorer.event import Event, open_event
from broker.scorer.folder import DealRecord, HandRecord, read_deals, read_hands
from broker.scorer.room import Room
from broker.scorer.rulings.laying import Laid
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
        """Give all results as they count, by round and table: not those of plays that are void or adjusted."""
        for key, message in sorted(self.room.results.items(), key=lambda item: (item[0][1], item[0][0])):
            laid = self.room.play(key)
            if isinstance(message.fact, Result) and laid.points is not None and laid.win is not None:
                yield message, _as_it_counts(message.fact, laid) if laid.rulings else message.fact

    def played(self) -> Iterator[tuple[int, Laid]]:
        """Give all plays that have points, as they count with every ruling, by round and table; and when, ms.

        The time is that of the table's result; of a play that has none, of the ruling in its place.
        """
        for key in sorted(self.room.known(), key=lambda key: (key[1], key[0])):
            laid, result = self.room.play(key), self.room.results.get(key)
            if laid.points is not None and laid.win is not None:
                entries = self.room.book.of(key)
                yield (result.at if result else entries[-1].at if entries else 0), laid

    def sat(self, player: str, round_: int) -> str | None:
        """Give the substitute who sat in a player's seat in a round; None where the player did."""
        return self.room.moment().sat(player, round_)

    def embargoed(self, deal: int) -> bool:
        """Say whether a table has the deal still to play."""
        return not self.room.complete(deal)


def _as_it_counts(result: Result, laid: Laid) -> Result:
    return replace(
        result,
        deal=laid.deal,
        players=dict(laid.players),
        win=laid.win,
        winners=dict(laid.winners),
        discarder=laid.discarder,
        hand=laid.hand,
        points=dict(laid.points or {}),
    )


def open_stored(folder: Path) -> Stored:
    """Read an event and its store. Raises ScorerError, StoreError."""
    event = open_event(folder)
    room = Room(event)
    with closing(open_reader(folder, event.name)) as journal:
        room.load(decoded(journal.entries()))
    hands = {(hand.round, hand.table): hand for hand in read_hands(folder)}
    return Stored(event, room, {deal.number: deal for deal in read_deals(folder)}, hands)
