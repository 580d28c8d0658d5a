"""One sheet of stickers: each face, drawn and named, followed by the labels of its tiles; and cutting marks."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from reportlab.lib.colors import Color, HexColor

from broker.i18n import NP_, Message, Translator
from vision.marks.label_code import Payload
from vision.sheets.formats import SheetCell, SheetFormat
from vision.sheets.label import LabelLayout, code_modules, draw_label
from vision.sheets.page import BLACK, GREY, LabelPage, fitted_size

SUITS: Final[Mapping[str, Message]] = {
    "m": NP_("suit", "characters"),
    "p": NP_("suit", "dots"),
    "s": NP_("suit", "bamboo"),
}

HONOURS: Final = (
    NP_("tile", "east"),
    NP_("tile", "south"),
    NP_("tile", "west"),
    NP_("tile", "north"),
    NP_("tile", "white"),
    NP_("tile", "green"),
    NP_("tile", "red"),
)


def face_name(_: Translator, face: str) -> str:
    """Return the name to print beside a face's code: its suit, or the name of the honour."""
    rank, suit = int(face[0]), face[1]
    name = HONOURS[rank - 1] if suit == "z" else SUITS[suit]
    return _(name)


ASPECT: Final = 0.75
"""Width of a tile divided by its height."""

_RED: Final = HexColor("#b3261e")
_GREEN: Final = HexColor("#1b6e37")
_BLUE: Final = HexColor("#1f4e9c")
_WHITE: Final = HexColor("#ffffff")

_DOTS: Final = ((1,), (1, 1), (1, 1, 1), (2, 2), (2, 1, 2), (2, 2, 2), (3, 2, 2), (2, 2, 2, 2), (3, 3, 3))
_STICKS: Final = ((1,), (1, 1), (1, 2), (2, 2), (2, 1, 2), (3, 3), (1, 3, 3), (4, 4), (3, 3, 3))
"""Number of sticks in each row, for each rank."""

_WRITTEN: Final[tuple[tuple[str, Color], ...]] = (
    ("東", BLACK), ("南", BLACK), ("西", BLACK), ("北", BLACK), ("", _BLUE), ("發", _GREEN), ("中", _RED),
)  # fmt: skip


def draw_tile(page: LabelPage, at: tuple[float, float], height: float, face: str) -> None:
    """Draw a face with its top left corner at `at`, `height` millimetres high."""
    x, y = at
    width = height * ASPECT
    page.box(at, (width, height), corner=height * 0.09, fill=_WHITE, line=GREY, line_width=height * 0.02)
    inner = x + 0.1 * width, y + 0.08 * height, 0.8 * width, 0.84 * height
    rank = int(face[0])
    match face[1]:
        case "m":
            _characters(page, inner, rank)
        case "p":
            _dots(page, inner, _DOTS[rank - 1])
        case "s":
            _sticks(page, inner, _STICKS[rank - 1])
        case _:
            _honour(page, inner, rank)


_Box = tuple[float, float, float, float]
"""Left, top, width, height."""


def _characters(page: LabelPage, box: _Box, rank: int) -> None:
    x, y, width, height = box
    page.centred((x + width / 2, y + 0.43 * height), str(rank), 0.52 * height, bold=True)
    page.centred((x + width / 2, y + 0.93 * height), "萬", 0.5 * height, ink=_RED)


def _dots(page: LabelPage, box: _Box, rows: tuple[int, ...]) -> None:
    radius = min(box[3] / len(rows), box[2] / max(rows), 0.5 * box[3]) * 0.44
    for x, y in _spots(box, rows):
        page.disc((x, y), radius, _BLUE)
        page.disc((x, y), radius * 0.45, _WHITE)


def _sticks(page: LabelPage, box: _Box, rows: tuple[int, ...]) -> None:
    half = min(box[3] / len(rows), 0.6 * box[3]) * 0.42
    for x, y in _spots(box, rows):
        page.line((x, y - half), (x, y + half), line_width=0.13 * box[2], ink=_GREEN)


def _spots(box: _Box, rows: tuple[int, ...]) -> list[tuple[float, float]]:
    left, top, width, height = box
    return [
        (left + width * (at + 0.5) / count, top + height * (row + 0.5) / len(rows))
        for row, count in enumerate(rows)
        for at in range(count)
    ]


def _honour(page: LabelPage, box: _Box, rank: int) -> None:
    x, y, width, height = box
    letter, ink = _WRITTEN[rank - 1]
    if letter:
        size = fitted_size(letter, width, height)
        page.centred((x + width / 2, y + height / 2 + 0.36 * size), letter, size, ink=ink)
    else:
        page.box((x + 0.04 * width, y + 0.03 * height), (0.92 * width, 0.94 * height), line=ink, line_width=0.1 * width)


_INSET: Final = 0.8
_NARROW: Final = 1.4
"""Width divided by height of a sticker below which the name is printed below the drawing, not beside it."""

_CODE, _NAME = 3.4, 2.5  # largest em, millimetres
_LEGIBLE: Final = 1.8
"""Smallest em for the name, millimetres; below it, only the code is printed."""


def draw_guide(page: LabelPage, at: tuple[float, float], size: tuple[float, float], face: str, _: Translator) -> None:
    """Draw a face with its code and its name on a sticker of this size."""
    if size[0] >= _NARROW * size[1]:
        _beside(page, at, size, face, face_name(_, face))
    else:
        _below(page, at, size, face, face_name(_, face))


def _beside(page: LabelPage, at: tuple[float, float], size: tuple[float, float], face: str, name: str) -> None:
    x, y = at
    height = size[1] - 2 * _INSET
    draw_tile(page, (x + _INSET, y + _INSET), height, face)
    left = x + _INSET + height * ASPECT + 0.9
    room = x + size[0] - _INSET - left
    middle = y + size[1] / 2
    page.text((left, middle), face, fitted_size(face, room, _CODE, bold=True), bold=True)
    page.text((left, middle + 2.5), name, fitted_size(name, room, _NAME), ink=GREY)


def _below(page: LabelPage, at: tuple[float, float], size: tuple[float, float], face: str, name: str) -> None:
    x, y = at
    height = size[1] - 2 * _INSET - _NAME
    draw_tile(page, (x + (size[0] - height * ASPECT) / 2, y + _INSET), height, face)
    room = size[0] - 2 * _INSET
    text = f"{face}  {name}"
    em = fitted_size(text, room, _NAME)
    if em < _LEGIBLE:
        text, em = face, _NAME
    page.centred((x + size[0] / 2, y + size[1] - _INSET - 0.2), text, em)


_TICK: Final = 0.6
_LONG: Final = 4.0
_APART: Final = 1.5


def draw_cut_marks(page: LabelPage, sheet: SheetFormat, cells: Collection[SheetCell]) -> None:
    """Draw cutting marks at the edges of labels."""
    for cell in cells:
        _corners(page, sheet, cell)
    _margins(page, sheet, cells)


def _corners(page: LabelPage, sheet: SheetFormat, cell: SheetCell) -> None:
    left, top = sheet.corner_of(*cell)
    for x, out in ((left, -_TICK), (left + sheet.width, _TICK)):
        for y, up in ((top, -_TICK), (top + sheet.height, _TICK)):
            page.line((x, y), (x + out, y), ink=GREY)
            page.line((x, y), (x, y + up), ink=GREY)


def _margins(page: LabelPage, sheet: SheetFormat, cells: Collection[SheetCell]) -> None:
    """Mark the edges of whole columns and rows at the bottom and at the left, where there is no heading."""
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


_HEADING: Final = 9.0
"""Smallest top margin with a heading, millimetres; printers leave the outer 5 mm white."""

StickerGroup = tuple[str, tuple[int, ...]]
"""A face and the serials of its tiles."""


@dataclass(frozen=True, slots=True)
class StickerSheet:
    """One sheet: its groups with their cells, the first of which is for the face."""

    set: int
    sheet: SheetFormat
    layout: LabelLayout
    modules: int
    heading: str
    groups: tuple[tuple[StickerGroup, tuple[SheetCell, ...]], ...] = field(repr=False)  # secret


def draw_stickers(page: LabelPage, stickers: StickerSheet, _: Translator) -> None:
    """Draw one sheet."""
    sheet = stickers.sheet
    _head(page, stickers)
    for (face, serials), (first, *cells) in stickers.groups:
        draw_guide(page, sheet.corner_of(*first), (sheet.width, sheet.height), face, _)
        for serial, cell in zip(serials, cells, strict=True):
            _draw_one(page, stickers, serial, cell)
    if sheet.cut:
        draw_cut_marks(page, sheet, [cell for _, (_, *cells) in stickers.groups for cell in cells])


def _head(page: LabelPage, stickers: StickerSheet) -> None:
    sheet = stickers.sheet
    if sheet.top >= _HEADING:
        x = max(sheet.left, 6.0)
        page.text((x, sheet.top - 3.5), stickers.heading, fitted_size(stickers.heading, sheet.page[0] - 2 * x, 3.2))


def _draw_one(page: LabelPage, stickers: StickerSheet, serial: int, cell: SheetCell) -> None:
    x, y = stickers.sheet.corner_of(*cell)
    code = code_modules(Payload(stickers.set, serial), stickers.modules)
    if stickers.sheet.lying:
        with page.turned(x + stickers.sheet.width, y):
            draw_label(page, (0.0, 0.0), stickers.layout, serial, code)
    else:
        draw_label(page, (x, y), stickers.layout, serial, code)
