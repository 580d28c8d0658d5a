"""Runs in a machine of the laboratory: the button box at the other end of a USB cable, with players' fingers.

It runs the program that is flashed on a Pico. Presses come through a pipe, a line each: the seat's number, and 1 for
closed.
"""

import contextlib
import os
import select
import sys
import time
import tty
from pathlib import Path

from firmware.pico.edges import PERIOD
from firmware.sim.pico import SimulatedPico

TURN_S = 0.005
NS_PER_US = 1000


class GadgetLine:
    """The box's end of the cable. While the cable is unplugged, nothing arrives, and what is sent is lost."""

    def __init__(self, device: Path) -> None:
        self._device = device
        self._line = self._open()

    def _open(self) -> int:
        line = os.open(self._device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(line)
        return line

    def fileno(self) -> int:
        """Return the file descriptor to wait for."""
        return self._line

    def receive(self) -> bytes:
        """Return the bytes received; reopen the port if the cable was unplugged."""
        try:
            if came := os.read(self._line, 4096):
                return came
        except BlockingIOError:
            return b""
        except OSError:
            pass
        os.close(self._line)
        self._line = self._open()
        return b""

    def send(self, frames: bytes) -> None:
        """Send bytes; those for which there is no room are lost, as over USB."""
        with contextlib.suppress(OSError):
            os.write(self._line, frames)


def serve(device: Path, pipe: Path) -> None:
    """Run the box until the process is killed."""
    started = time.monotonic_ns()
    box = SimulatedPico(lambda: (time.monotonic_ns() - started) // NS_PER_US % PERIOD, os.getpid())
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    line, fingers = GadgetLine(device), os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    while True:
        ready = {*select.select([line.fileno(), fingers], [], [], TURN_S)[0]}
        came = line.receive() if line.fileno() in ready else b""
        for finger in os.read(fingers, 4096).splitlines() if fingers in ready else ():
            seat, closed = map(int, finger.split())
            box.touch(seat, closed)
        if frames := box.turn(came):
            line.send(frames)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), Path(sys.argv[2]))
