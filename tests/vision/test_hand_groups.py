"""Tiles that lie side by side are one group, however the row slopes and whichever way each tile is turned."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.cameras.addresses import open_camera
from vision.hand_groups import _slope, hand_groups, hand_rows
from vision.reader import read_picture
from vision.reading import Corners, TileRead
from vision.sim.scene import lay_hand
from vision.sim.table import SimulatedTable, SimulatedTile

WIDE, HIGH = 22.0, 30.0


@dataclass(frozen=True)
class Mat:
    """Rows of groups of serials, and how they are laid: the slope of all, each tile's turns and slip, all gaps."""

    rows: tuple[tuple[tuple[int, ...], ...], ...]
    slope: float
    gap: float
    between: float
    turns: tuple[int, ...]
    slips: tuple[float, ...]

    def tiles(self) -> list[TileRead]:
        """Return the tiles as a reader gives them, in no order."""
        found: list[TileRead] = []
        y = 0.0
        for row in self.rows:
            x = 0.0
            for group in row:
                for serial in group:
                    turn, slip = self.turns[serial % 7], self.slips[serial % 7]
                    width = HIGH if turn % 2 else WIDE
                    found.append(self._tile(serial, (x + width / 2, y + slip), turn))
                    x += width + self.gap
                x += self.between
            y += 1.15 * HIGH
        return sorted(found, key=lambda read: (read.serial or 0) * 29 % 137)

    def _tile(self, serial: int, middle: tuple[float, float], turn: int) -> TileRead:
        corners = [(-WIDE / 2, -HIGH / 2), (WIDE / 2, -HIGH / 2), (WIDE / 2, HIGH / 2), (-WIDE / 2, HIGH / 2)]
        own = [_turned(corner, turn * math.pi / 2) for corner in corners]
        a, b, c, d = (_turned((x + middle[0], y + middle[1]), self.slope) for x, y in own)
        quad: Corners = (a, b, c, d)
        return TileRead(serial, "01", quad, 1.0, 0.0)


def _turned(point: tuple[float, float], angle: float) -> tuple[float, float]:
    x, y = point
    return x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)


@st.composite
def mats(draw: st.DrawFn) -> Mat:
    serials = iter(range(1, 137))
    sizes = draw(st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=4), min_size=1, max_size=3))
    return Mat(
        rows=tuple(tuple(tuple(next(serials) for _ in range(size)) for size in row) for row in sizes),
        slope=draw(st.floats(-0.03, 0.03)),
        gap=draw(st.floats(0.0, 3.0)),
        between=draw(st.floats(14.0, 60.0)),
        turns=tuple(draw(st.lists(st.sampled_from([0, 0, 0, 2]), min_size=7, max_size=7))),
        slips=tuple(draw(st.lists(st.floats(-2.0, 2.0), min_size=7, max_size=7))),
    )


@given(mats())
def test_groups_come_back_in_reading_order(mat: Mat) -> None:
    rows = hand_rows(mat.tiles())
    assert tuple(tuple(tuple(read.serial for read in group) for group in row) for row in rows) == mat.rows
    assert hand_groups(mat.tiles()) == tuple(group for row in rows for group in row)


def test_a_claimed_tile_may_lie_across() -> None:
    mat = Mat((((1, 2, 3, 4), (5, 6, 7), (8,)),), 0.02, 1.0, 30.0, (0, 0, 0, 0, 0, 1, 0), (0.0,) * 7)
    assert [[read.serial for read in group] for group in hand_groups(mat.tiles())] == [[1, 2, 3, 4], [5, 6, 7], [8]]


BARE = Mat((), 0.0, 0.0, 0.0, (0,), (0.0,))


@pytest.mark.parametrize(
    ("right", "down", "groups"),
    [
        (1.49, 0.0, [[1, 2]]),
        (1.51, 0.0, [[1], [2]]),
        (-1.49, 0.0, [[2, 1]]),
        (-1.51, 0.0, [[2], [1]]),
        (1.0, 0.59, [[1, 2]]),
        (1.0, 0.61, [[1], [2]]),
        (-1.0, 0.59, [[2, 1]]),
        (-1.0, 0.61, [[1], [2]]),
        (1.0, -0.61, [[2], [1]]),
    ],
)
@pytest.mark.parametrize("slope", [0.0, 0.3, -0.7])
def test_groups_are_half_a_width_apart_and_rows_six_tenths_of_a_height(
    right: float, down: float, groups: list[list[int]], slope: float
) -> None:
    """Both tiles slope alike, by up to an eighth of a turn."""
    mat = replace(BARE, slope=slope)
    tiles = [mat._tile(1, (0.0, 0.0), 0), mat._tile(2, (right * WIDE, down * HIGH), 2)]
    assert [[read.serial for read in group] for group in hand_groups(tiles)] == groups


@pytest.mark.parametrize("degrees", [0.0, 2.0, 44.0, -44.0])
def test_rows_slope_as_most_tiles_do_whichever_way_each_lies(degrees: float) -> None:
    slopes = [math.radians(degrees + 90 * turn) for turn in range(4)] + [math.radians(0.5 * degrees)]
    quads = np.array([replace(BARE, slope=slope)._tile(1, (0.0, 0.0), 0).quad for slope in slopes])
    assert math.degrees(_slope(quads)) == pytest.approx(degrees, abs=1e-6)


def test_an_empty_mat_has_no_groups() -> None:
    assert hand_groups(()) == ()


def test_a_hand_on_the_simulated_mat_is_read_group_by_group() -> None:
    groups = [[7, 134, 21, 88, 90, 3, 55], [101, 12, 60], [45, 46, 47, 48], [136]]
    table = SimulatedTable()
    table.spread(
        lay_hand([[SimulatedTile(3, serial, upside_down=serial % 5 == 0) for serial in group] for group in groups])
    )
    with open_camera("sim://tray?seed=3&tilt=3&noise=2&blur=0.5", world=table) as camera:
        reading = read_picture(camera.frame(), close=False)
    assert [[read.serial for read in group] for group in hand_groups(reading.reads)] == groups
