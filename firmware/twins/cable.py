"""The cable of a simulated button box: a plug that can be waited for while nobody listens, and never waits itself."""

import contextlib
import os
from pathlib import Path

from firmware.twins.plug import CHUNK, Plug


class Cable(Plug):
    """A plug whose line stays open at its own end: else it would always be ready to say that nobody is there."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._held: int | None = None

    def fileno(self) -> int:
        """Give what to wait for: bytes from the table. Only while it is in."""
        return -1 if self._master is None else self._master

    def put_in(self) -> None:
        """Let the device appear."""
        super().put_in()
        if self._master is not None and self._held is None:
            os.set_blocking(self._master, False)
            self._held = os.open(self.path, os.O_RDWR | os.O_NOCTTY)

    def pull(self) -> None:
        """Let the device vanish."""
        super().pull()
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def send(self, content: bytes) -> None:
        """Send; what there is no room for is lost, as over USB."""
        if self._master is not None:
            with contextlib.suppress(BlockingIOError):
                os.write(self._master, content)

    def receive(self, timeout_s: float = 0) -> bytes:  # noqa: ARG002 - whoever waits does it by `fileno`
        """Give what the table has sent by now."""
        if self._master is not None:
            with contextlib.suppress(BlockingIOError):
                return os.read(self._master, CHUNK)
        return b""
