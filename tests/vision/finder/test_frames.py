"""A tile's frame tells its quad, whatever its rotation and the camera's tilt."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vision.finder.frames import quads_of
from vision.finder.measure import corner_error
from vision.geometry import Quad
from vision.training.finder_targets import frames_of
from vision.training.scene_boxes import at_height, outline
from vision.training.scene_camera import Pinhole, _about_x, _about_z

ANGLES = st.floats(0, 6.28)


def _camera(tilt: float, roll: float) -> Pinhole:
    return Pinhole(_about_z(roll) @ _about_x(tilt), 600.0, 900.0, np.array([300.0, 200.0]))


def _tile(camera: Pinhole, x: float, y: float, angle: float) -> Quad:
    return camera.see(at_height(outline(x, y, 26, 35, angle), 20))


@given(angle=ANGLES, roll=ANGLES, tilt=st.floats(0, 0.5))
def test_a_quad_becomes_a_frame_and_a_frame_nearly_the_same_quad(angle: float, roll: float, tilt: float) -> None:
    quad = _tile(_camera(tilt, roll), 0, 0, angle)
    (back,) = quads_of(frames_of(quad[None]).astype(float))
    assert corner_error(back, quad) < 0.02 * np.hypot(*(quad[1] - quad[0]))


@given(angle=ANGLES, roll=ANGLES)
def test_which_end_is_called_the_top_does_not_change_the_frame(angle: float, roll: float) -> None:
    quad = _tile(_camera(0.4, roll), 20, 10, angle)
    one, other = frames_of(np.array([quad, np.roll(quad, 2, axis=0)]))
    assert np.allclose(one, other, atol=1e-4)


@given(numbers=st.lists(st.floats(-3, 3), min_size=7, max_size=7))
def test_any_frame_gives_a_clockwise_quad_with_its_short_ends_first(numbers: list[float]) -> None:
    frame = np.array([[100.0, 100.0, *numbers]])
    (quad,) = quads_of(frame)
    right, down = quad[1] - quad[0], quad[3] - quad[0]
    assert right[0] * down[1] - right[1] * down[0] > 0
