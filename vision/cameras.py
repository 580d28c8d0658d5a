"""Cameras are addresses: `pictures:FOLDER`, `v4l2:/dev/video0`, `picamera:0`, `sim://tray`. Configuration, not code."""

from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from vision.errors import CameraAddressError
from vision.geometry import Picture
from vision.twins.world import TrayTwin


class Camera(Protocol):
    """What gives pictures of a table; a context manager."""

    def frame(self) -> Picture:
        """Take a picture, BGR, shape (height, width, 3), uint8. Raises a CameraError."""

    def close(self) -> None:
        """Let go of the device; may be called twice."""

    def __enter__(self) -> Self:
        """Give the camera itself."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""


def open_camera(address: str, *, world: TrayTwin | None = None) -> Camera:
    """Open the camera at an address; `world` is the table that `sim://tray` looks at, a fresh one by default.

    Raises CameraAddressError, CameraMissingError, PictureMissingError. What drives a camera is imported only for it.
    """
    kind, _, rest = check_address(address).partition(":")
    if kind == "pictures":
        from vision.camera_pictures import PicturesCamera  # noqa: PLC0415 -- a table opens one kind of camera

        return PicturesCamera(Path(rest))
    if kind == "v4l2":
        from vision.camera_devices import V4l2Camera  # noqa: PLC0415 -- as above

        return V4l2Camera(rest)
    if kind == "picamera":
        from vision.camera_devices import PiCamera  # noqa: PLC0415 -- as above

        return PiCamera(int(rest))
    from vision.twins.camera import SimulatedCamera  # noqa: PLC0415 -- as above

    return SimulatedCamera(address, world=world)


def check_address(address: str) -> str:
    """Give the address back if a camera can have it. Raises CameraAddressError."""
    kind, _, rest = address.partition(":")
    if (kind in ("pictures", "v4l2", "sim") and rest) or (kind == "picamera" and rest.isdecimal()):
        return address
    raise CameraAddressError(f"no camera has the address {address!r}")
