"""The USB camera, with a fake of OpenCV's VideoCapture whose properties are read back."""

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from vision.cameras.addresses import open_camera
from vision.cameras.camera import UnmetSetting
from vision.cameras.v4l2 import V4l2Camera
from vision.errors import CameraMissingError, CameraUnpluggedError, PictureError

PICTURE = np.full((720, 1280, 3), 7, dtype=np.uint8)


class FakeCapture:
    """A camera of 1280 x 720 at most, without focus control; properties and units are those of V4L2."""

    opens = True
    gives: tuple[bool, Any] = (True, PICTURE)
    made: list["FakeCapture"] = []  # noqa: RUF012 -- shared, so that the test sees what was opened

    def __init__(self, device: str, backend: int) -> None:
        self.device, self.backend, self.released = device, backend, False
        self.properties: dict[int, float] = {cv2.CAP_PROP_FOCUS: -1.0, cv2.CAP_PROP_AUTOFOCUS: -1.0}
        FakeCapture.made.append(self)

    def isOpened(self) -> bool:  # noqa: N802 -- OpenCV's name
        return self.opens

    def set(self, name: int, value: float) -> bool:
        if name in {cv2.CAP_PROP_FOCUS, cv2.CAP_PROP_AUTOFOCUS}:
            return False
        most = {cv2.CAP_PROP_FRAME_WIDTH: 1280, cv2.CAP_PROP_FRAME_HEIGHT: 720}
        self.properties[name] = min(value, most.get(name, value))
        return True

    def get(self, name: int) -> float:
        return self.properties[name]

    def read(self) -> tuple[bool, Any]:
        return self.gives

    def release(self) -> None:
        self.released = True


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(cv2, "VideoCapture", FakeCapture)
    monkeypatch.setattr(FakeCapture, "made", [])
    path = tmp_path / "usb-camera-index0"
    path.touch()
    return str(path)


def opened(address: str) -> V4l2Camera:
    camera = open_camera(address)
    assert isinstance(camera, V4l2Camera)
    return camera


def test_settings_become_v4l2_properties(device: str) -> None:
    with opened(f"v4l2:{device}?width=1280&height=720&fps=10&exposure=8") as camera:
        assert camera.unmet == ()
    (capture,) = FakeCapture.made
    assert (capture.device, capture.backend, capture.released) == (device, cv2.CAP_V4L2, True)
    assert capture.properties == {
        cv2.CAP_PROP_FOCUS: -1.0, cv2.CAP_PROP_AUTOFOCUS: -1.0,
        cv2.CAP_PROP_FOURCC: float(cv2.VideoWriter.fourcc(*"MJPG")), cv2.CAP_PROP_BUFFERSIZE: 1,
        cv2.CAP_PROP_FRAME_WIDTH: 1280, cv2.CAP_PROP_FRAME_HEIGHT: 720, cv2.CAP_PROP_FPS: 10,
        cv2.CAP_PROP_AUTO_EXPOSURE: 1, cv2.CAP_PROP_EXPOSURE: 80,
    }  # fmt: skip


def test_automatic_exposure_is_aperture_priority(device: str) -> None:
    with opened(f"v4l2:{device}?exposure=auto&width=1280&height=720"):
        assert FakeCapture.made[0].properties[cv2.CAP_PROP_AUTO_EXPOSURE] == 3
        assert cv2.CAP_PROP_EXPOSURE not in FakeCapture.made[0].properties


def test_settings_that_the_camera_did_not_accept_are_reported(device: str) -> None:
    with opened(f"v4l2:{device}?focus=30") as camera:
        assert camera.unmet == (
            UnmetSetting("width", 1920, 1280.0),
            UnmetSetting("height", 1080, 720.0),
            UnmetSetting("focus", 30.0, None),
        )


def test_a_frame_is_returned_unchanged(device: str) -> None:
    with opened(f"v4l2:{device}") as camera:
        assert np.array_equal(camera.frame(), PICTURE)


@pytest.mark.parametrize("gives", [(False, None), (True, None)])
def test_no_frame_means_that_the_camera_is_unplugged(
    gives: object, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeCapture, "gives", gives)
    with opened(f"v4l2:{device}") as camera, pytest.raises(CameraUnpluggedError):
        camera.frame()


@pytest.mark.parametrize("frame", [PICTURE[:, :, 0], PICTURE[:0], PICTURE.astype(np.float32)])
def test_a_frame_of_another_shape_is_refused(frame: object, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeCapture, "gives", (True, frame))
    with opened(f"v4l2:{device}") as camera, pytest.raises(PictureError):
        camera.frame()


def test_a_device_that_does_not_open_is_missing_and_released(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeCapture, "opens", False)
    with pytest.raises(CameraMissingError):
        opened(f"v4l2:{device}")
    assert [capture.released for capture in FakeCapture.made] == [True]


def test_a_device_that_is_not_a_camera_does_not_fill_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CameraMissingError):
        open_camera("v4l2:/dev/null")
    assert capfd.readouterr().err == ""


MODE, VALUE = cv2.CAP_PROP_AUTO_EXPOSURE, cv2.CAP_PROP_EXPOSURE


def exposed(camera: V4l2Camera, *stops: int) -> list[tuple[bool, float, float]]:
    """Request exposures; return for each whether it was accepted, and the camera's mode and value then."""
    properties = FakeCapture.made[-1].properties
    return [(camera.expose(one), properties[MODE], properties[VALUE]) for one in stops]


def test_another_exposure_multiplies_the_fixed_one(device: str) -> None:
    with opened(f"v4l2:{device}?exposure=8") as camera:
        assert exposed(camera, -1, -2, 1, 0) == [(True, 1, 40), (True, 1, 20), (True, 1, 160), (True, 1, 80)]


def test_another_exposure_multiplies_the_automatic_one_which_is_restored_afterwards(device: str) -> None:
    with opened(f"v4l2:{device}?exposure=auto") as camera:
        FakeCapture.made[-1].properties[VALUE] = 156
        assert exposed(camera, -1, 0) == [(True, 1, 78), (True, 3, 78)]
        FakeCapture.made[-1].properties[VALUE] = 200
        assert exposed(camera, 1) == [(True, 1, 400)]


def test_a_camera_without_exposure_control_keeps_its_own(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(f"v4l2:{device}?exposure=auto") as camera:
        FakeCapture.made[-1].properties[VALUE] = -1
        assert exposed(camera, -1) == [(False, 3, -1)]
    with opened(f"v4l2:{device}?exposure=8") as camera:
        monkeypatch.setattr(FakeCapture, "set", lambda *_: False)
        assert exposed(camera, -1) == [(False, 1, 80)]
