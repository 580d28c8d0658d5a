"""Only named keyboards can type, and only a table's keys; other keyboards are reported."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.errors import BadAddress
from firmware.keyboard_layouts import LAYOUTS, KeyTranslator
from firmware.keyboards import (
    OTHER_PART,
    PART,
    InputFolders,
    KeyboardWatch,
    TableKeyboards,
    can_type,
    key_of,
    parse_keyboard,
)
from firmware.ports import EV_KEY, EVENT
from firmware.reports import Health, Report
from tests.firmware.strokes import key_strokes
from tests.firmware.test_ports import FakeDevice
from tests.patience import PATIENCE_S

BY_ID: Final = "/dev/input/by-id/usb-Maker_Keyboard-event-kbd"
ALPHABET: Final = {*"abcdefghijklmnopqrstuvwxyz0123456789.-:", "enter", "back", "clear"}
BACKSPACE, ESCAPE, DELETE, F2 = 14, 1, 111, 60

CAN_TYPE: Final = (
    "1000000000007 ff9f207ac14057ff febeffdfffefffff fffffffffffffffe",
    "e080ffdf01cfffff fffffffffffffffe",
    "4",  # a keyboard with one digit
)
CANNOT: Final = (
    "1f0000 0 0 0 0",  # a mouse
    "10000000000000 0",  # a power button
    "8000 10000000000000 0",
    "ffffc000000000 3ff 0 400000320fc200 40830c900000000 0 210300 49d2c040ec00 1e378000000000 8010000010000000",  # HDMI
    "0",
)


@pytest.mark.parametrize(("keys", "types"), [*((one, True) for one in CAN_TYPE), *((one, False) for one in CANNOT)])
def test_devices_with_letters_or_digits_can_type(*, keys: str, types: bool) -> None:
    assert can_type(keys) is types


class Plugged:
    """Input devices as the kernel lists them."""

    def __init__(self, folder: Path) -> None:
        self.folders = InputFolders(folder / "listed", folder / "dev")
        (folder / "listed").mkdir()
        (folder / "dev" / "by-id").mkdir(parents=True)

    def plug_in(self, number: int, name: str, keys: str, by_id: str = "") -> Path:
        about = self.folders.listed / f"event{number}" / "device"
        (about / "capabilities").mkdir(parents=True)
        (about / "capabilities" / "key").write_text(f"{keys}\n", encoding="ascii")
        (about / "name").write_bytes(f"{name}\n".encode("latin-1"))
        device = self.folders.opened / f"event{number}"
        os.mkfifo(device)
        if by_id:
            (self.folders.opened / "by-id" / by_id).symlink_to(device)
        return device

    def pull(self, number: int) -> None:
        (self.folders.listed / f"event{number}" / "device" / "capabilities" / "key").unlink()
        (self.folders.opened / f"event{number}").unlink()


@pytest.fixture
def plugged(tmp_path: Path) -> Plugged:
    made = Plugged(tmp_path)
    made.plug_in(0, "pwr_button", CANNOT[1])
    made.plug_in(1, "A keyboard of the table", CAN_TYPE[0], "usb-Table-event-kbd")
    return made


def test_an_unnamed_keyboard_is_reported_once_and_so_is_its_removal(plugged: Plugged) -> None:
    told: list[Report] = []
    named = str(plugged.folders.opened / "by-id" / "usb-Table-event-kbd")
    watch = KeyboardWatch([named], told.append, plugged.folders)
    watch.check()
    assert told == []
    plugged.plug_in(2, "Mouse", CANNOT[0])
    plugged.plug_in(3, "Clavier \xe9tranger\x1b[2J", CAN_TYPE[1])
    watch.check()
    watch.check()
    assert told == [Health(OTHER_PART, "unknown_keyboard", "Clavier ?tranger\x1b[2J")]
    plugged.pull(3)
    watch.check()
    assert told[1:] == [Health(OTHER_PART, None, "")]


def test_another_device_under_a_named_path_counts_as_the_named_keyboard(plugged: Plugged) -> None:
    """Names contain the maker's serial number and can be forged: any device with the name is the table's keyboard."""
    told: list[Report] = []
    named = str(plugged.folders.opened / "by-id" / "usb-Table-event-kbd")
    plugged.pull(1)
    Path(named).unlink()
    plugged.plug_in(4, "The same again", CAN_TYPE[0], "usb-Table-event-kbd")
    watch = KeyboardWatch([named], told.append, plugged.folders)
    watch.check()
    assert told == []


@contextmanager
def typing(path: Path, keys: Queue[str]) -> Iterator[int]:
    """Yield a file descriptor that writes to a named keyboard, once it is open."""
    os.mkfifo(path)
    writer, told = os.open(path, os.O_RDWR | os.O_NONBLOCK), Queue[Report]()
    empty = InputFolders(path.parent / "none", path.parent / "none")
    with TableKeyboards([f"evdev:{path}"], keys.put, told.put, open_input=FakeDevice, watched=empty):
        assert told.get(timeout=PATIENCE_S) == Health(PART, None, "")
        yield writer
    os.close(writer)


def press(writer: int, *keys: int) -> None:
    for key in keys:
        os.write(writer, EVENT.pack(0, 0, EV_KEY, key, 1) + EVENT.pack(0, 0, EV_KEY, key, 0))


def test_a_named_keyboard_types_only_a_tables_keys(tmp_path: Path) -> None:
    keys: Queue[str] = Queue()
    with typing(tmp_path / "kbd", keys) as writer:
        for key, value in key_strokes("D1;$8.\r", "us"):
            os.write(writer, EVENT.pack(0, 0, EV_KEY, key, value))
        press(writer, F2, BACKSPACE, ESCAPE, DELETE)
        wanted = ["d", "1", "8", ".", "enter", "back", "back", "clear"]
        assert [keys.get(timeout=PATIENCE_S) for _ in wanted] == wanted
    assert keys.empty()


@given(st.lists(st.tuples(st.integers(0, 0x2FF), st.integers(0, 2))), st.sampled_from(sorted(LAYOUTS)))
def test_any_events_give_only_a_tables_keys(events: list[tuple[int, int]], layout: str) -> None:
    translator = KeyTranslator(LAYOUTS[layout])
    characters = "".join(translator.take(key, value) for key, value in events)
    assert {key for one in characters if (key := key_of(one))} <= ALPHABET


def test_a_missing_named_keyboard_is_reported(tmp_path: Path) -> None:
    told: Queue[Report] = Queue()
    empty = InputFolders(tmp_path / "none", tmp_path / "none")
    with TableKeyboards([f"evdev:{tmp_path / 'kbd'}"], print, told.put, open_input=FakeDevice, watched=empty):
        health = told.get(timeout=PATIENCE_S)
        assert isinstance(health, Health)
        assert (health.part, health.code) == (PART, "device_missing")


def test_without_named_keyboards_nothing_is_watched(plugged: Plugged) -> None:
    told: list[Report] = []
    plugged.plug_in(3, "Another", CAN_TYPE[0])
    TableKeyboards((), print, told.append, watched=plugged.folders).close()
    assert told == []


def test_an_address_has_a_path_and_a_layout() -> None:
    assert [(one.path, one.layout) for one in map(parse_keyboard, (f"evdev:{BY_ID}", f"evdev:{BY_ID}?layout=fr"))] == [
        (BY_ID, "us"),
        (BY_ID, "fr"),
    ]


@pytest.mark.parametrize("address", ["", "evdev:", "evdev:event3", "serial:/dev/ttyACM0", f"evdev:{BY_ID}?layout=de"])
def test_an_invalid_address_is_refused(address: str) -> None:
    with pytest.raises(BadAddress):
        parse_keyboard(address)
