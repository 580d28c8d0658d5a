"""Lens distortion, and pictures without it."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.cameras.addresses import check_camera_address, open_camera
from vision.cameras.lens import Lens, parse_lens, split_lens, with_lens
from vision.errors import CameraAddressError
from vision.geometry import TablePlane

SIZES = st.sampled_from([(1920, 1080), (1080, 1920), (640, 480), (801, 799)])
LENSES = st.builds(
    Lens,
    st.floats(-0.12, 0.35),
    st.floats(-0.01, 0.1),
    st.floats(0.45, 0.55),
    st.floats(0.45, 0.55),
)
BARREL = Lens(0.25, 0.03, 0.51, 0.48)


def spread(size: tuple[int, int]) -> np.ndarray:
    """Return points all over a picture, including its corners."""
    across, down = np.meshgrid(np.linspace(0, size[0], 9), np.linspace(0, size[1], 7))
    return np.column_stack([across.ravel(), down.ravel()])


@given(LENSES, SIZES)
def test_distorting_is_the_inverse_of_undistorting(lens: Lens, size: tuple[int, int]) -> None:
    points = spread(size)
    assert lens.distort(lens.undistort(points, size), size) == pytest.approx(points, abs=1e-3)


@given(LENSES, SIZES)
def test_the_centre_stays_and_points_move_along_their_radii(lens: Lens, size: tuple[int, int]) -> None:
    centre = np.array([lens.x * size[0], lens.y * size[1]])
    assert lens.undistort(centre[None], size) == pytest.approx(centre[None])
    before, after = spread(size) - centre, lens.undistort(spread(size), size) - centre
    assert before[:, 0] * after[:, 1] == pytest.approx(before[:, 1] * after[:, 0], abs=1e-3)


def test_coefficients_are_those_of_the_formula() -> None:
    corner = np.array([[1920.0, 1080.0]])
    halfway = np.array([[1440.0, 810.0]])
    (far,), (near,) = (Lens(0.2, 0.1).undistort(at, (1920, 1080)) for at in (corner, halfway))
    assert far == pytest.approx([960 + 960 * 1.3, 540 + 540 * 1.3])
    assert near == pytest.approx([960 + 480 * (1 + 0.05 + 0.00625), 540 + 270 * (1 + 0.05 + 0.00625)])


@given(st.floats(-0.05, 0.2))
def test_the_first_coefficient_is_that_of_the_plane_of_the_backs(bend: float) -> None:
    size = (1600, 900)
    plane = TablePlane(np.eye(3), np.array([800.0, 450.0]), float(np.hypot(800, 450)), bend)
    straight = Lens(bend).undistort(spread(size), size)
    assert (straight - [800, 450]) / np.hypot(800, 450) == pytest.approx(plane.flat(spread(size)))


@given(LENSES, SIZES)
def test_the_straightened_frame_just_contains_all_that_the_camera_saw(lens: Lens, size: tuple[int, int]) -> None:
    start, (wide, high) = lens.straightened_frame(size)
    edge = np.linspace(0, 1, 500)
    sides = [(edge, 0 * edge), (edge, 0 * edge + 1), (0 * edge, edge), (0 * edge + 1, edge)]
    seen = lens.undistort(np.concatenate([np.column_stack(side) for side in sides]) * size, size) - start
    assert seen.min() >= -0.5
    assert (seen <= np.array([wide, high]) + 0.5).all()
    assert seen.min(axis=0).max() <= 1.5
    assert (seen.max(axis=0) >= np.array([wide, high]) - 1.5).all()


def test_a_distorted_line_is_straight_in_the_straightened_picture() -> None:
    size = (1280, 720)
    rows, cols = np.indices((size[1], size[0]))
    pixels = np.asarray(np.column_stack([cols.ravel(), rows.ravel()]) + 0.5, dtype=np.float64)
    there = BARREL.undistort(pixels, size).reshape(size[1], size[0], 2)
    for off in (there[..., 0] - 0.2 * there[..., 1] - 60, there[..., 1] + 0.1 * there[..., 0] - 110):
        seen = np.clip(255 - 60 * np.abs(off), 0, 255).astype(np.uint8)
        assert line_error(seen) > 2  # pixels: distorted
        assert line_error(BARREL.undistort_picture(np.repeat(seen[:, :, None], 3, axis=2))[..., 0]) < 0.35


def line_error(picture: np.ndarray) -> float:
    """Return the largest deviation of a bright line in a dark picture from a straight one, pixels."""
    ys, xs = np.nonzero((picture > 200) & (picture != 128))
    points = np.column_stack([xs, ys]).astype(float)
    points -= points.mean(axis=0)
    across = np.linalg.svd(points, full_matrices=False)[2][1]
    return float(np.abs(points @ across).max()) - 1.0  # the line is two pixels wide


def test_a_lens_without_distortion_changes_no_pixel() -> None:
    picture = np.random.default_rng(5).integers(0, 255, (90, 160, 3)).astype(np.uint8)
    assert np.array_equal(Lens().undistort_picture(picture), picture)


@given(LENSES)
def test_a_lens_survives_the_round_trip_through_an_address(lens: Lens) -> None:
    address = with_lens("v4l2:/dev/video0?width=1280&height=720", lens)
    plain, read = split_lens(address)
    assert plain == "v4l2:/dev/video0?width=1280&height=720"
    assert read is not None
    assert str(read) == str(lens)
    assert with_lens(address, Lens()) == with_lens(plain, Lens())


def test_an_address_without_a_lens_is_unchanged() -> None:
    assert split_lens("picamera:0?exposure=8") == ("picamera:0?exposure=8", None)


def test_a_lens_may_be_the_only_setting() -> None:
    assert split_lens("picamera:0?lens=0.1,0,0.5,0.5") == ("picamera:0", Lens(0.1, 0.0, 0.5, 0.5))


@pytest.mark.parametrize(
    "text",
    ["", "0.1", "0.1,0,0.5", "0.1,0,0.5,0.5,1", "a,0,0.5,0.5", "nan,0,0.5,0.5", "0.1,0,0.2,0.5", "0.1,0,0.5,0.8",
     "-0.5,0,0.5,0.5", "1.5,0,0.5,0.5", "0,-0.4,0.5,0.5"],
)  # fmt: skip
def test_impossible_distortion_is_refused(text: str) -> None:
    with pytest.raises(CameraAddressError, match="lens="):
        parse_lens(text)
    with pytest.raises(CameraAddressError):
        check_camera_address(f"v4l2:/dev/video0?lens={text}")


def test_two_lenses_in_an_address_are_refused() -> None:
    with pytest.raises(CameraAddressError, match="twice"):
        check_camera_address("sim://tray?lens=0,0,0.5,0.5&lens=0.1,0,0.5,0.5")


def test_every_kind_of_camera_straightens_its_pictures(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "a.png"), np.full((180, 320, 3), 90, dtype=np.uint8))
    for address in (f"pictures:{tmp_path}", "sim://tray?width=320&height=180", "sim://ribbon?width=320&height=180"):
        with open_camera(address) as plain, open_camera(with_lens(address, BARREL)) as camera:
            high, wide = plain.frame().shape[:2]
            assert camera.frame().shape[1::-1] == BARREL.straightened_frame((wide, high))[1]
