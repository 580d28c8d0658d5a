"""The file of an enrolled set: a JPEG that people can look at, showing each tile's back with its serial below.

The JPEG's comment holds the rest as JSON: the schema, the number of the set, its letter or number on the backs, the
enrolled serials, and a hash of the picture. Any other file is refused. The file shows backs and serials, which are not
secret, but no faces.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np

from vision.enrolled.likeness import SetPictures
from vision.errors import EnrolledInvalidError, EnrolledMissingError, PictureError
from vision.geometry import Picture
from vision.marks.digits import CROP
from vision.picture import decode_picture
from vision.reading import LAST_SERIAL, LAST_SET
from vision.sheets.registry import locked_folder, private_file

SCHEMA: Final = "homologue-enrolled-set/1"
MOST_BYTES: Final = 2_000_000
_COLUMNS, _ROWS = 17, 8
_CELL: Final = (CROP[0], CROP[1] + 16)  # pixels: a back with its serial below; a multiple of JPEG's blocks
_SIZE: Final = (_COLUMNS * _CELL[0], _ROWS * _CELL[1])
_QUALITY: Final = [
    *(cv2.IMWRITE_JPEG_QUALITY, 95),
    *(cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444),
]
_START, _COMMENT = b"\xff\xd8", b"\xff\xfe"
_HEADER_BYTES: Final = 6  # bytes: start, marker, length


@dataclass(frozen=True, eq=False)
class EnrolledSet:
    """The pictures of a set: `backs` by serial, as cut by `cut_backs`, shape (112, 80, 3), each upright.

    `text` is the set's letter or two digits on its backs; None if they name no set.
    """

    number: int
    text: str | None
    backs: Mapping[int, Picture]

    @property
    def missing(self) -> tuple[int, ...]:
        """The serials without a picture."""
        return tuple(serial for serial in range(1, LAST_SERIAL + 1) if serial not in self.backs)

    @cached_property
    def pictures(self) -> SetPictures:
        """The pictures, prepared for comparison; there must be at least one."""
        return SetPictures(np.stack(list(self.backs.values())), list(self.backs))


def enrolled_file(folder: Path, number: int) -> Path:
    """Return the path of a set's pictures in a folder."""
    return folder / f"set-{number:02d}.jpg"


def read_enrolled(path: Path) -> EnrolledSet:
    """Read and validate a file. Raises EnrolledMissingError, EnrolledInvalidError."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise EnrolledInvalidError(f"{path.name} is longer than the pictures of a set can be")
        content = path.read_bytes()
    except FileNotFoundError:
        raise EnrolledMissingError(f"there is no {path}: `homologue set enrol` makes it") from None
    except OSError as error:
        raise EnrolledInvalidError(f"{path.name} cannot be read: {error.strerror}") from None
    try:
        return parse_enrolled(content)
    except (EnrolledInvalidError, PictureError) as error:
        raise EnrolledInvalidError(f"{path.name} holds no pictures of a set: {error}") from None


def read_complete(path: Path) -> EnrolledSet:
    """Read the file of a completely enrolled set. Raises as `read_enrolled`, also if any tile has no picture."""
    enrolled = read_enrolled(path)
    if enrolled.missing:
        raise EnrolledInvalidError(f"{path.name} lacks {len(enrolled.missing)} of {LAST_SERIAL} tiles: enrol them too")
    return enrolled


def parse_enrolled(content: bytes) -> EnrolledSet:
    """Return the set in a file's content. Raises EnrolledInvalidError, PictureError."""
    comment, picture = _split_comment(content)
    try:
        header = json.loads(comment)
    except (ValueError, RecursionError):
        raise EnrolledInvalidError("its comment is not JSON") from None
    number, text, serials = _validated_header(header, hashlib.sha256(picture).hexdigest())
    sheet = decode_picture(picture)
    if sheet.shape[:2] != _SIZE[::-1]:
        raise EnrolledInvalidError("its picture has another size")
    return EnrolledSet(number, text, {serial: _cell(sheet, serial)[: CROP[1]].copy() for serial in serials})


def _split_comment(content: bytes) -> tuple[bytes, bytes]:
    """Split a JPEG into its first comment and the JPEG without it."""
    length = int.from_bytes(content[4:_HEADER_BYTES], "big")
    end = 4 + length
    if content[:4] != _START + _COMMENT or length < 2 or end > len(content):  # noqa: PLR2004 - the length's own bytes
        raise EnrolledInvalidError("it is not a picture with a comment")
    return content[_HEADER_BYTES:end], _START + content[end:]


def _validated_header(header: Any, digest: str) -> tuple[int, str | None, Sequence[int]]:  # noqa: ANN401 - JSON may be anything
    if not isinstance(header, dict) or header.get("schema") != SCHEMA:
        raise EnrolledInvalidError(f"it is not of the kind {SCHEMA}")
    number, text, serials = header.get("set"), header.get("text"), header.get("serials")
    if type(number) is not int or not 0 <= number <= LAST_SET:
        raise EnrolledInvalidError(f"its set is no number from 0 to {LAST_SET}")
    if not (text is None or (isinstance(text, str) and 1 <= len(text) <= 2 and text.isascii() and text.isalnum())):  # noqa: PLR2004 - two digits
        raise EnrolledInvalidError("what its backs call the set is neither a letter nor two digits")
    if not isinstance(serials, list) or not all(type(one) is int and 1 <= one <= LAST_SERIAL for one in serials):
        raise EnrolledInvalidError(f"its serials are not numbers from 1 to {LAST_SERIAL}")
    if header.get("sha256") != digest:
        raise EnrolledInvalidError("its picture is not the one that was written")
    return number, text, sorted(set(serials))


def enrolled_bytes(enrolled: EnrolledSet) -> bytes:
    """Return the content of the file for a set."""
    sheet: Picture = np.full((_SIZE[1], _SIZE[0], 3), 255, dtype=np.uint8)
    for serial, back in enrolled.backs.items():
        cell = _cell(sheet, serial)
        cell[: CROP[1]] = back
        cv2.putText(cell, f"{serial:03d}", (22, CROP[1] + 13), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 0, 0), 1, cv2.LINE_AA)
    picture = cv2.imencode(".jpg", sheet, _QUALITY)[1].tobytes()
    header = {
        "schema": SCHEMA,
        "set": enrolled.number,
        "text": enrolled.text,
        "serials": sorted(enrolled.backs),
        "sha256": hashlib.sha256(picture).hexdigest(),
    }
    comment = json.dumps(header).encode("ascii")
    return _START + _COMMENT + (len(comment) + 2).to_bytes(2, "big") + comment + picture[2:]


def _cell(sheet: Picture, serial: int) -> Picture:
    row, column = divmod(serial - 1, _COLUMNS)
    return sheet[row * _CELL[1] : (row + 1) * _CELL[1], column * _CELL[0] : (column + 1) * _CELL[0]]


def write_enrolled(path: Path, enrolled: EnrolledSet) -> None:
    """Write a file atomically: an old file stays until the new one is completely written. Raises UnwritableError."""
    with locked_folder(path.parent), private_file(path, enrolled_bytes(enrolled)):
        pass
