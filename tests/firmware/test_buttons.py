"""The hu buttons: one event a press, at the time of its first edge, whatever the contact does."""

from collections.abc import Iterator

import gpiozero
import pytest
from gpiozero.pins.mock import MockFactory
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firmware.buttons import SeatButtons
from firmware.errors import DeviceMissing
from firmware.twins.fingers import PINS, Fingers
from tests.firmware.desk import MS, Clock, Desk, desk

DOWN, UP = 0, 1


@pytest.fixture(scope="module")
def wired() -> Iterator[Desk]:
    with desk() as made:
        yield made


@pytest.fixture
def table(wired: Desk) -> Desk:
    wired.rest()
    return wired


def test_a_press_is_told_with_its_seat_and_the_time_of_its_edge(table: Desk) -> None:
    edge = table.clock.ns + 500 * MS
    table.drive("west", (500, DOWN), (120, UP))
    assert table.pressed == [("west", edge)]


def test_letting_go_is_no_press(table: Desk) -> None:
    table.drive("west", (500, DOWN))
    before = [*table.pressed]
    table.drive("west", (3000, UP))
    assert table.pressed == before


def test_a_contact_that_bounces_when_it_closes_is_one_press_at_its_first_edge(table: Desk) -> None:
    edge = table.clock.ns + 500 * MS
    table.drive("east", (500, DOWN), (2, UP), (2, DOWN), (3, UP), (1, DOWN), (30, UP), (9, DOWN), (200, UP))
    assert table.pressed == [("east", edge)]


def test_a_contact_that_bounces_when_it_opens_after_a_long_press_is_no_second_one(table: Desk) -> None:
    """Held over the confirmation, such a bounce would be a hu."""
    edge = table.clock.ns + 500 * MS
    table.drive("east", (500, DOWN), (1500, UP), (2, DOWN), (1, UP), (3, DOWN), (39, UP))
    assert table.pressed == [("east", edge)]


def test_a_second_press_is_told_too(table: Desk) -> None:
    edge = table.clock.ns
    table.drive("east", (0, DOWN), (60, UP), (40, DOWN), (60, UP))
    assert table.pressed == [("east", edge), ("east", edge + 100 * MS)]


def test_two_seats_at_the_same_instant_are_two_presses_of_that_instant(table: Desk) -> None:
    edge = table.clock.ns
    for seat in ("north", "south"):
        table.drive(seat, (0, DOWN))
    assert table.pressed == [("north", edge), ("south", edge)]


def test_bounces_of_one_seat_do_not_hide_another(table: Desk) -> None:
    edge = table.clock.ns
    table.drive("east", (0, DOWN), (1, UP))
    table.drive("south", (1, DOWN))
    table.drive("east", (1, DOWN))
    assert table.pressed == [("east", edge), ("south", edge + 2 * MS)]


def test_a_press_is_timed_by_its_edge_however_late_the_callback_runs() -> None:
    late = 31_250_000
    with desk(late) as table:
        edge = table.clock.ns + 500 * MS
        table.drive("west", (500, DOWN), (250, UP), (250, DOWN))
    assert table.pressed == [("west", edge), ("west", edge + 500 * MS)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # it rests between examples
@given(st.lists(st.integers(1, 39), max_size=9), st.integers(40, 5000), st.lists(st.integers(1, 39), max_size=9))
def test_however_a_contact_bounces_a_press_is_one(
    table: Desk, closing: list[int], held: int, opening: list[int]
) -> None:
    """An even number of bounces, so that the contact ends closed, then open."""
    table.rest()
    edge = table.clock.ns
    table.drive("south", (0, DOWN), *((ms, at % 2 ^ UP) for at, ms in enumerate(closing[: len(closing) & ~1])))
    table.drive("south", (held, UP), *((ms, at % 2) for at, ms in enumerate(opening[: len(opening) & ~1])))
    assert table.pressed == [("south", edge)]


def test_closing_twice_is_harmless_and_frees_the_pins() -> None:
    with desk() as table:
        table.buttons.close()
        table.buttons.close()
        table.drive("east", (500, DOWN), (100, UP))
        assert table.pressed == []
        SeatButtons(PINS, lambda *_: None, factory=table.factory).close()


def test_a_pin_that_is_taken_is_named_with_its_seat_and_the_others_are_let_go() -> None:
    factory = MockFactory()
    with gpiozero.Button(13, pin_factory=factory), pytest.raises(DeviceMissing, match=r"pin 13 \(west\)") as refused:
        SeatButtons(PINS, lambda *_: None, factory=factory)
    assert refused.value.code == "device_missing"
    SeatButtons(PINS, lambda *_: None, factory=factory).close()


@pytest.mark.parametrize("error", [PermissionError("/dev/gpiochip0"), Exception("'GPIO busy'")])
def test_pins_that_the_system_refuses_are_missing_devices(error: Exception) -> None:
    class Refusing(MockFactory):  # type: ignore[misc] # gpiozero ships no types
        def pin(self, _: object) -> object:
            raise error

    with pytest.raises(DeviceMissing, match=r"pin 5 \(east\): "):
        SeatButtons(PINS, lambda *_: None, factory=Refusing())


# ---- the twin ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_twin_fingers_bounce_and_are_one_press_each(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    clock, edges = Clock(), list[tuple[str, int]]()
    monkeypatch.setattr(gpiozero.pins.mock, "monotonic", clock.seconds)
    fingers = Fingers(bounces=6, seed=seed, sleep=clock.sleep)
    take = SeatButtons(
        fingers.pins,
        lambda seat, edge: edges.append((seat, edge)),
        factory=fingers.factory,
        clock_ns=lambda: clock.ns,
    )
    expected = []
    with take:
        for seat in ("east", "west", "east", "north"):
            clock.sleep(0.5)
            expected.append((seat, clock.ns))
            fingers.press(seat)
    assert edges == expected


def test_twin_fingers_do_bounce_when_closing_and_when_opening() -> None:
    fingers = Fingers(bounces=6, seed=3, sleep=lambda _: None)
    fingers.press("east")
    levels = [state.state for state in fingers.factory.pin(PINS["east"]).states]
    assert len(levels) > 5
    assert levels[-1]
