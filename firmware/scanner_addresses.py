"""Scanners by their address in the configuration.

* `serial:/dev/serial/by-id/usb-...?baud=9600`: a scanner that is a serial port;
* `evdev:/dev/input/by-id/usb-...-event-kbd?layout=us`: one that types like a keyboard;
* `sim://scanner?terminator=cr`: a twin over a pty, whose `hand` scans.

Their settings are in `SETTINGS`, and explained in docs/scanners.md.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final, Literal, Self, cast
from urllib.parse import parse_qsl

from firmware.errors import BadAddress
from firmware.hot_plug import OnBytes, OnLine
from firmware.keyboard_line import KeyboardLine
from firmware.reports import Tell
from firmware.scan_codes import CodeSettings, Plain
from firmware.scan_keys import LAYOUTS
from firmware.scan_reader import ReaderSettings
from firmware.scanner import OpenLine, Scanner
from firmware.serial_line import Line, SerialLine
from firmware.twins.scanner import ENCODINGS, TERMINATORS, Habits, HandScanner

AROUND: Final = "[ -~]{0,16}"
NUMBER: Final = "[0-9]{1,5}"

BAUDS: Final = "1200|2400|4800|9600|19200|38400|57600|115200|230400"

CODES: Final[Mapping[str, tuple[str, str]]] = {
    "prefix": ("", AROUND),
    "suffix": ("", AROUND),
    "plain": ("any", "any|three|no"),
    "double_ms": ("1000", NUMBER),
}
HABITS: Final[Mapping[str, str]] = {
    "before": AROUND,
    "terminator": "|".join(TERMINATORS),
    "encoding": "|".join(ENCODINGS),
}
"""What may be said of those habits of a simulated scanner that are no numbers."""

SETTINGS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "serial": {
        **CODES,
        "baud": ("9600", BAUDS),
        "bits": ("8", "7|8"),
        "parity": ("none", "none|even|odd"),
        "stop": ("1", "1|2"),
    },
    "evdev": {**CODES, "layout": ("us", "|".join(LAYOUTS))},
    "sim": {**CODES, **{name: (str(usual), HABITS.get(name, NUMBER)) for name, usual in asdict(Habits()).items()}},
}
"""For each kind its settings: what is taken where nothing is said, and what may be said."""

PLACES: Final[Mapping[str, str]] = {"serial": r"/[!-~]+", "evdev": r"/[!-~]+", "sim": "//scanner"}


@dataclass(frozen=True, slots=True)
class ScannerAddress:
    """An address, taken apart and found good."""

    kind: str
    place: str
    settings: Mapping[str, str]

    @property
    def reader(self) -> ReaderSettings:
        """How codes are written."""
        of = self.settings
        codes = CodeSettings(of["prefix"], of["suffix"], cast("Plain", of["plain"]))
        return ReaderSettings(codes, int(of["double_ms"]))

    @property
    def line(self) -> Line:
        """A serial line."""
        of = self.settings
        bits, stop = cast("Literal[7, 8]", int(of["bits"])), cast("Literal[1, 2]", int(of["stop"]))
        parity = cast('Literal["N", "E", "O"]', of["parity"][0].upper())
        return Line(self.place, int(of["baud"]), bits, parity, stop)

    @property
    def habits(self) -> Habits:
        """How a simulated scanner is."""
        return Habits(**{name: type(default)(self.settings[name]) for name, default in asdict(Habits()).items()})


@dataclass(frozen=True, slots=True)
class OpenedScanner:
    """The scanner, and the hand that scans with its twin where it is simulated."""

    scanner: Scanner
    hand: HandScanner | None

    def close(self) -> None:
        """Let the device go; may be called twice."""
        self.scanner.close()
        if self.hand:
            self.hand.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_scanner(address: str, tell: Tell, *, set_text: str | None = None) -> OpenedScanner:
    """Open what an address names; `tell` is called from the scanner's own thread.

    A scanner that is not there is told as its health, and opened when it comes. `set_text` is the set on the table, by
    its letter or two digits: tiles of others are foreign. Raises BadAddress, EvdevMissing; ValueError for no set.
    """
    parsed = parse_scanner(address)
    hand = HandScanner(parsed.habits) if parsed.kind == "sim" else None
    try:
        return OpenedScanner(Scanner(_opener(parsed, hand), tell, parsed.reader, set_text=set_text), hand)
    except Exception:
        if hand:
            hand.close()
        raise


def _opener(parsed: ScannerAddress, hand: HandScanner | None) -> OpenLine:
    def open_line(on_bytes: OnBytes, on_line: OnLine) -> SerialLine | KeyboardLine:
        if parsed.kind == "evdev":
            return KeyboardLine(parsed.place, parsed.settings["layout"], on_bytes, on_line)
        return SerialLine(Line(str(hand.plug.path)) if hand else parsed.line, on_bytes, on_line)

    return open_line


def parse_scanner(address: str) -> ScannerAddress:
    """Take an address apart. Raises BadAddress."""
    start, _, query = address.partition("?")
    kind, _, place = start.partition(":")
    if kind not in SETTINGS or not re.fullmatch(PLACES[kind], place):
        raise BadAddress(
            f"{address!r} is no address of a scanner: serial:/dev/..., evdev:/dev/input/... or sim://scanner"
        )
    known = SETTINGS[kind]
    said: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in known:
            raise BadAddress(f"{address!r}: no setting {name!r}; there are {', '.join(known)}")
        if name in said:
            raise BadAddress(f"{address!r}: {name} is said twice")
        if not re.fullmatch(known[name][1], value):
            raise BadAddress(f"{address!r}: {name} cannot be {value!r}")
        said[name] = value
    return ScannerAddress(kind, place, {name: default for name, (default, _) in known.items()} | said)
