"""Where a table's own result differs from what the desk had settled before it came: told, and left to an arbiter."""

from collections.abc import Iterator, Sequence

from broker.contract.facts import Result
from broker.contract.messages import LogMessage
from broker.contract.rulings import Adjusted, Correct, Reopen, Void
from broker.scorer.alerts import Concern
from broker.scorer.room import Room
from broker.scorer.rulings.entry import Entry


def concerns(room: Room, message: LogMessage, result: Result) -> Iterator[Concern]:
    """Give what an arbiter must know of a result that comes for a play with a ruling in its place."""
    table = message.table
    entry = _settled_by(room.book.of((table, result.round)))
    if entry is None or _as_settled(entry, result):
        return
    if isinstance(entry.decision, Correct) and entry.decision.source == "paper":
        text = f"table {table}: round {result.round} was keyed from paper, and the table has entered another result"
        yield Concern("paper_differs", text, table, about=message.seq, values={"round": result.round})
        return
    text = f"table {table}: a result of round {result.round} has come, and does not count: {entry.kind}, ruled before"
    values: dict[str, int | str] = {"round": result.round, "deal": result.deal, "kind": entry.kind}
    said = {**values, "author": entry.author, "ruling": entry.id}
    yield Concern("settled_before", text, table, about=message.seq, values=said)


def _settled_by(entries: Sequence[Entry]) -> Entry | None:
    """Give the desk's ruling that stands in a result's place. What is ruled at the table follows its own results."""
    outcomes = (entry for entry in reversed(entries) if isinstance(entry.decision, Correct | Void | Adjusted | Reopen))
    last = next(outcomes, None)
    return None if last is None or last.at_table or isinstance(last.decision, Reopen) else last


def _as_settled(entry: Entry, result: Result) -> bool:
    """Say whether a ruling tells the play as the table does, fines and all."""
    told = entry.decision
    if not isinstance(told, Correct):
        return False
    fines = {result.players[seat]: fine.imp for seat, fine in result.fines.items()}
    entered = result.win, result.winners, result.discarder, result.hand, fines
    return (told.win, told.winners, told.discarder, told.hand, told.fines) == entered
