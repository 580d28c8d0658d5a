"""Simulated fingers, contacts and cables on mock pins, read by the real code."""

from collections.abc import Callable

import pytest

from firmware.buttons import SeatButtons
from firmware.presses import MS
from firmware.reports import SEATS, Health, Held, Pressed, Released, Report, TooShort
from firmware.sim.buttons import BOUNCE_S, ButtonFingers, read_seats
from tests.firmware.simulated_table import Clock


class Played:
    """Fingers in simulated time, and the reports."""

    def __init__(self, **wrong: object) -> None:
        self.clock, self.told, self.short = Clock(), list[Report](), list[TooShort]()
        make: Callable[..., ButtonFingers] = ButtonFingers
        self.fingers = make(sleep=self._sleep, clock=self.clock.seconds, **wrong)
        self.fingers.factory.ticks = self.clock.seconds
        self.buttons = SeatButtons(
            self.fingers.wiring,
            self.told.append,
            on_short=self.short.append,
            factory=self.fingers.factory,
            clock_ns=self.clock.now,
            ticking=False,
        )

    def _sleep(self, seconds: float) -> None:
        self.clock.sleep(seconds)
        self.buttons.pass_time()

    def wait(self, seconds: float) -> None:
        """Let time pass in steps."""
        for _ in range(20):
            self._sleep(seconds / 20)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("late_s", [0, 0.002])
def test_bouncing_fingers_are_one_press_each_at_their_first_edge(seed: int, late_s: float) -> None:
    play = Played(bounces=3, seed=seed, late_s=late_s)
    expected = []
    for seat in ("east", "west", "east", "north"):
        play.wait(0.5)
        expected.append((seat, play.clock.ns))
        play.fingers.press(seat)
    play.wait(0.5)
    assert [(one.seat, one.at) for one in play.told if isinstance(one, Pressed)] == expected
    assert [type(one) for one in play.told] == [Pressed, Released] * 4


def test_fingers_bounce_when_closing_and_when_opening() -> None:
    play = Played(bounces=9, seed=3)
    edges: list[int] = []

    def hear(_: float, level: int) -> None:
        edges.append(level)

    play.fingers.factory.pin(5).when_changed = hear
    play.fingers.push("east")
    closing = len(edges)
    play.fingers.release("east")
    assert edges == [at % 2 for at in range(closing)] + [1 - at % 2 for at in range(len(edges) - closing)]
    assert min(closing, len(edges) - closing) > 2


def test_a_long_press_calls_the_arbiter() -> None:
    play = Played()
    play.fingers.press("south", 2.2)
    play.wait(0.5)
    assert [type(one) for one in play.told] == [Pressed, Held, Released]


def test_a_press_that_is_too_short_does_not_count() -> None:
    play = Played(bounces=0, hold_s=0.001)
    play.fingers.press("south")
    play.wait(0.5)
    assert (play.told, [one.lasted_ns // MS for one in play.short]) == ([], [1])


def test_sparks_do_not_count_as_presses() -> None:
    play = Played(sparks=9, seed=5)
    at = []
    for seat in SEATS:
        play.fingers.press(seat)
        play.wait(0.5)
        at.append(seat)
    assert [one.seat for one in play.told if isinstance(one, Pressed)] == at
    assert len(play.short) > 9


def test_a_stuck_button_stays_down_until_it_is_released() -> None:
    play = Played(stuck=["east"])
    play.fingers.press("east")
    play.wait(40)
    assert [type(one) for one in play.told] == [Pressed, Held, Health]
    play.fingers.release("east")
    play.wait(1)
    assert [one.code for one in play.told if isinstance(one, Health)] == ["button_stuck", None]


def test_an_unplugged_cable_is_reported_and_blocks_presses() -> None:
    play = Played(cut=["west"])
    play.fingers.press("west")
    play.wait(2)
    assert play.told == [Health("button-west", "button_disconnected", "both contacts are open")]
    play.fingers.plug("west")
    play.wait(1)
    play.fingers.press("west")
    play.wait(1)
    assert [type(one) for one in play.told[1:]] == [Health, Pressed, Released]


def test_unplugging_during_a_press_releases_it_and_is_reported() -> None:
    play = Played()
    play.fingers.push("west")
    play.wait(0.5)
    play.fingers.unplug("west")
    play.wait(2)
    assert [type(one) for one in play.told] == [Pressed, Released, Health]


def test_seats_are_parsed_and_other_names_refused() -> None:
    assert [sorted(read_seats(text)) for text in ("", "west,east")] == [[], ["east", "west"]]
    with pytest.raises(ValueError, match="'East' is no seat"):
        read_seats("East")


def test_bounces_are_shorter_than_the_shortest_press() -> None:
    assert BOUNCE_S < 0.003
