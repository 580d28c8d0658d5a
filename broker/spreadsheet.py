"""Lists that people upload and download, in the formats of spreadsheets: CSV of any kind, and Excel workbooks.

No text that is written can be taken for a formula. What is read may be no larger than an event needs.
"""

import base64
import csv
import io
import re
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from broker.i18n import N_, NP_, Translator, languages, search_key
from broker.rules import RuleError

if TYPE_CHECKING:
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

CsvCell = int | Decimal | str | None

THOUSANDTH: Final = Decimal("0.001")

FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Characters that a spreadsheet may take for the beginning of a formula, including full-width ones."""

DELIMITERS: Final = ",;\t"

LATER_FORMULA: Final = re.compile(rf"([{DELIMITERS}]\s*)(?=[=+\-@＝＋－＠])")
"""The beginning of a formula for a program that splits cells at another separator than ours."""
LATER_INERT: Final = re.compile(rf"([{DELIMITERS}]\s*)'(?=[=+\-@＝＋－＠])")

NAMED_SEPARATOR: Final = re.compile(rf"sep=([{DELIMITERS}])\r?\n", re.IGNORECASE)
"""The line that tells Excel which separator a file uses."""

BLANK: Final = re.compile(r"[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
"""Spaces from web pages, French and Chinese, which are replaced by plain ones."""

EXCEL_ERRORS: Final = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#SPILL!", "#VALUE!")

FORMULA: Final = re.compile(rb"<f[ >/]")

NO_TEXT: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd]")

BYTE_ORDER_MARK: Final = "\N{ZERO WIDTH NO-BREAK SPACE}"

MAX_COLUMNS: Final = 64
MAX_UNPACKED_BYTES: Final = 64 * 2**20
"""Maximum size of an unpacked workbook, in bytes. A list of 40,000 lines takes a tenth of that."""

MAX_BLANK_ROWS: Final = 1000
"""Number of blank rows after which a list has ended, even if there is more further down the sheet."""

WORKBOOK: Final = ".xlsx"
WORKBOOK_STARTS: Final = b"PK\x03\x04"

HEADINGS: Final = {
    "id": NP_("column headings, with commas between", "id, player id"),
    "name": NP_("column headings, with commas between", "name, full name, player"),
    "first_name": NP_("column headings, with commas between", "first name, given name"),
    "last_name": NP_("column headings, with commas between", "last name, family name, surname"),
    "country": NP_("column headings, with commas between", "country"),
    "club": NP_("column headings, with commas between", "club"),
    "national": NP_("column headings, with commas between", "national, national number, licence, license"),
    "ema": NP_("column headings, with commas between", "ema, ema number, ema id"),
    "team": NP_("column headings, with commas between", "team"),
    "without_standing": NP_("column headings, with commas between", "without standing, guest"),
    "place": NP_("column headings, with commas between", "place, rank"),
    "round": NP_("column headings, with commas between", "round"),
    "table": NP_("column headings, with commas between", "table"),
    "deal": NP_("column headings, with commas between", "deal"),
    "set": NP_("column headings, with commas between", "set"),
    "serial": NP_("column headings, with commas between", "serial"),
    "face": NP_("column headings, with commas between", "face, tile"),
    "seat": NP_("column headings, with commas between", "seat"),
    "dealer": NP_("column headings, with commas between", "dealer"),
    "prevalent_wind": NP_("column headings, with commas between", "prevalent wind"),
    "east": NP_("column headings, with commas between", "east"),
    "south": NP_("column headings, with commas between", "south"),
    "west": NP_("column headings, with commas between", "west"),
    "north": NP_("column headings, with commas between", "north"),
}
"""Headings that people write above each column; their translations are accepted too."""


class BadRow(RuleError):
    """A row that cannot be read; reading stops there."""

    def __init__(self, code: str, text: str, row: int) -> None:
        super().__init__(code, text)
        self.row = row


@dataclass(frozen=True, slots=True)
class SheetRows:
    """The rows of a list, numbered from 1. Iterating over them may raise BadRow."""

    rows: Iterator[tuple[int, list[str]]]
    sheet: str = ""
    """Title of a workbook's first sheet; "" for CSV."""

    def place(self, row: int, column: int | None = None) -> int | str:
        """Return where people find a row or a cell: the line of a text, or in a workbook `Players!B5`."""
        return f"{self.sheet}!{_letters(column)}{row}" if self.sheet else row


def _letters(column: int | None) -> str:
    """Return the spreadsheet name of a column, which is counted from 0; "" for None."""
    return "" if column is None else _letters(column // 26 - 1 if column >= 26 else None) + chr(65 + column % 26)  # noqa: PLR2004 - letters


def read_grid(content: bytes) -> SheetRows:
    """Read CSV in any usual encoding and with any usual separator, or a workbook's first sheet.

    Raises RuleError `not_text`, `bad_workbook`, `too_large`.
    """
    if content.startswith(WORKBOOK_STARTS):
        return _workbook(content)
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        raise RuleError("bad_workbook", N_("Excel 97 workbooks cannot be read: save the file as .xlsx"))
    text = decode_text(content)
    return SheetRows(_as_listed(_csv_rows(text), has_errors="#" in text))


SENT_FILE: Final = "data:;base64,"
"""Prefix with which a page sends a file that is not UTF-8 in a text field."""


def sent_content(text: str) -> bytes:
    """Return the bytes that a page has sent: typed text, or a file. Raises RuleError `not_text`."""
    if not text.startswith(SENT_FILE):
        return text.encode(errors="replace")
    try:
        return base64.b64decode(text.removeprefix(SENT_FILE), validate=True)
    except ValueError:
        raise RuleError("not_text", N_("this is not a file")) from None


def sent_text(text: str) -> str:
    """Return what a text field shows again after it was sent: typed text, a file's text, or a workbook's rows as CSV.

    For a file that is neither text nor a workbook it is empty, and the file has to be chosen again.
    """
    if not text.startswith(SENT_FILE):
        return text
    try:
        content = sent_content(text)
        if content.startswith(WORKBOOK_STARTS):
            return csv_rows(cells for _, cells in read_grid(content).rows)
        return decode_text(content)
    except RuleError:
        return ""


def decode_text(content: bytes) -> str:
    """Decode a file in UTF-8, UTF-16, GB 18030 (Windows in China) or Windows-1252. Raises RuleError `not_text`."""
    text = _decoded(content)
    if bad := NO_TEXT.search(text):
        line = text.count("\n", 0, bad.start()) + 1
        raise RuleError("not_text", N_("line {line}: this is neither text nor a workbook", line=line))
    return BLANK.sub(" ", text.removeprefix(BYTE_ORDER_MARK))


def _decoded(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    if b"\0" in content[:200]:
        return content.decode("utf-16-be" if content[:1] == b"\0" else "utf-16-le", errors="replace")
    with suppress(UnicodeDecodeError):
        return content.decode("utf-8")
    chinese = content.decode("gb18030", errors="replace")
    heading = next(_csv_rows(chinese.partition("\n")[0]), (1, []))[1]
    if any(unicodedata.east_asian_width(one[:1] or " ") == "W" and column(one) in HEADINGS for one in heading):
        return chinese
    # Windows-1252 leaves five bytes undefined. They become Latin-1 control characters, which are refused as such.
    return "".join(bytes([one]).decode("cp1252", errors="ignore") or chr(one) for one in content)


def _csv_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Return each row that is not blank, preceded by the number of the line on which it begins."""
    heading = re.sub('"[^"]*"', "", text.lstrip().partition("\n")[0])
    named = NAMED_SEPARATOR.match(text)
    separator = named[1] if named else max(DELIMITERS, key=heading.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line = 1
    try:
        for cells in reader:
            if (line > 1 or not named) and cells and (cells[0].strip() or "".join(cells).strip()):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error:
        raise BadRow("malformed", N_("a quotation mark is not closed, or stands within a cell"), line) from None


def _as_listed(rows: Iterable[tuple[int, list[str]]], *, has_errors: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Return rows without the empty cells to the right of the heading, which deleted columns leave behind.

    `has_errors`: whether cells may contain EXCEL_ERRORS, for which BadRow is raised.
    """
    width = 0
    for row, cells in rows:
        width = width or max(at for at, cell in enumerate(cells, 1) if cell.strip())
        for at, cell in enumerate(cells if has_errors else ()):
            if cell.startswith("#") and cell.strip() in EXCEL_ERRORS:
                wrong = N_("column {column}: {text} is a spreadsheet error", column=_letters(at), text=cell)
                raise BadRow("malformed", wrong, row)
        while len(cells) > width and not cells[-1].strip():
            cells.pop()
        yield row, cells


def _workbook(content: bytes) -> SheetRows:
    """Read a workbook's first sheet: the values of its cells, not their formulas."""
    import openpyxl  # noqa: PLC0415 - slow to import; most lists are CSV

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            # No more of a part is ever unpacked than the size in its directory entry.
            if sum(part.file_size for part in packed.infolist()) > MAX_UNPACKED_BYTES:
                raise RuleError("too_large", N_("this workbook is too large"))
            sheets = [name for name in packed.namelist() if name.startswith("xl/worksheets/")]
            calculated = any(FORMULA.search(packed.read(name)) for name in sheets)
        values = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True).worksheets[0]
        entered = openpyxl.load_workbook(io.BytesIO(content), read_only=True).worksheets[0] if calculated else values
    except RuleError:
        raise
    except Exception as error:
        raise RuleError("bad_workbook", N_("this workbook cannot be read")) from error
    return SheetRows(_as_listed(_sheet_rows(values, entered)), values.title)


def _sheet_rows(values: "ReadOnlyWorksheet", entered: "ReadOnlyWorksheet") -> Iterator[tuple[int, list[str]]]:
    """Return the rows that are not blank; `entered` is the same sheet with its formulas, if there are any."""
    last = width = 0
    formulas = iter(entered.iter_rows(max_col=MAX_COLUMNS, values_only=True)) if entered is not values else None
    for row, shown in enumerate(values.iter_rows(max_col=MAX_COLUMNS, values_only=True), 1):
        if formulas is not None:
            _refuse_uncalculated(row, shown, next(formulas, ()))
        cells = [_text(value, row, at) for at, value in enumerate(shown)]
        if not any(map(str.strip, cells)):
            if row - last > MAX_BLANK_ROWS:
                return
            continue
        last, width = row, width or len(cells)
        yield row, cells + [""] * (width - len(cells))


def _refuse_uncalculated(row: int, shown: Sequence[object], entered: Sequence[object]) -> None:
    for at, (value, formula) in enumerate(zip(shown, entered, strict=False)):
        if value is None and isinstance(formula, str) and formula.startswith("="):
            wrong = N_("column {column}: the formula has no result; save the file in Excel once", column=_letters(at))
            raise BadRow("bad_workbook", wrong, row)


def _text(value: object, row: int, at: int) -> str:
    """Return the value of a cell as it would be written in CSV. Raises BadRow."""
    if value is None:
        return ""
    if isinstance(value, date | time | timedelta):  # `3-4` was typed, and no program can tell which day that is
        wrong = N_(
            "column {column}: this became a date; format the cell as text and type it again", column=_letters(at)
        )
        raise BadRow("malformed", wrong, row)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return BLANK.sub(" ", str(value))


def fold(text: str) -> str:
    """Return a heading without case, accents, underscores and dots."""
    return " ".join(search_key(text).replace("_", " ").replace(".", " ").replace("°", "o").split())


@cache
def _columns_by_heading() -> dict[str, str]:
    """Return the columns by their normalised headings, in all languages."""
    translators = [Translator(language) for language in languages()]
    found = {
        fold(one): name for name, text in HEADINGS.items() for _ in translators for one in re.split("[,、]", _(text))
    }
    return found | {fold(name): name for name in HEADINGS}


def column(heading: str) -> str:
    """Return the column that a heading names in any language; if it names none, the heading in lower case."""
    return _columns_by_heading().get(fold(heading), heading.strip().lower())


def columns(headings: Sequence[str]) -> list[str]:
    """Return the columns that headings name.

    Beside a column of first names, `Nom` means the family name. Standings have a column `player`, of ids, beside names.
    """
    found = [column(heading) for heading in headings]
    if found.count("name") > 1:
        found = ["player" if fold(written) == "player" else name for written, name in zip(headings, found, strict=True)]
    if "first_name" in found and "last_name" not in found:
        return ["last_name" if fold(written) == "nom" else name for written, name in zip(headings, found, strict=True)]
    return found


def without_formula(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: an apostrophe is put before one that looks like it.

    The same is done after every comma, semicolon and tab, where some programs begin another cell.
    """
    inert = LATER_FORMULA.sub(r"\1'", text)
    return f"'{inert}" if _begins_formula(text) else inert


def _begins_formula(text: str) -> bool:
    return text.startswith(FORMULA_STARTS) or text.lstrip().startswith(FORMULA_STARTS)


def decimal(number: int | str | Fraction) -> int | Decimal:
    """Return a fraction as a decimal with three places: a spreadsheet would take 7/3 for a date."""
    exact = Fraction(number)
    if exact.denominator == 1:
        return exact.numerator
    return (Decimal(exact.numerator) / Decimal(exact.denominator)).quantize(THOUSANDTH)


def csv_text(header: Iterable[str], rows: Iterable[Iterable[CsvCell]]) -> str:
    """Write CSV (RFC 4180). None is an empty cell, texts are passed through `without_formula`, numbers stay numbers."""
    return csv_rows([tuple(header)]) + csv_rows(rows)


def csv_rows(rows: Iterable[Iterable[CsvCell]]) -> str:
    """Write rows as `csv_text` does, for CSV that is written piece by piece."""
    out = io.StringIO()
    csv.writer(out).writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: CsvCell) -> int | Decimal | str:
    return "" if value is None else without_formula(value) if isinstance(value, str) else value


def for_excel(text: str, *, begins: bool = True) -> bytes:
    """Convert our CSV for Excel where decimals have a comma: with semicolons, and a byte order mark if it `begins`."""
    out = io.StringIO()
    rows = csv.reader(io.StringIO(text, newline=""))
    csv.writer(out, delimiter=";").writerows([_with_comma(cell) for cell in row] for row in rows)
    return (BYTE_ORDER_MARK * begins + out.getvalue()).encode()


def _with_comma(cell: str) -> str:
    whole, point, places = cell.partition(".")
    return f"{whole},{places}" if point and whole.removeprefix("-").isdecimal() and places.isdecimal() else cell


def as_workbook(text: str, title: str) -> bytes:
    """Convert our CSV into a workbook. Numbers stay numbers, and texts stay texts whatever they begin with."""
    import openpyxl  # noqa: PLC0415 - slow to import
    from openpyxl.cell import WriteOnlyCell  # noqa: PLC0415 - slow to import

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(title[:31])
    sheet.freeze_panes = "A2"
    for row in csv.reader(io.StringIO(text, newline="")):
        cells = []
        for value in row:
            number = _number(value)
            cell = WriteOnlyCell(sheet, NO_TEXT.sub("", without_apostrophes(value)) if number is None else number)
            if number is None:
                cell.data_type = "s"
            cells.append(cell)
        sheet.append(cells)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def without_apostrophes(cell: str) -> str:
    """Return a text of our CSV without the apostrophes that `without_formula` added; other apostrophes stay."""
    return LATER_INERT.sub(r"\1", cell[1:] if cell.startswith("'") and _begins_formula(cell[1:]) else cell)


def _number(cell: str) -> Decimal | None:
    """Return the number in a cell of our CSV, or None for text. Leading zeros make it text, such as an EMA number."""
    whole, point, places = cell.partition(".")
    digits = whole.removeprefix("-")
    plain = digits.isascii() and digits.isdecimal() and (digits == "0" or not digits.startswith("0"))
    return Decimal(cell) if plain and (places.isdecimal() if point else len(digits) <= 12) else None  # noqa: PLR2004 - digits that Excel keeps


def encode_output(text: str, output: Path | None, *, excel: bool = False) -> bytes:
    """Encode our CSV as requested: as a workbook if the file is named so, for Excel, or as it is."""
    if output is not None and output.suffix.lower() == WORKBOOK:
        return as_workbook(text, output.stem)
    return for_excel(text) if excel else text.encode()
