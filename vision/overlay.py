"""Draw each tile's verdict into the picture, for people to look at.

Colour, line style and sign each identify the verdict by themselves, so nobody has to tell colours apart. Every line has
a white edge with a black edge around it, so that it stands out on any background.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from vision.errors import OverlayError
from vision.geometry import Picture, Points, Quad, quad_sides
from vision.marks.digits import cut_backs
from vision.palette import (
    BLACK,
    BLUISH_GREEN,
    SEAT_SHAPES,
    SKY_BLUE,
    VERMILLION,
    WHITE,
    YELLOW,
    Colour,
    regular_corners,
)
from vision.picture import check_picture
from vision.reading import PictureReading, TileRead, TrayFault


class VerdictSign(StrEnum):
    """The sign on a tile's badge; drawn with lines, as no font is available everywhere."""

    TICK = "tick"
    QUESTION = "question"
    BANG = "bang"
    TURN = "turn"


@dataclass(frozen=True, slots=True)
class VerdictStyle:
    """How a verdict is drawn.

    `dash` is the lengths drawn and left out, in line widths; () is a solid line. `weight` scales the thickness of the
    line and the size of the badge.
    """

    colour: Colour
    sign: VerdictSign
    dash: tuple[float, float] | tuple[()] = ()
    weight: float = 1.0
    ink: Colour = BLACK  # of the sign


READ: Final = VerdictStyle(BLUISH_GREEN, VerdictSign.TICK, weight=0.7)  # inconspicuous, as there are many
UNREAD: Final = VerdictStyle(YELLOW, VerdictSign.QUESTION, dash=(3.0, 2.5))
FACE_UP: Final = VerdictStyle(SKY_BLUE, VerdictSign.TURN, dash=(1.0, 2.0))
FAULT: Final = VerdictStyle(VERMILLION, VerdictSign.BANG, weight=2.0, ink=WHITE)

_SHIFT = 3  # OpenCV draws at eighths of a pixel


class OutlinePen:
    """Draws into a picture (BGR, shape (height, width, 3)) in place; `width` is that of a plain line, pixels."""

    def __init__(self, picture: Picture, width: float) -> None:
        self._picture = picture
        self.width = max(1.0, width)

    def outline(self, quad: Quad, style: VerdictStyle) -> None:
        """Draw a closed line along a quad, shape (4, 2), pixels."""
        width = self.width * style.weight
        strokes = list(_dashes(np.vstack([quad, quad[:1]]), [part * width for part in style.dash]))
        self.strokes(strokes, width, style.colour)

    def strokes(self, strokes: list[Points], width: float, colour: Colour) -> None:
        """Draw open lines, each of shape (n, 2), with a common edge around them."""
        edge = max(1.0, 0.4 * width)
        for extra, ink in ((4 * edge, BLACK), (2 * edge, WHITE), (0.0, colour)):
            self.plain(strokes, width + extra, ink)

    def plain(self, strokes: list[Points], width: float, colour: Colour) -> None:
        """Draw open lines without an edge."""
        paths = [_fixed(stroke) for stroke in strokes]
        cv2.polylines(
            self._picture, paths, isClosed=False, color=colour, thickness=max(1, round(width)), lineType=cv2.LINE_AA,
            shift=_SHIFT,
        )  # fmt: skip

    def shape(self, corners: Points, colour: Colour) -> None:
        """Draw a filled polygon, shape (n, 2), with an edge around it."""
        self.strokes([np.vstack([corners, corners[:1]])], self.width / 2, colour)
        cv2.fillPoly(self._picture, [_fixed(corners)], colour, cv2.LINE_AA, _SHIFT)

    def text(self, text: str, centre: Points, width: float, height: float, colour: Colour) -> None:
        """Write digits and Latin letters, as large as they fit into a box."""
        font = cv2.FONT_HERSHEY_DUPLEX
        (wide, high), _ = cv2.getTextSize(text, font, 1.0, 1)
        scale = max(0.1, min(width / wide, height / high))
        at = (round(centre[0] - wide * scale / 2), round(centre[1] + high * scale / 2))
        cv2.putText(self._picture, text, at, font, scale, colour, max(1, round(1.9 * scale)), cv2.LINE_AA)


def _fixed(points: Points) -> np.typing.NDArray[np.int32]:
    # OpenCV's origin is the middle of the first pixel, this room's is its corner.
    return np.asarray(np.round((np.clip(points, -1e5, 1e5) - 0.5) * 2**_SHIFT), dtype=np.int32)


def _dashes(path: Points, dash: list[float]) -> Iterator[Points]:
    """Cut a line into dashes; each side begins and ends with a dash, so that corners are drawn."""
    if not dash:
        yield path
        return
    on, off = dash
    for start, end in pairwise(path):
        length = float(np.linalg.norm(end - start))
        gaps = max(0, round((length - on) / (on + off)))
        period = (length - on) / gaps if gaps else 0.0
        for number in range(gaps + 1):
            ends = np.array([number * period, number * period + on]) / max(length, 1e-9)
            yield start + np.clip(ends, 0, 1)[:, None] * (end - start)


def _arc(start: float, end: float, radius: float, centre: tuple[float, float] = (0.0, 0.0)) -> Points:
    """Return an arc, shape (13, 2); angles are in degrees, clockwise on the screen from three o'clock."""
    angle = np.radians(np.linspace(start, end, 13))
    return np.asarray(centre) + radius * np.column_stack([np.cos(angle), np.sin(angle)])


SIGN_LINES: Final[dict[VerdictSign, list[Points]]] = {
    VerdictSign.TICK: [np.array([[-0.55, 0.05], [-0.12, 0.48], [0.58, -0.45]])],
    VerdictSign.QUESTION: [
        np.vstack([_arc(180, 400, 0.36, (0.0, -0.28)), [[0.0, 0.22]]]),
        np.array([[0.0, 0.62], [0.0, 0.64]]),
    ],
    VerdictSign.BANG: [np.array([[0.0, -0.68], [0.0, 0.16]]), np.array([[0.0, 0.60], [0.0, 0.62]])],
    VerdictSign.TURN: [_arc(-60, 210, 0.48), np.array([[-0.72, -0.02], [-0.42, -0.26], [-0.16, 0.04]])],
}


def draw_badge(pen: OutlinePen, centre: Points, radius: float, style: VerdictStyle) -> None:
    """Draw a round badge with a verdict's sign."""
    size = radius * (1 + (style.weight - 1) / 2)
    pen.shape(centre + np.array(regular_corners(size)), style.colour)
    pen.plain([centre + size * stroke for stroke in SIGN_LINES[style.sign]], max(1.0, 0.26 * size), style.ink)


def draw_seat(pen: OutlinePen, centre: Points, radius: float, seat: str) -> None:
    """Draw a seat's shape with its letter."""
    colour, corners = SEAT_SHAPES[seat]
    pen.shape(centre + radius * np.array(corners), colour)
    lower = np.array([0.0, 0.25 * radius if seat == "S" else 0.0])  # a triangle is wide at its foot
    pen.text(seat, centre + lower, radius, radius, BLACK)


_TilePlace = tuple[str | None, int | None, int | None]  # seat, row, column

_LINE = 0.045  # width of a line, in short sides of a tile
_INSET = 0.93  # size of an outline, in tile sizes; keeps the lines of neighbours apart
_BADGE = 0.19  # radius, in short sides of a tile
_USUAL_TILE = 0.05  # assumed short side of a tile if there is none, as a share of the picture's width


def draw_overlay(picture: Picture, reading: PictureReading, faults: Sequence[TrayFault] = ()) -> Picture:
    """Return a copy of a picture (BGR, shape (height, width, 3), uint8) with each tile's verdict.

    Read: a plain line and a tick. Seen but not read: a dashed line and a question mark. Face up: a dotted line and a
    turning arrow. At fault: a thick line and an exclamation mark, also at empty places. Lines and badges scale with the
    tiles. Raises PictureError if the array is not a picture.
    """
    drawn = np.ascontiguousarray(check_picture(picture)).copy()
    wrong = {place for fault in faults for place in _fault_places(fault)}
    size = (drawn.shape[1], drawn.shape[0])
    tiles = [(np.array(read.quad), read) for read in reading.reads]
    styles = [(quad, _style(read, wrong)) for quad, read in tiles if _is_in(quad, size)]
    sides = [_short_side(quad) for quad, _ in styles] or [_USUAL_TILE * size[0]]
    pen = OutlinePen(drawn, _LINE * float(np.median(sides)))
    for quad, style in sorted(styles, key=lambda one: one[1].weight):  # faults last, on top of their neighbours
        pen.outline(quad.mean(axis=0) + _INSET * (quad - quad.mean(axis=0)), style)
    for quad, style in styles:
        draw_badge(pen, *_badge(quad), style)
    for quad in _empty_places(reading, wrong):
        pen.outline(quad, FAULT)
        draw_badge(pen, *_badge(quad), FAULT)
    return drawn


COLUMN_WIDTH, ROW_HEIGHT = 92, 148  # pixels of a tile in the list: its crop, a margin, and its serial below


def list_serials(picture: Picture, reading: PictureReading, width: int, faults: Sequence[TrayFault] = ()) -> Picture:
    """Return a picture, `width` pixels wide, that lists all tiles, each cut out upright above its serial.

    Tiles at fault, unread, turned or foreign come first, then the least certain, so that a person quickly sees what was
    misread.
    """
    wrong = {place for fault in faults for place in _fault_places(fault)}
    columns = width // COLUMN_WIDTH
    reads = sorted(reading.reads, key=lambda read: _certainty(read, wrong)) if columns else []
    rows = np.full((-(-len(reads) // max(columns, 1)) * ROW_HEIGHT, width, 3), 30, dtype=np.uint8)
    pen, crops = OutlinePen(rows, 1.0), cut_backs(picture, [np.array(read.quad) for read in reads])
    for number, (read, crop) in enumerate(zip(reads, crops, strict=True)):
        top, left = number // columns * ROW_HEIGHT + 6, number % columns * COLUMN_WIDTH + 6
        colour = _style(read, wrong).colour
        rows[top - 3 : top + crop.shape[0] + 3, left - 3 : left + crop.shape[1] + 3] = colour
        rows[top : top + crop.shape[0], left : left + crop.shape[1]] = crop
        text = "?" if read.serial is None else f"{read.set or ''}{read.serial:03d}"
        under = np.array([left + crop.shape[1] / 2, top + crop.shape[0] + 15.0])
        pen.text(text, under, crop.shape[1], 25.0, WHITE)
    return rows


def _certainty(read: TileRead, wrong: set[_TilePlace]) -> tuple[bool, float]:
    """Return the sort key of a tile in the list; certain ones come last."""
    at_fault = (read.seat, read.row, read.col) in wrong or read.foreign or read.turn != 0
    return read.serial is not None and not at_fault, read.confidence


def _fault_places(fault: TrayFault) -> Iterator[_TilePlace]:
    yield fault.seat, fault.row, fault.col
    if fault.with_ is not None:
        yield fault.seat, *fault.with_


def _style(read: TileRead, wrong: set[_TilePlace]) -> VerdictStyle:
    if (read.seat, read.row, read.col) in wrong:
        return FAULT
    if read.face_up:
        return FACE_UP
    return UNREAD if read.serial is None else READ


def _is_in(quad: Quad, size: tuple[int, int]) -> bool:
    """Return whether a tile's middle lies in a picture of this size, and the tile is no larger than the picture."""
    middle = quad.mean(axis=0)
    return bool((middle >= 0).all() and (middle <= size).all() and float(np.ptp(quad, axis=0).max()) <= max(size))


def _short_side(quad: Quad) -> float:
    return float(quad_sides(quad).min())


def _badge(quad: Quad) -> tuple[Points, float]:
    """Return the middle and radius of a tile's badge, in its own lower right corner, where marks rarely are."""
    radius = _BADGE * _short_side(quad)
    middle = quad.mean(axis=0)
    corner = quad[2] - middle
    return np.asarray(middle + corner * max(0.0, 1 - 1.25 * radius / max(1.0, float(np.linalg.norm(corner))))), radius


def _empty_places(reading: PictureReading, wrong: set[_TilePlace]) -> Iterator[Quad]:
    """Yield the outlines of places at fault where there is no tile."""
    for place in reading.places:
        if place.read is None and place.quad is not None and (place.seat, place.row, place.col) in wrong:
            yield np.array(place.quad)


def checked_picture(picture: Picture, reading: PictureReading, faults: Sequence[TrayFault] = ()) -> Picture:
    """Return a picture with each tile's verdict, and below it the list of tiles with their serials, doubtful first."""
    return np.vstack([draw_overlay(picture, reading, faults), list_serials(picture, reading, picture.shape[1], faults)])


def write_overlay(target: Path, image: str, picture: Picture) -> Path:
    """Write a picture to a file, or into a folder as `IMAGE-overlay.png`, and return the path.

    Raises OverlayError if the file cannot be written, or if its suffix is neither PNG nor JPEG.
    """
    path = target / f"{Path(image).stem}-overlay.png" if target.is_dir() else target
    if path.suffix.lower() not in {".png", ".jpg", ".jpeg"}:
        raise OverlayError(f"an overlay is written as .png or .jpg, not as {path.name}")
    _, encoded = cv2.imencode(path.suffix.lower(), picture)
    try:
        path.write_bytes(encoded.tobytes())
    except OSError as error:
        raise OverlayError(f"the overlay cannot be written: {error.strerror}") from error
    return path
