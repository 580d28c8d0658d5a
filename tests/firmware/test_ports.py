"""Devices that stay open: serial lines on pseudo-terminals, and simulated keyboards."""

import errno
import fcntl
import os
import select
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from queue import Queue

import pytest

from firmware.errors import DeviceMissing, FirmwareError
from firmware.ports import (
    CHUNK,
    EV_KEY,
    EV_SYN,
    EVENT,
    SYN_DROPPED,
    HotPlugged,
    InputDevice,
    KeyboardPort,
    OnBytes,
    OnLine,
    SerialPort,
    SerialSettings,
)
from firmware.sim.cable import Plug
from tests.firmware.strokes import key_strokes
from tests.patience import PATIENCE_S


class Ear:
    """The recorded callbacks of a line."""

    def __init__(self) -> None:
        self.bytes, self.lines = Queue[tuple[bytes, int]](), Queue[str | None]()

    def on_bytes(self, content: bytes, at: int) -> None:
        """Record bytes, without the idle calls."""
        if content:
            self.bytes.put((content, at))

    def on_line(self, error: FirmwareError | None) -> None:
        """Record a code."""
        self.lines.put(error.code if error else None)

    def next_line(self) -> str | None:
        """Return the next code of the line."""
        return self.lines.get(timeout=PATIENCE_S)

    def hear(self, length: int) -> bytes:
        """Return the next `length` bytes."""
        content = b""
        while len(content) < length:
            content += self.bytes.get(timeout=PATIENCE_S)[0]
        return content


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture
def plug(tmp_path: Path) -> Iterator[Plug]:
    with Plug(tmp_path / "scanner") as plug:
        yield plug


def opened(
    path: Path | str, on_bytes: OnBytes, on_line: OnLine, clock_ns: Callable[[], int] = time.monotonic_ns
) -> HotPlugged:
    line = SerialSettings(str(path))
    return HotPlugged(line.path, partial(SerialPort, line), on_bytes, on_line, clock_ns=clock_ns)


def line_of(plug: Plug, ear: Ear) -> HotPlugged:
    return opened(plug.path, ear.on_bytes, ear.on_line)


@pytest.fixture
def line(plug: Plug, ear: Ear) -> Iterator[HotPlugged]:
    with line_of(plug, ear) as line:
        assert ear.next_line() is None
        yield line


@pytest.mark.usefixtures("line")
def test_bytes_from_the_device_arrive_unchanged(plug: Plug, ear: Ear) -> None:
    sent = bytes(range(256))
    plug.send(sent)
    assert ear.hear(len(sent)) == sent


def test_bytes_have_the_time_of_reading(plug: Plug, ear: Ear) -> None:
    with opened(plug.path, ear.on_bytes, ear.on_line, clock_ns=lambda: 4711):
        ear.next_line()
        plug.send(b"x")
        assert ear.bytes.get(timeout=PATIENCE_S) == (b"x", 4711)


def test_written_bytes_reach_the_device(line: HotPlugged, plug: Plug) -> None:
    line.write(b"\x00lamp\r\n\xff")
    assert plug._master is not None
    assert select.select([plug._master], [], [], PATIENCE_S)[0]
    assert os.read(plug._master, CHUNK) == b"\x00lamp\r\n\xff"


@pytest.mark.usefixtures("line")
def test_an_unplugged_line_is_reported_once_and_reads_again_later(plug: Plug, ear: Ear) -> None:
    for turn in (b"one", b"two"):
        plug.pull()
        assert ear.next_line() == "device_unplugged"
        plug.put_in()
        assert ear.next_line() is None
        plug.send(turn)
        assert ear.hear(3) == turn


@pytest.mark.usefixtures("line")
def test_a_path_to_another_device_counts_as_unplugged(plug: Plug, ear: Ear, tmp_path: Path) -> None:
    with Plug(tmp_path / "other") as other:
        plug.path.unlink()
        plug.path.symlink_to(other.path)
        assert [ear.next_line(), ear.next_line()] == ["device_unplugged", None]
        other.send(b"here")
        assert ear.hear(4) == b"here"


def test_a_device_that_is_plugged_in_later_is_opened(tmp_path: Path, ear: Ear) -> None:
    plug = Plug(tmp_path / "late")
    with line_of(plug, ear):
        assert ear.next_line() == "device_missing"
        with plug:
            assert ear.next_line() is None


def test_a_locked_device_is_reported_and_opened_once_it_is_free(plug: Plug, ear: Ear) -> None:
    other = os.open(plug.path, os.O_RDWR | os.O_NOCTTY)
    fcntl.flock(other, fcntl.LOCK_EX)
    with line_of(plug, ear):
        assert ear.next_line() == "device_in_use"
        os.close(other)
        assert ear.next_line() is None


def test_two_lines_cannot_have_one_device(line: HotPlugged, plug: Plug) -> None:
    second = Ear()
    with line_of(plug, second):
        assert second.next_line() == "device_in_use"
        line.close()
        assert second.next_line() is None


def test_a_path_that_is_no_serial_line_is_reported_as_missing(tmp_path: Path, ear: Ear) -> None:
    (tmp_path / "file").write_text("no line")
    with opened(tmp_path / "file", ear.on_bytes, ear.on_line):
        assert ear.next_line() == "device_missing"


def test_a_forbidden_device_is_reported(plug: Plug, ear: Ear, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("serial.serialposix.os.open", refuse)  # root may open everything
    with line_of(plug, ear):
        assert ear.next_line() == "device_forbidden"


def test_writing_to_an_unplugged_device_is_refused(line: HotPlugged, plug: Plug, ear: Ear) -> None:
    plug.pull()
    ear.next_line()
    with pytest.raises(DeviceMissing, match="is not open"):
        line.write(b"x")


def test_writing_to_a_blocked_device_is_refused_and_closing_still_works(line: HotPlugged, plug: Plug, ear: Ear) -> None:
    refused = 0
    for _ in range(16):
        try:
            line.write(bytes(CHUNK))
        except DeviceMissing:
            refused += 1
            break
    assert refused == 1
    line.close()
    assert ear.lines.empty()
    assert plug.is_in


def test_a_closed_line_has_released_the_device_and_calls_nobody(line: HotPlugged, plug: Plug, ear: Ear) -> None:
    line.close()
    line.close()
    fd = os.open(plug.path, os.O_RDWR | os.O_NOCTTY)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(fd)
    plug.send(b"nobody")
    assert (ear.bytes.empty(), ear.lines.empty()) == (True, True)
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("line ")] == []


def test_a_line_can_be_closed_from_its_own_callback(plug: Plug) -> None:
    closed, lines = Queue[None](), list[HotPlugged]()

    def close(_content: bytes, _at: int) -> None:
        lines[0].close()
        closed.put(None)

    lines.append(opened(plug.path, close, lambda _error: None))
    closed.get(timeout=PATIENCE_S)
    lines[0].close()


def test_a_flood_arrives_in_bounded_pieces(plug: Plug) -> None:
    lengths, ready = Queue[int](), threading.Event()
    with opened(plug.path, lambda content, _at: lengths.put(len(content)), lambda _error: ready.set()):
        assert ready.wait(PATIENCE_S)
        for _ in range(64):
            plug.send(bytes(1024))
        told = list[int]()
        while sum(told) < 64 * 1024:
            told.append(lengths.get(timeout=PATIENCE_S))
    assert (sum(told), max(told) <= CHUNK) == (64 * 1024, True)


def test_an_idle_line_still_reports_the_time(plug: Plug) -> None:
    idle = Queue[tuple[bytes, int]]()
    with opened(plug.path, lambda content, at: idle.put((content, at)), lambda _error: None):
        assert idle.get(timeout=PATIENCE_S)[0] == b""


def test_a_loop_reads_what_it_writes(ear: Ear) -> None:
    with opened("loop://", ear.on_bytes, ear.on_line) as line:
        assert ear.next_line() is None
        line.write(b"echo")
        assert ear.hear(4) == b"echo"


class FakeDevice(InputDevice):
    """An input device on a named pipe, on which the kernel allows no grab."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.grabbed = self.closed = False

    def grab(self) -> None:
        self.grabbed = True

    def close(self) -> None:
        super().close()
        self.closed = True


class Table:
    """A simulated keyboard, and the recorded callbacks of its line."""

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
        """Disappear from the path only, as with a driver that does not end a read."""
        self.path.unlink()

    def send(self, *events: tuple[int, int, int]) -> None:
        os.write(self._writer, b"".join(EVENT.pack(0, 0, *event) for event in events))

    def type(self, text: str, layout: str = "us") -> None:
        for key, value in key_strokes(text, layout):
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
        return self.lines.get(timeout=PATIENCE_S)

    def next_typed(self, length: int) -> bytes:
        return b"".join(self.typed.get(timeout=PATIENCE_S) for _ in range(length))

    def line(self, layout: str = "us") -> HotPlugged:
        opener = partial(KeyboardPort, str(self.path), layout, self.open)
        return HotPlugged(str(self.path), opener, self.on_bytes, self.on_line)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made = Table(tmp_path / "event-kbd")
    made.plug_in()
    return made


@pytest.mark.parametrize("layout", ["us", "fr"])
def test_typed_text_is_read_in_the_layout_of_the_address(table: Table, layout: str) -> None:
    with table.line(layout):
        assert table.next_line() is None
        table.type("HM1-08-117\r", layout)
        assert table.next_typed(11) == b"HM1-08-117\r"


def test_the_keyboard_is_opened_for_exclusive_use(table: Table) -> None:
    with table.line():
        table.next_line()
        assert [device.grabbed for device in table.opened] == [True]


def test_a_keyboard_grabbed_by_another_program_is_in_use_and_closed(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_device: FakeDevice) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(FakeDevice, "grab", refuse)
    with table.line():
        assert table.next_line() == "device_in_use"
        assert table.opened[0].closed


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM])
def test_a_forbidden_keyboard_is_reported(table: Table, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(_path: str) -> FakeDevice:
        raise OSError(number, "not permitted")

    monkeypatch.setattr(table, "open", refuse)
    with table.line():
        assert table.next_line() == "device_forbidden"


def test_an_unplugged_keyboard_is_reported_and_types_again_later(table: Table) -> None:
    with table.line():
        assert table.next_line() is None
        table.pull()
        assert table.next_line() == "device_unplugged"
        table.plug_in()
        assert table.next_line() is None
        table.type("117\r")
        assert table.next_typed(4) == b"117\r"


def test_a_path_that_leads_nowhere_counts_as_unplugged(table: Table) -> None:
    with table.line():
        table.next_line()
        table.hold_on_to()
        assert table.next_line() == "device_unplugged"


def test_unplugging_releases_a_held_shift_key(table: Table) -> None:
    with table.line():
        table.next_line()
        table.send((EV_KEY, 42, 1))
        table.pull()
        table.next_line()
        table.plug_in()
        table.next_line()
        table.type("1")
        assert table.next_typed(1) == b"1"


def test_events_dropped_by_the_kernel_make_the_line_unreadable(table: Table) -> None:
    with table.line():
        table.next_line()
        table.send((EV_SYN, SYN_DROPPED, 0), (EV_KEY, 2, 1))
        assert table.next_typed(2) == b"\x1a1"


def test_writing_to_a_keyboard_is_refused(table: Table) -> None:
    with table.line() as line:
        table.next_line()
        with pytest.raises(DeviceMissing, match="takes no 1 bytes"):
            line.write(b"x")


def test_closing_releases_the_keyboard_at_once(table: Table) -> None:
    line = table.line()
    table.next_line()
    line.close()
    line.close()
    assert table.opened[0].closed
