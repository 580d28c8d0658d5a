"""What every camera of ours has in common: it is open or closed."""

from types import TracebackType
from typing import Self

from vision.errors import CameraClosedError


class OpenOrClosed:
    """A context-managed device whose `close` may be called twice."""

    def __init__(self) -> None:
        self._open = True

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
