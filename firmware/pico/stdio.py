"""The USB cable, as MicroPython gives it: standard input and output."""

TYPE_CHECKING = False  # MicroPython has no typing; type checkers take this name for true
if TYPE_CHECKING:
    from typing import Any

ENOUGH = 64
"""Bytes in one turn, so that a flood of garbage keeps nothing waiting."""

WAIT_MS = 1


class Stdio:
    """Reads and writes without ever waiting for long."""

    def __init__(self, select: "Any", stdin: "Any", stdout: "Any") -> None:  # noqa: ANN401 - MicroPython's have no types
        self._input, self._output = stdin.buffer, stdout.buffer
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(stdin, select.POLLIN)
        self._writable.register(stdout, select.POLLOUT)

    def read(self) -> bytes:
        """Return what has come; wait for a millisecond where nothing has."""
        came = bytearray()
        wait_ms = WAIT_MS
        while len(came) < ENOUGH and self._readable.poll(wait_ms):
            came += self._input.read(1)  # more would wait until there is more
            wait_ms = 0
        return bytes(came)

    def write(self, frame: bytes) -> bool:
        """Send, or say that there is no room now: what is lost of a heartbeat is no loss, an edge is said again."""
        if not self._writable.poll(0):
            return False
        self._output.write(frame)
        return True
