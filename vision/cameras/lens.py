"""A lens that bends straight lines, and pictures without its bend.

Where the lens puts a point, r away from its centre in shares of the picture's half diagonal, a straight one would have
put it r (1 + k1 r^2 + k2 r^4) away: Brown's radial model from the bent to the straight, with which `vision.plane` fits
its one number too. An address says it as `lens=K1,K2,X,Y`, the centre in shares of the picture's width and height.
"""

from dataclasses import astuple, dataclass
from functools import lru_cache
from math import isfinite

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.errors import CameraAddressError
from vision.geometry import Picture, Points

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
    """How a camera's lens bends: two numbers of the bend, and its centre in shares of width and height."""

    k1: float = 0.0
    k2: float = 0.0
    x: float = 0.5
    y: float = 0.5

    def straight(self, seen: Points, size: Size) -> Points:
        """Return where a straight lens would have put what is seen at pixels, shape (n, 2)."""
        centre, reach = self._centre(size), _reach(size)
        away = (seen - centre) / reach
        return np.asarray(centre + reach * away * self._stretch((away**2).sum(axis=1, keepdims=True)))

    def bent(self, straight: Points, size: Size) -> Points:
        """Return where the lens puts what a straight one would have put at pixels, shape (n, 2)."""
        centre, reach = self._centre(size), _reach(size)
        away = (straight - centre) / reach
        far = np.linalg.norm(away, axis=1, keepdims=True)
        nodes = np.linspace(0.0, _BEYOND * self._farthest(size), _NODES)
        near = np.interp(far, nodes * self._stretch(nodes**2), nodes)
        return np.asarray(centre + reach * away * (near / np.maximum(far, 1e-12)))

    def fits(self, size: Size) -> bool:
        """Return whether a lens can bend so: no two places of a picture come from one, and none is stretched away."""
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
    told = [setting for setting in settings if setting.partition("=")[0] == SETTING]
    if not told:
        return address, None
    if len(told) > 1:
        raise CameraAddressError("a setting is told twice")
    left = "&".join(setting for setting in settings if setting not in told)
    return f"{place}?{left}" if left else place, parse_lens(told[0].partition("=")[2])


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
