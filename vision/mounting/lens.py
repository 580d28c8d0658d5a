"""Measure a camera's lens from pictures of a chart, a chessboard: what is straight there must come out straight.

The chart may be of any size, printed or shown on a flat screen, and lie anyhow: each picture has a view of its own, and
the lens is what they have in common.
"""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.cameras.lens import Lens, Size, parse_lens, with_lens
from vision.errors import CameraAddressError, LensUnclearError
from vision.geometry import Homography, Picture, Points, project

COLUMNS, ROWS = 17, 11
"""Corners at which four squares of the chart meet."""

_SIDE = 140  # pixels of a square: 14 mm on A4 paper, whose margin no printer cuts off
_A4 = (2970, 2100)
_THIRDS = 3
_SEEN = 12  # corners in each ninth of the picture, all pictures together, from which its bend is known
_ROUNDS = 30
_STEP = 1e-5
_STILL = 1e-7  # a lens that moves by less has been found
_CENTRE_PLAY = 0.04  # shares by which the centre of a lens is usually off: where it hardly bends, no picture tells
_NOISE = 0.3  # pixels by which a corner is usually off, at 1920 x 1080
_CLEAR = 1 / 1100  # of the half diagonal: a pixel at 1920 x 1080
_BOARD: Points = np.array([[col, row] for row in range(ROWS) for col in range(COLUMNS)], dtype=np.float64)

WANTED: Final = ("top_left", "top", "top_right", "left", "middle", "right", "bottom_left", "bottom", "bottom_right")
"""The ninths of a picture, row by row."""


def draw_chart() -> Picture:
    """Draw the chart for a sheet of A4 paper, across."""
    page = np.full((_A4[1], _A4[0]), 255, dtype=np.uint8)
    squares = np.indices((ROWS + 1, COLUMNS + 1)).sum(axis=0) % 2 * 255
    board = squares.repeat(_SIDE, axis=0).repeat(_SIDE, axis=1)
    top, left = (_A4[1] - board.shape[0]) // 2, (_A4[0] - board.shape[1]) // 2
    page[top : top + board.shape[0], left : left + board.shape[1]] = board
    return page


def find_chart(picture: Picture) -> Points | None:
    """Return the pixels of the chart's corners, shape (187, 2); None if not the whole chart is seen clearly."""
    grey = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)  # noqa: PLR2004 -- grey has two
    flags = cv2.CALIB_CB_NORMALIZE_IMAGE | cv2.CALIB_CB_ACCURACY
    found, corners = cv2.findChessboardCornersSB(grey, (COLUMNS, ROWS), flags=flags)
    return np.asarray(corners, dtype=np.float64).reshape(-1, 2) + 0.5 if found else None


def ninths_unseen(views: Sequence[Points], size: Size) -> Iterator[str]:
    """Return the ninths of the picture in which too few corners were seen, those in the picture's corners first."""
    places = np.concatenate([np.zeros((0, 2)), *views])
    ninth = np.clip(places / size * _THIRDS, 0, _THIRDS - 1).astype(int) @ [1, _THIRDS]
    seen = np.bincount(ninth, minlength=len(WANTED)) >= _SEEN
    for number in (0, 2, 8, 6, 1, 5, 7, 3, 4):
        if not seen[number]:
            yield WANTED[number]


@dataclass(frozen=True, slots=True)
class MeasuredLens:
    """A lens, and by how many pixels the chart's corners are off their straight view, root mean square."""

    lens: Lens
    before: float
    after: float

    def address(self, address: str) -> str:
        """Return a camera's address with this lens."""
        return with_lens(address, self.lens)


def measure_lens(views: Sequence[Points], size: Size) -> MeasuredLens:
    """Fit a lens to the chart's corners in several pictures of one `size`, each shape (187, 2), pixels.

    Levenberg and Marquardt's way over the lens's four numbers; for each of them the best view of each picture follows.
    Raises LensUnclearError if no lens explains all pictures, or one that no address can have.
    """
    numbers, damping, better = np.array(astuple(Lens())), 1e-3, True
    off = _misses(Lens(), views, size)
    before = _pixels_off(Lens(), views, size)
    for _ in range(_ROUNDS):
        if better:
            near = [Lens(*moved) for moved in numbers + _STEP * np.eye(len(numbers))]
            slope = np.column_stack([(_misses(lens, views, size) - off) / _STEP for lens in near])
            normal = slope.T @ slope
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-9), -slope.T @ off)
        tried = Lens(*(numbers + step))
        new = _misses(tried, views, size) if tried.fits(size) else off + np.inf
        better = bool((new**2).sum() < (off**2).sum())
        damping = damping / 10 if better else damping * 10
        if better:
            numbers, off = numbers + step, new
        if np.abs(step).max() < _STILL:
            break
    lens = Lens(*(float(number) for number in numbers))
    found = MeasuredLens(lens, before, _pixels_off(lens, views, size))
    if not found.after <= _CLEAR * float(np.hypot(*size)) / 2:
        raise LensUnclearError(
            f"the chart's corners are {found.after:.1f} pixels off in every lens: it must be flat and still, "
            "and the camera's focus and zoom as they stay"
        )
    try:
        parse_lens(str(lens))
    except CameraAddressError as error:
        raise LensUnclearError(str(error)) from None
    return found


def _misses(lens: Lens, views: Sequence[Points], size: Size) -> NDArray[np.float64]:
    """Return by how much corners are off, in units of their noise, and by how much the lens's centre is unusual."""
    unit = _NOISE * float(np.hypot(*size)) / np.hypot(1920, 1080)
    unusual = (np.array([lens.x, lens.y]) - 0.5) / _CENTRE_PLAY
    return np.concatenate([_corners_off(lens, views, size).ravel() / unit, unusual])


def _pixels_off(lens: Lens, views: Sequence[Points], size: Size) -> float:
    return float(np.sqrt((_corners_off(lens, views, size) ** 2).sum(axis=1).mean()))


def _corners_off(lens: Lens, views: Sequence[Points], size: Size) -> Points:
    """Return how far from each corner the lens puts it, pixels, shape (n, 2), with the best view of each picture."""
    ways = [_best_view(lens.straight(seen, size)) for seen in views]
    return np.concatenate([lens.bent(project(way, _BOARD), size) - seen for way, seen in zip(ways, views, strict=True)])


def _best_view(straight: Points) -> Homography:
    """Return the way from the chart to its corners in a straight picture."""
    return np.asarray(cv2.findHomography(_BOARD, straight, 0)[0], dtype=np.float64)
