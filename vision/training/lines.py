"""Draw lines of signs to train the second reader of numbers: three digits, and anything else.

Backs are painted and photographed as for the first reader, but carry other marks: any number of signs, letters, worn
strokes, shaky handwriting, makers' signs below. The truth is what a human eye could read.
"""

import itertools
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Picture, project
from vision.marks.lines import HALF_SEEN, LETTER, NOTHING_HERE, cut_line
from vision.training.backs import (
    HEIGHT,
    WIDTH,
    Art,
    Chance,
    NumberStyle,
    Reals,
    draw_line_of_text,
    draw_style,
    paint_back,
    paste_signs,
    scale_signs,
    shape_signs,
    stamp_maker_sign,
)
from vision.training.crops import CLEAR, SHOTS, photograph_crop
from vision.training.distractors import draw_blank_crop, draw_face_crop, draw_ground_crop, draw_label_crop
from vision.training.fonts import FOREIGN
from vision.training.parallel import Drawn

MOST_SIGNS = 6
_TRAPS = 0.07  # share of backs without a line of signs
_TRAPS_DRAWN = (
    lambda _, chance: draw_face_crop(chance),
    draw_blank_crop,
    draw_label_crop,
    lambda _, chance: draw_ground_crop(chance),
)
_LENGTHS = (0.06, 0.12, 0.64, 0.14, 0.04)  # shares of numbers with one to five digits
_WORN, _SHAKEN, _LOGOS, _TURNED, _STRANGE = 0.5, 0.15, 0.15, 0.06, 0.07  # shares of numbers
_CLEAR = 0.12  # share of a sign's ink that may be worn off while it is still legible
_DOUBTED = 0.22  # share from which it must not be read; nothing is drawn between the two
_GONE = 0.9  # share from which nobody can see that there was a sign
_UPSIDE_DOWN = {"0": "0", "1": "1", "6": "9", "8": "8", "9": "6"}
_INKED = 100  # level (of 255) of ink
_UNCLEAR = 0.25  # share of illegible lines to keep; nothing but doubt can be learnt from them


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line as cut out, shape (56, 104, 3), and its truth: the classes and places of its signs, from the left."""

    pixels: Picture
    signs: tuple[int, ...]
    places: tuple[float, ...]  # pixels from the left


SEED = 40  # of the training lines
CHUNK = 400  # lines per seed, or a few more


def draw_line_chunk(number: int) -> Drawn:
    """Draw one chunk of the lines to train with, and their truths, padded to `MOST_SIGNS`."""
    chance = np.random.default_rng([SEED, number])
    lines: list[Line] = []
    while len(lines) < CHUNK:
        lines += draw_lines(chance)
    signs = np.full((len(lines), MOST_SIGNS), NOTHING_HERE, dtype=np.int64)
    places = np.full((len(lines), MOST_SIGNS), np.nan, dtype=np.float32)
    for at, line in enumerate(lines):
        signs[at, : len(line.signs)] = line.signs
        places[at, : len(line.places)] = line.places
    return {"pixels": np.array([line.pixels for line in lines]), "signs": signs, "places": places}


def draw_lines(chance: Chance) -> list[Line]:
    """Draw one back, photograph it several times, and cut its line out as roughly as the first reader locates it."""
    style = draw_style(chance)
    back = _trap(style, chance) if chance.random() < _TRAPS else _numbered(style, chance)
    lines = [_cut(back, style, chance) for _ in range(SHOTS)]
    return [line for line in lines if line is not None]


@dataclass(frozen=True, slots=True, eq=False)
class _Back:
    """A back, its ink, the classes and places of its signs, and the middle of the line, in pixels of the back."""

    art: Art
    ink: Reals
    signs: tuple[int, ...]
    places: Reals
    middle: Reals


def _cut(back: _Back, style: NumberStyle, chance: Chance) -> Line | None:
    """Cut a line out of one photograph of a back; return None for most illegible ones."""
    pixels, to_crop, clear = photograph_crop(back.art, style, back.ink, chance)
    signs = back.signs
    if signs and clear < CLEAR and chance.random() > _UNCLEAR:
        return None
    where = project(to_crop, np.vstack([back.middle[None], back.places]))
    row = where[0] + chance.normal(0, [3.0, 2.5])
    turned = bool(len(signs) and chance.random() < _TURNED)
    line, to_line = cut_line(pixels, row, turned=turned)
    along = project(to_line, where[1:])[:, 0]
    if turned:
        signs, along = tuple(_upside_down(sign) for sign in signs[::-1]), along[::-1]
    return Line(line, signs, tuple(float(x) for x in along))


def _upside_down(sign: int) -> int:
    return int(_UPSIDE_DOWN.get(str(sign), HALF_SEEN)) if sign < LETTER else HALF_SEEN


def _trap(style: NumberStyle, chance: Chance) -> _Back:
    draw = _TRAPS_DRAWN[chance.integers(4)]
    art = draw(style, chance)
    nothing = np.zeros((HEIGHT, WIDTH), dtype=np.float32)
    return _Back(art, nothing, (), np.empty((0, 2)), chance.uniform(0.35, 0.65, 2) * [WIDTH, HEIGHT])


def _numbered(style: NumberStyle, chance: Chance) -> _Back:
    text = _text(chance)
    if style.letter and not style.two_lines and len(text) <= MOST_SIGNS - 1:
        text = style.letter + text
    shown = text.replace("1", "I") if style.plain_one else text
    drawn, middles = draw_line_of_text(style.font, shown, style.spacing, style.stroke)
    drawn = drawn.copy()
    gone = _wear_signs(drawn, middles, chance) if chance.random() < _WORN else [0.0] * len(text)
    drawn, middles = shape_signs(drawn, middles, style)
    if chance.random() < _SHAKEN:
        drawn = _wavy(drawn, chance)
    scale = min(style.height * HEIGHT / drawn.shape[0], style.width * WIDTH / drawn.shape[1])
    glyphs = scale_signs(drawn, scale)
    high, wide = glyphs.shape
    middle = (np.array([0.5, 0.5]) + style.offset + chance.normal(0, 0.007, 2)) * [WIDTH, HEIGHT]
    page = np.zeros((HEIGHT, WIDTH), dtype=np.float32)
    left, top = paste_signs(page, glyphs, middle)
    _add_print(page, (left, top, wide, high), style, text, chance)
    visible = [number for number, share in enumerate(gone) if share < _GONE]
    signs = tuple(_class_of(text[number], gone[number]) for number in visible)
    places = np.array([[left + middles[number] * wide, top + high / 2] for number in visible]).reshape(-1, 2)
    centre = np.array([left + wide / 2, top + high / 2])
    art = paint_back(replace(style, wear=min(style.wear, 0.3)), page, chance)
    return _Back(art, page, signs, places, centre)


def _class_of(sign: str, gone: float) -> int:
    if gone > _CLEAR:
        return HALF_SEEN
    if sign.isascii() and sign.isdigit():
        return int(sign)
    return LETTER if sign.isascii() and sign.isupper() else HALF_SEEN


def _text(chance: Chance) -> str:
    if chance.random() < _STRANGE:
        return "".join(chance.choice(list(FOREIGN + "0123456789"), int(chance.integers(1, 5))))
    length = 1 + int(chance.choice(len(_LENGTHS), p=_LENGTHS))
    if length == 3 and chance.random() < 0.4:
        return f"{chance.integers(1, 137):03d}"
    if length == 4 and chance.random() < 0.5:
        year, padded, more = chance.integers(1000, 2100), chance.integers(1, 137), chance.integers(1, 137)
        return str(chance.choice([str(year), f"{padded:04d}", f"1{more:03d}"]))
    return "".join(chance.choice(list("0123456789"), length))


def _wear_signs(drawn: NDArray[np.uint8], middles: tuple[float, ...], chance: Chance) -> list[float]:
    """Wear ink off some signs, in place; return the share of each sign's ink that is gone."""
    ends = [0.0, *((a + b) / 2 for a, b in itertools.pairwise(middles)), 1.0]
    gone = []
    for start, end in itertools.pairwise(ends):
        piece = drawn[:, round(start * drawn.shape[1]) : round(end * drawn.shape[1])]
        shares = [0.0, chance.uniform(0, _CLEAR), chance.uniform(_DOUBTED, 0.7), 1.0]
        gone.append(_scrape(piece, float(chance.choice(shares, p=[0.4, 0.25, 0.25, 0.1])), chance))
    return gone


def _scrape(piece: NDArray[np.uint8], share: float, chance: Chance) -> float:
    """Remove about `share` of a sign's ink, on one side, around a spot, or in patches; return the actual share."""
    before = float((piece > _INKED).sum())
    if share <= 0 or before == 0:
        return 0.0
    if share >= _GONE:
        piece[:] = 0
        return 1.0
    rows, cols = np.indices(piece.shape).astype(np.float32)
    angle, kind = chance.uniform(0, 2 * np.pi), chance.integers(3)
    along = np.cos(angle) * cols + np.sin(angle) * rows
    patches = cv2.resize(
        chance.normal(0, 1, (5, 4)).astype(np.float32), piece.shape[::-1], interpolation=cv2.INTER_CUBIC
    )
    spot = chance.uniform(0, piece.shape[::-1], 2)
    depth = (
        along / piece.shape[0] + 0.15 * patches,
        -np.hypot(cols - spot[0], rows - spot[1]) / piece.shape[0] + 0.1 * patches,
        patches,
    )[kind]
    limit = float(np.quantile(depth[piece > _INKED], 1 - share))
    soft = float(chance.uniform(4, 30))
    worn = piece * np.clip((limit - depth) * soft + 0.5, float(chance.choice([0.0, 0.0, 0.15])), 1)
    piece[:] = worn.astype(np.uint8)
    return 1 - float((piece > _INKED).sum()) / before


def _wavy(drawn: NDArray[np.uint8], chance: Chance) -> NDArray[np.uint8]:
    """Bend strokes as in handwriting."""
    rows, cols = np.indices(drawn.shape).astype(np.float32)
    amount = float(chance.uniform(1, 4))
    waves = [
        cv2.resize(
            chance.normal(0, amount, (4, 8)).astype(np.float32), drawn.shape[::-1], interpolation=cv2.INTER_CUBIC
        )
        for _ in range(2)
    ]
    return np.asarray(cv2.remap(drawn, cols + waves[0], rows + waves[1], cv2.INTER_LINEAR), dtype=np.uint8)


def _add_print(page: Reals, box: tuple[int, int, int, int], style: NumberStyle, text: str, chance: Chance) -> None:
    """Add print that is not part of the line: a letter above it, or a bar or a maker's sign below it."""
    left, top, wide, high = box
    middle = left + wide // 2
    if style.two_lines:
        glyph, _ = draw_line_of_text(style.font, style.letter)
        size = (max(2, round(glyph.shape[1] * high / glyph.shape[0])), high)
        letter = np.asarray(cv2.resize(glyph, size, interpolation=cv2.INTER_AREA))
        over = top - high - round(high * chance.uniform(0.12, 0.3))
        if over >= 0:
            page[over : over + high, middle - letter.shape[1] // 2 :][:, : letter.shape[1]] = letter / np.float32(255)
    if style.bars and set(text) & {"6", "9"}:
        at = top + high + round(high * chance.uniform(0.08, 0.25))
        cv2.rectangle(page, (left, at), (left + wide, at + max(1, round(high * 0.08))), 1, -1)
    elif chance.random() < _LOGOS:
        stamp_maker_sign(page, (middle, top + high), high, chance)
