"""What the address of a simulated camera sets: its lens, its light, and what happens to it and when."""

import math
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from vision.cameras.camera import setting_number, split_camera_query
from vision.errors import CameraAddressError

_LIMITS = {
    "seed": (0.0, 2.0**31),
    "width": (64.0, 4096.0),
    "height": (64.0, 4096.0),
    "fps": (0.1, 240.0),
    "noise": (0.0, 60.0),
    "blur": (0.0, 10.0),
    "tilt": (0.0, 40.0),
    "deal": (0.0, 2.0**31),
    "glare": (0.0, 4000.0),
}
_WHOLE = {"seed", "width", "height", "deal"}
_NEVER = range(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedOptics:
    """A simulated camera, its light, and what happens to it. Spans are of frames, counted from 0."""

    seed: Annotated[int, "Other noise."] = 0
    width: Annotated[int, "Pixels."] = 1600
    height: Annotated[int, "Pixels."] = 900
    fps: Annotated[float, "Pictures a second."] = 10.0
    noise: Annotated[float, "Levels."] = 2.0
    blur: Annotated[float, "Pixels."] = 0.5
    tilt: Annotated[float, "Degrees."] = 3.0
    deal: Annotated[int | None, "34 tiles by chance lie in the tray from the start: their seed."] = None
    glare: Annotated[float, "Levels that a lamp adds on some tiles; more than 255 burns them out."] = 0.0
    unplugged: Annotated[range, "Frames from 0, such as `30-60`, without a camera."] = _NEVER
    dark: Annotated[range, "Frames without light."] = _NEVER
    covered: Annotated[range, "Frames with a hand over the tray."] = _NEVER


def parse_optics(address: str) -> SimulatedOptics:
    """Read `sim://tray?seed=7&covered=20-40`; raises CameraAddressError for another thing than a tray or a setting."""
    try:
        parts = urlsplit(address)
    except ValueError as error:
        raise CameraAddressError(f"{address!r} is no address") from error
    if parts.netloc != "tray" or parts.path not in {"", "/"} or parts.fragment:
        raise CameraAddressError(f"{address!r}: only sim://tray is simulated")
    _, told = split_camera_query("?" + parts.query)
    unknown = sorted(set(told) - set(SimulatedOptics.__dataclass_fields__))
    if unknown:
        raise CameraAddressError(f"a simulated camera has no setting {unknown[0]!r}")
    numbers = {name: setting_number(name, text, *_LIMITS[name]) for name, text in told.items() if name in _LIMITS}
    whole = {name: _whole(name, numbers[name]) for name in _WHOLE & set(numbers)}
    spans = {name: _span(name, text) for name, text in told.items() if name not in _LIMITS}
    return SimulatedOptics(**{**numbers, **whole, **spans})  # type: ignore[arg-type]  # the names were held to the fields above


def _whole(name: str, number: float) -> int:
    if not number.is_integer():
        raise CameraAddressError(f"{name}={number:g}: it is a whole number")
    return int(number)


def _span(name: str, text: str) -> range:
    """Read `20-40`, both ends included, or one number."""
    first, _, last = text.partition("-")
    start = _whole(name, setting_number(name, first, 0, math.inf))
    end = _whole(name, setting_number(name, last or first, start, math.inf))
    return range(start, end + 1)
