"""Buttons on the pins of a Pi: from the kernel's edges to reports."""

import queue
import sys
import threading
import time
from collections.abc import Iterator
from itertools import accumulate

import gpiozero
import pytest
from gpiozero.pins.local import LocalPiFactory
from gpiozero.pins.mock import MockFactory, PinState
from gpiozero.pins.pi import PiPin
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from firmware.buttons import EDGE_DELAY_NS, SeatButtons, Ticker, clock_offset_ns, kernel_pins
from firmware.errors import DeviceMissing
from firmware.presses import MS, ContactLimits
from firmware.reports import Health, Held, Pressed, Released, Report, TooShort
from firmware.sim.buttons import ButtonFingers
from firmware.wiring import FULL_WIRING
from tests.firmware.fake_lgpio import Chip
from tests.firmware.simulated_table import BOOT, PLAIN, Clock, SimulatedTable, simulated_table
from tests.patience import PATIENCE_S

DOWN, UP = 0, 1


@pytest.fixture
def table() -> Iterator[SimulatedTable]:
    with simulated_table() as made:
        yield made


def test_a_press_is_reported_with_its_seat_and_the_time_of_its_edge(table: SimulatedTable) -> None:
    edge = table.clock.ns + 500 * MS
    table.drive("west", (500, DOWN), (120, UP))
    table.wait(100)
    assert table.told == [Pressed("west", edge), Released("west", edge + 120 * MS)]


def test_a_press_has_the_time_of_its_edge_however_late_that_is_delivered(table: SimulatedTable) -> None:
    edge = table.clock.ns
    table.wait(700)
    ticks = (edge - BOOT) / 1e9
    table.pin("west").deliver([(ticks, False), (ticks + 0.25, True), (ticks + 0.5, False)])
    table.wait(0)
    assert table.pressed == [("west", edge), ("west", edge + 500 * MS)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # each example clears the table first
@given(st.lists(st.integers(1, 9), max_size=9), st.integers(40, 1900), st.lists(st.integers(1, 39), max_size=9))
def test_a_bouncing_press_is_one_press(
    table: SimulatedTable, closing: list[int], held: int, opening: list[int]
) -> None:
    """An even number of bounces, so that the contact ends closed, then open."""
    table.wait(1000)
    table.told.clear()
    edge = table.clock.ns
    table.drive("south", (0, DOWN), *((min(ms, 3), at % 2 ^ UP) for at, ms in enumerate(closing[: len(closing) & ~1])))
    table.drive("south", (held, UP), *((ms, at % 2) for at, ms in enumerate(opening[: len(opening) & ~1])))
    table.wait(1000)
    assert table.pressed == [("south", edge)]


def test_two_seats_may_press_at_the_same_instant(table: SimulatedTable) -> None:
    edge = table.clock.ns
    for seat in ("north", "south"):
        table.drive(seat, (0, DOWN))
    table.wait(10)
    assert sorted(table.pressed) == [("north", edge), ("south", edge)]


def test_a_short_pulse_is_reported_only_to_the_maintainer(table: SimulatedTable) -> None:
    edge = table.clock.ns
    table.drive("east", (0, DOWN), (1, UP))
    table.wait(100)
    assert (table.told, table.short) == ([], [TooShort("east", edge, MS)])


def test_a_long_press_and_a_stuck_button_are_reported(table: SimulatedTable) -> None:
    edge = table.clock.ns
    table.drive("north", (0, DOWN))
    table.wait(31_000)
    assert table.told == [
        *(Pressed("north", edge), Held("north", edge)),
        Health("button-north", "button_stuck", "closed for 30 s"),
    ]


def test_a_button_closed_at_the_start_is_stuck_but_not_pressed() -> None:
    with simulated_table(closed=("west",)) as table:
        assert table.told == [Health("button-west", "button_stuck", "it was closed at the start")]
        table.drive("west", (500, UP))
        table.wait(100)
        assert table.told[1:] == [Health("button-west", None)]


# ---- edges that come late or never ---------------------------------------------------------------------


def test_a_press_is_not_reported_while_its_last_edge_is_undelivered(table: SimulatedTable) -> None:
    """The pin is high again, but the edge is not delivered yet: a spark, not a finger."""
    edge = table.clock.ns
    table.drive("east", (0, DOWN))
    table.pin("east")._change_state(value=True)
    table.wait(5)
    assert table.told == []
    table.pin("east").deliver([((edge - BOOT) / 1e9 + 0.001, True)])
    table.wait(50)
    assert (table.told, table.short) == ([], [TooShort("east", edge, MS)])


def test_every_late_edge_is_awaited(table: SimulatedTable) -> None:
    for _ in range(2):
        edge = table.clock.ns
        table.drive("east", (0, DOWN))
        table.pin("east")._change_state(value=True)
        table.wait(15)
        table.pin("east").deliver([((edge - BOOT) / 1e9 + 0.001, True)])
        table.wait(1000)
    assert (table.told, [short.lasted_ns for short in table.short]) == ([], [MS, MS])


def test_a_lost_edge_is_inferred(table: SimulatedTable) -> None:
    """The kernel buffers few edges; one lost at a release must not call the arbiter two seconds later."""
    edge = table.clock.ns
    table.drive("east", (0, DOWN))
    table.wait(100)
    table.pin("east")._change_state(value=True)
    table.wait(2000 + EDGE_DELAY_NS // MS)
    table.wait(100)
    assert table.told == [Pressed("east", edge), Released("east", edge + 2000 * MS - 1)]
    assert table.buttons.due() is None


late_us = st.integers(0, EDGE_DELAY_NS // 1000 - 1000)


def play_late(table: SimulatedTable, edges: list[tuple[int, bool]], late: int) -> None:
    """Move west's pin at these times (in µs), and deliver each edge `late` µs afterwards."""
    start, pin = table.clock.ns, table.pin("west")
    steps = [(at, "moves", at, level) for at, level in edges] + [(at + late, "tells", at, level) for at, level in edges]
    for when, what, at, level in sorted(steps, key=lambda step: step[:2]):
        table.wait((start + when * 1000 - table.clock.ns) / MS)
        if what == "moves":
            pin._change_state(level)
        else:
            PiPin._call_when_changed(pin, (start + at * 1000 - BOOT) / 1e9, level)
    table.wait(200)


@given(st.lists(st.tuples(st.integers(100, 2900), st.integers(25_000, 60_000)), min_size=1, max_size=6), late_us)
def test_sparks_with_late_edges_do_not_count_as_presses(sparks: list[tuple[int, int]], late: int) -> None:
    """For sparks further apart than their edges are late; otherwise a low pin does not show which spark it is."""
    times = list(accumulate((one for spark in sparks for one in spark), initial=0))[:-1]
    with simulated_table() as table:
        play_late(table, [(at, index % 2 == 1) for index, at in enumerate(times)], late)
        assert [one for one in table.told if not isinstance(one, Health)] == []


@given(st.integers(5, 500), late_us)
@example(6, 19_000)
def test_a_press_with_late_edges_has_the_time_of_its_edge(held_ms: int, late: int) -> None:
    with simulated_table() as table:
        start = table.clock.ns
        play_late(table, [(0, False), (held_ms * 1000, True)], late)
        assert table.told == [Pressed("west", start), Released("west", start + held_ms * MS)]


@given(
    st.lists(st.tuples(st.integers(5, 500), st.integers(41, 200)), min_size=1, max_size=4),
    st.lists(st.integers(0, 300), min_size=8, max_size=8),
)
@example([(30, 41)], [0, 300] * 4)
def test_every_reported_press_is_released_however_late_its_edges_are(
    presses: list[tuple[int, int]], late: list[int]
) -> None:
    """Also later than the wait for an edge: then a press may be taken for a spark, but none stays down."""
    times = list(accumulate((ms for press in presses for ms in press), initial=0))[:-1]
    told_at = list(accumulate((at + more for at, more in zip(times, late, strict=False)), max))
    with simulated_table() as table:
        start, pin = table.clock.ns, table.pin("west")
        steps = [(at, 0, index) for index, at in enumerate(times)]
        steps += [(at, 1, index) for index, at in enumerate(told_at)]
        for when, told, index in sorted(steps):
            table.wait((start - table.clock.ns) / MS + when)
            if told:
                PiPin._call_when_changed(pin, (start + times[index] * MS - BOOT) / 1e9, index % 2 == 1)
            else:
                pin._change_state(index % 2 == 1)
        table.wait(200)
        kinds = [type(one) for one in table.told if isinstance(one, Pressed | Released)]
        assert kinds == [Pressed, Released] * (len(kinds) // 2)


# ---- two contacts -----------------------------------------------------------------------------------------


def second(table: SimulatedTable, level: int) -> None:
    opens = table.wiring["east"].opens
    assert opens is not None
    table.factory.pin(opens).deliver([(table.clock.seconds(), bool(level))])


def test_an_unplugged_cable_is_reported_within_two_seconds_and_its_return_too() -> None:
    with simulated_table(FULL_WIRING) as table:
        second(table, UP)
        table.wait(999)
        assert table.told == []
        table.wait(1001)
        off = Health("button-east", "button_disconnected", "both contacts are open")
        assert table.told == [off]
        second(table, DOWN)
        assert table.told == [off, Health("button-east", None)]


def test_a_cable_unplugged_at_the_start_is_reported() -> None:
    with simulated_table(FULL_WIRING) as table:
        second(table, UP)
        with SeatButtons(
            FULL_WIRING, table.told.append, factory=MockFactory(), clock_ns=table.clock.now, ticking=False
        ) as bare:
            table.clock.ns += 1000 * MS
            bare.pass_time()
        assert {one.code for one in table.told if isinstance(one, Health)} == {"button_disconnected"}
        assert len(table.told) == 4


def test_a_short_circuit_is_reported() -> None:
    with simulated_table(FULL_WIRING) as table:
        table.drive("east", (0, DOWN))
        table.wait(1500)
        assert table.told[1:] == [Health("button-east", "button_shorted", "both contacts are closed")]


def test_a_lost_edge_of_the_second_contact_is_not_an_unplugged_cable() -> None:
    """The closing edge was lost, so the pin is read again before a fault is reported."""
    with simulated_table(FULL_WIRING) as table:
        second(table, UP)
        table.factory.pin(12)._change_state(value=False)
        table.wait(5000)
        assert (table.told, table.buttons.due()) == ([], None)


def test_a_press_with_two_contacts_is_not_a_fault() -> None:
    with simulated_table(FULL_WIRING) as table:
        edge = table.clock.ns
        second(table, UP)
        table.drive("east", (0, DOWN), (1500, UP))
        second(table, DOWN)
        table.wait(3000)
        assert table.told == [Pressed("east", edge), Released("east", edge + 1500 * MS)]


# ---- lamps, pins ------------------------------------------------------------------------------------------


def test_lamps_follow_their_settings_and_are_off_after_closing() -> None:
    with simulated_table(FULL_WIRING) as table:
        pin = table.factory.pin(17)
        table.buttons.show("east", "on")
        table.buttons.show("east", "off")
        table.buttons.show("east", "on")
        others = [table.factory.pin(other).state for other in (27, 22, 23)]
    assert [state.state for state in pin.states] == [False, True, False, True, False]
    assert others == [False] * 3


def test_setting_a_missing_lamp_has_no_effect(table: SimulatedTable) -> None:
    table.buttons.show("east", "on")
    assert {str(pin) for pin in table.factory.pins.values()} == {"GPIO5", "GPIO6", "GPIO13", "GPIO19"}


def test_closing_twice_is_harmless_and_frees_the_pins() -> None:
    with simulated_table(FULL_WIRING) as table:
        table.buttons.close()
        table.buttons.close()
        table.drive("east", (500, DOWN), (100, UP))
        table.wait(1000)
        assert table.told == []
        SeatButtons(FULL_WIRING, table.told.append, factory=table.factory).close()


def test_a_busy_pin_is_named_with_its_seat_and_the_others_are_released() -> None:
    factory = MockFactory()
    with (
        gpiozero.Button(13, pin_factory=factory),
        pytest.raises(DeviceMissing, match=r"west's button at GPIO13") as refused,
    ):
        SeatButtons(PLAIN, lambda _: None, factory=factory)
    assert refused.value.code == "device_missing"
    SeatButtons(PLAIN, lambda _: None, factory=factory).close()


@pytest.mark.parametrize("error", [PermissionError("/dev/gpiochip0"), Exception("'GPIO busy'")])
def test_pins_refused_by_the_system_raise_device_missing(error: Exception) -> None:
    class Refusing(MockFactory):  # type: ignore[misc] # gpiozero ships no types
        def pin(self, _: object) -> object:
            raise error

    with pytest.raises(DeviceMissing, match=r"east's button at GPIO5: "):
        SeatButtons(PLAIN, lambda _: None, factory=Refusing())


def test_a_busy_lamp_releases_all_pins() -> None:
    factory = MockFactory()
    with gpiozero.LED(22, pin_factory=factory), pytest.raises(DeviceMissing, match="the lamps: "):
        SeatButtons(FULL_WIRING, lambda _: None, factory=factory)
    SeatButtons(FULL_WIRING, lambda _: None, factory=factory).close()


# ---- in real time ------------------------------------------------------------------------------------------


def test_the_ticker_lets_time_pass() -> None:
    told: queue.Queue[Report] = queue.Queue()
    fingers = ButtonFingers(bounces=3, hold_s=0.2, seed=1)
    limits = ContactLimits(held_ns=100 * MS)
    with SeatButtons(fingers.wiring, told.put, factory=fingers.factory, limits=limits):
        fingers.press("west")
        seen = [told.get(timeout=PATIENCE_S) for _ in range(3)]
    assert [(type(one), getattr(one, "seat", None)) for one in seen] == [
        *((Pressed, "west"), (Held, "west"), (Released, "west"))
    ]


def test_a_blinking_lamp_keeps_its_rhythm_when_set_again() -> None:
    with simulated_table(FULL_WIRING) as table:
        table.buttons.show("east", "blink")
        thread = table.buttons._lamps._leds["east"]._blink_thread  # type: ignore[union-attr]  # gpiozero's thread, seen by nothing public
        table.buttons.show("east", "blink")
        assert table.buttons._lamps._leds["east"]._blink_thread is thread  # type: ignore[union-attr]  # gpiozero's thread, seen by nothing public
        table.buttons.show("east", "off")
        assert table.factory.pin(17).states[-1] == PinState(table.factory.pin(17).states[-1].timestamp, state=False)


PI_4, PI_5 = 0xC03111, 0xD04170


@pytest.fixture
def chip(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chip]:
    """Return a substitute chip, with a gpiozero that has not chosen its pins yet."""
    made = Chip()
    monkeypatch.setitem(sys.modules, "lgpio", made)
    monkeypatch.delitem(sys.modules, "gpiozero.pins.lgpio", raising=False)
    monkeypatch.setattr(gpiozero.Device, "pin_factory", None)
    monkeypatch.delenv("GPIOZERO_PIN_FACTORY", raising=False)
    monkeypatch.setattr(gpiozero.pins.local, "get_pi_revision", lambda: PI_5)
    yield made
    LocalPiFactory.pins.clear()
    LocalPiFactory._reservations.clear()
    sys.modules.pop("gpiozero.pins.lgpio", None)


@pytest.mark.parametrize("revision", [PI_4, PI_5])
def test_a_press_has_the_kernels_time_of_its_edge(chip: Chip, monkeypatch: pytest.MonkeyPatch, revision: int) -> None:
    monkeypatch.setattr(gpiozero.pins.local, "get_pi_revision", lambda: revision)
    clock, told = Clock(), list[Report]()
    monkeypatch.setattr(gpiozero.pins.local, "monotonic", clock.seconds)
    with SeatButtons(PLAIN, told.append, clock_ns=clock.now, ticking=False) as buttons:
        edge = clock.ns
        clock.sleep(1)
        for after_ms, level in [(0, 0), (1, 1), (2, 0), (90, 1)]:
            chip.happen(13, level, edge - BOOT + after_ms * MS)
        buttons.pass_time()
    assert told == [Pressed("west", edge), Released("west", edge + 90 * MS)]


def test_contacts_are_pulled_up_without_debouncing_and_lamps_are_outputs(chip: Chip) -> None:
    with SeatButtons(FULL_WIRING, lambda _: None, ticking=False) as buttons:
        buttons.show("east", "on")
        assert {line for line, mode in chip.modes.items() if mode == Chip.SET_PULL_UP} == {5, 6, 13, 19, 20, 21, 12, 16}
        assert {line: chip.levels[line] for line, mode in chip.modes.items() if mode == 2} == {
            17: 1,
            27: 0,
            22: 0,
            23: 0,
        }
        assert sorted(chip.heard) == [5, 6, 12, 13, 16, 19, 20, 21]
    assert (chip.heard, chip.levels[17], chip.debounced) == ({}, 0, [])


def test_closed_buttons_release_the_chip_and_can_be_opened_again(chip: Chip) -> None:
    for _ in range(2):
        with SeatButtons(FULL_WIRING, lambda _: None, ticking=False) as buttons:
            assert len(chip.chips) == 1
        buttons.close()
        assert chip.chips == []


def test_only_lgpios_pins_are_used(chip: Chip, monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(kernel_pins()).__name__ == "LGPIOFactory"
    monkeypatch.setattr(gpiozero.Device, "pin_factory", None)

    def refuse(_: int) -> int:
        raise PermissionError("can not open gpiochip")

    monkeypatch.setattr(chip, "gpiochip_open", refuse)
    with pytest.raises(DeviceMissing, match="no pins here: can not open gpiochip"):
        kernel_pins()


def test_the_clock_offset_is_that_of_the_quickest_reading() -> None:
    clock = Clock()

    class Slow:
        """A clock whose first readings are interrupted for a second each."""

        looks = 0

        def ticks(self) -> float:
            self.looks += 1
            ticks = clock.seconds()
            if self.looks < 4:
                clock.sleep(1)
            return ticks

    assert clock_offset_ns(Slow(), clock.now) == 1_000_000_000_000


class Work:
    """Work that is due at certain times; the first `deaf` calls do nothing."""

    def __init__(self, *due: int, deaf: int = 0) -> None:
        self.left, self.deaf, self.calls = [*due], deaf, 0
        self.done = threading.Event()

    def due(self) -> int | None:
        return self.left[0] if self.left else None

    def pass_time(self) -> None:
        self.calls += 1
        if self.calls > self.deaf:
            del self.left[0]
        if not self.left:
            self.done.set()


def ticking(work: Work) -> Ticker:
    return Ticker("test", work.due, work.pass_time, time.monotonic_ns)


def test_the_ticker_runs_what_is_due_and_not_before() -> None:
    due = time.monotonic_ns() + 20_000_000
    work = Work(0, due)
    ticker = ticking(work)
    ticker.start()
    assert work.done.wait(PATIENCE_S)
    assert time.monotonic_ns() >= due
    ticker.stop()
    assert work.calls == 2


def test_the_ticker_retries_what_is_still_due() -> None:
    work = Work(0, deaf=3)
    ticker = ticking(work)
    ticker.start()
    assert work.done.wait(PATIENCE_S)
    ticker.stop()
    assert work.calls == 4


def test_the_ticker_sleeps_without_timeout_while_nothing_is_due() -> None:
    assert ticking(Work())._run_due() is None


def test_rescheduling_wakes_the_ticker() -> None:
    work = Work()
    ticker = ticking(work)
    ticker.start()
    work.left.append(0)
    ticker.reschedule()
    assert work.done.wait(PATIENCE_S)
    ticker.stop()


def test_the_ticker_may_be_stopped_before_the_start_twice_and_from_itself() -> None:
    ticker = ticking(Work())
    ticker.stop()
    ticker.stop()
    own: list[Ticker] = []
    stopped = threading.Event()

    def stop() -> None:
        own[0].stop()
        stopped.set()

    own.append(Ticker("test", lambda: 0, stop, time.monotonic_ns))
    own[0].start()
    assert stopped.wait(PATIENCE_S)
    own[0]._thread.join(PATIENCE_S)
    assert not own[0]._thread.is_alive()
