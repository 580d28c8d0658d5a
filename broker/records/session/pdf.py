"""The sheet of a session as PDF: A4 on its side, as many pages as it takes."""

import io
from typing import Final

from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from broker.organiser.deals.lettering import fitted, width, write
from broker.records.session.rows import Row, Sheet

PAGE: Final = landscape(A4)
LEFT: Final = 12 * mm
TOP: Final = PAGE[1] - 14 * mm
LINE: Final = 6.2 * mm
ON_A_PAGE: Final = 25
"""Rows; a session of two rounds seldom has more."""

WHAT: Final = LEFT + 22 * mm
PLAYERS: Final = LEFT + 120 * mm
COLUMN: Final = 36 * mm
DELTA: Final = 17 * mm
"""Where what a hand brought ends, in a player's column."""

SCORE: Final = 34 * mm
SIZE: Final = 10


def pdf(sheet: Sheet) -> bytes:
    """Give the sheet as PDF; the same sheet gives the same bytes."""
    page = io.BytesIO()
    canvas = Canvas(page, pagesize=PAGE, invariant=1)
    canvas.setTitle(f"{sheet.words['title']}: {sheet.title}")
    pages = [sheet.rows[at : at + ON_A_PAGE] for at in range(0, len(sheet.rows), ON_A_PAGE)] or [()]
    for number, rows in enumerate(pages, 1):
        y = _head(canvas, sheet, f"{number}/{len(pages)}")
        for row in rows:
            _row(canvas, row, y)
            y -= LINE
        if number == len(pages):
            _foot(canvas, sheet, y)
        canvas.showPage()
    canvas.save()
    return page.getvalue()


def _head(canvas: Canvas, sheet: Sheet, page: str) -> float:
    write(canvas, (LEFT, TOP), f"{sheet.words['title']}: {sheet.title}", 16, bold=True)
    _right(canvas, PAGE[0] - LEFT, TOP, page)
    y = TOP - 2 * LINE
    for at, name in enumerate(sheet.players):
        text, size = fitted(name, COLUMN - 4 * mm, 11, 7, bold=True)
        write(canvas, (PLAYERS + at * COLUMN + SCORE - width(text, size, bold=True), y), text, size, bold=True)
    y -= LINE
    write(canvas, (WHAT, y), sheet.words["start"], SIZE)
    for at, score in enumerate(sheet.start):
        _right(canvas, PLAYERS + at * COLUMN + SCORE, y, str(score))
    canvas.line(LEFT, y - 2 * mm, PAGE[0] - LEFT, y - 2 * mm)
    return float(y - LINE - 1 * mm)


def _row(canvas: Canvas, row: Row, y: float) -> None:
    write(canvas, (LEFT, y), f"{row.hand} +{row.counters}" if row.counters else row.hand, SIZE, bold=True)
    text, size = fitted(row.what, PLAYERS - WHAT, SIZE, 6.5)
    write(canvas, (WHAT, y), text, size)
    for at, (delta, score) in enumerate(zip(row.deltas, row.scores, strict=True)):
        if delta:
            _right(canvas, PLAYERS + at * COLUMN + DELTA, y, f"{delta:+}")
        _right(canvas, PLAYERS + at * COLUMN + SCORE, y, str(score))
    if row.table:
        _right(canvas, PAGE[0] - LEFT, y, str(row.table))


def _foot(canvas: Canvas, sheet: Sheet, y: float) -> None:
    canvas.line(LEFT, y + LINE - 2 * mm, PAGE[0] - LEFT, y + LINE - 2 * mm)
    if not sheet.places:
        write(canvas, (WHAT, y - 1 * mm), f"{sheet.words['going_on']} {sheet.next_hand}", SIZE)
        return
    write(canvas, (WHAT, y - 1 * mm), sheet.words["final"], SIZE, bold=True)
    for at, place in enumerate(sheet.places):
        _right(canvas, PLAYERS + at * COLUMN + SCORE, y - 1 * mm, str(place), bold=True)


def _right(canvas: Canvas, x: float, y: float, text: str, *, bold: bool = False) -> None:
    write(canvas, (x - width(text, SIZE, bold=bold), y), text, SIZE, bold=bold)
