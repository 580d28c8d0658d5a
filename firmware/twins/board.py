"""MicroPython's `machine`, as much of it as the box uses. Runs in CPython and in MicroPython: no typing here."""

TYPE_CHECKING = False  # MicroPython has no typing; type checkers take this name for true
if TYPE_CHECKING:
    from collections.abc import Callable


class Pin:
    """A pin: an input that fingers drive, or an output that is looked at."""

    def __init__(self, number: int, mode: int, pull: "int | None") -> None:
        self.number, self.mode, self.pull = number, mode, pull
        self.level, self.hard = 1, False
        self._handler: Callable[[Pin], None] | None = None

    def value(self, level: "int | None" = None) -> "int | None":
        """Give the level, or set it."""
        if level is None:
            return self.level
        self.level = level
        return None

    def irq(self, handler: "Callable[[Pin], None]", trigger: int, *, hard: bool) -> None:
        """Call the handler at edges."""
        self._handler, self.trigger, self.hard = handler, trigger, hard

    def drive(self, level: int) -> None:
        """Do what a finger, or a spark, does to an input; the interrupt comes at once."""
        if level != self.level:
            self.level = level
            if self._handler is not None:
                self._handler(self)


class Pins:
    """`machine.Pin`: the same pin is always the same object."""

    IN, OUT, PULL_UP = 0, 1, 1
    IRQ_FALLING, IRQ_RISING = 4, 8

    def __init__(self) -> None:
        self.made: dict[int, Pin] = {}

    def __call__(self, number: int, mode: int, pull: "int | None" = None, *, value: "int | None" = None) -> Pin:
        """Give a pin."""
        pin = self.made.get(number)
        if pin is None:
            pin = self.made[number] = Pin(number, mode, pull)
        if value is not None:
            pin.level = value
        return pin


class Board:
    """`machine` itself."""

    PWRON_RESET, WDT_RESET = 1, 3

    def __init__(self) -> None:
        self.Pin = Pins()
