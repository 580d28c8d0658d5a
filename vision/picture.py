"""Load pictures, checking their size in the header before decoding them; sample colours; measure noise."""

import struct
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.errors import PictureEmptyError, PictureError, PictureMissingError, PictureTooLargeError
from vision.geometry import Picture, Points, Quad

_AXES, _CHANNELS = 3, 3
MOST_PIXELS = 50_000_000
MOST_BYTES = 100_000_000
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_HEADER = 24  # signature, length and name of the first chunk, width, height
_JPEG = b"\xff\xd8\xff"
# Start-of-frame markers hold the size; C4, C8 and CC do not. https://www.w3.org/Graphics/JPEG/itu-t81.pdf, B.1.1.3
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_MARKER = 0xFF
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD8)})  # markers without a length


def load_picture(path: Path) -> Picture:
    """Load a JPEG or PNG file as BGR, shape (height, width, 3), uint8.

    Raises PictureMissingError, PictureEmptyError, PictureTooLargeError (over 50 megapixels or 100 MB), or PictureError
    for anything else that is not a complete picture.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise PictureTooLargeError(f"the file is larger than {MOST_BYTES // 1_000_000} MB")
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise PictureMissingError("there is no such file") from error
    except OSError as error:
        raise PictureError(f"the file cannot be read: {error.strerror}") from error
    return decode_picture(content)


def check_picture(picture: Any) -> Picture:  # noqa: ANN401 -- a camera driver may return anything
    """Return the argument if it is a picture (BGR, shape (height, width, 3), uint8). Raises PictureError."""
    if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8:
        raise PictureError("a picture is an array of uint8")
    if picture.ndim != _AXES or picture.shape[2] != _CHANNELS or picture.size == 0:
        raise PictureError(f"a picture has the shape (height, width, 3), not {picture.shape}")
    return picture


def decode_picture(content: bytes) -> Picture:
    """Decode a JPEG or PNG. Raises PictureEmptyError, PictureTooLargeError (over 50 megapixels) and PictureError."""
    if not content:
        raise PictureEmptyError("the file is empty")
    size = picture_size(content)
    if size is None:
        raise PictureError("the file is neither a JPEG nor a PNG")
    width, height = size
    if width * height > MOST_PIXELS:
        raise PictureTooLargeError(f"{width} x {height} pixels are more than {MOST_PIXELS // 1_000_000} megapixels")
    if width * height == 0 or not _is_whole(content):
        raise PictureError("the picture is cut off or damaged")
    picture = cv2.imdecode(np.frombuffer(content, dtype=np.uint8), cv2.IMREAD_COLOR)
    if picture is None:
        raise PictureError("the picture is cut off or damaged")
    return np.asarray(picture, dtype=np.uint8)


def picture_size(content: bytes) -> tuple[int, int] | None:
    """Return the width and height given in the header of a JPEG or PNG; None if there is no such header."""
    if content.startswith(_PNG) and len(content) >= _PNG_HEADER:
        width, height = struct.unpack(">II", content[16:_PNG_HEADER])
        return int(width), int(height)
    return _jpeg_size(content) if content.startswith(_JPEG) else None


def _jpeg_size(content: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(content) and content[at] == _MARKER:
        marker = content[at + 1]
        if marker in _START_OF_FRAME:
            height, width = struct.unpack(">HH", content[at + 5 : at + 9])
            return int(width), int(height)
        if marker == _MARKER or marker in _WITHOUT_LENGTH:  # 0xFF may be repeated before a marker
            at += 1 if marker == _MARKER else 2
            continue
        at += 2 + int(struct.unpack(">H", content[at + 2 : at + 4])[0])
    return None


def _is_whole(content: bytes) -> bool:
    """Return whether the file has its end marker: OpenCV silently fills the rest of a truncated picture with grey."""
    tail = content[-4096:]  # cameras append a few bytes of their own
    return (b"IEND" if content.startswith(_PNG) else b"\xff\xd9") in tail


Colours = NDArray[np.float32]  # shape (n, m, 3), CIE L*a*b*: L 0..100, a and b about -100..100

_EDGE, _INNER = 0.09, 0.24  # margins, as shares of a tile: inside its rounded edge, and outside its print
CORE_SIDE = 20


def _grid(margin: float, side: int) -> Points:
    at = margin + (np.arange(side) + 0.5) / side * (1 - 2 * margin)
    x, y = np.meshgrid(at, at)
    return np.column_stack([x.ravel(), y.ravel()])


# Sample points on a tile's back, in shares of its width and height, shape (m, 2): all of it, its rim, and its middle.
BACK: Points = _grid(_EDGE, 10)
RIM: Points = BACK[np.abs(BACK - 0.5).max(axis=1) > 0.5 - _INNER]
CORE: Points = _grid(0.2, CORE_SIDE)  # CORE_SIDE rows of CORE_SIDE points


def points_on(quads: Quad, shares: Points) -> Points:
    """Return the points at `shares`, shape (m, 2), of each quad, shape (n, 4, 2), in pixels; shape (n, m, 2)."""
    x, y = shares[:, 0], shares[:, 1]
    weights = np.stack([(1 - x) * (1 - y), x * (1 - y), x * y, (1 - x) * y])
    return np.asarray(np.einsum("km,nkc->nmc", weights, quads))


def colours_on(picture: Picture, quads: Quad, shares: Points) -> Colours:
    """Return the colours at `shares` of each quad, shape (n, m, 3), L*a*b*; outside the picture those of its border."""
    if not len(quads):
        return np.zeros((0, len(shares), 3), dtype=np.float32)
    bgr = colours_at(picture, points_on(quads, shares))
    lab = cv2.cvtColor(bgr.reshape(len(quads), -1, 3).astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
    return np.asarray(lab, dtype=np.float32)


def colours_at(picture: Picture, points: Points) -> Picture:
    """Return the pixel values at points, shape (..., 2); beyond the border, those of the nearest pixel."""
    height, width = picture.shape[:2]
    x = np.clip(points[..., 0], 0, width - 1).astype(int)
    y = np.clip(points[..., 1], 0, height - 1).astype(int)
    return np.asarray(picture[y, x])


# The difference of two Laplacians ignores edges and gradients and leaves only noise, which it multiplies by 6.
# J. Immerkaer, "Fast noise variance estimation", Computer Vision and Image Understanding 64 (1996).
_SECOND_DIFFERENCES = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], dtype=np.float32)
_DEVIATION = 1 / (6 * 0.6745)  # the median absolute value of a normal distribution is 0.6745 of its deviation


def noise_of(grey: Picture) -> float:
    """Return the standard deviation of the noise in a grey picture, in levels."""
    return _DEVIATION * float(np.median(np.abs(cv2.filter2D(grey, cv2.CV_32F, _SECOND_DIFFERENCES))))
