"""Another exposure is requested if light hides a mark; its readings are added, and the camera's own is restored."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vision.live.tables import FULL, Table, WaitingStream, frame, heap, place, reading, stray
from tests.vision.live.test_watcher import rows
from vision.cameras.addresses import open_camera
from vision.live.exposure import LONGEST, PATIENCE, SHORTEST, STEADY, _patches, light_of_unread
from vision.live.watcher import TRIES, Stillness, TableWatcher, WatchedTable, has_moved
from vision.reader import read_picture
from vision.reading import PictureReading, PlaceState
from vision.sim.table import SimulatedTable, deal_tiles

GLARED = frozenset({6, 7})


class Lit:
    """A watcher over a table with glare: the marks of `GLARED` places are visible only at `shows` stops."""

    def __init__(self, shows: int, *, light: int = -1) -> None:
        self.watcher, self.shows, self.light, self.frames = TableWatcher(), shows, light, 0
        self.room = 0.4 if light > 0 else 1.0
        self.exposures: list[int] = []
        self.possible_serials: dict[int, PictureReading] = {}

    def see(self, table: Table = FULL) -> WatchedTable:
        """Process one frame at the requested exposure."""
        self.frames += 1
        now = self.watcher.exposure
        self.exposures.append(now)
        if self.watcher.see(self.frames / 10, frame(table, self.frames, self.room * 2.0**now), now):
            hidden = frozenset[int]() if now == self.shows else GLARED
            read = self.possible_serials.get(now, reading(table, unread=hidden))
            self.watcher.take(read, now, self.light if any(one.serial is None for one in read.reads) else 0)
        return self.watcher.watched

    def look(self, frames: int, table: Table = FULL) -> WatchedTable:
        for _ in range(frames):
            watched = self.see(table)
        return watched


@pytest.mark.parametrize("shows", [SHORTEST, -1])
def test_glare_leads_to_shorter_exposures_and_back_to_the_cameras_own(shows: int) -> None:
    lit = Lit(shows)
    watched = lit.look(30)
    assert (rows(watched), watched.stillness) == (reading(FULL).rows, Stillness.SETTLED)
    assert [one for at, one in enumerate(lit.exposures) if at == 0 or one != lit.exposures[at - 1]] == [
        *range(0, shows - 1, -1),
        0,
    ]


def test_darkness_leads_to_a_longer_exposure() -> None:
    lit = Lit(LONGEST, light=1)
    assert rows(lit.look(30)) == reading(FULL).rows
    assert (max(lit.exposures), lit.exposures[-1]) == (LONGEST, 0)


@pytest.mark.parametrize("light", [-1, 0, 1])
def test_a_mark_that_no_exposure_shows_stays_unread_after_one_search(light: int) -> None:
    lit = Lit(99, light=light)
    watched = lit.look(60)
    assert rows(watched) == reading(FULL, unread=GLARED).rows
    assert set(lit.exposures) == {-1: {0, -1, SHORTEST}, 0: {0}, 1: {0, LONGEST}}[light]
    assert lit.exposures[-30:] == [0] * 30


def test_a_mark_counts_if_two_frames_of_one_exposure_show_it_and_none_another() -> None:
    lit = Lit(99)
    lit.look(3)
    one, other = (reading(FULL.laid(6, serial), unread=GLARED - {6}) for serial in (6 + 1, 99))
    lit.possible_serials = {-1: one, SHORTEST: other}
    assert rows(lit.look(30))[0][6] is None
    lit = Lit(99)
    lit.look(3)
    lit.possible_serials = {SHORTEST: one}
    assert rows(lit.look(30))[0][6:8] == (7, None)


def test_a_serial_that_is_read_elsewhere_is_not_added() -> None:
    lit = Lit(99)
    lit.possible_serials = {-1: reading(FULL.laid(6, 20), unread=GLARED - {6})}
    assert rows(lit.look(30))[0][6] is None


def test_a_place_that_glare_made_empty_is_filled() -> None:
    lit = Lit(-1)
    lit.possible_serials = {0: reading(FULL.laid(6, None), unread=frozenset({7}))}
    assert rows(lit.look(30)) == reading(FULL).rows


def test_tiles_of_a_heap_are_added_where_they_lie() -> None:
    lit = Lit(99)
    lit.possible_serials = {0: heap(stray(5, 0, 0), stray(None, 60, 0)), -1: heap(stray(None, 0, 0), stray(8, 60, 0))}
    watched = lit.look(30)
    assert watched.shown is not None
    assert [read.serial for read in watched.shown.reads] == [5, 8]


def test_motion_during_another_exposure_ends_the_search() -> None:
    lit, other = Lit(-1), FULL.laid(6, 35)
    while lit.watcher.exposure == 0:
        lit.see()
    lit.see()
    assert lit.see(FULL.under(4, 5, 6)).stillness is Stillness.MOVING
    assert lit.watcher.exposure == 0
    lit.look(40, other.under(0, 1, 2))
    assert rows(lit.look(TRIES + 30, other))[0][6] in {35, None}


def test_a_camera_that_never_reaches_the_exposure_is_not_waited_for() -> None:
    watcher, asked = TableWatcher(), []
    for number in range(3 * PATIENCE):
        if watcher.see(number / 10, frame(FULL, number), 0):
            watcher.take(reading(FULL, unread=GLARED), 0, -1)
        asked.append(watcher.exposure)
    assert set(asked) == {0, -1}
    assert asked[-PATIENCE:] == [0] * PATIENCE


def test_after_a_late_change_of_exposure_the_next_scene_requests_none() -> None:
    """The apparent motion is due to the camera itself; a hand that comes later is not."""
    watcher, asks, number = TableWatcher(), 0, 0

    def watch(frames: int, light: float = 1.0) -> None:
        nonlocal asks, number
        for _ in range(frames):
            number += 1
            before = watcher.exposure
            if watcher.see(number / 10, frame(FULL, number, light), before):
                watcher.take(reading(FULL, unread=GLARED), before, -1)
            asks += watcher.exposure < before

    watch(20)
    assert asks == -SHORTEST
    watch(1, light=0.3)
    watch(20)
    assert asks == -SHORTEST
    watch(1, light=0.3)
    watch(STEADY)
    assert asks == -2 * SHORTEST


@pytest.mark.parametrize(("level", "light"), [(255, -1), (120, 0), (20, 1)])
def test_overexposed_or_dark_tiles_are_attributed_to_light(level: int, light: int) -> None:
    picture = np.full((120, 400, 3), 120, dtype=np.uint8)
    picture[0:30, 144:166] = level  # the tile at place 6
    assert light_of_unread(picture, reading(FULL, unread=frozenset({6}))) == light
    assert light_of_unread(picture, reading(FULL)) == 0


@pytest.mark.parametrize(
    ("level", "share", "light"),
    [
        ((250, 250, 250), 0.11, -1),
        ((250, 250, 250), 0.09, 0),
        ((250, 249, 255), 1.0, 0),
        ((59, 59, 59), 0.91, 1),
        ((59, 59, 59), 0.89, 0),
        ((60, 60, 60), 1.0, 0),
    ],
)
def test_a_tenth_overexposed_or_nine_tenths_dark_hide_a_mark(
    level: tuple[int, int, int], share: float, light: int
) -> None:
    picture = np.full((120, 400, 3), 120, dtype=np.uint8)
    unread = reading(FULL, unread=frozenset({6}))
    (patch,) = _patches(picture, [read.quad for read in unread.reads if read.serial is None])
    high, wide = patch.shape[:2]
    patch[np.unravel_index(np.arange(round(share * high * wide)), (high, wide))] = level
    assert light_of_unread(picture, unread) == light


@pytest.mark.parametrize(("level", "light"), [(255, -1), (20, 0)])
def test_empty_places_are_checked_for_overexposure_only(level: int, light: int) -> None:
    picture = np.full((120, 400, 3), 120, dtype=np.uint8)
    picture[0:30, 144:166] = level
    quad = reading(FULL).places[6].read
    assert quad is not None
    bare = replace(place(6, None, PlaceState.EMPTY), quad=quad.quad)
    assert light_of_unread(picture, PictureReading((), (bare,))) == light


@given(st.integers(0, 1000), st.sampled_from([-2, -1, 1]), st.floats(0.7, 1.4))
def test_a_change_of_exposure_is_not_motion_but_a_hand_during_it_is(seed: int, stops: int, gamma: float) -> None:
    """A camera's response is not linear; here it is a gamma curve."""

    def shown(table: Table, number: int, light: float) -> np.ndarray:
        bent = 255 * (frame(table, number, 0.6 * light, noise=0.5) / 255.0) ** gamma
        return np.asarray(np.clip(bent, 0, 255), dtype=np.uint8)

    own, other = shown(FULL, seed, 1.0), shown(FULL, seed + 1, 2.0**stops)
    assert not has_moved(own, other, relit=True)
    assert has_moved(own, shown(FULL.under(2, 3, 4, 15, 16), seed + 1, 2.0**stops), relit=True)


@pytest.mark.slow  # reading a tray with glare takes long
def test_a_simulated_lamps_reflection_is_read_through() -> None:
    laid = deal_tiles(3)
    stream, asked, settling = WaitingStream(read_picture), [0], 0
    first: PictureReading | None = None
    with open_camera("sim://tray?seed=2&glare=250", world=SimulatedTable(laid)) as camera:
        for number in range(8):
            if stream.watcher.exposure != asked[-1]:
                asked.append(stream.watcher.exposure)
                assert camera.expose(asked[-1])
                settling = camera.settling
            watched = stream.see(number / 10, camera.frame(), None if settling else asked[-1])
            settling = max(0, settling - 1)
            first = first or watched.shown
    right = tuple(tuple(tile.serial if tile else None for tile in row) for row in laid)
    assert first is not None
    assert (first.rows == right, rows(watched) == right, asked) == (False, True, [0, -1, 0])
