"""The camera on the ribbon, against a fake that follows the Picamera2 manual. No real one was tried."""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from vision.cameras.addresses import open_camera
from vision.cameras.camera import UnmetSetting
from vision.errors import CameraMissingError, CameraUnpluggedError, PictureError

PICTURE = np.full((1080, 1920, 3), 9, dtype=np.uint8)
CONTROLS: dict[str, tuple[Any, Any, Any]] = {
    "AfMode": (0, 2, 0),
    "LensPosition": (0.0, 15.0, 1.0),
    "AeEnable": (False, True, True),
    "ExposureTime": (1, 66_666, 20_000),
    "FrameDurationLimits": (33_333, 120_000, 33_333),
}


class FakePicamera2:
    """Configured, started, then asked for arrays by a job, as the manual has it."""

    gives: Any = PICTURE
    answers = True
    known = CONTROLS
    made: list["FakePicamera2"] = []  # noqa: RUF012 -- the test looks at what was opened

    def __init__(self, camera_num: int = 0) -> None:
        if camera_num > 0:
            raise IndexError("list index out of range")
        self.camera_controls = self.known
        self.calls: list[str] = []
        self.told: dict[str, Any] = {}
        FakePicamera2.made.append(self)

    def create_video_configuration(self, main: dict[str, Any], *, queue: bool = True) -> dict[str, Any]:
        assert not queue
        return {"main": dict(main)}

    def configure(self, configuration: dict[str, Any]) -> None:
        self.configuration = configuration

    def camera_configuration(self) -> dict[str, Any]:
        return self.configuration

    def set_controls(self, controls: dict[str, Any]) -> None:
        for name in controls:
            if name not in self.camera_controls:
                raise RuntimeError(f"Control {name} is not advertised by libcamera")
        self.told |= controls

    def start(self) -> None:
        self.calls.append("start")

    def capture_array(self, name: str, *, wait: bool, signal_function: Callable[[Any], None]) -> str:
        assert (name, wait) == ("main", False)
        if self.answers:
            signal_function("job")
        return "job"

    def wait(self, job: str) -> Any:  # noqa: ANN401 -- as picamera2
        assert job == "job"
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives

    def stop(self) -> None:
        self.calls.append("stop")

    def close(self) -> None:
        self.calls.append("close")


@pytest.fixture(autouse=True)
def picamera2(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("picamera2")
    module.Picamera2 = FakePicamera2  # type: ignore[attr-defined]  # a module made here has what we give it
    monkeypatch.setitem(sys.modules, "picamera2", module)
    monkeypatch.setattr(FakePicamera2, "made", [])


def test_settings_become_libcamera_controls() -> None:
    with open_camera("picamera:0?fps=10&focus=2.5&exposure=8") as camera:
        assert camera.unmet == ()
    (made,) = FakePicamera2.made
    assert made.configuration == {"main": {"size": (1920, 1080), "format": "RGB888"}}
    assert made.told == {
        "FrameDurationLimits": (100_000, 100_000),
        "AfMode": 0,
        "LensPosition": 2.5,
        "AeEnable": False,
        "ExposureTime": 8000,
    }
    assert made.calls == ["start", "stop", "close"]


def test_what_is_automatic_is_left_to_the_camera() -> None:
    with open_camera("picamera:0?focus=auto&exposure=auto"):
        assert FakePicamera2.made[0].told == {"AfMode": 2, "AeEnable": True}


def test_without_settings_no_control_is_touched() -> None:
    with open_camera("picamera:0"):
        assert FakePicamera2.made[0].told == {}


def test_what_is_out_of_reach_is_told_with_what_is_taken_instead() -> None:
    with open_camera("picamera:0?focus=20&exposure=100&fps=60") as camera:
        assert camera.unmet == (
            UnmetSetting("fps", 60.0, 1_000_000 / 33_333),
            UnmetSetting("focus", 20.0, 15.0),
            UnmetSetting("exposure", 100.0, 66.666),
        )


@pytest.mark.parametrize("focus", ["auto", "3"])
def test_a_lens_that_cannot_focus_is_told(focus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = {name: limits for name, limits in CONTROLS.items() if name not in {"AfMode", "LensPosition"}}
    monkeypatch.setattr(FakePicamera2, "known", fixed)
    with open_camera(f"picamera:0?focus={focus}") as camera:
        assert camera.unmet == (UnmetSetting("focus", "auto" if focus == "auto" else 3.0, None),)


def test_a_frame_is_given_as_it_is() -> None:
    with open_camera("picamera:0") as camera:
        assert np.array_equal(camera.frame(), PICTURE)


def test_a_number_without_a_camera_is_missing() -> None:
    with pytest.raises(CameraMissingError):
        open_camera("picamera:1")


def test_a_ribbon_that_is_pulled_is_no_endless_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision.cameras.picamera._TIMEOUT_S", 0.0)
    with open_camera("picamera:0") as camera:
        monkeypatch.setattr(FakePicamera2, "answers", False)
        with pytest.raises(CameraUnpluggedError):
            camera.frame()


def test_an_error_of_the_driver_is_a_lost_camera(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakePicamera2, "gives", RuntimeError("Camera is not running"))
    with open_camera("picamera:0") as camera, pytest.raises(CameraUnpluggedError):
        camera.frame()


def test_a_frame_of_another_shape_is_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakePicamera2, "gives", PICTURE[:, :, 0])
    with open_camera("picamera:0") as camera, pytest.raises(PictureError):
        camera.frame()
