"""The rows of an event's journal, and how later changes are detected: links between rows, anchors, a witness file.

* Each row has a hash over itself and the row before, so that an altered row can be identified. This needs no secret: it
  detects changes made by a disk, a stick or a careless hand. A fact's signature proves who wrote it.
* An anchor is 28 letters that summarise what was stored at one time. Whoever noted them can prove a later change.
* The witness is a file beside the journal that lists its rows, so that rows missing from its end can be identified.
"""

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from broker.errors import AnchorElsewhere, AnchorMistyped, StoreBroken
from broker.files import sync
from broker.protocol import UNREADABLE, DeviceRecord, Fact, LogMessage, Refused, Ruling, decode, read_code, write_code
from broker.read_ahead import FIRST_LINK, IntactRow, StoredRow

DESK: Final = 0
"""The table number used for the desk, whose rulings have their own sequence."""

DEVICES: Final = -1
"""The table number used for device records, which also have their own sequence."""

Recorded = LogMessage | Ruling | DeviceRecord
"""Accepted messages: facts from tables, rulings from the desk, and which devices may speak for which table."""

Entry = tuple[int, bytes]
"""When a message was accepted (wall clock, ms since 1970), and its body as it was received."""


class DeskDecision(NamedTuple):
    """A decision of the desk, as recorded: a ruling or a device record, not a fact from a table."""

    message: Ruling | DeviceRecord
    received_at: int
    body: bytes


def source_and_number(message: Recorded) -> tuple[int, int]:
    """Return a message's source (table number, DESK or DEVICES) and sequence number: each pair is in a journal once."""
    if isinstance(message, LogMessage):
        return message.table, message.seq
    return (DESK if isinstance(message, Ruling) else DEVICES), message.number


def decoded(entries: Generator[Entry, None, None]) -> Iterator[Recorded]:
    """Yield the messages of a journal. Raises StoreBroken."""
    with closing(entries):  # otherwise the garbage collector closes it, perhaps after its connection
        for _, body in entries:
            yield message_of(body)


class StoredFact(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A stored fact. Its texts were validated when it was accepted; doing so again would take most of the time."""

    schema: Literal[1]
    id: str
    event: str
    table: int
    seq: int
    at: int
    fact: Fact
    device: str | None = None
    before: str | None = None
    signature: str | None = None

    def message(self) -> LogMessage:
        """Return the message as it was received."""
        return LogMessage(
            id=self.id,
            event=self.event,
            table=self.table,
            seq=self.seq,
            at=self.at,
            fact=self.fact,
            device=self.device,
            before=self.before,
            signature=self.signature,
        )


_FACTS: Final[msgspec.json.Decoder[tuple[StoredFact, ...]]] = msgspec.json.Decoder(tuple[StoredFact, ...])
_FACT: Final[msgspec.json.Decoder[StoredFact]] = msgspec.json.Decoder(StoredFact)


def facts_of(array: bytes) -> tuple[LogMessage, ...]:
    """Decode a JSON array of stored facts. Raises UNREADABLE if one of them is another kind of message."""
    return tuple([stored.message() for stored in _FACTS.decode(array)])


_DEVICE_RECORDS: Final[msgspec.json.Decoder[DeviceRecord]] = msgspec.json.Decoder(DeviceRecord)


def message_of(body: bytes) -> Recorded:
    """Decode a stored message, which is nearly always a fact. Raises StoreBroken."""
    try:
        return _FACT.decode(body).message()
    except UNREADABLE as no_fact:
        with suppress(Refused):
            return decode(Ruling, body)
        with suppress(*UNREADABLE):
            return _DEVICE_RECORDS.decode(body)
        raise StoreBroken(f"the journal holds a row that is not a message: {str(no_fact)[:300]}") from None


MOST_MISSING: Final = 100_000
"""How many rows can be missing before a row. A larger gap means that the row's own height was altered."""


class Fault(NamedTuple):
    """A fault in the store: a row that does not count, or one that is missing."""

    code: str
    height: int
    table: int | None = None
    """The table of the row, as far as it is known; 0 is the desk."""
    seq: int | None = None
    id: str | None = None


ALTERED: Final = "row_altered"
"""The content of the row was altered."""
LINK_ALTERED: Final = "link_altered"
"""Only the row's link was altered: the next row's link confirms the content, so the row counts."""
MISSING: Final = "row_missing"
"""There is no row at this height, although there are rows after it."""
LOST: Final = "row_lost"
"""A row at the journal's end has disappeared, for instance because an older copy took the journal's place."""
UNREADABLE_ROW: Final = "row_unreadable"
"""The content cannot be decoded as a message."""
WRONG_POINTS: Final = "row_wrong_points"
"""The points of the play do not follow from its outcome."""
BAD_SIGNATURE: Final = "row_bad_signature"
"""The signature of the device is wrong."""


def link_after(before: bytes, height: int, received_at: int, body: bytes) -> bytes:
    """Return the link of a row."""
    return sha256(b"%b%d %d " % (before, height, received_at) + body).digest()


def intact_rows(  # noqa: C901 - compares each row with the one before, and the gap between
    rows: Iterable[StoredRow], faults: list[Fault], before: bytes | None = FIRST_LINK, height: int = 0
) -> Iterator[IntactRow]:
    """Yield the intact rows in order, and append what is wrong with the others to `faults`.

    A row is judged by its own link and by that of the next row, so an altered link does not discredit the content. The
    row after a missing one is accepted as it is. `before` is the link of the row at `height`, after which the rows
    begin.
    """
    held: StoredRow | None = None
    """The previous row, if it did not fit its link."""
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
    """Return the fault of a row that does not fit its link, and whether the next row is intact."""
    if row[0] > held[0] + 1:
        return Fault(ALTERED, held[0]), True
    with suppress(TypeError):  # an altered byte may have left values that cannot be hashed
        if _fits(link_after(before, *held[:3]), row[0], row):
            return Fault(LINK_ALTERED, held[0]), True
    return Fault(ALTERED, held[0]), _fits(held[3], row[0], row)


def _fits(before: bytes, height: int, row: StoredRow) -> bool:
    """Return whether a row's link follows from the row before. Altered rows may hold values that cannot be hashed."""
    try:
        return link_after(before, height, row[1], row[2]) == row[3]
    except TypeError:
        return False


# ---- anchors ---------------------------------------------------------------------------------------

ANCHOR_CHARACTERS: Final = 28
"""Characters in base 32: 110 bits of SHA-256, 10 to find the entry, 10 of the event's name, 10 against typing slips."""

HASH_BITS: Final = 110
"""Bits of the SHA-256 over both chain heads."""
SMALL_BITS: Final = 10
"""Bits in each of the three parts after the hash."""

SMALL: Final = 1 << SMALL_BITS

PRIME: Final = 1021
"""The remainder modulo this prime detects every wrong letter, and every exchange of two letters."""

FIRST_ENTRY: Final = "0" * 64
"""The digest used before the first entry of an audit log."""


class LogHead(NamedTuple):
    """The last entry of an audit log: its number, and the hex digest over all entries up to it."""

    number: int = 0
    digest: str = FIRST_ENTRY


class AnchorPlace(NamedTuple):
    """Where an anchor was made: the number of journal messages and of audit log entries before it."""

    messages: int
    entries: int


def anchor_text(event: str, link: bytes, log: LogHead) -> str:
    """Return the anchor of an event whose journal ends with the row of this link.

    It is computed from the heads of two chains, the journal's and the audit log's. Each head covers everything before
    it, so nothing before the anchor can be changed, removed or reordered without changing the anchor. The anchor does
    not reveal the number of rows or entries, from which people could count what is hidden. Their content cannot be
    guessed by trial either, because every row has a random id.
    """
    hint = (log.number + _mask(link)) % SMALL
    content = (_hash(event, link, log.digest) << SMALL_BITS | hint) << SMALL_BITS | _of_event(event)
    return write_code(content << SMALL_BITS | content % PRIME, ANCHOR_CHARACTERS)


def find_anchor(typed: str, event: str, rows: Iterable[StoredRow], digests: Sequence[str]) -> AnchorPlace | None:
    """Return where in a journal and an audit log a typed anchor was made, or None if nowhere.

    `digests`: those of all entries of the log. Raises AnchorMistyped, AnchorElsewhere.
    """
    wanted, hint = _read_anchor(typed, event)
    heads = [FIRST_ENTRY, *digests]
    for height, link in chain([(0, FIRST_LINK)], ((row[0], row[3]) for row in rows)):
        if isinstance(link, bytes):
            for entry in range((hint - _mask(link)) % SMALL, len(heads), SMALL):
                if _hash(event, link, heads[entry]) == wanted:
                    return AnchorPlace(height, entry)
    return None


def _read_anchor(typed: str, event: str) -> tuple[int, int]:
    """Return the hash and the hint of a typed anchor. Raises AnchorMistyped, AnchorElsewhere."""
    number = read_code(typed, ANCHOR_CHARACTERS)
    content, check = divmod(number or 0, SMALL)
    if number is None or check != content % PRIME:
        raise AnchorMistyped("this is not an anchor: check each letter, and type all seven groups")
    rest, of_event = divmod(content, SMALL)
    if of_event != _of_event(event):
        raise AnchorElsewhere(f"this anchor does not belong to the event {event}")
    return divmod(rest, SMALL)


def _hash(event: str, link: bytes, digest: str) -> int:
    return _bits(b"homologue anchor %b %b %b" % (event.encode(), link.hex().encode(), digest.encode()), HASH_BITS)


def _mask(link: bytes) -> int:
    """Return the mask that hides the entry's number from anyone who does not have the journal."""
    return _bits(b"homologue anchor of entry %b" % link.hex().encode(), SMALL_BITS)


def _of_event(event: str) -> int:
    return _bits(b"homologue anchor of event %b" % event.encode(), SMALL_BITS)


def _bits(of: bytes, count: int) -> int:
    """Return the first bits of a SHA-256."""
    return int.from_bytes(sha256(of).digest(), "big") >> (256 - count)


# ---- the witness ----------------------------------------------------------------------------------

WITNESS_SUFFIX: Final = ".witness"

LINK_DIGITS: Final = 16
"""Digits of a link in hex, enough to tell two histories apart."""

LONGEST_LINE: Final = 200


class WitnessLine(NamedTuple):
    """One row: its height, its source and sequence number, its message's id, and the first digits of its link."""

    height: int
    table: int
    seq: int
    id: str
    link: str

    @classmethod
    def of(cls, height: int, table: int, seq: int, id_: str, link: bytes | None) -> "WitnessLine":
        """Return the line of a row."""
        return cls(height, table, seq, id_, (link or b"").hex()[:LINK_DIGITS])


class Witness:
    """The witness file of a journal. It never stops anything: lines that cannot be written are written later.

    It is written after each commit, without waiting for the disk, and brought up to date when the journal is opened. It
    detects what the journal cannot: that its end is missing, or that an older copy has taken its place.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open or create the file, readable only by its owner. With `read_only`, only read it if it exists."""
        self._path = path
        self._file: int | None = None
        if not read_only:
            with suppress(OSError):
                self._file = file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
                _cut_half_line(file)

    def close(self) -> None:
        """Close the file. May be called twice."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def lines(self) -> Iterator[WitnessLine]:
        """Yield all readable lines in order."""
        with suppress(OSError), self._path.open("rb") as file:
            yield from filter(None, map(_read_line, file))

    def last(self) -> WitnessLine | None:
        """Return the last complete line. Opening the file for writing removes an incomplete one."""
        with suppress(OSError), self._path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 2 * LONGEST_LINE))
            whole = [line for line in file.read().splitlines(keepends=True) if line.endswith(b"\n")]
            return _read_line(whole[-1]) if whole else None
        return None

    def append(self, lines: Iterable[WitnessLine]) -> bool:
        """Append the lines of rows that are in the journal. Return whether they were written."""
        text = "".join("{} {} {} {} {}\n".format(*line) for line in lines).encode()
        if not text:
            return True
        with suppress(OSError):
            if self._file is not None and os.write(self._file, text) == len(text):
                return True
        self.close()  # further lines would leave a gap; the next start writes all of them
        return False

    def rewrite(self, lines: Iterable[WitnessLine]) -> bool:
        """Replace all lines with these. Return whether they were written."""
        with suppress(OSError):
            if self._file is not None:
                os.ftruncate(self._file, 0)
        return self.append(lines)

    def sync(self) -> None:
        """Wait until all lines, and the file's name, are on the disk."""
        with suppress(OSError):
            if self._file is not None:
                os.fsync(self._file)
                sync(self._path.parent)


def _cut_half_line(file: int) -> None:
    """Remove an incomplete last line, left by a power cut."""
    size = os.fstat(file).st_size
    end = os.pread(file, LONGEST_LINE, max(0, size - LONGEST_LINE))
    if end and not end.endswith(b"\n"):
        os.ftruncate(file, size - len(end) + end.rfind(b"\n") + 1)


def _read_line(line: bytes) -> WitnessLine | None:
    """Parse one line, or return None if it is damaged or incomplete."""
    with suppress(ValueError):
        height, table, seq, id_, link = line.decode("ascii").split(" ")
        if link.endswith("\n"):
            return WitnessLine(int(height), int(table), int(seq), id_, link.rstrip("\n"))
    return None
