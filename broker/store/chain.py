"""The chain of a journal's rows: each has a hash over itself and the row before, so that what was changed names itself.

A chain has no secret: it shows what a disk, a stick or a careless hand has changed. Who wrote a fact is shown by its
signature, and that nothing is missing at the end of a journal by its witness (witness.py).
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final, NamedTuple

from broker.read_ahead import FIRST_LINK, IntactRow, StoredRow

MOST_MISSING: Final = 100_000
"""Rows that can be missing before one; where it would be more, its own number was changed."""


class Fault(NamedTuple):
    """Something that is wrong with what is stored: a row that does not count, or one that was there and is not."""

    code: str
    height: int
    table: int | None = None
    """Whose row it is, as far as that is known: 0, the desk's."""
    seq: int | None = None
    id: str | None = None


ALTERED: Final = "row_altered"
"""The content of a row is not what was written."""
LINK_ALTERED: Final = "link_altered"
"""Only its link is not what was written: the row after it shows that its content is, which counts."""
MISSING: Final = "row_missing"
"""There is no row of this height, and there are rows after it."""
LOST: Final = "row_lost"
"""A row from the journal's end, or from a newer state of it, is there no more."""
UNREADABLE_ROW: Final = "row_unreadable"
"""What was written is no message."""
WRONG_POINTS: Final = "row_wrong_points"
"""Its points do not follow from its outcome."""
BAD_SIGNATURE: Final = "row_bad_signature"
"""Its device has not signed it."""


def link_after(before: bytes, height: int, received_at: int, body: bytes) -> bytes:
    """Return the link of a row."""
    return sha256(b"%b%d %d " % (before, height, received_at) + body).digest()


def intact_rows(  # noqa: C901 - a row, the one before it, and what is missing between
    rows: Iterable[StoredRow], faults: list[Fault], before: bytes | None = FIRST_LINK, height: int = 0
) -> Iterator[IntactRow]:
    """Return the rows that are as they were written, in order; what is wrong with others goes into `faults`.

    A row is judged by its own link and by that of the row after it: so a changed link makes no content doubtful. What
    follows a row that is missing is taken as it is. `before` is the link of the row at `height`, which they follow.
    """
    held: StoredRow | None = None
    """The row before this one, where it does not fit its link."""
    for row in rows:
        number, received_at, body, link = row
        if held is None and before is not None and _fits(before, height + 1, row):
            height += 1
            if number != height:
                faults.append(Fault(LINK_ALTERED, height))
            yield height, received_at, body
            before = link
            continue
        if not height < number <= height + MOST_MISSING:
            height += 1
            faults.extend(Fault(ALTERED, altered) for altered in ([held[0]] if held else []) + [height])
            before = held = None
            continue
        fits = before is None or number > height + 1
        if held is not None and before is not None:
            fault, fits = _judge(before, held, row)
            faults.append(fault)
            if fault.code == LINK_ALTERED:
                yield held[:3]
            before, held = held[3], None
        faults.extend(Fault(MISSING, missing) for missing in range(height + 1, number))
        height = number
        if fits:
            yield number, received_at, body
            before = link
        else:
            held = row
    if held is not None:
        faults.append(Fault(ALTERED, height))


def _judge(before: bytes, held: StoredRow, row: StoredRow) -> tuple[Fault, bool]:
    """Return what is wrong with a row that does not fit, and whether the one after it is as it was written."""
    if row[0] > held[0] + 1:
        return Fault(ALTERED, held[0]), True
    due = _link(before, held)
    if due is not None and _fits(due, row[0], row):
        return Fault(LINK_ALTERED, held[0]), True
    return Fault(ALTERED, held[0]), _fits(held[3], row[0], row)


def _link(before: bytes, row: StoredRow) -> bytes | None:
    """Return the link that a row should have; None if a changed byte has left no such row."""
    try:
        return link_after(before, *row[:3])
    except TypeError:
        return None


def _fits(before: bytes, height: int, row: StoredRow) -> bool:
    """Return whether a row follows the one before it."""
    try:
        return sha256(b"%b%d %d " % (before, height, row[1]) + row[2]).digest() == row[3]
    except TypeError:
        return False
