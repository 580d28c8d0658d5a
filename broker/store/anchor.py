"""Anchors: 28 letters that say what was stored at one moment, so that whoever noted them can prove a later change.

An anchor is made of the heads of two chains: the last row of the journal, which has all facts and decisions, and the
last entry of the audit log. Both cover all before them, so nothing before the anchor can be changed, removed or put
into another order without another anchor. In base 32, from the left: 110 bits of a SHA-256 over both heads, 10 bits
that help to find the entry, 10 bits of the event's name, and 10 bits by which slips of whoever types it are noticed.

How many rows and entries there were is in none of it that anybody can read: by that people could count what is hidden.
What they said cannot be guessed by trying, either: every row has a random id.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from broker.errors import AnchorElsewhere, AnchorMistyped
from broker.protocol.paper_codes import read_code, write_code
from broker.read_ahead import FIRST_LINK, StoredRow

ANCHOR_CHARACTERS: Final = 28

HASH_BITS: Final = 110
SMALL_BITS: Final = 10
"""Of each of the three parts after the hash."""

SMALL: Final = 1 << SMALL_BITS

PRIME: Final = 1021
"""The rest by it tells of every letter that is another one, and of any two that were exchanged."""

FIRST_ENTRY: Final = "0" * 64
"""The digest that stands before the first entry of an audit log."""


class LogHead(NamedTuple):
    """The last entry of an audit log: its number, and its digest over all up to it, in hex."""

    number: int = 0
    digest: str = FIRST_ENTRY


class AnchorPlace(NamedTuple):
    """Where an anchor was made: after how many messages of the journal, and entries of the audit log."""

    messages: int
    entries: int


def anchor_text(event: str, link: bytes, log: LogHead) -> str:
    """Return the anchor of an event whose journal ends with the row of this link."""
    hint = (log.number + _mask(link)) % SMALL
    said = (_hash(event, link, log.digest) << SMALL_BITS | hint) << SMALL_BITS | _of_event(event)
    return write_code(said << SMALL_BITS | said % PRIME, ANCHOR_CHARACTERS)


def find_anchor(typed: str, event: str, rows: Iterable[StoredRow], digests: Sequence[str]) -> AnchorPlace | None:
    """Return where a typed anchor was made in a journal and an audit log; None: nowhere.

    `digests`: of all entries of the log. Raises AnchorMistyped, AnchorElsewhere.
    """
    wanted, hint = _read(typed, event)
    heads = [FIRST_ENTRY, *digests]
    if (entry := _entry(wanted, hint, event, FIRST_LINK, heads)) is not None:
        return AnchorPlace(0, entry)
    for height, _, _, link in rows:
        if isinstance(link, bytes) and (entry := _entry(wanted, hint, event, link, heads)) is not None:
            return AnchorPlace(height, entry)
    return None


def _read(typed: str, event: str) -> tuple[int, int]:
    """Return the hash and the hint of an anchor as somebody types it. Raises AnchorMistyped, AnchorElsewhere."""
    number = read_code(typed, ANCHOR_CHARACTERS)
    said, check = divmod(number or 0, SMALL)
    if number is None or check != said % PRIME:
        raise AnchorMistyped("this is no anchor: look at each letter again, and type all seven groups")
    rest, of_event = divmod(said, SMALL)
    if of_event != _of_event(event):
        raise AnchorElsewhere(f"this anchor is not of the event {event}")
    return divmod(rest, SMALL)


def _entry(wanted: int, hint: int, event: str, link: bytes, heads: Sequence[str]) -> int | None:
    first = (hint - _mask(link)) % SMALL
    return next((at for at in range(first, len(heads), SMALL) if _hash(event, link, heads[at]) == wanted), None)


def _hash(event: str, link: bytes, digest: str) -> int:
    return _bits(b"homologue anchor %b %b %b" % (event.encode(), link.hex().encode(), digest.encode()), HASH_BITS)


def _mask(link: bytes) -> int:
    """Return what hides the number of the entry from whoever has not the journal."""
    return _bits(b"homologue anchor of entry %b" % link.hex().encode(), SMALL_BITS)


def _of_event(event: str) -> int:
    return _bits(b"homologue anchor of event %b" % event.encode(), SMALL_BITS)


def _bits(of: bytes, count: int) -> int:
    """Return the first bits of a hash."""
    return int.from_bytes(sha256(of).digest(), "big") >> (256 - count)
