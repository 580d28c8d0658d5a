"""A plug for a serial line's twin: a pty behind a path that comes and goes as a USB device's does."""

import contextlib
import os
import select
import tty
from pathlib import Path
from typing import Final, Self

CHUNK: Final = 4096


class Plug:
    """The device's end of a line, for one thread. Pulled out, its path is gone; put in, a new pty is there."""

    def __init__(self, path: Path) -> None:
        """`path` is where the device will be; nothing may be there."""
        self.path = path
        self._master: int | None = None

    @property
    def is_in(self) -> bool:
        """Whether the device is there."""
        return self._master is not None

    def put_in(self) -> None:
        """Let the device appear. It may be told at once, but what is sent before the line is opened is lost."""
        if self._master is None:
            self._master, slave = os.openpty()
            tty.setraw(slave)  # or what the device sends is echoed to it until the line is opened
            self.path.symlink_to(os.ttyname(slave))
            os.close(slave)

    def pull(self) -> None:
        """Let the device vanish."""
        if self._master is not None:
            self.path.unlink()
            os.close(self._master)
            self._master = None

    def send(self, content: bytes) -> None:
        """Send from the device; what nobody takes in time is lost, as on a real line without handshake."""
        if self._master is not None and select.select([], [self._master], [], 1)[1]:
            with contextlib.suppress(OSError):
                os.write(self._master, content)

    def receive(self, timeout_s: float) -> bytes:
        """Give what the line has written to the device, nothing where nothing comes in time."""
        if self._master is not None and select.select([self._master], [], [], timeout_s)[0]:
            with contextlib.suppress(OSError):  # nobody has the line open
                return os.read(self._master, CHUNK)
        return b""

    def close(self) -> None:
        """Let the device vanish; may be called twice."""
        self.pull()

    def __enter__(self) -> Self:
        self.put_in()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
