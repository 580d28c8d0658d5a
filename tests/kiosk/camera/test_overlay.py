"""The overlay on the camera's picture: a seat's colour, or row and place on a tile; a sign on tiles without a place."""

from dataclasses import replace

import numpy as np

from kiosk.camera.overlay import HeapOverlay
from kiosk.table import TilePlace, place_by_serial, serial_by_place
from tests.kiosk.tables import play
from tests.vision.live.tables import corners, heap, stray
from vision.geometry import Picture
from vision.palette import SEAT_SHAPES
from vision.reading import TileRead

ORDER = serial_by_place(play(1).order)
HOMES = place_by_serial(ORDER)
PICTURE = np.full((540, 960, 3), 90, dtype=np.uint8)
SIZE = (800, 331)


def tile(serial: int | None, at: int) -> TileRead:
    return replace(stray(serial, 0, 0), quad=corners(40.0 + 70 * (at % 12), 60.0 + 80 * (at // 12), 44, 60))


def drawn(*tiles: TileRead) -> Picture:
    return HeapOverlay(PICTURE, heap(*tiles), HOMES, SIZE).on(PICTURE, [True for _ in tiles])


def colours(*tiles: TileRead) -> set[tuple[int, ...]]:
    return {tuple(int(part) for part in one) for one in np.unique(drawn(*tiles).reshape(-1, 3), axis=0)}


def test_tiles_of_several_seats_show_the_colour_of_their_seat() -> None:
    tiles = [
        tile(ORDER[TilePlace(seat, 0, col)], at)
        for at, (seat, col) in enumerate([(s, c) for s in play(1).order for c in (0, 1)])
    ]
    assert {SEAT_SHAPES[letter][0] for letter in "ESWN"} <= colours(*tiles)


def test_the_picture_is_cropped_to_the_tiles_and_fits_its_room() -> None:
    assert drawn(tile(7, 0), tile(8, 1)).shape == (331, 390, 3)
    assert drawn(tile(7, 0), tile(8, 59)).shape == (331, 599, 3)
    assert drawn().shape == (331, 588, 3)


def test_tiles_without_a_place_get_a_sign_and_no_seat() -> None:
    face = replace(tile(None, 1), face_up=True)
    foreign = replace(tile(9, 2), foreign=True)
    seats = {SEAT_SHAPES[letter][0] for letter in "EWN"}  # sky blue is also the sign of a face
    assert colours(tile(None, 0), face, foreign) & seats == {
        SEAT_SHAPES["N"][0]
    }  # and yellow the sign of an unread tile
    assert colours(foreign) & {colour for colour, _ in SEAT_SHAPES.values()} == set()


def test_drawing_leaves_the_original_picture_unchanged() -> None:
    before = PICTURE.copy()
    drawn(tile(7, 0))
    assert np.array_equal(PICTURE, before)


def test_where_a_tile_was_moved_the_current_picture_shows() -> None:
    tiles = tile(ORDER[TilePlace("east", 0, 0)], 0), tile(ORDER[TilePlace("west", 0, 0)], 1)
    view, later = HeapOverlay(PICTURE, heap(*tiles), HOMES, SIZE), np.full_like(PICTURE, 60)
    bare = view.on(later, [False, False])
    assert np.unique(bare).tolist() == [60]
    one, other = (view.on(later, lying) != bare for lying in ([True, False], [False, True]))
    assert one.any()
    assert other.any()
    assert np.array_equal(view.on(later, [True, True]) != bare, one | other)
