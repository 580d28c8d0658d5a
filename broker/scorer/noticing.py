"""What of the tables' facts an arbiter must know: of each by itself, as it comes or as it is read again."""

from collections.abc import Iterable, Iterator
from itertools import chain

from broker.contract.facts import Overridden, Restored, Result, RiichiHand, Ruled, Seated
from broker.contract.messages import LogMessage
from broker.contract.topics import Place
from broker.scorer import seating
from broker.scorer.alerts import Concern
from broker.scorer.event import Event
from broker.scorer.intake import Verdict
from broker.scorer.room import Room
from broker.scorer.rulings import at_table, settled


def concerns_of(event: Event, room: Room, message: LogMessage, now: int) -> Iterator[Concern]:
    """Give the concerns of a fact that the room has just taken in. `now` in ms since 1970, by the scorer's clock."""
    yield from of_itself(event, room, message, now)
    if isinstance(message.fact, Seated | Result):
        yield from seating.repeats(event, room.seatings, message, message.fact)


def of_itself(event: Event, room: Room, message: LogMessage, now: int) -> Iterable[Concern]:
    """The same but for players who repeat a deal: of a long journal that is found otherwise than fact by fact."""
    fact = message.fact
    found: Iterable[Concern] = ()
    match fact:
        case Result():
            found = _of_result(event, room, message, fact)
        case Restored():
            found = _of_tiles(event, message.table, message.seq, fact)
        case Seated():
            found = seating.differing(event, room.seatings, message, fact)
        case Overridden():
            found = seating.overridden(message.table, message.seq, fact)
        case Ruled():
            found = at_table.concerns(room, message, now)
        case RiichiHand():
            found = _of_session(event, room, message)
    return found


def of_refused(topic: str, place: Place | None, verdict: Verdict) -> Concern:
    """Name what was refused by the topic that it came on: a broker lets a table write on no other's."""
    fact = verdict.message
    # Each fact that two devices tell differently counts; of rubbish there may be any amount.
    about = fact.seq if verdict.code == "conflict" and isinstance(fact, LogMessage) else None
    return Concern(verdict.code or "", verdict.text, place.table if place else None, topic[:200], about)


def gap_before(table: int, seq: int) -> Concern:
    """Give what an arbiter must know where the fact before this one is missing."""
    text = f"table {table}: what came before fact {seq} is missing"
    return Concern("gap", text, table, about=seq, values={"number": seq})


def _of_result(event: Event, room: Room, message: LogMessage, fact: Result) -> Iterable[Concern]:
    seated = seating.differing(event, room.seatings, message, fact)
    if not fact.fines and room.book.last((message.table, fact.round)) is None:
        return seated  # as nearly always: a long journal has very many results
    return chain(settled.concerns(room, message, fact), at_table.fined(event, message, fact), seated)


def _of_session(event: Event, room: Room, message: LogMessage) -> Iterator[Concern]:
    session = event.riichi.get((message.table, message.fact.round))
    for entry in room.riichi.differing(session) if session else ():
        text = f"table {message.table}: entry {entry} of the riichi session does not follow from those before it"
        yield Concern("session_differs", text, message.table, about=entry, values={"entry": entry})


def _of_tiles(event: Event, table: int, seq: int, fact: Restored) -> Iterable[Concern]:
    as_planned = fact.form == event.form(fact.deal)
    return () if as_planned and fact.verified else _of_wrong_tiles(table, seq, fact, as_planned=as_planned)


def _of_wrong_tiles(table: int, seq: int, fact: Restored, *, as_planned: bool) -> Iterator[Concern]:
    if not as_planned:
        text = f"table {table}: deal {fact.deal} is played in another form"
        yield Concern("fouled", text, table, about=seq, values={"deal": fact.deal})
    if not fact.verified:
        text = f"table {table}: deal {fact.deal} was restored without verification"
        yield Concern("unverified", text, table, about=seq, values={"deal": fact.deal})
