"""What a camera's address can set, after the question mark: `?width=1920&height=1080&fps=10&focus=auto&exposure=8`."""

import math
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qsl

from vision.errors import CameraAddressError

Auto = Literal["auto"]
_LIMITS = {"width": (64, 9248), "height": (64, 6944), "fps": (0.1, 240), "focus": (0, 10_000), "exposure": (0.01, 2000)}
_AUTO = {"focus", "exposure"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is asked of a real camera; None leaves it as the camera has it.

    `width` and `height` in pixels, `fps` in pictures a second, `exposure` in milliseconds. `focus` is in dioptres for
    `picamera:` (0 is infinity, 2 is half a metre) and in the camera's own steps for `v4l2:`.
    """

    width: int = 1920
    height: int = 1080
    fps: float | None = None
    focus: float | Auto | None = None
    exposure: float | Auto | None = None


def split_query(rest: str) -> tuple[str, dict[str, str]]:
    """Split what follows a camera's kind into the place and its settings; raises CameraAddressError."""
    place, _, query = rest.partition("?")
    try:
        pairs = parse_qsl(query, strict_parsing=bool(query), keep_blank_values=True)
    except ValueError as error:
        raise CameraAddressError(f"{query!r} is not written as name=value&name=value") from error
    told = dict(pairs)
    if len(told) != len(pairs):
        raise CameraAddressError("a setting is told twice")
    return place, told


def parse_settings(told: dict[str, str]) -> Settings:
    """Read a real camera's settings; raises CameraAddressError."""
    unknown = sorted(set(told) - set(_LIMITS))
    if unknown:
        raise CameraAddressError(f"a camera has no setting {unknown[0]!r}")
    values = {name: told_value(name, text) for name, text in told.items()}
    sizes = {name: round(float(value)) for name, value in values.items() if name in {"width", "height"}}
    return Settings(**{**values, **sizes})  # type: ignore[arg-type]  # told_value keeps "auto" to the two that have it


def told_value(name: str, text: str) -> float | Auto:
    """Read one setting's value; raises CameraAddressError."""
    if text == "auto" and name in _AUTO:
        return "auto"
    return told_number(name, text, *_LIMITS[name])


def told_number(name: str, text: str, least: float, most: float) -> float:
    """Read a number between limits; raises CameraAddressError."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not least <= number <= most:
        raise CameraAddressError(f"{name}={text}: it lies between {least:g} and {most:g}")
    return number
