"""What a scorer knows when it starts: all of it from the journal, as the scorer before it knew it when it came."""

from array import array
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

from msgspec.structs import force_setattr

from broker.contract.facts import Restored, Result, Seated
from broker.contract.messages import LogMessage
from broker.scorer import seating
from broker.scorer.alerts import Concern
from broker.scorer.clocks import FactTimes
from broker.scorer.event import Event
from broker.scorer.intake import TableBook
from broker.scorer.noticing import gap_before, of_itself
from broker.scorer.room import Room
from broker.scorer.seating import Seatings
from broker.scorer.times import TableTimes
from broker.store.journal import Journal, Kept, RefusedRow, message_of

Told = tuple[int, Concern]
"""When the arbiters were alerted (ms since 1970), and to what."""


class Taken(NamedTuple):
    """A whole journal."""

    messages: Sequence[Kept]
    received: Sequence[int]
    """When each was taken, ms since 1970."""


def read(journal: Journal, event: Event) -> Taken:
    """Read a journal. Raises StoreBroken, StoreLost."""
    messages, received = list[Kept](), array("q")
    with closing(journal.entries()) as entries:
        for at, body in entries:
            message = message_of(body)
            if isinstance(message, LogMessage):
                _share(message, event)
            messages.append(message)
            received.append(at)
    return Taken(messages, received)


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


def refill(event: Event, room: Room, clocks: FactTimes, times: TableTimes, taken: Taken) -> list[Told]:
    """Fill a room and what is told of times; give what of each fact had to be known when it came."""
    told: list[Told] = []

    def one_by_one() -> Iterator[Kept]:
        # When the room asks for the next message, it is as it was after the one before.
        for message, at in zip(taken.messages, taken.received, strict=True):
            if not isinstance(message, LogMessage):
                yield message
                continue
            believed = clocks.believed(message, at)
            yield believed
            times.hear(believed)
            for concern in of_itself(room.event, room, believed, at):
                told.append((at, concern))  # noqa: PERF401 - nearly always there is none

    room.load(one_by_one())
    told.extend(_of_repeats(room.event, room.seatings.repeated(event), taken))
    return told


def _of_repeats(event: Event, deals: Container[int], taken: Taken) -> Iterable[Told]:
    """Give who has sat down to a deal again, of the few deals with which that was so."""
    seatings = Seatings()
    for message, at in zip(taken.messages, taken.received, strict=True) if deals else ():
        if not isinstance(message, LogMessage) or message.fact.deal not in deals:
            continue
        if isinstance(message.fact, Seated | Result):
            seatings.remember(message)
            yield from ((at, concern) for concern in seating.repeats(event, seatings, message, message.fact))


def of_gaps(books: Mapping[int, TableBook], taken: Taken) -> Iterable[Told]:
    """Give the gaps that are still open, by when the fact after each was taken."""
    after = {(table, seq + 1) for table, book in books.items() for seq in book.missing if seq + 1 in book.taken}
    if not after:
        return
    for message, at in zip(taken.messages, taken.received, strict=True):
        if isinstance(message, LogMessage) and (message.table, message.seq) in after:
            yield at, gap_before(message.table, message.seq)


def of_refusals(refused: Iterable[RefusedRow]) -> Iterable[Told]:
    """Give what was refused. The words that were found for it then are not kept: its code is."""
    for row in refused:
        text = f"fact {row.seq}" if row.seq else row.code
        about = row.seq if row.code == "conflict" else None
        yield row.received_at, Concern(row.code, text, row.table, row.topic, about)
