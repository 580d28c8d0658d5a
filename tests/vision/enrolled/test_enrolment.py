"""Trays are enrolled by their expected order, contradictions are found, and the enrolled set can be read."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.vision.enrolled.drawn_sets import TRAY, cut_back_drawn, tray_of, tray_picture
from vision.enrolled.enrolment import (
    TRAYS,
    Doubt,
    _check_not_enrolled_elsewhere,
    _check_order,
    _doubts,
    _text_of,
    _unfilled,
    enrol_tray,
    serials_of_tray,
)
from vision.enrolled.file import EnrolledSet
from vision.errors import EnrolOrderError, EnrolPaleError, EnrolTrayError
from vision.geometry import Picture
from vision.reader import read_picture
from vision.reading import PictureReading, PlaceState, TileRead, TrayPlace

NOTHING = EnrolledSet(3, None, {})
MIXED = tuple(int(serial) for serial in np.random.default_rng(5).permutation(np.arange(1, 137))[:TRAY])


@cache
def enrolled_set() -> EnrolledSet:
    enrolled = first_tray()
    for tray in range(2, TRAYS + 1):
        enrolled, doubts = enrol_tray(enrolled, tray_picture(tray_of(tray), seed=tray), tray)
        assert doubts == ()
    return enrolled


@cache
def first_tray() -> EnrolledSet:
    return enrol_tray(NOTHING, tray_picture(tray_of(1), seed=1), 1)[0]


def test_four_trays_hold_all_serials_in_order() -> None:
    stated = [list(serials_of_tray(tray).items()) for tray in range(1, TRAYS + 1)]
    assert [serial for tray in stated for _, serial in tray] == list(range(1, 137))
    assert stated[1][0] == ((0, 0), 35)
    assert stated[3][-1] == ((2, 9), 136)


@pytest.mark.slow
def test_an_unreadable_set_can_be_read_once_enrolled() -> None:
    enrolled = enrolled_set()
    assert enrolled.missing == ()
    picture = tray_picture(MIXED, seed=9, tilt=14.0)
    alone = {read.serial for read in read_picture(picture).reads} - {None}
    assert len(alone) < TRAY // 2
    told = read_picture(picture, enrolled=enrolled)
    read = dict(zip(MIXED, [serial for row in told.rows for serial in row], strict=True))
    assert {serial: got for serial, got in read.items() if got not in {serial, None}} == {}
    open_ones = {serial for serial, got in read.items() if got is None}
    assert open_ones <= {6, 9, 16, 18, 19, 61, 66, 68, 69, 81, 86, 89, 91, 96, 98, 99}  # others upside down
    assert all((one.likeness is not None) == (one.serial is not None) for one in told.reads)


@pytest.mark.slow
def test_a_tile_unlike_its_picture_is_not_read_however_sure_the_reader() -> None:
    """The pictures of the set are those of other serials, so no tile matches the picture of its serial."""
    backs = enrolled_set().backs
    shifted = EnrolledSet(3, None, {serial % 136 + 1: back for serial, back in backs.items()})
    padded = read_picture(tray_picture(MIXED, seed=9, tilt=14.0), enrolled=shifted)
    right = read_picture(tray_picture(MIXED, seed=9, tilt=14.0), enrolled=enrolled_set())
    told = {one.serial for one in padded.reads} - {None}
    assert told <= {(one.serial or 0) % 136 + 1 for one in right.reads} | {1}


def test_a_tray_that_is_already_enrolled_is_refused_as_another() -> None:
    with pytest.raises(EnrolOrderError, match="already enrolled"):
        enrol_tray(first_tray(), tray_picture(tray_of(1), seed=11), 2)


def backs_of(tray: int) -> Picture:
    return np.stack([cut_back_drawn(serial) for serial in tray_of(tray)])


def test_numbers_of_three_digits_are_not_confused_with_their_last_two() -> None:
    known = EnrolledSet(3, None, dict(zip(tray_of(1), backs_of(1), strict=True)))
    _check_not_enrolled_elsewhere(known, backs_of(4), serials_of_tray(4))
    with pytest.raises(EnrolOrderError, match="from 001 on"):
        _check_not_enrolled_elsewhere(known, backs_of(1), serials_of_tray(4))


def read_as(serials: list[int | None], named: int = 0) -> PictureReading:
    """Return a tray with these reads; the first `named` backs call their set 08."""
    corners = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    reads = [TileRead(one, "08" if at < named else None, corners, 0.99, 0.0) for at, one in enumerate(serials)]
    places = zip(serials_of_tray(4), reads, strict=True)
    held = tuple(TrayPlace(*where, PlaceState.BACK, read, None, corners) for where, read in places)
    return PictureReading(tuple(reads), held)


@pytest.mark.parametrize(("named", "text"), [(17, None), (18, "08"), (34, "08"), (0, None)])
def test_a_set_is_called_what_more_than_half_of_its_backs_say(named: int, text: str | None) -> None:
    reading = read_as([None] * TRAY, named)
    assert _text_of(reading) == text
    if text is None:
        _check_order(NOTHING, reading, serials_of_tray(4))
    else:
        with pytest.raises(EnrolOrderError, match="the backs say set 8, not 3"):
            _check_order(NOTHING, reading, serials_of_tray(4))


@pytest.mark.parametrize(
    ("pixel", "levels", "doubted"),
    [
        ((40, 14), 60, False),
        ((40, 13), 60, True),
        ((40, 65), 60, False),
        ((40, 66), 60, True),
        ((20, 40), 60, False),
        ((19, 40), 60, True),
        ((91, 40), 60, False),
        ((92, 40), 60, True),
        ((40, 40), 19, False),
        ((40, 40), 17, True),
    ],
)
def test_a_mark_needs_three_tenths_of_the_usual_contrast_inside_its_tile(
    pixel: tuple[int, int], levels: int, *, doubted: bool
) -> None:
    backs = np.full((TRAY, 112, 80, 3), 100, dtype=np.uint8)
    backs[:, 50, 40] = 160
    backs[5, 50, 40] = 100
    backs[5, *pixel] += np.uint8(levels)
    told = list(_doubts(read_as([None] * TRAY), backs, serials_of_tray(4)))
    assert told == ([Doubt(108, 0, 5)] if doubted else [])


@pytest.mark.parametrize(
    ("right", "wrong", "refused"), [(0, 1, False), (14, 2, False), (15, 2, True), (16, 1, True), (0, 3, True)]
)
def test_two_misread_tiles_are_accepted_in_a_set_that_is_hardly_readable(
    right: int, wrong: int, *, refused: bool
) -> None:
    """In seven-segment digits, 120 is 021 upside down, so such a set could not be enrolled otherwise."""
    stated = list(serials_of_tray(4).values())
    reading = read_as([serial if at < right else 7 if at < right + wrong else None for at, serial in enumerate(stated)])
    if refused:
        with pytest.raises(EnrolOrderError, match="007 lies where"):
            _check_order(NOTHING, reading, serials_of_tray(4))
    else:
        _check_order(NOTHING, reading, serials_of_tray(4))


def test_enrolling_a_tray_twice_gives_the_same_serials() -> None:
    again, doubts = enrol_tray(first_tray(), tray_picture(tray_of(1), seed=11), 1)
    assert (set(again.backs), doubts) == (set(tray_of(1)), ())


def test_a_missing_tile_must_be_photographed_again_and_the_others_are_enrolled() -> None:
    lacking = tuple(0 if serial == 17 else serial for serial in tray_of(1))
    enrolled, doubts = enrol_tray(NOTHING, tray_picture(lacking, seed=1), 1)
    assert doubts == (Doubt(17, 1, 3),)
    assert set(enrolled.backs) == set(tray_of(1)) - {17}


@pytest.mark.parametrize(("empty", "unfilled"), [(0, 0), (2, 2), (3, 3)])
@pytest.mark.parametrize(("out", "outside"), [((0.0, 0.0), 0), ((-0.6, 0.0), 1), ((0.0, 0.6), 1)])
def test_empty_places_and_those_outside_the_picture_are_unfilled(
    empty: int, unfilled: int, out: tuple[float, float], outside: int
) -> None:
    """If misread marks turn a tray upside down, three places are: those at the end of the row of 13."""
    places = list(read_as([None] * TRAY).places)
    for at in range(empty):
        places[at] = replace(places[at], state=PlaceState.EMPTY)
    moved = np.array(places[9].quad) + out
    places[9] = replace(places[9], quad=((*moved[0],), (*moved[1],), (*moved[2],), (*moved[3],)))
    told = PictureReading((), tuple(places))
    assert _unfilled(np.zeros((1, 1, 3), dtype=np.uint8), told) == unfilled + outside


@pytest.mark.parametrize(("lacking", "refused"), [(2, False), (3, True)])
def test_a_tray_with_three_missing_tiles_is_refused(lacking: int, *, refused: bool) -> None:
    gone = (5, 18, 31)[:lacking]
    laid = tuple(0 if serial in gone else serial for serial in tray_of(1))
    if refused:
        with pytest.raises(EnrolTrayError, match="one whole tray"):
            enrol_tray(NOTHING, tray_picture(laid, seed=1), 1)
    else:
        assert len(enrol_tray(NOTHING, tray_picture(laid, seed=1), 1)[1]) == lacking


def test_a_set_as_pale_as_the_clouds_in_its_plastic_is_refused() -> None:
    with pytest.raises(EnrolPaleError, match="too pale"):
        enrol_tray(NOTHING, tray_picture(tray_of(1), contrast=0.15), 1)
    clear, doubts = enrol_tray(NOTHING, tray_picture(tray_of(1), contrast=1.0), 1)
    assert (len(clear.backs), doubts) == (TRAY, ())


def test_a_picture_without_a_tray_is_refused() -> None:
    with pytest.raises(EnrolTrayError):
        enrol_tray(NOTHING, np.full((480, 640, 3), 90, dtype=np.uint8), 1)
