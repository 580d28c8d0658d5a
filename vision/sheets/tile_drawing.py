"""A small drawing of each face, ours and plain: dots, sticks, or what is written on the tile."""

from typing import Final

from reportlab.lib.colors import Color, HexColor

from vision.sheets.lettering import fitted
from vision.sheets.page import BLACK, GREY, Page

ASPECT: Final = 0.75
"""Width of a tile to its height."""

_RED: Final = HexColor("#b3261e")
_GREEN: Final = HexColor("#1b6e37")
_BLUE: Final = HexColor("#1f4e9c")
_WHITE: Final = HexColor("#ffffff")

_DOTS: Final = ((1,), (1, 1), (1, 1, 1), (2, 2), (2, 1, 2), (2, 2, 2), (3, 2, 2), (2, 2, 2, 2), (3, 3, 3))
_STICKS: Final = ((1,), (1, 1), (1, 2), (2, 2), (2, 1, 2), (3, 3), (1, 3, 3), (4, 4), (3, 3, 3))
"""Of each rank, how many stand in each row."""

_WRITTEN: Final[tuple[tuple[str, Color], ...]] = (
    ("東", BLACK), ("南", BLACK), ("西", BLACK), ("北", BLACK), ("", _BLUE), ("發", _GREEN), ("中", _RED),
)  # fmt: skip


def draw_tile(page: Page, at: tuple[float, float], height: float, face: str) -> None:
    """Draw a face from its top left corner, `height` millimetres high."""
    x, y = at
    width = height * ASPECT
    page.box(at, (width, height), corner=height * 0.09, fill=_WHITE, line=GREY, thick=height * 0.02)
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


Box = tuple[float, float, float, float]
"""Left, top, width, height."""


def _characters(page: Page, box: Box, rank: int) -> None:
    x, y, width, height = box
    page.centred((x + width / 2, y + 0.43 * height), str(rank), 0.52 * height, bold=True)
    page.centred((x + width / 2, y + 0.93 * height), "萬", 0.5 * height, ink=_RED)


def _dots(page: Page, box: Box, rows: tuple[int, ...]) -> None:
    radius = min(box[3] / len(rows), box[2] / max(rows), 0.5 * box[3]) * 0.44
    for x, y in _spots(box, rows):
        page.disc((x, y), radius, _BLUE)
        page.disc((x, y), radius * 0.45, _WHITE)


def _sticks(page: Page, box: Box, rows: tuple[int, ...]) -> None:
    half = min(box[3] / len(rows), 0.6 * box[3]) * 0.42
    for x, y in _spots(box, rows):
        page.line((x, y - half), (x, y + half), thick=0.13 * box[2], ink=_GREEN)


def _spots(box: Box, rows: tuple[int, ...]) -> list[tuple[float, float]]:
    left, top, width, height = box
    return [
        (left + width * (at + 0.5) / count, top + height * (row + 0.5) / len(rows))
        for row, count in enumerate(rows)
        for at in range(count)
    ]


def _honour(page: Page, box: Box, rank: int) -> None:
    x, y, width, height = box
    letter, ink = _WRITTEN[rank - 1]
    if letter:
        size = fitted(letter, width, height)
        page.centred((x + width / 2, y + height / 2 + 0.36 * size), letter, size, ink=ink)
    else:
        page.box((x + 0.04 * width, y + 0.03 * height), (0.92 * width, 0.94 * height), line=ink, thick=0.1 * width)
