"""The keyboards of a table. Only those named in its configuration can type; any others plugged in are reported.

A named keyboard is read here with exclusive access, so nothing typed on it reaches a console. Other keyboards reach
only the window, which ignores them: there is no list of forbidden keys that somebody could circumvent.
"""

import re
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Self

from broker.closing import Closing
from firmware.errors import BadAddress, FirmwareError
from firmware.keyboard_layouts import LAYOUTS
from firmware.ports import HotPlugged, InputDevice, KeyboardPort, OpenInput
from firmware.reports import Health, OnReport

PART: Final = "keyboard"
OTHER_PART: Final = "other_keyboard"

ADDRESS: Final = re.compile(rf"evdev:(?P<path>/[!->@-~]+)(?:\?layout=(?P<layout>{'|'.join(LAYOUTS)}))?")

KEYS: Final[Mapping[str, str]] = {"\r": "enter", "\b": "back", "\x1b": "back", "\x7f": "clear"}

SIGNS: Final = (".", "-", ":")
"""Characters of an address besides letters and digits."""

TypeKey = Callable[[str], None]
"""Callback for one key: `a`..`z`, `0`..`9`, SIGNS, `enter`, `back`, `clear`. Called from any thread."""


@dataclass(frozen=True, slots=True)
class KeyboardAddress:
    """A keyboard that may type, and its layout."""

    path: str
    layout: str


def parse_keyboard(address: str) -> KeyboardAddress:
    """Parse an address. Raises BadAddress."""
    found = ADDRESS.fullmatch(address)
    if found is None:
        raise BadAddress(f"{address!r} is no address of a keyboard: evdev:/dev/input/by-id/...-event-kbd?layout=us")
    return KeyboardAddress(found["path"], found["layout"] or "us")


def key_of(character: str) -> str | None:
    """Return the key for a character, or None if a table has no use for it."""
    letter = character.lower()
    plain = len(letter) == 1 and letter.isascii() and (letter.isalnum() or letter in SIGNS)
    return KEYS.get(character) or (letter if plain else None)


class TableKeyboards(Closing):
    """The named keyboards, connected or not, and a watch for others. `on_report` receives their health."""

    def __init__(
        self,
        addresses: Iterable[str],
        type_key: TypeKey,
        on_report: OnReport,
        *,
        also_known: Iterable[str] = (),
        open_input: OpenInput = InputDevice,
        watched: "InputFolders | None" = None,
    ) -> None:
        """Open the keyboards. `also_known`: paths of other permitted devices, such as scanners. Raises BadAddress."""
        named = [parse_keyboard(one) for one in addresses]
        self._type_key, self._on_report = type_key, on_report
        self._errors: dict[str, FirmwareError] = {}
        self._opened = ExitStack()
        for one in named:
            opener = partial(KeyboardPort, one.path, one.layout, open_input)
            self._opened.enter_context(HotPlugged(one.path, opener, self._typed, self._line_callback(one.path)))
        if named:
            known = [*(one.path for one in named), *also_known]
            self._opened.enter_context(KeyboardWatch(known, on_report, watched or InputFolders()))

    def _typed(self, content: bytes, _at: int) -> None:
        for character in content.decode("latin-1"):
            if key := key_of(character):
                self._type_key(key)

    def _line_callback(self, path: str) -> Callable[[FirmwareError | None], None]:
        def on_line(error: FirmwareError | None) -> None:
            self._errors.pop(path, None)
            if error:
                self._errors[path] = error
            worst = next(iter(self._errors.copy().values()), None)
            self._on_report(Health(PART, worst.code if worst else None, str(worst or "")))

        return on_line

    def close(self) -> None:
        """Close the devices. May be called twice."""
        self._opened.close()


TYPING_KEYS: Final = (*range(2, 12), *range(16, 26), *range(30, 39), *range(44, 51), *range(71, 84))
"""Digits, letters and the keypad: a device with one of them can type. Mice, power buttons and televisions have none."""

WORD_BITS: Final = 64

INTERVAL_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class InputFolders:
    """Where the kernel lists its input devices, and where they are opened."""

    listed: Path = Path("/sys/class/input")
    opened: Path = Path("/dev/input")

    def keyboards(self) -> dict[Path, str]:
        """Return the names of all devices that can type, by the path that opens them."""
        found: dict[Path, str] = {}
        for one in sorted(self.listed.glob("event*")):
            with suppress(OSError, ValueError):  # unplugged meanwhile
                if can_type((one / "device/capabilities/key").read_text(encoding="ascii")):
                    name = (one / "device/name").read_text(encoding="utf-8", errors="replace").strip()
                    found[self.opened / one.name] = name
        return found


def can_type(capabilities: str) -> bool:
    """Return whether a device has keys that type, from its sysfs capabilities: words in hex, the highest first."""
    keys = 0
    for word in capabilities.split():
        keys = keys << WORD_BITS | int(word, 16)
    return any(keys >> key & 1 for key in TYPING_KEYS)


class KeyboardWatch:
    """Reports unnamed keyboards when they are plugged in and when they are removed. A context manager."""

    def __init__(self, known: Iterable[str], on_report: OnReport, folders: InputFolders) -> None:
        self._known, self._on_report, self._folders = [*known], on_report, folders
        self._reported: tuple[str, ...] = ()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keyboards", daemon=True)

    def check(self) -> None:
        """Look for keyboards and report any change."""
        known = {Path(one).resolve() for one in self._known}
        unknown = tuple(name for path, name in self._folders.keyboards().items() if path.resolve() not in known)
        if unknown == self._reported:
            return
        self._reported = unknown
        code = "unknown_keyboard" if unknown else None
        names = ", ".join(name.encode("ascii", "replace").decode() for name in unknown)
        self._on_report(Health(OTHER_PART, code, names))

    def _run(self) -> None:
        while not self._stopped.is_set():
            self.check()
            self._stopped.wait(INTERVAL_S)

    def __enter__(self) -> Self:
        """Start watching."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop watching."""
        self._stopped.set()
        self._thread.join()
