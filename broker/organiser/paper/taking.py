"""A sheet into the journal: as a ruling with author and source `paper`, once however often it is sent.

A table's own result is never written over, and a sheet never by a table's result: where the two differ the arbiter is
told and rules.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from broker.contract.rulings import Correct
from broker.contract.wire import Refused
from broker.organiser.paper.keyed import Sheet, same_outcome
from broker.rules.errors import RuleError
from broker.scorer.rulings.entry import Author, Draft, Entry
from broker.scorer.rulings.laying import Laid
from broker.scorer.rulings.rulings import Rulings

REASON: Final = "paper sheet"

Taken = Literal["taken", "there_already", "first", "agrees", "differs"]
"""`taken`: it counts. Where two people key each sheet, `first`: it waits for the other; `agrees`: it counts now."""


@dataclass(frozen=True, slots=True)
class Told:
    """What became of one sheet, or why it was refused."""

    sheet: Sheet
    taken: Taken | None
    problem: RuleError | None = None


def take_all(rulings: Rulings, sheets: Iterable[Sheet], author: Author, reason: str = REASON) -> list[Told]:
    """Take sheets one by one; one that is refused holds up no other. On the scorer's thread. Raises StoreError."""
    told: list[Told] = []
    for sheet in sheets:
        try:
            told.append(Told(sheet, take(rulings, sheet, author, reason)))
        except RuleError as problem:
            told.append(Told(sheet, None, problem))
    return told


def take(rulings: Rulings, sheet: Sheet, author: Author, reason: str = REASON) -> Taken:
    """Take one sheet. On the scorer's thread.

    Raises RuleError `paper_differs`, `sheets_differ`, `sheet_ruled_out`, or as a ruling; StoreError.
    """
    laid = rulings.room.play(sheet.keyed.key)
    if laid.settled:
        same = same_outcome(sheet.decision, laid.win, laid.winners, laid.discarder)
        # An arbiter may have fined more; what the sheet fines must be among it.
        if not same or any(laid.fines.get(player, 0) < imp for player, imp in sheet.decision.fines.items()):
            raise _other(rulings.room.book.entries.get(laid.source or ""), laid)
        return "there_already"
    _give(rulings, sheet, author, reason)
    return "taken"


def _other(entry: Entry | None, laid: Laid) -> RuleError:
    """Say what a sheet differs from: the table's result, another sheet, or what an arbiter ruled (`entry`)."""
    table, round_ = laid.table, laid.round
    if entry is None:
        text = f"table {table}, round {round_} has another result than this sheet: an arbiter rules"
        return RuleError("paper_differs", text)
    if isinstance(entry.decision, Correct) and entry.decision.source == "paper":
        text = f"table {table}, round {round_}: {entry.author} has keyed a sheet with another result"
        return RuleError("sheets_differ", text)
    return RuleError("sheet_ruled_out", f"table {table}, round {round_}: {entry.author} has ruled on it")


def _give(rulings: Rulings, sheet: Sheet, author: Author, reason: str) -> None:
    last = rulings.room.last_word(sheet.keyed.key)
    draft = Draft(
        id=_id(sheet, last),
        after=last,
        table=sheet.keyed.table,
        round=sheet.keyed.round,
        deal=sheet.keyed.deal,
        decision=sheet.decision,
        reason=reason,
    )
    try:
        rulings.give(draft, author)
    except Refused as refused:
        raise RuleError(refused.code, refused.text) from None


def _id(sheet: Sheet, last: str | None) -> str:
    """Give an id that the same sheet gets again, unless something was said on its play since."""
    digest = hashlib.sha256(msgspec.json.encode(sheet.decision) + (last or "").encode()).hexdigest()[:12]
    return f"paper-{sheet.keyed.round}-{sheet.keyed.table}-{digest}"
