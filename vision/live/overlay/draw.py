"""`draw_overlay`: a picture with every tile's verdict and, in a heap, where the tile goes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vision.geometry import Picture, Points, Quad, rectangle
from vision.live.camera import check_frame
from vision.live.overlay.pen import Pen
from vision.live.overlay.signs import SEATS, draw_badge, draw_seat
from vision.live.overlay.style import BLACK, FACE_UP, FAULT, READ, UNREAD, WHITE, Look
from vision.reading import Fault, Read, Reading

Where = tuple[str | None, int | None, int | None]  # seat, row, column

_LINE = 0.045  # of a tile's shorter side
_INSET = 0.93  # of a tile's size: neighbours' lines do not touch
_BADGE = 0.19
_USUAL_TILE = 0.05  # of the picture's width, where no tile is seen


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a tile goes: seat E, S, W or N, row 0..2 (0 farthest from the player), column 0.. from the left."""

    seat: str
    row: int
    col: int

    def __post_init__(self) -> None:
        if self.seat not in SEATS:
            raise ValueError(f"no seat is called {self.seat!r}")


def draw_overlay(
    picture: Picture,
    reading: Reading,
    faults: Sequence[Fault] = (),
    destinations: Mapping[int, Destination] | None = None,
) -> Picture:
    """Give a copy of a picture, BGR, shape (height, width, 3), uint8, with each tile's verdict.

    Read: a plain line and a tick; seen but not read: a dashed line and a question mark; face up: a dotted line and a
    turning arrow; at fault: a thick line and an exclamation mark, also at an empty place. `destinations`, by serial,
    puts the seat's shape, row and tile, counted from 1, on tiles that are read. Sizes follow the tiles'. Raises
    PictureError for an array that is no picture.
    """
    drawn = np.ascontiguousarray(check_frame(picture)).copy()
    wrong = {place for fault in faults for place in _places(fault)}
    size = (drawn.shape[1], drawn.shape[0])
    tiles = [(np.array(read.quad), read) for read in reading.reads]
    looks = [(quad, read, _look(read, wrong)) for quad, read in tiles if _is_in(quad, size)]
    pen = Pen(drawn, _LINE * _usual_side([quad for quad, _, _ in looks], size[0]))
    for quad, _, look in sorted(looks, key=lambda one: one[2].weight):  # faults last: over their neighbours
        pen.outline(_shrink(quad), look)
    for quad, read, look in looks:
        goes = (destinations or {}).get(read.serial or 0)
        if goes is None or look is FAULT:
            draw_badge(pen, *_badge(quad), look)
        else:
            _draw_destination(pen, quad, goes)
    for quad in _empty_places(reading, wrong):
        pen.outline(quad, FAULT)
        draw_badge(pen, *_badge(quad), FAULT)
    return drawn


def _places(fault: Fault) -> Iterator[Where]:
    yield fault.seat, fault.row, fault.col
    if fault.with_ is not None:
        yield fault.seat, *fault.with_


def _look(read: Read, wrong: set[Where]) -> Look:
    if (read.seat, read.row, read.col) in wrong:
        return FAULT
    if read.face_up:
        return FACE_UP
    return UNREAD if read.serial is None else READ


def _is_in(quad: Quad, size: tuple[int, int]) -> bool:
    """Tell whether a tile can lie in a picture of this size: its middle does, and it is no larger than that."""
    middle = quad.mean(axis=0)
    return bool((middle >= 0).all() and (middle <= size).all() and float(np.ptp(quad, axis=0).max()) <= max(size))


def _usual_side(quads: Sequence[Quad], width: int) -> float:
    sides = [_short_side(quad) for quad in quads]
    return float(np.median(sides)) if sides else _USUAL_TILE * width


def _short_side(quad: Quad) -> float:
    sides = np.linalg.norm(np.roll(quad, -1, axis=0) - quad, axis=1)
    return float(min(sides[0] + sides[2], sides[1] + sides[3]) / 2)


def _shrink(quad: Quad) -> Quad:
    middle = quad.mean(axis=0)
    return np.asarray(middle + _INSET * (quad - middle))


def _badge(quad: Quad) -> tuple[Points, float]:
    """Give middle and radius of a tile's badge: in its own lower right corner, where marks rarely are."""
    radius = _BADGE * _short_side(quad)
    middle = quad.mean(axis=0)
    corner = quad[2] - middle
    return np.asarray(middle + corner * max(0.0, 1 - 1.25 * radius / max(1.0, float(np.linalg.norm(corner))))), radius


def _draw_destination(pen: Pen, quad: Quad, goes: Destination) -> None:
    """Draw seat above row and tile, upright on the screen whichever way the tile lies."""
    side, middle = _short_side(quad), quad.mean(axis=0)
    pen.shape(rectangle(middle, 0.9 * side, 0.9 * side), BLACK)
    draw_seat(pen, middle - np.array([0.0, 0.18 * side]), 0.22 * side, goes.seat)
    text = f"{goes.row + 1}-{goes.col + 1}"
    pen.text(text, middle + np.array([0.0, 0.27 * side]), 0.84 * side, 0.27 * side, WHITE)


def _empty_places(reading: Reading, wrong: set[Where]) -> Iterator[Quad]:
    """Give where a tile should lie and none is seen."""
    for place in reading.places:
        if place.read is None and place.quad is not None and (place.seat, place.row, place.col) in wrong:
            yield np.array(place.quad)
