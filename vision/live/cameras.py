"""Cameras are addresses: `pictures:FOLDER`, `v4l2:/dev/video0`, `picamera:0`, `sim://tray`. Configuration, not code."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from vision.errors import CameraAddressError
from vision.live.camera import Camera
from vision.live.settings import parse_settings, split_query, told_number
from vision.twins.optics import parse_optics
from vision.twins.world import TrayTwin

_PICTURES_FPS = 10.0


def open_camera(address: str, *, world: TrayTwin | None = None) -> Camera:
    """Open the camera at an address; `world` is the table that `sim://tray` looks at, a fresh one by default.

    Raises CameraAddressError, CameraMissingError. What drives a camera is imported only for it.
    """
    return _opener(address, world)()


def check_address(address: str) -> str:
    """Give the address back if a camera can have it, with these settings. Raises CameraAddressError."""
    _opener(address, None)
    return address


def _opener(address: str, world: TrayTwin | None) -> Callable[[], Camera]:
    """Read an address, and give what opens the camera there."""
    kind, _, rest = address.partition(":")
    reader = _KINDS.get(kind)
    if kind == "sim":
        parse_optics(address)
        return partial(_open_simulated, address, world)
    place, told = split_query(rest)
    if reader is None or not place:
        raise CameraAddressError(f"no camera has the address {address!r}")
    return reader(place, told)


def _pictures(place: str, told: dict[str, str]) -> Callable[[], Camera]:
    loop = told_number("loop", told.pop("loop", "0"), 0, 1) > 0
    fps = told_number("fps", told.pop("fps", str(_PICTURES_FPS)), 0.1, 240)
    if told:
        raise CameraAddressError(f"a folder of pictures has no setting {min(told)!r}")

    def opened() -> Camera:
        from vision.live.pictures import PicturesCamera  # noqa: PLC0415 -- a table opens one kind of camera

        return PicturesCamera(Path(place), loop=loop, fps=fps)

    return opened


def _v4l2(place: str, told: dict[str, str]) -> Callable[[], Camera]:
    settings = parse_settings(told)

    def opened() -> Camera:
        from vision.live.v4l2 import V4l2Camera  # noqa: PLC0415 -- as above

        return V4l2Camera(place, settings)

    return opened


def _picamera(place: str, told: dict[str, str]) -> Callable[[], Camera]:
    settings = parse_settings(told)
    if not (place.isascii() and place.isdecimal()):
        raise CameraAddressError(f"picamera:{place}: a camera on the ribbon has a number, picamera:0")

    def opened() -> Camera:
        from vision.live.picamera import PiCamera  # noqa: PLC0415 -- as above

        return PiCamera(int(place), settings)

    return opened


def _open_simulated(address: str, world: TrayTwin | None) -> Camera:
    from vision.twins.camera import SimulatedCamera  # noqa: PLC0415 -- as above

    return SimulatedCamera(address, world=world)


_KINDS = {"pictures": _pictures, "v4l2": _v4l2, "picamera": _picamera}
