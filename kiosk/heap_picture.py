"""What of a camera's picture is shown of a heap, and what is laid onto it: drawn once, laid onto many pictures."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Picture, Points, Quad
from vision.reading import Reading

MARGIN: Final = 1.2
"""Of a tile's longer side, about the heap."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The part of a picture in which tiles lie, from `low` to below `high` (x, y), pixels; its size is to be scaled."""

    low: tuple[int, int]
    high: tuple[int, int]
    scale: float

    @classmethod
    def about(cls, picture: Picture, reading: Reading, size: tuple[int, int]) -> Self:
        """Cut about a heap, all of a picture where nothing lies; `size` (width, height), pixels, is the largest."""
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
        """Give that part of a picture, as large as it is shown: an array of its own.

        A picture is halved as often as that goes first: for whole steps alone OpenCV's means are quick (a tenth of the
        time for 1920 x 1080).
        """
        piece = picture[self.low[1] : self.high[1], self.low[0] : self.high[0]]
        shown = max(1, round(piece.shape[1] * self.scale)), max(1, round(piece.shape[0] * self.scale))
        while piece.shape[1] >= 2 * shown[0] and piece.shape[0] >= 2 * shown[1]:
            half = piece.shape[1] // 2, piece.shape[0] // 2
            piece = _resized(piece[: 2 * half[1], : 2 * half[0]], half, cv2.INTER_AREA)
        return _resized(piece, shown, cv2.INTER_LINEAR)

    def shown(self, points: Points) -> Points:
        """Give where points of the picture, shape (n, 2), stand in what is shown."""
        return np.asarray((points - np.array(self.low)) * self.scale)


@dataclass(frozen=True, slots=True, eq=False)
class Stamp:
    """Something drawn once. `colours`, BGR, and `mask`, 255 where it covers what is under it, are equally large."""

    corner: tuple[int, int]
    colours: Picture
    mask: NDArray[np.uint8]

    @classmethod
    def of(cls, ground: Picture, middle: Points, reach: float, draw: Callable[[Picture, Points], None]) -> Self:
        """Draw it on a piece of the picture, so far about a point; `draw` gets that piece and where its corner is."""
        height, width = ground.shape[:2]
        left, top = np.clip(np.floor(middle - reach), 0, (width - 1, height - 1)).astype(int)
        right, bottom = np.clip(np.ceil(middle + reach), (left + 1, top + 1), (width, height)).astype(int)
        under = ground[top:bottom, left:right]
        colours = under.copy()
        draw(colours, np.array([left, top], dtype=float))
        mask = np.where((colours != under).any(axis=2), 255, 0).astype(np.uint8)
        return cls((int(left), int(top)), colours, mask)

    def lay(self, picture: Picture) -> None:
        """Lay it onto a picture as large as the one that it was drawn on, in place."""
        (left, top), (height, width) = self.corner, self.mask.shape
        cv2.copyTo(self.colours, self.mask, picture[top : top + height, left : left + width])


def _resized(picture: Picture, size: tuple[int, int], how: int) -> Picture:
    """Give a picture in another size, (width, height): OpenCV makes an array of its own, even for the same size."""
    return np.asarray(cv2.resize(picture, size, interpolation=how), dtype=np.uint8)


def long_side(quad: Quad) -> float:
    """Give the longer side of a quad, shape (4, 2)."""
    return float(max(np.linalg.norm(quad[1] - quad[0]), np.linalg.norm(quad[2] - quad[1])))
