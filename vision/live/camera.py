"""What every camera of ours is: a protocol for those who use one, a base for those that are one."""

from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np

from vision.errors import CameraClosedError, PictureError
from vision.geometry import Picture

_AXES, _CHANNELS = 3, 3


@dataclass(frozen=True, slots=True)
class Unmet:
    """A setting of the address that the camera did not take; `taken` is what it does instead, None: it has no such."""

    setting: str
    wanted: float | str
    taken: float | None


class Camera(Protocol):
    """What gives pictures of a table; a context manager."""

    unmet: tuple[Unmet, ...]  # known once the camera is open
    pause: float  # seconds that should pass between frames; 0 where the camera itself takes its time
    ended: bool  # no other picture will come

    def frame(self) -> Picture:
        """Take a picture, BGR, shape (height, width, 3), uint8. Raises a CameraError, PictureError for a bad frame."""

    def close(self) -> None:
        """Let go of the device; may be called twice."""

    def __enter__(self) -> Self:
        """Give the camera itself."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""


class OpenOrClosed:
    """A context-managed device whose `close` may be called twice."""

    def __init__(self) -> None:
        self._open = True
        self.unmet: tuple[Unmet, ...] = ()
        self.pause = 0.0
        self.ended = False

    def close(self) -> None:
        """Let go of the device; the second time does nothing."""
        if self._open:
            self._open = False
            self._release()

    def _release(self) -> None:
        """Let go of what only this kind of camera holds."""

    def _require_open(self) -> None:
        if not self._open:
            raise CameraClosedError("the camera is closed")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def check_frame(frame: Any) -> Picture:  # noqa: ANN401 -- what a driver hands over may be anything
    """Give a frame back if it is a picture; raises PictureError for another shape or type."""
    if not isinstance(frame, np.ndarray) or frame.dtype != np.uint8:
        raise PictureError("the camera gave something that is no picture")
    if frame.ndim != _AXES or frame.shape[2] != _CHANNELS or frame.size == 0:
        raise PictureError(f"the camera gave a frame of shape {frame.shape}, not (height, width, 3)")
    return frame
