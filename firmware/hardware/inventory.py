"""What is connected to this machine, and what keeps it from working.

Board, serial devices, cameras and keyboards; permissions; what a table's configuration names; power, heat and clock;
lights on the board that would reveal a press. Everything is read below a `root`, so that tests can substitute their
own.
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
    """A machine: the name it reports, and gpiozero's short name of a Pi ("4B", "5B"), None if it is not a Pi."""

    name: str
    model: str | None


@dataclass(frozen=True, slots=True)
class Device:
    """A device: its path, the name it reports, and whether this user may read and write it."""

    kind: str
    path: str
    name: str
    usable: bool


@dataclass(frozen=True, slots=True)
class HardwareTrouble:
    """A problem that keeps a device from working, with its remedy."""

    code: str
    text: str


_GROUPS: Final = {"pins": "gpio", "serial": "dialout", "camera": "video", "keyboard": "input"}
"""Groups whose members may use these devices on Raspberry Pi OS."""


def this_machine(root: Path) -> Machine:
    """Identify this machine."""
    try:
        name = (root / "proc/device-tree/model").read_text(encoding="utf-8").rstrip("\0\n")
        (revision,) = struct.unpack(">L", (root / "proc/device-tree/system/linux,revision").read_bytes())
        return Machine(name, PiBoardInfo.from_revision(revision).model)
    except (OSError, UnicodeDecodeError, struct.error, PinUnknownPi):
        return Machine("no Raspberry Pi", None)


_DEVICE_PATTERNS: Final = {
    "pins": ("dev", "gpiochip*"),
    "serial": ("dev/serial/by-id", "*"),
    "camera": ("dev", "video*"),
    "keyboard": ("dev/input/by-id", "*-event-kbd"),
}
"""For each kind of device, the folder that lists it and the pattern of its file name."""


def find_devices(root: Path) -> list[Device]:
    """Return the devices that a table can use, each kind sorted by name."""
    return [
        _device(kind, path, root)
        for kind, (folder, named) in _DEVICE_PATTERNS.items()
        for path in sorted((root / folder).glob(named))
    ]


def _device(kind: str, path: Path, root: Path) -> Device:
    name = path.name.removesuffix("-event-kbd")
    if kind == "camera":
        name = _read_text(root / "sys/class/video4linux" / path.name / "name")
    return Device(kind, f"/{path.relative_to(root)}", name, os.access(path, os.R_OK | os.W_OK))


def permission_troubles(found: list[Device]) -> list[HardwareTrouble]:
    """Return a problem, with its remedy, for each kind of device that this user may not use."""
    kinds = dict.fromkeys(one.kind for one in found if not one.usable)
    return [HardwareTrouble(DeviceForbidden.code, _permission(kind, found)) for kind in kinds]


def _permission(kind: str, found: list[Device]) -> str:
    paths = ", ".join(one.path for one in found if one.kind == kind and not one.usable)
    return f"{paths}: sudo adduser $USER {_GROUPS[kind]}, and log in again"


LIGHTS: Final = ("ACT", "PWR", "led0", "led1")
"""LEDs on the board, by their names in Raspberry Pi OS; older kernels number them."""

_HARMLESS_TRIGGERS: Final = ("none", "default-on", "input", "timer")
"""Triggers that do not depend on what the machine does (the kernel's `Documentation/leds`; `input` is the Pi's power
supply)."""


def light_troubles(root: Path) -> Iterator[HardwareTrouble]:
    """Yield a problem, with its remedy, for each LED that reveals the machine's activity."""
    for name in LIGHTS:
        # The kernel puts the active trigger in brackets; the text is empty if there is no such LED.
        marked = re.search(r"\[([^\]]+)\]", _read_text(root / "sys/class/leds" / name / "trigger"))
        if marked and (follows := marked[1]) not in _HARMLESS_TRIGGERS:
            parameter = "pwr" if name in ("PWR", "led1") else "act"
            yield HardwareTrouble(
                "light_tells",
                f"the light {name} of the board follows {follows}, so that it can show a press: "
                f"dtparam={parameter}_led_trigger=none in /boot/firmware/config.txt, and restart",
            )


_DEVICE_FOLDER: Final = "/dev/"


def configured_troubles(addresses: Mapping[str, str], found: list[Device], root: Path) -> Iterator[HardwareTrouble]:
    """Yield what keeps the kiosk from opening a configured device, except missing permissions on `found` ones."""
    listed = {one.path for one in found}
    for setting, path in _device_paths(addresses):
        here = root / path.removeprefix("/")
        if not here.exists():
            yield HardwareTrouble(
                DeviceMissing.code, f"devices.{setting}: {path} does not exist: is it plugged in, and is this its name?"
            )
        elif path not in listed and not os.access(here, os.R_OK | os.W_OK):
            yield HardwareTrouble(DeviceForbidden.code, f"devices.{setting}: this user may not use {path}")


def _device_paths(addresses: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each setting's name and the path in its address, such as `serial:/dev/ttyACM0?baud=9600`."""
    for setting, address in addresses.items():
        path = address.partition(":")[2].partition("?")[0]
        if path.startswith(_DEVICE_FOLDER):
            yield setting, path


_HOT: Final = 80_000
"""Thousandths of a degree Celsius at which a Pi throttles (its firmware's `temp_limit` is 85, the soft limit 80 or
less)."""

_POWER_SENSOR: Final = "rpi_volt"
"""Name of the kernel's driver `raspberrypi-hwmon`. Its alarm is the firmware's, since the last reading."""

_UNSYNCHRONISED: Final = 0x0040
"""`STA_UNSYNC` of adjtimex(2)."""


class _Timex(ctypes.Structure):
    """The first fields of adjtimex(2)'s `struct timex`, and room for the rest."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        *((name, ctypes.c_long) for name in ("offset", "freq", "maxerror", "esterror")),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_byte * 512),
    )


def clock_was_set() -> bool:
    """Return whether time synchronisation has set this machine's clock since it started, according to adjtimex(2)."""
    timex = _Timex()  # `modes` 0 changes nothing
    with suppress(OSError, AttributeError):
        if ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(timex)) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return not timex.status & _UNSYNCHRONISED
    return True  # unknown is not reported as a problem


def board_troubles(root: Path) -> Iterator[HardwareTrouble]:
    """Yield problems with the board; nothing if it does not report its state."""
    if _low_power(root):
        yield HardwareTrouble(
            "undervoltage", "the board gets too little power: use its own power supply and a short, thick cable"
        )
    if any(degrees >= _HOT for degrees in _heat(root)):
        yield HardwareTrouble("too_hot", f"the board has {_HOT // 1000} degrees or more: improve its ventilation")
    yield from light_troubles(root)


def clock_troubles(clock_was_set: Callable[[], bool] = clock_was_set) -> Iterator[HardwareTrouble]:
    """Yield a problem if the clock was never set, as at a table without a network, which can still be played at."""
    if not clock_was_set():
        yield HardwareTrouble("clock_unset", "this machine's clock has not been set since it started")


def _low_power(root: Path) -> bool:
    sensors = (root / "sys/class/hwmon").glob("hwmon*")
    return any(
        _read_text(one / "name") == _POWER_SENSOR and _read_text(one / "in0_lcrit_alarm") == "1" for one in sensors
    )


def board_celsius(root: Path = Path("/")) -> int | None:
    """Return the temperature of the board's hottest part; None if unknown."""
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
