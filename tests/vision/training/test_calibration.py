"""Calibration: nothing is counted twice, nothing is lost, and what is drawn is what was counted."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.training.calibrate import draw_chart
from vision.training.calibration import (
    DOUBTS,
    NO_SERIAL,
    CalibrationReads,
    confidence_bins,
    count_at_threshold,
    lowest_safe,
)

SERIALS = st.integers(1, 136)
ROWS = st.lists(
    st.tuples(st.none() | SERIALS, st.floats(0, 1), st.just(NO_SERIAL) | SERIALS, st.booleans()),
    min_size=1,
    max_size=60,
)


@given(ROWS)
def test_every_serial_told_is_in_one_bin(rows: list[tuple[int | None, float, int, bool]]) -> None:
    reads = CalibrationReads.of(rows)
    told = [row for row in rows if row[0] is not None]
    found = list(confidence_bins(reads))
    assert sum(one.count for one in found) == len(told)
    assert sum(one.wrong for one in found) == sum(row[0] != row[2] for row in told)


@given(ROWS)
def test_the_share_that_was_wrong_lies_in_its_range(rows: list[tuple[int | None, float, int, bool]]) -> None:
    assert [
        one
        for one in confidence_bins(CalibrationReads.of(rows))
        if not one.least <= one.wrong / one.count <= one.most + 1e-12
    ] == []


@given(ROWS, st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_reads_no_more_and_errs_no_more(
    rows: list[tuple[int | None, float, int, bool]], one: float, other: float
) -> None:
    low, high = (count_at_threshold(CalibrationReads.of(rows), threshold) for threshold in sorted((one, other)))
    assert (high.read <= low.read, high.wrong <= low.wrong) == (True, True)


def test_a_serial_on_a_trap_is_wrong_and_a_right_one_that_need_not_be_read_is_neither() -> None:
    reads = CalibrationReads.of(
        [(7, 0.9, NO_SERIAL, False), (8, 0.9, 8, False), (9, 0.9, 9, True), (None, 0.9, 10, True)]
    )
    told = count_at_threshold(reads, 0.5)
    assert (told.readable, told.read, told.wrong, told.looks) == (2, 1, 1, 4)


@pytest.mark.parametrize(
    ("wrong_at", "lowest"), [(0.3, 0.5), (0.79, 0.8), (0.81, 0.9), (0.9799, 0.98), (0.99999, None), (1.0, None)]
)
def test_a_safe_threshold_lets_nothing_wrong_through(wrong_at: float, lowest: float | None) -> None:
    assert lowest_safe(CalibrationReads.of([(7, wrong_at, 8, True), (9, 0.9, 9, True)])) == lowest


@pytest.mark.parametrize("confidence", [0.0, 0.5, 0.99, 1.0])
def test_the_curves_are_one_sound_svg_whatever_was_told(confidence: float) -> None:
    chart = draw_chart(CalibrationReads.of([(7, confidence, 7, True), (8, confidence, 9, True)]), 0.98)
    assert ElementTree.fromstring(chart).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - just drawn, by ourselves


def test_each_threshold_has_a_dot_on_each_curve() -> None:
    reads = CalibrationReads.of([(7, 0.99, 7, True), (8, 0.4, 9, True)])
    legend, in_bins = 5, 2
    assert draw_chart(reads, 0.98).count("<circle") == legend + in_bins + 2 * (1 + len(DOUBTS))
