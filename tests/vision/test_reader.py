"""From a layout and marks to the reading; what a second look may read, and what not."""

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.vision.test_pictures import HERE
from tests.vision.tray_scenes import Pose, Seen, carrier_scene, heap_scene, see, tray_scene
from vision.finder import DetectedTile, Detections, RefinedTiles, find_tiles
from vision.geometry import Picture, Quad
from vision.layout import LaidOutPlace, LaidOutTray, TableLayout, TilePosition
from vision.marks import TileMark
from vision.marks.digits import cut_backs, look_at_crops_closely
from vision.marks.read import FirstLooks, read_marks
from vision.picture import load_picture
from vision.reader import _straightened, look_beside_trays, take_second_look, to_reading
from vision.reading import ROW_LENGTHS, SEATS, PictureReading, PlaceState, TileRead
from vision.verdict import compare, verified

POSE = Pose(tilt=12, azimuth=4, noise=0.02)
FIRST = (tuple(range(1, 14)), tuple(range(14, 25)), tuple(range(25, 35)))


def reading(seen: Seen) -> PictureReading:
    return to_reading(seen.found, seen.marks, seen.lay_out())


def read_at(told: PictureReading, row: int, col: int) -> TileRead:
    (read,) = [place.read for place in told.places if (place.row, place.col) == (row, col)]
    assert read is not None
    return read


def test_a_tray_gives_its_serials_in_order_and_is_verified() -> None:
    told = reading(see(tray_scene(POSE)))
    assert told.rows == FIRST
    assert verified(told, FIRST, compare(told, FIRST))


def test_a_carrier_gives_the_rows_of_each_seat_and_none_of_a_single_tray() -> None:
    told = reading(see(carrier_scene(POSE), scale=1.1))
    seats = {
        seat: tuple(tuple(34 * number + serial for serial in row) for row in FIRST) for number, seat in enumerate(SEATS)
    }
    assert (told.seats, told.rows) == (seats, ())
    assert verified(told, {seat: seats[seat] for seat in SEATS}, ())


def test_reads_are_in_the_order_of_their_places_with_loose_tiles_last() -> None:
    told = reading(see(tray_scene(POSE)))
    assert [read.serial for read in told.reads] == list(range(1, 35))
    assert [len(row) for row in told.rows] == list(ROW_LENGTHS)


def test_a_heap_is_read_without_places() -> None:
    told = reading(see(heap_scene(POSE, 20)))
    assert {(read.seat, read.row, read.col) for read in told.reads} == {(None, None, None)}
    assert (len(told.reads), told.places, told.rows) == (20, (), ())


def test_a_mark_with_another_set_than_most_is_foreign() -> None:
    scene = tray_scene(POSE)
    for one in scene.tiles:
        assert one.where is not None
        scene = scene.changed(one.where, set_text="C")
    told = reading(see(scene.changed((1, 3), set_text="D")))
    assert [read.set for read in told.reads if read.foreign] == ["D"]


def test_colour_decides_only_if_the_mark_names_no_set() -> None:
    blue = (150, 90, 30)
    scene = tray_scene(POSE).changed((0, 2), colour=blue).changed((2, 2), colour=blue, set_text="C")
    told = reading(see(scene))
    assert [(read.row, read.col) for read in told.reads if read.foreign] == [(0, 2)]


def test_faces_and_empty_places_have_no_serial() -> None:
    told = reading(see(tray_scene(POSE).changed((0, 1), face_up=True).without((2, 0))))
    assert (told.rows[0][1], told.rows[2][0]) == (None, None)
    assert read_at(told, 0, 1).face_up
    assert [place.state for place in told.places if place.read is None] == [PlaceState.EMPTY]


PROGRAM = """
import os
import kiosk.command
import vision.reader
import numpy as np

many = np.ones((600, 600), dtype=np.float32)
many @ many
print(len(os.listdir("/proc/self/task")))
"""


def test_matrices_are_multiplied_in_the_calling_thread() -> None:
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    told = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=True)
    assert int(told.stdout) == 1


def backs(read: int, unread: int, *, faces: int = 0) -> PictureReading:
    """Return a reading with this many backs, read or not."""
    one = TileRead(117, None, ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)), 0.99, 0.0)
    blank = replace(one, serial=None)
    return PictureReading((*(one,) * read, *(blank,) * unread, *(replace(blank, face_up=True),) * faces), ())


def test_the_print_is_to_blame_if_a_quarter_of_the_backs_and_at_least_four_are_unread() -> None:
    assert backs(12, 4).print_to_blame
    assert backs(0, 4).print_to_blame
    assert not backs(13, 4).print_to_blame
    assert not backs(0, 3, faces=30).print_to_blame


def test_two_tiles_with_one_serial_are_not_the_prints_fault() -> None:
    doubles = tuple(replace(one, serial=None, clash=117) for one in backs(8, 0).reads)
    assert not PictureReading(doubles, ()).print_to_blame


NUMBERED = "dev_005_tray-faulty"
UNREAD = TileMark(None, None, None, 0.0, np.full(2, np.nan))
THING = np.array([[0.0, 0.0], [40.0, 0.0], [40.0, 54.0], [0.0, 54.0]])


@cache
def seen() -> tuple[Picture, tuple[DetectedTile, ...], tuple[TileMark, ...]]:
    """Return a picture, and some tiles with their marks."""
    picture = load_picture(HERE / f"{NUMBERED}.jpg")
    found, marks = read_marks(picture, find_tiles(picture))
    read = [(tile, mark) for tile, mark in zip(found.tiles, marks, strict=True) if mark and mark.serial][::6]
    return picture, tuple(tile for tile, _ in read), tuple(mark for _, mark in read)


def look_again_at(tile: DetectedTile, mark: TileMark | None) -> TileMark | None:
    """Take a second look at one tile outside trays; return its mark after that."""
    layout = TableLayout((TilePosition(tile.quad, 0.0),), ())
    again = take_second_look(seen()[0], Detections((tile,), np.zeros((1, 1), np.uint8), 8.0), (mark,), layout)
    return again[1][0] if again else mark


def on_its_side(tile: DetectedTile) -> DetectedTile:
    """Exchange long and short sides, as the finder does if a tilted camera makes a tile look square."""
    middle = tile.quad.mean(axis=0)
    square = middle + (tile.quad - middle) @ np.diag([1.1, 0.9])
    return replace(tile, quad=np.roll(square, 1, axis=0))


@pytest.mark.parametrize("number", range(5))
def test_a_tile_whose_outline_lay_on_its_side_is_read(number: int) -> None:
    _, tiles, marks = seen()
    mark = look_again_at(on_its_side(tiles[number]), UNREAD)
    assert mark is not None
    assert mark.serial == marks[number].serial


@pytest.mark.parametrize(("degrees", "likely", "straight"), [(8, 0.95, True), (12, 0.95, False), (8, 0.85, False)])
def test_an_outline_is_straightened_if_the_tile_lies_straight_on_its_place(
    monkeypatch: pytest.MonkeyPatch, degrees: float, likely: float, *, straight: bool
) -> None:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    place = THING - THING.mean(axis=0)
    seen = place @ np.array([[c, s], [-s, c]])
    judged = RefinedTiles(seen[None], np.array([likely]), np.array([0.0]))
    monkeypatch.setattr("vision.finder.refine_again", lambda _picture, _quads: judged)
    told = _straightened(np.zeros((1, 1, 3), np.uint8), {5: place})
    assert list(told) == ([5] if straight else [])


def test_a_surer_look_does_not_overrule_another_legible_number() -> None:
    _, tiles, marks = seen()
    other = replace(marks[0], serial=(marks[0].serial or 0) % 136 + 1, confidence=0.7)
    assert look_again_at(tiles[0], other) is other


def test_a_barely_legible_look_is_overruled() -> None:
    _, tiles, marks = seen()
    faint = replace(marks[1], serial=(marks[1].serial or 0) % 136 + 1, confidence=0.2)
    mark = look_again_at(tiles[1], faint)
    assert mark is not None
    assert mark.serial == marks[1].serial


@pytest.mark.parametrize(("others", "read"), [(0.866, True), (0.864, False)])
def test_the_surest_of_several_outlines_counts_if_the_others_are_hardly_less_sure(
    monkeypatch: pytest.MonkeyPatch, others: float, *, read: bool
) -> None:
    """Three looks give the same serial with a mean of 0.9; a fourth one faintly gives another number."""
    _, tiles, marks = seen()
    sure = replace(marks[0], confidence=0.97)
    less = replace(sure, confidence=others)
    faint = replace(sure, serial=(sure.serial or 0) % 136 + 1, confidence=0.29)
    monkeypatch.setattr(
        "vision.reader._other_outlines",
        lambda *_: ([0] * 4, FirstLooks([tiles[0].quad] * 4, np.empty((0, 112, 80, 3), np.uint8), [])),
    )
    looks = [less, faint, sure, less]
    monkeypatch.setattr("vision.reader.read_again", lambda _, first, *__: looks[: len(first.quads)])
    mark = look_again_at(tiles[0], UNREAD)
    assert mark is (sure if read else UNREAD)


@pytest.mark.parametrize(("state", "read"), [(PlaceState.BACK, True), (PlaceState.EMPTY, False)])
def test_an_overlooked_back_of_a_tray_is_read_at_its_place(state: PlaceState, *, read: bool) -> None:
    picture, tiles, marks = seen()
    tray = LaidOutTray(None, (LaidOutPlace(0, 0, state, None, tiles[0].quad),), 0.0)
    lies = tuple(TilePosition(tile.quad, 0.0, None, 0, at) for at, tile in enumerate(tiles[1:], 1))
    found = Detections(tiles[1:], np.zeros((1, 1), np.uint8), 8.0)
    again = take_second_look(picture, found, marks[1:], TableLayout(lies, (tray,)))
    serials = [mark.serial for mark in again[1] if mark] if again else []
    assert serials == ([mark.serial for mark in (*marks[1:], marks[0])] if read else [])


def test_a_second_look_at_a_picture_that_is_fully_read_changes_nothing() -> None:
    picture, tiles, marks = seen()
    layout = TableLayout(tuple(TilePosition(tile.quad, 0.0) for tile in tiles), ())
    assert take_second_look(picture, Detections(tiles, np.zeros((1, 1), np.uint8), 8.0), marks, layout) is None


def look_beside_at(
    quad: Quad, said: TileMark | None = None, things: int = 0
) -> tuple[DetectedTile, TileMark | None] | None:
    """Look at the first tile again, read along an outline, as if it lay beside a tray of the others, after `things`."""
    picture, tiles, marks = seen()
    tray = range(things + 1, things + len(tiles))
    sites = tuple(LaidOutPlace(0, at, PlaceState.BACK, at, tiles[at - things].quad) for at in tray)
    lies = (
        *[TilePosition(THING, 0.0)] * things,
        TilePosition(quad, 0.0),
        *(TilePosition(tiles[at - things].quad, 0.0, None, 0, at) for at in tray),
    )
    layout = TableLayout(lies, (LaidOutTray(None, sites, 0.0),), unlike=frozenset({things}))
    before = said or look_at_crops_closely(cut_backs(picture, [quad]))[0].mark
    seen_there = (*[replace(tiles[0], quad=THING)] * things, replace(tiles[0], quad=quad), *tiles[1:])
    found = Detections(seen_there, np.zeros((1, 1), np.uint8), 8.0)
    again = look_beside_trays(picture, found, (*[UNREAD] * things, before, *marks[1:]), layout)
    return (again[0].tiles[things], again[1][things]) if again else None


@pytest.mark.parametrize("things", [0, 12])
def test_a_too_wide_outline_beside_a_tray_is_corrected(things: int) -> None:
    _, tiles, marks = seen()
    right = tiles[0].quad
    wide = right + 0.15 * np.array([[-1.0], [1.0], [1.0], [-1.0]]) * (right[1] - right[0])
    again = look_beside_at(wide, things=things)  # the most outlines that are tried
    assert again is not None
    tile, mark = again
    assert mark is not None
    assert mark.serial == marks[0].serial
    away = min(np.abs(tile.quad - np.roll(right, turn, axis=0)).max() for turn in (0, 2))
    assert away < 0.05 * np.linalg.norm(right[1] - right[0])


def test_a_tile_that_reads_differently_in_the_new_outline_stays_as_it_was() -> None:
    _, tiles, marks = seen()
    other = replace(marks[0], serial=(marks[0].serial or 0) % 136 + 1, confidence=0.99)
    assert look_beside_at(tiles[0].quad, other) is None


@pytest.mark.parametrize("large", [0.75, 1.3, 1.8])
def test_an_outline_beside_a_tray_gets_the_size_of_the_trays_tiles(large: float) -> None:
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


def test_a_tile_on_its_side_beside_a_tray_is_read() -> None:
    _, tiles, marks = seen()
    again = look_beside_at(np.roll(tiles[0].quad, 1, axis=0), UNREAD)
    assert again is not None
    assert again[1] is not None
    assert again[1].serial == marks[0].serial


@pytest.mark.parametrize(("share", "looks"), [(0.45, 2), (0.35, 0), (0.0, 0)])
def test_an_unread_outline_that_encloses_the_middle_of_a_trays_tile_is_skipped(
    monkeypatch: pytest.MonkeyPatch, share: float, looks: int
) -> None:
    """`share` is the distance of the outline from the tile's own, in its widths."""
    tile = seen()[1][1].quad
    asked = list[int]()

    def refine(_picture: Picture, quads: Quad) -> RefinedTiles:
        asked.append(len(quads))
        return RefinedTiles(quads, np.zeros(len(quads)), np.zeros(len(quads)))

    monkeypatch.setattr("vision.finder.refine_again", refine)
    assert look_beside_at(tile + share * (tile[1] - tile[0]), UNREAD) is None
    assert asked == [looks]


def test_without_a_tray_nothing_lies_beside_one() -> None:
    picture, tiles, marks = seen()
    layout = TableLayout(tuple(TilePosition(tile.quad, 0.0) for tile in tiles), ())
    found = Detections(tiles, np.zeros((1, 1), np.uint8), 8.0)
    assert look_beside_trays(picture, found, (UNREAD, *marks[1:]), layout) is None


@pytest.mark.parametrize("confidence", [0.96, 0.99])
def test_outlines_of_one_tile_that_read_differently_change_nothing(
    monkeypatch: pytest.MonkeyPatch, confidence: float
) -> None:
    _, tiles, marks = seen()
    one = replace(marks[0], confidence=0.97)
    for serial, told in ((one.serial, True), ((one.serial or 0) % 136 + 1, False)):
        looks = [one, replace(one, serial=serial, confidence=confidence)]
        monkeypatch.setattr("vision.reader.read_again", lambda *_, looks=looks: looks)
        assert (look_beside_at(tiles[0].quad, UNREAD) is not None) == told
