"""A CSV file into rows that know their line: comma, semicolon or tab, as spreadsheets write it."""

import csv
import io
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from broker.organiser.files import read_bytes
from broker.rules.errors import RuleError

DELIMITERS: Final = ",;\t"

MOST_LINES: Final = 40_000
"""Four lines for each of the 9999 deals that there may be."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line: what stands under each heading, trimmed."""

    line: int
    cells: Mapping[str, str]
    fields: int

    def whole(self, fields: int) -> None:
        """Raise RuleError `line_incomplete` unless the line has as many fields as the heading."""
        if self.fields != fields:
            raise RuleError("line_incomplete", f"line {self.line}: {self.fields} fields, the heading has {fields}")

    def number(self, name: str, largest: int) -> int:
        """Give a number from 1. Raises RuleError `number_wrong`."""
        text = self.cells.get(name, "")
        if not (text.isascii() and text.isdigit() and len(text) <= len(str(largest)) and 1 <= int(text) <= largest):
            raise RuleError("number_wrong", f"line {self.line}: {name} {text[:20]!r} is no number from 1 to {largest}")
        return int(text)


def read_table(path: Path, needed: Collection[str], optional: Collection[str] = ()) -> tuple[list[Row], int]:
    """Give all rows and how many fields each has to have; blank lines are nothing.

    Raises RuleError `too_large`, `not_utf8`, `heading_wrong`, `malformed`; OSError.
    """
    lines = _lines(_text(path), path.name)
    _, first = next(lines, (1, []))
    heading = [name.strip().lower() for name in first]
    missing = [name for name in needed if name not in heading]
    strange = [name for name in heading if name not in {*needed, *optional} or heading.count(name) > 1]
    if missing or strange:
        raise RuleError("heading_wrong", _about(path.name, missing, strange))
    rows = [_row(line, fields, heading) for line, fields in islice(lines, MOST_LINES) if any(map(str.strip, fields))]
    if next(lines, None):
        raise RuleError("too_large", f"{path.name} has more than {MOST_LINES} lines")
    return rows, len(first)


def _row(line: int, fields: list[str], heading: list[str]) -> Row:
    cells = {name: field.strip() for name, field in zip(heading, fields, strict=False)}
    return Row(line, cells, len(fields))


def _text(path: Path) -> str:
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise RuleError("not_utf8", f"{path.name}, line {line}: not UTF-8") from None


def _lines(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    heading = text.partition("\n")[0]
    delimiter = max(DELIMITERS, key=heading.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise RuleError("malformed", f"{name}, line {line}: {error}") from None
        if fields is None:
            return
        yield line, fields


def _about(name: str, missing: list[str], strange: list[str]) -> str:
    said = [f"there is no column {', '.join(missing)}"] * bool(missing)
    said += [f"nothing is known of {', '.join(repr(name[:20]) for name in strange[:10])}"] * bool(strange)
    return f"{name}, line 1: {'; '.join(said)}"
