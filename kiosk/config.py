"""A table's configuration: a TOML file, and the pairing that the desk gave it.

Paths in the configuration are relative to its file. Secrets are in files that only the kiosk's user can read.
"""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct, structs

from broker.errors import reason
from broker.files import PRIVATE_FOLDER, make_folder, write_private
from broker.protocol import HOST_PATTERN, EventName, PublicKey, Seat, TableNo, link, signing, tls
from broker.protocol.pairing import Pairing
from firmware import errors, keyboards, scanners
from kiosk.errors import BadConfiguration, KioskError, NotPaired

JOURNAL_FILE: Final = "table.sqlite"

KEY_FILE: Final = "device.key"
"""The device's private key: beside the pairing, or beside the journal if the device is not paired."""


def open_device_key(path: Path) -> signing.SigningKey:
    """Return the device's key. A damaged key is set aside and replaced by a new one, so that play can go on.

    The scorer does not know the new key until an arbiter accepts the device. Raises OSError.
    """
    try:
        return signing.open_key(path)
    except ValueError:
        path.replace(path.with_name(f"{path.name}.spoilt"))
        return signing.open_key(path)


MEMORY_ROOT: Final = Path("/dev/shm")  # noqa: S108 - each user has a folder of their own in it, closed to others


def memory_folder(journal: Path) -> Path:
    """Return the folder in memory that can replace a journal's folder: it survives the program, but not a power cut."""
    return MEMORY_ROOT / f"homologue-{os.getuid()}" / sha256(str(journal.resolve()).encode()).hexdigest()[:16]


PAIRING_FILE: Final = "paired.json"


class StoredPairing(Struct, frozen=True, kw_only=True):
    """What a device was paired with. Files are in the same folder; unknown fields of newer programs are ignored."""

    event: EventName
    table: TableNo
    host: str
    port: int
    password_file: str
    ca_file: str | None
    event_key: str | None = None
    """The event's public key: only receipts signed with it are believed."""
    certificate_file: str | None = None
    """The device's certificate, for its own key. Without one, the device has only its password."""
    pin_file: str | None = None
    """Where older desks stored the hash of the arbiters' PIN; the file is removed."""

    @property
    def journal(self) -> str:
        """The folder of the table's journal, one for each event and table."""
        return f"{self.event}/table-{self.table}"


def store_pairing(folder: Path, pairing: Pairing) -> None:
    """Store a pairing, replacing the one before. Raises BadConfiguration if it cannot be written."""
    broker, name = pairing.broker, f"{pairing.event}-table-{pairing.table}"
    ca = f"{name}.crt" if broker.ca else None
    certificate = f"{name}.device.crt" if pairing.certificate else None
    stored = StoredPairing(
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
        write_private(folder / stored.password_file, f"{broker.password}\n".encode())
        if ca and broker.ca:
            write_private(folder / ca, broker.ca.encode("ascii"))
        if certificate and pairing.certificate:
            write_private(folder / certificate, pairing.certificate.encode("ascii"))
        write_private(folder / PAIRING_FILE, msgspec.json.encode(stored))
    except OSError as error:
        raise BadConfiguration(f"paired: the pairing cannot be stored in {folder}: {error.strerror}") from None


def stored_pairing(folder: Path) -> StoredPairing:
    """Return the stored pairing. Raises NotPaired, or BadConfiguration if it cannot be read."""
    try:
        return msgspec.json.decode((folder / PAIRING_FILE).read_bytes(), type=StoredPairing)
    except FileNotFoundError:
        raise NotPaired(f"this device is paired with no event yet: there is no {folder / PAIRING_FILE}") from None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadConfiguration(f"{folder / PAIRING_FILE}: {reason(error)}") from None


Language = Annotated[
    str,
    Meta(
        pattern="^[a-z]{2,3}$(?!\\n)",
        description="`en`, `fr`, `zh`, or another language with a folder in `broker/locale/`.",
    ),
]


class BrokerSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The broker's address, and how the device identifies itself: with its certificate, or with a password from a file.

    A connection without TLS must be requested with `plain`.
    """

    host: Annotated[str, Meta(pattern=f"^(?:{HOST_PATTERN})$(?!\\n)", description="The broker's name or address.")]
    port: Annotated[
        int, Meta(ge=1, le=65535, description="1883 for the scorer's own broker, 8883 for the hall's Mosquitto.")
    ]
    password_file: Annotated[
        str | None,
        Meta(description="Where there is no `certificate_file`: a file with this table's password and nothing else."),
    ] = None
    ca_file: Annotated[str | None, Meta(description="The event's authority (`tls/ca.crt` in the event's folder).")] = (
        None
    )
    keepalive_s: Annotated[
        int, Meta(ge=2, le=300, description="Seconds until a dead network is noticed, 2 to 300.")
    ] = 10
    certificate_file: Annotated[
        str | None, Meta(description="The device's certificate, which `homologue event device` makes.")
    ] = None
    plain: Annotated[
        bool,
        Meta(
            description="`true`: connect without TLS, with the password. Anybody on the network can then read "
            "and change everything."
        ),
    ] = False


class DeviceSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Addresses of the devices on the table."""

    buttons: Annotated[str, Meta(description="[Address](installer.md#buttons) of the four buttons.")]
    camera: Annotated[str, Meta(description="[Address](camera.md#addresses) of the camera.")]
    people: Annotated[
        str | None, Meta(description="A script for simulated people, used by the demo; with simulated devices only.")
    ] = None
    scanner: Annotated[
        str | None, Meta(description="[Address](scanners.md#the-kiosks-configuration) of a scanner.")
    ] = None
    keyboards: Annotated[
        tuple[str, ...],
        Meta(
            max_length=8,
            description="The keyboards that may type, each `evdev:/dev/input/by-id/...-event-kbd` with `?layout=us` "
            "or `fr`. With none, every keyboard types.",
        ),
    ] = ()
    enrolled: Annotated[
        str | None,
        Meta(description="Folder with the files `set-NN.jpg` of [enrolled sets](labels.md#enrol-a-set)."),
    ] = None


class ScreenSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The table's screen."""

    width: Annotated[int, Meta(ge=480, le=3840, description="Pixels, 480 to 3840.")] = 800
    height: Annotated[int, Meta(ge=320, le=2160, description="Pixels, 320 to 2160.")] = 480
    driver: Annotated[
        str | None,
        Meta(description="SDL's driver: `kmsdrm` without a desktop, `dummy` shows nothing. By default SDL chooses."),
    ] = None
    fullscreen: Annotated[bool, Meta(description="Use the whole screen, without a mouse pointer.")] = False
    hand: Annotated[
        Literal["right", "left"], Meta(description="The side of the buttons on the screen: `right` or `left`.")
    ] = "right"
    text: Annotated[
        Literal["normal", "large", "largest"],
        Meta(description="Text size where there is room: `normal`, `large` or `largest`."),
    ] = "normal"
    light: Annotated[
        Literal["normal", "quiet"],
        Meta(description="`quiet`: for a dark hall, see [every screen](screens.md#light-and-colours)."),
    ] = "normal"
    near: Annotated[
        Seat,
        Meta(description="Who sits at the screen's lower edge: seats are laid out from there as people sit."),
    ] = "east"
    turned: Annotated[
        bool, Meta(description="For a display that lies flat: each seat's text is turned to its player.")
    ] = False
    scores: Annotated[
        Literal["always", "between_hands"],
        Meta(description="At a riichi table, when the score is shown: `always`, or `between_hands`."),
    ] = "always"
    dim_after_s: Annotated[
        int,
        Meta(
            ge=0,
            le=86_400,
            description="Seconds without use until the screen gets darker; 0: never. The touch that wakes it counts.",
        ),
    ] = 600
    backlight: Annotated[
        str | None,
        Meta(
            description="`/sys/class/backlight` if the display's backlight can be set (Pi displays on the ribbon "
            "cable, not HDMI): it is dimmed instead of the picture."
        ),
    ] = None


class OwnSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings that belong to the device itself, paired or not."""

    devices: DeviceSettings
    screen: ScreenSettings = ScreenSettings()
    arbiter_pin_file: Annotated[
        str, Meta(description="No longer used: a hash of the arbiters' PIN in this file is removed.")
    ] = "arbiter-pin"
    language: Language = "en"
    self_test: Annotated[
        Literal["day", "asked"] | None,
        Meta(
            description="When the hardware self-test runs: `day` (at the first start, and after four idle hours), or "
            "`asked`. Default: `day`, with simulated buttons `asked`."
        ),
    ] = None
    spare_folder: Annotated[
        str | None,
        Meta(
            description="Folder for the journal while the card takes no writes, such as a USB stick. Add it to the "
            "unit's `ReadWritePaths=` as well (`systemctl edit homologue-kiosk`). Default: memory, which is lost in a "
            "power cut."
        ),
    ] = None
    metrics_port: Annotated[
        Annotated[int, Meta(ge=1, le=65535)] | None,
        Meta(description="A local port for [Prometheus](monitoring.md#a-table)."),
    ] = None


class Config(OwnSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings."""

    event: Annotated[EventName, Meta(description="The event's name, as in its `event.toml`.")]
    table: Annotated[TableNo, Meta(description="The table's number.")]
    folder: Annotated[str, Meta(description="Where the journal is kept: a folder for each event and table.")]
    broker: BrokerSettings
    event_key: Annotated[
        PublicKey | None,
        Meta(
            description="The event's public key: only receipts signed with it are believed. A paired device gets it "
            "from the desk."
        ),
    ] = None
    key_file: Annotated[
        str,
        Meta(
            description="The device's private key, created if it is missing. Default: `device.key` beside the "
            "journal or the pairing."
        ),
    ] = ""


class UnpairedConfig(OwnSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings of a device that the desk pairs with a table. Event, table and broker come from the pairing."""

    paired: Annotated[
        str,
        Meta(
            min_length=1,
            description="Instead of `event`, `table`, `folder` and `[broker]`: the folder for what the desk sends.",
        ),
    ]
    desk: Annotated[
        str, Meta(max_length=64, description="With `paired`: the desk's address, if tables cannot find it.")
    ] = ""

    def with_table(self, folder: Path) -> Config:
        """Add the event, table and broker of the pairing stored in a folder. Raises NotPaired, BadConfiguration."""
        pairing = stored_pairing(folder)
        broker = BrokerSettings(
            pairing.host,
            pairing.port,
            str(folder / pairing.password_file),
            str(folder / pairing.ca_file) if pairing.ca_file else None,
            certificate_file=str(folder / pairing.certificate_file) if pairing.certificate_file else None,
            plain=pairing.ca_file is None,  # the desk said so, in an answer sealed with the pairing code
        )
        own = {name: getattr(self, name) for name in OwnSettings.__struct_fields__}
        if pairing.pin_file:
            own["arbiter_pin_file"] = str(folder / pairing.pin_file)
        return Config(
            event=pairing.event,
            table=pairing.table,
            folder=str(folder / pairing.journal),
            broker=broker,
            event_key=pairing.event_key,
            key_file=str(folder / KEY_FILE),
            **own,
        )


class KioskSettings:
    """A configuration, with the folder to which its paths are relative."""

    def __init__(self, path: Path) -> None:
        """Read a configuration. Raises BadConfiguration, or NotPaired if the device has yet to be paired."""
        self._base_folder = path.resolve().parent
        self.paired = False
        """Whether event and table come from a pairing, which the desk may repeat."""
        self.config = self._read(path)
        self._check_devices(path)

    def _read(self, path: Path) -> Config:
        self.paired = "paired" in _decoded(path, dict[str, object])
        if not self.paired:
            return _decoded(path, Config)
        unpaired = _decoded(path, UnpairedConfig)
        return unpaired.with_table(self._base_folder / unpaired.paired)

    def _check_devices(self, path: Path) -> None:
        devices = self.config.devices
        if devices.people and not (devices.buttons.startswith("sim:") and devices.camera.startswith("sim:")):
            raise BadConfiguration(f"{path}: devices.people needs simulated buttons and a simulated camera")
        named: list[tuple[str, Callable[[str], object], str]] = [
            *(("keyboards", keyboards.parse_keyboard, address_) for address_ in devices.keyboards),
            *([("scanner", scanners.parse_scanner, devices.scanner)] if devices.scanner is not None else []),
        ]
        for setting, parse, address in named:
            try:
                parse(address)
            except errors.BadAddress as error:
                raise BadConfiguration(f"{path}: devices.{setting}: {reason(error)}") from None

    def path_of(self, name: str) -> Path:
        """Return the full path of a file or folder that the configuration names."""
        return self._base_folder / name

    @property
    def camera(self) -> str:
        """The camera's address."""
        return _camera_address(self._base_folder, self.config.devices.camera)

    @property
    def enrolled(self) -> Path | None:
        """The folder with photographs of enrolled sets, or None."""
        return self.path_of(self.config.devices.enrolled) if self.config.devices.enrolled else None

    @property
    def tested_daily(self) -> bool:
        """Whether the hardware self-test starts by itself. By default it does, except with simulated buttons."""
        when = self.config.self_test or ("asked" if self.config.devices.buttons.startswith("sim:") else "day")
        return when == "day"

    @property
    def folder(self) -> Path:
        """The folder of the table's journal."""
        return self.path_of(self.config.folder)

    @property
    def journal(self) -> Path:
        """The file of the table's journal."""
        return self.folder / JOURNAL_FILE

    @property
    def spares(self) -> tuple[Path, ...]:
        """Folders for the journal while its card takes no writes, in order of preference."""
        config, memory = self.config, memory_folder(self.folder)
        if config.spare_folder is None:
            return (memory,)
        return self.path_of(config.spare_folder) / config.event / f"table-{config.table}", memory

    @property
    def key_path(self) -> Path:
        """The file with the device's private key: beside the pairing, or else beside the journal."""
        return self.path_of(self.config.key_file) if self.config.key_file else self.folder / KEY_FILE

    def device_key(self) -> signing.SigningKey:
        """Return the device's private key. Raises BadConfiguration."""
        try:
            return open_device_key(self.key_path)
        except OSError as error:
            raise BadConfiguration(f"{self.key_path}: {error.strerror}") from None

    def pin_hashes(self) -> tuple[Path, ...]:
        """Return the files in which older programs stored the PIN hash, except one in an event's own folder."""
        path = self.path_of(self.config.arbiter_pin_file)
        return () if (path.parent / "event.toml").exists() else (path,)

    def address(self) -> link.Address:
        """Return the broker's address and this table's identity there. Raises BadConfiguration."""
        broker, user = self.config.broker, f"table-{self.config.table}"
        if broker.plain == bool(broker.ca_file):
            raise BadConfiguration("broker: set ca_file to the event's authority, or plain = true to do without TLS")
        ca = self._present(broker.ca_file, "ca_file")
        certificate = self._present(broker.certificate_file, "certificate_file")
        if ca and certificate:
            identity = tls.Identity(certificate, self.device_key())
            return link.Address(broker.host, broker.port, user, "", ca, broker.keepalive_s, identity)
        return link.Address(broker.host, broker.port, user, self._password(), ca, broker.keepalive_s)

    def _present(self, name: str | None, setting: str) -> Path | None:
        path = self.path_of(name) if name else None
        if path and not path.is_file():
            raise BadConfiguration(f"broker.{setting}: there is no file {path}")
        return path

    def _password(self) -> str:
        name = self.config.broker.password_file
        if name is None:
            raise BadConfiguration("broker: set certificate_file or password_file")
        path = self.path_of(name)
        try:
            if path.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
                raise BadConfiguration(f"broker.password_file: everybody may read or write {path}: chmod 640 it")
            password = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise BadConfiguration(f"broker.password_file: {reason(error)}") from None
        if not password:
            raise BadConfiguration(f"broker.password_file: {path} is empty")
        return password


class _Buttons(Struct, frozen=True):
    buttons: str = ""


class DeviceBasics(Struct, frozen=True):
    """The settings that the supervisor needs to stand in for a program that is not running."""

    devices: _Buttons = _Buttons()
    screen: ScreenSettings = ScreenSettings()
    language: Language = "en"
    table: int = 0


def device_basics(path: Path) -> DeviceBasics:
    """Return the basic settings, with defaults for whatever cannot be read."""
    try:
        basics = msgspec.toml.decode(path.read_bytes(), type=DeviceBasics)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return DeviceBasics()
    with suppress(KioskError):  # the table number of a paired device is in its pairing
        return structs.replace(basics, table=KioskSettings(path).config.table)
    return basics


def unpaired_settings(path: Path) -> UnpairedConfig:
    """Return the settings of a device that is to be paired, with the paths of its folder and camera in full.

    Raises BadConfiguration, also if the configuration names its table itself.
    """
    settings, base_folder = _decoded(path, UnpairedConfig), path.resolve().parent
    devices = structs.replace(settings.devices, camera=_camera_address(base_folder, settings.devices.camera))
    return structs.replace(settings, paired=str(base_folder / settings.paired), devices=devices)


T = TypeVar("T")


def _decoded(path: Path, kind: type[T]) -> T:
    """Decode a configuration file. Raises BadConfiguration."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadConfiguration(f"{path}: {reason(error)}") from None


def _camera_address(folder: Path, address: str) -> str:
    """Return a camera's address, made absolute if it names a folder of pictures."""
    kind, _, rest = address.partition(":")
    return f"{kind}:{folder / rest}" if kind == "pictures" else address
