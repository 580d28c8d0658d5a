"""The box on a pseudo-terminal, with pyserial, threads, and the flashed program at the other end."""

import queue
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware.box.box import ButtonBox
from firmware.pico.assembly import LAMPS
from firmware.reports import SEATS, Health, Held, Pressed, Released, Report
from firmware.sim.box import BoxSimulator
from firmware.sim.cable import LineFaults
from tests.patience import PATIENCE_S

MS = 1_000_000

WELL = Health("buttons", None)


class Table:
    """A table's end of the box, with its reports in a queue."""

    def __init__(self, twin: BoxSimulator) -> None:
        self.twin, self.told = twin, queue.Queue[Report]()
        self.box = ButtonBox(str(twin.path), self.told.put)

    def next(self) -> Report:
        """Wait for the next report."""
        return self.told.get(timeout=PATIENCE_S)

    def until(self, kind: type[Report]) -> Report:
        """Wait for a report of one kind. On a busy machine the box may seem silent in between."""
        while not isinstance(report := self.next(), kind):
            pass
        return report


@pytest.fixture
def table() -> Iterator[Table]:
    with BoxSimulator(ppm=50) as twin:
        made = Table(twin)
        with made.box:
            assert made.next() == WELL
            yield made


def test_a_press_has_the_time_of_this_machine(table: Table) -> None:
    """Within a second, as a busy machine is late. Precision is tested in simulated time and by the benchmark."""
    before = time.monotonic_ns()
    table.twin.touch("south", closed=True)
    pressed = table.until(Pressed)
    table.twin.touch("south", closed=False)
    released = table.until(Released)
    assert isinstance(pressed, Pressed)
    assert isinstance(released, Released)
    assert (pressed.seat, released.seat) == ("south", "south")
    assert abs(pressed.at - before) < 1000 * MS
    assert pressed.at < released.at


def test_presses_over_a_bad_line_arrive_once_and_in_order() -> None:
    faults = LineFaults(delay_ms=5, lost=3, garbled=3, garbage=50, reordered=50)
    with BoxSimulator(faults, seed=3) as twin:
        table = Table(twin)
        with table.box:
            expected = []
            for seat in (*SEATS, *SEATS):
                twin.touch(seat, closed=True)
                expected.append(seat)
                assert isinstance(pressed := table.until(Pressed), Pressed)
                twin.touch(seat, closed=False)
                assert isinstance(table.until(Released), Released)
                assert pressed.seat == seat
    assert table.told.empty() or not isinstance(table.told.queue[0], Pressed)


def test_an_unplugged_box_is_reported_and_delivers_its_edges_when_it_is_back(table: Table) -> None:
    table.twin.unplug()
    gone = table.next()
    assert isinstance(gone, Health)
    assert (gone.part, gone.code) == ("buttons", "device_unplugged")
    table.twin.touch("north", closed=True)
    table.twin.plug()
    assert table.next() == WELL
    assert isinstance(pressed := table.next(), Pressed)
    assert pressed.seat == "north"


def test_a_restart_of_the_box_is_reported(table: Table) -> None:
    table.twin.reset()
    assert table.next() == Health("buttons", "box_reset", "the box has restarted")
    assert table.next() == WELL


def test_a_restart_during_a_press_releases_it_and_makes_no_new_press(table: Table) -> None:
    table.twin.touch("west", closed=True)
    assert isinstance(table.next(), Pressed)
    table.twin.reset()
    assert isinstance(table.next(), Released)
    assert [table.next() for _ in range(3)] == [
        Health("buttons", "box_reset", "the box has restarted"),
        Health("button-west", "button_stuck", "it was closed at the start"),
        WELL,
    ]


def test_a_box_that_is_plugged_in_later_works(tmp_path: Path) -> None:
    told = queue.Queue[Report]()
    path = tmp_path / "box"
    with ButtonBox(str(path), told.put), BoxSimulator() as twin:
        missing = told.get(timeout=PATIENCE_S)
        assert isinstance(missing, Health)
        assert (missing.part, missing.code) == ("buttons", "device_missing")
        path.symlink_to(twin.path)
        assert told.get(timeout=PATIENCE_S) == WELL


def test_lamps_follow_and_go_out_when_the_table_closes(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    lit = queue.Queue[int | None]()
    monkeypatch.setattr(table.twin._pico.board.Pin.made[LAMPS[SEATS.index("west")]], "value", lit.put)
    table.box.show("west", "on")
    assert lit.get(timeout=PATIENCE_S) == 1
    table.box.close()
    assert lit.get(timeout=PATIENCE_S) == 0


def test_a_long_press_is_reported_as_held(table: Table) -> None:
    table.twin.touch("east", closed=True)
    pressed = table.until(Pressed)
    assert isinstance(pressed, Pressed)
    assert table.until(Held) == Held("east", pressed.at)


def test_closing_twice_is_harmless(table: Table) -> None:
    table.box.close()
    table.box.close()
    table.twin.close()
    table.twin.close()
