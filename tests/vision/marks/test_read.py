"""Which marks count: sure ones, once each."""

from types import SimpleNamespace

import numpy as np
import pytest

from vision.detections import DetectedTile, Detections, TileMark
from vision.geometry import Picture, Quad, rectangle
from vision.marks import read
from vision.marks.read import (
    SURE,
    drop_duplicate_tiles,
    is_sure,
    stand_mark_up,
    withhold_few,
    withhold_repeated_serials,
    withhold_unsure,
    without_strays,
)


def mark(serial: int | None, *, named: str | None = None, confidence: float = 1.0) -> TileMark:
    return TileMark(serial, named, turned=False, confidence=confidence, spot=np.array([0.0, 0.1]))


def test_what_is_not_sure_is_not_read() -> None:
    marks = withhold_unsure((mark(5, confidence=SURE - 1e-6), mark(6, confidence=SURE), None))
    assert [one.serial if one else None for one in marks] == [None, 6, None]


def test_a_mark_is_sure_from_the_threshold_on_if_it_says_anything() -> None:
    either = TileMark(None, None, None, SURE, np.zeros(2), either=(60, 90))
    assert is_sure(mark(5, confidence=SURE))
    assert is_sure(either)
    assert not is_sure(mark(5, confidence=SURE - 1e-6))
    assert not is_sure(mark(None))
    assert not is_sure(None)


def seen_at(*lefts: float) -> Detections:
    """Return tiles 50 pixels wide whose middles are so far to the right."""
    tiles = [
        DetectedTile(rectangle(np.array([left, 100.0]), 50.0, 68.0), face_up=False, likelihood=1.0) for left in lefts
    ]
    return Detections(tuple(tiles), np.zeros((1, 1), np.uint8), 8.0)


@pytest.mark.parametrize(("apart", "kept"), [(0.0, 1), (29.9, 1), (30.0, 2), (60.0, 2)])
def test_what_says_the_same_within_six_tenths_of_a_width_is_one_tile(apart: float, kept: int) -> None:
    found, marks = drop_duplicate_tiles(seen_at(100.0, 100.0 + apart), (mark(5, confidence=0.96), mark(5)))
    assert (len(found.tiles), len(marks)) == (kept, kept)
    assert marks[-1] is not None
    assert marks[-1].confidence == 1.0  # the surer stays


def test_tiles_on_one_another_that_say_different_things_or_nothing_all_stay_in_their_order() -> None:
    marks = (mark(5, confidence=0.5), mark(6), mark(None), None, mark(None))
    found = seen_at(100.0, 101.0, 102.0, 103.0, 104.0)
    assert drop_duplicate_tiles(found, marks)[1] == marks


def test_strays_alone_lose_their_serials() -> None:
    marks = without_strays((mark(5), mark(6), None), frozenset({1, 2}))
    assert [one and one.serial for one in marks] == [5, None, None]


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


@pytest.mark.parametrize(("sure", "asked"), [(1, True), (2, False)])
def test_where_less_than_a_fifth_is_a_number_labels_are_looked_for(
    monkeypatch: pytest.MonkeyPatch, sure: int, *, asked: bool
) -> None:
    questions: list[int] = []

    def note(_: Picture, quads: list[Quad], *, askew: bool) -> bool:
        questions.append(len(quads) + askew)
        return False

    kind = np.zeros(5, dtype=np.float32)
    told = [SimpleNamespace(mark=mark(at + 1 if at < sure else None), kind=kind) for at in range(9)]
    monkeypatch.setattr(read, "is_labelled", lambda *_: False)
    monkeypatch.setattr(read, "_looks", lambda *_: dict(enumerate(told)))
    monkeypatch.setattr(read, "is_labelled_closely", note)
    quads = [rectangle(np.array([50.0, 50.0]), 10.0, 10.0)] * 9
    read._read(np.zeros((9, 9, 3), dtype=np.uint8), quads)
    assert questions == ([9] if asked else [])


def printed(serial: int | None) -> TileMark:
    return TileMark(serial, None, turned=False, confidence=0.99, spot=np.zeros(2), pitch=0.2)


@pytest.mark.parametrize(
    ("read_ones", "backs", "kept"),
    [
        (1, 10, 1),
        (0, 10, 0),
        (1, 11, 0),
        (3, 30, 3),
        (3, 31, 0),
        (3, 34, 0),
        (4, 34, 4),
        (34, 34, 34),
        (1, 9, 1),
        (0, 34, 0),
    ],
)
def test_where_hardly_any_number_is_read_none_is(read_ones: int, backs: int, kept: int) -> None:
    marks = (
        *(printed(serial) for serial in range(1, read_ones + 1)),
        *[printed(None)] * (backs - read_ones),
        None,
        None,
    )
    assert sum(one is not None and one.serial is not None for one in withhold_few(marks)) == kept


def test_a_number_that_reads_both_ways_up_is_something_read_and_goes_with_the_others() -> None:
    either = TileMark(None, None, None, 0.99, np.zeros(2), either=(60, 90), pitch=0.2)
    assert withhold_few((either, *[printed(None)] * 9))[0] == either
    withheld = withhold_few((either, *[printed(None)] * 10))[0]
    assert withheld is not None
    assert withheld.either is None


def test_a_label_counts_however_few_are_read() -> None:
    marks = (mark(5, named="08"), *[printed(None)] * 33)
    assert withhold_few(marks)[0] is marks[0]
