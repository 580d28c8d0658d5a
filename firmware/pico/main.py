"""Starts the box. The Pico runs this file at power-on."""

import os
import select
import sys
from time import ticks_us  # type: ignore[attr-defined] # MicroPython only

import machine
import micropython

from firmware.pico.assembly import Stdio, assemble, wants_service

WATCHDOG_MS = 2000
"""A box that hangs restarts after this. Longer than a write to a line that accepts nothing (0.5 s)."""


def main() -> None:
    """Run forever, or return to MicroPython's prompt if the box is to be flashed."""
    line = Stdio(select, sys.stdin, sys.stdout)
    boot = int.from_bytes(os.urandom(4), "big")
    if machine.reset_cause() == machine.PWRON_RESET and wants_service(machine):
        return
    program = assemble(machine, ticks_us, line, boot)
    micropython.kbd_intr(-1)  # a byte 3 among garbage would be Ctrl-C and end this program
    watchdog = machine.WDT(timeout=WATCHDOG_MS)
    while True:
        program.turn()
        watchdog.feed()


main()
