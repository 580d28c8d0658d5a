"""Marks to cut by, on plain paper: at the corners of each label for scissors, in the margins for a paper cutter."""

from collections.abc import Collection
from typing import Final

from vision.sheets.formats import Format
from vision.sheets.page import GREY, Page
from vision.sheets.placing import Cell

_TICK: Final = 0.6
_LONG: Final = 4.0
_APART: Final = 1.5


def draw_cut_marks(page: Page, sheet: Format, cells: Collection[Cell]) -> None:
    """Mark the edges of labels."""
    for cell in cells:
        _corners(page, sheet, cell)
    _margins(page, sheet, cells)


def _corners(page: Page, sheet: Format, cell: Cell) -> None:
    left, top = sheet.corner_of(*cell)
    for x, out in ((left, -_TICK), (left + sheet.width, _TICK)):
        for y, up in ((top, -_TICK), (top + sheet.height, _TICK)):
            page.line((x, y), (x + out, y), ink=GREY)
            page.line((x, y), (x, y + up), ink=GREY)


def _margins(page: Page, sheet: Format, cells: Collection[Cell]) -> None:
    """Mark whole columns and rows where no heading stands: at the foot, and at the left."""
    foot = sheet.corner_of(0, sheet.rows - 1)[1] + sheet.height + _APART
    for column in {column for column, _ in cells}:
        x = sheet.corner_of(column, 0)[0]
        for edge in (x, x + sheet.width):
            page.line((edge, foot), (edge, foot + _LONG), ink=GREY)
    side = sheet.left - _APART
    for row in {row for _, row in cells}:
        y = sheet.corner_of(0, row)[1]
        for edge in (y, y + sheet.height):
            page.line((side - _LONG, edge), (side, edge), ink=GREY)
