"""An event read from its folder and journal: by commands while a scorer may be at work, and by a scorer that starts.

For a command nothing is locked and nothing written. A starting scorer replays the journal so that it knows what the
scorer before it knew when each message came.
"""

from array import array
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from broker.event import DealRecord, Event, HandRecord, open_event, read_deals, read_hands
from broker.protocol import DeviceRecord, LogMessage, Restored, Result, Seated
from broker.protocol.signing import fact_hash
from broker.rulings import CountedPlay
from broker.scorer import alerts
from broker.scorer.alerts import Concern, concern_of_gap, concerns_without_repeats
from broker.scorer.intake import TableBook
from broker.scorer.state import EventState
from broker.scorer.tables import Seatings
from broker.scoring import Adjustment, ScoredPlay
from broker.store import Journal, Recorded, RefusedRow, decoded, message_of, open_reader


class StoredEvent(Struct, frozen=True):
    """An event, its room at one moment, its deals, and what was done in its plays where that is known. All secret."""

    event: Event
    """As corrections of its plan have it."""
    room: EventState
    deals: Mapping[int, DealRecord]
    hands: Mapping[tuple[int, int], HandRecord]
    """By round and table."""

    def results(self) -> Iterator[tuple[LogMessage, Result]]:
        """Return all results as they count, by round and table: not those of plays that are void or adjusted."""
        for key, message in sorted(self.room.results.items(), key=lambda item: (item[0][1], item[0][0])):
            play = self.room.play(key)
            if isinstance(message.fact, Result) and play.points is not None and play.win is not None:
                yield message, _counted_result(message.fact, play) if play.rulings else message.fact

    def played(self) -> Iterator[tuple[int, CountedPlay]]:
        """Return all plays that have points, as they count with every ruling, by round and table; and when, ms.

        The time is that of the table's result; of a play that has none, of the ruling in its place.
        """
        for key in sorted(self.room.touched(), key=lambda key: (key[1], key[0])):
            play, result = self.room.play(key), self.room.results.get(key)
            if play.points is not None and play.win is not None:
                entries = self.room.book.of(key)
                yield (result.at if result else entries[-1].at if entries else 0), play

    def counted(self, *, embargoed: bool) -> Iterator[tuple[CountedPlay, ScoredPlay]]:
        """Return all plays of which something counts, by round and table: void and adjusted ones too.

        A play that is still to come is among them if somebody was given or fined something for it already. Without
        `embargoed` those of deals that a table has still to play are left out.
        """
        for key in sorted(self.room.touched(), key=lambda key: (key[1], key[0])):
            counted = self.room.play(key)
            play = counted.scored()
            if play is not None and (embargoed or not self.embargoed(counted.deal)):
                yield counted, play

    def beside(self) -> tuple[Adjustment, ...]:
        """Return what each player was given and fined of no play, by player. It is under no embargo."""
        total: dict[str, Adjustment] = {}
        for one in self.room.adjustments():
            had = total.get(one.name, Adjustment(one.name))
            total[one.name] = Adjustment(one.name, had.imp + one.imp, had.fine + one.fine)
        return tuple(total[name] for name in sorted(total))

    def instead(self, play: CountedPlay) -> str:
        """Return the word for what was ruled in the place of a result; nothing where none was."""
        if not play.settled or play.points is not None or play.source is None:
            return ""
        return self.room.book.entries[play.source].kind

    def sat(self, player: str, round_: int) -> str | None:
        """Return the substitute who sat in a player's seat in a round; None where the player did."""
        return self.room.snapshot().sat(player, round_)

    def is_final(self, at: datetime) -> bool:
        """Whether the standings are final at a time, given with its time zone."""
        return self.room.is_final(int(at.timestamp() * 1000))

    def embargoed(self, deal: int) -> bool:
        """Return whether a table has the deal still to play."""
        return not self.room.complete(deal)


def _counted_result(result: Result, play: CountedPlay) -> Result:
    return replace(
        result,
        deal=play.deal,
        players=dict(play.players),
        win=play.win,
        winners=dict(play.winners),
        discarder=play.discarder,
        hand=play.hand,
        points=dict(play.points or {}),
    )


def open_stored_event(folder: Path) -> StoredEvent:
    """Read an event and its store. Raises ScorerError, StoreError."""
    event = open_event(folder)
    room = EventState(event)
    with closing(open_reader(folder, event.name)) as journal:
        room.load(decoded(journal.entries()))
    hands = {(hand.round, hand.table): hand for hand in read_hands(folder)}
    return StoredEvent(room.event, room, {deal.number: deal for deal in read_deals(folder)}, hands)


PastConcern = tuple[int, Concern]
"""When the arbiters were alerted (ms since 1970), and to what."""


class JournalContent(NamedTuple):
    """A whole journal."""

    messages: Sequence[Recorded]
    received: Sequence[int]
    """When each was taken, ms since 1970."""
    heads: Mapping[tuple[int, int], str]
    """Hashes of facts, by table and number, that no fact after them names."""

    def devices(self) -> Iterator[DeviceRecord]:
        """Return what was decided about devices."""
        return (one for one in self.messages if isinstance(one, DeviceRecord))


def read_journal(journal: Journal, event: Event) -> JournalContent:
    """Read a journal. Raises StoreBroken, StoreLost."""
    messages, received, heads = list[Recorded](), array("q"), dict[tuple[int, int], str]()
    with closing(journal.entries()) as entries:
        for at, body in entries:
            message = message_of(body)
            if isinstance(message, LogMessage):
                _share(message, event)
                heads[message.table, message.seq] = fact_hash(body)
                if message.before:
                    heads.pop((message.table, message.seq - 1), None)
            messages.append(message)
            received.append(at)
    return JournalContent(messages, received, heads)


def _share(message: LogMessage, event: Event) -> None:
    """Let what a fact says as the plan does be in memory once: of a long journal that is a fifth of it."""
    fact = message.fact
    if message.event == event.name:
        force_setattr(message, "event", event.name)
    booking = event.bookings.get((message.table, fact.round))
    if booking is None or booking.deal != fact.deal:
        return
    if isinstance(fact, Result):
        if fact.profile == event.profile.id:
            force_setattr(fact, "profile", event.profile.id)
        # In one order too: a message stays what it was.
        if fact.players == booking.players and [*fact.players] == [*booking.players]:
            force_setattr(fact, "players", booking.players)
    elif isinstance(fact, Restored) and fact.form == event.form(fact.deal):
        force_setattr(fact, "form", event.form(fact.deal))


def replay_journal(state: EventState, taken: JournalContent) -> list[PastConcern]:
    """Load a state from a journal; return the concerns of each fact when it came."""
    found: list[PastConcern] = []

    def one_by_one() -> Iterator[Recorded]:
        # When `load` asks for the next message, the state is as it was after the one before.
        for message, at in zip(taken.messages, taken.received, strict=True):
            if not isinstance(message, LogMessage):
                yield message
                continue
            fact = clock.corrected(message, at)
            yield fact
            for concern in concerns_without_repeats(state, fact, at):
                found.append((at, concern))  # noqa: PERF401 - nearly always there is none

    clock = state.tables.clock
    state.load(one_by_one())
    found.extend(_past_repeats(state.event, state.tables.seatings.repeated(state.planned), taken))
    return found


def _past_repeats(event: Event, deals: Container[int], taken: JournalContent) -> Iterable[PastConcern]:
    """Return who has sat down to a deal again, of the few deals with which that was so."""
    seatings = Seatings()
    for message, at in zip(taken.messages, taken.received, strict=True) if deals else ():
        if not isinstance(message, LogMessage) or message.fact.deal not in deals:
            continue
        if isinstance(message.fact, Seated | Result):
            seatings.apply(message)
            yield from ((at, concern) for concern in alerts.concerns_of_repeats(event, seatings, message, message.fact))


def past_concerns(
    books: Mapping[int, TableBook], taken: JournalContent, refused: Iterable[RefusedRow]
) -> Iterator[PastConcern]:
    """Return the concerns of gaps that are still open, and of what was refused."""
    yield from _past_gaps(books, taken)
    yield from _past_refusals(refused)


def _past_gaps(books: Mapping[int, TableBook], taken: JournalContent) -> Iterator[PastConcern]:
    """Return the gaps that are still open, by when the fact after each was taken."""
    after = {(table, seq + 1) for table, book in books.items() for seq in book.missing if seq + 1 in book.taken}
    if not after:
        return
    for message, at in zip(taken.messages, taken.received, strict=True):
        if isinstance(message, LogMessage) and (message.table, message.seq) in after:
            yield at, concern_of_gap(message.table, message.seq)


def _past_refusals(refused: Iterable[RefusedRow]) -> Iterator[PastConcern]:
    """Return what was refused. Its code is kept, the text of the alert is not."""
    for row in refused:
        text = f"fact {row.seq}" if row.seq else row.code
        about = row.seq if row.code == "conflict" else None
        yield row.received_at, Concern(row.code, text, row.table, row.topic, about)
