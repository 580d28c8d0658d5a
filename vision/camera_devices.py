"""Real cameras: `v4l2:/dev/video0` by OpenCV, `picamera:0` by picamera2."""

from importlib import import_module
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from vision.camera_base import OpenOrClosed
from vision.errors import CameraMissingError, CameraUnpluggedError
from vision.geometry import Picture

_WIDTH, _HEIGHT = 1920, 1080


class V4l2Camera(OpenOrClosed):
    """A USB camera at a device file."""

    def __init__(self, device: str) -> None:
        super().__init__()
        if not Path(device).exists():
            raise CameraMissingError(f"there is no camera at {device}")
        self._capture = cv2.VideoCapture(device, cv2.CAP_V4L2)
        if not self._capture.isOpened():
            self._capture.release()
            raise CameraMissingError(f"{device} is no camera, or another program has it")
        self._capture.set(cv2.CAP_PROP_FRAME_WIDTH, _WIDTH)
        self._capture.set(cv2.CAP_PROP_FRAME_HEIGHT, _HEIGHT)
        self._capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)  # an old frame would show tiles where they lay before

    def frame(self) -> Picture:
        """Take a picture; raises CameraUnpluggedError when none comes."""
        self._require_open()
        taken, picture = self._capture.read()
        if not taken or picture is None:
            raise CameraUnpluggedError("the camera gives no picture any more")
        return np.asarray(picture, dtype=np.uint8)

    def _release(self) -> None:
        self._capture.release()


class PiCamera(OpenOrClosed):
    """A camera on the Pi's ribbon; picamera2 comes from apt and is imported only here."""

    def __init__(self, number: int) -> None:
        super().__init__()
        try:
            self._camera: Any = import_module("picamera2").Picamera2(number)
        except ImportError as error:
            raise CameraMissingError("picamera2 is not installed here") from error
        except (IndexError, RuntimeError) as error:  # what picamera2 raises for a number without a camera
            raise CameraMissingError(f"there is no camera number {number}") from error
        # In libcamera's names "RGB888" is B, G, R in memory: what OpenCV wants.
        size = {"size": (_WIDTH, _HEIGHT), "format": "RGB888"}
        self._camera.configure(self._camera.create_still_configuration(main=size))
        self._camera.start()

    def frame(self) -> Picture:
        """Take a picture; raises CameraUnpluggedError when none comes."""
        self._require_open()
        try:
            return np.asarray(self._camera.capture_array("main"), dtype=np.uint8)
        except RuntimeError as error:
            raise CameraUnpluggedError("the camera gives no picture any more") from error

    def _release(self) -> None:
        self._camera.stop()
        self._camera.close()
