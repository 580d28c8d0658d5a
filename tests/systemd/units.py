"""Reading the parts of units that the tests need, as systemd does."""

import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

from tests.patience import PATIENCE_S

ROOT: Final = Path(__file__).parents[2]

UNITS: Final = sorted((ROOT / "systemd").glob("*.service"))

INSTALLED: Final = "/usr/bin/"
"""The folder in which the packages install the command."""

HERE: Final = Path(sys.executable).parent

INSTANCE: Final = "table-3"

SPECIFIERS: Final = {"%i": INSTANCE, "%S": "/var/lib", "%t": "/run"}


def unit(name: str) -> Path:
    """Return the path of a unit by its name, without instance."""
    return ROOT / "systemd" / name


def values(path: Path, key: str) -> list[str]:
    """Return all values of a setting, in order."""
    return re.findall(rf"^{key}=(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)


def command_line(path: Path, options: str = "") -> list[str]:
    """Return the command line of a unit, with specifiers and $OPTIONS filled in."""
    (line,) = values(path, "ExecStart")
    for specifier, value in SPECIFIERS.items():
        line = line.replace(specifier, value)
    assert "%" not in line
    return shlex.split(line.replace("$OPTIONS", options))


def as_installed(path: Path, folder: Path, old: str = "", new: str = "") -> Path:
    """Copy a unit with this machine's commands instead of the installed ones, replacing `old` by `new`."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    copy = folder / path.name
    copy.write_text(commands_here(text).replace(old, new), encoding="utf-8")
    return copy


def commands_here(text: str) -> str:
    """Replace the installed commands by those of this machine."""
    return re.sub(r"/usr/(?:lib/homologue/)?bin/(homologue|python3)\b", rf"{HERE}/\1", text)


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run systemd-analyze."""
    return subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def allowed_calls(path: Path) -> set[str]:
    """Return the system calls that a unit allows. Lists are applied in order; those with ~ remove calls."""
    allowed = set(_calls("@default"))
    for value in values(path, "SystemCallFilter"):
        named = {call for name in value.removeprefix("~").split() for call in _calls(name)}
        allowed = allowed - named if value.startswith("~") else allowed | named
    return allowed


@cache
def _calls(name: str) -> frozenset[str]:
    if not name.startswith("@"):
        return frozenset({name})
    listed = analyze("syscall-filter", name).stdout.splitlines()[1:]
    words = [line.strip() for line in listed if line.strip() and not line.strip().startswith("#")]
    assert words != []
    return frozenset(call for word in words for call in _calls(word))
