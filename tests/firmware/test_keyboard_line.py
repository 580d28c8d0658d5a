"""A scanner that types: what happens to a device whose events a test makes. No kernel's uinput is needed."""

import errno
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

import pytest

from firmware.errors import DeviceMissing, EvdevMissing, FirmwareError
from firmware.keyboard_line import EV_KEY, EV_SYN, SYN_DROPPED, KeyboardLine, evdev_opener
from firmware.twins.typist import strokes

DEADLINE_S = 60
EVENT = struct.Struct("HHi")


@dataclass
class Event:
    type: int
    code: int
    value: int


class FakeDevice:
    """What evdev's InputDevice does, on a named pipe instead of an input device."""

    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.grabbed = self.closed = False

    def grab(self) -> None:
        self.grabbed = True

    def read(self) -> Iterator[Event]:
        content = os.read(self.fd, EVENT.size * 64)
        return (Event(*fields) for fields in EVENT.iter_unpack(content))

    def close(self) -> None:
        os.close(self.fd)
        self.closed = True


class Table:
    """A keyboard that is plugged in and typed on, and what the line tells of it."""

    def __init__(self, path: Path) -> None:
        self.path, self.opened = path, list[FakeDevice]()
        self.typed, self.lines = Queue[bytes](), Queue[str | None]()
        self._writer = -1

    def plug_in(self) -> None:
        os.mkfifo(self.path)
        self._writer = os.open(self.path, os.O_RDWR | os.O_NONBLOCK)

    def pull(self) -> None:
        self.path.unlink()
        os.close(self._writer)

    def hold_on_to(self) -> None:
        """Vanish from the path only, as with a driver that ends no read."""
        self.path.unlink()

    def send(self, *events: tuple[int, int, int]) -> None:
        os.write(self._writer, b"".join(EVENT.pack(*event) for event in events))

    def type(self, text: str, layout: str = "us") -> None:
        for key, value in strokes(text, layout):
            self.send((EV_KEY, key, value), (EV_SYN, 0, 0))

    def open(self, path: str) -> FakeDevice:
        self.opened.append(FakeDevice(path))
        return self.opened[-1]

    def on_bytes(self, content: bytes, _at: int) -> None:
        for byte in content:
            self.typed.put(bytes([byte]))

    def on_line(self, error: FirmwareError | None) -> None:
        self.lines.put(error.code if error else None)

    def next_line(self) -> str | None:
        return self.lines.get(timeout=DEADLINE_S)

    def next_typed(self, length: int) -> bytes:
        return b"".join(self.typed.get(timeout=DEADLINE_S) for _ in range(length))

    def line(self, layout: str = "us") -> KeyboardLine:
        return KeyboardLine(str(self.path), layout, self.on_bytes, self.on_line, open_input=self.open)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made = Table(tmp_path / "event-kbd")
    made.plug_in()
    return made


@pytest.mark.parametrize("layout", ["us", "fr"])
def test_what_is_typed_is_read_in_the_layout_of_the_address(table: Table, layout: str) -> None:
    with table.line(layout):
        assert table.next_line() is None
        table.type("HM1-08-117\r", layout)
        assert table.next_typed(11) == b"HM1-08-117\r"


def test_the_keyboard_is_ours_alone(table: Table) -> None:
    with table.line():
        table.next_line()
        assert [device.grabbed for device in table.opened] == [True]


def test_a_keyboard_that_somebody_else_has_grabbed_is_in_use_and_not_kept_open(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_device: FakeDevice) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(FakeDevice, "grab", refuse)
    with table.line():
        assert table.next_line() == "device_in_use"
        assert table.opened[0].closed


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM])
def test_a_keyboard_that_we_may_not_open_says_so(table: Table, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(_path: str) -> FakeDevice:
        raise OSError(number, "not permitted")

    monkeypatch.setattr(table, "open", refuse)
    with table.line():
        assert table.next_line() == "device_forbidden"


def test_a_keyboard_that_is_pulled_says_so_and_types_again_when_it_is_back(table: Table) -> None:
    with table.line():
        assert table.next_line() is None
        table.pull()
        assert table.next_line() == "device_unplugged"
        table.plug_in()
        assert table.next_line() is None
        table.type("117\r")
        assert table.next_typed(4) == b"117\r"


def test_a_path_that_leads_nowhere_is_a_pulled_keyboard(table: Table) -> None:
    with table.line():
        table.next_line()
        table.hold_on_to()
        assert table.next_line() == "device_unplugged"


def test_shift_that_was_held_when_it_was_pulled_is_not_held_when_it_is_back(table: Table) -> None:
    with table.line():
        table.next_line()
        table.send((EV_KEY, 42, 1))
        table.pull()
        table.next_line()
        table.plug_in()
        table.next_line()
        table.type("1")
        assert table.next_typed(1) == b"1"


def test_events_that_the_kernel_had_no_room_for_make_the_line_unreadable(table: Table) -> None:
    with table.line():
        table.next_line()
        table.send((EV_SYN, SYN_DROPPED, 0), (EV_KEY, 2, 1))
        assert table.next_typed(2) == b"\x1a1"


def test_a_keyboard_takes_nothing(table: Table) -> None:
    with table.line() as line:
        table.next_line()
        with pytest.raises(DeviceMissing, match="takes no 1 bytes"):
            line.write(b"x")


def test_a_closed_line_has_let_the_keyboard_go_at_once(table: Table) -> None:
    line = table.line()
    table.next_line()
    line.close()
    line.close()
    assert table.opened[0].closed


def test_without_the_library_a_scanner_that_types_says_which_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "evdev", None)
    with pytest.raises(EvdevMissing, match="Python package evdev"):
        evdev_opener()
