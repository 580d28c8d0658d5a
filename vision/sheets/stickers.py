"""One sheet of stickers: each face, and after it the labels of its tiles."""

from dataclasses import dataclass, field
from typing import Final

from vision.payload import Payload
from vision.sheets.code import matrix
from vision.sheets.cut_marks import draw_cut_marks
from vision.sheets.formats import Format
from vision.sheets.guide import draw_guide
from vision.sheets.label import LabelLayout
from vision.sheets.label_drawing import draw_label
from vision.sheets.lettering import fitted
from vision.sheets.page import Page
from vision.sheets.placing import Cell
from vision.sheets.words import Words

_HEADING: Final = 9.0
"""Millimetres of margin without which there is no heading: printers leave the outer 5 white."""

Group = tuple[str, tuple[int, ...]]
"""A face and the serials of its tiles."""


@dataclass(frozen=True, slots=True)
class Stickers:
    """One sheet: its groups with their stickers, the face's first."""

    set: int
    sheet: Format
    layout: LabelLayout
    modules: int
    heading: str
    groups: tuple[tuple[Group, tuple[Cell, ...]], ...] = field(repr=False)  # secret


def draw_stickers(page: Page, stickers: Stickers, words: Words) -> None:
    """Draw a sheet."""
    sheet = stickers.sheet
    _head(page, stickers)
    for (face, serials), (first, *cells) in stickers.groups:
        draw_guide(page, sheet.corner_of(*first), (sheet.width, sheet.height), face, words)
        for serial, cell in zip(serials, cells, strict=True):
            _draw_one(page, stickers, serial, cell)
    if sheet.cut:
        draw_cut_marks(page, sheet, [cell for _, (_, *cells) in stickers.groups for cell in cells])


def _head(page: Page, stickers: Stickers) -> None:
    sheet = stickers.sheet
    if sheet.top >= _HEADING:
        x = max(sheet.left, 6.0)
        page.text((x, sheet.top - 3.5), stickers.heading, fitted(stickers.heading, sheet.page[0] - 2 * x, 3.2))


def _draw_one(page: Page, stickers: Stickers, serial: int, cell: Cell) -> None:
    x, y = stickers.sheet.corner_of(*cell)
    code = matrix(Payload(stickers.set, serial), stickers.modules)
    if stickers.sheet.lying:
        with page.turned(x + stickers.sheet.width, y):
            draw_label(page, (0.0, 0.0), stickers.layout, serial, code)
    else:
        draw_label(page, (x, y), stickers.layout, serial, code)
