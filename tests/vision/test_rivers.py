"""Rivers and hands read from drawn pictures: in their order, with gaps, whichever way the camera is turned."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from tests.vision.river_pictures import hand_picture, river_picture
from vision.errors import RiverUnclearError
from vision.geometry import Picture
from vision.reader import read_picture
from vision.rivers import HandRead, RiverRead, read_hand, read_river

RIVER: Final = (12, 45, 0, 99, 100, 101, 3, 4, 5, 6, 0, 8, 9, 10)

TURNS: Final[dict[str, Callable[[Picture], Picture]]] = {
    "as it lies": lambda picture: picture,
    "from the left": lambda picture: np.asarray(cv2.rotate(picture, cv2.ROTATE_90_CLOCKWISE), dtype=np.uint8),
    "from opposite": lambda picture: np.asarray(cv2.rotate(picture, cv2.ROTATE_180), dtype=np.uint8),
}


def river_of(picture: Picture) -> RiverRead:
    return read_river(picture, read_picture(picture, close=False).reads)


@pytest.mark.parametrize("turn", TURNS)
def test_a_river_is_read_in_its_order_with_its_gaps(turn: str) -> None:
    assert river_of(TURNS[turn](river_picture(RIVER))) == RiverRead(RIVER, gaps=True)


def test_a_covered_number_is_a_tile_and_no_gap() -> None:
    picture = river_picture(RIVER)
    quad = next(read.quad for read in read_picture(picture, close=False).reads if read.serial == 100)
    (left, top), (right, bottom) = np.min(quad, axis=0), np.max(quad, axis=0)
    inner = (slice(int(top) + 12, int(bottom) - 12), slice(int(left) + 12, int(right) - 12))
    picture[inner] = picture[int(bottom) - 10, int(left) + 20]
    assert river_of(picture).serials == tuple(None if serial == 100 else serial for serial in RIVER)


def test_what_is_neither_tile_nor_table_is_refused_in_rivers_and_hands_alike() -> None:
    picture = river_picture(RIVER)
    reads = [
        replace(read, serial=None) if read.serial == 100 else read for read in read_picture(picture, close=False).reads
    ]
    quad = next(read.quad for read in reads if read.serial is None)
    cv2.fillConvexPoly(picture, np.array(quad, dtype=np.int32), (40, 40, 220))
    for read in (read_river, read_hand):
        with pytest.raises(RiverUnclearError, match="neither"):
            read(picture, reads)


def test_where_no_tile_that_was_read_lies_beside_the_bare_table_none_is_dropped_for_a_piece_of_it() -> None:
    picture = river_picture(range(1, 19))
    reads = [
        read if read.serial in (8, 9, 10, 11) else replace(read, serial=None)
        for read in read_picture(picture, close=False).reads
    ]
    for read in (read_river, read_hand):
        with pytest.raises(RiverUnclearError, match="no bare table"):
            read(picture, reads)


def test_a_few_tiles_alone_are_read() -> None:
    assert river_of(river_picture([19, 76, 12])).serials == (19, 76, 12)


def test_without_a_first_and_a_sixth_tile_a_gap_may_be_overlooked() -> None:
    assert river_of(river_picture([0, 45, 7, 99, 100, 0, 0, 4, 5, 6, 11, 0, 0, 2])).gaps is False


def test_what_lies_in_no_rows_of_six_is_refused() -> None:
    picture = hand_picture([range(20, 33)])
    twice = np.vstack([picture[:300], picture])
    with pytest.raises(RiverUnclearError):
        river_of(np.asarray(twice[: picture.shape[0]], dtype=np.uint8))


def test_a_hand_lies_before_its_melds_and_a_winning_tile_after_them() -> None:
    picture = hand_picture([range(20, 24), (1, 2, 3), (4, 5, 6), (55, 56, 57, 58), [7]])
    held = read_hand(picture, read_picture(picture, close=False).reads)
    assert held == HandRead((20, 21, 22, 23), ((1, 2, 3), (4, 5, 6), (55, 56, 57, 58)), 7)


def test_the_command_prints_what_the_search_takes(tmp_path: Path) -> None:
    river, hand = tmp_path / "river.png", tmp_path / "hand.png"
    cv2.imwrite(str(river), river_picture(RIVER))
    cv2.imwrite(str(hand), hand_picture([range(20, 30), (1, 2, 3), [7]]))
    said = ["record", "laid", "--river", "east", str(river), "--hand", "east", str(hand)]
    done = CliRunner().invoke(homologue, said)
    assert json.loads(done.stdout) == {
        "seats": {"east": {"river": [*RIVER], "gaps": True, "hand": [*range(20, 30)], "melds": [[1, 2, 3]]}},
        "winning": 7,
    }


def test_a_picture_without_tiles_is_refused(tmp_path: Path) -> None:
    bare = tmp_path / "bare.png"
    cv2.imwrite(str(bare), river_picture([]))
    done = CliRunner().invoke(homologue, ["record", "laid", "--river", "east", str(bare)])
    assert (done.exit_code, "[river_unclear]" in done.stderr) == (1, True)
