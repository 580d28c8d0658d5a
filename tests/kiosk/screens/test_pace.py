"""Touches are asked for more often while somebody is at the screen, and no press of a seat's button is told by it."""

import pygame

from kiosk.config import Screen
from kiosk.screens.pace import QUICK_FOR_NS, QUICK_S, ROUND_S, Pace
from kiosk.screens.window import Window
from kiosk.screens.words import Words
from tests.kiosk.screens.scenes import SCENES
from tests.kiosk.screens.test_window import Time, mouse


def test_rounds_are_quick_for_a_while_after_a_touch() -> None:
    pace = Pace()
    assert pace.pause(0) == ROUND_S
    pace.touched(5)
    assert [pace.pause(at) for at in (5, 4 + QUICK_FOR_NS, 5 + QUICK_FOR_NS)] == [QUICK_S, QUICK_S, ROUND_S]


def test_a_finger_on_the_screen_quickens_its_window_and_what_is_new_on_it_does_not() -> None:
    with Window(Screen(driver="dummy"), Words("en"), Time()) as window:
        for scene in ("playing", "waiting"):
            window.show(SCENES[scene]())
            assert window.pause == ROUND_S
        mouse(pygame.MOUSEBUTTONDOWN, (1, 1))
        assert [*window.pressed()] == []
        assert window.pause == QUICK_S
