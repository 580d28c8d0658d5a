"""A box loses no stored press and invents none, whatever happens to its cable, its line and the program."""

import random
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from broker.protocol import SEATS, Seat
from firmware.sim.box import BoxFingers, BoxSimulator
from firmware.sim.cable import LineFaults
from kiosk.table import Phase
from tests.kiosk.at_the_box import at_the_box
from tests.kiosk.tables import MS


@pytest.fixture
def box() -> Iterator[BoxSimulator]:
    with BoxSimulator() as made:
        yield made


def press(box: BoxSimulator, *seats: Seat, after_ms: int = 0) -> list[int]:
    """Press one after the other, 80 ms apart, with bounces; return the times.

    Contacts move at these times, however late a busy machine gets to them.
    """
    with box._lock:
        first = time.monotonic_ns() + after_ms * MS
        times = [first + place * 80 * MS for place in range(len(seats))]
        for seat, at in zip(seats, times, strict=True):
            BoxFingers(box, hold_s=0.06, clock_ns=partial(int, at), sleep=lambda _: None).press(seat)
    return times


PHASES = [phase for phase in Phase if phase not in (Phase.WAITING, Phase.CLAIMING, Phase.FINISHED)]


@pytest.mark.parametrize("phase", PHASES)
def test_a_box_unplugged_in_any_state_is_noticed_and_works_again_when_plugged_in(
    tmp_path: Path, box: BoxSimulator, phase: Phase
) -> None:
    with at_the_box(tmp_path, box, phase) as table:
        before = table.program.view()
        box.unplug()
        table.until(lambda: table.health is not None)
        assert table.program.view().line.health == (f"buttons: {table.health}",)
        assert table.program._server.state_message().lifecycle == "alert"
        box.plug()
        table.until_well()
        assert (table.program.view(), table.program._server.state_message().lifecycle) == (before, "ready")
        assert table.presses() == []
        if phase is Phase.PLAYING:
            press(box, "south")
            table.until_in(Phase.CLAIMING)


def test_presses_while_the_cable_was_out_are_declared_in_order(tmp_path: Path, box: BoxSimulator) -> None:
    with at_the_box(tmp_path, box) as table:
        press(box, "west")
        press(box, "north", "east", after_ms=400)
        table.until_in(Phase.CLAIMING)
        box.unplug()
        table.until(lambda: table.health is not None)
        box.plug()
        table.until_in(Phase.DECLARED)
        assert [one.seat for one in table.program.state.declarations] == ["west", "north", "east"]


def test_presses_while_the_program_was_down_are_declared_in_order(tmp_path: Path, box: BoxSimulator) -> None:
    with at_the_box(tmp_path, box) as table:
        press(box, "west")
        press(box, "north", "east", after_ms=400)
        table.until_in(Phase.CLAIMING)
    with at_the_box(tmp_path, box, None) as table:
        table.until_in(Phase.DECLARED)
        assert [one.seat for one in table.program.state.declarations] == ["west", "north", "east"]


def test_a_hold_on_the_box_calls_and_the_play_goes_on(tmp_path: Path, box: BoxSimulator) -> None:
    with at_the_box(tmp_path, box) as table:
        before = table.program.view()
        box.touch("south", closed=True)
        table.until(lambda: table.program.state.calling)
        assert (table.program.state.phase, table.program.view()) == (Phase.PLAYING, before)
        box.touch("south", closed=False)


@pytest.mark.parametrize("seed", range(3))
def test_over_a_bad_line_every_press_arrives_once_and_in_order(tmp_path: Path, seed: int) -> None:
    """The line loses, garbles and delays data, and now and then the cable comes out."""
    chance = random.Random(seed)
    order = chance.sample(SEATS, 4)
    with (
        BoxSimulator(LineFaults(delay_ms=3, lost=2, garbled=1, reordered=2), seed=seed) as box,
        at_the_box(tmp_path, box) as table,
    ):
        table.until(lambda: table.clock_slack_ns < 5 * MS)
        edges = press(box, *order)
        for place in range(len(order)):
            table.until_presses(place)
            if chance.random() < 0.5:
                box.unplug()
                box.plug()
        table.until(lambda: table.program.state.doubt is not None)  # all four have pressed
        declared = table.program.state.doubted
        assert [one.seat for one in declared] == order
        assert [press.seat for press in table.presses()] == order
        apart = [abs(one.at - edge) for one, edge in zip(declared, edges, strict=True)]
        assert max(apart) < 20 * MS
