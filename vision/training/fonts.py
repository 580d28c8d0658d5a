"""The fonts that marks are drawn with: every installed one that could be engraved on a tile."""

import re
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

FOLDERS = (Path("/usr/share/fonts"),)
SIZE = 64  # pixels a glyph is drawn with; marks are smaller in every picture
_NOT = re.compile(
    r"italic|oblique|cjk|symbol|math|serif|thin|hairline|extralight|ultralight|outline|emoji|braille|inverse|invert|sansbox|square|ferrite|ocrb[efx]\b",
    re.IGNORECASE,
)
_UNEVEN = 0.08  # share of the height by which digits of one font may differ: text figures do, and nobody engraves them
_PLAIN_WIDTH = 0.3  # of its height, at most: a stroke without serifs
_INKED = 200  # of 255
_LEFT = 0.5  # share of the ink that thinner strokes must keep

Glyphs = NDArray[np.uint8]


@cache
def font_files() -> tuple[Path, ...]:
    """Give all usable font files, sorted, so that a draw by number is the same on every machine with the same fonts."""
    files = sorted(path for folder in FOLDERS for kind in ("*.ttf", "*.otf") for path in folder.rglob(kind))
    return tuple(path for path in files if not _NOT.search(path.name) and _is_even(path))


@cache
def families() -> tuple[tuple[Path, ...], ...]:
    """Give the usable font files by family, so that a family of thirty weights is not learnt for thirty."""
    files = sorted(font_files(), key=_family)
    return tuple(tuple(members) for _, members in groupby(files, key=_family))


def _family(path: Path) -> str:
    return _font(path).getname()[0] or path.stem


@cache
def has_plain_stroke(path: Path) -> bool:
    """Tell whether a font's I is a plain upright stroke, as engravers' alphabets have their 1."""
    glyph = line(path, "I")[0]
    return bool(glyph.shape[1] < _PLAIN_WIDTH * glyph.shape[0] and glyph.min(axis=0).max() > _INKED)


def _is_even(path: Path) -> bool:
    """Tell whether a font has all digits and letters, and digits of one height."""
    try:
        font = _font(path)
        boxes = [font.getbbox(sign) for sign in "0123456789"]
        letters = {bytes(font.getmask(sign)) for sign in "ABCDEFGHJKLMNPRSTUVWXYZ"}
    except (OSError, ValueError):
        return False
    heights = [box[3] - box[1] for box in boxes]
    return len(letters) == 23 and max(heights) > 0 and max(heights) - min(heights) <= _UNEVEN * max(heights)


@lru_cache(maxsize=4096)
def line(path: Path, text: str, spacing: float = 0.0, stroke: int = 0) -> tuple[Glyphs, tuple[float, ...]]:
    """Draw a line of text, white on black, cut to its ink; also the middles of its signs as shares of its width.

    `spacing` is the extra room between signs, shares of the font's size. `stroke` is by how many pixels all strokes
    are made thicker (or thinner, if below zero).
    """
    font = _font(path)
    gap = round(spacing * SIZE)
    ends = np.cumsum([0, *(round(font.getlength(sign)) + gap for sign in text)])
    canvas = Image.new("L", (int(ends[-1]) + 2 * SIZE, 3 * SIZE))
    draw = ImageDraw.Draw(canvas)
    for sign, start in zip(text, ends, strict=False):
        draw.text((SIZE + int(start), SIZE), sign, font=font, fill=255)
    drawn = _stroked(np.asarray(canvas), stroke)
    down, across = np.nonzero(drawn.max(axis=1))[0], np.nonzero(drawn.max(axis=0))[0]
    left, right = int(across[0]), int(across[-1]) + 1
    middles = ((ends[:-1] + ends[1:] - gap) / 2 + SIZE - left) / (right - left)
    return drawn[int(down[0]) : int(down[-1]) + 1, left:right].copy(), tuple(float(middle) for middle in middles)


@lru_cache(maxsize=512)
def _font(path: Path) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(path), SIZE)


def _stroked(drawn: Glyphs, stroke: int) -> Glyphs:
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * abs(stroke) + 1, 2 * abs(stroke) + 1))
    thinner = cv2.erode(drawn, disc) if stroke < 0 else drawn
    if thinner.sum() < _LEFT * drawn.sum():  # strokes as fine as this would break or be gone
        thinner = drawn
    return np.asarray(cv2.dilate(thinner, disc) if stroke > 0 else thinner, dtype=np.uint8)
