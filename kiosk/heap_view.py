"""The camera's picture of a heap with each tile's destination drawn on it: the seat's colour, shape and letter first.

Sizes follow the screen, not the camera: the picture is cut to where tiles lie and made as large as it will be shown.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from kiosk.table.restoring.heap import stage
from kiosk.table.restoring.places import Place
from vision.geometry import Picture, Quad, rectangle
from vision.live.motion import Sketch
from vision.live.overlay.pen import Pen
from vision.live.overlay.signs import SIGNS, draw_seat
from vision.live.overlay.style import BLACK, FACE_UP, FAULT, UNREAD, WHITE, Look
from vision.reading import Read, Reading

MARGIN: Final = 1.2
"""Of a tile's longer side, about the heap."""

STILL: Final = 14.0
"""Levels by which the spot where a tile lay may differ; more, and the tile was taken away or a hand is over it."""

LETTERS: Final = {"east": "E", "south": "S", "west": "W", "north": "N"}


def draw_heap(picture: Picture, reading: Reading, homes: Mapping[int, Place], size: tuple[int, int]) -> Picture:
    """Give the part of a picture in which tiles lie, BGR, no larger than `size` (width, height) in pixels.

    `homes` says where each serial belongs. While tiles of several seats are in view a tile has its seat's shape alone,
    as large as the tile; a pile of one seat has row and place.
    """
    corner, scale, piece = cut(picture, reading, size)
    drawn = np.ascontiguousarray(piece)
    sort, _ = stage((read.serial for read in reading.reads if read.serial and not read.foreign), dict(homes))
    pen = Pen(drawn, max(1.0, 0.004 * max(size)))
    for read in reading.reads:
        quad = (np.array(read.quad) - corner) * scale
        place = homes.get(read.serial or 0) if not read.foreign else None
        if place is None:
            mark(pen, quad, FAULT if read.foreign else FACE_UP if read.face_up else UNREAD)
        elif sort == "seat":
            draw_seat(pen, quad.mean(axis=0), 0.55 * short_side(quad), LETTERS[place.seat])
        else:
            _number(pen, quad, place)
    return drawn


def in_place(reads: Sequence[Read], then: Sketch, now: Sketch, width: int) -> tuple[Read, ...]:
    """Give the tiles that lie where they were read: about which nothing has changed from one sketch to another.

    `width` is that of the picture in which they were read, pixels.
    """
    if then.shape != now.shape:
        return ()
    changed = np.asarray(cv2.absdiff(then, now), dtype=np.uint8)
    share = then.shape[1] / width
    return tuple(read for read in reads if _level(changed, np.array(read.quad) * share) <= STILL)


def _level(changed: NDArray[np.uint8], quad: Quad) -> float:
    low, high = np.floor(quad.min(axis=0)).astype(int), np.ceil(quad.max(axis=0)).astype(int)
    spot = changed[max(0, low[1]) : max(1, high[1]), max(0, low[0]) : max(1, high[0])]
    return float(spot.mean()) if spot.size else 255.0


def cut(picture: Picture, reading: Reading, size: tuple[int, int]) -> tuple[NDArray[np.float64], float, Picture]:
    """Give the upper left corner of what is shown, pixels of the picture, by how much it is enlarged, and itself."""
    height, width = picture.shape[:2]
    low, high = np.zeros(2), np.array([width, height], dtype=float)
    if reading.reads:
        corners = np.concatenate([np.array(read.quad) for read in reading.reads])
        edge = MARGIN * float(np.median([_long_side(np.array(read.quad)) for read in reading.reads]))
        low = np.clip(np.floor(corners.min(axis=0) - edge), 0, high - 1)
        high = np.clip(np.ceil(corners.max(axis=0) + edge), low + 1, high)
    piece = picture[int(low[1]) : int(high[1]), int(low[0]) : int(high[0])]
    scale = min(size[0] / piece.shape[1], size[1] / piece.shape[0])
    shown = (max(1, round(piece.shape[1] * scale)), max(1, round(piece.shape[0] * scale)))
    resized = cv2.resize(piece, shown, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    return low, scale, np.asarray(resized, dtype=np.uint8)


def _number(pen: Pen, quad: Quad, place: Place) -> None:
    """Draw row and place upright on the screen, in a field of the seat's shape."""
    side, middle = short_side(quad), quad.mean(axis=0)
    draw_seat(pen, middle - np.array([0.0, 0.42 * side]), 0.26 * side, LETTERS[place.seat])
    pen.shape(rectangle(middle + np.array([0.0, 0.25 * side]), 1.1 * side, 0.62 * side), BLACK)
    pen.text(f"{place.row + 1}-{place.col + 1}", middle + np.array([0.0, 0.25 * side]), 1.02 * side, 0.42 * side, WHITE)


def mark(pen: Pen, quad: Quad, look: Look) -> None:
    """Draw a tile that has no destination: an outline, and its sign."""
    pen.outline(quad, look)
    radius = 0.4 * short_side(quad)
    pen.plain([quad.mean(axis=0) + radius * stroke for stroke in SIGNS[look.sign]], max(2.0, 0.2 * radius), look.colour)


def short_side(quad: Quad) -> float:
    """Give a tile's width, pixels."""
    return float(min(np.linalg.norm(quad[1] - quad[0]), np.linalg.norm(quad[2] - quad[1])))


def _long_side(quad: Quad) -> float:
    return float(max(np.linalg.norm(quad[1] - quad[0]), np.linalg.norm(quad[2] - quad[1])))
