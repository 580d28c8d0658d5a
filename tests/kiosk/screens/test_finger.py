"""A touch: down and up on one target that had been there for a moment."""

import pygame
import pytest

from kiosk.screens.finger import SEEN_NS, Finger
from kiosk.screens.targets import Target

ONE = Target("enter", "Next deal", pygame.Rect(0, 0, 100, 50))
OTHER = Target("r", "Enter again", pygame.Rect(0, 0, 100, 50))
BESIDE = Target("c", "Call", pygame.Rect(200, 0, 100, 50))
INSIDE, OUTSIDE = (50, 25), (150, 25)


@pytest.fixture
def finger() -> Finger:
    made = Finger()
    made.offer([ONE, BESIDE], 0)
    return made


def test_down_and_up_on_a_target_is_its_key(finger: Finger) -> None:
    finger.down(INSIDE, SEEN_NS)
    assert finger.on == ONE
    assert finger.up(INSIDE) == "enter"
    assert finger.on is None


@pytest.mark.parametrize(
    ("down", "up"), [(INSIDE, OUTSIDE), (OUTSIDE, INSIDE), ((250, 25), INSIDE), (OUTSIDE, OUTSIDE)]
)
def test_who_slides_off_or_on_has_touched_nothing(finger: Finger, down: tuple[int, int], up: tuple[int, int]) -> None:
    finger.down(down, SEEN_NS)
    assert finger.up(up) is None


def test_what_has_just_appeared_cannot_be_meant(finger: Finger) -> None:
    finger.offer([OTHER, BESIDE], 5 * SEEN_NS)
    finger.down(INSIDE, 6 * SEEN_NS - 1)
    assert finger.up(INSIDE) is None
    finger.down(INSIDE, 6 * SEEN_NS)
    assert finger.up(INSIDE) == "r"


def test_what_stays_on_the_screen_can_be_touched_at_once_again(finger: Finger) -> None:
    finger.offer([ONE], 5 * SEEN_NS)
    finger.down(INSIDE, 5 * SEEN_NS)
    assert finger.up(INSIDE) == "enter"


def test_a_target_that_goes_while_a_finger_is_on_it_is_not_touched(finger: Finger) -> None:
    finger.down(INSIDE, SEEN_NS)
    finger.offer([OTHER], SEEN_NS)
    assert finger.on is None
    assert finger.up(INSIDE) is None


def test_letting_go_without_having_come_down_is_nothing(finger: Finger) -> None:
    assert finger.up(INSIDE) is None
