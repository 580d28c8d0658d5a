"""An event as its folder tells it, read while a scorer may be at work on it: nothing is locked, nothing written."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from broker.contract.facts import Result
from broker.contract.messages import LogMessage
from broker.scorer.event import Event, open_event
from broker.scorer.folder import DealRecord, HandRecord, read_deals, read_hands
from broker.scorer.room import Room
from broker.scorer.rulings.laying import Laid
from broker.scoring.plays import Adjustment, ScoredPlay
from broker.store.journal import decoded
from broker.store.opened import open_reader


class Stored(Struct, frozen=True):
    """An event, its room at one moment, its deals, and what was done in its plays where that is known. All secret."""

    event: Event
    """As corrections of its plan have it."""
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

    def counted(self, *, embargoed: bool) -> Iterator[tuple[Laid, ScoredPlay]]:
        """Give all plays of which something counts, by round and table: void and adjusted ones too.

        A play that is still to come is among them if somebody was given or fined something for it already. Without
        `embargoed` those of deals that a table has still to play are left out.
        """
        for key in sorted(self.room.known(), key=lambda key: (key[1], key[0])):
            laid = self.room.play(key)
            play = laid.scored()
            if play is not None and (embargoed or not self.embargoed(laid.deal)):
                yield laid, play

    def beside(self) -> tuple[Adjustment, ...]:
        """Give what each player was given and fined of no play, by player. It is under no embargo."""
        total: dict[str, Adjustment] = {}
        for one in self.room.adjustments():
            had = total.get(one.name, Adjustment(one.name))
            total[one.name] = Adjustment(one.name, had.imp + one.imp, had.fine + one.fine)
        return tuple(total[name] for name in sorted(total))

    def instead(self, laid: Laid) -> str:
        """Give the word for what was ruled in the place of a result; nothing where none was."""
        if not laid.settled or laid.points is not None or laid.source is None:
            return ""
        return self.room.book.entries[laid.source].kind

    def sat(self, player: str, round_: int) -> str | None:
        """Give the substitute who sat in a player's seat in a round; None where the player did."""
        return self.room.moment().sat(player, round_)

    def is_final(self, at: datetime) -> bool:
        """Whether the standings are final at a time, given with its time zone."""
        return self.room.is_final(int(at.timestamp() * 1000))

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
    return Stored(room.event, room, {deal.number: deal for deal in read_deals(folder)}, hands)
