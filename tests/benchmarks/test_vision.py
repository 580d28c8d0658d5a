"""The benchmark counts correctly."""

from collections import Counter

import numpy as np
import pytest

from tests.benchmarks.vision.contest import serial_of
from tests.benchmarks.vision.drawn import Laid
from tests.benchmarks.vision.judging import Told, judge
from tests.benchmarks.vision.rapid import _words
from tests.benchmarks.vision.scenes import Scene, Tile
from vision.geometry import Quad

SQUARE = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]])
PICTURE = np.zeros((10, 40, 3), dtype=np.uint8)


def tile(left: float, serial: int, *, is_back: bool = True, readable: bool = True) -> Tile:
    return Tile(SQUARE + [left, 0.0], SQUARE + [left, 0.0], serial, is_back, readable)  # noqa: RUF005 - adds to points


def counted(*told: tuple[int, float]) -> Counter[str]:
    """Judge serials read at places from left to right: 7, 8 (not readable), 9 (face up), and nothing from 30 on."""
    tiles = (tile(0, 7), tile(10, 8, readable=False), tile(20, 9, is_back=False, readable=False))
    scene = Scene("three", PICTURE, "digits", "easy", "tray", tiles)
    return judge(scene, [Told(serial, np.array([at, 5.0])) for serial, at in told])


@pytest.mark.parametrize(
    ("told", "read", "wrong"),
    [
        ((), 0, 0),
        (((7, 5.0),), 1, 0),
        (((7, 5.0), (7, 6.0)), 1, 0),
        (((8, 5.0),), 0, 1),
        (((7, 5.0), (8, 5.0)), 1, 1),
        (((8, 15.0),), 0, 0),
        (((7, 15.0),), 0, 1),
        (((9, 25.0),), 0, 1),
        (((7, 35.0),), 0, 1),
    ],
)
def test_a_serial_that_the_truth_does_not_have_there_is_wrong(
    told: tuple[tuple[int, float], ...], read: int, wrong: int
) -> None:
    assert counted(*told) == Counter({"readable": 1, "read": read, "wrong": wrong})


@pytest.mark.parametrize(
    ("word", "serial"),
    [("117", 117), (" c007 ", 7), ("136", 136), ("137", None), ("000", None), ("17", None), ("1170", None), ("", None)],
)
def test_a_word_is_parsed_as_a_serial_as_it_is_written_on_a_back(word: str, serial: int | None) -> None:
    assert serial_of(word) == serial


def test_a_line_over_several_tiles_is_split_at_wide_gaps() -> None:
    places = [0, 1, 2, 4, 5, 6, 8, 9, 10]
    line = [(str(at), np.array([float(at), 0.0])) for at in places]
    assert ["".join(text for text, _ in word) for word in _words(line)] == ["012", "456", "8910"]


@pytest.mark.parametrize(("serial", "readable"), [(68, False), (100, False), (117, True), (2, True)])
def test_a_drawn_number_that_may_be_another_upside_down_need_not_be_read(serial: int, *, readable: bool) -> None:
    assert Laid(serial, SQUARE, SQUARE).seen(np.eye(3)).readable == readable


def test_a_tile_turns_with_its_plane() -> None:
    plane = np.zeros((40, 40), dtype=np.uint8)
    plane[0:10, 20:30] = 1
    quad: Quad = Laid(1, SQUARE, SQUARE).moved(20, 0).turned(40).quad
    rows, columns = np.nonzero(np.rot90(plane))
    assert (quad.min(axis=0).tolist(), quad.max(axis=0).tolist()) == (
        [columns.min(), rows.min()],
        [columns.max() + 1, rows.max() + 1],
    )
