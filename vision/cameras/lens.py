"""Lens distortion: its model, straightening pictures, and measuring it.

A point that the lens shows at distance r from its centre, in shares of the picture's half diagonal, would be at
distance r (1 + k1 r^2 + k2 r^4) without distortion. This is Brown's radial model, from distorted to straight; the plane
of the backs (`vision.geometry`) uses its first coefficient. In a camera's address it is written `lens=K1,K2,X,Y`, with
the centre in shares of the picture's width and height.

The lens is measured from pictures of a chessboard chart, whose straight lines must become straight. The chart may have
any size, be printed or shown on a flat screen, and lie at any angle: each picture has its own view of it, and all share
the lens.
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
_NODES = 4096  # points of the interpolated inverse, which is off by less than a thousandth of a pixel
_BEYOND = 1.02  # distance to which the model is checked, relative to the farthest corner of the picture
_WIDEST = 2.0  # largest factor by which a picture may become wider or higher
_STEEPEST = 0.2  # least slope of straight over distorted distance; at a negative one, two points would coincide
_CENTRE = (0.25, 0.75)  # range of the centre, in shares of the picture
_GREY = (128, 128, 128)  # fill for areas that the camera did not see, the same as the finder's padding


@dataclass(frozen=True, slots=True)
class Lens:
    """Radial distortion of a lens: two coefficients, and its centre in shares of width and height."""

    k1: float = 0.0
    k2: float = 0.0
    x: float = 0.5
    y: float = 0.5

    def undistort(self, seen: Points, size: Size) -> Points:
        """Return the undistorted positions of pixels, shape (n, 2)."""
        centre, reach = self._centre(size), _reach(size)
        away = (seen - centre) / reach
        return np.asarray(centre + reach * away * self._stretch((away**2).sum(axis=1, keepdims=True)))

    def distort(self, straight: Points, size: Size) -> Points:
        """Return where the lens shows undistorted positions, shape (n, 2), pixels."""
        centre, reach = self._centre(size), _reach(size)
        away = (straight - centre) / reach
        far = np.linalg.norm(away, axis=1, keepdims=True)
        nodes = np.linspace(0.0, _BEYOND * self._farthest(size), _NODES)
        near = np.interp(far, nodes * self._stretch(nodes**2), nodes)
        return np.asarray(centre + reach * away * (near / np.maximum(far, 1e-12)))

    def fits(self, size: Size) -> bool:
        """Return whether this distortion is possible: no point is shown twice, and no part is stretched too far."""
        at = np.linspace(0.0, _BEYOND * self._farthest(size), 256) ** 2
        stretch = self._stretch(at)
        return bool((1 + 3 * self.k1 * at + 5 * self.k2 * at**2).min() > _STEEPEST and stretch.max() < _WIDEST)

    def undistort_picture(self, picture: Picture) -> Picture:
        """Return the picture without distortion, at the same scale in the middle.

        It is made larger where necessary, so that it contains everything that the camera saw.
        """
        across, down = _remap_tables(self, (picture.shape[1], picture.shape[0]))
        flat = cv2.remap(picture, across, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=_GREY)
        return np.asarray(flat, dtype=np.uint8)

    def straightened_frame(self, size: Size) -> tuple[Points, Size]:
        """Return the origin of the straightened picture in pixels, shape (2,), and its size, for a camera of `size`."""
        wide, high = size
        across, down = np.linspace(0, wide, 64), np.linspace(0, high, 64)
        edges = [(across, 0 * across), (across, 0 * across + high), (0 * down, down), (0 * down + wide, down)]
        border = self.undistort(np.concatenate([np.column_stack(edge) for edge in edges]), size)
        low, top = np.floor(border.min(axis=0) + 1e-6), np.ceil(border.max(axis=0) - 1e-6)
        return np.asarray(low), (int(top[0] - low[0]), int(top[1] - low[1]))

    def _stretch(self, squared: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(1 + self.k1 * squared + self.k2 * squared**2)

    def _centre(self, size: Size) -> Points:
        return np.array([self.x * size[0], self.y * size[1]])

    def _farthest(self, size: Size) -> float:
        """Return the distance of the picture's farthest corner from the centre, in half diagonals."""
        away = np.maximum([self.x, self.y], [1 - self.x, 1 - self.y]) * size
        return float(np.hypot(*away)) / _reach(size)

    def __str__(self) -> str:
        return ",".join(f"{number:.5f}" for number in astuple(self))


def _reach(size: Size) -> float:
    return float(np.hypot(*size)) / 2


@lru_cache(maxsize=2)
def _remap_tables(lens: Lens, size: Size) -> tuple[NDArray[np.int16], NDArray[np.uint16]]:
    """Return for each pixel of a straightened picture where the camera saw it, as maps for `cv2.remap`."""
    start, (wide, high) = lens.straightened_frame(size)
    rows, cols = np.indices((high, wide)).astype(np.float64)
    seen = lens.distort(np.column_stack([cols.ravel(), rows.ravel()]) + 0.5 + start, size) - 0.5
    x, y = seen.T.astype(np.float32).reshape(2, high, wide)
    across, down = cv2.convertMaps(x, y, cv2.CV_16SC2)
    return np.asarray(across, dtype=np.int16), np.asarray(down, dtype=np.uint16)


def split_lens(address: str) -> tuple[str, Lens | None]:
    """Split a camera's address into the address without its lens and the lens, or None. Raises CameraAddressError."""
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
    """Return a camera's address with this lens, replacing any that it has."""
    plain, _ = split_lens(address)
    return f"{plain}{'&' if '?' in plain else '?'}{SETTING}={lens}"


def parse_lens(text: str) -> Lens:
    """Parse `K1,K2,X,Y`. Raises CameraAddressError if no lens can have these values."""
    try:
        k1, k2, x, y = (float(part) for part in text.split(","))
    except ValueError as error:
        raise CameraAddressError(f"lens={text}: it is four numbers with commas between, as 0.1,0,0.5,0.5") from error
    lens = Lens(k1, k2, x, y)
    if not all(map(isfinite, astuple(lens))) or not (_CENTRE[0] <= min(x, y) <= max(x, y) <= _CENTRE[1]):
        raise CameraAddressError(f"lens={text}: the centre lies in the middle half of the picture")
    if not lens.fits((4, 3)):
        raise CameraAddressError(f"lens={text}: no lens has these values")
    return lens


COLUMNS, ROWS = 17, 11
"""Number of inner corners of the chart, where four squares meet."""

_SIDE = 140  # pixels of a square: 14 mm on A4 paper, which leaves a margin that every printer can print
_A4 = (2970, 2100)
_THIRDS = 3
_SEEN = 12  # corners needed in each ninth of the picture, over all pictures
_ROUNDS = 30
_STEP = 1e-5
_STILL = 1e-7  # a smaller step ends the fit
_CENTRE_PLAY = 0.04  # usual deviation of a lens's centre, in shares; a prior, as weak distortion does not show it
_NOISE = 0.3  # pixels: usual error of a corner, at 1920 x 1080
_CLEAR = 1 / 1100  # largest remaining error, in half diagonals: a pixel at 1920 x 1080
_BOARD: Points = np.array([[col, row] for row in range(ROWS) for col in range(COLUMNS)], dtype=np.float64)

NINTHS: Final = ("top_left", "top", "top_right", "left", "middle", "right", "bottom_left", "bottom", "bottom_right")
"""The names of a picture's ninths, row by row."""


def draw_chart() -> Picture:
    """Draw the chart for a sheet of A4 paper in landscape format."""
    page = np.full((_A4[1], _A4[0]), 255, dtype=np.uint8)
    squares = np.indices((ROWS + 1, COLUMNS + 1)).sum(axis=0) % 2 * 255
    board = squares.repeat(_SIDE, axis=0).repeat(_SIDE, axis=1)
    top, left = (_A4[1] - board.shape[0]) // 2, (_A4[0] - board.shape[1]) // 2
    page[top : top + board.shape[0], left : left + board.shape[1]] = board
    return page


def find_chart(picture: Picture) -> Points | None:
    """Return the chart's corners, pixels, shape (187, 2); None unless the whole chart is clearly visible."""
    grey = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)  # noqa: PLR2004 -- grey has two
    flags = cv2.CALIB_CB_NORMALIZE_IMAGE | cv2.CALIB_CB_ACCURACY
    found, corners = cv2.findChessboardCornersSB(grey, (COLUMNS, ROWS), flags=flags)
    return np.asarray(corners, dtype=np.float64).reshape(-1, 2) + 0.5 if found else None


def unseen_ninths(views: Sequence[Points], size: Size) -> Iterator[str]:
    """Yield the ninths of the picture where too few corners of the chart were seen, the outer corners first."""
    places = np.concatenate([np.zeros((0, 2)), *views])
    ninth = np.clip(places / size * _THIRDS, 0, _THIRDS - 1).astype(int) @ [1, _THIRDS]
    seen = np.bincount(ninth, minlength=len(NINTHS)) >= _SEEN
    for number in (0, 2, 8, 6, 1, 5, 7, 3, 4):
        if not seen[number]:
            yield NINTHS[number]


@dataclass(frozen=True, slots=True)
class MeasuredLens:
    """A measured lens, with the root mean square error of the chart's corners in pixels, without and with it."""

    lens: Lens
    before: float
    after: float


def measure_lens(views: Sequence[Points], size: Size) -> MeasuredLens:
    """Fit a lens to the chart's corners in several pictures of one `size`, each shape (187, 2), pixels.

    Levenberg-Marquardt over the lens's four parameters; the best view of each picture follows from them. Raises
    LensUnclearError if no lens explains all pictures, or if the lens found is not valid in an address.
    """
    parameters, damping, better = np.array(astuple(Lens())), 1e-3, True
    errors = _weighted_errors(Lens(), views, size)
    before = _rms_error(Lens(), views, size)
    for _ in range(_ROUNDS):
        if better:
            lenses = [Lens(*moved) for moved in parameters + _STEP * np.eye(len(parameters))]
            jacobian = np.column_stack([(_weighted_errors(lens, views, size) - errors) / _STEP for lens in lenses])
            normal = jacobian.T @ jacobian
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-9), -jacobian.T @ errors)
        tried = Lens(*(parameters + step))
        new = _weighted_errors(tried, views, size) if tried.fits(size) else errors + np.inf
        better = bool((new**2).sum() < (errors**2).sum())
        damping = damping / 10 if better else damping * 10
        if better:
            parameters, errors = parameters + step, new
        if np.abs(step).max() < _STILL:
            break
    lens = Lens(*(float(number) for number in parameters))
    found = MeasuredLens(lens, before, _rms_error(lens, views, size))
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


def _weighted_errors(lens: Lens, views: Sequence[Points], size: Size) -> NDArray[np.float64]:
    """Return the errors of all corners in units of their noise, followed by those of the lens's centre (a prior)."""
    unit = _NOISE * float(np.hypot(*size)) / np.hypot(1920, 1080)
    unusual = (np.array([lens.x, lens.y]) - 0.5) / _CENTRE_PLAY
    return np.concatenate([_corner_errors(lens, views, size).ravel() / unit, unusual])


def _rms_error(lens: Lens, views: Sequence[Points], size: Size) -> float:
    return float(np.sqrt((_corner_errors(lens, views, size) ** 2).sum(axis=1).mean()))


def _corner_errors(lens: Lens, views: Sequence[Points], size: Size) -> Points:
    """Return the errors of all corners with this lens and the best view of each picture, pixels, shape (n, 2)."""
    errors = []
    for seen in views:
        homography, _ = cv2.findHomography(_BOARD, lens.undistort(seen, size), 0)
        errors.append(lens.distort(project(np.asarray(homography, dtype=np.float64), _BOARD), size) - seen)
    return np.concatenate(errors)
