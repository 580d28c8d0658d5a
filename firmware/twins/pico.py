"""A Pico with the real program of `firmware/pico`, without cable and crystal: bytes and ticks come from outside.

Runs in CPython and in MicroPython.
"""

from firmware.pico.assembly import BUTTONS, LAMPS, assemble
from firmware.pico.stdio import ENOUGH
from firmware.twins.board import Board

TYPE_CHECKING = False  # MicroPython has no typing; type checkers take this name for true
if TYPE_CHECKING:
    from collections.abc import Callable


class Pico:
    """From power on until somebody throws it away: whoever starts it anew makes another."""

    def __init__(self, ticks_us: "Callable[[], int]", boot: int, closed: "tuple[int, ...]" = ()) -> None:
        self.board = Board()
        self.incoming, self.outgoing = b"", b""
        self.full = False
        """The cable takes nothing more for now."""
        for seat in closed:
            self.board.Pin(BUTTONS[seat], self.board.Pin.IN).level = 0
        self._program = assemble(self.board, ticks_us, self, boot)

    def read(self) -> bytes:
        """Give the program what has come."""
        chunk, self.incoming = self.incoming[:ENOUGH], self.incoming[ENOUGH:]
        return chunk

    def write(self, frame: bytes) -> bool:
        """Take what the program says."""
        if not self.full:
            self.outgoing += frame
        return not self.full

    def turn(self, incoming: bytes = b"") -> bytes:
        """Run the main loop once: give bytes, take bytes."""
        self.incoming += incoming
        self._program.turn()
        outgoing, self.outgoing = self.outgoing, b""
        return outgoing

    def touch(self, seat: int, closed: int) -> None:
        """Close or open a contact; the interrupt comes at once."""
        self.board.Pin.made[BUTTONS[seat]].drive(1 - closed)

    def lamps(self) -> "list[int]":
        """Say which lamps are lit, east first."""
        return [self.board.Pin.made[number].level for number in LAMPS]
