"""Files that people send: JSON and CSV, bounded in size, with all errors reported at once."""

import csv
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from broker.files import write_private
from broker.i18n import N_
from broker.protocol import Refused, refuse_duplicate_names
from broker.rules import RuleError

MAX_FILE_BYTES: Final = 16 * 2**20
"""Bytes of one file that is read; all deals that an event may have are about 8 MB."""

PUBLIC_MODE: Final = 0o644

T = TypeVar("T")
A = TypeVar("A")


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
        refuse_duplicate_names(content)  # or two readers could take it for two different things
    except (Refused, RecursionError) as doubled:
        raise RuleError("malformed", N_("{where}: {problem}", where=path.name, problem=doubled)) from None
    return found


def decode_json(content: bytes | msgspec.Raw, kind: type[T], where: str) -> T:
    """Read JSON. Raises RuleError `malformed`, with `where` in its text."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RuleError("malformed", N_("{where}: {problem}", where=where, problem=str(error)[:300])) from None


def publish(path: Path, content: bytes) -> None:
    """Write a file that everybody may read; what is there with the same content stays, so that one may ask twice.

    Raises RuleError `file_exists`, OSError.
    """
    if path.exists():
        if path.read_bytes() != content:
            raise RuleError("file_exists", N_("{file} already exists with different content", file=path))
        return
    write_private(path, content)
    path.chmod(PUBLIC_MODE)


def collect_errors(ask: Callable[[A], T], asked: Iterable[A]) -> list[T]:
    """Ask about each; raise an ExceptionGroup of all RuleErrors if there is one."""
    answers: list[T] = []
    problems: list[RuleError] = []
    for one in asked:
        try:
            answers.append(ask(one))
        except RuleError as problem:
            problems.append(problem)
        except ExceptionGroup as several:
            problems += flatten_errors(several)
    raise_errors(problems)
    return answers


def raise_errors(problems: Iterable[RuleError]) -> None:
    """Raise all of them at once, if there is one."""
    if found := list(problems):
        raise ExceptionGroup("refused", found)


def flatten_errors(several: BaseExceptionGroup[BaseException]) -> list[RuleError]:
    """Return the refusals in a group; groups may lie in groups."""
    found: list[RuleError] = []
    for one in several.exceptions:
        found += (
            flatten_errors(one) if isinstance(one, BaseExceptionGroup) else [one] if isinstance(one, RuleError) else []
        )
    return found


DELIMITERS: Final = ",;\t"

MAX_CSV_LINES: Final = 40_000
"""Four lines for each of the 9999 deals that there may be."""


@dataclass(frozen=True, slots=True)
class CsvRow:
    """One line: what stands under each heading, trimmed."""

    line: int
    cells: Mapping[str, str]
    fields: int

    def whole(self, fields: int) -> None:
        """Raise RuleError `line_incomplete` unless the line has as many fields as the heading."""
        if self.fields != fields:
            raise RuleError(
                "line_incomplete",
                N_(
                    "line {line} has {fields} fields, but the header has {heading}",
                    line=self.line,
                    fields=self.fields,
                    heading=fields,
                ),
            )

    def number(self, name: str, largest: int) -> int:
        """Return a number from 1. Raises RuleError `number_wrong`."""
        text = self.cells.get(name, "")
        if not (text.isascii() and text.isdigit() and len(text) <= len(str(largest)) and 1 <= int(text) <= largest):
            raise RuleError(
                "number_wrong",
                N_(
                    "line {line}: {field} is {text}; it must be a number from 1 to {most}",
                    line=self.line,
                    field=name,
                    text=repr(text[:20]),
                    most=largest,
                ),
            )
        return int(text)


def read_csv(path: Path, needed: Collection[str], optional: Collection[str] = ()) -> tuple[list[CsvRow], int]:
    """Return all rows and how many fields each has to have; blank lines are nothing.

    Raises RuleError `too_large`, `not_utf8`, `heading_wrong`, `malformed`; OSError.
    """
    lines = _lines(_text(path), path.name)
    _, first = next(lines, (1, []))
    heading = [name.strip().lower() for name in first]
    missing = [name for name in needed if name not in heading]
    strange = [name for name in heading if name not in {*needed, *optional} or heading.count(name) > 1]
    if missing or strange:
        raise RuleError("heading_wrong", _about(path.name, missing, strange))
    rows = [_row(line, fields, heading) for line, fields in islice(lines, MAX_CSV_LINES) if any(map(str.strip, fields))]
    if next(lines, None):
        raise RuleError("too_large", N_("{file} has more than {most} lines", file=path.name, most=MAX_CSV_LINES))
    return rows, len(first)


def _row(line: int, fields: list[str], heading: list[str]) -> CsvRow:
    cells = {name: field.strip() for name, field in zip(heading, fields, strict=False)}
    return CsvRow(line, cells, len(fields))


def _text(path: Path) -> str:
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise RuleError(
            "not_utf8", N_("{file}, line {line}: this is not UTF-8 text", file=path.name, line=line)
        ) from None


def _lines(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    heading = text.partition("\n")[0]
    delimiter = max(DELIMITERS, key=heading.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise RuleError(
                "malformed", N_("{file}, line {line}: {problem}", file=name, line=line, problem=str(error))
            ) from None
        if fields is None:
            return
        yield line, fields


def _about(name: str, missing: list[str], strange: list[str]) -> str:
    said = [f"there is no column {', '.join(missing)}"] * bool(missing)
    said += [f"nothing is known of {', '.join(repr(name[:20]) for name in strange[:10])}"] * bool(strange)
    return f"{name}, line 1: {'; '.join(said)}"
