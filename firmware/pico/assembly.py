"""Puts the box together: which pins are what, and the USB cable as MicroPython gives it."""

from firmware.pico.edges import Contact, Edges
from firmware.pico.program import Lamps, Program

TYPE_CHECKING = False  # MicroPython has no typing; type checkers take this name for true
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from firmware.pico.program import Line

BUTTONS = (2, 3, 4, 5)
"""GP numbers of the contacts: east, south, west, north. Each closes to ground."""

LAMPS = (6, 7, 8, 9)
"""GP numbers of the lamps, in the same order. Each is lit by a high level, through its transistor or resistor."""


SERVICE = (0, 2)
"""East and west: held while the box gets power, it does not start but can be flashed."""


def assemble(machine: "Any", ticks_us: "Callable[[], int]", line: "Line", boot: int) -> Program:  # noqa: ANN401 - no types of it in CPython
    """Put the box together from its parts; `machine` is MicroPython's module, which has no types."""
    edges = Edges(ticks_us)
    lamps = Lamps([machine.Pin(number, machine.Pin.OUT, value=0) for number in LAMPS])
    contacts = [Contact(edges, seat, _input(machine, number)) for seat, number in enumerate(BUTTONS)]
    program = Program(line, edges, contacts, lamps, boot)
    for contact in contacts:
        contact.pin.irq(contact.moved, machine.Pin.IRQ_FALLING | machine.Pin.IRQ_RISING, hard=True)
    return program


def wants_service(machine: "Any") -> bool:  # noqa: ANN401 - no types of it in CPython
    """Return whether somebody holds the two buttons that keep the box from starting."""
    return all(_input(machine, BUTTONS[seat]).value() == 0 for seat in SERVICE)


def _input(machine: "Any", number: int) -> "Any":  # noqa: ANN401 - no types of it in CPython
    return machine.Pin(number, machine.Pin.IN, machine.Pin.PULL_UP)


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
