"""The hu buttons on pins: a press is told once, at the time of its edge, whatever threads and contacts do."""

import queue
from collections.abc import Iterator
from itertools import accumulate

import gpiozero
import pytest
from gpiozero.pins.mock import MockFactory, PinState
from gpiozero.pins.pi import PiPin
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from firmware.buttons import ON_ITS_WAY_NS, SeatButtons
from firmware.contact import MS, Limits, TooShort
from firmware.errors import DeviceMissing
from firmware.reports import Health, Held, Pressed, Released, Report
from firmware.twins.fingers import Fingers
from tests.firmware.desk import BOOT, FULL, PLAIN, Desk, desk

DOWN, UP = 0, 1


@pytest.fixture
def table() -> Iterator[Desk]:
    with desk() as made:
        yield made


def test_a_press_is_told_with_its_seat_and_the_time_of_its_edge(table: Desk) -> None:
    edge = table.clock.ns + 500 * MS
    table.drive("west", (500, DOWN), (120, UP))
    table.wait(100)
    assert table.told == [Pressed("west", edge), Released("west", edge + 120 * MS)]


def test_a_press_is_timed_by_its_edge_however_late_it_reaches_us(table: Desk) -> None:
    edge = table.clock.ns
    table.wait(700)
    ticks = (edge - BOOT) / 1e9
    table.pin("west").happen([(ticks, False), (ticks + 0.25, True), (ticks + 0.5, False)])
    table.wait(0)
    assert table.pressed == [("west", edge), ("west", edge + 500 * MS)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # each example presses a fresh seat's past
@given(st.lists(st.integers(1, 9), max_size=9), st.integers(40, 1900), st.lists(st.integers(1, 39), max_size=9))
def test_however_a_contact_bounces_a_press_is_one(
    table: Desk, closing: list[int], held: int, opening: list[int]
) -> None:
    """An even number of bounces, so that the contact ends closed, then open."""
    table.wait(1000)
    table.told.clear()
    edge = table.clock.ns
    table.drive("south", (0, DOWN), *((min(ms, 3), at % 2 ^ UP) for at, ms in enumerate(closing[: len(closing) & ~1])))
    table.drive("south", (held, UP), *((ms, at % 2) for at, ms in enumerate(opening[: len(opening) & ~1])))
    table.wait(1000)
    assert table.pressed == [("south", edge)]


def test_two_seats_at_the_same_instant_are_two_presses_of_that_instant(table: Desk) -> None:
    edge = table.clock.ns
    for seat in ("north", "south"):
        table.drive(seat, (0, DOWN))
    table.wait(10)
    assert sorted(table.pressed) == [("north", edge), ("south", edge)]


def test_a_pulse_too_short_is_told_to_who_looks_after_the_wiring_and_to_nobody_else(table: Desk) -> None:
    edge = table.clock.ns
    table.drive("east", (0, DOWN), (1, UP))
    table.wait(100)
    assert (table.told, table.short) == ([], [TooShort("east", edge, MS)])


def test_a_long_press_and_a_stuck_button_are_told(table: Desk) -> None:
    edge = table.clock.ns
    table.drive("north", (0, DOWN))
    table.wait(31_000)
    assert table.told == [
        *(Pressed("north", edge), Held("north", edge)),
        Health("button-north", "button_stuck", "closed for 30 s"),
    ]


def test_a_button_that_is_down_at_the_start_is_stuck_and_no_press() -> None:
    with desk(closed=("west",)) as table:
        assert table.told == [Health("button-west", "button_stuck", "it was closed at the start")]
        table.drive("west", (500, UP))
        table.wait(100)
        assert table.told[1:] == [Health("button-west", None)]


# ---- edges that come late or never ---------------------------------------------------------------------


def test_a_press_is_not_told_while_the_edge_that_ends_it_is_on_its_way(table: Desk) -> None:
    """The pin is high again, but we have not heard of it yet: a spark, not a finger."""
    edge = table.clock.ns
    table.drive("east", (0, DOWN))
    table.pin("east")._change_state(value=True)
    table.wait(5)
    assert table.told == []
    table.pin("east").happen([((edge - BOOT) / 1e9 + 0.001, True)])
    table.wait(50)
    assert (table.told, table.short) == ([], [TooShort("east", edge, MS)])


def test_a_late_edge_is_waited_for_each_time_anew(table: Desk) -> None:
    for _ in range(2):
        edge = table.clock.ns
        table.drive("east", (0, DOWN))
        table.pin("east")._change_state(value=True)
        table.wait(15)
        table.pin("east").happen([((edge - BOOT) / 1e9 + 0.001, True)])
        table.wait(1000)
    assert (table.told, [short.lasted_ns for short in table.short]) == ([], [MS, MS])


def test_a_lost_edge_is_made_up_for(table: Desk) -> None:
    """The kernel keeps a few edges only; one lost when letting go must not call the arbiter two seconds later."""
    edge = table.clock.ns
    table.drive("east", (0, DOWN))
    table.wait(100)
    table.pin("east")._change_state(value=True)
    table.wait(2000 + ON_ITS_WAY_NS // MS)
    table.wait(100)
    assert table.told == [Pressed("east", edge), Released("east", edge + 2000 * MS - 1)]
    assert table.buttons.due() is None


late_us = st.integers(0, ON_ITS_WAY_NS // 1000 - 1000)


def play_late(table: Desk, edges: list[tuple[int, bool]], late: int) -> None:
    """Let west's pin move at these times (in µs), and tell each edge so much later."""
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
def test_sparks_whose_edges_come_late_are_no_presses(sparks: list[tuple[int, int]], late: int) -> None:
    """Where sparks are further apart than their edges are late: else a pin that is low does not say by which it is."""
    times = list(accumulate((one for spark in sparks for one in spark), initial=0))[:-1]
    with desk() as table:
        play_late(table, [(at, index % 2 == 1) for index, at in enumerate(times)], late)
        assert [one for one in table.told if not isinstance(one, Health)] == []


@given(st.integers(5, 500), late_us)
@example(6, 19_000)
def test_a_press_whose_edges_come_late_is_a_press_at_its_edge(held_ms: int, late: int) -> None:
    with desk() as table:
        start = table.clock.ns
        play_late(table, [(0, False), (held_ms * 1000, True)], late)
        assert table.told == [Pressed("west", start), Released("west", start + held_ms * MS)]


# ---- two contacts -----------------------------------------------------------------------------------------


def second(table: Desk, level: int) -> None:
    opens = table.wiring["east"].opens
    assert opens is not None
    table.factory.pin(opens).happen([(table.clock.seconds(), bool(level))])


def test_a_cable_that_is_pulled_out_is_told_within_two_seconds_and_when_it_is_back() -> None:
    with desk(FULL) as table:
        second(table, UP)
        table.wait(999)
        assert table.told == []
        table.wait(1001)
        off = Health("button-east", "button_disconnected", "both contacts are open")
        assert table.told == [off]
        second(table, DOWN)
        assert table.told == [off, Health("button-east", None)]


def test_a_button_without_its_cable_at_the_start_is_told() -> None:
    with desk(FULL) as table:
        second(table, UP)
        with SeatButtons(
            FULL, table.told.append, factory=MockFactory(), clock_ns=table.clock.now, ticking=False
        ) as bare:
            table.clock.ns += 1000 * MS
            bare.pass_time()
        assert {one.code for one in table.told if isinstance(one, Health)} == {"button_disconnected"}
        assert len(table.told) == 4


def test_wires_that_touch_are_told() -> None:
    with desk(FULL) as table:
        table.drive("east", (0, DOWN))
        table.wait(1500)
        assert table.told[1:] == [Health("button-east", "button_shorted", "both contacts are closed")]


def test_a_lost_edge_of_the_second_contact_is_no_cable_that_is_off() -> None:
    """The edge by which it closed again was lost: before a fault is told, the pin itself is asked."""
    with desk(FULL) as table:
        second(table, UP)
        table.factory.pin(12)._change_state(value=False)
        table.wait(5000)
        assert (table.told, table.buttons.due()) == ([], None)


def test_a_press_of_a_button_with_two_contacts_is_a_press_and_no_fault() -> None:
    with desk(FULL) as table:
        edge = table.clock.ns
        second(table, UP)
        table.drive("east", (0, DOWN), (1500, UP))
        second(table, DOWN)
        table.wait(3000)
        assert table.told == [Pressed("east", edge), Released("east", edge + 1500 * MS)]


# ---- lamps, pins ------------------------------------------------------------------------------------------


def test_lamps_show_what_they_are_told_and_are_out_in_the_end() -> None:
    with desk(FULL) as table:
        pin = table.factory.pin(17)
        table.buttons.show("east", "on")
        table.buttons.show("east", "off")
        table.buttons.show("east", "on")
        others = [table.factory.pin(other).state for other in (27, 22, 23)]
    assert [state.state for state in pin.states] == [False, True, False, True, False]
    assert others == [False] * 3


def test_a_button_without_a_lamp_shows_nothing(table: Desk) -> None:
    table.buttons.show("east", "on")
    assert {str(pin) for pin in table.factory.pins.values()} == {"GPIO5", "GPIO6", "GPIO13", "GPIO19"}


def test_closing_twice_is_harmless_and_frees_the_pins() -> None:
    with desk(FULL) as table:
        table.buttons.close()
        table.buttons.close()
        table.drive("east", (500, DOWN), (100, UP))
        table.wait(1000)
        assert table.told == []
        SeatButtons(FULL, table.told.append, factory=table.factory).close()


def test_a_pin_that_is_taken_is_named_with_its_seat_and_the_others_are_let_go() -> None:
    factory = MockFactory()
    with (
        gpiozero.Button(13, pin_factory=factory),
        pytest.raises(DeviceMissing, match=r"west's button at GPIO13") as refused,
    ):
        SeatButtons(PLAIN, lambda _: None, factory=factory)
    assert refused.value.code == "device_missing"
    SeatButtons(PLAIN, lambda _: None, factory=factory).close()


@pytest.mark.parametrize("error", [PermissionError("/dev/gpiochip0"), Exception("'GPIO busy'")])
def test_pins_that_the_system_refuses_are_missing_devices(error: Exception) -> None:
    class Refusing(MockFactory):  # type: ignore[misc] # gpiozero ships no types
        def pin(self, _: object) -> object:
            raise error

    with pytest.raises(DeviceMissing, match=r"east's button at GPIO5: "):
        SeatButtons(PLAIN, lambda _: None, factory=Refusing())


def test_a_lamp_that_cannot_be_had_lets_everything_go() -> None:
    factory = MockFactory()
    with gpiozero.LED(22, pin_factory=factory), pytest.raises(DeviceMissing, match="the lamps: "):
        SeatButtons(FULL, lambda _: None, factory=factory)
    SeatButtons(FULL, lambda _: None, factory=factory).close()


# ---- in the time of the day -------------------------------------------------------------------------------


def test_time_passes_by_itself() -> None:
    told: queue.Queue[Report] = queue.Queue()
    fingers = Fingers(bounces=3, hold_s=0.2, seed=1)
    limits = Limits(held_ns=100 * MS)
    with SeatButtons(fingers.wiring, told.put, factory=fingers.factory, limits=limits):
        fingers.press("west")
        seen = [told.get(timeout=30) for _ in range(3)]
    assert [(type(one), getattr(one, "seat", None)) for one in seen] == [
        *((Pressed, "west"), (Held, "west"), (Released, "west"))
    ]


def test_a_lamp_that_blinks_keeps_its_beat_when_it_is_told_again() -> None:
    with desk(FULL) as table:
        table.buttons.show("east", "blink")
        thread = table.buttons._lamps._leds["east"]._blink_thread  # type: ignore[union-attr]  # gpiozero's thread, seen by nothing public
        table.buttons.show("east", "blink")
        assert table.buttons._lamps._leds["east"]._blink_thread is thread  # type: ignore[union-attr]  # gpiozero's thread, seen by nothing public
        table.buttons.show("east", "off")
        assert table.factory.pin(17).states[-1] == PinState(table.factory.pin(17).states[-1].timestamp, state=False)
