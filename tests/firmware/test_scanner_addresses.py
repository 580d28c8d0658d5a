"""Addresses of scanners: what may be said, what is taken where nothing is said, and what is refused."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.errors import BadAddress, EvdevMissing
from firmware.scan_codes import CodeSettings
from firmware.scan_reader import ReaderSettings
from firmware.scanner_addresses import SETTINGS, open_scanner, parse_scanner
from firmware.serial_line import Line
from firmware.twins.scanner import Habits

BY_ID = "/dev/serial/by-id/usb-Zebra_DS2208_24053-if00"


def test_a_serial_scanner_is_as_scanners_come_from_the_factory_unless_said_otherwise() -> None:
    parsed = parse_scanner(f"serial:{BY_ID}")
    assert (parsed.line, parsed.reader) == (
        Line(BY_ID, 9600, 8, "N", 1),
        ReaderSettings(CodeSettings("", "", "any"), 1000),
    )


def test_a_serial_scanners_settings_are_taken() -> None:
    parsed = parse_scanner(
        f"serial:{BY_ID}?baud=115200&bits=7&parity=even&stop=2&prefix=%5BT&suffix=%2B&plain=three&double_ms=250"
    )
    assert parsed.line == Line(BY_ID, 115200, 7, "E", 2)
    assert parsed.reader == ReaderSettings(CodeSettings("[T", "+", "three"), 250)


def test_a_scanner_that_types_has_a_layout() -> None:
    address = "evdev:/dev/input/by-id/usb-Scanner-event-kbd"
    assert [parse_scanner(address + more).settings["layout"] for more in ("", "?layout=fr")] == ["us", "fr"]


def test_a_simulated_scanner_has_habits() -> None:
    assert parse_scanner("sim://scanner").habits == Habits()
    assert parse_scanner("sim://scanner?terminator=etx&stx=1&garbage=5&before=%5Dd1").habits == Habits(
        terminator="etx", stx=1, garbage=5, before="]d1"
    )


@pytest.mark.parametrize("kind", sorted(SETTINGS))
def test_what_is_taken_where_nothing_is_said_may_also_be_said(kind: str) -> None:
    place = "//scanner" if kind == "sim" else "/dev/x"
    said = "&".join(f"{name}={usual}" for name, (usual, _) in SETTINGS[kind].items())
    assert parse_scanner(f"{kind}:{place}?{said}") == parse_scanner(f"{kind}:{place}")


@pytest.mark.parametrize(
    "address",
    [
        "",
        "scanner",
        "serial:",
        "serial:ttyUSB0",
        "serial:/dev/tty USB0",
        "serial:/dev/ttyUSB0\n",
        "serial:loop://",
        "evdev:event3",
        "sim://buttons",
        "sim:scanner",
        "sim://scanner/east",
        "usb:/dev/ttyUSB0",
        "serial:/dev/ttyUSB0?baud=9601",
        "serial:/dev/ttyUSB0?baud=",
        "serial:/dev/ttyUSB0?layout=us",
        "serial:/dev/ttyUSB0?bits=9",
        "serial:/dev/ttyUSB0?parity=mark",
        "serial:/dev/ttyUSB0?double_ms=-1",
        "serial:/dev/ttyUSB0?prefix=%C3%A9",
        "serial:/dev/ttyUSB0?prefix=01234567890123456",
        "evdev:/dev/x?layout=de",
        "sim://scanner?terminator=bel",
        "sim://scanner?garbage=many",
        "sim://scanner?prefix=%0D",
        "sim://scanner?double_ms=١",
    ],
)
def test_what_no_scanner_can_have_is_refused(address: str) -> None:
    with pytest.raises(BadAddress):
        parse_scanner(address)


def test_a_setting_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(BadAddress, match="no setting 'speed'; there are prefix, suffix, plain, double_ms, baud"):
        parse_scanner("serial:/dev/ttyUSB0?speed=9600")


def test_a_setting_that_is_said_twice_is_refused() -> None:
    with pytest.raises(BadAddress, match="baud is said twice"):
        parse_scanner("serial:/dev/ttyUSB0?baud=9600&baud=19200")


@given(st.text(max_size=60) | st.from_regex(r"(serial|evdev|sim):/?/?[a-z/]*\?([a-z_]*=[a-z0-9%]*&?)*"))
def test_whatever_is_configured_is_an_address_or_refused(address: str) -> None:
    with suppress(BadAddress):
        parse_scanner(address)


def test_a_scanner_that_types_needs_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "evdev", None)
    with pytest.raises(EvdevMissing) as refused:
        open_scanner("evdev:/dev/input/event0", lambda _report: None)
    assert refused.value.code == "evdev_missing"
