"""What buttons mean: presses by their edges, agreement when a finger lets go; and when a claim window is closed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.presses import MS
from firmware.reports import Held, Pressed, Released
from kiosk.input.buttons import AGREEING, BACK_NS, END_NS, GRACE_NS, PATIENCE_NS, ButtonInput, WindowClosing
from kiosk.table import ButtonHeld, ButtonPressed, ButtonReleased, Phase

OTHERS = [phase for phase in Phase if phase not in AGREEING]


@pytest.mark.parametrize("phase", OTHERS)
def test_a_press_is_told_at_once_and_its_end_after_it(phase: Phase) -> None:
    touch = ButtonInput()
    assert touch.event(Pressed("east", 5), phase) == ButtonPressed(at=5, seat="east")
    assert touch.event(Released("east", 7), phase) == ButtonReleased(at=7, seat="east")


@pytest.mark.parametrize("phase", AGREEING)
def test_a_press_that_agrees_is_told_when_it_is_let_go_with_the_time_of_its_edge(phase: Phase) -> None:
    touch = ButtonInput()
    assert touch.event(Pressed("east", 5), phase) is None
    assert touch.event(Released("east", 7), phase) == ButtonPressed(at=5, seat="east")
    assert touch.event(Released("east", 8), phase) == ButtonReleased(at=8, seat="east")


@pytest.mark.parametrize("phase", AGREEING)
def test_who_holds_calls_and_agrees_to_nothing(phase: Phase) -> None:
    touch = ButtonInput()
    assert touch.event(Pressed("east", 5), phase) is None
    assert touch.event(Held("east", 5), phase) == ButtonHeld(at=5, seat="east")
    assert touch.event(Released("east", 9), phase) == ButtonReleased(at=9, seat="east")


def test_a_press_that_was_to_agree_is_none_of_another_seat() -> None:
    touch = ButtonInput()
    touch.event(Pressed("east", 5), Phase.ACCEPTING)
    assert touch.event(Released("west", 7), Phase.ACCEPTING) == ButtonReleased(at=7, seat="west")
    assert touch.event(Released("east", 8), Phase.ACCEPTING) == ButtonPressed(at=5, seat="east")


def test_who_came_down_to_agree_and_lets_go_in_the_play_has_pressed_before_it() -> None:
    """The table refuses it there, by its edge."""
    touch = ButtonInput()
    touch.event(Pressed("east", 5), Phase.CONFIRMING)
    assert touch.event(Released("east", 7), Phase.PLAYING) == ButtonPressed(at=5, seat="east")


OVER = 1_000_000 * MS


def test_edges_that_are_on_their_way_are_waited_for() -> None:
    closing = WindowClosing()
    assert not closing.may_close(OVER, OVER + GRACE_NS - 1, down=False)
    assert closing.may_close(OVER, OVER + GRACE_NS, down=False)


def test_where_one_is_heard_of_late_others_may_be_on_their_way_too() -> None:
    closing = WindowClosing()
    closing.heard(OVER + 100 * MS)
    assert not closing.may_close(OVER, OVER + 100 * MS + GRACE_NS - 1, down=False)
    assert closing.may_close(OVER, OVER + 100 * MS + GRACE_NS, down=False)


def test_how_a_press_ends_is_waited_for_longer_than_an_edge() -> None:
    closing = WindowClosing()
    assert not closing.may_close(OVER, OVER + END_NS - 1, down=True)
    assert closing.may_close(OVER, OVER + END_NS, down=True)


def test_a_box_that_is_away_is_waited_for_and_then_what_it_has_kept() -> None:
    closing = WindowClosing()
    closing.health("device_unplugged", OVER - 1)
    assert not closing.may_close(OVER, OVER + 5_000 * MS, down=False)
    closing.health("box_silent", OVER + 5_000 * MS)
    closing.health(None, OVER + 6_000 * MS)
    assert not closing.may_close(OVER, OVER + 6_000 * MS + BACK_NS - 1, down=False)
    assert closing.may_close(OVER, OVER + 6_000 * MS + BACK_NS, down=False)


def test_a_box_that_was_never_away_is_waited_for_no_longer_than_pins_are() -> None:
    closing = WindowClosing()
    closing.health(None, OVER)
    assert closing.may_close(OVER, OVER + GRACE_NS, down=False)


@given(
    st.lists(
        st.tuples(st.sampled_from(["heard", "gone", "back"]), st.integers(0, 2 * PATIENCE_NS)),
        max_size=20,
    )
)
def test_whatever_happens_it_is_closed_when_patience_has_an_end(happened: list[tuple[str, int]]) -> None:
    closing = WindowClosing()
    for what, after in sorted(happened, key=lambda one: one[1]):
        if what == "heard":
            closing.heard(OVER + after)
        else:
            closing.health("box_silent" if what == "gone" else None, OVER + after)
    assert closing.may_close(OVER, OVER + PATIENCE_NS, down=False)
    assert not closing.may_close(OVER, OVER + GRACE_NS - 1, down=False)
