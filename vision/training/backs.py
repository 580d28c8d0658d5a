"""Draw the back of a tile flat, with random colour, number, font and wear.

It varies far more widely than real sets do.
"""

from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from vision.training.fonts import SIZE, families, load_font

_PLAIN_WIDTH = 0.3  # largest width of a stroke without serifs, in heights
_INKED = 200  # level (of 255) of ink
_LEFT = 0.5  # least share of the ink that must remain when strokes are thinned

Glyphs = NDArray[np.uint8]


@cache
def has_plain_stroke(path: Path) -> bool:
    """Return whether a font's I is a plain upright stroke, like the 1 in engravers' alphabets."""
    glyph = draw_line_of_text(path, "I")[0]
    return bool(glyph.shape[1] < _PLAIN_WIDTH * glyph.shape[0] and glyph.min(axis=0).max() > _INKED)


@lru_cache(maxsize=4096)
def draw_line_of_text(path: Path, text: str, spacing: float = 0.0, stroke: int = 0) -> tuple[Glyphs, tuple[float, ...]]:
    """Draw a line of text, white on black, cropped to its ink; also return the middles of its signs, in its widths.

    `spacing` is the extra space between signs, as a share of the font size. `stroke` is the number of pixels by which
    strokes are made thicker (thinner if negative).
    """
    font = load_font(path)
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


def _stroked(drawn: Glyphs, stroke: int) -> Glyphs:
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * abs(stroke) + 1, 2 * abs(stroke) + 1))
    thinner = cv2.erode(drawn, disc) if stroke < 0 else drawn
    if thinner.sum() < _LEFT * drawn.sum():  # strokes this fine would break or vanish
        thinner = drawn
    return np.asarray(cv2.dilate(thinner, disc) if stroke > 0 else thinner, dtype=np.uint8)


WIDTH, HEIGHT = 132, 180  # pixels of a drawn back; all tiles have the aspect ratio 0.735 (22 by 30, 28 by 38 mm)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LEAST_CONTRAST = 0.10
_TONE_ON_TONE, _FAINT = 0.15, (0.05, 0.16)  # share of sets with ink close to the back's colour; by how much
_LOGOS = 0.15  # share of numbers without a bar that have a maker's sign below them
_SLANTED, _SLANTS = 0.12, (-0.1, 0.3)  # share of sets with slanted numbers; range of the slant, in heights
_NARROW = (0.55, 0.8)  # stretch of narrow fonts: few families are as narrow as engravers' and sign makers' fonts
Reals = NDArray[np.floating]
Art = Reals  # shape (HEIGHT, WIDTH, 3), BGR 0..1 (above 1 where light adds)
Chance = np.random.Generator


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """The style shared by the marks of one set; lengths are shares of the tile's width or height."""

    font: Path
    plain_one: bool  # whether a 1 is a plain stroke
    stroke: int  # pixels by which strokes are thicker than the font's
    stretch: float  # factor for the width of signs
    slant: float  # how far signs lean to the right, in their heights
    spacing: float
    width: float  # largest width of a mark, in tile widths
    height: float  # height of the digits, in tile heights
    offset: tuple[float, float]
    letter: str  # "" without one
    two_lines: bool
    bars: bool
    engraved: float  # 0 printed .. 1 deep
    back: Reals  # BGR
    ink: Reals
    marble: float
    wear: float


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """A mark's ink, shape (HEIGHT, WIDTH), 0..1, and the places of its letter and digits, shape (4, 2), pixels."""

    ink: Reals
    spots: NDArray[np.float64]


def draw_style(chance: Chance) -> NumberStyle:
    """Return a random style for a set."""
    family = families()[chance.integers(len(families()))]
    font = family[chance.integers(len(family))]
    back = _colour(chance)
    prefixed = chance.random() < 0.45
    return NumberStyle(
        font=font,
        plain_one=bool(has_plain_stroke(font) and chance.random() < 0.4),
        stroke=int(chance.choice([0, 0, 0, -2, -1, 1, 2])),
        stretch=float(chance.choice([1.0, chance.uniform(0.75, 1.3), chance.uniform(*_NARROW)])),
        slant=float(chance.uniform(*_SLANTS)) if chance.random() < _SLANTED else 0.0,
        spacing=float(chance.choice([0.0, 0.0, chance.uniform(0.0, 0.25)])),
        width=float(chance.uniform(0.5, 0.88)),
        height=float(chance.uniform(0.13, 0.31)),
        offset=(float(chance.normal(0, 0.012)), float(chance.choice([0.0, chance.uniform(-0.17, 0.17)]))),
        letter=LETTERS[chance.integers(len(LETTERS))] if prefixed else "",
        two_lines=bool(prefixed and chance.random() < 0.5),
        bars=bool(chance.random() < 0.5),
        engraved=float(chance.choice([0.0, chance.uniform(0.2, 1.0)])),
        back=back,
        ink=_ink(chance, back),
        marble=float(chance.choice([0.0, chance.uniform(0.0, 0.12)])),
        wear=float(chance.choice([0.0, chance.uniform(0.0, 0.8)])),
    )


def _colour(chance: Chance) -> Reals:
    """Return a random colour of plastic; whites, greys and blacks are more frequent than by chance."""
    if chance.random() < 0.3:
        grey = chance.choice([chance.uniform(0.02, 0.25), chance.uniform(0.6, 1.0)])
        return np.asarray(np.clip(grey * chance.uniform(0.85, 1.05, 3), 0, 1), dtype=np.float32)
    hue, full, light = chance.uniform(0, 180), chance.uniform(60, 255), chance.uniform(40, 255)
    pixel = np.array([[[hue, full, light]]], dtype=np.uint8)
    return np.asarray(cv2.cvtColor(pixel, cv2.COLOR_HSV2BGR)[0, 0] / 255, dtype=np.float32)


def _ink(chance: Chance, back: Reals) -> Reals:
    """Return a random ink that differs at least a little from the back."""
    if chance.random() < _TONE_ON_TONE:
        lighter = chance.choice([-1.0, 1.0], 3) if chance.random() < 0.5 else np.full(3, chance.choice([-1.0, 1.0]))
        change = lighter * chance.uniform(0.2, 1.0, 3)
        ink = back + change / np.abs(change).max() * chance.uniform(*_FAINT)
        return np.asarray(np.clip(ink, 0, 1), dtype=np.float32)
    for _ in range(50):
        plain = np.full(3, chance.choice([0.05, 0.95]), dtype=np.float32)
        ink = plain if chance.random() < 0.35 else _colour(chance)
        if np.abs(ink - back).max() > _LEAST_CONTRAST + 0.25 * chance.random():
            return ink
    return np.asarray(1 - back, dtype=np.float32)


def write_number(style: NumberStyle, number: str, chance: Chance) -> Written:
    """Write a number in a set's style: on one line, or the letter above the digits, with a bar if the set has bars."""
    page = np.zeros((HEIGHT, WIDTH), dtype=np.float32)
    play = chance.normal(0, 0.007, 2)
    middle = np.array([0.5 + style.offset[0] + play[0], 0.5 + style.offset[1] + play[1]]) * [WIDTH, HEIGHT]
    digits = number if style.two_lines or not style.letter else style.letter + number
    glyphs, middles = _fit(style, digits)
    spots = np.full((4, 2), np.nan)
    below = 0.0
    if style.two_lines:
        letter, _ = draw_line_of_text(style.font, style.letter, stroke=style.stroke)
        letter = scale_signs(letter, glyphs.shape[0] / letter.shape[0])
        gap = glyphs.shape[0] * chance.uniform(0.12, 0.3)
        below = (letter.shape[0] + gap) / 2
        spots[0] = middle - [0, glyphs.shape[0] / 2 + gap / 2]
        paste_signs(page, letter, spots[0])
    at = middle + np.array([0, below])
    paste_signs(page, glyphs, at)
    places = at + np.array([[(share - 0.5) * glyphs.shape[1], 0] for share in middles])
    spots[4 - len(places) :] = places
    if style.bars and set(number) & {"6", "9"}:
        _underline(page, at, glyphs.shape, chance)
    elif chance.random() < _LOGOS:
        below_digits = round(at[0]), round(at[1] + glyphs.shape[0] / 2)
        stamp_maker_sign(page, below_digits, glyphs.shape[0], chance)
    return Written(_turned(page, float(chance.normal(0, 0.8)), middle), spots)


def _fit(style: NumberStyle, text: str) -> tuple[Glyphs, tuple[float, ...]]:
    text = text.replace("1", "I") if style.plain_one else text
    drawn, middles = draw_line_of_text(style.font, text, style.spacing, style.stroke)
    drawn, middles = shape_signs(drawn, middles, style)
    scale = min(style.height * HEIGHT / drawn.shape[0], style.width * WIDTH / drawn.shape[1])
    return scale_signs(drawn, scale), middles


def shape_signs(drawn: Glyphs, middles: tuple[float, ...], style: NumberStyle) -> tuple[Glyphs, tuple[float, ...]]:
    """Return a line of signs stretched and slanted as in a style, and the middles of the signs."""
    drawn = np.asarray(cv2.resize(drawn, None, fx=style.stretch, fy=1, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    if not style.slant:
        return drawn, middles
    height, width = drawn.shape
    lean = style.slant * height
    room = width + abs(lean)
    matrix = np.array([[1, -style.slant, max(lean, 0.0)], [0, 1, 0]])
    slanted = cv2.warpAffine(drawn, matrix, (int(np.ceil(room)), height))
    return np.asarray(slanted, dtype=np.uint8), tuple((middle * width + abs(lean) / 2) / room for middle in middles)


def scale_signs(drawn: Glyphs, scale: float) -> Glyphs:
    """Return signs at another scale."""
    size = (max(2, round(drawn.shape[1] * scale)), max(2, round(drawn.shape[0] * scale)))
    return np.asarray(cv2.resize(drawn, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def paste_signs(page: Reals, glyphs: Glyphs, middle: Reals) -> tuple[int, int]:
    """Write signs onto a page around a point, or as near to it as they fit; return their left and top."""
    height, width = glyphs.shape
    top, left = round(middle[1] - height / 2), round(middle[0] - width / 2)
    top, left = min(max(top, 0), HEIGHT - height), min(max(left, 0), WIDTH - width)
    page[top : top + height, left : left + width] = glyphs / np.float32(255)
    return left, top


def _underline(page: Reals, middle: Reals, shape: tuple[int, ...], chance: Chance) -> None:
    height, width = shape
    top = middle[1] + height * (0.5 + chance.uniform(0.08, 0.25))
    thick = max(1.0, height * chance.uniform(0.05, 0.14))
    left, right = middle[0] - width / 2, middle[0] + width / 2
    page[round(top) : round(top + thick), round(left) : round(right)] = 1


def stamp_maker_sign(page: Reals, below: tuple[int, int], high: int, chance: Chance) -> None:
    """Draw a ring, an ellipse or a triangle under a number `high` pixels high; `below` is the middle of its bottom."""
    middle, at = below[0], below[1] + round(high * chance.uniform(0.3, 0.9))
    reach = max(3, round(high * chance.uniform(0.2, 0.5)))
    kind = chance.integers(3)
    if kind == 0:
        cv2.circle(page, (middle, at + reach), reach, 1, max(1, reach // 4), cv2.LINE_AA)
    elif kind == 1:
        cv2.ellipse(page, (middle, at + reach), (2 * reach, reach), 0, 0, 360, 1, max(1, reach // 4), cv2.LINE_AA)
    else:
        points = np.array([[middle, at], [middle - reach, at + 2 * reach], [middle + reach, at + 2 * reach]])
        cv2.fillPoly(page, [points.astype(np.int32)], 1, cv2.LINE_AA)


def _turned(page: Reals, degrees: float, middle: Reals) -> Reals:
    spin = cv2.getRotationMatrix2D((float(middle[0]), float(middle[1])), degrees, 1.0)
    return np.asarray(cv2.warpAffine(page, spin, (WIDTH, HEIGHT)), dtype=np.float32)


def paint_back(style: NumberStyle, ink: Reals, chance: Chance) -> Art:
    """Paint a back: plastic, marbling, worn ink, an engraving's lit and shaded flanks, scratches and rounded edges."""
    cloud = _cloud(chance, 5)
    back = style.back * (1 + style.marble * cloud[:, :, None])
    worn = ink * np.clip(1 - style.wear * np.clip(0.7 + 1.6 * _cloud(chance, 16), 0, 1), 0, 1) if style.wear else ink
    art = back * (1 - worn[:, :, None]) + style.ink * worn[:, :, None]
    if style.engraved:
        art = art + _flanks(ink, chance)[:, :, None] * np.float32(style.engraved * chance.uniform(0.1, 0.45))
    if style.wear and chance.random() < 0.6:
        _scratch(art, style.wear, chance)
    return np.asarray(art + _edge(chance), dtype=np.float32)


def _cloud(chance: Chance, cells: int) -> Reals:
    """Return smooth noise of about -1..1, with `cells` waves across."""
    coarse = chance.normal(0, 0.6, (cells + 2, cells + 1)).astype(np.float32)
    return np.asarray(cv2.resize(coarse, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def _flanks(ink: Reals, chance: Chance) -> Reals:
    soft = cv2.GaussianBlur(ink, (0, 0), float(chance.uniform(0.8, 1.8)))
    angle = chance.uniform(0, 2 * np.pi)
    slope = np.cos(angle) * cv2.Sobel(soft, cv2.CV_32F, 1, 0) + np.sin(angle) * cv2.Sobel(soft, cv2.CV_32F, 0, 1)
    return np.asarray(np.clip(slope, -1, 1), dtype=np.float32)


def _scratch(art: Art, wear: float, chance: Chance) -> None:
    for _ in range(int(chance.integers(1, 2 + int(8 * wear)))):
        start = chance.uniform(0, [WIDTH, HEIGHT])
        end = start + chance.normal(0, 22, 2)
        shade = float(chance.choice([0.1, 0.6, 0.9]))
        ends = [tuple(int(value) for value in point) for point in (start, end)]
        layer = art.copy()
        cv2.line(layer, ends[0], ends[1], (shade,) * 3, 1, cv2.LINE_AA)
        art += (layer - art) * np.float32(chance.uniform(0.2, 0.7))


def _edge(chance: Chance) -> Art:
    """Return the light on a rounded edge: brighter on sides facing a lamp, darker on the others."""
    light = np.zeros((HEIGHT, WIDTH, 1), dtype=np.float32)
    thick = int(chance.integers(2, 9))
    for part in (np.s_[:thick], np.s_[-thick:], np.s_[:, :thick], np.s_[:, -thick:]):
        light[part] += np.float32(chance.normal(0, 0.15))
    return np.asarray(cv2.GaussianBlur(light, (0, 0), 1.5)[:, :, None], dtype=np.float32)
