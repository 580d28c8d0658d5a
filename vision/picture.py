"""A picture file, checked before it is decoded: what it claims to be costs nothing to read."""

import struct
from pathlib import Path

import cv2
import numpy as np

from vision.errors import PictureEmptyError, PictureError, PictureMissingError, PictureTooLargeError
from vision.geometry import Picture

MOST_PIXELS = 50_000_000
MOST_BYTES = 100_000_000
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_HEADER = 24  # signature, length and name of the first chunk, width, height
_JPEG = b"\xff\xd8\xff"
# Start-of-frame markers hold the size; C4, C8 and CC are tables. https://www.w3.org/Graphics/JPEG/itu-t81.pdf, B.1.1.3
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_MARKER = 0xFF
_BARE = frozenset({0x01, *range(0xD0, 0xD8)})  # markers without a length


def load_picture(path: Path) -> Picture:
    """Load a JPEG or PNG file as BGR, shape (height, width, 3), uint8.

    Raises PictureMissingError, PictureEmptyError, PictureTooLargeError (over 50 megapixels or 100 MB) and
    PictureError for anything else that is no whole picture.
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


def decode_picture(content: bytes) -> Picture:
    """Decode a JPEG or PNG; the errors are those of `load_picture`."""
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
    """Return width and height as the header of a JPEG or PNG claims them; None when there is no such header."""
    if content.startswith(_PNG) and len(content) >= _PNG_HEADER:
        width, height = struct.unpack(">II", content[16:_PNG_HEADER])
        return int(width), int(height)
    return _jpeg_size(content) if content.startswith(_JPEG) else None


def _jpeg_size(content: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(content) and content[at] == _MARKER:
        marker = content[at + 1]
        if marker in _FRAMES:
            height, width = struct.unpack(">HH", content[at + 5 : at + 9])
            return int(width), int(height)
        if marker == _MARKER or marker in _BARE:  # 0xFF may be repeated before a marker
            at += 1 if marker == _MARKER else 2
            continue
        at += 2 + int(struct.unpack(">H", content[at + 2 : at + 4])[0])
    return None


def _is_whole(content: bytes) -> bool:
    """Return whether the file has its end: OpenCV fills the rest of a cut-off picture with grey and says nothing."""
    tail = content[-4096:]  # cameras append a few bytes of their own
    return (b"IEND" if content.startswith(_PNG) else b"\xff\xd9") in tail
