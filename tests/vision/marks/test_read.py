"""Which marks count: sure ones, once each."""

import numpy as np
import pytest

from vision.detections import TileMark
from vision.marks.read import SURE, stand_mark_up, withhold_repeated_serials, withhold_unsure


def mark(serial: int | None, *, named: str | None = None, confidence: float = 1.0) -> TileMark:
    return TileMark(serial, named, turned=False, confidence=confidence, spot=np.array([0.0, 0.1]))


def test_what_is_not_sure_is_not_read() -> None:
    marks = withhold_unsure((mark(5, confidence=SURE - 1e-6), mark(6, confidence=SURE), None))
    assert [one.serial if one else None for one in marks] == [None, 6, None]


def test_two_of_one_serial_are_both_unread_and_both_say_which() -> None:
    marks = withhold_repeated_serials((mark(5), mark(6), mark(5)), [False] * 3)
    assert [(one.serial, one.clash) for one in marks if one] == [(None, 5), (6, None), (None, 5)]


@pytest.mark.parametrize("named", ["C", "03"])
def test_one_serial_of_two_sets_is_two_tiles(named: str) -> None:
    marks = withhold_repeated_serials((mark(5, named=named), mark(5, named="K")), [False, False])
    assert [one.serial for one in marks if one] == [5, 5]


def test_where_marks_name_no_set_a_back_of_another_colour_is_of_another() -> None:
    marks = withhold_repeated_serials((mark(5), mark(5)), [False, True])
    assert [one.serial for one in marks if one] == [5, 5]


def test_tiles_that_were_not_read_are_no_twins() -> None:
    marks = withhold_repeated_serials((mark(None), mark(None), None, None), [False] * 4)
    assert [one.clash for one in marks if one] == [None, None]


@pytest.mark.parametrize(("turned", "serial", "spot"), [(False, 60, 0.1), (True, 90, -0.1)])
def test_a_number_that_reads_both_ways_up_becomes_what_it_is_that_way_up(
    *, turned: bool, serial: int, spot: float
) -> None:
    torn = TileMark(None, None, None, 1.0, np.array([0.0, 0.1]), either=(60, 90))
    told = stand_mark_up(torn, turned=turned)
    assert (told.serial, told.turned, told.either, told.spot[1]) == (serial, turned, None, spot)
