"""The camera's picture of a heap with each tile's destination drawn on it: the seat's colour, shape and letter first.

Sizes follow the screen, not the camera: the picture is cut to where tiles lie and made as large as it will be shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from kiosk.heap_picture import Cut, Stamp, long_side
from kiosk.table.restoring.heap import stage
from kiosk.table.restoring.places import Place
from vision.geometry import Picture, Points, Quad, rectangle
from vision.live.motion import Sketch
from vision.live.overlay.pen import Pen
from vision.live.overlay.signs import SIGNS, draw_seat
from vision.live.overlay.style import BLACK, FACE_UP, FAULT, UNREAD, WHITE, Look
from vision.reading import Read, Reading

STILL: Final = 14.0
"""Levels by which the spot where a tile lay may differ; more, and the tile was taken away or a hand is over it."""

LETTERS: Final = {"east": "E", "south": "S", "west": "W", "north": "N"}

LARGER: Final = 1.2
"""Than most tiles one is taken to be at most: an outline about two tiles must not hide what lies beside them."""

REACH: Final = 0.75
"""Of a tile's longer side: no further from its middle does anything of its destination stand."""


class HeapView:
    """One reading of a heap: its tiles' destinations, drawn once and laid onto every later picture of them.

    While tiles of several seats are in view a tile has its seat's shape alone, as large as the tile; a pile of one
    seat has row and place.
    """

    def __init__(self, picture: Picture, reading: Reading, homes: Mapping[int, Place], size: tuple[int, int]) -> None:
        """Take what was read, where each serial belongs, and how large (width, height) it is shown at most, pixels."""
        sort, _ = stage((read.serial for read in reading.reads if read.serial and not read.foreign), dict(homes))
        self._cut = Cut.about(picture, reading, size)
        self._by_seat, self._line = sort == "seat", max(1.0, 0.004 * max(size))
        sides = [_short_side(self._cut.shown(np.array(read.quad))) for read in reading.reads]
        self._side = LARGER * float(np.median(sides)) if sides else 0.0
        ground = self._cut.of(picture)
        self._stamps = [self._stamp(ground, read, homes) for read in reading.reads]

    def on(self, picture: Picture, lying: Iterable[bool]) -> Picture:
        """Give the part of a picture in which tiles lie, BGR; a destination is on each that still lies there."""
        drawn = self._cut.of(picture)
        for stamp, lies in zip(self._stamps, lying, strict=True):
            if lies:
                stamp.lay(drawn)
        return drawn

    def _stamp(self, ground: Picture, read: Read, homes: Mapping[int, Place]) -> Stamp:
        quad = self._cut.shown(np.array(read.quad))
        reach = REACH * long_side(quad) + 6 * self._line
        place = homes.get(read.serial or 0) if not read.foreign else None
        return Stamp.of(
            ground, quad.mean(axis=0), reach, lambda drawn, corner: self._draw(drawn, quad - corner, read, place)
        )

    def _draw(self, drawn: Picture, quad: Quad, read: Read, place: Place | None) -> None:
        pen = Pen(drawn, self._line)
        if place is None:
            _mark(pen, quad, FAULT if read.foreign else FACE_UP if read.face_up else UNREAD)
        elif self._by_seat:
            draw_seat(pen, quad.mean(axis=0), 0.55 * self._short(quad), LETTERS[place.seat])
        else:
            _number(pen, quad.mean(axis=0), self._short(quad), place)

    def _short(self, quad: Quad) -> float:
        """Give the shorter side of a tile in what is shown, pixels."""
        return min(_short_side(quad), self._side)


def in_place(reads: Sequence[Read], then: Sketch, now: Sketch, width: int) -> tuple[bool, ...]:
    """Say of each tile whether it lies where it was read: nothing about it differs between the two sketches.

    `width` is that of the picture in which they were read, pixels.
    """
    if then.shape != now.shape:
        return (False,) * len(reads)
    changed = np.asarray(cv2.absdiff(then, now), dtype=np.uint8)
    share = then.shape[1] / width
    return tuple(_level(changed, np.array(read.quad) * share) <= STILL for read in reads)


def _level(changed: NDArray[np.uint8], quad: Quad) -> float:
    low, high = np.floor(quad.min(axis=0)).astype(int), np.ceil(quad.max(axis=0)).astype(int)
    spot = changed[max(0, low[1]) : max(1, high[1]), max(0, low[0]) : max(1, high[0])]
    return float(spot.mean()) if spot.size else 255.0


def _number(pen: Pen, middle: Points, side: float, place: Place) -> None:
    """Draw row and place upright on the screen, in a field of the seat's shape."""
    draw_seat(pen, middle - np.array([0.0, 0.42 * side]), 0.26 * side, LETTERS[place.seat])
    pen.shape(rectangle(middle + np.array([0.0, 0.25 * side]), 1.1 * side, 0.62 * side), BLACK)
    pen.text(f"{place.row + 1}-{place.col + 1}", middle + np.array([0.0, 0.25 * side]), 1.02 * side, 0.42 * side, WHITE)


def _mark(pen: Pen, quad: Quad, look: Look) -> None:
    pen.outline(quad, look)
    radius = 0.4 * _short_side(quad)
    pen.plain([quad.mean(axis=0) + radius * stroke for stroke in SIGNS[look.sign]], max(2.0, 0.2 * radius), look.colour)


def _short_side(quad: Quad) -> float:
    return float(min(np.linalg.norm(quad[1] - quad[0]), np.linalg.norm(quad[2] - quad[1])))
