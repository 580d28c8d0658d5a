"""What is connected to this machine, and what keeps it from working.

Board, serial devices, cameras and keyboards; permissions; what a table's configuration names; power, heat and clock;
lights on the board that would reveal a press. Everything is read below a `root`, so that tests can bring their own.
"""

import ctypes
import os
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpiozero.exc import PinUnknownPi
from gpiozero.pins.pi import PiBoardInfo

from firmware.errors import DeviceForbidden, DeviceMissing


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine: as it names itself, and gpiozero's short name of a Pi ("4B", "5B"); None if it is no Pi."""

    name: str
    model: str | None


@dataclass(frozen=True, slots=True)
class Device:
    """A device: its path, what it calls itself, and whether this user may read and write it."""

    kind: str
    path: str
    name: str
    usable: bool


@dataclass(frozen=True, slots=True)
class HardwareTrouble:
    """Something that keeps a device from working, with what to do."""

    code: str
    text: str


_GROUPS: Final = {"pins": "gpio", "serial": "dialout", "camera": "video", "keyboard": "input"}
"""Who is in these groups may use these devices on Raspberry Pi OS."""


def this_machine(root: Path) -> Machine:
    """Return what machine this is."""
    try:
        name = (root / "proc/device-tree/model").read_text(encoding="utf-8").rstrip("\0\n")
        (revision,) = struct.unpack(">L", (root / "proc/device-tree/system/linux,revision").read_bytes())
        return Machine(name, PiBoardInfo.from_revision(revision).model)
    except (OSError, UnicodeDecodeError, struct.error, PinUnknownPi):
        return Machine("no Raspberry Pi", None)


_FOUND: Final = {
    "pins": ("dev", "gpiochip*"),
    "serial": ("dev/serial/by-id", "*"),
    "camera": ("dev", "video*"),
    "keyboard": ("dev/input/by-id", "*-event-kbd"),
}
"""Where devices of each kind are, and how they are named there."""


def find_devices(root: Path) -> list[Device]:
    """List the devices that a table can use, each kind by name."""
    return [
        _device(kind, path, root)
        for kind, (folder, named) in _FOUND.items()
        for path in sorted((root / folder).glob(named))
    ]


def _device(kind: str, path: Path, root: Path) -> Device:
    name = path.name.removesuffix("-event-kbd")
    if kind == "camera":
        name = _read_text(root / "sys/class/video4linux" / path.name / "name")
    return Device(kind, f"/{path.relative_to(root)}", name, os.access(path, os.R_OK | os.W_OK))


def permission_troubles(found: list[Device]) -> list[HardwareTrouble]:
    """Say for each kind of device that this user may not use, what to do."""
    kinds = dict.fromkeys(one.kind for one in found if not one.usable)
    return [HardwareTrouble(DeviceForbidden.code, _permission(kind, found)) for kind in kinds]


def _permission(kind: str, found: list[Device]) -> str:
    paths = ", ".join(one.path for one in found if one.kind == kind and not one.usable)
    return f"{paths}: sudo adduser $USER {_GROUPS[kind]}, and log in again"


LIGHTS: Final = ("ACT", "PWR", "led0", "led1")
"""The board's own, by their names in Raspberry Pi OS; older kernels number them."""

_STILL: Final = ("none", "default-on", "input", "timer")
"""What follows nothing that the machine does (the kernel's `Documentation/leds`; `input` is the Pi's power supply)."""


def light_troubles(root: Path) -> Iterator[HardwareTrouble]:
    """Name each light that shows what the machine does, with how to still it."""
    for name in LIGHTS:
        # The kernel puts the active trigger in brackets; without such a light there is no text.
        marked = re.search(r"\[([^\]]+)\]", _read_text(root / "sys/class/leds" / name / "trigger"))
        if marked and (follows := marked[1]) not in _STILL:
            parameter = "pwr" if name in ("PWR", "led1") else "act"
            yield HardwareTrouble(
                "light_tells",
                f"the light {name} of the board follows {follows}, so that it can show a press: "
                f"dtparam={parameter}_led_trigger=none in /boot/firmware/config.txt, and restart",
            )


_DEVICE_FOLDER: Final = "/dev/"


def configured_troubles(addresses: Mapping[str, str], found: list[Device], root: Path) -> Iterator[HardwareTrouble]:
    """Say of each device that has a path what keeps the kiosk from opening it; listed ones are said of already."""
    listed = {one.path for one in found}
    for setting, path in _device_paths(addresses):
        here = root / path.removeprefix("/")
        if not here.exists():
            yield HardwareTrouble(
                DeviceMissing.code, f"devices.{setting}: {path} is not there: plugged in, and by this name?"
            )
        elif path not in listed and not os.access(here, os.R_OK | os.W_OK):
            yield HardwareTrouble(DeviceForbidden.code, f"devices.{setting}: this user may not use {path}")


def _device_paths(addresses: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Return the paths in addresses such as `serial:/dev/ttyACM0?baud=9600`, with their settings' names."""
    for setting, address in addresses.items():
        path = address.partition(":")[2].partition("?")[0]
        if path.startswith(_DEVICE_FOLDER):
            yield setting, path


_HOT: Final = 80_000
"""Thousandths of a degree from which a Pi slows down (its firmware's `temp_limit` is 85, the soft limit 80 or less)."""

_POWER_SENSOR: Final = "rpi_volt"
"""What the kernel's driver `raspberrypi-hwmon` calls itself; its alarm is the firmware's, since the last look."""

_UNSYNCHRONISED: Final = 0x0040
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
    """Return whether a time server has set this machine's clock since it started, as the kernel knows (adjtimex(2))."""
    asked = _Timex()  # with `modes` 0 nothing is changed
    with suppress(OSError, AttributeError):
        if ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(asked)) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return not asked.status & _UNSYNCHRONISED
    return True  # a machine that does not tell is not blamed


def board_troubles(root: Path) -> Iterator[HardwareTrouble]:
    """Name what is wrong with the board; nothing if it does not tell."""
    if _low_power(root):
        yield HardwareTrouble(
            "undervoltage", "the board gets too little power: its own power supply, a short thick cable"
        )
    if any(degrees >= _HOT for degrees in _heat(root)):
        yield HardwareTrouble("too_hot", f"the board has {_HOT // 1000} degrees or more: let air to it")
    yield from light_troubles(root)


def clock_troubles(clock_was_set: Callable[[], bool] = clock_was_set) -> Iterator[HardwareTrouble]:
    """Say so where the time of day is nobody's: of a table without a network, which plays on all the same."""
    if not clock_was_set():
        yield HardwareTrouble("clock_unset", "nobody has told this machine the time of day since it started")


def _low_power(root: Path) -> bool:
    sensors = (root / "sys/class/hwmon").glob("hwmon*")
    return any(
        _read_text(one / "name") == _POWER_SENSOR and _read_text(one / "in0_lcrit_alarm") == "1" for one in sensors
    )


def board_celsius(root: Path = Path("/")) -> int | None:
    """Return how hot the hottest part of the board is; None if it does not tell."""
    return max((degrees // 1000 for degrees in _heat(root)), default=None)


def _heat(root: Path) -> Iterator[int]:
    for zone in (root / "sys/class/thermal").glob("thermal_zone*"):
        with suppress(ValueError):
            yield int(_read_text(zone / "temp"))


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip("\0\n ")
    except (OSError, UnicodeDecodeError):
        return ""
