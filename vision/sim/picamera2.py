"""A simulated picamera2, following its manual; the process of a ribbon camera loads it instead of the real one.

It imports none of our modules, like that process.
"""

import os
import time
from typing import Any, Final

import numpy as np

FAULTS: Final[dict[str, float]] = {}
"""`delay_ms` before each picture; `dies`, `hangs` and `fails` give the number of the first such picture, from 1."""

FOREVER_S: Final = 3600.0


class Picamera2:
    """A single camera, with number 0. The grey level of a picture is its number, plus 64 per stop of exposure value."""

    def __init__(self, camera_num: int = 0) -> None:
        """Find the camera."""
        if camera_num > 0:
            raise IndexError("list index out of range")
        self.camera_controls: dict[str, tuple[Any, Any, Any]] = {
            "AfMode": (0, 2, 0),
            "LensPosition": (0.0, 15.0, 1.0),
            "AeEnable": (False, True, True),
            "ExposureTime": (1, 66_666, 20_000),
            "ExposureValue": (-8.0, 8.0, 0.0),
            "AnalogueGain": (1.125, 16.0, 1.125),
            "FrameDurationLimits": (33_333, 120_000, 33_333),
        }
        if FAULTS.get("fixed_focus"):
            del self.camera_controls["AfMode"], self.camera_controls["LensPosition"]
        self._controls: dict[str, Any] = {}
        self._configuration: dict[str, Any] = {}
        self._pictures = 0

    def create_video_configuration(self, main: dict[str, Any], *, queue: bool = True) -> dict[str, Any]:
        """Return a configuration; widths are rounded down to multiples of 32, as by the sensors' drivers."""
        width, height = main["size"]
        return {"main": main | {"size": (width // 32 * 32, height)}, "queue": queue}

    def configure(self, configuration: dict[str, Any]) -> None:
        """Set the configuration."""
        self._configuration = configuration

    def camera_configuration(self) -> dict[str, Any]:
        """Return the configuration."""
        return self._configuration

    def set_controls(self, controls: dict[str, Any]) -> None:
        """Set controls."""
        unknown = sorted(set(controls) - set(self.camera_controls))
        if unknown:
            raise RuntimeError(f"Control {unknown[0]} is not advertised by libcamera")
        self._controls |= controls

    def start(self) -> None:
        """Start. Raises RuntimeError if the exposure is manual without a time and a gain for the first picture."""
        if self._controls.get("AeEnable") is False and not {"ExposureTime", "AnalogueGain"} <= self._controls.keys():
            raise RuntimeError("exposure without gain: the picture is as bright as it happened to be")

    def capture_array(self, _name: str) -> "np.typing.NDArray[np.uint8]":
        """Take a picture, or simulate the fault set for it."""
        self._pictures += 1
        time.sleep(FAULTS.get("delay_ms", 0) / 1000)
        if self._is("dies"):
            os._exit(1)
        if self._is("hangs"):
            time.sleep(FOREVER_S)
        if self._is("fails"):
            raise RuntimeError("Camera frontend has timed out!")
        width, height = self._configuration["main"]["size"]
        shape = (height, width) if FAULTS.get("flat") else (height, width, 3)
        grey = self._pictures + 64 * round(self._controls.get("ExposureValue", 0.0))
        return np.full(shape, grey % 256, dtype=np.uint8)

    def _is(self, fault: str) -> bool:
        return 0 < FAULTS.get(fault, 0) <= self._pictures

    def stop(self) -> None:
        """Stop."""

    def close(self) -> None:
        """Release the camera."""
