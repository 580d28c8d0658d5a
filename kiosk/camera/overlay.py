"""The camera's picture on the screen: cropped, with each tile's destination or a hand's groups drawn onto it.

Signs are drawn once for a reading and copied onto later pictures; a picture is redrawn only if something moves.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, Self

import cv2
import numpy as np
from numpy.typing import NDArray

from kiosk.camera.observations import CameraView
from kiosk.restoring import sorting_stage
from kiosk.table import TilePlace
from vision.cameras.feed import CameraFrame
from vision.geometry import Picture, Points, Quad, rectangle
from vision.live.watcher import Sketch, Stillness, WatchedTable, sketch
from vision.overlay import FACE_UP, FAULT, SIGN_LINES, UNREAD, OutlinePen, VerdictStyle, draw_seat
from vision.palette import BLACK, WHITE
from vision.reading import PictureReading, TileRead
from vision.rivers import hand_groups

AROUND: Final = 0.12
"""Distance between a group and the line around it, as a share of a tile's width."""


class HandOverlay:
    """One reading of a hand: each group in a frame with its number; tiles that cannot be counted have a sign."""

    def __init__(self, picture: Picture, reading: PictureReading, size: tuple[int, int]) -> None:
        """Take a reading, and the largest size (width, height) at which it is shown, in pixels."""
        self._crop, self._reads = PictureCrop.about(picture, reading, size), reading.reads
        self._line = max(1.0, 0.004 * max(size))

    def on(self, picture: Picture, unmoved: Iterable[bool]) -> Picture:
        """Return the part of a picture with tiles, BGR. Groups of which a tile was moved have no frame."""
        drawn = self._crop.of(picture)
        unmoved_ids = {id(read) for read, still in zip(self._reads, unmoved, strict=True) if still}
        pen = OutlinePen(drawn, self._line)
        for number, group in enumerate(hand_groups(self._reads), 1):
            if all(id(read) in unmoved_ids for read in group):
                self._draw(pen, group, str(number))
        return drawn

    def _draw(self, pen: OutlinePen, group: tuple[TileRead, ...], number: str) -> None:
        quads = np.array([self._crop.shown(np.array(read.quad)) for read in group])
        _outline_group(pen, quads, number)
        for read, quad in zip(group, quads, strict=True):
            _mark_doubtful(pen, read, quad)


def _outline_group(pen: OutlinePen, quads: Quad, number: str) -> None:
    """Draw a line around a group, with its number in the upper left corner."""
    width = short_side(quads[0])
    low, high = quads.min(axis=(0, 1)) - AROUND * width, quads.max(axis=(0, 1)) + AROUND * width
    corners: Points = np.array([low, [high[0], low[1]], high, [low[0], high[1]], low])
    pen.strokes([corners], pen.width, WHITE)
    middle = low + 0.24 * width
    pen.shape(rectangle(middle, 0.48 * width, 0.48 * width), BLACK)
    pen.text(number, middle, 0.4 * width, 0.34 * width, WHITE)


def _mark_doubtful(pen: OutlinePen, read: TileRead, quad: Quad) -> None:
    """Mark a tile that cannot be counted."""
    if read.face_up or read.foreign:
        outline_tile(pen, quad, FACE_UP if read.face_up else FAULT)
    elif read.serial is None:
        outline_tile(pen, quad, UNREAD)


MARGIN: Final = 1.2
"""Distance around the heap, as a share of a tile's longer side."""


@dataclass(frozen=True, slots=True)
class PictureCrop:
    """The part of a picture with tiles, from `low` to below `high` (x, y) in pixels, and the scale to show it at."""

    low: tuple[int, int]
    high: tuple[int, int]
    scale: float

    @classmethod
    def about(cls, picture: Picture, reading: PictureReading, size: tuple[int, int]) -> Self:
        """Return the crop around a heap, or the whole picture, to fit `size` (width, height) in pixels."""
        height, width = picture.shape[:2]
        low, high = np.zeros(2), np.array([width, height], dtype=float)
        if reading.reads:
            corners = np.concatenate([np.array(read.quad) for read in reading.reads])
            edge = MARGIN * float(np.median([long_side(np.array(read.quad)) for read in reading.reads]))
            low = np.clip(np.floor(corners.min(axis=0) - edge), 0, high - 1)
            high = np.clip(np.ceil(corners.max(axis=0) + edge), low + 1, high)
        wide, tall = high - low
        return cls((int(low[0]), int(low[1])), (int(high[0]), int(high[1])), min(size[0] / wide, size[1] / tall))

    def of(self, picture: Picture) -> Picture:
        """Return a copy of that part of a picture at the size shown.

        The picture is first halved as often as possible, because OpenCV averages quickly only for whole factors (a
        tenth of the time for 1920 x 1080).
        """
        piece = picture[self.low[1] : self.high[1], self.low[0] : self.high[0]]
        shown = max(1, round(piece.shape[1] * self.scale)), max(1, round(piece.shape[0] * self.scale))
        while piece.shape[1] >= 2 * shown[0] and piece.shape[0] >= 2 * shown[1]:
            half = piece.shape[1] // 2, piece.shape[0] // 2
            piece = _resized(piece[: 2 * half[1], : 2 * half[0]], half, cv2.INTER_AREA)
        return _resized(piece, shown, cv2.INTER_LINEAR)

    def shown(self, points: Points) -> Points:
        """Return the position in the cropped picture of points, shape (n, 2), of the original."""
        return np.asarray((points - np.array(self.low)) * self.scale)


@dataclass(frozen=True, slots=True, eq=False)
class Stamp:
    """Something drawn once. `colours` (BGR) and `mask` (255 where it is opaque) have the same size."""

    corner: tuple[int, int]
    colours: Picture
    mask: NDArray[np.uint8]

    @classmethod
    def of(cls, ground: Picture, middle: Points, reach: float, draw: Callable[[Picture, Points], None]) -> Self:
        """Draw it onto the picture within `reach` of a point; `draw` gets that piece and the position of its corner."""
        height, width = ground.shape[:2]
        left, top = np.clip(np.floor(middle - reach), 0, (width - 1, height - 1)).astype(int)
        right, bottom = np.clip(np.ceil(middle + reach), (left + 1, top + 1), (width, height)).astype(int)
        under = ground[top:bottom, left:right]
        colours = under.copy()
        draw(colours, np.array([left, top], dtype=float))
        mask = np.where((colours != under).any(axis=2), 255, 0).astype(np.uint8)
        return cls((int(left), int(top)), colours, mask)

    def lay(self, picture: Picture) -> None:
        """Copy it onto a picture of the same size as the original, in place."""
        (left, top), (height, width) = self.corner, self.mask.shape
        cv2.copyTo(self.colours, self.mask, picture[top : top + height, left : left + width])


def _resized(picture: Picture, size: tuple[int, int], how: int) -> Picture:
    """Return a resized picture, size (width, height). OpenCV copies it even if the size stays the same."""
    return np.asarray(cv2.resize(picture, size, interpolation=how), dtype=np.uint8)


def long_side(quad: Quad) -> float:
    """Return the longer side of a quad, shape (4, 2)."""
    return float(max(np.linalg.norm(quad[1] - quad[0]), np.linalg.norm(quad[2] - quad[1])))


STILL: Final = 14.0
"""Largest mean difference in levels where a tile lies. Beyond it, the tile was moved or a hand is over it."""

LETTERS: Final = {"east": "E", "south": "S", "west": "W", "north": "N"}

LARGER: Final = 1.2
"""Largest size of a tile compared with the median: an outline around two tiles must not hide the tiles beside them."""

REACH: Final = 0.75
"""How far a tile's destination may reach from the tile's middle, as a share of its longer side."""


class HeapOverlay:
    """One reading of a heap: its tiles' destinations, drawn once and copied onto every later picture.

    While tiles of several seats are in view, each tile only has its seat's shape, as large as the tile. In a pile of
    one seat, each has its row and place.
    """

    def __init__(
        self, picture: Picture, reading: PictureReading, homes: Mapping[int, TilePlace], size: tuple[int, int]
    ) -> None:
        """Take a reading, the place of each serial, and the largest size (width, height) shown, in pixels."""
        sort, _ = sorting_stage(
            (read.serial for read in reading.reads if read.serial and not read.foreign), dict(homes)
        )
        self._crop = PictureCrop.about(picture, reading, size)
        self._by_seat, self._line = sort == "seat", max(1.0, 0.004 * max(size))
        sides = [short_side(self._crop.shown(np.array(read.quad))) for read in reading.reads]
        self._side = LARGER * float(np.median(sides)) if sides else 0.0
        ground = self._crop.of(picture)
        self._stamps = [self._stamp(ground, read, homes) for read in reading.reads]

    def on(self, picture: Picture, unmoved: Iterable[bool]) -> Picture:
        """Return the part of a picture with tiles, BGR, with destinations on the tiles that still lie there."""
        drawn = self._crop.of(picture)
        for stamp, still in zip(self._stamps, unmoved, strict=True):
            if still:
                stamp.lay(drawn)
        return drawn

    def _stamp(self, ground: Picture, read: TileRead, homes: Mapping[int, TilePlace]) -> Stamp:
        quad = self._crop.shown(np.array(read.quad))
        reach = REACH * long_side(quad) + 6 * self._line
        place = homes.get(read.serial or 0) if not read.foreign else None
        return Stamp.of(
            ground, quad.mean(axis=0), reach, lambda drawn, corner: self._draw(drawn, quad - corner, read, place)
        )

    def _draw(self, drawn: Picture, quad: Quad, read: TileRead, place: TilePlace | None) -> None:
        pen = OutlinePen(drawn, self._line)
        if place is None:
            outline_tile(pen, quad, FAULT if read.foreign else FACE_UP if read.face_up else UNREAD)
        elif self._by_seat:
            draw_seat(pen, quad.mean(axis=0), 0.55 * self._short(quad), LETTERS[place.seat])
        else:
            _number(pen, quad.mean(axis=0), self._short(quad), place)

    def _short(self, quad: Quad) -> float:
        """Return the shorter side of a tile as shown, in pixels."""
        return min(short_side(quad), self._side)


def unmoved_tiles(reads: Sequence[TileRead], then: Sketch, now: Sketch, width: int) -> tuple[bool, ...]:
    """Return for each tile whether it is still where it was read: the two sketches do not differ there.

    `width` is that of the picture in which the tiles were read, in pixels.
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


def _number(pen: OutlinePen, middle: Points, side: float, place: TilePlace) -> None:
    """Draw row and place upright on the screen, in a field with the seat's shape."""
    draw_seat(pen, middle - np.array([0.0, 0.42 * side]), 0.26 * side, LETTERS[place.seat])
    pen.shape(rectangle(middle + np.array([0.0, 0.25 * side]), 1.1 * side, 0.62 * side), BLACK)
    pen.text(f"{place.row + 1}-{place.col + 1}", middle + np.array([0.0, 0.25 * side]), 1.02 * side, 0.42 * side, WHITE)


def outline_tile(pen: OutlinePen, quad: Quad, style: VerdictStyle) -> None:
    """Draw the outline and the sign of a tile without a destination."""
    pen.outline(quad, style)
    radius = 0.4 * short_side(quad)
    pen.plain(
        [quad.mean(axis=0) + radius * stroke for stroke in SIGN_LINES[style.sign]], max(2.0, 0.2 * radius), style.colour
    )


def short_side(quad: Quad) -> float:
    """Return a tile's width in pixels."""
    return float(min(np.linalg.norm(quad[1] - quad[0]), np.linalg.norm(quad[2] - quad[1])))


class Overlay(Protocol):
    """Drawings for one reading, to be put onto each later picture."""

    def on(self, picture: Picture, unmoved: Iterable[bool]) -> Picture:
        """Return the part of a picture that is shown, with signs on the tiles that still lie where they were read."""


class OverlayCache:
    """The last drawing and what it was made from."""

    def __init__(self, signs: Callable[[Picture, PictureReading], Overlay]) -> None:
        self._signs = signs
        self._drawn: tuple[PictureReading, Sketch, Overlay] | None = None
        """The reading that is drawn, a sketch of its frame, and its signs."""
        self._view: CameraView | None = None
        self._key: object = None
        """What the view depends on."""

    def view(self, watched: WatchedTable, shown: PictureReading, frame: CameraFrame) -> CameraView:
        """Draw onto the tiles that are still where they were read; if nothing moves, return the previous view."""
        now = sketch(frame.picture)
        if self._drawn is None or self._drawn[0] is not shown:
            self._drawn = shown, now, self._signs(frame.picture, shown)
        _, then, signs = self._drawn
        unmoved = unmoved_tiles(shown.reads, then, now, frame.picture.shape[1])
        key = (id(shown), unmoved) if watched.stillness is Stillness.SETTLED else frame.number
        if self._view is None or key != self._key:
            number = self._view.number + 1 if self._view else 1
            self._view = CameraView(number, signs.on(frame.picture, unmoved))
            self._key = key
        return self._view
