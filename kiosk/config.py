"""One table's configuration: a TOML file, and the pairing that the desk gave it.

Paths in the configuration are relative to its file. Secrets are kept in files that the kiosk's user alone can read.
"""

import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct, structs

from broker.files import PRIVATE_FOLDER, make_folder, write_private
from broker.key_files import open_key
from broker.protocol import HOST_PATTERN, EventName, PublicKey, Seat, TableNo
from broker.protocol.link import Address
from broker.protocol.pairing import Pairing
from broker.protocol.signing import SigningKey
from broker.protocol.tls import Identity
from firmware.errors import BadAddress
from firmware.keyboards import parse_keyboard
from firmware.scanners import parse_scanner
from kiosk.errors import BadConfiguration, KioskError, NotPaired
from kiosk.spare import memory_folder

PAIRING_FILE: Final = "paired.json"


class StoredPairing(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a device was paired with. Names of files are in the same folder."""

    event: EventName
    table: TableNo
    host: str
    port: int
    password_file: str
    ca_file: str | None
    event_key: str | None = None
    """The event's public key: no receipts but those that are signed with it are believed."""
    certificate_file: str | None = None
    """The device's certificate, for its own key; without it the device has its password alone."""
    pin_file: str | None = None
    """Where older desks had the hash of the arbiters' PIN kept: it goes."""

    @property
    def journal(self) -> str:
        """The folder of the table's journal: another for each event and table."""
        return f"{self.event}/table-{self.table}"


def store_pairing(folder: Path, pairing: Pairing) -> None:
    """Keep a pairing in the place of the one before. Raises BadConfiguration where it cannot be written."""
    broker, name = pairing.broker, f"{pairing.event}-table-{pairing.table}"
    ca = f"{name}.crt" if broker.ca else None
    certificate = f"{name}.device.crt" if pairing.certificate else None
    kept = StoredPairing(
        event=pairing.event,
        table=pairing.table,
        host=broker.host,
        port=broker.port,
        password_file=f"{name}.password",
        ca_file=ca,
        event_key=pairing.event_key,
        certificate_file=certificate,
    )
    try:
        make_folder(folder, PRIVATE_FOLDER)
        write_private(folder / kept.password_file, f"{broker.password}\n".encode())
        if ca and broker.ca:
            write_private(folder / ca, broker.ca.encode("ascii"))
        if certificate and pairing.certificate:
            write_private(folder / certificate, pairing.certificate.encode("ascii"))
        write_private(folder / PAIRING_FILE, msgspec.json.encode(kept))
    except OSError as error:
        raise BadConfiguration(f"paired: what the desk has told cannot be kept in {folder}: {error.strerror}") from None


def stored_pairing(folder: Path) -> StoredPairing:
    """Return what a device was paired with. Raises NotPaired, BadConfiguration where that cannot be read."""
    try:
        return msgspec.json.decode((folder / PAIRING_FILE).read_bytes(), type=StoredPairing)
    except FileNotFoundError:
        raise NotPaired(f"this device is paired with no event yet: there is no {folder / PAIRING_FILE}") from None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"{folder / PAIRING_FILE}: {error}") from None


KEY_FILE: Final = "device.key"
"""The device's private key, beside what it was paired with; without a pairing, beside the journal."""


def open_device_key(path: Path) -> SigningKey:
    """Return a device's key. One that is spoilt is put aside and another made, so that the table can be played at.

    The scorer knows the device no more then, until an arbiter has accepted it. Raises OSError.
    """
    try:
        return open_key(path)
    except ValueError:
        path.replace(path.with_name(f"{path.name}.spoilt"))
        return open_key(path)


PIN_TOLD_FILE: Final = "arbiter-pin-told"
"""Beside the journal: what the scorer has said of the arbiters' PIN; nothing of it."""

Language = Annotated[str, Meta(pattern="^[a-z]{2,3}$(?!\\n)", description="one for which there is a catalogue")]

SelfTestWhen = Annotated[
    Literal["day", "asked"] | None,
    Meta(description="whether the self-test comes at the start of a day by itself; without it: where buttons are real"),
]


SpareFolder = Annotated[
    str | None, Meta(description="where the journal goes on while the card takes no writes: a stick; else in memory")
]


class BrokerSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the broker is, and who we are there: a certificate for the device's key, or else a password in a file.

    A connection without TLS has to be asked for: `plain`.
    """

    host: Annotated[str, Meta(pattern=f"^(?:{HOST_PATTERN})$(?!\\n)", description="name or address")]
    port: Annotated[int, Meta(ge=1, le=65535)]
    password_file: Annotated[str | None, Meta(description="only the kiosk's user can read it")] = None
    ca_file: Annotated[str | None, Meta(description="certificate of the event's authority")] = None
    keepalive_s: Annotated[int, Meta(ge=2, le=300, description="how soon a dead network is noticed")] = 10
    certificate_file: Annotated[str | None, Meta(description="the device's certificate, by that authority")] = None
    plain: Annotated[bool, Meta(description="without TLS: whoever is on the network reads and changes all")] = False


class DeviceSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Addresses of what is on the table. `people` plays by itself, with simulated devices only.

    `keyboards`: those that may type; where none is named, every one may.
    `enrolled`: the folder with the own pictures of sets, set-NN.jpg, as `homologue set enrol` writes them.
    """

    buttons: str
    camera: str
    people: str | None = None
    scanner: str | None = None
    keyboards: Annotated[tuple[str, ...], Meta(max_length=8)] = ()
    enrolled: str | None = None


class ScreenSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The table's screen: size in pixels; driver as SDL names it (`dummy` shows nothing).

    `hand`: at which side the buttons are; `text`: how large letters are, where they have room.
    `light`: how it begins; `quiet` for a dark hall: lowered, and nothing white.
    `near`: who sits at its lower edge; `turned`: it lies flat, and each seat's text is turned to who sits there.
    `dim_after_s`: it gets darker when nothing was new for so long; 0: never.
    `backlight`: the folder of the light behind it, which is lowered then; without it the picture is drawn darker.
    `scores`: when a riichi table shows the session's score.
    """

    width: Annotated[int, Meta(ge=480, le=3840)] = 800
    height: Annotated[int, Meta(ge=320, le=2160)] = 480
    driver: str | None = None
    fullscreen: bool = False
    hand: Literal["right", "left"] = "right"
    text: Literal["normal", "large", "largest"] = "normal"
    light: Literal["normal", "quiet"] = "normal"
    near: Seat = "east"
    turned: bool = False
    scores: Literal["always", "between_hands"] = "always"
    dim_after_s: Annotated[int, Meta(ge=0, le=86_400)] = 600
    backlight: str | None = None


MetricsPort = Annotated[
    Annotated[int, Meta(ge=1, le=65535)] | None,
    Meta(description="port on this machine alone, where Prometheus reads how the table is; null: none"),
]


class Config(Struct, frozen=True, forbid_unknown_fields=True):
    """All settings."""

    event: EventName
    table: TableNo
    folder: str
    broker: BrokerSettings
    devices: DeviceSettings
    screen: ScreenSettings = ScreenSettings()
    arbiter_pin_file: Annotated[
        str, Meta(description="not used any more: a hash of the arbiters' PIN that lies there is removed")
    ] = "arbiter-pin"
    language: Language = "en"
    self_test: SelfTestWhen = None
    spare_folder: SpareFolder = None
    event_key: Annotated[
        PublicKey | None, Meta(description="the event's public key; without it receipts are believed unsigned")
    ] = None
    key_file: Annotated[str, Meta(description="the device's private key; made where it is absent")] = ""
    metrics_port: MetricsPort = None


class UnpairedConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """All settings of a device that the desk pairs with its table: event, table and broker are what it was told."""

    paired: Annotated[str, Meta(min_length=1, description="the folder where what the desk has told is kept")]
    devices: DeviceSettings
    desk: Annotated[str, Meta(max_length=64, description="the desk's address, where it is always the same")] = ""
    screen: ScreenSettings = ScreenSettings()
    arbiter_pin_file: str = "arbiter-pin"
    language: Language = "en"
    self_test: SelfTestWhen = None
    spare_folder: SpareFolder = None
    metrics_port: MetricsPort = None

    def with_table(self, folder: Path) -> Config:
        """Add what the desk has told, kept in a folder. Raises NotPaired, BadConfiguration."""
        kept = stored_pairing(folder)
        broker = BrokerSettings(
            kept.host,
            kept.port,
            str(folder / kept.password_file),
            str(folder / kept.ca_file) if kept.ca_file else None,
            certificate_file=str(folder / kept.certificate_file) if kept.certificate_file else None,
            plain=kept.ca_file is None,  # the desk has said so, under the seal of its code
        )
        return Config(
            event=kept.event,
            table=kept.table,
            folder=str(folder / kept.journal),
            broker=broker,
            devices=self.devices,
            screen=self.screen,
            arbiter_pin_file=str(folder / kept.pin_file) if kept.pin_file else self.arbiter_pin_file,
            language=self.language,
            self_test=self.self_test,
            spare_folder=self.spare_folder,
            event_key=kept.event_key,
            key_file=str(folder / KEY_FILE),
            metrics_port=self.metrics_port,
        )


class KioskSettings:
    """A configuration and where it was read from."""

    def __init__(self, path: Path) -> None:
        """Raise BadConfiguration; NotPaired where the desk is to say which table this is, and has not."""
        self._beside = path.resolve().parent
        self.paired = False
        """Whether event and table are what the desk has told, and may tell anew."""
        self.config = self._read(path)
        self._check_devices(path)

    def _read(self, path: Path) -> Config:
        try:
            content = path.read_bytes()
            self.paired = "paired" in msgspec.toml.decode(content)
            if not self.paired:
                return msgspec.toml.decode(content, type=Config)
            own = msgspec.toml.decode(content, type=UnpairedConfig)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadConfiguration(f"{path}: {error}") from None
        return own.with_table(self._beside / own.paired)

    def _check_devices(self, path: Path) -> None:
        devices = self.config.devices
        if devices.people and not (devices.buttons.startswith("sim:") and devices.camera.startswith("sim:")):
            raise BadConfiguration(f"{path}: devices.people plays with simulated buttons and camera only")
        named: list[tuple[str, Callable[[str], object], str]] = [
            *(("keyboards", parse_keyboard, one) for one in devices.keyboards),
            *([("scanner", parse_scanner, devices.scanner)] if devices.scanner is not None else []),
        ]
        for setting, parse, address in named:
            try:
                parse(address)
            except BadAddress as error:
                raise BadConfiguration(f"{path}: devices.{setting}: {error}") from None

    def beside(self, name: str) -> Path:
        """Return a path that the configuration names."""
        return self._beside / name

    @property
    def camera(self) -> str:
        """The camera's address."""
        kind, _, rest = self.config.devices.camera.partition(":")
        return f"{kind}:{self.beside(rest)}" if kind == "pictures" else self.config.devices.camera

    @property
    def enrolled(self) -> Path | None:
        """The folder with the own pictures of sets, if there is one."""
        return self.beside(self.config.devices.enrolled) if self.config.devices.enrolled else None

    @property
    def tested_daily(self) -> bool:
        """Whether the self-test of the hardware comes by itself: of simulated buttons there is nothing to test."""
        when = self.config.self_test or ("asked" if self.config.devices.buttons.startswith("sim:") else "day")
        return when == "day"

    @property
    def folder(self) -> Path:
        """Where the table's journal is kept."""
        return self.beside(self.config.folder)

    @property
    def spares(self) -> tuple[Path, ...]:
        """Where the journal goes on while its card takes no writes, in this order."""
        config, memory = self.config, memory_folder(self.folder)
        if config.spare_folder is None:
            return (memory,)
        return self.beside(config.spare_folder) / config.event / f"table-{config.table}", memory

    @property
    def key_path(self) -> Path:
        """Where the device's private key is: beside the pairing, else beside the journal."""
        return self.beside(self.config.key_file) if self.config.key_file else self.folder / KEY_FILE

    def device_key(self) -> SigningKey:
        """Return the device's private key. Raises BadConfiguration."""
        try:
            return open_device_key(self.key_path)
        except OSError as error:
            raise BadConfiguration(f"{self.key_path}: {error.strerror}") from None

    def pin_hashes(self) -> tuple[Path, ...]:
        """Return where older programs kept the hash of the arbiters' PIN. That in an event's folder is the event's."""
        path = self.beside(self.config.arbiter_pin_file)
        return () if (path.parent / "event.toml").exists() else (path,)

    def address(self) -> Address:
        """Return the broker's address, and who we are there. Raises BadConfiguration."""
        broker, user = self.config.broker, f"table-{self.config.table}"
        if broker.plain == bool(broker.ca_file):
            raise BadConfiguration("broker: name the event's authority (ca_file), or ask for no TLS (plain = true)")
        ca = self._present(broker.ca_file, "ca_file")
        certificate = self._present(broker.certificate_file, "certificate_file")
        if ca and certificate:
            identity = Identity(certificate, self.device_key())
            return Address(broker.host, broker.port, user, "", ca, broker.keepalive_s, identity)
        return Address(broker.host, broker.port, user, self._password(), ca, broker.keepalive_s)

    def _present(self, name: str | None, setting: str) -> Path | None:
        path = self.beside(name) if name else None
        if path and not path.is_file():
            raise BadConfiguration(f"broker.{setting}: there is no file {path}")
        return path

    def _password(self) -> str:
        name = self.config.broker.password_file
        if name is None:
            raise BadConfiguration("broker: name the device's certificate (certificate_file), or password_file")
        path = self.beside(name)
        try:
            if path.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
                raise BadConfiguration(f"broker.password_file: everybody may read or write {path}: chmod 640 it")
            password = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise BadConfiguration(f"broker.password_file: {error}") from None
        if not password:
            raise BadConfiguration(f"broker.password_file: {path} is empty")
        return password


class _Buttons(Struct, frozen=True):
    buttons: str = ""


class DeviceBasics(Struct, frozen=True):
    """What is needed to stand in for a program that does not run."""

    devices: _Buttons = _Buttons()
    screen: ScreenSettings = ScreenSettings()
    language: Language = "en"
    table: int = 0


def device_basics(path: Path) -> DeviceBasics:
    """Read as much of a configuration as can be read."""
    try:
        own = msgspec.toml.decode(path.read_bytes(), type=DeviceBasics)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return DeviceBasics()
    with suppress(KioskError):  # one that is paired has been told its table
        return structs.replace(own, table=KioskSettings(path).config.table)
    return own


class UnpairedSettings(Struct, frozen=True):
    """A device's own settings, with paths in full."""

    devices: DeviceSettings
    screen: ScreenSettings
    language: str
    desk: str
    paired: Path
    """The folder where a pairing is kept."""
    camera: str
    """The camera's address."""


def unpaired_settings(path: Path) -> UnpairedSettings:
    """Read what a configuration says of the device. Raises BadConfiguration, also where it names its table itself."""
    try:
        said = msgspec.toml.decode(path.read_bytes(), type=UnpairedConfig)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"{path}: {error}") from None
    beside = path.resolve().parent
    kind, _, rest = said.devices.camera.partition(":")
    camera = f"{kind}:{beside / rest}" if kind == "pictures" else said.devices.camera
    return UnpairedSettings(said.devices, said.screen, said.language, said.desk, beside / said.paired, camera)
