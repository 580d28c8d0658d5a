"""A scanner over a real pty, by its address: from the trigger to the report, pulled and put back at any time."""

import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from random import Random
from typing import Final

import pytest

from firmware.hot_plug import IDLE_S, RETRY_S
from firmware.reports import Health, NotScanned, Report, Scanned
from firmware.scanner_addresses import OpenedScanner, open_scanner
from firmware.twins.plug import Plug
from firmware.twins.scanner import TERMINATORS, HandScanner
from tests.firmware.noise import ALPHABETS, noise

DEADLINE_S: Final = 60

PROMISED_S: Final = 2

SIM: Final = "sim://scanner?double_ms=0"


class Bench:
    """A scanner and what it tells."""

    def __init__(self, address: str, set_text: str | None = None) -> None:
        self.told = Queue[Report]()
        self.opened: OpenedScanner = open_scanner(address, self.told.put, set_text=set_text)

    @property
    def hand(self) -> HandScanner:
        assert self.opened.hand is not None
        return self.opened.hand

    def next(self) -> tuple[object, ...]:
        """Give the next report in short."""
        match self.told.get(timeout=DEADLINE_S):
            case Scanned(serial, set_text, _):
                return serial, set_text
            case NotScanned(code, text, _):
                return code, text
            case Health(part, code, _):
                return part, code
            case other:
                raise AssertionError(other)

    def until(self, *last: object) -> list[tuple[object, ...]]:
        """Give what is told before this."""
        return list(iter(self.next, last))


def benches(address: str, set_text: str | None = None) -> Iterator[Bench]:
    bench = Bench(address, set_text)
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
def test_a_scan_is_told_whatever_common_frame_it_comes_in(bench: Bench) -> None:
    bench.hand.scan("HM1-08-117")
    assert bench.next() == (117, "08")


@pytest.mark.parametrize(
    "bench", [address(piece=1), address(piece=4, delay_ms=1), address(before="%5Dd1")], indirect=True
)
def test_a_scan_in_pieces_or_with_its_symbology_is_one_scan(bench: Bench) -> None:
    bench.hand.scan("HM1-08-117")
    assert bench.next() == (117, "08")
    bench.hand.scan("HM1-08-118")
    assert bench.next() == (118, "08")


@pytest.mark.parametrize("bench", ["sim://scanner?repeats=4"], indirect=True)
def test_a_scanner_that_reads_the_same_again_and_again_scans_once(bench: Bench) -> None:
    bench.hand.scan("HM1-08-117")
    bench.hand.scan("HM1-08-118")
    assert [bench.next(), bench.next()] == [(117, "08"), (118, "08")]


@pytest.mark.parametrize("bench", [address(garbage=100)], indirect=True)
def test_a_scan_with_noise_before_it_is_no_tile(bench: Bench) -> None:
    bench.hand.scan("HM1-08-117")
    code, _ = bench.next()
    assert code == "scan_garbled"


@pytest.mark.parametrize("bench", [address(terminator="none")], indirect=True)
def test_a_scanner_that_ends_no_line_is_told(bench: Bench) -> None:
    bench.hand.scan("HM1-08-117")
    assert bench.next() == ("scan_cut", "HM1-08-117")


@pytest.mark.parametrize("bench", [address(encoding="utf-16-le"), address(encoding="cp037")], indirect=True)
def test_a_scanner_with_another_encoding_is_told(bench: Bench) -> None:
    bench.hand.scan("HM1-08-117")
    assert bench.next()[0] == "scan_wrong_encoding"


def test_the_set_on_the_table_can_be_told_when_opening_and_later() -> None:
    for bench in benches(SIM, "08"):
        for number in ("08", "09"):
            bench.hand.scan(f"HM1-{number}-117")
        assert [bench.next(), bench.next()] == [(117, "08"), ("scan_foreign_set", "HM1-09-117")]
        bench.opened.scanner.expect("09")
        bench.hand.scan("HM1-09-117")
        assert bench.next() == (117, "09")


@pytest.mark.parametrize("set_text", ["", "8", "c", "CC", "008", "٠٨"])
def test_what_is_no_set_is_refused_and_nothing_stays_open(set_text: str) -> None:
    with pytest.raises(ValueError, match="is no set"):
        open_scanner(SIM, lambda _report: None, set_text=set_text)


def test_a_scanner_that_is_pulled_and_put_back_scans_again(bench: Bench) -> None:
    for serial in (1, 2, 3):
        bench.hand.plug.pull()
        assert bench.next() == ("scanner", "device_unplugged")
        bench.hand.plug.put_in()
        assert bench.next() == ("scanner", None)
        bench.hand.scan(f"HM1-08-{serial:03d}")
        assert bench.next() == (serial, "08")


def test_a_scanner_that_is_said_to_be_well_reads_the_shortest_code_at_once(bench: Bench) -> None:
    bench.hand.scan("7")
    assert bench.next() == (7, None)


def test_a_flood_of_noise_scans_nothing_and_the_next_scan_is_read(bench: Bench) -> None:
    bench.hand.send(noise(ALPHABETS["bytes"], 50_000, Random(3)) + b"\r")
    bench.hand.scan("HM1-08-117")
    told = bench.until(117, "08")
    assert told[0][0] == "scan_garbled"
    assert [report for report in told if isinstance(report[0], int)] == []


@pytest.mark.parametrize("sent", [1, 7, 8, 9, 10])
def test_a_scanner_that_is_pulled_in_the_middle_of_a_scan_makes_up_no_tile(bench: Bench, sent: int) -> None:
    frame = bench.hand.frame("HM1-08-117")
    bench.hand.send(frame[:sent])
    bench.hand.plug.pull()
    before = bench.until("scanner", "device_unplugged")  # the kernel may lose the end of what was sent
    assert before in [[], *([("scan_cut", "HM1-08-117"[:length])] for length in range(2, 11))]
    bench.hand.plug.put_in()
    assert bench.until("scanner", None) == []
    bench.hand.scan("HM1-08-118")
    assert bench.next() == (118, "08")


def test_a_scanner_that_is_plugged_in_later_works_then(tmp_path: Path) -> None:
    with Plug(tmp_path / "later") as plug:
        plug.pull()
        bench = Bench(f"serial:{plug.path}?baud=115200&bits=7&parity=even&stop=2")
        with bench.opened:
            assert bench.next() == ("scanner", "device_missing")
            plug.put_in()
            assert bench.next() == ("scanner", None)
            plug.send(b"HM1-08-117\r")
            assert bench.next() == (117, "08")


def test_pulling_is_noticed_and_coming_back_is_used_within_the_two_seconds_that_are_promised() -> None:
    # Without a stopwatch: nothing waits longer than one idle wait, then one pause between tries.
    assert IDLE_S + RETRY_S < PROMISED_S


@pytest.mark.parametrize("bench", [address(away_every=2, away_ms=1)], indirect=True)
def test_a_twin_can_be_one_that_is_pulled_out_now_and_then(bench: Bench) -> None:
    bench.hand.scan("HM1-08-001")
    assert bench.next() == (1, "08")
    bench.hand.scan("HM1-08-002")
    bench.until("scanner", None)
    bench.hand.scan("HM1-08-003")
    assert bench.next() == (3, "08")


def test_a_closed_scanner_leaves_nothing_behind_and_may_be_closed_again() -> None:
    bench = Bench(SIM)
    path = bench.hand.plug.path
    bench.opened.close()
    bench.opened.close()
    assert not path.parent.exists()
    assert [thread.name for thread in threading.enumerate() if str(path) in thread.name] == []
