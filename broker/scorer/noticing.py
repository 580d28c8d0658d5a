"""What of the tables' facts an arbiter must know: of each by itself, as it comes or as it is read again."""

from collections.abc import Iterable

from broker.contract.facts import Restored, RiichiHand
from broker.contract.messages import LogMessage
from broker.scorer import seating
from broker.scorer.alerts import Concern
from broker.scorer.event import Event
from broker.scorer.room import Room
from broker.scorer.rulings import at_table, settled


def concerns_of(event: Event, room: Room, message: LogMessage, now: int) -> Iterable[Concern]:
    """Give the concerns of a fact that the room has just taken in. `now` in ms since 1970, by the scorer's clock."""
    fact, table = message.fact, message.table
    if isinstance(fact, Restored):
        yield from _of_tiles(event, table, message.seq, fact)
    if session := event.riichi.get((table, fact.round)):
        for entry in room.riichi.differing(session) if isinstance(fact, RiichiHand) else ():
            text = f"table {table}: entry {entry} of the riichi session does not follow from those before it"
            yield Concern("session_differs", text, table, about=entry, values={"entry": entry})
        return
    yield from settled.concerns(room, message)
    yield from at_table.concerns(event, room, message, now)
    yield from seating.concerns(event, room.seatings, message)


def gap_before(table: int, seq: int) -> Concern:
    """Give what an arbiter must know where the fact before this one is missing."""
    text = f"table {table}: what came before fact {seq} is missing"
    return Concern("gap", text, table, about=seq, values={"number": seq})


def _of_tiles(event: Event, table: int, seq: int, fact: Restored) -> Iterable[Concern]:
    if fact.form != event.form(fact.deal):
        text = f"table {table}: deal {fact.deal} is played in another form"
        yield Concern("fouled", text, table, about=seq, values={"deal": fact.deal})
    if not fact.verified:
        text = f"table {table}: deal {fact.deal} was restored without verification"
        yield Concern("unverified", text, table, about=seq, values={"deal": fact.deal})
