"""`picamera:0`: a camera on the Pi's ribbon cable, driven by Debian's picamera2 in a separate process.

picamera2 is built for Debian's NumPy, which cannot be loaded together with ours; `ribbon_process.py` is that process.
Pictures are passed through a file in memory. Follows the Picamera2 manual
(datasheets.raspberrypi.com/camera/picamera2-manual.pdf): configurations 4.2, controls 5.1, appendix C.
"""

import json
import mmap
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from vision.cameras.camera import Camera, CameraSettings, UnmetSetting, setting_number
from vision.errors import (
    CameraAddressError,
    CameraDriverMissingError,
    CameraError,
    CameraMissingError,
    CameraUnpluggedError,
    PictureError,
)
from vision.geometry import Picture
from vision.picture import check_picture

PROCESS: Final = Path(__file__).with_name("ribbon_process.py")
SIMULATED: Final = Path(__file__).parents[1] / "sim" / "picamera2.py"
DEBIAN: Final = "/usr/bin/python3"

_AF_MANUAL, _AF_CONTINUOUS = 0, 2  # libcamera's AfModeEnum
_LEAST_GAIN = 1.0  # set with a fixed exposure; otherwise the gain would stay where the automatic one left it
_SETTLING = 8  # frames: three in the pipeline, and those that an automatic exposure needs to settle
_START_S = 20.0  # importing picamera2 on a Pi takes some seconds
_FRAME_S = 5.0  # the longest exposure is 2 s, and the first picture comes after several
_END_S = 3.0

_FAULTS = {"delay_ms": (0, 60_000), "dies": (1, 10**6), "hangs": (1, 10**6), "fails": (1, 10**6),
           "absent": (0, 1), "fixed_focus": (0, 1), "flat": (0, 1), "number": (0, 9)}  # fmt: skip

_ERRORS: Final[Mapping[str, tuple[type[CameraError], str]]] = {
    "driver": (
        CameraDriverMissingError,
        "Debian's picamera2 cannot be used here: {} (sudo apt install python3-picamera2)",
    ),
    "missing": (CameraMissingError, "there is no such camera on the ribbon cable, or it does not start: {}"),
    "unplugged": (CameraUnpluggedError, "the camera no longer gives pictures: {}"),
}


@dataclass(frozen=True, slots=True)
class RibbonDriver:
    """The driver: Debian's picamera2, or a simulated one with faults, run by our own Python."""

    python: str = DEBIAN
    path: Path | None = None
    faults: Mapping[str, float] | None = None


def parse_simulated(query: dict[str, str]) -> tuple[int, RibbonDriver]:
    """Pop the faults of an address such as `sim://ribbon?dies=3` from its settings; return camera number and driver.

    Raises CameraAddressError.
    """
    faults = {name: setting_number(name, query.pop(name), *_FAULTS[name]) for name in set(query) & set(_FAULTS)}
    number, absent = faults.pop("number", 0), faults.pop("absent", 0)
    if not float(number).is_integer():
        raise CameraAddressError(f"number={number:g}: it is a whole number")
    driver = SIMULATED.with_name("absent") if absent else SIMULATED
    return int(number), RibbonDriver(sys.executable, driver, faults)


def libcamera_controls(settings: CameraSettings) -> Iterator[tuple[str, str, float]]:
    """Yield (setting, libcamera's control, value); values are microseconds, dioptres, or the number of a mode."""
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
    if settings.gain is not None or isinstance(settings.exposure, float):
        yield "gain", "AnalogueGain", settings.gain or _LEAST_GAIN


class PiCamera(Camera):
    """A camera on the ribbon cable; `unmet` lists settings that it does not have, or values that it cannot reach."""

    def __init__(self, number: int, settings: CameraSettings, driver: RibbonDriver = RibbonDriver()) -> None:
        """Start the camera's process, and wait until it has opened the camera. Raises CameraError."""
        super().__init__()
        request = {
            "number": number,
            "size": (settings.width, settings.height),
            "controls": {name: value for _, name, value in libcamera_controls(settings)},
            "driver": str(driver.path) if driver.path else None,
            "faults": driver.faults or {},
        }
        self._socket, theirs = socket.socketpair()
        self._answers = self._socket.makefile("rb")
        self._memory, self._request_number = os.memfd_create("ribbon"), 0
        fds = theirs.fileno(), self._memory
        try:
            # -B: Debian's Python, of whatever version, must not write compiled modules next to ours.
            command = [driver.python, "-IB", str(PROCESS), *map(str, fds), json.dumps(request)]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=fds)
        except OSError as error:
            self._close_channel()
            raise CameraDriverMissingError(f"{driver.python} does not start: {error.strerror}") from error
        finally:
            theirs.close()
        try:
            opened = self._answer(_START_S)
        except CameraError:
            self.close()
            raise
        self._settings, self._limits, self.settling = settings, opened["limits"], _SETTLING
        self.unmet = _wrong_size((settings.width, settings.height), opened["size"]) + _out_of_reach(
            settings, opened["limits"]
        )

    def expose(self, stops: int) -> bool:
        """Change the exposure to 2 ** stops times the light of the camera's own; return whether it can.

        Automatic exposure has a control for this; a fixed exposure time is multiplied.
        """
        self._require_open()
        fixed = self._settings.exposure if isinstance(self._settings.exposure, float) else None
        name, value = ("ExposureTime", round(fixed * 1000 * 2.0**stops)) if fixed else ("ExposureValue", float(stops))
        least, most = self._limits.get(name, (1, 0))
        if least <= value <= most:
            self._send({name: value})
            return True
        return stops == 0 or (self.expose(0) and False)

    def _take(self) -> Picture:
        """Take a picture. Raises CameraUnpluggedError if none comes, PictureError if the frame is not a picture."""
        self._require_open()
        self._request_number += 1
        self._send(self._request_number)
        answer = self._answer(_FRAME_S)
        shape, size = tuple(answer["shape"]), os.fstat(self._memory).st_size
        if answer["number"] != self._request_number or answer["type"] != "uint8" or not 0 < np.prod(shape) <= size:
            raise PictureError("the camera returned something that is not a picture")
        with mmap.mmap(self._memory, int(np.prod(shape)), prot=mmap.PROT_READ) as room:
            return check_picture(np.frombuffer(bytes(room), dtype=np.uint8).reshape(shape))

    def _send(self, message: object) -> None:
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise CameraUnpluggedError("the camera's process has ended") from error

    def _answer(self, patience: float) -> dict[str, Any]:
        """Return the process's next answer. Raises CameraError for an error, a timeout or the end of the process."""
        self._socket.settimeout(patience)
        try:
            line = self._answers.readline()
        except OSError as error:
            raise CameraUnpluggedError("the camera no longer gives pictures") from error
        if not line:
            raise CameraUnpluggedError("the camera's process has ended")
        answer: dict[str, Any] = json.loads(line)
        if "why" in answer:
            kind, text = _ERRORS[answer["why"]]
            raise kind(text.format(answer["words"]))
        return answer

    def _release(self) -> None:
        """End the process, by force if necessary."""
        self._close_channel()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _close_channel(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._answers.close()
        self._socket.close()
        os.close(self._memory)


def _wrong_size(wanted: tuple[int, int], got: tuple[int, int]) -> tuple[UnmetSetting, ...]:
    sides = zip(("width", "height"), wanted, got, strict=True)
    return tuple(UnmetSetting(name, want, have) for name, want, have in sides if want != have)


def _out_of_reach(settings: CameraSettings, limits: Mapping[str, tuple[float, float]]) -> tuple[UnmetSetting, ...]:
    """Return the settings that the camera has no control for, or whose values are outside its limits."""
    unmet: dict[str, UnmetSetting] = {}
    for setting, name, value in libcamera_controls(settings):
        wanted = getattr(settings, setting)
        if wanted is None:
            continue  # our own choice, not in the address
        if name not in limits:
            unmet.setdefault(setting, UnmetSetting(setting, wanted, None))
            continue
        least, most = limits[name]
        if not least <= value <= most:
            near = min(max(value, least), most)
            taken = near / 1000 if setting == "exposure" else 1_000_000 / near if setting == "fps" else near
            unmet.setdefault(setting, UnmetSetting(setting, wanted, taken))
    return tuple(unmet.values())
