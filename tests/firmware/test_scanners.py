"""Scanners by address, their reports, and the examples in docs/scanners.md."""

import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import Queue
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.errors import BadAddress
from firmware.ports import IDLE_S, RETRY_S, SerialSettings
from firmware.reports import Health, NotScanned, Report, Scanned
from firmware.scan_reader import CodeSettings, ReaderSettings, ScannedTile, parse_tile_code
from firmware.scanners import SCANNER_SETTINGS, Scanner, open_scanner, parse_scanner
from firmware.sim.cable import Plug
from firmware.sim.scanner import TERMINATORS, ScannerHabits, SimulatedScanner
from tests.firmware.scanner_noise import ALPHABETS, noise
from tests.patience import PATIENCE_S

PROMISED_S: Final = 2

SIM: Final = "sim://scanner?double_ms=0"


class Bench:
    """A scanner and its reports."""

    def __init__(self, address: str) -> None:
        self.told = Queue[Report]()
        self.opened: Scanner = open_scanner(address, self.told.put)

    @property
    def hand(self) -> SimulatedScanner:
        assert self.opened.simulated is not None
        return self.opened.simulated

    def next(self) -> tuple[object, ...]:
        """Return the next report in short form."""
        match self.told.get(timeout=PATIENCE_S):
            case Scanned(serial, set_text, _):
                return serial, set_text
            case NotScanned(code, text, _):
                return code, text
            case Health(part, code, _):
                return part, code
            case other:
                raise AssertionError(other)

    def until(self, *last: object) -> list[tuple[object, ...]]:
        """Return the reports before this one."""
        return list(iter(self.next, last))


def benches(address: str) -> Iterator[Bench]:
    bench = Bench(address)
    with bench.opened:
        assert bench.next() == ("scanner", None)
        yield bench


@pytest.fixture
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    yield from benches(getattr(request, "param", SIM))


def address(**habits: object) -> str:
    return SIM + "".join(f"&{name}={value}" for name, value in habits.items())


@pytest.mark.parametrize(
    "bench",
    [address(terminator=name, stx=stx) for name in sorted({*TERMINATORS} - {"none"}) for stx in (0, 1)],
    indirect=True,
)
def test_a_scan_is_reported_with_every_common_terminator(bench: Bench) -> None:
    bench.hand.scan("HM1-08-117")
    assert bench.next() == (117, "08")


@pytest.mark.parametrize(
    "bench", [address(piece=1), address(piece=4, delay_ms=1), address(before="%5Dd1")], indirect=True
)
def test_a_scan_in_pieces_or_with_an_aim_identifier_is_one_scan(bench: Bench) -> None:
    bench.hand.scan("HM1-08-117")
    assert bench.next() == (117, "08")
    bench.hand.scan("HM1-08-118")
    assert bench.next() == (118, "08")


@pytest.mark.parametrize("bench", ["sim://scanner?repeats=4"], indirect=True)
def test_a_repeatedly_read_code_is_one_scan(bench: Bench) -> None:
    bench.hand.scan("HM1-08-117")
    bench.hand.scan("HM1-08-118")
    assert [bench.next(), bench.next()] == [(117, "08"), (118, "08")]


@pytest.mark.parametrize("bench", [address(garbage=100)], indirect=True)
def test_a_scan_after_noise_on_the_same_line_is_not_a_tile(bench: Bench) -> None:
    bench.hand.scan("HM1-08-117")
    code, _ = bench.next()
    assert code == "scan_garbled"


@pytest.mark.parametrize("bench", [address(terminator="none")], indirect=True)
def test_a_scanner_without_terminator_is_reported(bench: Bench) -> None:
    bench.hand.scan("HM1-08-117")
    assert bench.next() == ("scan_cut", "HM1-08-117")


@pytest.mark.parametrize("bench", [address(encoding="utf-16-le"), address(encoding="cp037")], indirect=True)
def test_a_scanner_with_a_wrong_encoding_is_reported(bench: Bench) -> None:
    bench.hand.scan("HM1-08-117")
    assert bench.next()[0] == "scan_wrong_encoding"


def test_a_scanner_that_is_unplugged_and_plugged_in_scans_again(bench: Bench) -> None:
    for serial in (1, 2, 3):
        bench.hand.plug.pull()
        assert bench.next() == ("scanner", "device_unplugged")
        bench.hand.plug.put_in()
        assert bench.next() == ("scanner", None)
        bench.hand.scan(f"HM1-08-{serial:03d}")
        assert bench.next() == (serial, "08")


def test_a_healthy_scanner_reads_the_shortest_code_at_once(bench: Bench) -> None:
    bench.hand.scan("7")
    assert bench.next() == (7, None)


def test_noise_scans_nothing_and_the_next_scan_is_read(bench: Bench) -> None:
    bench.hand.send(noise(ALPHABETS["bytes"], 50_000, Random(3)) + b"\r")
    bench.hand.scan("HM1-08-117")
    told = bench.until(117, "08")
    assert told[0][0] == "scan_garbled"
    assert [report for report in told if isinstance(report[0], int)] == []


@pytest.mark.parametrize("sent", [1, 7, 8, 9, 10])
def test_unplugging_during_a_scan_never_gives_a_tile(bench: Bench, sent: int) -> None:
    frame = bench.hand.frame("HM1-08-117")
    bench.hand.send(frame[:sent])
    bench.hand.plug.pull()
    before = bench.until("scanner", "device_unplugged")  # the kernel may lose the end of the bytes sent
    assert before in [[], *([("scan_cut", "HM1-08-117"[:length])] for length in range(2, 11))]
    bench.hand.plug.put_in()
    assert bench.until("scanner", None) == []
    bench.hand.scan("HM1-08-118")
    assert bench.next() == (118, "08")


def test_a_scanner_that_is_plugged_in_later_works(tmp_path: Path) -> None:
    with Plug(tmp_path / "later") as plug:
        plug.pull()
        bench = Bench(f"serial:{plug.path}?baud=115200&bits=7&parity=even&stop=2")
        with bench.opened:
            assert bench.next() == ("scanner", "device_missing")
            plug.put_in()
            assert bench.next() == ("scanner", None)
            plug.send(b"HM1-08-117\r")
            assert bench.next() == (117, "08")


def test_unplugging_and_return_are_noticed_within_two_seconds() -> None:
    # Not measured: nothing waits for longer than one idle wait and one pause between attempts.
    assert IDLE_S + RETRY_S < PROMISED_S


@pytest.mark.parametrize("bench", [address(away_every=2, away_ms=1)], indirect=True)
def test_a_simulated_scanner_can_be_unplugged_repeatedly(bench: Bench) -> None:
    bench.hand.scan("HM1-08-001")
    assert bench.next() == (1, "08")
    bench.hand.scan("HM1-08-002")
    bench.until("scanner", None)
    bench.hand.scan("HM1-08-003")
    assert bench.next() == (3, "08")


def test_a_closed_scanner_leaves_nothing_behind() -> None:
    bench = Bench(SIM)
    path = bench.hand.plug.path
    bench.opened.close()
    bench.opened.close()
    assert not path.parent.exists()
    assert [thread.name for thread in threading.enumerate() if str(path) in thread.name] == []


BY_ID = "/dev/serial/by-id/usb-Zebra_DS2208_24053-if00"


def test_the_default_settings_are_a_scanners_factory_settings() -> None:
    parsed = parse_scanner(f"serial:{BY_ID}")
    assert (parsed.line, parsed.reader) == (
        SerialSettings(BY_ID, 9600, 8, "N", 1),
        ReaderSettings(CodeSettings("", "", "any"), 1000),
    )


def test_the_settings_of_a_serial_scanner_are_applied() -> None:
    parsed = parse_scanner(
        f"serial:{BY_ID}?baud=115200&bits=7&parity=even&stop=2&prefix=%5BT&suffix=%2B&plain=three&double_ms=250"
    )
    assert parsed.line == SerialSettings(BY_ID, 115200, 7, "E", 2)
    assert parsed.reader == ReaderSettings(CodeSettings("[T", "+", "three"), 250)


def test_a_scanner_that_types_has_a_keyboard_layout() -> None:
    address = "evdev:/dev/input/by-id/usb-Scanner-event-kbd"
    assert [parse_scanner(address + more).settings["layout"] for more in ("", "?layout=fr")] == ["us", "fr"]


def test_the_settings_of_a_simulated_scanner_are_applied() -> None:
    assert parse_scanner("sim://scanner").habits == ScannerHabits()
    assert parse_scanner("sim://scanner?terminator=etx&stx=1&garbage=5&before=%5Dd1").habits == ScannerHabits(
        terminator="etx", stx=1, garbage=5, before="]d1"
    )


@pytest.mark.parametrize("kind", sorted(SCANNER_SETTINGS))
def test_defaults_may_be_given_explicitly(kind: str) -> None:
    place = "//scanner" if kind == "sim" else "/dev/x"
    said = "&".join(f"{name}={one.default}" for name, one in SCANNER_SETTINGS[kind].items())
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
def test_invalid_scanner_addresses_are_refused(address: str) -> None:
    with pytest.raises(BadAddress):
        parse_scanner(address)


def test_an_unknown_setting_is_refused_with_a_list_of_the_known_ones() -> None:
    with pytest.raises(BadAddress, match="no setting 'speed'; there are prefix, suffix, plain, double_ms, baud"):
        parse_scanner("serial:/dev/ttyUSB0?speed=9600")


def test_a_setting_that_is_given_twice_is_refused() -> None:
    with pytest.raises(BadAddress, match="baud is given twice"):
        parse_scanner("serial:/dev/ttyUSB0?baud=9600&baud=19200")


@given(st.text(max_size=60) | st.from_regex(r"(serial|evdev|sim):/?/?[a-z/]*\?([a-z_]*=[a-z0-9%]*&?)*"))
def test_any_text_is_a_valid_address_or_refused(address: str) -> None:
    with suppress(BadAddress):
        parse_scanner(address)


ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "scanners.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("address", re.findall(r'^scanner = "(.*)"$', PAGE, re.MULTILINE))
def test_the_example_on_the_page_is_a_valid_address(address: str) -> None:
    assert parse_scanner(address).kind == "serial"


def test_codes_recommended_for_printing_are_read() -> None:
    table = PAGE.partition("## What to print")[2].partition("##")[0]
    rows = re.findall(r"^\| (`[^|]*`) \|", table, re.MULTILINE)
    codes = [code for row in rows for code in re.findall(r"`(.*?)`", row)]
    assert codes == ["HM1-08-117", "HM08117", "08117", "C117", "117", "007", "7"]
    assert [code for code in codes if not isinstance(parse_tile_code(code, CodeSettings()), ScannedTile)] == []
