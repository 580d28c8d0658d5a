from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.errors import OverlayError, PictureError
from vision.geometry import Picture, rectangle
from vision.overlay import (
    FACE_UP,
    FAULT,
    READ,
    SIGN_LINES,
    UNREAD,
    draw_overlay,
    list_serials,
    write_overlay,
)
from vision.palette import SEAT_SHAPES, Colour
from vision.reader import quad_corners
from vision.reading import Corners, PictureReading, TileRead, TrayFault, TrayFaultType

GROUNDS = [(245, 245, 245), (20, 20, 20), (40, 30, 190), (60, 130, 40)]
LOOKS = [READ, UNREAD, FACE_UP, FAULT]


def tile(serial: int | None, col: int, *, face_up: bool = False, size: float = 60) -> TileRead:
    quad = rectangle(np.array([60.0 + 1.5 * size * col, 80.0]), size, 1.4 * size)
    return TileRead(serial, "03", quad_corners(quad), 0.9, 0.0, 0, col, face_up=face_up)


def heap(*reads: TileRead) -> PictureReading:
    return PictureReading(reads, ())


def ground(colour: Colour = (90, 90, 90), size: tuple[int, int] = (200, 600)) -> Picture:
    return np.full((*size, 3), colour, dtype=np.uint8)


FOUR = heap(tile(5, 0), tile(None, 1), tile(None, 2, face_up=True), tile(8, 3))
WRONG = (TrayFault(TrayFaultType.WRONG_HAND, 0, 3, 7, found=8),)


def about(picture: Picture, read: TileRead) -> Picture:
    left, top = np.array(read.quad[0]).astype(int) - 12
    right, bottom = np.array(read.quad[2]).astype(int) + 12
    return picture[top:bottom, left:right]


def count(picture: Picture, colour: Colour) -> int:
    return int((np.abs(picture.astype(int) - colour).max(axis=2) <= 6).sum())


def test_the_given_picture_is_not_changed() -> None:
    picture = ground()
    assert draw_overlay(picture, FOUR, WRONG).shape == picture.shape
    assert np.array_equal(picture, ground())


@pytest.mark.parametrize("colour", GROUNDS)
def test_each_verdict_is_drawn_in_its_colour_on_every_background(colour: Colour) -> None:
    drawn = draw_overlay(ground(colour), FOUR, WRONG)
    for read, own in zip(FOUR.reads, LOOKS, strict=True):
        most = max(LOOKS, key=lambda look: count(about(drawn, read), look.colour))
        assert most is own


@pytest.mark.parametrize("colour", GROUNDS)
def test_verdicts_differ_without_any_colour(colour: Colour) -> None:
    drawn = draw_overlay(ground(colour), FOUR, WRONG)
    inked = [cv2.cvtColor(about(drawn, read), cv2.COLOR_BGR2GRAY) > 128 for read in FOUR.reads]
    for one in range(4):
        for other in range(one):
            assert (inked[one] != inked[other]).mean() > 0.02


def test_styles_differ_in_line_and_sign_as_well_as_colour() -> None:
    assert len({(look.dash, look.weight) for look in LOOKS}) == len({look.sign for look in LOOKS}) == len(LOOKS)
    assert {look.sign for look in LOOKS} == set(SIGN_LINES)


@pytest.mark.parametrize("colour", GROUNDS[2:])
def test_every_line_has_both_a_light_and_a_dark_edge(colour: Colour) -> None:
    drawn = draw_overlay(ground(colour), heap(tile(5, 0, size=120)))
    assert min((drawn.min(axis=2) >= 200).sum(), (drawn.max(axis=2) <= 60).sum()) > 200


@pytest.mark.parametrize("size", [20, 60, 200])
def test_lines_and_badges_scale_with_the_tiles(size: float) -> None:
    drawn = draw_overlay(ground(size=(400, 900)), heap(tile(5, 0, size=size)))
    assert 0.03 < count(drawn, READ.colour) / size**2 < 0.5


def test_an_exchange_marks_both_places() -> None:
    both = heap(tile(5, 0), tile(6, 1), tile(7, 2))
    drawn = draw_overlay(ground(), both, [TrayFault(TrayFaultType.SWAPPED, 0, 0, 6, found=5, with_=(0, 1))])
    marked = [count(about(drawn, read), FAULT.colour) > 50 for read in both.reads]
    assert marked == [True, True, False]


def test_seats_have_four_colours_and_four_shapes() -> None:
    assert len({colour for colour, _ in SEAT_SHAPES.values()}) == len({shape for _, shape in SEAT_SHAPES.values()}) == 4


POINTS = st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))


@given(st.tuples(POINTS, POINTS, POINTS, POINTS))
def test_degenerate_quads_cause_no_error(quad: Corners) -> None:
    reads = (TileRead(None, None, quad, 0.0, 0.0), TileRead(3, "03", quad, 0.9, 0.0))
    assert draw_overlay(ground(), heap(*reads)).shape == ground().shape


@pytest.mark.parametrize("wrong", [np.zeros((4, 4)), np.zeros((4, 4), np.uint8), np.zeros((0, 0, 3), np.uint8)])
def test_an_array_that_is_not_a_picture_is_refused(wrong: np.ndarray) -> None:
    with pytest.raises(PictureError):
        draw_overlay(wrong, FOUR)


@pytest.mark.parametrize("name", ["no/such/folder/a.png", "a.bmp", "a"])
def test_an_overlay_that_cannot_be_written_has_a_code(name: str, tmp_path: Path) -> None:
    with pytest.raises(OverlayError) as caught:
        write_overlay(tmp_path / name, "x.jpg", ground())
    assert caught.value.code == "overlay_failed"


def test_the_list_begins_with_doubtful_tiles() -> None:
    """Each tile of the picture has its own grey, which its crop in the list shows."""
    picture = np.zeros((100, 900, 3), dtype=np.uint8)
    reads = []
    for at, (serial, confidence) in enumerate([(117, 0.99), (None, 0.2), (35, 0.96), (36, 0.97), (5, 0.98), (6, 0.99)]):
        left, right = 150.0 * at, 150.0 * at + 150
        picture[:, int(left) : int(right)] = 50 + 40 * at
        reads.append(TileRead(serial, None, ((left, 0), (right, 0), (right, 100), (left, 100)), confidence, 0.0, 0, at))
    reads[4], reads[5] = replace(reads[4], foreign=True), replace(reads[5], turn=180)
    fault = TrayFault(TrayFaultType.SWAPPED, 0, 3, expected=1, found=36)
    listed = list_serials(picture, PictureReading(tuple(reads), ()), 600, [fault])
    assert listed.shape == (148, 600, 3)
    assert [int(listed[60, 46 + 92 * place, 0]) for place in range(6)] == [90, 170, 210, 250, 130, 50]


def test_a_serial_below_a_listed_tile_is_complete() -> None:
    read = TileRead(71, "03", ((0, 0), (80, 0), (80, 112), (0, 112)), 0.99, 0.0, 0, 0)
    listed = list_serials(np.zeros((112, 80, 3), dtype=np.uint8), PictureReading((read,), ()), 600)
    ink = np.flatnonzero((listed[122:] > 200).any(axis=(1, 2)))
    assert 0 < ink[0] < ink[-1] < len(listed[122:]) - 1
