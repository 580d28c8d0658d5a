"""A set that no reader can read, with one to three digits in a script font and no leading zeros; and its trays."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import cv2
import numpy as np

from tests.benchmarks.vision.held_out.backs import SIZE, Back
from tests.benchmarks.vision.held_out.kinds import ROWS
from tests.benchmarks.vision.held_out.table import Camera, Shot, Standing, ground, picture_of
from vision.enrolled.file import EnrolledSet
from vision.geometry import Picture, rectangle
from vision.marks.digits import CROP, CROP_MARGIN

TRAY = sum(ROWS)


def drawn_back(serial: int) -> Back:
    """Draw a back: white on dark green."""
    art = np.full((SIZE[1], SIZE[0], 3), (50, 90, 40), dtype=np.uint8)
    text, font = str(serial), cv2.FONT_HERSHEY_SCRIPT_COMPLEX
    (wide, high), _ = cv2.getTextSize(text, font, 1.7, 4)
    cv2.putText(
        art, text, ((SIZE[0] - wide) // 2, (SIZE[1] + high) // 2 - 8), font, 1.7, (250, 250, 250), 4, cv2.LINE_AA
    )
    return Back(art.astype(np.float32) / 255, rectangle(np.array(SIZE) / 2, wide, high))


def clouded(back: Back, contrast: float, chance: np.random.Generator) -> Back:
    """Return a back with its ink's contrast scaled, and clouds in the plastic."""
    bare = back.art[0, 0]
    clouds = cv2.GaussianBlur(chance.normal(0, 1, back.art.shape[:2]).astype(np.float32), (0, 0), 6.0)
    return Back(bare + contrast * (back.art - bare) + 0.03 * (clouds / clouds.std())[..., None], back.mark)


@cache
def tray_picture(serials: tuple[int, ...], seed: int = 1, tilt: float = 6.0, contrast: float | None = None) -> Picture:
    """Draw a picture of a tray with rows of 13, 11 and 10 of these serials; 0 leaves a place empty.

    `contrast`: that of the ink, on clouded plastic.
    """
    chance = np.random.default_rng(seed)
    camera = Camera.over(Shot(size=(1280, 720), tilt=tilt, turn=float(chance.normal(0, 3))), 400.0)
    spots = [np.array([col - 6.0, row - 1.0]) * (29.2, 42.0) for row, count in enumerate(ROWS) for col in range(count)]
    tiles = [
        Standing(spot + chance.normal(0, 0.25, 2), float(chance.normal(0, 0.8)), drawn_back(serial))
        for spot, serial in zip(spots, serials, strict=True)
        if serial
    ]
    if contrast is not None:
        tiles = [replace(tile, back=clouded(tile.back, contrast, chance)) for tile in tiles]
    return picture_of(camera, ground("wood", chance), [], tiles, chance)


def tray_of(tray: int) -> tuple[int, ...]:
    """Return the serials of tray 1, 2, 3 or 4 in order."""
    return tuple(range((tray - 1) * TRAY + 1, tray * TRAY + 1))


def cut_back_drawn(serial: int) -> Picture:
    """Return a back as `cut_backs` cuts it out, shape (112, 80, 3), with some of the table around it."""
    margin = [round(CROP_MARGIN * side) for side in SIZE]
    art = (drawn_back(serial).art * 255).astype(np.uint8)
    framed = cv2.copyMakeBorder(
        art, margin[1], margin[1], margin[0], margin[0], cv2.BORDER_CONSTANT, value=(60, 60, 60)
    )
    return np.asarray(cv2.resize(framed, CROP, interpolation=cv2.INTER_AREA), dtype=np.uint8)


@cache
def drawn_set(serials: Sequence[int] = tuple(range(1, 137))) -> EnrolledSet:
    """Return an enrolled set."""
    return EnrolledSet(3, None, {serial: cut_back_drawn(serial) for serial in serials})
