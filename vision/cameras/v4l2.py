"""`v4l2:/dev/v4l/by-id/...`: a USB camera, through OpenCV. The API: docs.kernel.org/userspace-api/media/v4l."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isclose
from pathlib import Path

import cv2

from vision.cameras.camera import Camera, CameraSettings, UnmetSetting
from vision.errors import CameraMissingError, CameraUnpluggedError
from vision.geometry import Picture
from vision.picture import check_picture

_NEAR = 0.1  # relative tolerance, as cameras round values to their own steps
_MANUAL, _APERTURE_PRIORITY = 1.0, 3.0  # V4L2_CID_EXPOSURE_AUTO: enum v4l2_exposure_auto_type
_SETTLING = 5  # frames that may still be buffered in the camera and the kernel
_TENTHS_OF_MS = 10.0  # V4L2_CID_EXPOSURE_ABSOLUTE counts in 100 microseconds


@dataclass(frozen=True, slots=True)
class PropertyRequest:
    """One property to set; `value` is in OpenCV's unit, `unit` is how many of those make one of the setting's unit."""

    setting: str
    property: int
    value: float
    unit: float = 1.0


def property_requests(settings: CameraSettings) -> Iterator[PropertyRequest]:
    """Yield the properties to set, in the order that drivers need: size, rate, then each mode before its value."""
    yield PropertyRequest("width", cv2.CAP_PROP_FRAME_WIDTH, settings.width)
    yield PropertyRequest("height", cv2.CAP_PROP_FRAME_HEIGHT, settings.height)
    if settings.fps is not None:
        yield PropertyRequest("fps", cv2.CAP_PROP_FPS, settings.fps)
    if settings.focus is not None:
        yield PropertyRequest("focus", cv2.CAP_PROP_AUTOFOCUS, float(settings.focus == "auto"))
    if isinstance(settings.focus, float):
        yield PropertyRequest("focus", cv2.CAP_PROP_FOCUS, settings.focus)
    if settings.exposure is not None:
        mode = _APERTURE_PRIORITY if settings.exposure == "auto" else _MANUAL
        yield PropertyRequest("exposure", cv2.CAP_PROP_AUTO_EXPOSURE, mode)
    if isinstance(settings.exposure, float):
        yield PropertyRequest("exposure", cv2.CAP_PROP_EXPOSURE, settings.exposure * _TENTHS_OF_MS, _TENTHS_OF_MS)
    if settings.gain is not None:
        yield PropertyRequest("gain", cv2.CAP_PROP_GAIN, settings.gain)


class V4l2Camera(Camera):
    """A USB camera at a device file; `unmet` lists the settings that it did not accept."""

    def __init__(self, device: str, settings: CameraSettings) -> None:
        super().__init__()
        if not Path(device).exists():
            raise CameraMissingError(f"there is no camera at {device}")
        cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_ERROR)  # else each failed attempt logs a warning
        self._capture = cv2.VideoCapture(device, cv2.CAP_V4L2)
        if not self._capture.isOpened():
            self._capture.release()
            raise CameraMissingError(f"{device} is no camera, or another program has it")
        # Compressed, if the camera can: uncompressed, USB 2 carries only five pictures of 1920 x 1080 a second.
        self._capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        self._capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)  # an old frame would show tiles where they no longer lie
        accepted = {one.property: self._capture.set(one.property, one.value) for one in property_requests(settings)}
        self.settling = _SETTLING
        self._own: tuple[float, float] | None = None  # mode and value of the camera's own exposure, while changed
        self.unmet = tuple({unmet.setting: unmet for unmet in self._unmet_settings(settings, accepted)}.values())

    def _unmet_settings(self, settings: CameraSettings, accepted: dict[int, bool]) -> Iterator[UnmetSetting]:
        """Yield the settings that were not accepted, once all are set: a size may change the rate, a mode the value."""
        for request in property_requests(settings):
            actual = float(self._capture.get(request.property))
            if not accepted[request.property]:
                yield UnmetSetting(request.setting, getattr(settings, request.setting), None)
            elif not isclose(actual, request.value, rel_tol=_NEAR, abs_tol=0.5):
                yield UnmetSetting(request.setting, getattr(settings, request.setting), actual / request.unit)

    def expose(self, stops: int) -> bool:
        """Change the exposure to 2 ** stops times the light of the camera's own; return whether it can."""
        if self._own is None:
            self._own = self._capture.get(cv2.CAP_PROP_AUTO_EXPOSURE), self._capture.get(cv2.CAP_PROP_EXPOSURE)
        own_mode, own = self._own
        if stops and own > 0 and self._set_exposure(_MANUAL, own * 2.0**stops):
            return True
        self._own = None
        self._set_exposure(own_mode, own)
        return stops == 0

    def _set_exposure(self, mode: float, value: float) -> bool:
        """Set mode and value; return whether the camera accepted them. In automatic mode the value is not set."""
        accepted = self._capture.set(cv2.CAP_PROP_AUTO_EXPOSURE, mode)
        if mode != _MANUAL:
            return accepted
        accepted &= self._capture.set(cv2.CAP_PROP_EXPOSURE, value)
        return accepted and isclose(self._capture.get(cv2.CAP_PROP_EXPOSURE), value, rel_tol=_NEAR)

    def _take(self) -> Picture:
        """Take a picture. Raises CameraUnpluggedError if none comes, PictureError if the frame is not a picture."""
        self._require_open()
        taken, picture = self._capture.read()
        if not taken or picture is None:
            raise CameraUnpluggedError("the camera no longer gives pictures")
        return check_picture(picture)

    def _release(self) -> None:
        self._capture.release()
