"""PMN into records. Tolerant of order and blanks; strict in what the tags mean."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import BinaryIO, Final, NamedTuple, TypeVar

from broker.contract.words import SEATS, Seat, Wind
from broker.records.blocks import blocks
from broker.records.errors import RecordError, in_tag
from broker.records.fans import Fan, read_fans
from broker.records.record import Record, Tiles
from broker.records.steps import read_play
from broker.records.tags import UNKNOWN, Tag, read_tags
from broker.records.tiles import in_order, read_tiles
from broker.rules.deal import ROWS, TRAY
from broker.rules.errors import RuleError

T = TypeVar("T")

WINDS: Final[dict[str, Wind]] = {wind[0].upper(): wind for wind in SEATS}

SCORINGS: Final = ("Duplicate MCR", "Duplicate")
"""The first is written; the second stands in PMN's own examples. Plain `MCR` has one wall for all."""

DATE: Final = re.compile(r"(\d{4}|\?{4})\.(\d{2}|\?{2})\.(\d{2}|\?{2})", re.ASCII)
PROFILE: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
MOST_POINTS: Final = 9999


class Found(NamedTuple):
    """What stands in a file: a record, or what is wrong with it; the line of the first tag, and of each."""

    record: Record | RecordError
    line: int
    lines: Mapping[str, int]


def read(file: BinaryIO) -> Iterator[Found]:
    """Give each record of a file. Raises OSError where the file cannot be read."""
    for block in blocks(file):
        try:
            tags = read_tags(block.text(), block.line)
            yield Found(read_record(tags), block.line, {name: tag.line for name, tag in tags.items()})
        except RecordError as problem:
            yield Found(problem, block.line, {})


def read_record(tags: Mapping[str, Tag]) -> Record:
    """Read one record. Raises RecordError with tag and line, and in Play with the step."""

    def of(name: str, reader: Callable[[str], T]) -> T:
        with in_tag(name, tags[name].line):
            return reader(tags[name].value)

    of("Scoring", _scoring)
    of("Starting", _starting)
    return Record(
        board=of("Board", _number),
        prevalent_wind=of("PWind", _wind),
        points=of("Result", _four_numbers),
        hands=of("Deal", _hands),
        walls=of("Walls", _walls) if "Walls" in tags else None,
        steps=of("Play", _or_none(read_play)),
        fans=of("Fan", _fans),
        fines=of("Penalty", _fines),
        event=of("Event", _text),
        site=of("Site", _text),
        date=of("Date", _date),
        players={seat: of(seat.capitalize(), _text) for seat in SEATS},
        dealer=of("Dealer", _chair) if "Dealer" in tags else None,
        table=_optional(tags, "Table"),
        round=_optional(tags, "Round"),
        profile=of("Profile", _profile) if "Profile" in tags else None,
    )


def _optional(tags: Mapping[str, Tag], name: str) -> int | None:
    if name not in tags:
        return None
    with in_tag(name, tags[name].line):
        return _number(tags[name].value)


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
    found = DATE.fullmatch(written)
    if not found:
        raise _bad("date: YYYY.MM.DD", value)
    try:  # where a part is not known, any that there is will do
        date(
            *(
                int(part) if "?" not in part else default
                for part, default in zip(found.groups(), (2000, 1, 1), strict=True)
            )
        )
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
    """Read IMPs taken off. They are written as losses; who writes their size alone means the same."""
    return {seat: abs(imp) for seat, imp in _four_numbers(value).items() if imp}


def _fans(value: str) -> dict[Seat, tuple[Fan, ...]]:
    return {seat: read_fans(part) for seat, part in zip(SEATS, _four(value), strict=True) if part != "None"}


def _hands(value: str) -> Tiles | None:
    if value.strip() == UNKNOWN:
        return None
    return {seat: in_order(tiles) for seat, tiles in _of_four(value, ROWS[0]).items()}


def _walls(value: str) -> Tiles | None:
    return None if value.strip() == UNKNOWN else _of_four(value, TRAY - ROWS[0])


def _of_four(value: str, size: int) -> dict[Seat, tuple[str, ...]]:
    read = {seat: read_tiles(part) for seat, part in zip(SEATS, _four(value), strict=True)}
    for seat, tiles in read.items():
        if len(tiles) != size:
            raise RuleError("bad_tag", f"{seat} has {len(tiles)} tiles here, not {size}")
    return read
