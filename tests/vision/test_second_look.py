"""What a second look reads, and what it may not."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.vision.test_pictures import HERE
from vision.detections import DetectedTile, Detections, TableLayout, TileMark, TilePosition
from vision.finder import find_tiles
from vision.geometry import Picture
from vision.marks.read import read_marks
from vision.picture import load_picture
from vision.reader import take_second_look

NUMBERED = "dev_005_tray-faulty"
UNREAD = TileMark(None, None, None, 0.0, np.full(2, np.nan))


@cache
def seen() -> tuple[Picture, tuple[DetectedTile, ...], tuple[TileMark, ...]]:
    """Return a picture, some tiles with their marks."""
    picture = load_picture(HERE / f"{NUMBERED}.jpg")
    found, marks = read_marks(picture, find_tiles(picture))
    read = [(tile, mark) for tile, mark in zip(found.tiles, marks, strict=True) if mark and mark.serial][::6]
    return picture, tuple(tile for tile, _ in read), tuple(mark for _, mark in read)


def look_again_at(tile: DetectedTile, mark: TileMark | None) -> TileMark | None:
    """Look again at one tile that lies in no tray; gives its mark after that."""
    layout = TableLayout((TilePosition(tile.quad, 0.0),), ())
    again = take_second_look(seen()[0], Detections((tile,), np.zeros((1, 1), np.uint8), 8.0), (mark,), layout)
    return again[1][0] if again else mark


def on_its_side(tile: DetectedTile) -> DetectedTile:
    """Exchange long and short ends, as the finder does where a tilted camera makes a tile look square."""
    middle = tile.quad.mean(axis=0)
    square = middle + (tile.quad - middle) @ np.diag([1.1, 0.9])
    return replace(tile, quad=np.roll(square, 1, axis=0))


@pytest.mark.parametrize("number", range(5))
def test_a_tile_whose_outline_lay_on_its_side_is_read_after_all(number: int) -> None:
    _, tiles, marks = seen()
    mark = look_again_at(on_its_side(tiles[number]), UNREAD)
    assert mark is not None
    assert mark.serial == marks[number].serial


def test_a_surer_look_does_not_overrule_one_that_made_out_another_number() -> None:
    _, tiles, marks = seen()
    other = replace(marks[0], serial=(marks[0].serial or 0) % 136 + 1, confidence=0.7)
    assert look_again_at(tiles[0], other) is other


def test_a_faint_look_is_overruled() -> None:
    _, tiles, marks = seen()
    faint = replace(marks[0], serial=(marks[0].serial or 0) % 136 + 1, confidence=0.2)
    mark = look_again_at(tiles[0], faint)
    assert mark is not None
    assert mark.serial == marks[0].serial


def test_a_picture_whose_tiles_are_all_read_tells_nothing_new() -> None:
    picture, tiles, marks = seen()
    layout = TableLayout(tuple(TilePosition(tile.quad, 0.0) for tile in tiles), ())
    assert take_second_look(picture, Detections(tiles, np.zeros((1, 1), np.uint8), 8.0), marks, layout) is None
