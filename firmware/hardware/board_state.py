"""What the board says of its own power, heat and clock. Everything is read below a `root`, as in `inventory.py`."""

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from firmware.errors import ClockUnset, TooHot, Undervoltage
from firmware.hardware.inventory import Trouble
from firmware.hardware.lights import telling

HOT: Final = 80_000
"""Thousandths of a degree from which a Pi slows down (its firmware's `temp_limit` is 85, the soft limit 80 or less)."""

POWER: Final = "rpi_volt"
"""What the kernel's driver `raspberrypi-hwmon` calls itself; its alarm is the firmware's, since the last look."""

UNSYNCHRONISED: Final = 0x0040
"""`STA_UNSYNC` of adjtimex(2)."""


class _Timex(ctypes.Structure):
    """The beginning of adjtimex(2)'s `struct timex`, as far as it is looked at, and room for the rest."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        *((name, ctypes.c_long) for name in ("offset", "freq", "maxerror", "esterror")),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_byte * 512),
    )


def clock_was_set() -> bool:
    """Say whether a time server has set this machine's clock since it started, as the kernel knows (adjtimex(2))."""
    asked = _Timex()  # with `modes` 0 nothing is changed
    with suppress(OSError, AttributeError):
        if ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(asked)) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return not asked.status & UNSYNCHRONISED
    return True  # a machine that does not tell is not blamed


def board_troubles(root: Path) -> Iterator[Trouble]:
    """Name what is wrong with the board; nothing where it does not tell."""
    if _low_power(root):
        yield Trouble(Undervoltage.code, "the board gets too little power: its own power supply, a short thick cable")
    if any(degrees >= HOT for degrees in _heat(root)):
        yield Trouble(TooHot.code, f"the board has {HOT // 1000} degrees or more: let air to it")
    yield from telling(root)


def clock_troubles(clock_was_set: Callable[[], bool] = clock_was_set) -> Iterator[Trouble]:
    """Say so where the time of day is nobody's: of a table without a network, which plays on all the same."""
    if not clock_was_set():
        yield Trouble(ClockUnset.code, "nobody has told this machine the time of day since it started")


def _low_power(root: Path) -> bool:
    sensors = (root / "sys/class/hwmon").glob("hwmon*")
    return any(_text(one / "name") == POWER and _text(one / "in0_lcrit_alarm") == "1" for one in sensors)


def _heat(root: Path) -> Iterator[int]:
    for zone in (root / "sys/class/thermal").glob("thermal_zone*"):
        with suppress(ValueError):
            yield int(_text(zone / "temp"))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
