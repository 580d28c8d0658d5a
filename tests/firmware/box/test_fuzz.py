"""Garbage on either port: no crash, no invented press, no growing memory. The benchmark uses a million bytes."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from firmware.box.codec import LONGEST_FRAME
from firmware.reports import SEATS, Health, Pressed, Released
from firmware.sim.cable import LineFaults, LineNoise
from tests.examples import COSTLY
from tests.firmware.box.fuzz import garbage
from tests.firmware.box.world import MILLISECOND, World, good
from tests.firmware.micropython.process import MicroPython

BYTES = 60_000

IN_USE = 48 * 1024
"""Limit for the memory in use, in bytes, of the 192 KB that a Pico's program has."""


def test_garbage_on_the_tables_port_reports_nothing_and_stops_nothing() -> None:
    world = World()
    world.settle()
    for piece in garbage(BYTES, seed=1):
        world._take(world.link.received(piece, world.now))
        assert len(world.link._splitter._buffer) <= LONGEST_FRAME
    assert world.reports == []
    world.link.received(b"\n", world.now)
    world.press("east")
    world.run(200)
    assert [type(report) for report in world.reports] == [Pressed, Released]


def test_garbage_on_the_boxs_port_stops_nothing_and_lights_no_lamp() -> None:
    world = World()
    world.settle()
    for piece in garbage(BYTES, seed=2):
        world.box.turn(piece)
        while world.box.incoming:  # type: ignore[attr-defined] # the Pico of CPython
            world.box.turn()
    assert world.box.lamps() == [0, 0, 0, 0]
    world.box.turn(b"\n")
    world.press("west")
    world.run(500)
    assert [type(report) for report in world.told(Pressed, Released)] == [Pressed, Released]


def test_garbage_does_not_fill_the_boxs_memory_in_micropython(flashed: Path) -> None:
    """Send three times as many bytes as may be in use. Usage goes up and down as MicroPython collects garbage.

    It runs in its own process, because a shared one holds other tests' boxes too.
    """
    now = iter(range(0, 1 << 30, 1000))
    with MicroPython(flashed) as micropython:
        box = micropython.start(lambda: next(now), 99)
        for piece in garbage(3 * IN_USE, seed=3):
            for at in range(0, len(piece), 64):
                box.turn(piece[at : at + 64])
            assert micropython.ask("memory") < IN_USE


faults = st.builds(
    LineFaults,
    delay_ms=st.integers(0, 20),
    lost=st.integers(0, 8),
    garbled=st.integers(0, 8),
    garbage=st.integers(0, 300),
    reordered=st.integers(0, 200),
)
presses = st.lists(st.tuples(st.sampled_from(SEATS), st.integers(4, 200), st.integers(50, 400)), min_size=1, max_size=6)


@COSTLY
@given(faults, st.integers(0, 2**16), presses)
def test_each_press_is_reported_once_and_in_order_over_any_bad_line(
    bad: LineFaults, seed: int, pressed: list[tuple[str, int, int]]
) -> None:
    world = World(ppm=seed % 200 - 100)
    world.settle()
    world.to_table, world.to_box = LineNoise(bad, seed).carry, LineNoise(bad, seed + 1).carry
    for seat, held_ms, rest_ms in pressed:
        world.press(seat, held_ms)  # type: ignore[arg-type] # a seat by its name
        world.run(rest_ms)
    world.to_table = world.to_box = good
    world.run(1200)
    told = world.told(Pressed)
    assert [report.seat for report in told if isinstance(report, Pressed)] == [seat for seat, _, _ in pressed]
    assert len(world.told(Released)) == len(pressed)


@COSTLY
@given(
    st.integers(0, 2**16), st.lists(st.sampled_from(["press", "unplug", "plug", "reset", "table", "wait"]), max_size=10)
)
def test_no_press_is_invented_and_no_stored_press_is_lost(seed: int, happens: list[str]) -> None:
    """A box that loses power loses only the edges that were not acknowledged."""
    world, made, safe = World(), list[str](), list[str]()
    world.settle()
    for at, what in enumerate(happens):
        match what:
            case "press":
                seat = SEATS[(seed + at) % 4]
                world.press(seat, 60)
                world.run(60)
                made.append(seat)
                safe.append(seat)
            case "unplug":
                world.unplug()
            case "plug" if not world.plugged:
                world.plug()
            case "reset":
                if not world.plugged:  # presses since it was unplugged may be lost
                    safe = [report.seat for report in world.reports if isinstance(report, Pressed)]
                world.power_on()
            case "table":
                world.link.opened(world.now)
        world.run(300)
    world.plugged = True
    world._take(world.link.opened(world.now))
    world.run(2000)
    told = [report.seat for report in world.reports if isinstance(report, Pressed)]
    assert told == safe
    remaining = iter(made)
    assert all(seat in remaining for seat in told)
    assert world.reports == [] or world.told(Health)[-1:] in ([], [Health("buttons", None)])


def test_presses_a_millisecond_apart_keep_their_order_on_a_bad_line() -> None:
    """The benchmark does this a thousand times, and over a pseudo-terminal."""
    world = World(ppm=80)
    world.settle()
    noise = LineNoise(LineFaults(delay_ms=15, lost=1, garbled=1, garbage=50, reordered=50), 5)
    world.to_table = noise.carry
    expected = []
    for at in range(100):
        first, second = SEATS[at % 4], SEATS[(at + 1 + at // 4 % 3) % 4]
        world.touch(first, closed=True)
        world.run(1)
        world.touch(second, closed=True)
        world.run(40)
        world.touch(first, closed=False)
        world.touch(second, closed=False)
        world.run(80)
        expected += [first, second]
    world.to_table = good
    world.run(1500)
    told = [report for report in world.reports if isinstance(report, Pressed)]
    assert [report.seat for report in told] == expected
    assert all(0 < second.at - first.at <= 2 * MILLISECOND for first, second in zip(told[::2], told[1::2], strict=True))
