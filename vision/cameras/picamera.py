"""`picamera:0`: a camera on the Pi's ribbon, by picamera2 (from apt; imported only here).

Written to the Picamera2 manual (datasheets.raspberrypi.com/camera/picamera2-manual.pdf): configurations 4.2, controls
5.1 and appendix C, asynchronous captures 6.1.
"""

from collections.abc import Iterator
from importlib import import_module
from threading import Event
from typing import Any

from vision.cameras.camera import CameraSettings, ClosableDevice, UnmetSetting, check_frame
from vision.errors import CameraMissingError, CameraUnpluggedError
from vision.geometry import Picture

_AF_MANUAL, _AF_CONTINUOUS = 0, 2  # libcamera's AfModeEnum
_TIMEOUT_S = 5.0  # the slowest exposure is 2 s, and the first frame comes after a few

ControlLimits = dict[str, tuple[Any, Any, Any]]  # a control's least, most and usual value


def libcamera_controls(settings: CameraSettings) -> Iterator[tuple[str, str, float]]:
    """(setting, libcamera's control, value): times in microseconds, lens position in dioptres, modes by number."""
    if settings.fps is not None:
        yield "fps", "FrameDurationLimits", round(1_000_000 / settings.fps)
    if settings.focus is not None:
        yield "focus", "AfMode", _AF_CONTINUOUS if settings.focus == "auto" else _AF_MANUAL
    if isinstance(settings.focus, float):
        yield "focus", "LensPosition", settings.focus
    if settings.exposure is not None:
        yield "exposure", "AeEnable", settings.exposure == "auto"
    if isinstance(settings.exposure, float):
        yield "exposure", "ExposureTime", round(settings.exposure * 1000)


class PiCamera(ClosableDevice):
    """A camera on the ribbon; `unmet` says which settings it does not have or cannot reach."""

    def __init__(self, number: int, settings: CameraSettings) -> None:
        super().__init__()
        try:
            self._camera: Any = import_module("picamera2").Picamera2(number)
        except ImportError as error:
            raise CameraMissingError("picamera2 is not installed here") from error
        except (IndexError, RuntimeError) as error:  # what picamera2 raises for a number without a camera
            raise CameraMissingError(f"there is no camera number {number}") from error
        try:
            self._start(settings)
        except RuntimeError as error:
            self._camera.close()
            raise CameraMissingError(f"camera number {number} does not start: {error}") from error

    def _start(self, settings: CameraSettings) -> None:
        # In libcamera's names "RGB888" is B, G, R in memory: what OpenCV wants.
        size = (settings.width, settings.height)
        # Without a queue a frame is never one from before it was asked for.
        plan = self._camera.create_video_configuration(main={"size": size, "format": "RGB888"}, queue=False)
        self._camera.configure(plan)
        limits: ControlLimits = self._camera.camera_controls
        told: dict[str, Any] = {name: value for _, name, value in libcamera_controls(settings) if name in limits}
        if "FrameDurationLimits" in told:
            told["FrameDurationLimits"] = (told["FrameDurationLimits"],) * 2  # least and most
        self._camera.set_controls(told)
        self._camera.start()
        got = tuple(self._camera.camera_configuration()["main"]["size"])
        self.unmet = _wrong_size(size, got) + _out_of_reach(settings, limits)

    def frame(self) -> Picture:
        """Take a picture; raises CameraUnpluggedError when none comes, PictureError for a frame that is no picture."""
        self._require_open()
        done = Event()
        try:
            # Asynchronously: with the ribbon out, picamera2 would wait for ever.
            job = self._camera.capture_array("main", wait=False, signal_function=lambda _: done.set())
            if not done.wait(_TIMEOUT_S):
                raise CameraUnpluggedError("the camera gives no picture any more")
            return check_frame(self._camera.wait(job))
        except RuntimeError as error:
            raise CameraUnpluggedError("the camera gives no picture any more") from error

    def _release(self) -> None:
        self._camera.stop()
        self._camera.close()


def _wrong_size(wanted: tuple[int, int], got: tuple[int, int]) -> tuple[UnmetSetting, ...]:
    sides = zip(("width", "height"), wanted, got, strict=True)
    return tuple(UnmetSetting(name, want, have) for name, want, have in sides if want != have)


def _out_of_reach(settings: CameraSettings, limits: ControlLimits) -> tuple[UnmetSetting, ...]:
    """Name the settings that the camera has no control for, or none up to that value."""
    misses: dict[str, UnmetSetting] = {}
    for setting, name, value in libcamera_controls(settings):
        wanted = getattr(settings, setting)
        if name not in limits:
            misses.setdefault(setting, UnmetSetting(setting, wanted, None))
            continue
        least, most, _ = limits[name]
        if not least <= value <= most:
            misses.setdefault(
                setting, UnmetSetting(setting, wanted, _in_setting(setting, min(max(value, least), most)))
            )
    return tuple(misses.values())


def _in_setting(setting: str, value: float) -> float:
    return {"exposure": value / 1000, "fps": 1_000_000 / value}.get(setting, value)
