"""What is there is listed; what may not be used is named with what to do; wires go to the pins that a Pi has."""

import struct
from pathlib import Path

import pytest

from firmware.hardware.inventory import Board, Found
from firmware.hardware.page import lines, look
from firmware.wiring import read_wiring

PLAIN = read_wiring("east=5,south=6,west=13,north=19")


@pytest.fixture
def pi(tmp_path: Path) -> Path:
    """Lay out a Pi 5 with everything."""
    tree = tmp_path / "proc/device-tree"
    (tree / "system").mkdir(parents=True)
    (tree / "model").write_text("Raspberry Pi 5 Model B Rev 1.0\0")
    (tree / "system/linux,revision").write_bytes(struct.pack(">L", 0xD04170))
    for name in (
        "dev/gpiochip4",
        "dev/video0",
        "dev/serial/by-id/usb-Scanner-if00",
        "dev/i2c-1",
        "dev/input/by-id/usb-Wedge-event-kbd",
        "dev/input/by-id/usb-Wedge-event-mouse",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    label = tmp_path / "sys/class/video4linux/video0/name"
    label.parent.mkdir(parents=True)
    label.write_text("HD Webcam\n")
    return tmp_path


def test_a_pi_and_what_is_plugged_into_it_are_listed(pi: Path) -> None:
    seen = look(None, pi)
    assert seen.board == Board("Raspberry Pi 5 Model B Rev 1.0", "5B")
    assert seen.devices == (
        Found("pins", "/dev/gpiochip4", "gpiochip4", usable=True),
        Found("serial", "/dev/serial/by-id/usb-Scanner-if00", "usb-Scanner-if00", usable=True),
        Found("camera", "/dev/video0", "HD Webcam", usable=True),
        Found("keyboard", "/dev/input/by-id/usb-Wedge-event-kbd", "usb-Wedge", usable=True),
    )
    assert seen.troubles == ()


@pytest.mark.parametrize("broken", [None, b"", b"\0", b"\xff\xff\xff\xff"])
def test_a_machine_that_is_no_pi_is_told_as_that(tmp_path: Path, broken: bytes | None) -> None:
    if broken is not None:
        (tmp_path / "proc/device-tree/system").mkdir(parents=True)
        (tmp_path / "proc/device-tree/model").write_bytes(broken)
    assert look(None, tmp_path).board == Board("no Raspberry Pi", None)


def test_what_may_not_be_used_is_named_with_what_to_do(pi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, _: "video" in str(path))
    assert [(one.code, one.text) for one in look(None, pi).troubles] == [
        ("device_forbidden", "/dev/gpiochip4: sudo adduser $USER gpio, and log in again"),
        ("device_forbidden", "/dev/serial/by-id/usb-Scanner-if00: sudo adduser $USER dialout, and log in again"),
        ("device_forbidden", "/dev/input/by-id/usb-Wedge-event-kbd: sudo adduser $USER input, and log in again"),
    ]


def test_wires_are_listed_with_their_pin_and_the_ground_beside(pi: Path) -> None:
    seen = look(read_wiring("east=5+20/17,south=6,west=13,north=10"), pi)
    assert [(wire.seat, wire.what, wire.gpio, wire.position, wire.ground, wire.also) for wire in seen.wires] == [
        ("east", "button", 5, 29, 30, ""),
        ("east", "second contact", 20, 38, 39, ""),
        ("east", "lamp", 17, 11, 9, ""),
        ("south", "button", 6, 31, 30, ""),
        ("west", "button", 13, 33, 34, ""),
        ("north", "button", 10, 19, 20, "SPI"),
    ]


def test_pins_that_belong_to_something_else_here_are_troubles(pi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firmware.hardware.page.find_spec", lambda _: object())
    assert look(PLAIN, pi).troubles == ()
    (trouble,) = look(read_wiring("east=2,south=6,west=13,north=19"), pi).troubles
    assert trouble.code == "pin_in_use"
    assert trouble.text.startswith("GPIO2 belongs to I2C here")


def test_a_pi_without_lgpio_is_told_what_to_install(pi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firmware.hardware.page.find_spec", lambda _: None)
    (trouble,) = look(PLAIN, pi).troubles
    assert (trouble.code, "make setup" in trouble.text) == ("device_missing", True)


def test_pins_without_a_pi_are_a_trouble(tmp_path: Path) -> None:
    assert [one.code for one in look(PLAIN, tmp_path).troubles] == ["device_missing"]


def test_the_text_says_everything_that_the_object_says(pi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    seen = look(PLAIN, pi)
    text = "\n".join(lines(seen))
    told = [seen.board.name, *(one.path for one in seen.devices), *(f"GPIO{one.gpio}" for one in seen.wires)]
    told += [one.text for one in seen.troubles]
    assert [one for one in told if one not in text] == []
