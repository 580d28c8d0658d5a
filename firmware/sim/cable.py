"""A simulated serial cable: a pseudo-terminal that comes and goes like a USB device, and what a bad line does."""

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

    def close(self) -> None:
        """Let the device vanish; may be called twice."""
        self.pull()

    def __enter__(self) -> Self:
        self.put_in()
        return self


class WaitableCable(Plug):
    """A plug whose line stays open at its own end: else it would always be ready to say that nobody is there."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._held: int | None = None

    def fileno(self) -> int:
        """Return what to wait for: bytes from the table. Only while it is in."""
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

    def receive(self) -> bytes:
        """Return what the table has sent by now; whoever waits does it by `fileno`."""
        if self._master is not None:
            with contextlib.suppress(BlockingIOError):
                return os.read(self._master, CHUNK)
        return b""


LATE_MS: Final = (5, 40)
"""By how much a piece is late that others overtake."""


@dataclass(frozen=True, slots=True)
class LineFaults:
    """What is wrong with a line. Chances are so many in a thousand."""

    delay_ms: Annotated[int, "Each piece of bytes takes up to so long."] = 0
    lost: Annotated[int, "So many bytes in a thousand vanish."] = 0
    garbled: Annotated[int, "So many bytes in a thousand become others."] = 0
    garbage: Annotated[int, "Before so many pieces in a thousand comes something else."] = 0
    reordered: Annotated[int, "So many pieces in a thousand are overtaken by later ones."] = 0


class LineNoise:
    """One direction of a line."""

    def __init__(self, faults: LineFaults, seed: int) -> None:
        self._faults, self._random = faults, random.Random(seed)  # noqa: S311 - a twin's bad luck, no secret
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
