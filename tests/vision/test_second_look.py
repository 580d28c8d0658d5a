"""What a second look reads, and what it may not."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.vision.test_pictures import HERE
from vision.finder import DetectedTile, Detections, find_tiles
from vision.geometry import Picture, Quad
from vision.layout import LaidOutPlace, LaidOutTray, TableLayout, TilePosition
from vision.marks import TileMark
from vision.marks.digits import cut_backs, look_at_crops_twice
from vision.marks.read import read_marks
from vision.picture import load_picture
from vision.reader import look_beside_trays, take_second_look
from vision.reading import PlaceState

NUMBERED = "dev_005_tray-faulty"
UNREAD = TileMark(None, None, None, 0.0, np.full(2, np.nan))
THING = np.array([[0.0, 0.0], [40.0, 0.0], [40.0, 54.0], [0.0, 54.0]])


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
    faint = replace(marks[1], serial=(marks[1].serial or 0) % 136 + 1, confidence=0.2)
    mark = look_again_at(tiles[1], faint)
    assert mark is not None
    assert mark.serial == marks[1].serial


@pytest.mark.parametrize(("state", "read"), [(PlaceState.BACK, True), (PlaceState.EMPTY, False)])
def test_a_back_of_a_tray_that_was_overlooked_is_read_in_its_place(state: PlaceState, *, read: bool) -> None:
    picture, tiles, marks = seen()
    tray = LaidOutTray(None, (LaidOutPlace(0, 0, state, None, tiles[0].quad),), 0.0)
    lies = tuple(TilePosition(tile.quad, 0.0, None, 0, at) for at, tile in enumerate(tiles[1:], 1))
    found = Detections(tiles[1:], np.zeros((1, 1), np.uint8), 8.0)
    again = take_second_look(picture, found, marks[1:], TableLayout(lies, (tray,)))
    serials = [mark.serial for mark in again[1] if mark] if again else []
    assert serials == ([mark.serial for mark in (*marks[1:], marks[0])] if read else [])


def test_a_picture_whose_tiles_are_all_read_tells_nothing_new() -> None:
    picture, tiles, marks = seen()
    layout = TableLayout(tuple(TilePosition(tile.quad, 0.0) for tile in tiles), ())
    assert take_second_look(picture, Detections(tiles, np.zeros((1, 1), np.uint8), 8.0), marks, layout) is None


def look_beside_at(
    quad: Quad, said: TileMark | None = None, things: int = 0
) -> tuple[DetectedTile, TileMark | None] | None:
    """Look again at the first tile, read along an outline, as if it lay beside a tray of the others, after `things`."""
    picture, tiles, marks = seen()
    tray = range(things + 1, things + len(tiles))
    sites = tuple(LaidOutPlace(0, at, PlaceState.BACK, at, tiles[at - things].quad) for at in tray)
    lies = (
        *[TilePosition(THING, 0.0)] * things,
        TilePosition(quad, 0.0),
        *(TilePosition(tiles[at - things].quad, 0.0, None, 0, at) for at in tray),
    )
    layout = TableLayout(lies, (LaidOutTray(None, sites, 0.0),), unlike=frozenset({things}))
    before = said or look_at_crops_twice(cut_backs(picture, [quad]))[0].mark
    seen_there = (*[replace(tiles[0], quad=THING)] * things, replace(tiles[0], quad=quad), *tiles[1:])
    found = Detections(seen_there, np.zeros((1, 1), np.uint8), 8.0)
    again = look_beside_trays(picture, found, (*[UNREAD] * things, before, *marks[1:]), layout)
    return (again[0].tiles[things], again[1][things]) if again else None


@pytest.mark.parametrize("things", [0, 12])
def test_a_tile_beside_a_tray_whose_outline_was_too_wide_has_its_own_again(things: int) -> None:
    _, tiles, marks = seen()
    right = tiles[0].quad
    wide = right + 0.15 * np.array([[-1.0], [1.0], [1.0], [-1.0]]) * (right[1] - right[0])
    again = look_beside_at(wide, things=things)  # as many outlines as are looked at
    assert again is not None
    tile, mark = again
    assert mark is not None
    assert mark.serial == marks[0].serial
    away = min(np.abs(tile.quad - np.roll(right, turn, axis=0)).max() for turn in (0, 2))
    assert away < 0.05 * np.linalg.norm(right[1] - right[0])


def test_what_reads_otherwise_in_the_outline_of_a_tile_stays_what_it_was() -> None:
    _, tiles, marks = seen()
    other = replace(marks[0], serial=(marks[0].serial or 0) % 136 + 1, confidence=0.99)
    assert look_beside_at(tiles[0].quad, other) is None


@pytest.mark.parametrize("large", [0.75, 1.3, 1.8])
def test_an_outline_of_another_size_beside_a_tray_becomes_as_large_as_the_trays_tiles(large: float) -> None:
    _, tiles, marks = seen()
    right = tiles[0].quad
    middle = right.mean(axis=0)
    again = look_beside_at(middle + large * (right - middle), UNREAD)
    assert again is not None
    tile, mark = again
    assert mark is not None
    assert mark.serial == marks[0].serial
    away = min(np.abs(tile.quad - np.roll(right, turn, axis=0)).max() for turn in (0, 2))
    assert away < 0.06 * np.linalg.norm(right[1] - right[0])


def test_a_tile_on_its_side_beside_a_tray_is_read_though_it_was_not_before() -> None:
    _, tiles, marks = seen()
    again = look_beside_at(np.roll(tiles[0].quad, 1, axis=0), UNREAD)
    assert again is not None
    assert again[1] is not None
    assert again[1].serial == marks[0].serial


def test_without_a_tray_nothing_lies_beside_one() -> None:
    picture, tiles, marks = seen()
    layout = TableLayout(tuple(TilePosition(tile.quad, 0.0) for tile in tiles), ())
    found = Detections(tiles, np.zeros((1, 1), np.uint8), 8.0)
    assert look_beside_trays(picture, found, (UNREAD, *marks[1:]), layout) is None


@pytest.mark.parametrize("confidence", [0.96, 0.99])
def test_two_outlines_of_a_tile_beside_a_tray_that_read_otherwise_tell_nothing(
    monkeypatch: pytest.MonkeyPatch, confidence: float
) -> None:
    _, tiles, marks = seen()
    one = replace(marks[0], confidence=0.97)
    for serial, told in ((one.serial, True), ((one.serial or 0) % 136 + 1, False)):
        looks = [one, replace(one, serial=serial, confidence=confidence)]
        monkeypatch.setattr("vision.reader.read_again", lambda *_, looks=looks: looks)
        assert (look_beside_at(tiles[0].quad, UNREAD) is not None) == told
