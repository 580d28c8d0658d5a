"""Laws of four trays in a square: which seat is which, and each tray as if it stood alone."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import COSTLY
from tests.vision.layout.scene import Pose, Scene, Seen, carrier_scene, see
from vision.layout.seats import name_seats
from vision.layout.tray import CENTRED, LEFT, SEATS, Where, places

SCALE = 1.1
POSES = st.builds(
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


def wheres(seen: Seen) -> list[tuple[str | None, Where | None]]:
    """Give the seat and the place of each tile as the layout says."""
    lies = seen.lay_out().lies
    return [(lie.seat, None if lie.row is None or lie.col is None else (lie.row, lie.col)) for lie in lies]


@COSTLY
@given(POSES)
def test_each_tile_of_a_carrier_is_at_its_seat_and_place(pose: Pose) -> None:
    seen = see(carrier_scene(pose), scale=SCALE)
    assert wheres(seen) == [(one.seat, one.where) for one in seen.shown]


@COSTLY
@given(POSES, st.sets(st.tuples(st.sampled_from(SEATS), st.sampled_from(list(places()))), max_size=20))
def test_a_carrier_with_gaps_and_unread_marks_is_told_as_well(pose: Pose, unsure: set[tuple[str, Where]]) -> None:
    scene = carrier_scene(pose)
    tiles = tuple(replace(one, told=(one.seat, one.where) not in unsure) for one in scene.tiles)
    seen = see(Scene(pose, tiles), scale=SCALE)
    assert wheres(seen) == [(one.seat, one.where) for one in seen.shown]


def test_a_seat_without_a_tray_leaves_the_others_their_seats() -> None:
    scene = carrier_scene(Pose(noise=0.02))
    seen = see(replace(scene, tiles=tuple(one for one in scene.tiles if one.seat != "S")), scale=SCALE)
    layout = seen.lay_out()
    assert [tray.seat for tray in layout.trays] == ["E", "W", "N"]
    assert wheres(seen) == [(one.seat, one.where) for one in seen.shown]


def test_a_camera_between_two_seats_names_none() -> None:
    seen = see(carrier_scene(Pose(azimuth=45)), scale=0.9)
    assert set(wheres(seen)) == {(None, None)}


@pytest.mark.parametrize(
    ("rotations", "held", "seats"),
    [
        ([0, 270, 180, 90], [34, 34, 34, 34], {"E": 0, "S": 1, "W": 2, "N": 3}),
        ([170, 352, 83], [34, 33, 30], {"E": 1, "W": 0, "N": 2}),
        ([3, 91, 2], [20, 34, 34], {"E": 2, "N": 1}),
        ([45, 135, 225, 315], [34, 34, 34, 34], None),
    ],
)
def test_east_is_at_the_bottom_and_the_others_follow_against_the_clock(
    rotations: list[float], held: list[int], seats: dict[str, int] | None
) -> None:
    assert name_seats(rotations, held) == seats
