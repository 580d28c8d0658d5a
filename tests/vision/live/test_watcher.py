"""Motion, and which frames are worth reading."""

from dataclasses import dataclass
from itertools import pairwise
from random import Random

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vision.live.tables import FULL, Table, frame, heap, place, reading
from vision.cameras.addresses import open_camera
from vision.live.watcher import GAP_S, SKETCH_WIDTH, TRIES, Stillness, TableWatcher, WatchedTable, has_moved, sketch
from vision.reading import PictureReading, PlaceState
from vision.sim.table import SimulatedTable, deal_tiles

SEEDS = st.integers(0, 1000)
STILL = cv2.GaussianBlur(np.random.default_rng(5).uniform(20, 210, (135, 240)).astype(np.float32), (0, 0), 3)


def shot(seed: int, *, noise: float = 2.0, light: float = 1.0, hand: int = 0) -> np.ndarray:
    scene = STILL.copy()
    scene[100 : 100 + hand, 100 : 100 + hand] += 60
    grain = np.random.default_rng(seed).normal(0, noise, scene.shape)
    return np.asarray(np.clip(scene * light + grain, 0, 255), dtype=np.uint8)


@given(SEEDS, st.floats(0, 12), st.floats(0.8, 1.25))
def test_noise_and_changing_light_are_not_motion(seed: int, noise: float, light: float) -> None:
    assert not has_moved(shot(seed, noise=noise), shot(seed + 1, noise=noise, light=light))


@given(SEEDS, st.floats(0, 6), st.floats(0.9, 1.1), st.integers(6, 30))
def test_a_finger_is_motion_when_it_comes_and_when_it_goes(seed: int, noise: float, light: float, size: int) -> None:
    free, held = shot(seed, noise=noise), shot(seed + 1, noise=noise, light=light, hand=size)
    assert (has_moved(free, held), has_moved(held, free)) == (True, True)


def test_a_change_of_most_of_the_picture_is_motion_rather_than_noise() -> None:
    chance = np.random.default_rng(3)  # a hand disappears from a tray
    before, now = (np.kron(chance.choice([40, 200], (17, 30)), np.ones((8, 8))).astype(np.uint8) for _ in range(2))
    now[:, :120] = before[:, :120]
    now[:60] = np.where(before[:60] == 40, 200, 40)
    assert (has_moved(before, now), has_moved(now, before)) == (True, True)


def test_a_frame_is_still_against_itself() -> None:
    assert not has_moved(shot(1), shot(1))


def test_frames_of_different_sizes_count_as_motion() -> None:
    assert has_moved(shot(1), shot(1)[:-1])


@pytest.mark.parametrize("level", [0, 255])
def test_light_that_is_switched_on_or_off_is_motion(level: int) -> None:
    assert has_moved(shot(1), np.full_like(shot(1), level))


def test_an_overexposed_area_does_not_move_when_the_light_changes() -> None:
    one, other = shot(1), shot(2, light=1.06)
    one[10:30, 10:30] = other[10:30, 10:30] = 255
    assert not has_moved(one, other)


def lit(*, light: float = 1.0) -> np.ndarray:
    """Return a sketch whose levels rise from the left, from 20 to 219, without noise."""
    return np.round(np.tile(20.0 + np.arange(200.0), (60, 1)) * light).astype(np.uint8)


def changed(before: np.ndarray, level: int, by: int, side: int = 6) -> np.ndarray:
    """Change a square of cells at the column with level `lit`; only its inner cells change by the full amount."""
    now = before.astype(int)
    now[20 : 20 + side, level - 20 : level - 20 + side] += by
    return np.asarray(np.clip(now, 0, 255), dtype=np.uint8)


@pytest.mark.parametrize(
    ("level", "by", "moved"),
    [
        (100, 6, False),
        (100, 8, True),
        (100, -6, False),
        (100, -7, True),  # 2.5 levels, plus a twenty-fifth
        (180, 10, False),
        (180, 12, True),
        (20, 3, False),
        (20, 4, True),
        (175, 76, True),  # overexposed, by more than a quarter of all levels
    ],
)
def test_cells_have_moved_if_they_differ_by_more_than_rounding_and_flicker(level: int, by: int, *, moved: bool) -> None:
    assert has_moved(lit(), changed(lit(), level, by)) == moved


@pytest.mark.parametrize(("by", "moved"), [(14, True), (21, False)])
def test_a_cell_that_becomes_overexposed_shows_no_change_of_light(by: int, *, moved: bool) -> None:
    """From 229 to 243, or to 250."""
    bright = np.asarray(lit() + 15, dtype=np.uint8)
    assert has_moved(bright, changed(bright, 214, by)) == moved


@pytest.mark.parametrize(("side", "moved"), [(3, False), (4, True)])
def test_four_changed_cells_together_are_motion(side: int, *, moved: bool) -> None:
    """Each is averaged with its eight neighbours, so that in a square of three only the middle one changes fully."""
    assert has_moved(lit(), changed(lit(), 100, 10, side)) == moved


@pytest.mark.parametrize(("light", "moved"), [(0.69, True), (0.71, False), (1.0, False), (1.08, False)])
def test_light_may_change_by_three_tenths_between_frames(light: float, *, moved: bool) -> None:
    before, now = lit(), lit(light=light)
    assert (has_moved(before, now), has_moved(now, before)) == (moved, moved)
    assert not has_moved(before, now, relit=True)


@pytest.mark.parametrize(
    ("level", "by", "moved"),
    [(80, 6, True), (80, 2, False), (80, -6, True), (80, -2, False), (150, 12, False), (150, -12, True)],
)
def test_between_exposures_changes_are_motion_except_brighter_cells_that_may_be_overexposed(
    level: int, by: int, *, moved: bool
) -> None:
    """At the shorter exposure all light is half; next to a level of 110, a pixel may be overexposed."""
    long, short = lit(), changed(lit(light=0.5), level, by)
    assert (has_moved(long, short, relit=True), has_moved(short, long, relit=True)) == (moved, moved)


@pytest.mark.parametrize(("columns", "moved"), [(39, True), (41, False)])
def test_both_exposures_must_show_a_fifth_of_the_cells(columns: int, *, moved: bool) -> None:
    long, short = np.full((60, 200), 255, dtype=np.uint8), np.full((60, 200), 128, dtype=np.uint8)
    long[:, :columns], short[:, :columns] = lit()[:, 40 : 40 + columns], lit(light=0.5)[:, 40 : 40 + columns]
    assert has_moved(long, short, relit=True) == moved


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (2592, 1944), (640, 480), (100, 80), (1, 1)])
def test_a_sketch_has_a_largest_width_and_keeps_its_shape(width: int, height: int) -> None:
    small = sketch(np.zeros((height, width, 3), dtype=np.uint8))
    assert small.shape == (max(1, round(height * min(1, SKETCH_WIDTH / width))), min(width, SKETCH_WIDTH))


def test_the_simulated_camera_is_still_until_somebody_reaches_in() -> None:
    world = SimulatedTable(deal_tiles(4))
    with open_camera("sim://tray?noise=4&seed=3", world=world) as camera:
        still = [sketch(camera.frame()) for _ in range(6)]
        world.cover(at=0.1)
        reached = sketch(camera.frame())
        world.cover(at=0.13)
        further = sketch(camera.frame())
    assert [has_moved(one, other) for one, other in pairwise(still)] == [False] * 5
    assert (has_moved(still[-1], reached), has_moved(reached, further)) == (True, True)


def test_one_exchanged_tile_in_the_tray_is_noticed() -> None:
    rows = deal_tiles(4)
    world = SimulatedTable(rows)
    with open_camera("sim://tray?seed=3", world=world) as camera:
        before = sketch(camera.frame())
        rows[1][5] = None
        world.lay(rows)
        assert has_moved(before, sketch(camera.frame()))


PLACES = st.integers(0, 33)


class Watching:
    """A watcher that gets ten frames a second of a table that may change, and counts readings."""

    def __init__(self) -> None:
        self.watcher = TableWatcher()
        self.frames = self.read = 0

    def see(self, table: Table, said: PictureReading | None = None, *, light: float = 1.0) -> WatchedTable:
        self.frames += 1
        if self.watcher.see(self.frames / 10, frame(table, self.frames, light)):
            self.read += 1
            self.watcher.take(said or reading(table))
        return self.watcher.watched

    def look(self, table: Table, frames: int) -> WatchedTable:
        for _ in range(frames):
            self.see(table)
        return self.watcher.watched


def rows(watched: WatchedTable) -> tuple[tuple[int | None, ...], ...]:
    return watched.shown.rows if watched.shown is not None else ()


def sweep(table: Table) -> list[Table]:
    """A hand that passes over a table from left to right, three places of row 0 at a time."""
    return [table.under(*range(first, first + 3)) for first in range(0, 11, 2)]


def test_a_still_table_is_settled_by_its_second_reading_and_not_read_again() -> None:
    watching = Watching()
    states = [watching.see(FULL).stillness for _ in range(12)]
    assert states == [Stillness.MOVING, Stillness.SETTLING, *[Stillness.SETTLED] * 10]
    assert watching.read == 2


@given(st.sets(PLACES), st.sets(PLACES))
def test_without_motion_the_settled_reading_is_the_single_one(empty: set[int], unread: set[int]) -> None:
    table = FULL
    for index in empty:
        table = table.laid(index, None)
    still = reading(table, unread=frozenset(unread))
    watching = Watching()
    for _ in range(8):
        watching.see(table, still)
    assert (rows(watching.watcher.watched), watching.watcher.watched.stillness) == (still.rows, Stillness.SETTLED)


def test_a_tile_with_contradicting_readings_stays_unread_until_something_moves() -> None:
    watching = Watching()
    watching.see(FULL)
    for serial in (90, 91, *[90] * 6):
        watched = watching.see(FULL, reading(FULL.laid(0, serial)))
    assert (rows(watched)[0][0], watching.read) == (None, TRIES)
    assert {(read.row, read.col) for read in watched.doubtful} == {(0, 0)}
    watching.see(FULL.under(20))
    assert rows(watching.look(FULL, 5))[0][0] == FULL.serials[0]


def test_frames_with_motion_are_not_read() -> None:
    watching = Watching()
    watching.look(FULL, 4)
    read = watching.read
    for table in sweep(FULL):
        assert watching.see(table).stillness is Stillness.MOVING
    assert watching.read == read


@given(st.lists(st.integers(0, 12), min_size=1, max_size=12), st.integers(1, 4))
def test_a_hand_over_unchanged_tiles_never_changes_what_is_shown(hand: list[int], rest: int) -> None:
    watching = Watching()
    watching.look(FULL, 4)
    for column in hand:
        for _ in range(rest):
            assert rows(watching.see(FULL.under(column, column + 13))) == reading(FULL).rows
    assert (rows(watching.look(FULL, 5)), watching.watcher.watched.stillness) == (reading(FULL).rows, Stillness.SETTLED)


def test_a_resting_hand_is_reported_and_tiles_under_it_stay_as_last_seen() -> None:
    watching = Watching()
    watching.look(FULL, 4)
    watched = watching.look(FULL.under(3, 4), 4)
    assert (watched.stillness, [(one.row, one.col) for one in watched.covered]) == (Stillness.COVERED, [(0, 3), (0, 4)])


def test_a_change_under_a_hand_is_seen_when_the_hand_is_gone() -> None:
    watching = Watching()
    watching.look(FULL, 4)
    changed = FULL.laid(3, 130)
    watching.look(FULL.under(3), 2)
    assert rows(watching.look(changed.under(3), 4))[0][3] == FULL.serials[3]
    assert rows(watching.look(changed, 4))[0][3] == 130


def test_places_beside_a_resting_hand_are_still_read() -> None:
    watching = Watching()
    watching.look(FULL, 4)
    watching.look(FULL.under(3, 9), 1)
    assert rows(watching.look(FULL.laid(9, 131).under(3), 4))[0][9] == 131


def test_a_tile_visible_elsewhere_is_not_remembered_under_the_hand() -> None:
    watching = Watching()
    watching.look(FULL, 4)
    moved = FULL.laid(9, FULL.serials[3]).laid(3, None).under(3)
    shown = rows(watching.look(moved, 5))[0]
    assert (shown[3], shown[9]) == (None, FULL.serials[3])


def test_an_almost_hidden_tray_stays_as_last_seen() -> None:
    watching = Watching()
    watching.look(FULL, 4)
    hidden = FULL.under(*range(5, 34))
    loose = heap(*(one.read for one in reading(FULL).places[:5] if one.read))
    for _ in range(4):
        watching.see(hidden, loose)
    assert (rows(watching.watcher.watched), watching.watcher.watched.stillness) == (
        reading(FULL).rows,
        Stillness.COVERED,
    )
    assert len(watching.watcher.watched.covered) == 29


def test_a_tray_that_was_removed_is_not_remembered() -> None:
    watching = Watching()
    watching.look(FULL, 4)
    bare = Table((None,) * 34)
    for _ in range(4):
        watching.see(bare, heap())
    assert (rows(watching.watcher.watched), watching.watcher.watched.stillness) == ((), Stillness.SETTLED)


@dataclass(frozen=True)
class Slip:
    """One frame in which the reader misreads one place."""

    frame: int
    index: int
    serial: int


@given(
    st.lists(
        st.builds(Slip, st.integers(0, 14), PLACES, st.integers(100, 136)),
        max_size=4,
        unique_by=lambda slip: slip.frame,
    )
)
def test_a_reading_of_only_one_frame_is_never_shown(slips: list[Slip]) -> None:
    watching = Watching()
    by_frame = {slip.frame: slip for slip in slips}
    said: dict[tuple[int, int], int] = {}
    for number in range(15):
        slip = by_frame.get(number)
        table = FULL.laid(slip.index, slip.serial) if slip else FULL
        if slip:
            said[slip.index, slip.serial] = said.get((slip.index, slip.serial), 0) + 1
        shown = watching.see(FULL, reading(table)).shown
        for index, held in enumerate(shown.places if shown else ()):
            serial = held.read.serial if held.read else None
            assert serial in {None, FULL.serials[index]} or said.get((index, serial), 0) >= 2


@given(st.lists(st.tuples(PLACES, st.integers(40, 136)), min_size=1, max_size=4), st.randoms())
def test_a_serial_that_no_frame_showed_is_never_shown(changes: list[tuple[int, int]], chance: Random) -> None:
    watching, table = Watching(), FULL
    showed: set[tuple[int, int | None]] = set()
    for index, serial in changes:
        if serial not in table.serials:
            table = table.laid(index, serial)
        for _ in range(chance.randint(1, 5)):
            showed |= set(enumerate(table.serials))
            shown = watching.see(table).shown
            held = shown.places if shown else ()
            assert {(i, one.read.serial) for i, one in enumerate(held) if one.read and one.read.serial} <= showed


def test_a_late_frame_changes_nothing() -> None:
    watching = Watching()
    before = watching.look(FULL, 5)
    late = FULL.laid(0, 99)
    assert [watching.watcher.see(at, frame(late)) for at in (0.5, 0.4, 0.0, -1.0)] == [False] * 4
    assert watching.watcher.watched is before


def test_slowly_changing_light_does_not_cause_another_reading() -> None:
    watching = Watching()
    for step in range(30):
        watching.see(FULL, light=1 + 0.01 * (step % 7))
    assert (watching.read, watching.watcher.watched.stillness) == (2, Stillness.SETTLED)


def test_changes_too_slow_to_notice_between_frames_cause_another_reading() -> None:
    watching = Watching()
    watching.look(FULL, 5)
    ghost = FULL.laid(0, 99)
    for step in range(1, 31):
        watching.frames += 1
        mixed = frame(FULL, noise=0) + (step / 30) * (frame(ghost, noise=0).astype(float) - frame(FULL, noise=0))
        if watching.watcher.see(watching.frames / 10, mixed.round().astype("uint8")):
            watching.watcher.take(reading(ghost))
    assert rows(watching.watcher.watched)[0][0] == 99


def test_unread_backs_cause_a_limited_number_of_readings() -> None:
    watching = Watching()
    for _ in range(20):
        watching.see(FULL, reading(FULL, unread=frozenset({6})))
    assert (watching.read, watching.watcher.watched.stillness) == (TRIES, Stillness.SETTLED)


def test_a_back_that_is_read_only_sometimes_is_read_in_the_end() -> None:
    watching = Watching()
    for number in range(8):
        watching.see(FULL, reading(FULL, unread=frozenset({6} if number % 2 else ())))
    assert rows(watching.watcher.watched) == reading(FULL).rows


def test_a_contradictory_tile_is_doubtful_and_the_others_are_read() -> None:
    watching = Watching()
    for number in range(12):
        watching.see(FULL, reading(FULL.laid(6, 100 + number)))
    watched = watching.watcher.watched
    assert (watched.stillness, rows(watched)[0][6], rows(watched)[0][5]) == (Stillness.SETTLED, None, 6)
    assert [(read.row, read.col) for read in watched.doubtful] == [(0, 6)]
    assert watching.read == TRIES


def test_after_a_gap_earlier_frames_do_not_count() -> None:
    watching = Watching()
    watching.look(FULL, 5)
    watching.frames += int(GAP_S * 10) + 1
    assert [watching.see(FULL).stillness for _ in range(3)] == [Stillness.MOVING, Stillness.SETTLING, Stillness.SETTLED]


def test_after_a_lost_camera_the_shown_reading_must_be_confirmed() -> None:
    watching = Watching()
    watching.look(FULL, 5)
    watching.watcher.lose()
    assert (watching.watcher.watched.stillness, rows(watching.watcher.watched)) == (Stillness.BLIND, reading(FULL).rows)
    assert [watching.see(FULL).stillness for _ in range(3)] == [Stillness.MOVING, Stillness.SETTLING, Stillness.SETTLED]


@pytest.mark.parametrize("level", [0, 5, 255])
def test_without_light_the_reading_stays_and_nothing_is_read(level: int) -> None:
    watching = Watching()
    watching.look(FULL, 5)
    for _ in range(5):
        watching.frames += 1
        assert not watching.watcher.see(watching.frames / 10, np.full_like(frame(FULL), level))
    assert (watching.watcher.watched.stillness, rows(watching.watcher.watched)) == (Stillness.BLIND, reading(FULL).rows)
    assert [watching.see(FULL).stillness for _ in range(3)] == [Stillness.MOVING, Stillness.SETTLING, Stillness.SETTLED]


def test_a_reading_that_was_not_requested_is_ignored() -> None:
    watcher = TableWatcher()
    before = watcher.watched
    watcher.take(reading(FULL))
    assert watcher.watched is before


@pytest.mark.parametrize("state", [PlaceState.EMPTY, PlaceState.FACE_UP])
def test_a_changed_place_is_shown_after_two_frames(state: PlaceState) -> None:
    watching = Watching()
    watching.look(FULL, 5)
    changed = FULL.laid(2, None)
    held = reading(changed)
    said = PictureReading(held.reads, (*held.places[:2], place(2, None, state), *held.places[3:]))
    states = [watching.see(changed, said).shown.places[2].state for _ in range(4)]  # type: ignore[union-attr]  # shown long before
    assert states == [PlaceState.BACK, PlaceState.BACK, state, state]
