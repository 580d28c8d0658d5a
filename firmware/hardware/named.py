"""Whether the devices that a table's configuration names are there, under these names."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from firmware.errors import DeviceForbidden, DeviceMissing
from firmware.hardware.inventory import Found, Trouble

PLACE: Final = "/dev/"


def missing(addresses: Mapping[str, str], found: list[Found], root: Path) -> Iterator[Trouble]:
    """Say of each device that has a path what keeps the kiosk from opening it; listed ones are said of already."""
    listed = {one.path for one in found}
    for setting, path in _paths(addresses):
        here = root / path.removeprefix("/")
        if not here.exists():
            yield Trouble(DeviceMissing.code, f"devices.{setting}: {path} is not there: plugged in, and by this name?")
        elif path not in listed and not os.access(here, os.R_OK | os.W_OK):
            yield Trouble(DeviceForbidden.code, f"devices.{setting}: this user may not use {path}")


def _paths(addresses: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Give the paths in addresses such as `serial:/dev/ttyACM0?baud=9600`, with their settings' names."""
    for setting, address in addresses.items():
        path = address.partition(":")[2].partition("?")[0]
        if path.startswith(PLACE):
            yield setting, path
