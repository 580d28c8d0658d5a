"""The base class of cameras, the settings in their addresses, and the camera `pictures:FOLDER`.

Settings follow a question mark: `?width=1920&height=1080&fps=10&focus=auto&exposure=8`.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import parse_qsl

from broker.closing import Closing
from vision.cameras.lens import Lens
from vision.errors import CameraAddressError, CameraClosedError, CameraMissingError
from vision.geometry import Picture
from vision.picture import check_picture, load_picture

Auto = Literal["auto"]
_LIMITS = {"width": (64, 9248), "height": (64, 6944), "fps": (0.1, 240), "focus": (0, 10_000), "exposure": (0.01, 2000),
           "gain": (0.1, 10_000)}  # fmt: skip
_AUTO = {"focus", "exposure"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraSettings:
    """Settings of a real camera; None leaves the camera's own value."""

    width: Annotated[int, "Pixels."] = 1920
    height: Annotated[int, "Pixels."] = 1080
    fps: Annotated[float | None, "Pictures a second; ten are enough, and leave the Pi time."] = None
    focus: Annotated[
        float | Auto | None,
        "`auto`, or a number: for `picamera` dioptres (1000 divided by the distance in mm, 0 is far), for `v4l2` the "
        "camera's own steps (`v4l2-ctl --list-ctrls`: `focus_absolute`).",
    ] = None
    exposure: Annotated[float | Auto | None, "`auto`, or milliseconds."] = None
    gain: Annotated[
        float | None,
        "For `picamera` a factor (with a fixed `exposure` its least), for `v4l2` the camera's own steps. More is "
        "brighter and noisier.",
    ] = None


def split_camera_query(rest: str) -> tuple[str, dict[str, str]]:
    """Split the part of an address after the kind into the place and its settings. Raises CameraAddressError."""
    place, _, query = rest.partition("?")
    try:
        pairs = parse_qsl(query, strict_parsing=bool(query), keep_blank_values=True)
    except ValueError as error:
        raise CameraAddressError(f"{query!r} is not written as name=value&name=value") from error
    settings = dict(pairs)
    if len(settings) != len(pairs):
        raise CameraAddressError("a setting occurs twice")
    return place, settings


def parse_camera_settings(query: dict[str, str]) -> CameraSettings:
    """Parse a real camera's settings. Raises CameraAddressError."""
    unknown = sorted(set(query) - set(_LIMITS))
    if unknown:
        raise CameraAddressError(f"a camera has no setting {unknown[0]!r}")
    values = {name: _setting_value(name, text) for name, text in query.items()}
    sizes = {name: round(float(value)) for name, value in values.items() if name in {"width", "height"}}
    return CameraSettings(**{**values, **sizes})  # type: ignore[arg-type]  # _setting_value allows "auto" only for the two settings that have it


def _setting_value(name: str, text: str) -> float | Auto:
    """Parse one setting's value. Raises CameraAddressError."""
    if text == "auto" and name in _AUTO:
        return "auto"
    return setting_number(name, text, *_LIMITS[name])


def setting_number(name: str, text: str, least: float, most: float) -> float:
    """Parse a number between two limits, inclusive. Raises CameraAddressError."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not least <= number <= most:
        raise CameraAddressError(f"{name}={text}: it must be between {least:g} and {most:g}")
    return number


@dataclass(frozen=True, slots=True)
class UnmetSetting:
    """A setting that the camera did not accept; `taken` is the value it uses instead, None without such a setting."""

    setting: str
    wanted: float | str
    taken: float | None


class Camera(Closing):
    """Base class of cameras."""

    def __init__(self) -> None:
        self._open = True
        self.unmet: tuple[UnmetSetting, ...] = ()
        """Settings that the camera did not accept; known once it is open."""
        self.pause = 0.0
        """Seconds to wait between frames; 0 if taking a frame itself takes time."""
        self.ended = False
        """Whether there are no more pictures."""
        self.shown: Path | None = None
        """The file of the last picture, for a camera that shows files."""
        self.settling = 0
        """Number of frames until a change of exposure takes effect."""
        self.lens: Lens | None = None
        """The camera's lens, if it was measured; `frame` then straightens pictures."""

    def expose(self, stops: int) -> bool:
        """Change the exposure to 2 ** stops times the light of the camera's own; return whether it can."""
        return stops == 0

    def frame(self) -> Picture:
        """Take a picture (BGR, shape (height, width, 3), uint8). Raises CameraError; PictureError for a bad frame."""
        taken = self._take()
        return taken if self.lens is None else self.lens.undistort_picture(check_picture(taken))

    def _take(self) -> Picture:
        """Take a picture without straightening it. Raises as `frame`."""
        raise NotImplementedError

    def close(self) -> None:
        """Release the device; may be called twice."""
        if self._open:
            self._open = False
            self._release()

    def _release(self) -> None:
        """Release what this kind of camera holds."""

    def _require_open(self) -> None:
        if not self._open:
            raise CameraClosedError("the camera is closed")


_SUFFIXES = frozenset({".jpg", ".jpeg", ".png"})


class PicturesCamera(Camera):
    """A folder of pictures that behaves like a camera: each frame is the next picture, in order of file names.

    The last picture is repeated; with `loop`, the first one follows it.
    """

    def __init__(self, folder: Path, *, loop: bool = False, fps: float = 10.0) -> None:
        super().__init__()
        try:
            self._files = sorted(path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES)
        except OSError as error:
            raise CameraMissingError(f"the folder {folder.name} cannot be opened: {error.strerror}") from error
        if not self._files:
            raise CameraMissingError(f"no JPEG or PNG in the folder {folder.name}")
        self.pause = 1 / fps
        self._loop = loop
        self._next = 0

    def _take(self) -> Picture:
        """Load the next picture. Raises PictureError if the file is not a picture; the next call then skips it."""
        self._require_open()
        shown = self.shown = self._files[self._next]
        self.ended = self._next == len(self._files) - 1 and not self._loop
        if not self.ended:
            self._next = (self._next + 1) % len(self._files)
        return load_picture(shown)
