"""Draw tiles as a camera sees them and cut them out as the reader does, to train the network for digits."""

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np

from vision.geometry import (
    FROM_MIDDLES,
    TO_MIDDLES,
    UNIT_SQUARE,
    Homography,
    Picture,
    Quad,
    homography_between,
    project,
    rotation_by,
)
from vision.marks.digits import BLANK, CROP, FACE, LABEL, NOTHING, NUMBER, cut_back
from vision.training.backs import (
    HEIGHT,
    WIDTH,
    Art,
    Chance,
    NumberStyle,
    Reals,
    Written,
    draw_style,
    paint_back,
    write_number,
)
from vision.training.distractors import (
    cover_back,
    draw_blank_crop,
    draw_card_crop,
    draw_face_crop,
    draw_ground_crop,
    draw_label_crop,
)
from vision.training.parallel import Drawn

_LETTER_OF_NONE = 26
_BOTH_WAYS, _SERIALS = 0.25, 0.55  # cumulative shares of numbers that read both ways up, and of serials
_TRAPS, _COVERED, _BESIDE = 0.2, 0.04, 0.03  # shares of crops: without a number, partly covered, between two tiles
_INSIDE = 0.75  # share of crops of nothing that show only an inner part
SHOTS = 3  # photographs of one tile
CLEAR = 0.4  # correlation of ink and crop above which a number is just about legible to the eye
_UNCLEAR = 0.15  # share of less legible numbers to keep; nothing but doubt can be learnt from them
_INKED = 0.1
_OVEREXPOSED, _TOO_BRIGHT = 0.12, (1.1, 1.8)  # share of overexposed pictures; range of their brightness
_MOVED, _STREAK = 0.3, (1, 7)  # share of pictures with motion blur; its length in pixels
_HIDDEN = 0.12  # share of hidden ink from which a number no longer counts as one
_DRAWN = (
    (BLANK, draw_blank_crop),
    (LABEL, draw_label_crop),
    (FACE, lambda _style, chance: draw_face_crop(chance)),
    (FACE, lambda _style, chance: draw_face_crop(chance)),
    (NOTHING, lambda _style, chance: draw_card_crop(chance)),
    (NOTHING, lambda _style, chance: draw_ground_crop(chance)),
    (NOTHING, lambda _style, chance: draw_ground_crop(chance)),
)


@dataclass(frozen=True, slots=True, eq=False)
class Crop:
    """A crop, shape (112, 80, 3), with its truth: kind, upside down or not, letter (26: none), digits, spots.

    `spots`, shape (4, 2), pixels, are the places of the letter and the digits.
    """

    pixels: Picture
    kind: int
    turned: int
    letter: int
    digits: tuple[int, int, int]
    spots: Reals


SEED = 20  # of the training crops
CHUNK = 500  # crops per seed, or a few more


def draw_crop_chunk(number: int) -> Drawn:
    """Draw one chunk of the crops to train with, and their truths as numbers."""
    chance = np.random.default_rng([SEED, number])
    crops: list[Crop] = []
    while len(crops) < CHUNK:
        crops += draw_crops(chance)
    truths = [(crop.kind, crop.turned, crop.letter, *crop.digits) for crop in crops]
    return {
        "pixels": np.array([crop.pixels for crop in crops]),
        "truth": np.array(truths, dtype=np.int64),
        "spots": np.array([crop.spots for crop in crops], dtype=np.float32),
    }


def draw_crops(chance: Chance) -> list[Crop]:
    """Draw one tile, photograph it several times, and cut it out along outlines that are slightly off."""
    style = draw_style(chance)
    number = _number(chance)
    written = write_number(style, number, chance)
    art, kind = _draw_content(style, written, chance)
    letter = ord(style.letter) - ord("A") if style.letter else _LETTER_OF_NONE
    digits = (int(number[0]), int(number[1]), int(number[2]))
    shots = [_shoot(_light(art, chance), style, written, (kind, letter, digits), chance) for _ in range(SHOTS)]
    return [crop for crop, clear in shots if clear > CLEAR or crop.kind != NUMBER or chance.random() < _UNCLEAR]


def _draw_content(style: NumberStyle, written: Written, chance: Chance) -> tuple[Art, int]:
    roll = chance.random()
    if roll < _TRAPS:
        kind, draw = _DRAWN[int(chance.integers(len(_DRAWN)))]
        return draw(style, chance), kind
    art = paint_back(style, written.ink, chance)
    hidden = cover_back(art, written.ink, chance) if roll < _TRAPS + _COVERED else 0.0
    return art, BLANK if hidden > _HIDDEN else NUMBER


def _shoot(
    art: Art, style: NumberStyle, written: Written, truth: tuple[int, int, tuple[int, int, int]], chance: Chance
) -> tuple[Crop, float]:
    kind, letter, digits = truth
    seen, quad = _photograph(art, style, chance)
    turned = int(chance.integers(2))
    outline = np.roll(_distorted(quad, chance), 2 * turned, axis=0)
    if kind == NUMBER and chance.random() < _BESIDE:  # between two tiles; half a number is not a number
        side = outline[1] - outline[0] if chance.random() < 0.5 else outline[3] - outline[0]
        outline, kind = outline + side * chance.choice([-1, 1]) * chance.uniform(0.35, 0.6), NOTHING
    elif kind == NOTHING and chance.random() < _INSIDE:  # grounds and cards do not have a tile's edges
        middle = outline.mean(axis=0)
        outline = middle + (outline - middle) * chance.uniform(0.5, 0.85)
    pixels, to_crop = cut_back(seen, outline)
    drawn_to_crop = to_crop @ _back_to_quad(quad)
    crop = Crop(pixels, kind, turned, letter, digits, project(drawn_to_crop, written.spots))
    return crop, _likeness(pixels, np.asarray(cv2.warpPerspective(written.ink, drawn_to_crop, CROP)))


def photograph_crop(art: Art, style: NumberStyle, ink: Reals, chance: Chance) -> tuple[Picture, Homography, float]:
    """Light a back, photograph it, and cut it out along an outline that is slightly off.

    Return the crop, the homography from back to crop, and how well the crop shows the ink, 0..1.
    """
    seen, quad = _photograph(_light(art, chance), style, chance)
    pixels, to_crop = cut_back(seen, _distorted(quad, chance))
    back_to_crop = to_crop @ _back_to_quad(quad)
    return pixels, back_to_crop, _likeness(pixels, np.asarray(cv2.warpPerspective(ink, back_to_crop, CROP)))


def _likeness(pixels: Picture, ink: Reals) -> float:
    """Return how well a crop shows the ink, 0..1: their correlation around the mark, in the best channel."""
    about = cv2.dilate(ink, np.ones((7, 7), dtype=np.uint8)) > _INKED
    if not about.any():
        return 0.0
    seen = np.column_stack([ink[about], pixels[about]]).astype(np.float64)
    seen -= seen.mean(axis=0)
    spread = np.sqrt((seen**2).sum(axis=0)) + 1e-6
    return float(np.abs((seen[:, :1] * seen[:, 1:]).sum(axis=0) / (spread[0] * spread[1:])).max())


def _number(chance: Chance) -> str:
    """Return three digits, often not a serial, so that each digit is learnt for itself and misreads show.

    Numbers that read both ways up are more frequent than by chance: for these, only bars and letters tell which way.
    """
    kind = chance.random()
    if kind < _BOTH_WAYS:
        return "".join(chance.choice(list("011689"), 3))  # with more 1s: adjacent plain strokes are miscounted most
    return f"{chance.integers(1, 137) if kind < _SERIALS else chance.integers(0, 1000):03d}"


def _light(art: Art, chance: Chance) -> Art:
    """Light a back with a lamp's colour and strength, stray light, and glare, which may hide everything."""
    strength = chance.uniform(*_TOO_BRIGHT) if chance.random() < _OVEREXPOSED else chance.uniform(0.25, 1.25)
    lit = art * (strength * chance.uniform(0.85, 1.15, 3)).astype(np.float32)
    lit = lit + np.float32(chance.choice([0.0, chance.uniform(0, 0.12)]))
    if chance.random() < 0.5:
        lit = lit + _glare(chance)[:, :, None] * np.float32(chance.uniform(0.05, 1.0) ** 2)
    return np.asarray(lit, dtype=np.float32)


def _glare(chance: Chance) -> Reals:
    """Return a reflection, 0..1: a soft spot, a ramp, or the edge of a lamp, made uneven like the polish."""
    x, y = np.meshgrid(np.linspace(-1, 1, WIDTH, dtype=np.float32), np.linspace(-1.36, 1.36, HEIGHT, dtype=np.float32))
    angle = chance.uniform(0, 2 * np.pi)
    along = np.cos(angle) * x + np.sin(angle) * y
    shape = chance.integers(3)
    if shape == 0:
        away = (x - chance.uniform(-1.2, 1.2)) ** 2 + (y - chance.uniform(-1.5, 1.5)) ** 2
        light = np.exp(-away / chance.uniform(0.1, 2.0))
    elif shape == 1:
        light = np.clip(0.5 + along * chance.uniform(0.1, 0.8), 0, 1)
    else:
        light = 1 / (1 + np.exp(-(along - chance.uniform(-1, 1)) * chance.uniform(4, 40)))
    ripple = cv2.resize(chance.normal(1, chance.uniform(0, 0.25), (9, 7)).astype(np.float32), (WIDTH, HEIGHT))
    return np.asarray(light * ripple, dtype=np.float32)


def _photograph(art: Art, style: NumberStyle, chance: Chance) -> tuple[Picture, Quad]:
    """Return the photograph of a tile with its surroundings, and the tile's corners in it."""
    quad, size = _pose(chance)
    scene = _surroundings(style, quad, size, chance)
    big = _round_off(art, chance)
    homography = _back_to_quad(quad)
    shrink = max(1, int(WIDTH / np.linalg.norm(quad[1] - quad[0])))
    if shrink > 1:  # averages what falls on one pixel, like a lens
        big = np.asarray(cv2.blur(big, (shrink, shrink)), dtype=np.float32)
    drawn = cv2.warpPerspective(big, TO_MIDDLES @ homography @ FROM_MIDDLES, size, flags=cv2.INTER_LINEAR)
    scene = scene * (1 - drawn[:, :, 3:]) + drawn[:, :, :3]
    return _expose(scene, chance), quad


def _pose(chance: Chance) -> tuple[Quad, tuple[int, int]]:
    """Return the tile's corners and the photograph's size: any rotation, any size that cameras see, and a tilt."""
    width = float(np.exp(chance.uniform(np.log(42), np.log(150))))
    corners = np.array([[-0.5, -0.68], [0.5, -0.68], [0.5, 0.68], [-0.5, 0.68]]) * width
    spin, tilt_way = chance.uniform(0, 2 * np.pi, 2)
    corners = corners @ rotation_by(spin).T
    squash = np.diag([1.0, chance.uniform(0.75, 1.0)])
    corners = corners @ rotation_by(tilt_way) @ squash @ rotation_by(-tilt_way)
    corners += chance.normal(0, 0.006 * width, (4, 2))  # perspective and lens
    reach = np.abs(corners).max(axis=0) + 0.2 * width
    return corners + reach, (int(2 * reach[0]) + 1, int(2 * reach[1]) + 1)


def _back_to_quad(quad: Quad) -> Homography:
    return homography_between(UNIT_SQUARE * [WIDTH, HEIGHT], quad)


def _round_off(art: Art, chance: Chance) -> Reals:
    """Return the back with rounded corners, as premultiplied colour and opacity, shape (HEIGHT, WIDTH, 4)."""
    cover = np.zeros((HEIGHT, WIDTH), dtype=np.float32)
    radius, inset = int(chance.integers(4, 16)), int(chance.integers(0, 4))
    box = (inset + radius, WIDTH - 1 - inset - radius, inset + radius, HEIGHT - 1 - inset - radius)
    cv2.rectangle(cover, (box[0], inset), (box[1], HEIGHT - 1 - inset), 1, -1)
    cv2.rectangle(cover, (inset, box[2]), (WIDTH - 1 - inset, box[3]), 1, -1)
    for x in box[:2]:
        for y in box[2:]:
            cv2.circle(cover, (x, y), radius, 1, -1, cv2.LINE_AA)
    return np.dstack([art * cover[:, :, None], cover])


def _surroundings(style: NumberStyle, quad: Quad, size: tuple[int, int], chance: Chance) -> Art:
    """Draw the surroundings of a tile: floor, its own sides, neighbours of its colour across a dark gap."""
    ground = chance.uniform(0, 0.9, 3) if chance.random() < 0.7 else style.back
    scene = np.full((size[1], size[0], 3), ground, dtype=np.float32)
    middle = quad.mean(axis=0)
    for side in range(4):
        kind = chance.random()
        a, b = quad[side], quad[(side + 1) % 4]
        away = (a + b) / 2 - middle
        if kind < 0.45:  # a neighbour
            gap = chance.uniform(1.02, 1.2)
            _fill(scene, [a, b, b + 2 * away, a + 2 * away], np.full(3, chance.uniform(0, 0.3)))
            neighbour = [point + (gap - 1) * away for point in (a, b)]
            _fill(
                scene,
                [*neighbour, neighbour[1] + 2 * away, neighbour[0] + 2 * away],
                style.back * chance.uniform(0.5, 1.1),
            )
        elif kind < 0.7:  # its own side, in the colour of the face's plastic or of the back's
            deep = chance.uniform(0.05, 0.5)
            colour = style.back * 0.6 if chance.random() < 0.5 else chance.uniform(0.4, 1.0, 3)
            _fill(scene, [a, b, b + deep * away, a + deep * away], colour)
    return scene


def _fill(scene: Art, corners: list[Reals], colour: Reals) -> None:
    shift = 4
    points = np.round(np.array(corners) * 2**shift).astype(np.int32)
    cv2.fillConvexPoly(scene, points, [float(part) for part in colour], cv2.LINE_AA, shift)


def _expose(scene: Art, chance: Chance) -> Picture:
    """Simulate lens, sensor and JPEG: defocus, motion, gamma, noise, sharpening, compression."""
    blur = float(chance.choice([chance.uniform(0, 0.8), chance.uniform(0, 0.8), chance.uniform(0, 2.6)]))
    if blur > 0.2:
        scene = np.asarray(cv2.GaussianBlur(scene, (0, 0), blur))
    if chance.random() < _MOVED:
        scene = np.asarray(cv2.filter2D(scene, -1, _streak(chance)))
    coded = np.clip(scene, 0, 1) ** np.float32(1 / chance.uniform(1.0, 2.4)) * np.float32(chance.uniform(0.75, 1.25))
    coded = coded + _noise(scene.shape, chance) * np.float32(
        chance.choice([0.004, chance.uniform(0, 0.02), chance.uniform(0, 0.06)])
    )
    if chance.random() < 0.5:
        coded = coded + (coded - cv2.GaussianBlur(coded, (0, 0), 1.0)) * np.float32(chance.uniform(0, 1.2))
    pixels = np.clip(coded * 255, 0, 255).astype(np.uint8)
    quality = int(chance.integers(55, 97))
    return np.asarray(
        cv2.imdecode(cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])[1], 1), dtype=np.uint8
    )


@cache
def _noises() -> tuple[Reals, ...]:
    """Return fields of noise, fine and smoothed; each picture uses a part of one, as drawing noise is slow."""
    fine = np.random.default_rng(1).normal(0, 1, (512, 512, 3)).astype(np.float32)
    return fine, *(np.asarray(cv2.GaussianBlur(fine, (0, 0), sigma), dtype=np.float32) for sigma in (0.5, 0.8))


def _noise(shape: tuple[int, ...], chance: Chance) -> Reals:
    field = _noises()[chance.integers(3)]
    top, left = (int(part) for part in chance.integers(0, [512 - shape[0], 512 - shape[1]]))
    return field[top : top + shape[0], left : left + shape[1]]


def _streak(chance: Chance) -> Reals:
    length, angle = chance.uniform(*_STREAK), chance.uniform(0, np.pi)
    kernel = np.zeros((9, 9), dtype=np.float32)
    half = np.array([np.cos(angle), np.sin(angle)]) * length / 2
    ends = [tuple(round(float(4 + sign * part) * 16) for part in half) for sign in (-1, 1)]
    cv2.line(kernel, ends[0], ends[1], 1, 1, cv2.LINE_AA, 4)
    return np.asarray(kernel / kernel.sum(), dtype=np.float32)


def _distorted(quad: Quad, chance: Chance) -> Quad:
    """Distort an outline as the finder may: shift, size, rotation, and each corner by itself."""
    width = float(np.linalg.norm(quad[1] - quad[0]))
    middle = quad.mean(axis=0)
    moved = (quad - middle) @ rotation_by(float(chance.normal(0, 0.035))).T * chance.normal(1, 0.03, 2)
    return np.asarray(moved + middle + chance.normal(0, 0.028 * width, 2) + chance.normal(0, 0.018 * width, (4, 2)))
