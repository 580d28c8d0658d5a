"""The first page: a frame and a ruler to measure the printer's scale with, and where the labels will lie."""

from collections.abc import Iterator
from typing import Final

from vision.sheets.formats import Format
from vision.sheets.lettering import fitted, wrapped
from vision.sheets.page import BLACK, GREY, Page
from vision.sheets.words import Words

SIDE: Final = 100.0
"""Millimetres: width and height of the frame."""

INCH: Final = 25.4
INCHES: Final = 4

_TEXT: Final = 3.4
_LINE: Final = 4.3


def draw_check_page(page: Page, sheet: Format, words: Words, set_text: str, sheets: int) -> None:
    """Draw frame, ruler, steps, and the outlines of the labels at the edges."""
    width, height = sheet.page
    left, top = (width - SIDE) / 2, (height - SIDE) / 2 - 8
    for column, row in _edge(sheet):
        page.box(sheet.corner_of(column, row), (sheet.width, sheet.height), corner=sheet.corner)
    title = words["title"].format(set=set_text)
    page.text((left, top - 12), title, fitted(title, SIDE, 7, bold=True), bold=True)
    _frame(page, left, top)
    _inches(page, left, top + SIDE + 10)
    y = top + 13
    for step in _steps(sheet, words, sheets):
        for line in wrapped(step, SIDE - 16, _TEXT):
            page.text((left + 11, y), line, _TEXT)
            y += _LINE
        y += 1.5


def _edge(sheet: Format) -> Iterator[tuple[int, int]]:
    for row in range(sheet.rows):
        for column in range(sheet.columns):
            if row in {0, sheet.rows - 1} or column in {0, sheet.columns - 1}:
                yield column, row


def _steps(sheet: Format, words: Words, sheets: int) -> Iterator[str]:
    told = {
        "align": words["align_cut" if sheet.cut else "align_stickers"],
        "pages": "2" if sheets == 1 else f"2–{sheets + 1}",
        "paper": sheet.name,
        "stick": words["lying" if sheet.lying else "upright"],
    }
    return (step.format(**told) for step in words["steps"])


def _frame(page: Page, left: float, top: float) -> None:
    """Draw the square, with a tick each millimetre at the top and at the left."""
    page.box((left, top), (SIDE, SIDE), line=BLACK, thick=0.2)
    for at in range(round(SIDE) + 1):
        long = 5.0 if at % 10 == 0 else 3.5 if at % 5 == 0 else 2.0
        page.line((left + at, top), (left + at, top + long))
        page.line((left, top + at), (left + long, top + at))
        if at % 10 == 0:
            page.centred((left + at, top - 1.5), str(at), 2.8)
            page.text((left - (5.5 if at == SIDE else 4), top + at + 1), str(at), 2.8)
    page.text((left + SIDE + 4, top - 1.5), "mm", 2.8, ink=GREY)


def _inches(page: Page, left: float, y: float) -> None:
    """Draw a ruler of four inches, in sixteenths."""
    page.line((left, y), (left + INCHES * INCH, y), 0.2)
    for at in range(16 * INCHES + 1):
        long = 5.0 if at % 16 == 0 else 3.5 if at % 8 == 0 else 2.0
        page.line((left + at * INCH / 16, y), (left + at * INCH / 16, y + long))
        if at % 16 == 0:
            page.centred((left + at * INCH / 16, y - 1.5), str(at // 16), 2.8)
    page.text((left + INCHES * INCH + 2, y - 1.5), "in", 2.8, ink=GREY)
