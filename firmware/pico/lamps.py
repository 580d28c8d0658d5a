"""The lamps in the buttons: off, on, blink."""

TYPE_CHECKING = False  # MicroPython has no typing; type checkers take this name for true
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Output(Protocol):
        """What we want of `machine.Pin`."""

        def value(self, level: int) -> object:
            """Set the level."""


BLINK_US = 500_000
"""On for so long, then off for so long; all lamps together."""


class Lamps:
    """Pins that feed a lamp each while they are high."""

    def __init__(self, pins: "Sequence[Output]") -> None:
        self._pins, self.code = pins, 0
        """What is to show: two bits a seat, as in a frame `L`."""
        self._lit = -1

    def turn(self, us: int) -> None:
        """Light what is lit at this time."""
        lit, blinking = 0, us // BLINK_US % 2 == 0
        for seat in range(len(self._pins)):
            mode = self.code >> 2 * seat & 3
            lit |= (mode == 1 or (mode == 2 and blinking)) << seat  # noqa: PLR2004 - on, blink: codec.FIELDS
        if lit != self._lit:
            self._lit = lit
            for seat, pin in enumerate(self._pins):
                pin.value(lit >> seat & 1)
