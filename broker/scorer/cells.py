"""Cells of CSV files that spreadsheets open safely. All that is exported for spreadsheets is written through here."""

import csv
import io
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Final

Cell = int | Decimal | str | None

THOUSANDTH: Final = Decimal("0.001")

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a spreadsheet may take for the beginning of a formula, full width too."""


def inert(text: str) -> str:
    """Give a text that no spreadsheet takes for a formula: one that begins so gets an apostrophe before it."""
    return f"'{text}" if text.startswith(FORMULA) or text.lstrip().startswith(FORMULA) else text


def decimal(number: int | str | Fraction) -> int | Decimal:
    """Give a fraction as a decimal of three places: a spreadsheet would take 7/3 for a day in March."""
    exact = Fraction(number)
    if exact.denominator == 1:
        return exact.numerator
    return (Decimal(exact.numerator) / Decimal(exact.denominator)).quantize(THOUSANDTH)


def as_csv(header: Iterable[str], rows: Iterable[Iterable[Cell]]) -> str:
    """Write CSV (RFC 4180). None is an empty cell; every text is made inert, numbers stay numbers."""
    return rows_as_csv([tuple(header)]) + rows_as_csv(rows)


def rows_as_csv(rows: Iterable[Iterable[Cell]]) -> str:
    """Write rows as `as_csv` does, for what is written bit by bit."""
    out = io.StringIO()
    csv.writer(out).writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: Cell) -> int | Decimal | str:
    if value is None:
        return ""
    return inert(value) if isinstance(value, str) else value
