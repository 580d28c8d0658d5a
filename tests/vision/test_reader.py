"""From a layout and its marks to the reading."""

import os
import subprocess
import sys
from dataclasses import replace

from tests.vision.tray_scenes import Pose, Seen, carrier_scene, heap_scene, see, tray_scene
from vision.reader import to_reading
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


def test_a_carrier_gives_the_rows_of_each_seat_and_none_of_a_lone_tray() -> None:
    told = reading(see(carrier_scene(POSE), scale=1.1))
    seats = {
        seat: tuple(tuple(34 * number + serial for serial in row) for row in FIRST) for number, seat in enumerate(SEATS)
    }
    assert (told.seats, told.rows) == (seats, ())
    assert verified(told, {seat: seats[seat] for seat in SEATS}, ())


def test_reads_come_in_the_order_of_their_places_and_loose_tiles_last() -> None:
    told = reading(see(tray_scene(POSE)))
    assert [read.serial for read in told.reads] == list(range(1, 35))
    assert [len(row) for row in told.rows] == list(ROW_LENGTHS)


def test_a_heap_is_read_without_places() -> None:
    told = reading(see(heap_scene(POSE, 20)))
    assert {(read.seat, read.row, read.col) for read in told.reads} == {(None, None, None)}
    assert (len(told.reads), told.places, told.rows) == (20, (), ())


def test_a_mark_that_names_another_set_than_most_is_foreign() -> None:
    scene = tray_scene(POSE)
    for one in scene.tiles:
        assert one.where is not None
        scene = scene.changed(one.where, set_text="C")
    told = reading(see(scene.changed((1, 3), set_text="D")))
    assert [read.set for read in told.reads if read.foreign] == ["D"]


def test_a_colour_is_asked_only_where_the_mark_names_no_set() -> None:
    blue = (150, 90, 30)
    scene = tray_scene(POSE).changed((0, 2), colour=blue).changed((2, 2), colour=blue, set_text="C")
    told = reading(see(scene))
    assert [(read.row, read.col) for read in told.reads if read.foreign] == [(0, 2)]


def test_a_face_and_an_empty_place_have_no_serial() -> None:
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


def test_a_table_multiplies_matrices_in_the_thread_that_asks() -> None:
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    told = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=True)
    assert int(told.stdout) == 1


def backs(read: int, unread: int, *, faces: int = 0) -> PictureReading:
    """Return a picture with so many backs, read or not."""
    one = TileRead(117, None, ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)), 0.99, 0.0)
    blank = replace(one, serial=None)
    return PictureReading((*(one,) * read, *(blank,) * unread, *(replace(blank, face_up=True),) * faces), ())


def test_the_print_is_to_blame_where_a_quarter_of_the_backs_and_four_at_least_are_not_read() -> None:
    assert backs(12, 4).print_to_blame
    assert backs(0, 4).print_to_blame
    assert not backs(13, 4).print_to_blame
    assert not backs(0, 3, faces=30).print_to_blame


def test_two_tiles_of_one_serial_are_not_the_print_s_fault() -> None:
    doubles = tuple(replace(one, serial=None, clash=117) for one in backs(8, 0).reads)
    assert not PictureReading(doubles, ()).print_to_blame
