"""What is there: board, serial devices, cameras, keyboards, and which of them this user may use.

Everything is read below a `root`, so that a test can lay out a machine in a folder.
"""

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpiozero.exc import PinUnknownPi
from gpiozero.pins.pi import PiBoardInfo

from firmware.errors import DeviceForbidden


@dataclass(frozen=True, slots=True)
class Board:
    """The machine: as it names itself, and gpiozero's short name of a Pi ("4B", "5B"); None where it is no Pi."""

    name: str
    model: str | None


@dataclass(frozen=True, slots=True)
class Found:
    """A device: its path, what it calls itself, and whether this user may read and write it."""

    kind: str
    path: str
    name: str
    usable: bool


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that keeps a device from working, with what to do."""

    code: str
    text: str


GROUPS: Final = {"pins": "gpio", "serial": "dialout", "camera": "video", "keyboard": "input"}
"""Who is in these groups may use these devices on Raspberry Pi OS."""


def board(root: Path) -> Board:
    """Say what machine this is."""
    try:
        name = (root / "proc/device-tree/model").read_text(encoding="utf-8").rstrip("\0\n")
        (revision,) = struct.unpack(">L", (root / "proc/device-tree/system/linux,revision").read_bytes())
        return Board(name, PiBoardInfo.from_revision(revision).model)
    except (OSError, UnicodeDecodeError, struct.error, PinUnknownPi):
        return Board("no Raspberry Pi", None)


def devices(root: Path) -> list[Found]:
    """List the devices that a table can use, each kind by name."""
    return [*_pins(root), *_serial(root), *_cameras(root), *_keyboards(root)]


def denied(found: list[Found]) -> list[Trouble]:
    """Say for each kind of device that this user may not use, what to do."""
    kinds = dict.fromkeys(one.kind for one in found if not one.usable)
    return [Trouble(DeviceForbidden.code, _permission(kind, found)) for kind in kinds]


def _permission(kind: str, found: list[Found]) -> str:
    paths = ", ".join(one.path for one in found if one.kind == kind and not one.usable)
    return f"{paths}: sudo adduser $USER {GROUPS[kind]}, and log in again"


def _pins(root: Path) -> Iterator[Found]:
    for path in sorted((root / "dev").glob("gpiochip*")):
        yield _found("pins", path, root, path.name)


def _serial(root: Path) -> Iterator[Found]:
    for path in sorted((root / "dev/serial/by-id").glob("*")):
        yield _found("serial", path, root, path.name)


def _cameras(root: Path) -> Iterator[Found]:
    for path in sorted((root / "dev").glob("video*")):
        yield _found("camera", path, root, _text(root / "sys/class/video4linux" / path.name / "name"))


def _keyboards(root: Path) -> Iterator[Found]:
    for path in sorted((root / "dev/input/by-id").glob("*-event-kbd")):
        yield _found("keyboard", path, root, path.name.removesuffix("-event-kbd"))


def _found(kind: str, path: Path, root: Path, name: str) -> Found:
    return Found(kind, f"/{path.relative_to(root)}", name, os.access(path, os.R_OK | os.W_OK))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip("\0\n ")
    except (OSError, UnicodeDecodeError):
        return ""
