"""A lens that bends straight lines: its model, straightened pictures, and how it is measured.

Where the lens puts a point, r away from its centre in shares of the picture's half diagonal, a straight one would have
put it r (1 + k1 r^2 + k2 r^4) away: Brown's radial model from the bent to the straight, of which the plane of the backs
(`vision.geometry`) has one number too. An address says it as `lens=K1,K2,X,Y`, the centre in shares of the picture's
width and height.

It is measured from pictures of a chart, a chessboard: what is straight there must come out straight. The chart may be
of any size, printed or shown on a flat screen, and lie anyhow: each picture has a view of its own, and the lens is what
they have in common.
"""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from math import isfinite
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.errors import CameraAddressError, LensUnclearError
from vision.geometry import Picture, Points, project

Size = tuple[int, int]  # width and height, pixels

SETTING = "lens"
MEANING = (
    "`K1,K2,X,Y`, as `homologue lens` measures it: pictures are straightened before they are read. All kinds of "
    "cameras have it."
)
_NODES = 4096  # at which the way back is known; between them it is off by less than a thousandth of a pixel
_BEYOND = 1.02  # of the way to the farthest corner: what lies there is outside of the picture
_WIDEST = 2.0  # times as wide a picture becomes at most, or as high
_STEEPEST = 0.2  # least that the straight way grows with the bent one: where it turns back, two places are one
_CENTRE = (0.25, 0.75)
_GREY = (128, 128, 128)  # where the camera saw nothing: what the finder fills up with


@dataclass(frozen=True, slots=True)
class Lens:
    """Radial distortion of a lens: two coefficients, and its centre in shares of width and height."""

    k1: float = 0.0
    k2: float = 0.0
    x: float = 0.5
    y: float = 0.5

    def straight(self, seen: Points, size: Size) -> Points:
        """Return the undistorted places of pixels, shape (n, 2)."""
        centre, reach = self._centre(size), _reach(size)
        away = (seen - centre) / reach
        return np.asarray(centre + reach * away * self._stretch((away**2).sum(axis=1, keepdims=True)))

    def bent(self, straight: Points, size: Size) -> Points:
        """Return where the lens shows undistorted places, shape (n, 2), pixels."""
        centre, reach = self._centre(size), _reach(size)
        away = (straight - centre) / reach
        far = np.linalg.norm(away, axis=1, keepdims=True)
        nodes = np.linspace(0.0, _BEYOND * self._farthest(size), _NODES)
        near = np.interp(far, nodes * self._stretch(nodes**2), nodes)
        return np.asarray(centre + reach * away * (near / np.maximum(far, 1e-12)))

    def fits(self, size: Size) -> bool:
        """Return whether a lens can bend so: no place of a picture is seen twice, and none is stretched away."""
        at = np.linspace(0.0, _BEYOND * self._farthest(size), 256) ** 2
        stretch = self._stretch(at)
        return bool((1 + 3 * self.k1 * at + 5 * self.k2 * at**2).min() > _STEEPEST and stretch.max() < _WIDEST)

    def straightened(self, picture: Picture) -> Picture:
        """Return a picture without the bend: as large in its middle as it was, and larger where that takes room.

        All that the camera saw is in it.
        """
        across, down = _way_back(self, (picture.shape[1], picture.shape[0]))
        flat = cv2.remap(picture, across, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=_GREY)
        return np.asarray(flat, dtype=np.uint8)

    def room(self, size: Size) -> tuple[Points, Size]:
        """Return where a straightened picture of a camera's `size` begins, pixels, shape (2,), and its own size."""
        wide, high = size
        across, down = np.linspace(0, wide, 64), np.linspace(0, high, 64)
        edges = [(across, 0 * across), (across, 0 * across + high), (0 * down, down), (0 * down + wide, down)]
        border = self.straight(np.concatenate([np.column_stack(edge) for edge in edges]), size)
        low, top = np.floor(border.min(axis=0) + 1e-6), np.ceil(border.max(axis=0) - 1e-6)
        return np.asarray(low), (int(top[0] - low[0]), int(top[1] - low[1]))

    def _stretch(self, squared: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(1 + self.k1 * squared + self.k2 * squared**2)

    def _centre(self, size: Size) -> Points:
        return np.array([self.x * size[0], self.y * size[1]])

    def _farthest(self, size: Size) -> float:
        """Return how far the farthest corner of a picture is from the centre, in half diagonals."""
        away = np.maximum([self.x, self.y], [1 - self.x, 1 - self.y]) * size
        return float(np.hypot(*away)) / _reach(size)

    def __str__(self) -> str:
        return ",".join(f"{number:.5f}" for number in astuple(self))


def _reach(size: Size) -> float:
    return float(np.hypot(*size)) / 2


@lru_cache(maxsize=2)
def _way_back(lens: Lens, size: Size) -> tuple[NDArray[np.int16], NDArray[np.uint16]]:
    """Return for each pixel of a straightened picture where it was seen, as `cv2.remap` takes it."""
    start, (wide, high) = lens.room(size)
    rows, cols = np.indices((high, wide)).astype(np.float64)
    seen = lens.bent(np.column_stack([cols.ravel(), rows.ravel()]) + 0.5 + start, size) - 0.5
    x, y = seen.T.astype(np.float32).reshape(2, high, wide)
    across, down = cv2.convertMaps(x, y, cv2.CV_16SC2)
    return np.asarray(across, dtype=np.int16), np.asarray(down, dtype=np.uint16)


def split_lens(address: str) -> tuple[str, Lens | None]:
    """Return a camera's address without its lens, and the lens, None where it says none. Raises CameraAddressError."""
    place, _, query = address.partition("?")
    settings = [setting for setting in query.split("&") if setting]
    lenses = [setting for setting in settings if setting.partition("=")[0] == SETTING]
    if not lenses:
        return address, None
    if len(lenses) > 1:
        raise CameraAddressError("a setting occurs twice")
    left = "&".join(setting for setting in settings if setting not in lenses)
    return f"{place}?{left}" if left else place, parse_lens(lenses[0].partition("=")[2])


def with_lens(address: str, lens: Lens) -> str:
    """Return a camera's address with this lens instead of the one that it says."""
    plain, _ = split_lens(address)
    return f"{plain}{'&' if '?' in plain else '?'}{SETTING}={lens}"


def parse_lens(text: str) -> Lens:
    """Read `K1,K2,X,Y`. Raises CameraAddressError if no lens bends so."""
    try:
        k1, k2, x, y = (float(part) for part in text.split(","))
    except ValueError as error:
        raise CameraAddressError(f"lens={text}: it is four numbers with commas between, as 0.1,0,0.5,0.5") from error
    lens = Lens(k1, k2, x, y)
    if not all(map(isfinite, astuple(lens))) or not (_CENTRE[0] <= min(x, y) <= max(x, y) <= _CENTRE[1]):
        raise CameraAddressError(f"lens={text}: the centre lies in the middle half of the picture")
    if not lens.fits((4, 3)):
        raise CameraAddressError(f"lens={text}: no lens bends so")
    return lens


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
    """Return the chart's corners, pixels, shape (187, 2); None unless the whole chart is seen clearly."""
    grey = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)  # noqa: PLR2004 -- grey has two
    flags = cv2.CALIB_CB_NORMALIZE_IMAGE | cv2.CALIB_CB_ACCURACY
    found, corners = cv2.findChessboardCornersSB(grey, (COLUMNS, ROWS), flags=flags)
    return np.asarray(corners, dtype=np.float64).reshape(-1, 2) + 0.5 if found else None


def ninths_unseen(views: Sequence[Points], size: Size) -> Iterator[str]:
    """Yield the ninths of the picture with too few corners of the chart, those in the picture's corners first."""
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


def measure_lens(views: Sequence[Points], size: Size) -> MeasuredLens:
    """Fit a lens to the chart's corners in several pictures of one `size`, each shape (187, 2), pixels.

    Levenberg-Marquardt over the lens's four numbers; the best view of each picture follows from them.
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
    """Return the errors of all corners, in units of their noise, and how unusual the lens's centre is."""
    unit = _NOISE * float(np.hypot(*size)) / np.hypot(1920, 1080)
    unusual = (np.array([lens.x, lens.y]) - 0.5) / _CENTRE_PLAY
    return np.concatenate([_corners_off(lens, views, size).ravel() / unit, unusual])


def _pixels_off(lens: Lens, views: Sequence[Points], size: Size) -> float:
    return float(np.sqrt((_corners_off(lens, views, size) ** 2).sum(axis=1).mean()))


def _corners_off(lens: Lens, views: Sequence[Points], size: Size) -> Points:
    """Return how far from each corner the lens puts it, pixels, shape (n, 2), with the best view of each picture."""
    off = []
    for seen in views:
        way, _ = cv2.findHomography(_BOARD, lens.straight(seen, size), 0)
        off.append(lens.bent(project(np.asarray(way, dtype=np.float64), _BOARD), size) - seen)
    return np.concatenate(off)
