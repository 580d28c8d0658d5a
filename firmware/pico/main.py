"""Starts the box. The Pico runs this file when it gets power."""

import os
import select
import sys
from time import ticks_us  # type: ignore[attr-defined] # MicroPython's

import machine
import micropython

from firmware.pico.assembly import Stdio, assemble, wants_service

WATCHDOG_MS = 2000
"""A box that hangs restarts after this; longer than a write to a line that takes nothing (0.5 s)."""


def main() -> None:
    """Run forever; or return to MicroPython's prompt, where somebody wants to flash again."""
    line = Stdio(select, sys.stdin, sys.stdout)
    boot = int.from_bytes(os.urandom(4), "big")
    if machine.reset_cause() == machine.PWRON_RESET and wants_service(machine):
        return
    program = assemble(machine, ticks_us, line, boot)
    micropython.kbd_intr(-1)  # a 3 among garbage would be Ctrl-C, and the end of this program
    watchdog = machine.WDT(timeout=WATCHDOG_MS)
    while True:
        program.turn()
        watchdog.feed()


main()
