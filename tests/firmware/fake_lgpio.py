"""A substitute for the parts of the module `lgpio` that gpiozero's pins use: the chip's lines, and alerts with the
kernel's time in ns. With it gpiozero's real `LGPIOFactory` runs without a Pi."""

from collections.abc import Callable
from types import ModuleType

Alert = Callable[[int, int, int, int], None]


class Callback:
    """The object that lgpio returns for a callback."""

    def __init__(self, chip: "Chip", line: int) -> None:
        self._chip, self._line = chip, line

    def cancel(self) -> None:
        """Stop the callback."""
        del self._chip.heard[self._line]


class Chip(ModuleType):
    """A chip whose lines are all pulled up unless set otherwise."""

    SET_PULL_NONE, SET_PULL_UP, SET_PULL_DOWN = 1 << 7, 1 << 5, 1 << 6
    RISING_EDGE, FALLING_EDGE, BOTH_EDGES = 1, 2, 3
    error = Exception

    def __init__(self) -> None:
        super().__init__("lgpio")
        self.levels: dict[int, int] = {}
        self.modes: dict[int, int] = {}
        self.heard: dict[int, Alert] = {}
        self.chips: list[int] = []
        self.debounced: list[int] = []

    def gpiochip_open(self, chip: int) -> int:
        self.chips.append(chip)
        return 1

    def gpiochip_close(self, _: int) -> None:
        self.chips.clear()

    def gpio_claim_input(self, _: int, line: int, flags: int = 0) -> None:
        self.modes[line] = flags

    def gpio_claim_output(self, _: int, line: int, level: int = 0) -> None:
        self.modes[line], self.levels[line] = 2, level

    def gpio_claim_alert(self, _: int, line: int, _edges: int, flags: int) -> None:
        self.modes[line] = flags

    def gpio_free(self, _: int, line: int) -> None:
        self.modes.pop(line, None)

    def gpio_get_mode(self, _: int, line: int) -> int:
        return self.modes.get(line, 0)

    def gpio_read(self, _: int, line: int) -> int:
        return self.levels.get(line, 1)

    def gpio_write(self, _: int, line: int, level: int) -> None:
        self.levels[line] = int(level)

    def gpio_set_debounce_micros(self, _: int, line: int, micros: int) -> None:
        self.debounced += [line] if micros else []

    def callback(self, _: int, line: int, _edges: int, func: Alert) -> Callback:
        self.heard[line] = func
        return Callback(self, line)

    def happen(self, line: int, level: int, at: int) -> None:
        """Cause an edge and deliver it as lgpio's thread does."""
        self.levels[line] = level
        if line in self.heard:
            self.heard[line](0, line, level, at)
