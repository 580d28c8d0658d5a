from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vision.live.tables import FULL, Table, corners, heap, place, reading, stray
from vision.live.agreement import agree_on_frames, recall_covered_places, tile_at
from vision.marks.read import SURE
from vision.reading import PictureReading, PlaceState, TrayPlace

SERIALS = st.one_of(st.none(), st.integers(1, 6))


def at_first(*serials: int | None) -> list[PictureReading]:
    """Readings of a full tray whose first place shows these serials, frame by frame; 0 is an empty place."""
    return [
        reading_with(place(0, serial or None, PlaceState.EMPTY if serial == 0 else PlaceState.BACK))
        for serial in serials
    ]


def reading_with(first: TrayPlace) -> PictureReading:
    base = reading(FULL.laid(0, None))
    places = (first, *base.places[1:])
    return PictureReading(tuple(one.read for one in places if one.read), places)


@pytest.mark.parametrize(
    ("frames", "serial", "settled"),
    [
        ([90], None, False),
        ([90, 90], 90, True),
        ([90, None], None, False),
        ([90, None, 90], 90, True),
        ([90, 90, None], 90, True),
        ([90, 90, 91], None, False),
        ([90, 91, 91], None, False),
        ([90, 91, 91, 91, 91], None, False),
        ([91, None, None, 90, 90], None, False),
        ([None, None, None, 90, 90], 90, True),
        ([91, 90, 91], None, False),
        ([90, 90, 0], None, False),
        ([0, 90, 90], 90, True),
        ([None, None], None, True),
        ([None, None, 90], None, False),
        ([90, 90, None, None], None, False),
        ([90, 90, None, None, None], None, True),
    ],
)
def test_a_serial_counts_if_two_frames_show_it_and_no_frame_another(
    frames: list[int | None], serial: int | None, *, settled: bool
) -> None:
    agreed = agree_on_frames(at_first(*frames))
    assert (agreed.reading.rows[0][0], agreed.settled) == (serial, settled)


@given(st.lists(SERIALS, min_size=1, max_size=6))
def test_a_serial_was_shown_by_two_of_the_last_three_frames(frames: list[int | None]) -> None:
    shown = agree_on_frames(at_first(*(serial and serial + 100 for serial in frames))).reading.rows[0][0]
    assert shown is None or (frames[-3:].count(shown - 100) >= 2 and set(frames) <= {shown - 100, None})


@given(st.sets(st.integers(0, 33)), st.integers(2, 5))
def test_identical_readings_combine_to_the_same_reading(unread: set[int], frames: int) -> None:
    still = reading(FULL.laid(4, None), unread=frozenset(unread))
    agreed = agree_on_frames([still] * frames)
    assert (agreed.reading.rows, agreed.reading.places, set(agreed.reading.reads), agreed.settled) == (
        still.rows, still.places, set(still.reads), True,
    )  # fmt: skip


def test_a_place_with_contradicting_frames_is_doubtful() -> None:
    agreed = agree_on_frames(at_first(90, 90, 91))
    assert [(read.row, read.col, read.serial, read.set, read.confidence) for read in agreed.doubtful] == [
        (0, 0, None, None, 0.0)
    ]


def test_an_empty_place_counts_if_two_frames_show_it() -> None:
    assert agree_on_frames(at_first(90, 0, 0)).reading.places[0].state is PlaceState.EMPTY
    assert agree_on_frames(at_first(90, 90, 0)).reading.places[0].state is PlaceState.BACK


def test_a_serial_shown_at_two_places_by_different_frames_is_withheld() -> None:
    doubled = reading(Table((7, 7, *range(100, 132))))
    assert agree_on_frames([doubled, doubled]).reading.rows[0][:3] == (None, None, 100)


def test_tiles_of_a_heap_are_identified_by_where_they_lie() -> None:
    agreed = agree_on_frames([heap(stray(5, 10, 10), stray(6, 200, 10)), heap(stray(6, 202, 11), stray(5, 11, 9))])
    assert ([read.serial for read in agreed.reading.reads], agreed.settled) == ([6, 5], True)


def test_a_tile_of_a_heap_at_another_place_is_another_tile() -> None:
    agreed = agree_on_frames([heap(stray(5, 10, 10)), heap(stray(5, 60, 10))])
    assert ([read.serial for read in agreed.reading.reads], agreed.settled) == ([None], False)


def test_a_tile_that_one_frame_misses_stays() -> None:
    both = heap(stray(5, 10, 10), stray(6, 200, 10))
    agreed = agree_on_frames([both, both, heap(stray(6, 200, 10))])
    assert sorted(str(read.serial) for read in agreed.reading.reads) == ["5", "6"]


def test_a_tile_that_only_an_older_frame_shows_is_left_out() -> None:
    agreed = agree_on_frames([heap(stray(5, 10, 10)), heap(), heap()])
    assert (agreed.reading.reads, agreed.settled) == ((), True)


def test_a_tray_that_one_frame_misses_is_not_settled() -> None:
    agreed = agree_on_frames([reading(FULL), heap(*reading(FULL).reads)])
    assert not agreed.settled


def test_another_set_is_another_tile() -> None:
    first, other = at_first(90, 90)
    tile = other.places[0].read
    assert tile is not None
    changed = reading_with(replace(other.places[0], read=replace(tile, set="04")))
    assert agree_on_frames([first, changed]).reading.rows[0][0] is None


def frames_of(*confidences: float) -> list[PictureReading]:
    """Readings of one place whose tile seems to be 90, with these confidences; an unsure frame does not read it."""
    seen = [(place(0, 90 if one >= SURE else None), round(one, 4)) for one in confidences]
    told = [replace(held, read=replace(held.read, confidence=one)) for held, one in seen if held.read is not None]
    return [PictureReading((held.read,), (held,)) for held in told if held.read is not None]


@pytest.mark.parametrize(
    ("confidences", "serial", "together"),
    [
        ((0.96, 0.96), 90, 0.96),
        ((0.99, 0.97), 90, 0.9826),  # the square root of 99 times 32, to one
        ((1.0, 1.0), 90, 0.9999),
        ((0.96, 0.96, 0.9), None, 0.0),
        ((0.94, 0.96, 0.96), None, 0.0),
        ((0.999, 0.94, 0.999), 90, 0.9901),  # even odds for one frame: the cube root of 999 squared
        ((0.96, 0.2, 0.96), 90, 0.96),  # glare: no mark is seen
    ],
)
def test_log_odds_of_one_scenes_frames_are_averaged(
    confidences: tuple[float, ...], serial: int | None, together: float
) -> None:
    (read, *_) = agree_on_frames(frames_of(*confidences)).reading.reads
    assert read.serial == serial
    assert read.confidence == pytest.approx(together, abs=2e-4)


@given(st.lists(st.floats(0.3, 0.9999), min_size=3, max_size=3), st.integers(2, 4))
def test_repeated_frames_add_no_evidence(confidences: list[float], times: int) -> None:
    once, again = (agree_on_frames(frames_of(*confidences * said)).reading.reads[0] for said in (1, times))
    assert again.serial == once.serial
    assert again.confidence == pytest.approx(once.confidence, abs=1e-4)


def test_eight_noisy_frames_settle_an_unsure_mark_less_often_than_one_reads_it() -> None:
    """Confidence in this mark varies around 0.9, so that one frame in nine happens to be sure enough."""
    chance = np.random.default_rng(22)
    looks = 1 / (1 + np.exp(-(np.log(9) + chance.normal(0, 0.6, (300, 8)))))
    once = float((looks[:, 0] >= SURE).mean())
    settled = np.array([[_settles(look[:frames]) for frames in range(2, 9)] for look in looks])
    assert 0.08 < once < 0.14
    assert settled.any(axis=1).mean() < once / 3
    assert settled[:, -1].mean() == 0


def _settles(look: np.ndarray) -> bool:
    agreed = agree_on_frames(frames_of(*look))
    return agreed.settled and agreed.reading.rows[0] == (90,)


@pytest.mark.parametrize(("wide", "high"), [(22, 30), (30, 22)])
@pytest.mark.parametrize(("away", "same"), [(7.6, True), (7.8, False)])
def test_a_tile_is_the_same_within_35_hundredths_of_its_shorter_side(
    wide: float, high: float, away: float, *, same: bool
) -> None:
    lying = replace(stray(5, 0, 0), quad=corners(100.0, 50.0, wide, high))
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        other = replace(lying, quad=corners(100.0 + away * x, 50.0 + away * y, wide, high))
        assert tile_at(lying, [stray(6, 0, 0), other]) is (other if same else None)


@pytest.mark.parametrize(("there", "elsewhere", "stays"), [(2, 2, False), (3, 2, True), (1, 1, False), (2, 1, True)])
def test_a_hidden_tray_is_remembered_if_more_than_half_of_the_visible_tiles_lie_in_it(
    there: int, elsewhere: int, *, stays: bool
) -> None:
    before = reading(FULL)
    seen = [one.read for one in before.places if one.read][:there]
    now = heap(*seen, stray(None, 300, 300), *(stray(100 + at, 300 + 40 * at, 200) for at in range(elsewhere)))
    shown, covered = recall_covered_places(now, before)
    assert shown is (before if stays else now)
    assert len(covered) == (34 - there if stays else 0)
