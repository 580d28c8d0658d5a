"""Cameras by address, with their settings."""

from contextlib import suppress
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.cameras.addresses import check_camera_address, open_camera
from vision.cameras.camera import CameraSettings, parse_camera_settings, split_camera_query
from vision.errors import (
    CameraAddressError,
    CameraClosedError,
    CameraError,
    CameraMissingError,
    PictureError,
    VisionError,
)
from vision.sim.camera import parse_optics


def save(folder: Path, name: str, level: int) -> None:
    cv2.imwrite(str(folder / name), np.full((4, 6, 3), level, dtype=np.uint8))


def test_pictures_come_in_order_of_names_and_the_last_one_is_repeated(tmp_path: Path) -> None:
    save(tmp_path, "b.png", 20)
    save(tmp_path, "a.png", 10)
    with open_camera(f"pictures:{tmp_path}") as camera:
        assert [int(camera.frame()[0, 0, 0]) for _ in range(4)] == [10, 20, 20, 20]


def test_a_bad_picture_raises_an_error_and_the_next_one_follows(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"rubbish")
    save(tmp_path, "b.png", 20)
    with open_camera(f"pictures:{tmp_path}") as camera:
        with pytest.raises(PictureError):
            camera.frame()
        assert camera.frame().shape == (4, 6, 3)


@pytest.mark.parametrize("address", ["pictures:no-such-folder", "v4l2:/dev/no-such-camera", "sim://ribbon?number=1"])
def test_a_missing_camera_has_a_code(address: str) -> None:
    with pytest.raises(CameraMissingError) as caught:
        open_camera(address)
    assert caught.value.code == "camera_missing"


def test_a_folder_without_pictures_is_not_a_camera(tmp_path: Path) -> None:
    with pytest.raises(CameraMissingError):
        open_camera(f"pictures:{tmp_path}")


@pytest.mark.parametrize(
    "address",
    ["", "tray", "pictures:", "v4l2:", "picamera:", "picamera:left", "http://camera", "sim://heap", "sim://tray/x",
     "sim://tray?zoom=2", "sim://tray?width=abc", "sim://tray?width=9", "sim://tray?noise=-1", "sim://tray?tilt=nan",
     "sim://tray?seed"],
)  # fmt: skip
def test_an_unknown_address_is_refused(address: str) -> None:
    with pytest.raises(CameraAddressError):
        open_camera(address)


def test_close_may_be_called_twice_and_ends_the_frames() -> None:
    camera = open_camera("sim://tray?width=320&height=180")
    camera.close()
    camera.close()
    with pytest.raises(CameraClosedError):
        camera.frame()


def test_every_camera_error_is_a_vision_error_and_an_os_error() -> None:
    assert issubclass(CameraError, VisionError)
    assert issubclass(CameraError, OSError)


def settings_of(query: str) -> CameraSettings:
    return parse_camera_settings(split_camera_query(f"x?{query}")[1])


def test_settings_that_are_not_given_stay_as_they_are() -> None:
    assert settings_of("") == CameraSettings(width=1920, height=1080, fps=None, focus=None, exposure=None)


def test_every_setting_is_parsed() -> None:
    told = settings_of("width=1280&height=720&fps=15&focus=2.5&exposure=8")
    assert told == CameraSettings(width=1280, height=720, fps=15.0, focus=2.5, exposure=8.0)


def test_focus_and_exposure_can_be_automatic() -> None:
    assert settings_of("focus=auto&exposure=auto") == CameraSettings(focus="auto", exposure="auto")


@pytest.mark.parametrize("kind", ["v4l2:/dev/video0", "picamera:0"])
@pytest.mark.parametrize(
    "query",
    ["width=10", "width=auto", "fps=0", "fps=nan", "focus=-1", "focus=near", "exposure=0", "exposure=inf", "zoom=2",
     "width", "width=", "width=640&width=800", "=3"],
)  # fmt: skip
def test_an_unknown_setting_is_refused_before_anything_is_opened(kind: str, query: str) -> None:
    with pytest.raises(CameraAddressError):
        check_camera_address(f"{kind}?{query}")


@pytest.mark.parametrize("address", ["pictures:x?loop=2", "pictures:x?fps=0", "pictures:x?seed=1", "picamera:٣"])
def test_each_kind_of_camera_has_its_own_settings(address: str) -> None:
    with pytest.raises(CameraAddressError):
        check_camera_address(address)


@given(st.text())
def test_any_text_is_a_valid_address_or_is_refused_with_a_code(text: str) -> None:
    for kind in ("", "v4l2:", "picamera:", "pictures:", "sim://tray?", "sim:", "sim://["):
        with suppress(CameraAddressError):  # any other exception is a defect
            assert check_camera_address(kind + text) == kind + text


def test_a_simulated_cameras_mishaps_are_given_in_frames() -> None:
    optics = parse_optics("sim://tray?unplugged=3&dark=5-7&covered=0-1&deal=4&fps=20")
    assert (optics.unplugged, optics.dark, optics.covered, optics.deal, optics.fps) == (
        range(3, 4), range(5, 8), range(2), 4, 20.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    "query", ["dark=7-5", "dark=a", "dark=1-b", "dark=-3", "dark=1.5", "deal=1.5", "seed=x", "fps=0"]
)
def test_an_impossible_mishap_is_refused(query: str) -> None:
    with pytest.raises(CameraAddressError):
        parse_optics(f"sim://tray?{query}")
