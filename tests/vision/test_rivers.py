"""Rivers and hands, from flat drawings with known outlines, and from pictures through the whole reader."""

import json
import math
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Final

import cv2
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from broker.cli.main import homologue
from tests.vision.river_pictures import hand_picture, river_picture
from vision.cameras.addresses import open_camera
from vision.errors import RiverUnclearError
from vision.geometry import Picture, rectangle, rotation_by
from vision.reader import quad_corners, read_picture
from vision.reading import Corners, TileRead
from vision.rivers import (
    CALLED,
    HandRead,
    RiverRead,
    _are_apart,
    _is_back,
    _long_axis,
    _pitch,
    _slope,
    hand_groups,
    hand_rows,
    read_hand,
    read_river,
)
from vision.sim.scene import lay_hand
from vision.sim.table import SimulatedTable, SimulatedTile

RIVER: Final = (12, 45, 0, 99, 100, 101, 3, 4, 5, 6, 0, 8, 9, 10)
BACK, CLOTH, RED = (215, 220, 210), (50, 90, 40), (40, 40, 220)
WIDTH, HEIGHT = 40.0, 54.0
MIDDLE: Final = np.array([320.0, 320.0])

Drawn = tuple[Picture, list[TileRead]]


def drawn(tiles: dict[tuple[float, float], int | None], degrees: float = 0.0, pitch: float = 1.05) -> Drawn:
    """Draw tiles by row and place, all rotated about the picture's middle; None is an unread back."""
    picture = np.full((640, 640, 3), CLOTH, dtype=np.uint8)
    turn = rotation_by(np.radians(degrees))
    reads = []
    for (row, place), serial in tiles.items():
        spot = np.array([(place - 2.5) * pitch * WIDTH, (row - 1) * 1.1 * HEIGHT])
        quad = rectangle(spot, WIDTH, HEIGHT) @ turn.T + MIDDLE
        cv2.fillConvexPoly(picture, np.round(quad).astype(np.int32), BACK)
        reads.append(TileRead(serial, None, quad_corners(quad), 0.99 if serial else 0.0, degrees % 360))
    return picture, reads


def in_rows(serials: tuple[int | None, ...]) -> dict[tuple[float, float], int | None]:
    """Lay a river in rows of six; 0 is a gap."""
    return {divmod(at, 6): serial for at, serial in enumerate(serials) if serial != CALLED}


def unread(reads: list[TileRead], *serials: int) -> list[TileRead]:
    return [replace(read, serial=None) if read.serial in serials else read for read in reads]


@pytest.mark.parametrize("degrees", [0.0, 8.0, -12.0, 44.0, 90.0, 173.0, 180.0, 265.0])
def test_a_river_is_read_in_order_with_gaps_at_any_rotation(degrees: float) -> None:
    assert read_river(*drawn(in_rows(RIVER), degrees)) == RiverRead(RIVER, gaps=True)


def test_the_order_of_reads_and_the_tiles_ways_up_do_not_matter() -> None:
    picture, reads = drawn(in_rows(RIVER))
    mixed = [replace(read, quad=(*read.quad[2:], *read.quad[:2])) if at % 3 else read for at, read in enumerate(reads)]
    assert read_river(picture, mixed[::-1]).serials == RIVER


@pytest.mark.parametrize(
    ("serials", "shown"),
    [
        (tuple(range(1, 13)), tuple(range(1, 13))),
        ((1, 2, 0, 4, 5, 6), (1, 2, 0, 4, 5, 6)),
        (tuple(range(1, 12)), (*range(1, 12), 0)),
        ((0, *range(2, 13)), (0, *range(2, 13))),
        ((0, *range(2, 18)), (0, *range(2, 18), 0)),
        ((0, 0, *range(3, 18)), (0, 0, *range(3, 18), 0)),
        ((19, 76, 12), (19, 76, 12)),
    ],
)
def test_either_end_may_be_first_if_the_last_row_lacks_at_most_one_tile(
    serials: tuple[int, ...], shown: tuple[int, ...]
) -> None:
    river = read_river(*drawn(in_rows(serials), 5.0))
    assert (river.serials, river.either_end) == (shown, True)
    opposite = read_river(*drawn(in_rows(serials), 185.0))
    assert (opposite.serials, opposite.either_end) == (shown[::-1], True)


@pytest.mark.parametrize("serials", [tuple(range(1, 11)), (1, 0, *range(3, 11)), (0, *range(2, 10)), (*range(1, 8),)])
def test_the_end_with_two_more_bare_places_is_the_last(serials: tuple[int, ...]) -> None:
    for degrees in (5.0, 185.0):
        river = read_river(*drawn(in_rows(serials), degrees))
        assert (river.serials, river.either_end) == (serials, False)


def test_a_single_tile_is_first_from_both_ends() -> None:
    assert read_river(*drawn(in_rows((19,)))) == RiverRead((19,), gaps=False)


@pytest.mark.parametrize("seed", range(30))
def test_a_river_turned_by_half_is_read_the_same_or_from_either_end(seed: int) -> None:
    chance = Random(seed)
    serials = [0 if chance.random() < 0.15 else serial for serial in range(1, chance.randint(2, 24))]
    tiles, degrees = in_rows((*serials, 50)), chance.uniform(0, 90)
    river, opposite = (read_river(*drawn(tiles, angle)) for angle in (degrees, degrees + 180))
    if river.either_end and not river.gaps:  # then the bare places at the ends are not known
        assert [one for one in opposite.serials if one] == [one for one in river.serials[::-1] if one]
    else:
        assert opposite.serials == (river.serials[::-1] if river.either_end else river.serials)
    assert (opposite.gaps, opposite.either_end) == (river.gaps, river.either_end)


def test_something_over_one_end_of_a_short_row_does_not_decide_which_end_is_first() -> None:
    picture, reads = drawn(in_rows((1, 2, 3)))
    quad = next(read.quad for read in drawn({(0, 4): None})[1])
    cv2.fillConvexPoly(picture, np.round(quad).astype(np.int32), RED)
    assert read_river(picture, reads) == RiverRead((3, 2, 1), gaps=False, either_end=True)


def test_a_row_of_more_than_six_is_the_last_from_either_side() -> None:
    tiles = {**in_rows(tuple(range(1, 13))), (1, 6): 13}
    for degrees in (0.0, 180.0):
        assert read_river(*drawn(tiles, degrees)) == RiverRead(tuple(range(1, 14)), gaps=True)


def test_an_unread_back_is_a_tile_whether_or_not_it_was_detected() -> None:
    picture, reads = drawn(in_rows(RIVER))
    told = tuple(None if serial == 100 else serial for serial in RIVER)
    assert read_river(picture, unread(reads, 100)).serials == told
    assert read_river(picture, [read for read in reads if read.serial != 100]).serials == told


def test_bare_table_detected_as_a_tile_is_a_gap_and_a_seam_is_ignored() -> None:
    picture, reads = drawn(in_rows(RIVER))
    _, false = drawn({(0, 2): None, (0, 4.5): None, (2, 3): None})
    river = read_river(picture, [*reads, *false])
    assert river == RiverRead(RIVER, gaps=True)


@pytest.mark.parametrize("where", [(0, 4), (0, 2), (2, 2)])
def test_something_neither_tile_nor_table_is_refused_in_rivers_and_hands(where: tuple[int, int]) -> None:
    tiles = {**in_rows(RIVER), where: None}
    picture, reads = drawn(tiles)
    quad = next(read.quad for read in reads if read.serial is None)
    cv2.fillConvexPoly(picture, np.round(quad).astype(np.int32), RED)
    for read in (read_river, read_hand):
        with pytest.raises(RiverUnclearError, match="neither"):
            read(picture, reads)


def test_a_place_that_is_neither_tile_nor_table_is_named_even_if_nothing_was_detected() -> None:
    picture, reads = drawn(in_rows(RIVER))
    quad = next(read.quad for read in drawn({(1, 4): None})[1])
    cv2.fillConvexPoly(picture, np.round(quad).astype(np.int32), RED)
    with pytest.raises(RiverUnclearError, match="row 2 of the river, place 5: neither"):
        read_river(picture, reads)


def test_without_a_read_tile_beside_bare_table_a_river_is_refused() -> None:
    picture, reads = drawn(in_rows(tuple(range(1, 19))))
    inner = [serial for serial in range(1, 19) if serial not in {8, 9, 10, 11}]
    for read in (read_river, read_hand):
        with pytest.raises(RiverUnclearError, match="no bare table"):
            read(picture, unread(reads, *inner))
        with pytest.raises(RiverUnclearError, match="no tile"):
            read(picture, unread(reads, *range(1, 19)))


@pytest.mark.parametrize(
    ("serials", "gaps"),
    [
        ((19, 76, 12), False),
        ((1, 2, 3, 4, 5, 6), True),
        ((1, 0, 0, 0, 0, 6), True),
        ((1, 45, 7, 99, 100, 0, 0, 4, 5, 6, 11, 2), False),  # a first and a sixth tile, but in two rows
        ((1, 2, 3, 4, 5, 0, 0, 8, 9, 10, 11, 12), False),
        ((1, 2, 3, 4, 5, 0, 7, 8, 9, 10, 11, 12), True),
    ],
)
def test_the_first_column_is_certain_if_a_row_has_its_first_and_sixth_tile(
    serials: tuple[int, ...], *, gaps: bool
) -> None:
    assert read_river(*drawn(in_rows(serials))) == RiverRead(serials, gaps, either_end=True)


def test_otherwise_a_gap_in_the_first_column_is_missed() -> None:
    river = read_river(*drawn(in_rows((0, 45, 7, 99, 100, 0, 0, 4, 5, 6, 11, 2))))
    assert river == RiverRead((45, 7, 99, 100, 0, 0, 4, 5, 6, 11, 2), gaps=False, either_end=True)


def test_only_the_last_row_may_be_longer_than_six() -> None:
    tiles = in_rows(tuple(range(1, 13)))
    assert read_river(*drawn({**tiles, (1, 6): 13})).serials == tuple(range(1, 14))
    with pytest.raises(RiverUnclearError, match="is no row of 6 tiles"):
        read_river(*drawn({**tiles, (0, 6): 13, (1, 6): 14}))


def test_two_tiles_on_one_place_are_not_a_river() -> None:
    with pytest.raises(RiverUnclearError, match="row 1 of the river is no row"):
        read_river(*drawn({(0, 0): 1, (0, 1): 2, (0, 1.4): 3}))


@pytest.mark.parametrize("pitch", [0.95, 1.05, 1.2, 1.4])
def test_tiles_may_be_closer_or_farther_apart(pitch: float) -> None:
    assert read_river(*drawn(in_rows(RIVER), pitch=pitch)).serials == RIVER


@pytest.mark.parametrize(
    ("places", "pitch"),
    [
        ((0.0, 1.1, 2.2, 3.5), 1.1),
        ((0.0, 0.89, 1.8), 0.91),
        ((0.0, 1.51, 2.99), 1.48),
        ((0.0, 2.1, 4.2), 1.05),  # no neighbours: the usual distance
        ((0.0,), 1.05),
    ],
)
def test_the_pitch_is_that_of_neighbours(places: tuple[float, ...], pitch: float) -> None:
    middles = np.column_stack([10.0 * np.array(places), np.zeros(len(places))])
    assert _pitch(middles, [list(range(len(places)))], 10.0) == pytest.approx(10 * pitch)


@pytest.mark.parametrize("degrees", [0.0, 30.0, 89.0, 91.0, 150.0, 179.0])
def test_the_long_axis_is_that_of_most_tiles(degrees: float) -> None:
    turn = rotation_by(np.radians(degrees))
    upright = [rectangle(np.zeros(2), 30.0, 40.0) @ turn.T for _ in range(4)]
    quads = np.array([*upright, rectangle(np.zeros(2), 40.0, 30.0) @ turn.T])
    assert np.degrees(_long_axis(quads)) == pytest.approx((90 + degrees) % 180)
    assert _long_axis(np.roll(quads, 1, axis=1)) == pytest.approx(_long_axis(quads))


@pytest.mark.parametrize(("away", "apart"), [(31.9, False), (32.1, True)])
def test_an_outline_within_eight_tenths_of_a_width_is_the_same_tile(away: float, *, apart: bool) -> None:
    tiles = np.array([rectangle(np.array([x, 0.0]), WIDTH, HEIGHT) for x in (0.0, 500.0)])
    for x, y in product((-1, 1), repeat=2):
        spot = away * np.array([0.6 * x, 0.8 * y])
        assert _are_apart(rectangle(spot, 10.0, 10.0)[None], tiles).tolist() == [apart]


@pytest.mark.parametrize(
    ("cloth", "at", "is_back"),
    [
        (90.0, 0.0, True),
        (90.0, 90.0, False),
        (90.0, 20.0, True),
        (90.0, 20.1, None),
        (90.0, 70.0, False),
        (90.0, 69.9, None),
        (90.0, -20.1, None),
        (90.0, 111.0, None),
        (30.0, 10.0, True),
        (30.0, 10.1, None),
        (30.0, 20.0, False),
        (30.0, 19.9, None),  # must be twice as close
        (12.0, 0.0, True),
        (11.9, 0.0, None),
        (11.9, 11.9, None),  # too much alike
    ],
)
def test_a_colour_is_assigned_to_the_clearly_nearer_one(cloth: float, at: float, *, is_back: bool | None) -> None:
    colour, back, bare = (np.array([50.0, 5.0 + 0.8 * off, 7.0 - 0.6 * off]) for off in (at, 0.0, cloth))
    if is_back is None:
        with pytest.raises(RiverUnclearError, match="row 3: neither"):
            _is_back(colour, back, bare, "row 3")
    else:
        assert _is_back(colour, back, bare, "row 3") == is_back


def test_a_hand_comes_before_its_melds_and_a_winning_tile_after_them() -> None:
    row = [
        (0, -1.0),
        (0, 0.0),
        (0, 1.0),
        (0, 3.0),
        (0, 4.0),
        (0, 5.0),
        (1, 0.0),
        (1, 1.0),
        (1, 2.0),
        (1, 3.0),
        (1, 5.0),
    ]
    picture, reads = drawn({at: serial for serial, at in enumerate(row, 20)})
    assert read_hand(picture, reads) == HandRead((20, 21, 22), ((23, 24, 25), (26, 27, 28, 29)), 30)
    assert read_hand(picture, reads[:10]) == HandRead((20, 21, 22), ((23, 24, 25), (26, 27, 28, 29)))
    assert read_hand(picture, reads[:1]) == HandRead((20,), ())
    with pytest.raises(RiverUnclearError, match="group 2 has 2 tiles"):
        read_hand(picture, [*reads[:5], *reads[6:]])


def test_the_command_prints_the_input_of_the_search(tmp_path: Path) -> None:
    river, hand = tmp_path / "river.png", tmp_path / "hand.png"
    cv2.imwrite(str(river), river_picture(RIVER))
    cv2.imwrite(str(hand), hand_picture([range(20, 30), (1, 2, 3), [7]]))
    said = ["record", "laid", "--river", "east", str(river), "--hand", "east", str(hand)]
    done = CliRunner().invoke(homologue, said)
    assert json.loads(done.stdout) == {
        "seats": {
            "east": {
                "river": [*RIVER],
                "gaps": True,
                "either_end": False,
                "hand": [*range(20, 30)],
                "melds": [[1, 2, 3]],
            }
        },
        "winning": 7,
    }


def test_a_covered_number_is_a_tile_rather_than_a_gap_even_from_an_angle() -> None:
    picture = river_picture(RIVER)
    quad = next(read.quad for read in read_picture(picture, close=False).reads if read.serial == 100)
    (left, top), (right, bottom) = np.min(quad, axis=0), np.max(quad, axis=0)
    inner = (slice(int(top) + 12, int(bottom) - 12), slice(int(left) + 12, int(right) - 12))
    picture[inner] = picture[int(bottom) - 10, int(left) + 20]
    aside = np.asarray(cv2.rotate(picture, cv2.ROTATE_90_CLOCKWISE), dtype=np.uint8)
    told = tuple(None if serial == 100 else serial for serial in RIVER)
    assert read_river(aside, read_picture(aside, close=False).reads).serials == told


def test_a_picture_without_tiles_is_refused(tmp_path: Path) -> None:
    bare = tmp_path / "bare.png"
    cv2.imwrite(str(bare), river_picture([]))
    done = CliRunner().invoke(homologue, ["record", "laid", "--river", "east", str(bare)])
    assert (done.exit_code, "[river_unclear]" in done.stderr) == (1, True)


WIDE, HIGH = 22.0, 30.0


@dataclass(frozen=True)
class Mat:
    """Rows of groups of serials and how they lie: the slope of all, each tile's rotation and offset, and the gaps."""

    rows: tuple[tuple[tuple[int, ...], ...], ...]
    slope: float
    gap: float
    between: float
    turns: tuple[int, ...]
    slips: tuple[float, ...]

    def tiles(self) -> list[TileRead]:
        """Return the reads in random order."""
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
def test_groups_are_returned_in_reading_order(mat: Mat) -> None:
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
def test_rows_slope_as_most_tiles_do_whichever_way_they_lie(degrees: float) -> None:
    slopes = [math.radians(degrees + 90 * turn) for turn in range(4)] + [math.radians(0.5 * degrees)]
    quads = np.array([replace(BARE, slope=slope)._tile(1, (0.0, 0.0), 0).quad for slope in slopes])
    assert math.degrees(_slope(quads)) == pytest.approx(degrees, abs=1e-6)


def test_an_empty_mat_has_no_groups() -> None:
    assert hand_groups(()) == ()


def test_a_hand_on_the_simulated_table_is_read_group_by_group() -> None:
    groups = [[7, 134, 21, 88, 90, 3, 55], [101, 12, 60], [45, 46, 47, 48], [136]]
    table = SimulatedTable()
    table.spread(
        lay_hand([[SimulatedTile(3, serial, upside_down=serial % 5 == 0) for serial in group] for group in groups])
    )
    with open_camera("sim://tray?seed=3&tilt=3&noise=2&blur=0.5", world=table) as camera:
        reading = read_picture(camera.frame(), close=False)
    assert [[read.serial for read in group] for group in hand_groups(reading.reads)] == groups
