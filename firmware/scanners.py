"""Scanners: an open line whose codes become reports, and the addresses that open one."""

import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Final, Literal, NamedTuple, cast, get_type_hints
from urllib.parse import parse_qsl

from broker.closing import Closing
from firmware.errors import BadAddress, FirmwareError
from firmware.keyboard_layouts import LAYOUTS
from firmware.ports import HotPlugged, KeyboardPort, OpenPort, SerialPort, SerialSettings
from firmware.reports import Health, OnReport, Scanned
from firmware.scan_reader import CodeSettings, PlainNumbers, ReaderSettings, ScanReader
from firmware.sim.scanner import ENCODINGS, TERMINATORS, ScannerHabits, SimulatedScanner

PART: Final = "scanner"

_AROUND: Final = "[ -~]{0,16}"
_NUMBER: Final = "[0-9]{1,5}"

_BAUDS: Final = "1200|2400|4800|9600|19200|38400|57600|115200|230400"


class ScannerSetting(NamedTuple):
    """The default of a setting, the pattern of its values, and its meaning."""

    default: str
    pattern: str
    meaning: str


_CODE_SETTINGS: Final[Mapping[str, ScannerSetting]] = {
    "prefix": ScannerSetting("", _AROUND, "Characters required before each code."),
    "suffix": ScannerSetting("", _AROUND, "Characters required after each code, before the terminator."),
    "plain": ScannerSetting(
        "any", "any|three|no", "Which codes without a set count: `any`, `three` (`007`, not `7`), `no`."
    ),
    "double_ms": ScannerSetting("1000", _NUMBER, "The same code again within this many ms is part of the same scan."),
}
_SIMULATION_SETTINGS: Final[Mapping[str, str]] = {
    "before": _AROUND,
    "terminator": "|".join(TERMINATORS),
    "encoding": "|".join(ENCODINGS),
}
"""Patterns of a simulated scanner's settings that are not numbers."""

SCANNER_SETTINGS: Final[Mapping[str, Mapping[str, ScannerSetting]]] = {
    "serial": {
        **_CODE_SETTINGS,
        "baud": ScannerSetting("9600", _BAUDS, "1200 to 230400. A scanner with a USB serial port accepts any."),
        "bits": ScannerSetting("8", "7|8", "`7` or `8`."),
        "parity": ScannerSetting("none", "none|even|odd", "`none`, `even` or `odd`."),
        "stop": ScannerSetting("1", "1|2", "Stop bits: `1` or `2`."),
    },
    "evdev": {
        **_CODE_SETTINGS,
        "layout": ScannerSetting("us", "|".join(LAYOUTS), "The keyboard layout it types in: `us` or `fr` (AZERTY)."),
    },
    "sim": {
        **_CODE_SETTINGS,
        **{
            name: ScannerSetting(str(default), _SIMULATION_SETTINGS.get(name, _NUMBER), hint.__metadata__[0])
            for (name, default), hint in zip(
                asdict(ScannerHabits()).items(),
                get_type_hints(ScannerHabits, include_extras=True).values(),
                strict=True,
            )
        },
    },
}
"""The settings for each kind of scanner."""

_PLACES: Final[Mapping[str, str]] = {"serial": r"/[!-~]+", "evdev": r"/[!-~]+", "sim": "//scanner"}


@dataclass(frozen=True, slots=True)
class ScannerAddress:
    """A parsed and valid address."""

    kind: str
    place: str
    settings: Mapping[str, str]

    @property
    def reader(self) -> ReaderSettings:
        """Settings for reading codes."""
        values = self.settings
        codes = CodeSettings(values["prefix"], values["suffix"], cast("PlainNumbers", values["plain"]))
        return ReaderSettings(codes, int(values["double_ms"]))

    @property
    def line(self) -> SerialSettings:
        """Settings of the serial line."""
        values = self.settings
        bits, stop = cast("Literal[7, 8]", int(values["bits"])), cast("Literal[1, 2]", int(values["stop"]))
        parity = cast('Literal["N", "E", "O"]', values["parity"][0].upper())
        return SerialSettings(self.place, int(values["baud"]), bits, parity, stop)

    @property
    def habits(self) -> ScannerHabits:
        """Settings of a simulated scanner."""
        return ScannerHabits(
            **{name: type(default)(self.settings[name]) for name, default in asdict(ScannerHabits()).items()}
        )


class Scanner(Closing):
    """Reports scans and the scanner's health, from the line's thread, until closed.

    A missing scanner is reported through its health, and opened when it is plugged in.
    """

    def __init__(self, address: ScannerAddress, on_report: OnReport) -> None:
        self._on_report, self._reader = on_report, ScanReader(address.reader)
        self._ready = False
        """The line is open and has been quiet since, so the next bytes are the beginning of a scan."""
        self.simulated = SimulatedScanner(address.habits) if address.kind == "sim" else None
        """The simulated scanner, for making scans; None with a real one."""
        path = str(self.simulated.plug.path) if self.simulated else address.place
        self._line = HotPlugged(path, partial(_open_port, address, path), self._on_bytes, self._on_line)

    def _on_bytes(self, content: bytes, at: int) -> None:
        reports = self._reader.take(content, at)
        if not self._ready and (not self._reader.noisy or any(isinstance(report, Scanned) for report in reports)):
            self._ready = True
            self._on_report(Health(PART, None))
        for report in reports:
            self._on_report(report)

    def _on_line(self, error: FirmwareError | None) -> None:
        now = time.monotonic_ns()
        for report in self._reader.lost(now):
            self._on_report(report)
        self._reader.opened(now)
        self._ready = False
        if error:
            self._on_report(Health(PART, error.code, str(error)))

    def close(self) -> None:
        """Close the device. May be called twice."""
        self._line.close()
        if self.simulated:
            self.simulated.close()


def _open_port(address: ScannerAddress, path: str) -> OpenPort:
    """Open the scanner's line. Raises OSError, termios.error."""
    if address.kind == "evdev":
        return KeyboardPort(path, address.settings["layout"])
    return SerialPort(SerialSettings(path) if address.kind == "sim" else address.line)


def open_scanner(address: str, on_report: OnReport) -> Scanner:
    """Open the scanner that an address names; `on_report` is called from its own thread. Raises BadAddress."""
    return Scanner(parse_scanner(address), on_report)


def parse_scanner(address: str) -> ScannerAddress:
    """Parse an address. Raises BadAddress."""
    start, _, query = address.partition("?")
    kind, _, place = start.partition(":")
    if kind not in SCANNER_SETTINGS or not re.fullmatch(_PLACES[kind], place):
        raise BadAddress(
            f"{address!r} is no address of a scanner: serial:/dev/..., evdev:/dev/input/... or sim://scanner"
        )
    known = SCANNER_SETTINGS[kind]
    given: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in known:
            raise BadAddress(f"{address!r}: no setting {name!r}; there are {', '.join(known)}")
        if name in given:
            raise BadAddress(f"{address!r}: {name} is given twice")
        if not re.fullmatch(known[name].pattern, value):
            raise BadAddress(f"{address!r}: {name} cannot be {value!r}")
        given[name] = value
    return ScannerAddress(kind, place, {name: one.default for name, one in known.items()} | given)
