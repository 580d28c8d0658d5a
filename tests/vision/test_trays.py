"""Trays and carriers are found however they lie."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import COSTLY
from tests.vision.tray_scenes import Lying, Pose, Scene, Seen, carrier_scene, heap_scene, see, tray_scene, turned
from vision.finder import DetectedTile
from vision.geometry import rectangle
from vision.layout import lay_out_table
from vision.reading import CENTRED, LEFT, SEATS, PlaceState, RowCol, tray_places
from vision.trays import name_seats, orientation_votes

PLACES = list(tray_places())
POSES = st.builds(
    Pose,
    azimuth=st.floats(-180, 180),
    tilt=st.floats(0, 40),
    lens=st.floats(-0.02, 0.06),
    gap=st.floats(0.3, 3.2),
    row_gap=st.floats(1.6, 7),
    indents=st.sampled_from([LEFT, CENTRED]),
    noise=st.floats(0, 0.03),
    seed=st.integers(0, 2**31),
)


def wheres(seen: Seen) -> list[RowCol | None]:
    """Return the place of each tile in the layout."""
    positions = seen.lay_out().positions
    return [
        None if position.row is None or position.col is None else (position.row, position.col) for position in positions
    ]


def states(seen: Seen) -> dict[RowCol, PlaceState]:
    trays = seen.lay_out().trays
    assert len(trays) == 1
    return {(place.row, place.col): place.state for place in trays[0].places}


@given(POSES)
def test_each_tile_of_a_tray_is_at_its_place_from_any_camera_position(pose: Pose) -> None:
    seen = see(tray_scene(pose))
    assert wheres(seen) == [one.where for one in seen.shown]


@given(POSES, st.sampled_from(PLACES))
def test_removing_a_tile_makes_its_place_empty_and_no_other(pose: Pose, gone: RowCol) -> None:
    seen = see(tray_scene(pose).without(gone))
    expected = dict.fromkeys(PLACES, PlaceState.BACK) | {gone: PlaceState.EMPTY}
    assert (wheres(seen), states(seen)) == ([one.where for one in seen.shown], expected)


@given(POSES, st.sets(st.sampled_from(PLACES), max_size=30))
def test_no_tile_is_put_at_a_wrong_place_whatever_is_missing(pose: Pose, gone: set[RowCol]) -> None:
    seen = see(tray_scene(pose).without(*gone))
    told = wheres(seen)
    assert told in ([one.where for one in seen.shown], [None] * len(told))


@given(POSES, st.sets(st.sampled_from(PLACES), max_size=12))
def test_tiles_with_unread_marks_have_places(pose: Pose, unread: set[RowCol]) -> None:
    scene = tray_scene(pose)
    tiles = tuple(replace(one, told=one.where not in unread) for one in scene.tiles)
    seen = see(Scene(pose, tiles))
    assert wheres(seen) == [one.where for one in seen.shown]


@given(POSES)
def test_without_marks_the_row_of_thirteen_is_the_far_one(pose: Pose) -> None:
    scene = tray_scene(pose)
    seen = see(Scene(pose, tuple(replace(one, told=False) for one in scene.tiles)))
    assert wheres(seen) == [one.where for one in seen.shown]


@given(POSES, st.sampled_from(PLACES), st.sampled_from([90.0, 270.0, 25.0, -25.0]))
def test_a_tile_askew_has_its_place_and_is_sideways(pose: Pose, where: RowCol, degrees: float) -> None:
    scene = tray_scene(replace(pose, noise=min(pose.noise, 0.02)))
    seen = see(scene.changed(where, quad=turned(scene.at(where).quad, degrees)))
    positions = seen.lay_out().positions
    askew = [one.where for one, position in zip(seen.shown, positions, strict=True) if position.sideways]
    assert (wheres(seen), askew) == ([one.where for one in seen.shown], [where])


@given(POSES, st.sets(st.sampled_from(PLACES), min_size=1, max_size=4))
def test_upside_down_tiles_are_turned_by_half_against_their_tray(pose: Pose, over: set[RowCol]) -> None:
    scene = tray_scene(pose)
    for where in over:
        scene = scene.changed(where, quad=turned(scene.at(where).quad, 180))
    seen = see(scene)
    positions = seen.lay_out().positions
    assert {one.where for one, position in zip(seen.shown, positions, strict=True) if position.turn == 180} == over


@given(POSES, st.integers(8, 45))
def test_a_heap_has_no_trays_and_no_places(pose: Pose, number: int) -> None:
    seen = see(heap_scene(replace(pose, tilt=min(pose.tilt, 30)), number))
    assert (wheres(seen), seen.lay_out().trays) == ([None] * number, ())


@given(POSES, st.floats(-220, 220), st.sampled_from([-150.0, 150.0]), st.floats(0, 360))
def test_a_false_tile_outside_the_tray_changes_nothing(pose: Pose, x: float, y: float, degrees: float) -> None:
    stray = Lying(turned(rectangle(np.array([x, y]), 28, 38), degrees), told=False)
    seen = see(Scene(pose, (*tray_scene(pose).tiles, stray)))
    assert wheres(seen) == [one.where for one in seen.shown]


@given(POSES)
def test_a_heap_beside_a_tray_leaves_the_tray_its_places(pose: Pose) -> None:
    heap = heap_scene(pose, 25).tiles
    beside = tuple(one for one in heap if abs(one.quad.mean(axis=0)[1]) > 100)
    seen = see(Scene(pose, (*tray_scene(pose).tiles, *beside)))
    assert wheres(seen) == [one.where for one in seen.shown]


def test_false_tiles_that_continue_a_column_do_not_split_the_tray() -> None:
    scene = tray_scene(Pose()).without(*[(row, col) for row in range(3) for col in (2, 3)])
    false = [Lying(rectangle(np.array([29.0, y]), 28, 38), told=False) for y in (-84.0, 84.0)]
    seen = see(replace(scene, tiles=(*scene.tiles, *false)))
    assert wheres(seen) == [one.where for one in seen.shown]


def test_an_unlikely_tile_askew_on_an_empty_place_is_not_in_the_tray() -> None:
    scene = tray_scene(Pose(noise=0.02))
    quad = turned(scene.at((1, 5)).quad, 60)
    seen = see(scene.changed((1, 5), quad=quad, likelihood=0.6, told=False))
    assert wheres(seen) == [None if one.where == (1, 5) else one.where for one in seen.shown]


@pytest.mark.parametrize("degrees", [-6.0, 6.0])
def test_corners_off_in_one_direction_do_not_mix_rows(degrees: float) -> None:
    seen = see(tray_scene(Pose(noise=0.02)))
    crooked = tuple(replace(tile, quad=turned(tile.quad, degrees)) for tile in seen.found.tiles)
    seen = replace(seen, found=replace(seen.found, tiles=crooked))
    assert wheres(seen) == [one.where for one in seen.shown]
    assert not any(position.sideways for position in seen.lay_out().positions)


def test_an_empty_middle_row_is_counted() -> None:
    seen = see(tray_scene(Pose(tilt=20, noise=0.02)).without(*[(1, col) for col in range(11)]))
    assert wheres(seen) == [one.where for one in seen.shown]


@given(st.lists(st.lists(st.floats(-1e4, 1e4), min_size=8, max_size=8), max_size=9), st.integers(0, 34))
def test_impossible_quads_are_returned_and_do_no_harm(corners: list[list[float]], true: int) -> None:
    seen = see(Scene(Pose(), tray_scene(Pose()).tiles[:true]))
    odd = tuple(DetectedTile(np.array(one).reshape(4, 2), face_up=False, likelihood=0.9) for one in corners)
    found = replace(seen.found, tiles=(*seen.found.tiles, *odd, *odd))
    layout = lay_out_table(seen.picture, found, (*seen.marks, *[None] * (2 * len(odd))))
    assert len(layout.positions) == true + 2 * len(odd)


@pytest.mark.parametrize("indents", [LEFT, CENTRED])
def test_without_the_beginning_of_a_row_nothing_is_guessed(indents: tuple[float, float, float]) -> None:
    pose = Pose(indents=indents)
    gone = [(0, 0), (0, 12), (1, 0), (1, 10), (2, 0), (2, 9)]
    seen = see(tray_scene(pose).without(*gone))
    assert (wheres(seen), seen.lay_out().trays) == ([None] * 28, ())


@pytest.mark.parametrize("gone", [[(0, 0)], [(0, 12)], [(1, 0), (2, 0)], [(0, 0), (1, 0)], [(0, 3), (1, 3), (2, 3)]])
def test_one_row_with_a_visible_end_is_enough(gone: list[RowCol]) -> None:
    seen = see(tray_scene(Pose(tilt=20, noise=0.02)).without(*gone))
    assert wheres(seen) == [one.where for one in seen.shown]


def test_five_tiles_make_no_tray() -> None:
    seen = see(tray_scene(Pose()).without(*PLACES[5:]))
    assert seen.lay_out().trays == ()


def test_a_picture_without_tiles_has_no_trays() -> None:
    layout = see(Scene(Pose(), ())).lay_out()
    assert (layout.positions, layout.trays) == ((), ())


@given(POSES)
def test_the_quad_of_each_tile_begins_at_its_own_top_left(pose: Pose) -> None:
    seen = see(tray_scene(pose))
    assert all(
        np.array_equal(position.quad, quad) for position, quad in zip(seen.lay_out().positions, seen.quads, strict=True)
    )


@given(POSES, st.integers(0, 2**31))
def test_the_order_of_detections_does_not_matter(pose: Pose, luck: int) -> None:
    seen = see(tray_scene(pose))
    order = np.random.default_rng(luck).permutation(len(seen.shown))
    found = replace(seen.found, tiles=tuple(seen.found.tiles[at] for at in order))
    shuffled = replace(seen, found=found, marks=tuple(seen.marks[at] for at in order))
    told = wheres(seen)
    assert wheres(shuffled) == [told[at] for at in order]


SCALE = 1.1
CARRIER_POSES = st.builds(
    Pose,
    azimuth=st.floats(-30, 30),
    tilt=st.floats(0, 16),
    lens=st.floats(-0.02, 0.06),
    gap=st.floats(0.4, 3.0),
    row_gap=st.floats(2.0, 6.8),
    indents=st.sampled_from([LEFT, CENTRED]),
    noise=st.floats(0, 0.03),
    seed=st.integers(0, 2**31),
)


def carrier_places(seen: Seen) -> list[tuple[str | None, RowCol | None]]:
    """Return the seat and place of each tile in the layout."""
    positions = seen.lay_out().positions
    return [
        (position.seat, None if position.row is None or position.col is None else (position.row, position.col))
        for position in positions
    ]


@COSTLY
@given(CARRIER_POSES)
def test_each_tile_of_a_carrier_is_at_its_seat_and_place(pose: Pose) -> None:
    seen = see(carrier_scene(pose), scale=SCALE)
    assert carrier_places(seen) == [(one.seat, one.where) for one in seen.shown]


@COSTLY
@given(CARRIER_POSES, st.sets(st.tuples(st.sampled_from(SEATS), st.sampled_from(list(tray_places()))), max_size=20))
def test_a_carrier_with_gaps_and_unread_marks_is_laid_out(pose: Pose, unsure: set[tuple[str, RowCol]]) -> None:
    scene = carrier_scene(pose)
    tiles = tuple(replace(one, told=(one.seat, one.where) not in unsure) for one in scene.tiles)
    seen = see(Scene(pose, tiles), scale=SCALE)
    assert carrier_places(seen) == [(one.seat, one.where) for one in seen.shown]


def test_a_seat_without_a_tray_leaves_the_others_their_seats() -> None:
    scene = carrier_scene(Pose(noise=0.02))
    seen = see(replace(scene, tiles=tuple(one for one in scene.tiles if one.seat != "S")), scale=SCALE)
    layout = seen.lay_out()
    assert [tray.seat for tray in layout.trays] == ["E", "W", "N"]
    assert carrier_places(seen) == [(one.seat, one.where) for one in seen.shown]


def test_a_camera_between_two_seats_names_none() -> None:
    seen = see(carrier_scene(Pose(azimuth=45)), scale=0.9)
    assert set(carrier_places(seen)) == {(None, None)}


@pytest.mark.parametrize(
    ("rotations", "held", "seats"),
    [
        ([0, 270, 180, 90], [34, 34, 34, 34], {"E": 0, "S": 1, "W": 2, "N": 3}),
        ([170, 352, 83], [34, 33, 30], {"E": 1, "W": 0, "N": 2}),
        ([3, 91, 2], [20, 34, 34], {"E": 2, "N": 1}),
        ([45, 135, 225, 315], [34, 34, 34, 34], None),
    ],
)
def test_east_is_at_the_bottom_and_the_others_follow_anticlockwise(
    rotations: list[float], held: list[int], seats: dict[str, int] | None
) -> None:
    assert name_seats(rotations, held) == seats


@pytest.mark.parametrize(
    ("upright", "over", "votes"), [(0, 0, 0.0), (34, 0, 34.0), (0, 5, -5.0), (4, 6, -0.4), (3, 1, 1.0), (7, 7, 0.0)]
)
def test_contradicting_marks_have_few_votes(upright: int, over: int, votes: float) -> None:
    """In a handwritten set with three tiles missing, four votes to six turned the tray, and 100 was read as 001."""
    assert orientation_votes(upright, over) == pytest.approx(votes)
