"""Reading files from people: JSON, CSV and workbooks, bounded in size, with all errors reported at once."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import chain, islice
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from broker.errors import RuleError, reason
from broker.files import write_private
from broker.i18n import N_
from broker.protocol import Refused, refuse_duplicate_names
from broker.spreadsheet import BadRow, SheetRows, columns, read_grid

MAX_FILE_BYTES: Final = 16 * 2**20
"""Largest file that is read, in bytes. The largest `deals.json` that an event may have is about 8 MB."""

PUBLIC_MODE: Final = 0o644

T = TypeVar("T")


def read_bytes(path: Path) -> bytes:
    """Read a file. Raises RuleError `too_large`, OSError."""
    with path.open("rb") as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise RuleError("too_large", N_("{file} has more than {most} bytes", file=path.name, most=MAX_FILE_BYTES))
    return content


def read_json(path: Path, kind: type[T]) -> T:
    """Read a JSON file. Raises RuleError `malformed` or `too_large`, OSError."""
    content = read_bytes(path)
    found = decode_json(content, kind, path.name)
    try:
        refuse_duplicate_names(content)  # JSON parsers disagree on which duplicate counts
    except (Refused, RecursionError) as doubled:
        raise RuleError("malformed", N_("{where}: {problem}", where=path.name, problem=doubled)) from None
    return found


def decode_json(content: bytes | msgspec.Raw, kind: type[T], where: str) -> T:
    """Decode JSON into a type. Raises RuleError `malformed`, with `where` in its text."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RuleError("malformed", N_("{where}: {problem}", where=where, problem=reason(error))) from None


def publish_file(path: Path, content: bytes) -> None:
    """Write a file that everybody may read. A file that already has the same content is left alone.

    Raises RuleError `file_exists` if it has other content; OSError.
    """
    if path.exists():
        if path.read_bytes() != content:
            raise RuleError("file_exists", N_("{file} already exists with different content", file=path))
        return
    write_private(path, content)
    path.chmod(PUBLIC_MODE)


MAX_CSV_LINES: Final = 40_000
"""Most lines of a list: four for each of the 9999 deals that an event may have."""


@dataclass(frozen=True, slots=True)
class CsvRow:
    """One row of a list: its cells by heading, stripped of surrounding space."""

    line: int | str
    """The line number, or in a workbook the sheet and row, such as `Players!5`."""
    cells: Mapping[str, str]
    fields: int
    """How many fields the row has."""
    places: Mapping[str, int | str]
    """In a workbook the cell under each heading, such as `Players!B5`; otherwise empty."""

    def at(self, name: str) -> int | str:
        """Return the line or cell of the value under a heading."""
        return self.places.get(name, self.line)

    def whole(self, fields: int) -> None:
        """Raise RuleError `line_incomplete` unless the row has exactly `fields` fields."""
        if self.fields != fields:
            text = N_(
                "fields in line {line}: {fields}; in the header: {heading}",
                line=self.line,
                fields=self.fields,
                heading=fields,
            )
            raise RuleError("line_incomplete", text)

    def number(self, name: str, largest: int) -> int:
        """Return a cell as a number from 1 to `largest`. Raises RuleError `number_wrong`."""
        text = self.cells.get(name, "")
        if not (text.isascii() and text.isdigit() and len(text) <= len(str(largest)) and 1 <= int(text) <= largest):
            why = N_(
                "line {line}: {field} is {text}; it must be a number from 1 to {most}",
                line=self.at(name),
                field=name,
                text=repr(text[:20]),
                most=largest,
            )
            raise RuleError("number_wrong", why)
        return int(text)


def read_csv(
    path: Path, needed: Collection[str], optional: Collection[str] | None = (), *, alone: str = ""
) -> tuple[list[CsvRow], int]:
    """Read a list in CSV or a workbook. Return its rows, without blank ones, and the number of fields in the heading.

    `needed` columns must be present and `optional` ones may be; with `optional=None`, any others may. A list of one
    column may omit its heading; the column is then called `alone`.

    Raises RuleError `too_large`, `not_text`, `bad_workbook`, `heading_wrong`, `malformed`; OSError.
    """
    grid = _grid(path)
    try:
        line, first = next(grid.rows, (1, []))
        heading, lines = columns(first), grid.rows
        missing = [name for name in needed if name not in heading]
        known = heading if optional is None else (*needed, *optional)
        if alone and len(heading) == 1 and heading[0] not in known:
            heading, lines = [alone], chain([(line, first)], lines)
        unknown = [name for name in heading if name not in known]
        duplicate = sorted({name for name in heading if name in known and heading.count(name) > 1})
        if missing or unknown or duplicate:
            raise RuleError("heading_wrong", _heading_problem(path.name, missing, unknown, duplicate))
        rows = [_row(grid, row, fields, heading) for row, fields in islice(lines, MAX_CSV_LINES)]
        more = next(lines, None)
    except BadRow as bad:
        raise _in_file(path, bad, grid) from None
    if more:
        raise RuleError("too_large", N_("{file} has more than {most} lines", file=path.name, most=MAX_CSV_LINES))
    return rows, len(first)


def _grid(path: Path) -> SheetRows:
    try:
        return read_grid(read_bytes(path))
    except RuleError as problem:
        if problem.code == "too_large":
            raise
        raise RuleError(problem.code, N_("{where}: {problem}", where=path.name, problem=problem.text)) from None


def _in_file(path: Path, bad: BadRow, grid: SheetRows) -> RuleError:
    where = grid.place(bad.row)
    return RuleError(bad.code, N_("{file}, line {line}: {problem}", file=path.name, line=where, problem=bad.text))


def _row(grid: SheetRows, row: int, fields: list[str], heading: list[str]) -> CsvRow:
    cells = {name: field.strip() for name, field in zip(heading, fields, strict=False)}
    places = {name: grid.place(row, at) for at, name in enumerate(heading)} if grid.sheet else {}
    return CsvRow(grid.place(row), cells, len(fields), places)


def _heading_problem(name: str, missing: list[str], unknown: list[str], duplicate: list[str]) -> str:
    shown = ", ".join(repr(name[:20]) for name in unknown[:10])
    problems = [N_("there is no column {names}", names=", ".join(missing))] * bool(missing)
    problems += [N_("unknown columns: {names}", names=shown)] * bool(unknown)
    problems += [N_("two columns are called {names}", names=", ".join(map(repr, duplicate)))] * bool(duplicate)
    problem = reduce(lambda first, second: N_("{first}; {second}", first=first, second=second), problems)
    return N_("{file}, line {line}: {problem}", file=name, line=1, problem=problem)
