"""Draws lines and shapes that stand out on any ground: each has a white edge, and a black one about it."""

from collections.abc import Iterator
from itertools import pairwise

import cv2
import numpy as np

from vision.geometry import Picture, Points, Quad
from vision.live.overlay.style import BLACK, WHITE, Colour, Look

_SHIFT = 3  # OpenCV draws at eighths of a pixel


class Pen:
    """Draws into a picture, BGR, shape (height, width, 3), in place; `width` in pixels is that of a plain line."""

    def __init__(self, picture: Picture, width: float) -> None:
        self._picture = picture
        self.width = max(1.0, width)

    def outline(self, quad: Quad, look: Look) -> None:
        """Draw a closed line about a quad, shape (4, 2), pixels."""
        width = self.width * look.weight
        strokes = list(_dashes(np.vstack([quad, quad[:1]]), [part * width for part in look.dash]))
        self.strokes(strokes, width, look.colour)

    def strokes(self, strokes: list[Points], width: float, colour: Colour) -> None:
        """Draw open lines, each of shape (n, 2), all with one edge about them."""
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
        """Fill a polygon, shape (n, 2), with an edge about it."""
        self.strokes([np.vstack([corners, corners[:1]])], self.width / 2, colour)
        cv2.fillPoly(self._picture, [_fixed(corners)], colour, cv2.LINE_AA, _SHIFT)

    def text(self, text: str, centre: Points, width: float, height: float, colour: Colour) -> None:
        """Write figures and Latin letters into a box, as large as they fit."""
        font = cv2.FONT_HERSHEY_DUPLEX
        (wide, high), _ = cv2.getTextSize(text, font, 1.0, 1)
        scale = max(0.1, min(width / wide, height / high))
        at = (round(centre[0] - wide * scale / 2), round(centre[1] + high * scale / 2))
        cv2.putText(self._picture, text, at, font, scale, colour, max(1, round(1.9 * scale)), cv2.LINE_AA)


def circle(centre: Points, radius: float, corners: int = 24) -> Points:
    """Give the corners of a regular polygon about `centre`, the first at the top, shape (corners, 2)."""
    angle = np.arange(corners) * 2 * np.pi / corners
    return np.asarray(centre + radius * np.column_stack([np.sin(angle), -np.cos(angle)]))


def _fixed(points: Points) -> np.typing.NDArray[np.int32]:
    # OpenCV counts from the middle of the first pixel, this room from its corner.
    return np.asarray(np.round((np.clip(points, -1e5, 1e5) - 0.5) * 2**_SHIFT), dtype=np.int32)


def _dashes(path: Points, dash: list[float]) -> Iterator[Points]:
    """Cut a line into dashes; each side begins and ends with one, so that corners stay corners."""
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
