"""A simulated serial cable: a pseudo-terminal that comes and goes like a USB device, and the faults of a bad line."""

import contextlib
import os
import random
import select
import tty
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Self

from broker.closing import Closing
from firmware.presses import MS

CHUNK: Final = 4096


class Plug(Closing):
    """The device's end of a line, for one thread. Its path exists while it is plugged in, each time with a new pty."""

    def __init__(self, path: Path) -> None:
        """Set the path of the device, where nothing may exist yet."""
        self.path = path
        self._master: int | None = None

    @property
    def is_in(self) -> bool:
        """Whether the device is plugged in."""
        return self._master is not None

    def put_in(self) -> None:
        """Make the device appear. It is visible at once, but bytes sent before the line is opened are lost."""
        if self._master is None:
            self._master, slave = os.openpty()
            tty.setraw(slave)  # otherwise the device's output is echoed back until the line is opened
            self.path.symlink_to(os.ttyname(slave))
            os.close(slave)

    def pull(self) -> None:
        """Make the device disappear."""
        if self._master is not None:
            self.path.unlink()
            os.close(self._master)
            self._master = None

    def send(self, content: bytes) -> None:
        """Send from the device. Bytes that nobody reads in time are lost, as on a real line without handshake."""
        if self._master is not None and select.select([], [self._master], [], 1)[1]:
            with contextlib.suppress(OSError):
                os.write(self._master, content)

    def close(self) -> None:
        """Make the device disappear. May be called twice."""
        self.pull()

    def __enter__(self) -> Self:
        self.put_in()
        return self


class WaitableCable(Plug):
    """A plug that keeps its own line open: otherwise it would always be ready to read, as hung up."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._held: int | None = None

    def fileno(self) -> int:
        """Return the file descriptor to wait on for bytes from the table. Only valid while plugged in."""
        return -1 if self._master is None else self._master

    def put_in(self) -> None:
        """Make the device appear."""
        super().put_in()
        if self._master is not None and self._held is None:
            os.set_blocking(self._master, False)
            self._held = os.open(self.path, os.O_RDWR | os.O_NOCTTY)

    def pull(self) -> None:
        """Make the device disappear."""
        super().pull()
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def send(self, content: bytes) -> None:
        """Send bytes. Those without room are lost, as over USB."""
        if self._master is not None:
            with contextlib.suppress(BlockingIOError):
                os.write(self._master, content)

    def receive(self) -> bytes:
        """Return the bytes received from the table, without waiting (use `fileno` for that)."""
        if self._master is not None:
            with contextlib.suppress(BlockingIOError):
                return os.read(self._master, CHUNK)
        return b""


LATE_MS: Final = (5, 40)
"""Range of the delay of a piece that others overtake."""


@dataclass(frozen=True, slots=True)
class LineFaults:
    """The faults of a line. Probabilities are per thousand."""

    delay_ms: Annotated[int, "Longest delay of each piece of bytes, in ms."] = 0
    lost: Annotated[int, "Bytes in a thousand that are lost."] = 0
    garbled: Annotated[int, "Bytes in a thousand that are changed."] = 0
    garbage: Annotated[int, "Pieces in a thousand that are preceded by garbage."] = 0
    reordered: Annotated[int, "Pieces in a thousand that are overtaken by later ones."] = 0


class LineNoise:
    """Applies faults to one direction of a line."""

    def __init__(self, faults: LineFaults, seed: int) -> None:
        self._faults, self._random = faults, random.Random(seed)  # noqa: S311 - simulates chance, no secret
        self._latest = 0

    def carry(self, piece: bytes, now: int) -> list[tuple[int, bytes]]:
        """Return what arrives of a piece, and when, in ns."""
        faults = self._faults
        arrived = bytes(self._garble(byte) for byte in piece if not self._happens(faults.lost))
        if self._happens(faults.garbage):
            arrived = self._random.randbytes(self._random.randint(1, 60)) + arrived
        at = max(self._latest, now + self._random.randint(0, faults.delay_ms * MS))
        if self._happens(faults.reordered):
            return [(at + self._random.randint(*LATE_MS) * MS, arrived)]
        self._latest = at
        return [(at, arrived)]

    def _garble(self, byte: int) -> int:
        return self._random.randrange(256) if self._happens(self._faults.garbled) else byte

    def _happens(self, chance: int) -> bool:
        return chance > 0 and self._random.randrange(1000) < chance
