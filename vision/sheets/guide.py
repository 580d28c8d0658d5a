"""The sticker before a group: which face the labels after it are for."""

from typing import Final

from vision.sheets.lettering import fitted
from vision.sheets.page import GREY, Page
from vision.sheets.tile_drawing import ASPECT, draw_tile
from vision.sheets.words import Words, face_name

_INSET: Final = 0.8
_NARROW: Final = 1.4
"""Width to height of a sticker below which the name stands under the drawing instead of beside it."""

_CODE, _NAME = 3.4, 2.5  # millimetres of the em, at most
_LEGIBLE: Final = 1.8
"""Millimetres of the em: below that the code alone is written."""


def draw_guide(page: Page, at: tuple[float, float], size: tuple[float, float], face: str, words: Words) -> None:
    """Draw a face with its code and its name, in a sticker of this size."""
    if size[0] >= _NARROW * size[1]:
        _beside(page, at, size, face, face_name(words, face))
    else:
        _below(page, at, size, face, face_name(words, face))


def _beside(page: Page, at: tuple[float, float], size: tuple[float, float], face: str, name: str) -> None:
    x, y = at
    height = size[1] - 2 * _INSET
    draw_tile(page, (x + _INSET, y + _INSET), height, face)
    left = x + _INSET + height * ASPECT + 0.9
    room = x + size[0] - _INSET - left
    middle = y + size[1] / 2
    page.text((left, middle), face, fitted(face, room, _CODE, bold=True), bold=True)
    page.text((left, middle + 2.5), name, fitted(name, room, _NAME), ink=GREY)


def _below(page: Page, at: tuple[float, float], size: tuple[float, float], face: str, name: str) -> None:
    x, y = at
    height = size[1] - 2 * _INSET - _NAME
    draw_tile(page, (x + (size[0] - height * ASPECT) / 2, y + _INSET), height, face)
    room = size[0] - 2 * _INSET
    told = f"{face}  {name}"
    em = fitted(told, room, _NAME)
    if em < _LEGIBLE:
        told, em = face, _NAME
    page.centred((x + size[0] / 2, y + size[1] - _INSET - 0.2), told, em)
