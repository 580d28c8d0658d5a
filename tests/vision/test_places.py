"""What the layout measures, by small exact cases: points and colours of tiles, strange backs, gaps, seats."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.vision.tray_scenes import Pose, see, tray_scene, turned
from vision.finder import DetectedTile, Detections
from vision.geometry import Picture, Points, TablePlane, rectangle, tile_frames
from vision.layout import (
    GapEvidence,
    TilePosition,
    _detail,
    _tile_evidence,
    covered_share,
    finger_shares,
    gather_evidence,
    hand_near,
    inside_share,
    judge_gap,
    lay_out_table,
    stand_tiles_up,
    strange_backs,
)
from vision.marks import TileMark
from vision.picture import CORE_SIDE, Colours
from vision.reading import CENTRED, LEFT, Indents, PlaceState, RowCol, tray_places
from vision.trays import Lattice, _fill, _turned, _usual_turn, _weight, directions, find_trays, name_seats, tray_groups

SQUARE = rectangle(np.array([50.0, 50.0]), 40.0, 40.0)


@pytest.mark.parametrize(("x", "share"), [(50.0, 1.0), (0.0, 0.5), (100.0, 0.5), (-30.0, 0.0), (12.0, 0.9)])
def test_a_tile_is_in_the_picture_by_its_share(x: float, share: float) -> None:
    picture = np.zeros((100, 100, 3), dtype=np.uint8)
    quads = np.stack([rectangle(np.array([x, 50.0]), 40.0, 40.0), rectangle(np.array([50.0, x]), 40.0, 40.0)])
    assert inside_share(picture, quads) == pytest.approx([share, share])


def hand(left: int, level: int = 255) -> Picture:
    cells = np.zeros((25, 25), dtype=np.uint8)
    cells[:, left:] = level
    return cells


def test_a_hand_covers_a_tile_by_its_share_and_is_near_within_half_a_tile() -> None:
    quads = SQUARE[None]
    assert covered_share(hand(12, 204), 4.0, quads) == pytest.approx([0.8 * 0.6])
    assert covered_share(hand(25), 4.0, quads) == pytest.approx([0.0])
    assert hand_near(hand(19, 51), 4.0, quads) == pytest.approx([0.2])  # 76 pixels: the tile ends at 70
    assert hand_near(hand(20), 4.0, quads) == pytest.approx([0.0])
    nothing = np.zeros((0, 0), dtype=np.uint8)
    assert (covered_share(nothing, 4.0, quads).tolist(), hand_near(nothing, 4.0, quads).tolist()) == ([0.0], [0.0])


USUAL = np.array([50.0, -30.0, 0.0], dtype=np.float32)


def rims_with(change: tuple[float, float, float], share: float = 1.0, count: int = 12) -> Colours:
    """Rims of 41 points; the fourth back's are changed, `share` of them."""
    rims = np.tile(USUAL, (count, 41, 1))
    rims[3, : round(41 * share)] += np.array(change, dtype=np.float32)
    return rims


def is_strange(rims: Colours, blank: int | None = None) -> bool:
    middles = np.column_stack([np.arange(float(len(rims))), np.zeros(len(rims))])
    flags = np.arange(len(rims)) == blank
    found = strange_backs(rims, middles, np.ones(len(rims), dtype=bool), flags)
    assert not np.delete(found, 3).any()
    return bool(found[3])


@pytest.mark.parametrize(
    ("change", "strange"),
    [
        ((0.0, 0.0, 14.9), False), ((0.0, 0.0, 15.1), True), ((0.0, 0.0, -15.1), True),
        ((0.0, -11.4, 0.0), False), ((0.0, -26.6, 0.0), True),  # a quarter stronger and 4 more is the same hue
        ((0.0, 30.0, 0.0), False), ((0.0, 44.9, 0.0), False), ((0.0, 45.1, 0.0), True),  # grey, and beyond
        ((22.1, 19.9, 0.0), False), ((21.9, 20.1, 0.0), False), ((22.1, 20.1, 0.0), True),  # paler and lighter
        ((-44.9, 0.0, 0.0), False), ((-45.1, 0.0, 0.0), True),
        ((46.9, 30.0, 0.0), True), ((47.1, 30.0, 0.0), False),  # white from 97 on: glare
    ],
)  # fmt: skip
def test_another_hue_or_a_paler_or_a_much_darker_back_is_strange(
    change: tuple[float, float, float], *, strange: bool
) -> None:
    assert is_strange(rims_with(change)) == strange


@pytest.mark.parametrize(("share", "strange"), [(0.72, False), (0.78, True)])
def test_three_quarters_of_a_rim_tell_its_hue(share: float, *, strange: bool) -> None:
    assert is_strange(rims_with((0.0, 0.0, 30.0), share)) == strange


@pytest.mark.parametrize(("count", "strange"), [(7, True), (6, False)])
def test_seven_backs_make_a_usual_colour(count: int, *, strange: bool) -> None:
    assert is_strange(rims_with((0.0, 0.0, 30.0), count=count)) == strange
    assert not is_strange(rims_with((0.0, 0.0, 30.0), count=7), blank=5)


@pytest.mark.parametrize(
    ("change", "share"),
    [((15.1, 0.0, 6.1), 0.5), ((-15.1, 0.0, -6.1), 0.5), ((14.9, 0.0, 9.0), 0.0), ((30.0, 0.0, 5.9), 0.0)],
)
def test_a_finger_is_other_in_hue_and_in_light_at_once(change: tuple[float, float, float], share: float) -> None:
    rims = rims_with(change, 0.5)
    middles = np.column_stack([np.arange(12.0), np.zeros(12)])
    backs = np.arange(12) != 8
    shares = finger_shares(rims, middles, backs)
    assert shares[3] == pytest.approx(share, abs=0.02)
    assert np.delete(shares, 3).max() == 0
    assert finger_shares(rims, middles, np.arange(12) < 6).tolist() == [0.0] * 12


def test_detail_is_the_mean_step_in_light_between_neighbouring_points() -> None:
    light = np.zeros((CORE_SIDE, CORE_SIDE), dtype=np.float32)
    light[:, ::2] = 10.0
    cores = np.zeros((2, CORE_SIDE**2, 3), dtype=np.float32)
    cores[0, :, 0], cores[1, :, 0] = light.ravel(), (light + light.T).ravel()
    assert _detail(cores) == pytest.approx([10.0, 20.0])


GREEN, FELT = np.array([50.0, -30.0, 0.0]), np.array([30.0, 10.0, 0.0])
BACKS = np.array([place for place in range(34) if place != 5])


def evidence(rim: Points, detail: float = 0.0, inside: float = 1.0) -> GapEvidence:
    """A tray on felt of which place 5 looks so."""
    rims = np.tile(GREEN.astype(np.float32), (34, 64, 1))
    rims[5] = rim
    details = np.full(34, 10.0)
    details[5] = detail
    shown = np.ones(34)
    shown[5] = inside
    return GapEvidence(shown, rims, details, np.tile(FELT.astype(np.float32), (40, 1)))


def mixed(backs: float) -> Points:
    """A rim of which a share has the backs' colour and the rest the floor's."""
    return np.where(np.arange(64)[:, None] < round(64 * backs), GREEN, FELT)


@pytest.mark.parametrize(
    ("rim", "detail", "state"),
    [
        (mixed(0.0), 0.0, PlaceState.EMPTY),
        (mixed(1.0), 10.0, PlaceState.BACK),
        (mixed(1.0), 3.9, PlaceState.EMPTY),  # the floor has the backs' colour: print tells
        (mixed(1.0), 4.1, PlaceState.BACK),
        (mixed(0.58), 6.4, PlaceState.EMPTY),
        (mixed(0.58), 6.6, PlaceState.BACK),  # colours leave it open
        (mixed(0.61), 4.1, PlaceState.BACK),
        (mixed(0.29), 9.0, PlaceState.EMPTY),
        (mixed(0.32), 9.0, PlaceState.BACK),
        (np.tile([20.0, -10.0, 40.0], (64, 1)), 9.0, PlaceState.BACK),  # neither: nothing is claimed
        (np.tile([54.0, 40.0, 10.0], (64, 1)), 9.0, PlaceState.BACK),
        (np.tile([56.0, 40.0, 10.0], (64, 1)), 0.0, PlaceState.OCCLUDED),  # unlike both, and lighter than the floor
        (np.tile([96.0, 40.0, 10.0], (64, 1)), 0.0, PlaceState.OCCLUDED),
        (np.tile([98.0, 40.0, 10.0], (64, 1)), 9.0, PlaceState.BACK),  # white: glare
        (np.tile([56.0, -30.0, 19.0], (64, 1)), 9.0, PlaceState.BACK),
    ],
)
def test_a_gap_is_judged_by_the_backs_and_the_floor(rim: Points, detail: float, state: PlaceState) -> None:
    assert judge_gap(evidence(rim, detail), 5, BACKS) is state


def test_where_a_tile_was_found_missing_print_is_no_proof() -> None:
    assert judge_gap(evidence(mixed(1.0)), 5, BACKS, found=True) is PlaceState.BACK
    assert judge_gap(evidence(mixed(0.0)), 5, BACKS, found=True) is PlaceState.EMPTY


@pytest.mark.parametrize(("inside", "state"), [(0.74, PlaceState.BACK), (0.76, PlaceState.EMPTY)])
def test_of_a_place_outside_of_the_picture_nothing_is_claimed(inside: float, state: PlaceState) -> None:
    assert judge_gap(evidence(mixed(0.0), inside=inside), 5, BACKS) is state
    assert judge_gap(evidence(mixed(0.0)), 5, np.array([], dtype=int)) is PlaceState.BACK


def test_the_five_nearest_backs_tell_how_backs_look() -> None:
    """Beside place 5 lie 4, 6, 18 and 3, 7; a row counts 1.4 of a column."""
    ground = evidence(mixed(1.0), 10.0)
    for place in (4, 6, 18):
        ground.details[place] = 30.0
    assert judge_gap(ground, 5, BACKS) is PlaceState.EMPTY
    ground.details[18] = 10.0
    assert judge_gap(ground, 5, BACKS) is PlaceState.BACK


@pytest.mark.parametrize(("degrees", "sideways"), [(14.0, False), (16.0, True), (-14.0, False), (-16.0, True)])
def test_a_tile_lies_askew_from_fifteen_degrees_on(degrees: float, *, sideways: bool) -> None:
    scene = tray_scene(Pose())
    seen = see(scene.changed((1, 4), quad=turned(scene.at((1, 4)).quad, degrees)))
    own = tray_scene(Pose()).at((1, 4)).quad
    lean = np.degrees(np.arctan2(*(own[1] - own[0])[::-1]))  # tiles of the scene lie a little askew themselves
    lies = seen.lay_out().lies
    (lie,) = (lie for one, lie in zip(seen.shown, lies, strict=True) if one.where == (1, 4))
    assert abs(lean) < 1
    assert (lie.sideways, lie.turn) == (sideways, 0)


@pytest.mark.parametrize("degrees", [0.0, 30.0, 90.0, 200.0])
def test_rotation_and_outline_begin_where_the_mark_stands(degrees: float) -> None:
    """A mark that stands upside down in its outline turns both by half."""
    seen = see(tray_scene(Pose(azimuth=degrees)))
    for one, own, lie in zip(seen.shown, seen.quads, seen.lay_out().lies, strict=True):
        right = own[1] - own[0]
        assert lie.quad == pytest.approx(own)
        away = (lie.rotation - np.degrees(np.arctan2(right[1], right[0])) + 180) % 360 - 180
        assert (abs(away) < 1.5, lie.turn, lie.row) == (True, 0, one.where and one.where[0])


@pytest.mark.parametrize("upside_down", [False, True])
def test_a_tile_whose_way_up_is_told_later_lies_as_if_it_had_been_told_at_once(*, upside_down: bool) -> None:
    """Until then it is taken to stand as its tray does; a number that reads both ways up is as surely on its tile."""
    scene = tray_scene(Pose(azimuth=30.0))
    seen = see(scene.changed((1, 4), quad=np.roll(scene.at((1, 4)).quad, 2 if upside_down else 0, axis=0)))
    (at,) = (at for at, one in enumerate(seen.shown) if one.where == (1, 4))
    marks = list(seen.marks)
    marks[at] = TileMark(None, None, None, 0.99, np.zeros(2), either=(60, 90), pitch=0.2)
    before = replace(seen, marks=tuple(marks)).lay_out()
    then = stand_tiles_up(seen.found, seen.marks, before)
    assert (before.lies[at].turn, then.lies[at].turn) == (0, 180 if upside_down else 0)
    for lie, known in zip(then.lies, seen.lay_out().lies, strict=True):
        assert lie.quad == pytest.approx(known.quad)
        assert lie.rotation == pytest.approx(known.rotation)
        assert (lie.turn, lie.row, lie.col) == (known.turn, known.row, known.col)


def test_a_tile_beside_a_tray_that_is_turned_over_has_no_turn_against_it() -> None:
    lie = TilePosition(SQUARE, 200.0)
    over = lie.turned_over()
    assert (over.rotation, over.turn, over.quad.tolist()) == (20.0, 0, SQUARE[[2, 3, 0, 1]].tolist())
    tile = DetectedTile(SQUARE, face_up=False, likelihood=0.9)
    assert (lie.is_turned(tile), over.is_turned(tile)) == (False, True)


@pytest.mark.parametrize(("neighbours", "told"), [(2, 4), (3, 7)])
def test_three_neighbours_that_lie_alike_tell_the_plane_and_two_do_not(
    monkeypatch: pytest.MonkeyPatch, neighbours: int, told: int
) -> None:
    told_by: list[int] = []
    monkeypatch.setattr("vision.trays.fit_plane", lambda _, members, __: told_by.append(len(members)))
    there = {(0, col) for col in range(4)} | {(2, col) for col in range(7, 7 + neighbours)}
    scene = tray_scene(Pose())
    seen = see(replace(scene, tiles=tuple(one for one in scene.tiles if one.where in there)))
    assert find_trays(seen.found, seen.marks, (960, 960)) == ()
    assert told_by == [told]


PLANE = TablePlane(np.diag([1.0, 1.0, 1.0]), np.zeros(2), 1.0, 0.0)


@pytest.mark.parametrize("degrees", [0.0, 40.0, -70.0, 179.0])
def test_a_tile_s_direction_is_that_of_its_short_ends(degrees: float) -> None:
    quad = turned(rectangle(np.array([5.0, 7.0]), 1.0, 1.36), degrees)
    assert np.degrees(directions(tile_frames(quad[None]), PLANE)) == pytest.approx([degrees])


def grouped(*spots: tuple[float, float], cut: int, ways: float = 0.0) -> list[list[int]]:
    """Group spots of which the first `cut` are linked, and the rest."""
    pieces = [piece for piece in (np.arange(cut), np.arange(cut, len(spots))) if len(piece)]
    found = tray_groups(pieces, np.array(spots), np.full(len(spots), np.radians(ways)))
    return [sorted(group.members.tolist()) for group in found]


FIRST = [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (3.0, 0.0)]


@pytest.mark.parametrize(
    ("x", "y", "joined"),
    [(14.3, 0.0, True), (14.4, 0.0, False), (0.0, 3.79, True), (0.0, 3.8, False), (-11.3, 0.0, True)],
)
def test_a_group_is_no_larger_than_a_tray(x: float, y: float, *, joined: bool) -> None:
    """Twelve pitches of 1.17 widths and 0.3; two rows of 1.32 heights and 0.2."""
    assert grouped(*FIRST, (x, y), cut=4)[0] == [0, 1, 2, 3, *([4] if joined else [])]


@pytest.mark.parametrize(("ways", "found"), [(11.9, True), (12.1, False), (-11.9, True), (90.0, True), (101.0, True)])
def test_a_group_s_tiles_lie_along_the_plane_s_axes(ways: float, *, found: bool) -> None:
    assert bool(grouped(*FIRST, cut=4, ways=ways)) == found


def test_four_tiles_begin_a_tray_and_three_do_not() -> None:
    assert grouped(*FIRST, cut=4) == [[0, 1, 2, 3]]
    assert grouped(*FIRST[:3], cut=3) == []


def test_tiles_across_the_plane_are_a_group_of_the_other_quarter() -> None:
    turns = [tray_groups([np.arange(4)], np.array(FIRST), np.full(4, way))[0] for way in (0.0, np.pi / 2, np.pi)]
    assert [group.quarter for group in turns] == [0, 1, 0]


@pytest.mark.parametrize(
    ("rotations", "seats"),
    [
        ([0.0, 270.0, 180.0, 90.0], ["E", "S", "W", "N"]),
        ([39.0, 309.0, 219.0, 129.0], ["E", "S", "W", "N"]),
        ([-39.0, 231.0], ["E", "S"]),
        ([41.0], None),
        ([90.0], ["N"]),
    ],
)
def test_seats_are_named_by_how_their_trays_lie(rotations: list[float], seats: list[str] | None) -> None:
    expected = None if seats is None else {seat: at for at, seat in enumerate(seats)}
    assert name_seats(rotations, [34] * len(rotations)) == expected


def test_of_two_trays_that_lie_alike_the_fuller_has_the_seat() -> None:
    assert name_seats([0.0, 1.0, 180.0], [20, 30, 5]) == {"E": 1, "W": 2}


def test_the_usual_turn_is_small_whichever_end_comes_first() -> None:
    assert _usual_turn(np.array([0.1, 0.1 + np.pi, 0.1 - np.pi, 2.0, 0.12])) == pytest.approx(0.1)
    assert _usual_turn(np.zeros(0)) == 0.0


def test_a_tile_counts_whole_that_was_read_and_by_half_of_its_likelihood_otherwise() -> None:
    tile = DetectedTile(SQUARE, face_up=False, likelihood=0.8)
    mark = TileMark(5, None, turned=True, confidence=1.0, spot=np.zeros(2))
    unread = replace(mark, serial=None, turned=None)
    assert [_weight(tile, one) for one in (mark, unread, None)] == [1.0, 0.4, 0.4]
    assert [_turned(one) for one in (mark, replace(mark, turned=False), unread, None)] == [-1.0, 1.0, 0.0, 0.0]


LATTICE = Lattice(PLANE, 0, np.array([[0.0, 0.0], [1.1, 0.0], [0.0, 1.6], [0.0, 0.0], [0.0, 0.0]]), LEFT)


def filled(*tiles: tuple[float, float, float, float]) -> dict[tuple[int, int], int]:
    """Fill a tray of pitch 1.1 and 1.6 with tiles: where each lies, its turn in degrees, its likelihood."""
    spots = np.array([tile[:2] for tile in tiles])
    found = Detections(
        tuple(DetectedTile(SQUARE, face_up=False, likelihood=tile[3]) for tile in tiles),
        np.zeros((0, 0), np.uint8),
        1.0,
    )
    return _fill([LATTICE], spots, np.radians([tile[2] for tile in tiles]), found)[0].held


@pytest.mark.parametrize(
    ("x", "y", "held"),
    [
        (0.54, 0.0, True),
        (-0.54, 0.0, True),
        (-0.56, 0.0, False),
        (0.0, 0.79, True),
        (0.0, -0.79, True),
        (0.0, -0.81, False),
    ],
)
def test_a_tile_lies_on_a_place_within_half_a_pitch(x: float, y: float, *, held: bool) -> None:
    assert filled((x, y, 0.0, 0.9)) == ({(0, 0): 0} if held else {})


@pytest.mark.parametrize(
    ("degrees", "likelihood", "held"),
    [(11.0, 0.5, True), (13.0, 0.5, False), (169.0, 0.5, True), (45.0, 0.81, True), (45.0, 0.8, False)],
)
def test_what_lies_askew_is_a_tile_only_where_the_finder_is_sure(
    degrees: float, likelihood: float, *, held: bool
) -> None:
    assert bool(filled((0.0, 0.0, degrees, likelihood))) == held


def test_of_two_tiles_on_a_place_the_likelier_stays() -> None:
    assert filled((0.1, 0.0, 0.0, 0.8), (0.0, 0.1, 0.0, 0.9), (1.1, 1.6, 0.0, 0.7)) == {(0, 0): 1, (1, 1): 2}


@pytest.mark.parametrize("count", [5, 6])
def test_six_tiles_are_looked_at_for_a_tray(count: int) -> None:
    quads = [rectangle(np.array([100.0 + 42 * col, 200.0]), 40.0, 54.4) for col in range(count)]
    tiles = tuple(DetectedTile(quad, face_up=False, likelihood=0.9) for quad in quads)
    found = Detections(tiles, np.zeros((0, 0), np.uint8), 1.0)
    assert find_trays(found, (None,) * count, (600, 960)) == ()


def test_trays_are_looked_for_in_a_picture_of_its_height_and_width(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def note_size(_: Detections, __: tuple[TileMark | None, ...], size: tuple[int, int]) -> tuple[()]:
        asked.append(size)
        return ()

    monkeypatch.setattr("vision.layout.find_trays", note_size)
    found = Detections((DetectedTile(SQUARE, face_up=False, likelihood=0.9),), np.zeros((0, 0), np.uint8), 1.0)
    assert lay_out_table(np.zeros((100, 160, 3), dtype=np.uint8), found, (None,)).trays == ()
    assert asked == [(100, 160)]


@pytest.mark.parametrize(
    ("share", "near", "read", "under"),
    [(0.11, 1.0, False, False), (0.13, 0.11, False, True), (0.13, 0.09, False, False), (0.19, 0.0, False, False),
     (0.21, 0.0, False, True), (0.13, 0.39, True, False), (0.13, 0.41, True, True), (0.21, 0.0, True, False)],
)  # fmt: skip
def test_a_finger_lies_on_a_tile_by_its_rim_and_the_hand_that_is_near(
    monkeypatch: pytest.MonkeyPatch, share: float, near: float, *, read: bool, under: bool
) -> None:
    monkeypatch.setattr("vision.layout.finger_shares", lambda *_: np.array([share]))
    monkeypatch.setattr("vision.layout.hand_near", lambda *_: np.array([near]))
    found = Detections((DetectedTile(SQUARE, face_up=False, likelihood=0.9),), np.zeros((0, 0), np.uint8), 1.0)
    mark = TileMark(5, None, turned=False, confidence=1.0, spot=np.zeros(2)) if read else None
    seen = _tile_evidence(np.full((100, 100, 3), 128, dtype=np.uint8), found, (mark,))
    assert (seen.states == [PlaceState.OCCLUDED]) == under


@pytest.mark.parametrize(
    ("indents", "open_spots"),
    [
        (LEFT, [(1, 11), (1, 12), (2, 10), (2, 11), (2, 12)]),
        (CENTRED, [(1, -1), (1, 11), (2, -1), (2, 10)]),
    ],
)
def test_the_floor_is_seen_beside_the_short_rows(indents: Indents, open_spots: list[RowCol]) -> None:
    """Forty pixels a width: these spots are each of another grey, and all else is black."""
    plane = TablePlane(np.diag([0.025, 0.025, 1.0]), np.array([120.0, 60.0]), 1.0, 0.0)
    lattice = replace(LATTICE, plane=plane, indents=indents)
    picture = np.zeros((300, 760, 3), dtype=np.uint8)
    greys = np.linspace(100, 255, len(open_spots)).astype(np.uint8)
    for quad, grey in zip(lattice.quads(lattice.spots(*np.array(open_spots, dtype=float).T)), greys, strict=True):
        cv2.fillConvexPoly(picture, np.round(quad).astype(np.int32), (int(grey),) * 3)
    places = lattice.quads(lattice.spots(*np.array(list(tray_places()), dtype=float).T))
    ground = gather_evidence(picture, places, lattice)
    light = cv2.cvtColor(np.repeat(greys[None, :, None], 3, axis=2).astype(np.float32) / 255, cv2.COLOR_BGR2Lab)[
        0, :, 0
    ]
    assert ground.floor[:, 0] == pytest.approx(np.repeat(light, 64), abs=0.01)
    assert [float(part.max()) for part in (ground.rims[..., 0], ground.details)] == [0.0, 0.0]
    assert ground.inside.tolist() == [1.0] * 34
