"""A Pico with the real program of `firmware/pico`. Its cable and clock are supplied by the caller, as bytes and ticks.

It runs in CPython and in MicroPython, so it imports no typing. `MockMachine` covers the part of MicroPython's `machine`
that the box uses.
"""

from firmware.pico.assembly import BUTTONS, LAMPS, READ_LIMIT, assemble

TYPE_CHECKING = False  # MicroPython has no typing; type checkers treat this name as true
if TYPE_CHECKING:
    from collections.abc import Callable


class MockPin:
    """A pin: an input that fingers drive, or an output that can be inspected."""

    def __init__(self, number: int, mode: int, pull: "int | None") -> None:
        self.number, self.mode, self.pull = number, mode, pull
        self.level, self.hard = 1, False
        self._handler: Callable[[MockPin], None] | None = None

    def value(self, level: "int | None" = None) -> "int | None":
        """Return the level, or set it."""
        if level is None:
            return self.level
        self.level = level
        return None

    def irq(self, handler: "Callable[[MockPin], None]", trigger: int, *, hard: bool) -> None:
        """Set the handler to call at edges."""
        self._handler, self.trigger, self.hard = handler, trigger, hard

    def drive(self, level: int) -> None:
        """Set the level of an input, as a finger or a spark does. The interrupt comes at once."""
        if level != self.level:
            self.level = level
            if self._handler is not None:
                self._handler(self)


class MockPins:
    """`machine.Pin`: the same pin is always the same object."""

    IN, OUT, PULL_UP = 0, 1, 1
    IRQ_FALLING, IRQ_RISING = 4, 8

    def __init__(self) -> None:
        self.made: dict[int, MockPin] = {}

    def __call__(self, number: int, mode: int, pull: "int | None" = None, *, value: "int | None" = None) -> MockPin:
        """Return a pin, creating it at first use."""
        pin = self.made.get(number)
        if pin is None:
            pin = self.made[number] = MockPin(number, mode, pull)
        if value is not None:
            pin.level = value
        return pin


class MockMachine:
    """The module `machine`."""

    PWRON_RESET, WDT_RESET = 1, 3

    def __init__(self) -> None:
        self.Pin = MockPins()


class SimulatedPico:
    """A Pico from one power-on to the next: a restart needs a new object."""

    def __init__(self, ticks_us: "Callable[[], int]", boot: int, closed: "tuple[int, ...]" = ()) -> None:
        self.board = MockMachine()
        self.incoming, self.outgoing = b"", b""
        self.full = False
        """Whether the cable accepts nothing for now."""
        for seat in closed:
            self.board.Pin(BUTTONS[seat], self.board.Pin.IN).level = 0
        self._program = assemble(self.board, ticks_us, self, boot)

    def read(self) -> bytes:
        """Return received bytes to the program."""
        chunk, self.incoming = self.incoming[:READ_LIMIT], self.incoming[READ_LIMIT:]
        return chunk

    def write(self, frame: bytes) -> bool:
        """Accept a frame from the program."""
        if not self.full:
            self.outgoing += frame
        return not self.full

    def turn(self, incoming: bytes = b"") -> bytes:
        """Run the main loop once: bytes in, bytes out."""
        self.incoming += incoming
        self._program.turn()
        outgoing, self.outgoing = self.outgoing, b""
        return outgoing

    def touch(self, seat: int, closed: int) -> None:
        """Close or open a contact; the interrupt comes at once."""
        self.board.Pin.made[BUTTONS[seat]].drive(1 - closed)

    def lamps(self) -> "list[int]":
        """Return which lamps are lit, east first."""
        return [self.board.Pin.made[number].level for number in LAMPS]
