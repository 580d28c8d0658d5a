"""Assembles the box: pin assignments, and the USB cable as a MicroPython stream."""

from firmware.pico.edges import Contact, Edges
from firmware.pico.program import Lamps, Program

TYPE_CHECKING = False  # MicroPython has no typing; type checkers treat this name as true
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from firmware.pico.program import Line

BUTTONS = (2, 3, 4, 5)
"""GP numbers of the contacts: east, south, west, north. Each closes to ground."""

LAMPS = (6, 7, 8, 9)
"""GP numbers of the lamps, in the same order. Each is lit by a high level, through its transistor or resistor."""


SERVICE = (0, 2)
"""East and west. Held at power-on, they keep the program from starting so that the box can be flashed."""


def assemble(machine: "Any", ticks_us: "Callable[[], int]", line: "Line", boot: int) -> Program:  # noqa: ANN401 - untyped in CPython
    """Assemble the box from its parts. `machine` is MicroPython's module, which has no types."""
    edges = Edges(ticks_us)
    lamps = Lamps([machine.Pin(number, machine.Pin.OUT, value=0) for number in LAMPS])
    contacts = [Contact(edges, seat, _input(machine, number)) for seat, number in enumerate(BUTTONS)]
    program = Program(line, edges, contacts, lamps, boot)
    for contact in contacts:
        contact.pin.irq(contact.on_edge, machine.Pin.IRQ_FALLING | machine.Pin.IRQ_RISING, hard=True)
    return program


def wants_service(machine: "Any") -> bool:  # noqa: ANN401 - untyped in CPython
    """Return whether somebody holds the two buttons that keep the box from starting."""
    return all(_input(machine, BUTTONS[seat]).value() == 0 for seat in SERVICE)


def _input(machine: "Any", number: int) -> "Any":  # noqa: ANN401 - untyped in CPython
    return machine.Pin(number, machine.Pin.IN, machine.Pin.PULL_UP)


READ_LIMIT = 64
"""Bytes read in one turn, so that a flood of garbage does not block the loop."""

WAIT_MS = 1


class Stdio:
    """Non-blocking reads and writes on the USB serial line."""

    def __init__(self, select: "Any", stdin: "Any", stdout: "Any") -> None:  # noqa: ANN401 - untyped in MicroPython
        self._input, self._output = stdin.buffer, stdout.buffer
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(stdin, select.POLLIN)
        self._writable.register(stdout, select.POLLOUT)

    def read(self) -> bytes:
        """Return the bytes received; wait up to a millisecond if there are none."""
        received = bytearray()
        wait_ms = WAIT_MS
        while len(received) < READ_LIMIT and self._readable.poll(wait_ms):
            received += self._input.read(1)  # a longer read would block until it is complete
            wait_ms = 0
        return bytes(received)

    def write(self, frame: bytes) -> bool:
        """Send a frame; return False if there is no room. A lost heartbeat does no harm, and edges are sent again."""
        if not self._writable.poll(0):
            return False
        self._output.write(frame)
        return True
