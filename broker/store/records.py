"""What an event's journal holds, and how a later change of it is noticed: links between rows, anchors, a witness file.

* Each row has a hash over itself and the row before, so that what was changed names itself. This needs no secret: it
  shows what a disk, a stick or a careless hand has changed. Who wrote a fact is shown by its signature.
* An anchor is 28 letters that say what was stored at one moment; whoever noted them can prove a later change.
* The witness is a file beside the journal that names its rows, so that those missing from its end are known by name.
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
"""The desk's number where a table's stands: its rulings have an order of their own."""

DEVICES: Final = -1
"""The same of what is decided about devices."""

Recorded = LogMessage | Ruling | DeviceRecord
"""What is accepted: facts of the tables, rulings from the desk, and which devices may speak for which table."""

Entry = tuple[int, bytes]
"""When a message was taken (wall clock, ms since 1970), and its body as it is on the wire."""


class Decided(NamedTuple):
    """A record of what the desk has decided: no fact of a table."""

    message: Ruling | DeviceRecord
    received_at: int
    body: bytes


def sequence_of(message: Recorded) -> tuple[int, int]:
    """Return whose message it is, and which of theirs: each pair is in a journal once."""
    if isinstance(message, LogMessage):
        return message.table, message.seq
    return (DESK if isinstance(message, Ruling) else DEVICES), message.number


def decoded(entries: Generator[Entry, None, None]) -> Iterator[Recorded]:
    """Return the messages of a journal. Raises StoreBroken."""
    with closing(entries):  # else it would end whenever the interpreter likes, maybe after its connection
        for _, body in entries:
            yield message_of(body)


class KeptFact(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A fact as it is kept: its texts were looked at when it was taken, and to do it again takes most of the time."""

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
        """Return the message as it came."""
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


_FACTS: Final[msgspec.json.Decoder[tuple[KeptFact, ...]]] = msgspec.json.Decoder(tuple[KeptFact, ...])
_FACT: Final[msgspec.json.Decoder[KeptFact]] = msgspec.json.Decoder(KeptFact)


def facts_of(array: bytes) -> tuple[LogMessage, ...]:
    """Return what is stored as facts, given as an array. Raises UNREADABLE if one is another kind of message."""
    return tuple([kept.message() for kept in _FACTS.decode(array)])


_DEVICE_RECORDS: Final[msgspec.json.Decoder[DeviceRecord]] = msgspec.json.Decoder(DeviceRecord)


def message_of(body: bytes) -> Recorded:
    """Return what is stored as a message: nearly always a fact. Raises StoreBroken."""
    try:
        return _FACT.decode(body).message()
    except UNREADABLE as no_fact:
        with suppress(Refused):
            return decode(Ruling, body)
        with suppress(*UNREADABLE):
            return _DEVICE_RECORDS.decode(body)
        raise StoreBroken(f"the journal holds what is no message: {str(no_fact)[:300]}") from None


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
    with suppress(TypeError):  # a changed byte may have left a row that can have no link
        if _fits(link_after(before, *held[:3]), row[0], row):
            return Fault(LINK_ALTERED, held[0]), True
    return Fault(ALTERED, held[0]), _fits(held[3], row[0], row)


def _fits(before: bytes, height: int, row: StoredRow) -> bool:
    """Return whether a row follows the one before it; one with a changed byte may be none that can have a link."""
    try:
        return link_after(before, height, row[1], row[2]) == row[3]
    except TypeError:
        return False


# ---- anchors ---------------------------------------------------------------------------------------

ANCHOR_CHARACTERS: Final = 28
"""In base 32, from the left: 110 bits of a SHA-256 over both heads, 10 bits that help to find the entry, 10 bits of the
event's name, and 10 bits by which slips of whoever types it are noticed."""

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
    """Return the anchor of an event whose journal ends with the row of this link.

    It is made of the heads of two chains, the journal's and the audit log's. Both cover all before them, so nothing
    before the anchor can be changed, removed or put into another order without another anchor. How many rows and
    entries there were nobody can read in it: by that people could count what is hidden. Nor can what they said be
    guessed by trying: every row has a random id.
    """
    hint = (log.number + _mask(link)) % SMALL
    said = (_hash(event, link, log.digest) << SMALL_BITS | hint) << SMALL_BITS | _of_event(event)
    return write_code(said << SMALL_BITS | said % PRIME, ANCHOR_CHARACTERS)


def find_anchor(typed: str, event: str, rows: Iterable[StoredRow], digests: Sequence[str]) -> AnchorPlace | None:
    """Return where a typed anchor was made in a journal and an audit log; None: nowhere.

    `digests`: of all entries of the log. Raises AnchorMistyped, AnchorElsewhere.
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
    """Return the hash and the hint of an anchor as somebody types it. Raises AnchorMistyped, AnchorElsewhere."""
    number = read_code(typed, ANCHOR_CHARACTERS)
    said, check = divmod(number or 0, SMALL)
    if number is None or check != said % PRIME:
        raise AnchorMistyped("this is no anchor: look at each letter again, and type all seven groups")
    rest, of_event = divmod(said, SMALL)
    if of_event != _of_event(event):
        raise AnchorElsewhere(f"this anchor is not of the event {event}")
    return divmod(rest, SMALL)


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


# ---- the witness ----------------------------------------------------------------------------------

WITNESS_SUFFIX: Final = ".witness"

LINK_DIGITS: Final = 16
"""Of a link in hex; enough to tell two histories apart."""

LONGEST_LINE: Final = 200


class WitnessLine(NamedTuple):
    """One row: its height, whose it is, which of theirs, its message's id, and how its link begins."""

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
    """The file of one journal. It is never the reason why something stops: what it cannot write it writes later.

    It is written after each commit and never waited for: it follows the journal, and catches up when that is opened. So
    it notices what a journal cannot notice itself: that its end is gone, or that an older copy lies in its place.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open or make it, readable by its owner alone; or only read it, if there is one."""
        self._path = path
        self._file: int | None = None
        if not read_only:
            with suppress(OSError):
                self._file = file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
                _cut_half_line(file)

    def close(self) -> None:
        """Close it; may be called twice."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def lines(self) -> Iterator[WitnessLine]:
        """Return all that can be read, in order."""
        with suppress(OSError), self._path.open("rb") as file:
            yield from filter(None, map(_read_line, file))

    def last(self) -> WitnessLine | None:
        """Return the last line that is whole: opening the file to write takes a half one away."""
        with suppress(OSError), self._path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 2 * LONGEST_LINE))
            whole = [line for line in file.read().splitlines(keepends=True) if line.endswith(b"\n")]
            return _read_line(whole[-1]) if whole else None
        return None

    def note(self, lines: Iterable[WitnessLine]) -> bool:
        """Write that these rows are in the journal by now; return whether that is written."""
        told = "".join("{} {} {} {} {}\n".format(*line) for line in lines).encode()
        if not told:
            return True
        with suppress(OSError):
            if self._file is not None and os.write(self._file, told) == len(told):
                return True
        self.close()  # what follows would leave a hole: the next start writes all of it
        return False

    def rewrite(self, lines: Iterable[WitnessLine]) -> bool:
        """Forget everything, and begin with these rows; return whether they are written."""
        with suppress(OSError):
            if self._file is not None:
                os.ftruncate(self._file, 0)
        return self.note(lines)

    def sync(self) -> None:
        """Wait until the disk has all lines, and the name of the file."""
        with suppress(OSError):
            if self._file is not None:
                os.fsync(self._file)
                sync(self._path.parent)


def _cut_half_line(file: int) -> None:
    """Take away the line at which a power cut has stopped."""
    size = os.fstat(file).st_size
    end = os.pread(file, LONGEST_LINE, max(0, size - LONGEST_LINE))
    if end and not end.endswith(b"\n"):
        os.ftruncate(file, size - len(end) + end.rfind(b"\n") + 1)


def _read_line(line: bytes) -> WitnessLine | None:
    """Read one line; None if a changed byte or a power cut has left none."""
    with suppress(ValueError):
        height, table, seq, id_, link = line.decode("ascii").split(" ")
        if link.endswith("\n"):
            return WitnessLine(int(height), int(table), int(seq), id_, link.rstrip("\n"))
    return None
