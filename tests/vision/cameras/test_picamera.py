"""The camera on the ribbon cable: its real process, with picamera2 simulated from the manual. Not tried on a Pi."""

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.patience import PATIENCE_S
from vision.cameras.addresses import check_camera_address, open_camera
from vision.cameras.camera import UnmetSetting, parse_camera_settings
from vision.cameras.feed import CameraFeed, CameraLost, CameraOpened
from vision.cameras.picamera import PiCamera, RibbonDriver, libcamera_controls
from vision.errors import (
    CameraAddressError,
    CameraDriverMissingError,
    CameraMissingError,
    CameraUnpluggedError,
    PictureError,
)

SMALL = "width=64&height=64"


def controls(**told: str) -> dict[str, float]:
    return {name: value for _, name, value in libcamera_controls(parse_camera_settings(told))}


def test_settings_become_libcamera_controls_and_a_fixed_exposure_fixes_the_gain() -> None:
    assert controls(fps="10", focus="2.5", exposure="8", gain="4") == {
        "FrameDurationLimits": 100_000,
        "AfMode": 0,
        "LensPosition": 2.5,
        "AeEnable": False,
        "ExposureTime": 8000,
        "AnalogueGain": 4.0,
    }
    assert controls(exposure="8")["AnalogueGain"] == 1.0


def test_automatic_and_missing_settings_are_left_to_the_camera() -> None:
    assert controls(focus="auto", exposure="auto") == {"AfMode": 2, "AeEnable": True}
    assert controls() == {}


def test_pictures_come_from_the_other_process() -> None:
    with open_camera(f"sim://ribbon?{SMALL}&fps=10&focus=2.5&exposure=8") as camera:
        assert camera.unmet == ()
        first, second = camera.frame(), camera.frame()
    assert np.array_equal(first, np.full((64, 64, 3), 1, dtype=np.uint8))
    assert np.array_equal(second, np.full((64, 64, 3), 2, dtype=np.uint8))


def test_values_out_of_range_are_reported_with_those_used_instead() -> None:
    with open_camera("sim://ribbon?width=100&height=64&focus=20&exposure=100&fps=60&gain=20") as camera:
        assert camera.unmet == (
            UnmetSetting("width", 100, 96),
            UnmetSetting("fps", 60.0, 1_000_000 / 33_333),
            UnmetSetting("focus", 20.0, 15.0),
            UnmetSetting("exposure", 100.0, 66.666),
            UnmetSetting("gain", 20.0, 16.0),
        )


def test_a_lens_without_focus_is_reported() -> None:
    with open_camera(f"sim://ribbon?{SMALL}&focus=3&fixed_focus=1") as camera:
        assert camera.unmet == (UnmetSetting("focus", 3.0, None),)


def test_an_unknown_camera_number_is_missing() -> None:
    with pytest.raises(CameraMissingError) as caught:
        open_camera("sim://ribbon?number=1")
    assert caught.value.code == "camera_missing"


def test_without_picamera2_the_error_says_what_to_install() -> None:
    with pytest.raises(CameraDriverMissingError, match="apt install python3-picamera2") as caught:
        open_camera("sim://ribbon?absent=1")
    assert caught.value.code == "camera_driver_missing"
    with pytest.raises(CameraDriverMissingError):
        PiCamera(0, parse_camera_settings({}), RibbonDriver("/nowhere/python3"))


def test_debians_python_runs_the_process_without_our_modules(tmp_path: Path) -> None:
    driver = tmp_path / "picamera2.py"
    driver.write_text("import sys\nraise ImportError(' '.join(sys.modules))\n")
    with pytest.raises(CameraDriverMissingError) as caught:
        PiCamera(0, parse_camera_settings({}), RibbonDriver(path=driver))
    assert not {"broker", "kiosk", "vision", "numpy"} & set(str(caught.value).split())


@pytest.mark.parametrize("fault", ["dies", "fails"])
def test_a_dead_process_and_a_failing_driver_are_a_lost_camera(fault: str) -> None:
    with open_camera(f"sim://ribbon?{SMALL}&{fault}=2") as camera:
        camera.frame()
        with pytest.raises(CameraUnpluggedError):
            camera.frame()


def test_a_hanging_driver_times_out_and_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision.cameras.picamera._FRAME_S", 0.05)
    monkeypatch.setattr("vision.cameras.picamera._END_S", 0.05)
    with open_camera(f"sim://ribbon?{SMALL}&hangs=1") as camera:
        with pytest.raises(CameraUnpluggedError):
            camera.frame()
        assert isinstance(camera, PiCamera)
        process = camera._process.pid
    assert not Path(f"/proc/{process}").exists()


def test_a_late_picture_is_accepted() -> None:
    with open_camera(f"sim://ribbon?{SMALL}&delay_ms=30") as camera:
        assert camera.frame()[0, 0, 0] == 1


def test_a_frame_of_another_shape_is_refused() -> None:
    with open_camera(f"sim://ribbon?{SMALL}&flat=1") as camera, pytest.raises(PictureError):
        camera.frame()


def test_a_camera_whose_process_died_is_reopened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision.cameras.feed.FIRST_PAUSE_S", 0.01)
    told: list[CameraOpened | CameraLost] = []
    with CameraFeed(lambda: open_camera(f"sim://ribbon?{SMALL}&dies=2"), told.append) as feed:
        first = feed.wait(0, PATIENCE_S)
        assert first is not None
        second = feed.wait(first.number, PATIENCE_S)
        assert second is not None
    assert [type(one) for one in told[:3]] == [CameraOpened, CameraLost, CameraOpened]
    assert isinstance(told[1], CameraLost)
    assert told[1].code == "camera_unplugged"


def test_closing_a_camera_closes_all_its_files() -> None:
    before = {one.name for one in Path("/proc/self/fd").iterdir()}
    with open_camera(f"sim://ribbon?{SMALL}") as camera:
        camera.frame()
    assert {one.name for one in Path("/proc/self/fd").iterdir()} - before == set()


@pytest.mark.parametrize("address", ["sim://ribbon?number=0.5", "sim://ribbon?dies=0", "sim://ribbon?tilt=3"])
def test_an_unknown_fault_is_refused(address: str) -> None:
    with pytest.raises(CameraAddressError):
        check_camera_address(address)


def test_the_simulated_driver_refuses_an_exposure_without_a_gain() -> None:
    """The simulation enforces the maintainers' advice."""
    settings = parse_camera_settings({"exposure": "8"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vision.cameras.picamera.libcamera_controls", lambda _: [("exposure", "AeEnable", False)])
        with pytest.raises(CameraMissingError, match="without gain"):
            PiCamera(0, settings, RibbonDriver(sys.executable, Path("vision/sim/picamera2.py").resolve(), {}))


def test_another_exposure_sets_the_automatic_ones_control() -> None:
    with open_camera(f"sim://ribbon?{SMALL}") as camera:
        assert (camera.expose(1), camera.frame()[0, 0, 0]) == (True, 65)
        assert (camera.expose(0), camera.frame()[0, 0, 0]) == (True, 2)


def test_a_fixed_exposure_is_multiplied_within_the_cameras_limits() -> None:
    with open_camera(f"sim://ribbon?{SMALL}&exposure=20") as camera:
        assert [camera.expose(stops) for stops in (-2, 1, 2, 0)] == [True, True, False, True]
        assert camera.frame()[0, 0, 0] == 1
