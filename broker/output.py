"""Exports: written to standard output or a file that is never overwritten unasked; CSV safe for spreadsheets."""

import csv
import io
import sys
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Final

from broker.files import PRIVATE, PUBLIC, write_file
from broker.i18n import N_
from broker.rules import RuleError

EVENT: Final = "event.toml"

MOVEMENT: Final = "movement.csv"

STANDINGS: Final = "standings.csv"

EXPORT_SUFFIXES: Final = (".csv", ".jsonl", ".pdf", ".pmn", ".txt", ".zip")
"""Ends of names that may be written inside an event's folder; the others there are the event itself."""


def deliver(text: str | bytes, output: Path | None, *, source: Path | None, force: bool, secret: bool = False) -> None:
    """Write an export, text in UTF-8 whatever the locale. A secret one is readable by its owner alone.

    Raises RuleError `export_exists`, `not_an_export` or `unwritable`.
    """
    content = text.encode() if isinstance(text, str) else text
    try:
        if output is None:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:
            may_write(output, source=source, force=force)
            write_file(output, content, PRIVATE if secret else PUBLIC)
    except BrokenPipeError:
        raise  # click ends quietly when the reader has gone
    except OSError as error:
        raise RuleError(
            "unwritable", N_("{where}: {problem}", where=output or "standard output", problem=error.strerror)
        ) from None


def may_write(output: Path, *, source: Path | None, force: bool) -> None:
    """Say beforehand, where much work comes before the writing, what `deliver` would say of a file.

    Nothing is written over what the export is made from, over an event's own files, or unasked over any file.
    """
    if source is not None and output.exists() and source.exists() and output.samefile(source):
        raise RuleError("not_an_export", f"{output.name} is what the export is made from")
    if output.exists() and not output.is_file():
        raise RuleError("unwritable", f"{output} is no file")
    own = output.suffix.lower() not in EXPORT_SUFFIXES or output.name in {MOVEMENT, STANDINGS}
    if own and _is_inside(output, source):
        raise RuleError(
            "not_an_export",
            f"{output.name}: in an event's folder only {', '.join(EXPORT_SUFFIXES)} are exports,"
            f" and neither {MOVEMENT} nor {STANDINGS}",
        )
    if output.exists() and not force:
        raise RuleError("export_exists", f"{output} is there already; --force overwrites it")


def _is_inside(output: Path, source: Path | None) -> bool:
    """Return whether a file lies in the folder of an event, this one's or another's."""
    above = output.resolve().parents
    return (above[0] / EVENT).exists() or (source is not None and source.resolve() in above)


def write_whole(output: Path, content: bytes) -> None:
    """Write a file that is no secret, over one that is there: it is the old one or the new one. Raises OSError."""
    if output.exists() and not output.is_file():
        output.write_bytes(content)  # a device or a pipe has no old content, and nothing is put in its place
    else:
        write_file(output, content)


CsvCell = int | Decimal | str | None

THOUSANDTH: Final = Decimal("0.001")

FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a spreadsheet may take for the beginning of a formula, full width too."""


def without_formula(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: one that begins so gets an apostrophe before it."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) or text.lstrip().startswith(FORMULA_STARTS) else text


def decimal(number: int | str | Fraction) -> int | Decimal:
    """Return a fraction as a decimal of three places: a spreadsheet would take 7/3 for a day in March."""
    exact = Fraction(number)
    if exact.denominator == 1:
        return exact.numerator
    return (Decimal(exact.numerator) / Decimal(exact.denominator)).quantize(THOUSANDTH)


def csv_text(header: Iterable[str], rows: Iterable[Iterable[CsvCell]]) -> str:
    """Write CSV (RFC 4180). None is an empty cell; every text is made inert, numbers stay numbers."""
    return csv_rows([tuple(header)]) + csv_rows(rows)


def csv_rows(rows: Iterable[Iterable[CsvCell]]) -> str:
    """Write rows as `as_csv` does, for what is written bit by bit."""
    out = io.StringIO()
    csv.writer(out).writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: CsvCell) -> int | Decimal | str:
    if value is None:
        return ""
    return without_formula(value) if isinstance(value, str) else value
