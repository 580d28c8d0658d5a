"""One table's configuration: a TOML file. Paths in it are relative to the file."""

import stat
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from broker.contract.link import HOST, Address
from broker.contract.words import EventName, TableNo
from firmware.errors import BadAddress
from firmware.scanner_addresses import parse_scanner
from kiosk.errors import BadConfiguration
from kiosk.pairing.keep import kept_in
from kiosk.pin import Pin

PIN_TOLD: Final = "arbiter-pin-told"
"""Beside the journal: the PIN that the desk has set."""

Language = Annotated[str, Meta(pattern="^[a-z]{2,3}$(?!\\n)", description="one for which there is a catalogue")]


SelfTestWhen = Annotated[
    Literal["day", "asked"] | None,
    Meta(description="whether the self-test comes at the start of a day by itself; without it: where buttons are real"),
]


class BrokerSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the broker is; the password stands alone in a file that only the kiosk's user can read."""

    host: Annotated[str, Meta(pattern=f"^(?:{HOST})$(?!\\n)", description="name or address")]
    port: Annotated[int, Meta(ge=1, le=65535)]
    password_file: str
    ca_file: str | None = None
    keepalive_s: Annotated[int, Meta(ge=2, le=300, description="how soon a dead network is noticed")] = 10


class Devices(Struct, frozen=True, forbid_unknown_fields=True):
    """Addresses of what is on the table. `people` plays by itself, with simulated devices only."""

    buttons: str
    camera: str
    people: str | None = None
    scanner: str | None = None


class Screen(Struct, frozen=True, forbid_unknown_fields=True):
    """The table's screen: size in pixels; driver as SDL names it (`dummy` shows nothing).

    `hand`: at which side the buttons are; `text`: how large letters are, where they have room.
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
    scores: Literal["always", "between_hands"] = "always"
    dim_after_s: Annotated[int, Meta(ge=0, le=86_400)] = 600
    backlight: str | None = None


class Config(Struct, frozen=True, forbid_unknown_fields=True):
    """All settings."""

    event: EventName
    table: TableNo
    folder: str
    broker: BrokerSettings
    devices: Devices
    screen: Screen = Screen()
    arbiter_pin_file: Annotated[
        str, Meta(description="the hash of the arbiters' PIN; without the file there is none")
    ] = "arbiter-pin"
    language: Language = "en"
    self_test: SelfTestWhen = None


class OwnConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """All settings of a device that the desk pairs with its table: event, table and broker are what it was told."""

    paired: Annotated[str, Meta(min_length=1, description="the folder where what the desk has told is kept")]
    devices: Devices
    desk: Annotated[str, Meta(max_length=64, description="the desk's address, where it is always the same")] = ""
    screen: Screen = Screen()
    arbiter_pin_file: str = "arbiter-pin"
    language: Language = "en"
    self_test: SelfTestWhen = None

    def with_table(self, folder: Path) -> Config:
        """Add what the desk has told, kept in a folder. Raises NotPaired, BadConfiguration."""
        kept = kept_in(folder)
        ca = str(folder / kept.ca_file) if kept.ca_file else None
        return Config(
            event=kept.event,
            table=kept.table,
            folder=str(folder / kept.journal),
            broker=BrokerSettings(kept.host, kept.port, str(folder / kept.password_file), ca),
            devices=self.devices,
            screen=self.screen,
            arbiter_pin_file=str(folder / kept.pin_file) if kept.pin_file else self.arbiter_pin_file,
            language=self.language,
            self_test=self.self_test,
        )


class Settings:
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
            own = msgspec.toml.decode(content, type=OwnConfig)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadConfiguration(f"{path}: {error}") from None
        return own.with_table(self._beside / own.paired)

    def _check_devices(self, path: Path) -> None:
        devices = self.config.devices
        if devices.people and not (devices.buttons.startswith("sim:") and devices.camera.startswith("sim:")):
            raise BadConfiguration(f"{path}: devices.people plays with simulated buttons and camera only")
        if devices.scanner is not None:
            try:
                parse_scanner(devices.scanner)
            except BadAddress as error:
                raise BadConfiguration(f"{path}: devices.scanner: {error}") from None

    def beside(self, name: str) -> Path:
        """Give a path that the configuration names."""
        return self._beside / name

    @property
    def camera(self) -> str:
        """The camera's address."""
        kind, _, rest = self.config.devices.camera.partition(":")
        return f"{kind}:{self.beside(rest)}" if kind == "pictures" else self.config.devices.camera

    @property
    def tested_daily(self) -> bool:
        """Whether the self-test of the hardware comes by itself: of simulated buttons there is nothing to test."""
        when = self.config.self_test or ("asked" if self.config.devices.buttons.startswith("sim:") else "day")
        return when == "day"

    @property
    def folder(self) -> Path:
        """Where the table's journal is kept."""
        return self.beside(self.config.folder)

    def pin(self) -> Pin:
        """Give the arbiters' PIN, as the desk has told it last. Raises BadConfiguration."""
        return Pin(self.beside(self.config.arbiter_pin_file), self.folder / PIN_TOLD, self.config.event)

    def address(self) -> Address:
        """Give the broker's address with the password. Raises BadConfiguration."""
        broker = self.config.broker
        path = self.beside(broker.password_file)
        try:
            if path.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
                raise BadConfiguration(f"broker.password_file: everybody may read or write {path}: chmod 640 it")
            password = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise BadConfiguration(f"broker.password_file: {error}") from None
        if not password:
            raise BadConfiguration(f"broker.password_file: {path} is empty")
        ca = self.beside(broker.ca_file) if broker.ca_file else None
        if ca and not ca.is_file():
            raise BadConfiguration(f"broker.ca_file: there is no file {ca}")
        return Address(broker.host, broker.port, f"table-{self.config.table}", password, ca, broker.keepalive_s)
