"""PMN as text: splitting files into records, parsing tags into a record, and writing records.

Parsing accepts any order and spacing, and is strict about the meaning of tags. Each record has exactly one written
form. Tags are as in PGN and PBN, `[Name "value"]`; within a value a backslash precedes each quote and backslash.
"""

import re
import unicodedata
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from difflib import get_close_matches
from itertools import chain
from typing import BinaryIO, Final, NamedTuple, TypeVar

from msgspec import Struct

from broker.export.pmn.record import (
    PmnFan,
    PmnRecord,
    RecordError,
    Tiles,
    in_order,
    read_fans,
    read_play,
    read_tiles,
    within_tag,
    write_fans,
    write_hand,
    write_play,
    write_wall,
)
from broker.protocol import SEATS, Seat, Wind
from broker.rules import ROWS, TRAY, RuleError

LONGEST_LINE: Final = 10_000
"""Bytes; the longest possible Play has less than two thousand."""

MOST_LINES: Final = 200
"""Lines of one record, including comments."""

COMMENT_LINE: Final = (b"%", b";")
"""The start of a line that is meant for people or for other programs."""


class RecordBlock(Struct, frozen=True):
    """The lines of one record, and the number of the first."""

    line: int
    lines: tuple[bytes, ...]

    def text(self) -> str:
        """Return the block's text. Raises RecordError `too_large` or `record_not_utf8`."""
        if len(self.lines) > MOST_LINES:
            raise RecordError("too_large", f"a record of more than {MOST_LINES} lines", line=self.line)
        return "\n".join(_line(number, line) for number, line in enumerate(self.lines, self.line))


def split_records(file: BinaryIO) -> Iterator[RecordBlock]:
    """Yield the records of a file, valid or not. Blocks of comments are skipped. Raises OSError."""
    first, lines, has_tags = 1, list[bytes](), False
    for number, line in enumerate(chain(_lines(file), (b"",)), 1):
        if line.strip():
            first = first if lines else number
            lines += [line][: MOST_LINES + 1 - len(lines)]
            has_tags = has_tags or not line.lstrip().startswith(COMMENT_LINE)
        else:
            if has_tags:
                yield RecordBlock(first, tuple(lines))
            lines, has_tags = [], False


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield each line without its terminator, truncated just beyond the limit if it is too long."""
    mark = BOM_UTF8
    while line := file.readline(LONGEST_LINE + 2):
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST_LINE)
        yield line.removeprefix(mark).rstrip(b"\r\n")
        mark = b""


def _line(number: int, line: bytes) -> str:
    if len(line) > LONGEST_LINE:
        raise RecordError("too_large", f"a line of more than {LONGEST_LINE} bytes", line=number)
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError("record_not_utf8", f"byte {error.start + 1} of this line is not UTF-8", line=number) from None
    if "\0" in text:
        raise RecordError("record_not_utf8", "there are zero bytes: probably this is UTF-16", line=number)
    return text


REQUIRED: Final = (
    *("Event", "Site", "Date", "Board", "PWind", "East", "South", "West", "North", "Deal"),
    *("Scoring", "Starting", "Result", "Penalty", "Play", "Fan"),
)
"""PMN's own tags, in the order in which they are written."""

OWN_TAGS: Final = ("Walls", "Dealer", "Table", "Round", "Profile")
"""Tags that PMN does not have, written after the others if their values are known."""

UNKNOWN: Final = "?"
"""The value of something unknown, as in PGN."""

PAIR: Final = re.compile(r'\[\s*(?P<name>[A-Za-z][A-Za-z0-9_]*)\s*"(?P<value>(?:[^"\\\n]|\\["\\])*)"\s*\]')
COMMENT: Final = re.compile(r"[%;][^\n]*")
"""A line for people or for other programs, as in PBN."""

UNPRINTED: Final = ("Cc", "Cs", "Zl", "Zp")
"""Categories of characters that would end a line or are invisible."""


class PmnTag(NamedTuple):
    """A value, and the line in which its tag begins."""

    value: str
    line: int


def read_tags(text: str, line: int) -> dict[str, PmnTag]:
    """Parse one record's tags; `line` is the number of its first line.

    Raises RecordError `bad_notation`, `truncated_line`, `unknown_tag`, `duplicate_tag` or `missing_tag`.
    """
    tags: dict[str, PmnTag] = {}
    at = 0
    while at < len(text):
        here = line + text.count("\n", 0, at)
        if text[at].isspace():
            at += 1
        elif comment := _comment(text, at):
            at = comment
        else:
            found = _pair(text, at, here)
            _refuse_unless_new(found["name"], tags, here)
            tags[found["name"]] = PmnTag(re.sub(r"\\(.)", r"\1", found["value"]), here)
            at = found.end()
    if missing := [name for name in REQUIRED if name not in tags]:
        raise RecordError("missing_tag", f"there is no {', no '.join(missing)}", line=line)
    return tags


def _comment(text: str, at: int) -> int:
    """Return where a comment ends, 0 if there is none. A comment is a line of its own."""
    found = COMMENT.match(text, at)
    alone = text.rfind("\n", 0, at) == len(text[:at].rstrip(" \t")) - 1
    return found.end() if found and alone else 0


def _pair(text: str, at: int, line: int) -> re.Match[str]:
    found = PAIR.match(text, at)
    if found:
        return found
    rest = text[at:].partition("\n")[0]
    if rest.startswith("[") and not rest.rstrip().endswith('"]'):
        raise RecordError("truncated_line", f"{rest[:40]!r} does not end with a quote and a bracket", line=line)
    raise RecordError("bad_notation", f'{rest[:40]!r} is no tag: [Name "value"]', line=line)


def _refuse_unless_new(name: str, tags: Mapping[str, PmnTag], line: int) -> None:
    if name not in REQUIRED + OWN_TAGS:
        near = get_close_matches(name, REQUIRED + OWN_TAGS, 1)
        raise RecordError(
            "unknown_tag", f"{name[:40]!r} is no tag{f'; {near[0]} is meant?' if near else ''}", line=line
        )
    if name in tags:
        text = f"{name} is already in line {tags[name].line}; separate records by a blank line"
        raise RecordError("duplicate_tag", text, line=line)


def write_tags(tags: Mapping[str, str]) -> str:
    """Return the tags as text, one per line, in the order of PMN."""
    return "".join(f'[{name} "{_escaped(tags[name])}"]\n' for name in REQUIRED + OWN_TAGS if name in tags)


def _escaped(value: str) -> str:
    """Return a value as it is written between quotes."""
    return value.replace("\\", "\\\\").replace('"', '\\"')


def single_line(value: str) -> str:
    """Return a text on one line, as a tag requires; `?` if nothing is left of it."""
    shown = (" " if unicodedata.category(character) in UNPRINTED else character for character in value)
    return "".join(shown).strip() or UNKNOWN


T = TypeVar("T")

WINDS: Final[dict[str, Wind]] = {wind[0].upper(): wind for wind in SEATS}

SCORINGS: Final = ("Duplicate MCR", "Duplicate")
"""The first is the one we write; the second occurs in PMN's own examples. Plain `MCR` means a common wall."""

DATE: Final = re.compile(r"(\d{4}|\?{4})(\.(\d{2}|\?{2})){2}", re.ASCII)
PROFILE: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
MOST_POINTS: Final = 9999


class FoundRecord(NamedTuple):
    """A record from a file, or its error; the line of its first tag, and that of each tag."""

    record: PmnRecord | RecordError
    line: int
    lines: Mapping[str, int]


def read_records(file: BinaryIO) -> Iterator[FoundRecord]:
    """Yield each record of a file. Raises OSError if the file cannot be read."""
    for block in split_records(file):
        try:
            tags = read_tags(block.text(), block.line)
            yield FoundRecord(read_record(tags), block.line, {name: tag.line for name, tag in tags.items()})
        except RecordError as problem:
            yield FoundRecord(problem, block.line, {})


def read_record(tags: Mapping[str, PmnTag]) -> PmnRecord:
    """Parse one record. Raises RecordError with tag and line, and in Play with the step."""

    def required(name: str, reader: Callable[[str], T]) -> T:
        with within_tag(name, tags[name].line):
            return reader(tags[name].value)

    def optional(name: str, reader: Callable[[str], T | None]) -> T | None:
        return required(name, reader) if name in tags else None

    required("Scoring", _scoring)
    required("Starting", _starting)
    return PmnRecord(
        board=required("Board", _number),
        prevalent_wind=required("PWind", _wind),
        points=required("Result", _four_numbers),
        hands=required("Deal", _or_none(_hands)),
        walls=optional("Walls", _or_none(_walls)),
        steps=required("Play", _or_none(read_play)),
        fans=required("Fan", _fans),
        fines=required("Penalty", _fines),
        event=required("Event", _text),
        site=required("Site", _text),
        date=required("Date", _date),
        players={seat: required(seat.capitalize(), _text) for seat in SEATS},
        dealer=optional("Dealer", _chair),
        table=optional("Table", _number),
        round=optional("Round", _number),
        profile=optional("Profile", _profile),
    )


def _or_none(reader: Callable[[str], T]) -> Callable[[str], T | None]:
    return lambda value: None if value.strip() == UNKNOWN else reader(value)


def _bad(what: str, value: str) -> RuleError:
    return RuleError("bad_tag", f"{value[:40]!r} is no {what}")


def _text(value: str) -> str:
    return value.strip() or UNKNOWN


def _number(value: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,3}", value.strip()):
        raise _bad("number from 1 to 9999", value)
    return int(value)


def _wind(value: str) -> Wind:
    if value.strip() not in WINDS:
        raise _bad("prevalent wind: E, S, W or N", value)
    return WINDS[value.strip()]


def _chair(value: str) -> Seat:
    for seat in SEATS:
        if value.strip().lower() == seat:
            return seat
    raise _bad("seat: east, south, west or north", value)


def _profile(value: str) -> str:
    if not PROFILE.fullmatch(value.strip()):
        raise _bad("id of a rule profile", value)
    return value.strip()


def _date(value: str) -> str:
    written = value.strip()
    if written == UNKNOWN:
        return written
    if not DATE.fullmatch(written):
        raise _bad("date: YYYY.MM.DD", value)
    try:  # unknown parts are replaced by valid ones
        date.fromisoformat(written.replace("????", "2000").replace("??", "01").replace(".", "-"))
    except ValueError:
        raise _bad("day of the calendar", value) from None
    return written


def _scoring(value: str) -> None:
    if " ".join(value.split()) not in SCORINGS:
        raise RuleError("not_duplicate", f"{value[:40]!r}: only records of duplicate plays can be judged")


def _four(value: str) -> list[str]:
    parts = value.split()
    if len(parts) != len(SEATS):
        raise _bad("list of four values, for east, south, west and north", value)
    return parts


def _four_numbers(value: str) -> dict[Seat, int]:
    parts = _four(value)
    if not all(re.fullmatch(r"[+-]?[0-9]{1,4}", part) for part in parts):
        raise _bad(f"list of four whole numbers, at most {MOST_POINTS}", value)
    return dict(zip(SEATS, map(int, parts), strict=True))


def _starting(value: str) -> None:
    if any(_four_numbers(value).values()):
        raise RuleError("bad_tag", "every duplicate play starts from 0 points")


def _fines(value: str) -> dict[Seat, int]:
    """Parse the fines. They are written as negative IMPs, but positive ones are accepted too."""
    return {seat: abs(imp) for seat, imp in _four_numbers(value).items() if imp}


def _fans(value: str) -> dict[Seat, tuple[PmnFan, ...]]:
    return {seat: read_fans(part) for seat, part in zip(SEATS, _four(value), strict=True) if part != "None"}


def _hands(value: str) -> Tiles:
    return {seat: in_order(tiles) for seat, tiles in _of_four(value, ROWS[0]).items()}


def _walls(value: str) -> Tiles:
    return _of_four(value, TRAY - ROWS[0])


def _of_four(value: str, size: int) -> dict[Seat, tuple[str, ...]]:
    read = {seat: read_tiles(part) for seat, part in zip(SEATS, _four(value), strict=True)}
    for seat, tiles in read.items():
        if len(tiles) != size:
            raise RuleError("bad_tag", f"{seat} has {len(tiles)} tiles here, not {size}")
    return read


def write_records(records: Iterable[PmnRecord], notes: Iterable[str] = ()) -> str:
    """Return the records as text, separated by blank lines, followed by comments on what fits no record."""
    return "\n".join((*map(write_record, records), *map(_write_note, notes)))


def _write_note(note: str) -> str:
    """Return a note as comment lines."""
    return "".join(f"% {single_line(line)}\n" for line in note.splitlines())


def write_record(record: PmnRecord) -> str:
    """Return one record as text: all tags of PMN in their order, then our own tags that are known."""
    tags = {
        "Event": single_line(record.event),
        "Site": single_line(record.site),
        "Date": single_line(record.date),
        "Board": str(record.board),
        "PWind": record.prevalent_wind[0].upper(),
        **{seat.capitalize(): single_line(record.players[seat]) for seat in SEATS},
        "Deal": " ".join(write_hand(record.hands[seat]) for seat in SEATS) if record.hands else UNKNOWN,
        "Scoring": SCORINGS[0],
        "Starting": "0 0 0 0",
        "Result": " ".join(str(record.points[seat]) for seat in SEATS),
        "Penalty": " ".join(str(-record.fines.get(seat, 0)) for seat in SEATS),
        "Play": UNKNOWN if record.steps is None else write_play(record.steps),
        "Fan": " ".join(write_fans(record.fans.get(seat, ())) for seat in SEATS),
        "Walls": " ".join(write_wall(record.walls[seat]) for seat in SEATS) if record.walls else None,
        "Dealer": record.dealer,
        "Table": record.table,
        "Round": record.round,
        "Profile": record.profile,
    }
    return write_tags({name: str(value) for name, value in tags.items() if value is not None})
