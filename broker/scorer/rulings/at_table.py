"""What is ruled at a table comes from its device, not from an account: the desk is always told."""

from collections.abc import Iterator

from broker.contract.facts import Result, Ruled
from broker.contract.messages import LogMessage
from broker.contract.rulings import kind_of
from broker.scorer.alerts import Concern
from broker.scorer.event import Event
from broker.scorer.room import Room


def concerns(room: Room, message: LogMessage, now: int) -> Iterator[Concern]:
    """Give what an arbiter must know of a ruling at a table. `now` in ms since 1970: a table's own clock may lie."""
    fact, table = message.fact, message.table
    if not isinstance(fact, Ruled):
        return
    text = f"table {table}: {kind_of(fact.decision)} ruled on deal {fact.deal}, round {fact.round}"
    told: dict[str, int | str] = {"kind": kind_of(fact.decision), "deal": fact.deal, "round": fact.round}
    said = {**told, "author": fact.author, "reason": fact.reason}
    yield Concern("ruled_at_table", f"{text}, by {fact.author}: {fact.reason}", table, about=message.seq, values=said)
    if room.book.deadline is not None and now > room.book.deadline:
        late = f"{text}, told after the correction period"
        yield Concern("ruled_after_end", late, table, about=message.seq, values=told)


def fined(event: Event, message: LogMessage, result: Result) -> Iterator[Concern]:
    """Tell of the fines that a result brings with it; an older table does not say whose they are."""
    if not result.fines:
        return
    about = ((event.players[result.players[seat]].name, fine.imp) for seat, fine in result.fines.items())
    fines = ", ".join(f"{name} {imp} IMP" for name, imp in about)
    author = ", ".join(sorted({fine.author or "?" for fine in result.fines.values()}))
    reason = ", ".join(sorted({fine.reason for fine in result.fines.values()}))
    text = f"table {message.table}: fined on deal {result.deal}, round {result.round}, by {author}: {fines}: {reason}"
    values: dict[str, int | str] = {"fines": fines, "deal": result.deal, "round": result.round}
    said = {**values, "author": author, "reason": reason}
    yield Concern("fined_at_table", text, message.table, about=message.seq, values=said)
