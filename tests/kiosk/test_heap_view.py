"""Destinations on the camera's picture: the seat's colour or row and place on a tile, a sign on what goes nowhere."""

from dataclasses import replace

import numpy as np

from kiosk.heap_view import HeapView
from kiosk.table.restoring.places import Place, deal_of, homes
from tests.kiosk.tables import play
from tests.vision.live.tables import corners, heap, stray
from vision.geometry import Picture
from vision.live.overlay.signs import SEATS
from vision.reading import Read

ORDER = deal_of(play(1).order)
HOMES = homes(ORDER)
PICTURE = np.full((540, 960, 3), 90, dtype=np.uint8)
SIZE = (800, 331)


def tile(serial: int | None, at: int) -> Read:
    return replace(stray(serial, 0, 0), quad=corners(40.0 + 70 * (at % 12), 60.0 + 80 * (at // 12), 44, 60))


def drawn(*tiles: Read) -> Picture:
    return HeapView(PICTURE, heap(*tiles), HOMES, SIZE).on(PICTURE, [True for _ in tiles])


def colours(*tiles: Read) -> set[tuple[int, ...]]:
    return {tuple(int(part) for part in one) for one in np.unique(drawn(*tiles).reshape(-1, 3), axis=0)}


def test_tiles_of_all_seats_have_the_colour_of_their_seat() -> None:
    tiles = [
        tile(ORDER[Place(seat, 0, col)], at)
        for at, (seat, col) in enumerate([(s, c) for s in play(1).order for c in (0, 1)])
    ]
    assert {SEATS[letter][0] for letter in "ESWN"} <= colours(*tiles)


def test_a_picture_is_cut_to_the_tiles_and_no_larger_than_its_room() -> None:
    assert drawn(tile(7, 0), tile(8, 1)).shape == (331, 390, 3)
    assert drawn(tile(7, 0), tile(8, 59)).shape == (331, 599, 3)
    assert drawn().shape == (331, 588, 3)


def test_what_goes_nowhere_gets_a_sign_and_no_seat() -> None:
    face = replace(tile(None, 1), face_up=True)
    foreign = replace(tile(9, 2), foreign=True)
    seats = {SEATS[letter][0] for letter in "EWN"}  # sky blue is the face's sign too
    assert colours(tile(None, 0), face, foreign) & seats == {SEATS["N"][0]}  # and yellow that of what was not read
    assert colours(foreign) & {colour for colour, _ in SEATS.values()} == set()


def test_a_picture_that_is_drawn_into_stays_as_it_was() -> None:
    before = PICTURE.copy()
    drawn(tile(7, 0))
    assert np.array_equal(PICTURE, before)


def test_a_tile_that_lies_there_no_more_shows_what_is_there_now() -> None:
    tiles = tile(ORDER[Place("east", 0, 0)], 0), tile(ORDER[Place("west", 0, 0)], 1)
    view, later = HeapView(PICTURE, heap(*tiles), HOMES, SIZE), np.full_like(PICTURE, 60)
    bare = view.on(later, [False, False])
    assert np.unique(bare).tolist() == [60]
    one, other = (view.on(later, lying) != bare for lying in ([True, False], [False, True]))
    assert one.any()
    assert other.any()
    assert np.array_equal(view.on(later, [True, True]) != bare, one | other)
