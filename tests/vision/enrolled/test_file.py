"""The file of an enrolled set is small and viewable, and is refused unless it is complete and valid."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from tests.vision.enrolled.drawn_sets import drawn_set
from vision.enrolled.file import (
    MOST_BYTES,
    EnrolledSet,
    enrolled_bytes,
    enrolled_file,
    parse_enrolled,
    read_complete,
    read_enrolled,
    write_enrolled,
)
from vision.errors import EnrolledInvalidError, EnrolledMissingError, PictureError, VisionError
from vision.picture import decode_picture


def test_a_set_survives_the_round_trip_through_its_file(tmp_path: Path) -> None:
    path = enrolled_file(tmp_path, 3)
    write_enrolled(path, EnrolledSet(3, "C", drawn_set().backs))
    again = read_complete(path)
    assert (path.name, again.number, again.text, again.missing) == ("set-03.jpg", 3, "C", ())
    off = [np.abs(again.backs[serial].astype(int) - drawn_set().backs[serial]).mean() for serial in again.backs]
    assert max(off) < 1.2  # levels: the file is a JPEG


def test_the_file_is_a_small_picture_that_people_can_view() -> None:
    content = enrolled_bytes(drawn_set())
    sheet = decode_picture(content)
    assert sheet.shape == (8 * 128, 17 * 80, 3)
    below = sheet[2 * 128 + 112 : 3 * 128, 5 * 80 : 6 * 80].min(axis=2) < 100  # the sixth of row three
    assert [int(np.flatnonzero(below.any(axis=axis))[0]) for axis in (0, 1)] == [23, 3]
    assert len(content) < MOST_BYTES / 2


def test_an_incomplete_set_lists_the_missing_serials(tmp_path: Path) -> None:
    path = enrolled_file(tmp_path, 3)
    write_enrolled(path, drawn_set((1, 136)))
    assert read_enrolled(path).missing == tuple(range(2, 136))
    with pytest.raises(EnrolledInvalidError, match="lacks 134 of 136 tiles"):
        read_complete(path)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(EnrolledMissingError):
        read_enrolled(tmp_path / "set-03.jpg")


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xd8", b"rubbish" * 99, b"\xff\xd8\xff\xfe\x00\x00", b"\xff\xd8\xff\xfe\xff\xff{}"]
)
def test_rubbish_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "set-03.jpg"
    path.write_bytes(content)
    with pytest.raises(EnrolledInvalidError):
        read_enrolled(path)


def test_a_file_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "set-03.jpg"
    path.write_bytes(bytes(MOST_BYTES + 1))
    with pytest.raises(EnrolledInvalidError, match="longer"):
        read_enrolled(path)


def _with_comment(**changed: object) -> bytes:
    content = enrolled_bytes(drawn_set((1, 2)))
    end = 4 + int.from_bytes(content[4:6], "big")
    comment = json.dumps({**json.loads(content[6:end]), **changed}).encode()
    return b"\xff\xd8\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + content[end:]


@pytest.mark.parametrize(
    "changed",
    [
        {"schema": "homologue-enrolled-set/2"},
        {"set": 100},
        {"set": True},
        {"text": "C17"},
        {"text": 3},
        {"serials": [0]},
        {"serials": [137]},
        {"serials": ["1"]},
        {"serials": None},
        {"sha256": "0" * 64},
    ],
)
def test_the_header_is_validated(changed: dict[str, object]) -> None:
    assert parse_enrolled(_with_comment()).number == 3
    with pytest.raises(EnrolledInvalidError):
        parse_enrolled(_with_comment(**changed))


def test_a_changed_byte_or_a_missing_end_is_refused() -> None:
    content = enrolled_bytes(drawn_set((1, 2)))
    chance = random.Random(1)
    places = [0, 3, 4, 10, len(content) - 1, *(chance.randrange(len(content)) for _ in range(60))]
    for at in places:
        spoilt = content[:at] + bytes([content[at] ^ 0x20]) + content[at + 1 :]
        with pytest.raises(VisionError) as refused:
            parse_enrolled(spoilt)
        assert isinstance(refused.value, EnrolledInvalidError | PictureError)
    with pytest.raises(VisionError):
        parse_enrolled(content[: len(content) // 2])
