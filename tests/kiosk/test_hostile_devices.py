"""Devices at a table that send anything: no press is invented, nothing ends the program, and the screen stays."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import Queue
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.box.box import ButtonBox
from firmware.box.codec import encode_frame
from firmware.box.link import AHEAD_NS, BoxLink, limit_to_near_future
from firmware.presses import MS
from firmware.reports import Health, Held, Pressed, Report, Scanned, TooShort
from firmware.scanners import open_scanner
from firmware.sim.cable import Plug
from kiosk.table import Phase
from kiosk.table.events import ButtonPressed
from tests.firmware.box.fuzz import garbage
from tests.kiosk.standing import Standing, standing
from tests.kiosk.tables import S
from tests.patience import PATIENCE_S

RUBBISH: Final = (
    b"rm -rf / ; reboot\r",
    b"\x1b[2J\x1b]0;x\x07\x1bc\r",
    b"'; DROP TABLE happened; --\r\n",
    b"https://results.example.org/receipt/ABCDEFG\r",
    b'{"schema":1,"event":"another-cup","table":1}\r',
    b"HMP1 10.0.0.9 12345678\r",
    b"HM1-99-137\rHM1-08-000\rHM1-8-17\r",
    b"\x03\x04\x1a\x1c\x00\xff\xfe",
    bytes(range(256)) * 4,
    b"A" * 7089 + b"\r",  # as much as a QR code holds
    "１１７\r桌\r".encode(),
)


class Hostile:
    """A program in a play, with a scanner and a box on pseudo-terminals, and their reports."""

    def __init__(self, table: Standing, scanner: Plug, box: Plug) -> None:
        self.table, self.scanner, self.box = table, scanner, box
        self.reports: list[Report | TooShort] = []
        self._told: Queue[Report | TooShort] = Queue()

    def tell(self, report: Report | TooShort) -> None:
        self.table.program.report(report)
        self._told.put(report)

    def wait_for(self, wanted: Report) -> None:
        """Run the program until something was reported, so that all before it has been handled."""
        while not self.reports or self.reports[-1] != wanted:
            report = self._told.get(timeout=PATIENCE_S)
            self.reports.append(Scanned(report.serial, report.set_text, 0) if isinstance(report, Scanned) else report)
            self.table.program.step(timeout=0)
            self.table.program.view()


@contextmanager
def hostile(folder: Path, phase: Phase) -> Iterator[Hostile]:
    with ExitStack() as opened:
        table = opened.enter_context(standing(folder)).come_to(phase)
        scanner, box = Plug(folder / "scanner"), Plug(folder / "box")
        for plug in (scanner, box):
            plug.put_in()
            opened.callback(plug.close)
        made = Hostile(table, scanner, box)
        opened.enter_context(ButtonBox(str(box.path), made.tell, on_short=made.tell))
        opened.enter_context(open_scanner(f"serial:{scanner.path}", made.tell))
        made.wait_for(Health("scanner", None, ""))
        yield made


@pytest.mark.parametrize("phase", [Phase.PLAYING, Phase.CONFIRMING, Phase.DECLARED, Phase.ACCEPTING])
def test_garbage_from_scanner_and_box_presses_nothing_and_changes_no_screen(tmp_path: Path, phase: Phase) -> None:
    with hostile(tmp_path, phase) as at:
        before, happened = at.table.program.view().phase, at.table.happened()
        for serial, piece in enumerate((*RUBBISH, *garbage(60_000, seed=20)), 1):
            at.scanner.send(piece)
            at.box.send(piece)
            if serial % 20 == 0:  # otherwise the terminal runs out of room
                label = serial % 136 + 1
                at.scanner.send(b"\rHM1-08-%03d\r" % label)
                at.wait_for(Scanned(label, "08", 0))
        at.box.send(b"\n" + encode_frame("B", 99, 1))
        while not any(isinstance(one, Health) and one.code == "box_version" for one in at.reports):
            at.reports.append(at._told.get(timeout=PATIENCE_S))
        at.table.program.step(timeout=0)
        assert [one for one in at.reports if isinstance(one, Pressed | TooShort)] == []
        assert (at.table.program.view().phase, at.table.happened()) == (before, happened)
        at.table.type("c")
        assert at.table.program.state.calling


@pytest.mark.parametrize("piece", RUBBISH)
def test_a_scan_that_is_no_tile_is_refused_with_a_code_and_restores_nothing(tmp_path: Path, piece: bytes) -> None:
    with hostile(tmp_path, Phase.RESTORING) as at:
        before, happened = at.table.program.state.work, at.table.happened()
        at.scanner.send(piece)
        at.scanner.send(b"\rHM1-08-117\r")
        at.wait_for(Scanned(117, "08", 0))
        assert [one.serial for one in at.reports if isinstance(one, Scanned)] == [117]
        assert (at.table.program.state.work, at.table.happened()) == (before, happened)


numbers = st.one_of(
    st.integers(0, 5), st.integers(0, 2**33), st.integers(2**62, 2**65), st.just(10**60), st.just(10**100)
)
frames = st.one_of(
    st.builds(lambda *of: ("H", of), numbers, numbers, numbers, numbers, numbers, numbers),
    st.builds(lambda number, seat, closed, us: ("E", (7, number, seat, closed, us)), *[numbers] * 4),
    st.builds(lambda us: ("R", (0, us)), numbers),
    st.builds(lambda version: ("B", (version, 7)), st.sampled_from([1, 1, 1, 2, 10**60])),
    st.builds(lambda kind, *of: (kind, of), st.sampled_from("QLAN"), numbers, numbers),
)


def greeted(link: BoxLink, now: int, late: int = 0) -> int:
    """Let a box introduce itself correctly, with its clock known from answers that come this many ns late."""
    link.opened(now)
    link.received(encode_frame("B", 1, 7) + encode_frame("H", 7, 0, 0, 0, 0, now // 1000), now)
    while link._session is None or not link._session.clock.ready:
        now += 300 * MS
        link.received(b"", now)
        link.received(encode_frame("R", link._queries[-1], now // 1000), now + late)
    return now + late


@pytest.mark.parametrize("us", [0, 10**15, 2**63, 2**70, 10**60])
def test_a_press_dated_in_the_future_opens_no_endless_window(tmp_path: Path, us: int) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.PLAYING)
        link = BoxLink()
        table.time.now = now = greeted(link, table.time.now)
        said = encode_frame("E", 7, 0, 0, 1, us), encode_frame("H", 7, 0, 1, 0, 0, us + 100_000)
        reports = [report for frame in said for report in link.received(frame, now).reports]
        (press,) = [one for one in reports if isinstance(one, Pressed)]
        assert press.at <= now + 2 * AHEAD_NS
        for one in reports:
            table.program.report(one)
        table.pass_time(20 * S)
        assert table.phase in (Phase.DECLARED, Phase.PLAYING)


def test_a_hold_calls_even_if_a_slow_line_dates_its_press_in_the_future(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.PLAYING)
        link = BoxLink()
        now = greeted(link, table.time.now, late=100 * MS)
        edge, heard = encode_frame("E", 7, 0, 0, 1, now // 1000), 0
        for ns in (0, 4 * MS, 2001 * MS):
            table.time.now = now + ns
            beat = encode_frame("H", 7, 0, 1, 0, 0, table.time.now // 1000)
            for one in link.received(edge + beat, table.time.now).reports:
                heard += isinstance(one, Pressed | Held)
                table.program.report(one)
            table.program.step(timeout=0)
        assert (heard, table.phase) == (2, Phase.CLAIMING)
        table.pass_time(5 * S)
        assert (table.phase, table.program.state.declarations, table.program.state.calling) == (Phase.PLAYING, (), True)


@given(st.integers(0, 2**50), st.integers(1, 10**9), st.integers(1_000, 10**9))
def test_presses_dated_in_the_future_keep_their_order(now: int, ahead: int, later: int) -> None:
    first, second = (limit_to_near_future(now, now + ahead + more) for more in (0, later))
    assert first < second <= now + 2 * AHEAD_NS or second == now + ahead + later


@given(st.lists(st.tuples(frames, st.integers(0, 400)), max_size=25), st.randoms(use_true_random=False))
def test_a_forged_box_with_impossible_numbers_ends_nothing_and_presses_only_as_it_says(
    said: list[tuple[tuple[str, tuple[int, ...]], int]], chance: Random
) -> None:
    link = BoxLink()
    now = greeted(link, 100_000_000_000)
    closed = 0
    for (kind, of), wait in said:
        now += wait * MS
        whole = (link._queries[-1], *of[1:]) if kind == "R" and link._queries else of
        if kind == "E" and link._session is not None and chance.random() < 0.8:
            whole = (7, link._session._next, *of[2:])
        closed += kind in {"E", "H"}
        out = link.received(encode_frame(kind, *whole), now)
        assert len([one for one in out.reports if isinstance(one, Pressed)]) <= closed
        for one in out.reports:
            assert isinstance(one, Health) or one.at <= now + 2 * AHEAD_NS


def test_a_flood_of_frames_from_ever_new_boxes_is_drained_and_the_screen_stays(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.PLAYING)
        link, before = BoxLink(), [*table.happened()]
        link.opened(table.time.now)
        for boot in range(1, 5001):
            flood = encode_frame("H", boot, 0, 0, 15 * (boot % 2), 0, boot)
            for report in link.received(flood, table.time.now).reports:
                table.program.report(report)
        assert link._splitter._buffer == b""
        table.program.step(timeout=0)
        assert table.is_in(Phase.PLAYING)
        assert [one for one in table.happened()[len(before) :] if isinstance(one, ButtonPressed)] == []
