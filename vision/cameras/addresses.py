"""Open cameras by address: `pictures:FOLDER`, `v4l2:/dev/video0`, `picamera:0`, `sim://tray`, `sim://ribbon`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from vision.cameras.camera import Camera, PicturesCamera, parse_camera_settings, setting_number, split_camera_query
from vision.cameras.lens import split_lens
from vision.cameras.picamera import PiCamera, parse_simulated
from vision.cameras.v4l2 import V4l2Camera
from vision.errors import CameraAddressError
from vision.sim.table import SimulatedTable

_PICTURES_FPS = 10.0


def open_camera(address: str, *, world: SimulatedTable | None = None) -> Camera:
    """Open the camera at an address; `world` is the table that `sim://tray` shows, a new one by default.

    Raises CameraAddressError, CameraMissingError.
    """
    plain, lens = split_lens(address)
    camera = _opener(plain, world)()
    camera.lens = lens
    return camera


def check_camera_address(address: str) -> str:
    """Return the address if it and its settings are valid. Raises CameraAddressError."""
    _opener(split_lens(address)[0], None)
    return address


def _opener(address: str, world: SimulatedTable | None) -> Callable[[], Camera]:
    """Parse an address, and return a function that opens its camera."""
    kind, _, rest = address.partition(":")
    if kind == "sim" and not rest.startswith("//ribbon"):
        return _simulated_table(address, world)
    place, query = split_camera_query(rest)
    if (kind, place) == ("sim", "//ribbon"):
        number, driver = parse_simulated(query)
        return partial(PiCamera, number, parse_camera_settings(query), driver)
    if kind == "pictures" and place:
        return _pictures(place, query)
    if kind == "v4l2" and place:
        return partial(V4l2Camera, place, parse_camera_settings(query))
    if kind == "picamera" and place:
        settings = parse_camera_settings(query)
        if not (place.isascii() and place.isdecimal()):
            raise CameraAddressError(f"picamera:{place}: a camera on the ribbon has a number, picamera:0")
        return partial(PiCamera, int(place), settings)
    raise CameraAddressError(f"no camera has the address {address!r}")


def _pictures(place: str, query: dict[str, str]) -> Callable[[], Camera]:
    loop = setting_number("loop", query.pop("loop", "0"), 0, 1) > 0
    fps = setting_number("fps", query.pop("fps", str(_PICTURES_FPS)), 0.1, 240)
    if query:
        raise CameraAddressError(f"a folder of pictures has no setting {min(query)!r}")
    return partial(PicturesCamera, Path(place), loop=loop, fps=fps)


def _simulated_table(address: str, world: SimulatedTable | None) -> Callable[[], Camera]:
    from vision.sim.camera import SimulatedCamera, parse_optics  # noqa: PLC0415 -- it draws labels; no table needs that

    parse_optics(address)
    return partial(SimulatedCamera, address, world=world)
