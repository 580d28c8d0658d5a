"""What fingers mean: in a play a press counts from its edge, where it agrees to something when it is let go."""

import pytest

from firmware.reports import Held, Pressed, Released
from kiosk.table.events import ButtonHeld, ButtonPressed, ButtonReleased
from kiosk.table.state import Phase
from kiosk.touch import AGREEING, Touch

OTHERS = [phase for phase in Phase if phase not in AGREEING]


@pytest.mark.parametrize("phase", OTHERS)
def test_a_press_is_told_at_once_and_its_end_after_it(phase: Phase) -> None:
    touch = Touch()
    assert touch.event(Pressed("east", 5), phase) == ButtonPressed(at=5, seat="east")
    assert touch.event(Released("east", 7), phase) == ButtonReleased(at=7, seat="east")


@pytest.mark.parametrize("phase", AGREEING)
def test_a_press_that_agrees_is_told_when_it_is_let_go_with_the_time_of_its_edge(phase: Phase) -> None:
    touch = Touch()
    assert touch.event(Pressed("east", 5), phase) is None
    assert touch.event(Released("east", 7), phase) == ButtonPressed(at=5, seat="east")
    assert touch.event(Released("east", 8), phase) == ButtonReleased(at=8, seat="east")


@pytest.mark.parametrize("phase", AGREEING)
def test_who_holds_calls_and_agrees_to_nothing(phase: Phase) -> None:
    touch = Touch()
    assert touch.event(Pressed("east", 5), phase) is None
    assert touch.event(Held("east", 5), phase) == ButtonHeld(at=5, seat="east")
    assert touch.event(Released("east", 9), phase) == ButtonReleased(at=9, seat="east")


def test_a_press_that_was_to_agree_is_none_of_another_seat() -> None:
    touch = Touch()
    touch.event(Pressed("east", 5), Phase.ACCEPTING)
    assert touch.event(Released("west", 7), Phase.ACCEPTING) == ButtonReleased(at=7, seat="west")
    assert touch.event(Released("east", 8), Phase.ACCEPTING) == ButtonPressed(at=5, seat="east")


def test_who_came_down_to_agree_and_lets_go_in_the_play_has_pressed_before_it() -> None:
    """The table refuses it there, by its edge."""
    touch = Touch()
    touch.event(Pressed("east", 5), Phase.CONFIRMING)
    assert touch.event(Released("east", 7), Phase.PLAYING) == ButtonPressed(at=5, seat="east")
