"""Puts the box together: which pins are what."""

from firmware.pico.edges import Contact, Edges
from firmware.pico.lamps import Lamps
from firmware.pico.program import Program

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
