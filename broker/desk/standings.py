"""The standings as a CSV file that a spreadsheet opens without running any of it."""

import csv
import io
from typing import Final

from broker.scorer.view import View

COLUMNS: Final = ("place", "player", "name", "imp", "fines", "plays")

# Spreadsheets take a cell as a formula by its first character; some take the full-width forms too.
FORMULA_STARTS: Final = tuple(
    "=+-@\t\r\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
)


def text_cell(text: str) -> str:
    """Keep a text from being taken as a formula: an apostrophe before it, as spreadsheets themselves write it."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) or text.lstrip().startswith(FORMULA_STARTS) else text


def as_csv(view: View) -> bytes:
    """Give the standings in UTF-8 with a byte order mark, without which Excel garbles Chinese names."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for row in view.standings:
        writer.writerow([row.place, text_cell(row.player), text_cell(row.name), row.imp, row.fines, row.plays])
    return out.getvalue().encode("utf-8-sig")
