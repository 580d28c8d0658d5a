"""The window: keys in, pictures out, no sound, and a screen that is missing is told by its code."""

import os

import pygame
import pytest

from kiosk.config import Screen
from kiosk.errors import ScreenMissing
from kiosk.screens.window import QUIT, Window, type_key
from kiosk.screens.words import Words
from tests.kiosk.screens.scenes import SCENES

DUMMY = Screen(driver="dummy")


def test_keys_that_are_typed_come_out_by_their_names() -> None:
    with Window(DUMMY, Words("en")) as window:
        for key in ("d", "7", "enter", "back"):
            type_key(key)
        assert [key for key in window.pressed() if key != QUIT] == ["d", "7", "enter", "back"]


def test_what_is_shown_already_is_not_drawn_again() -> None:
    with Window(DUMMY, Words("en")) as window:
        assert [window.show(SCENES[scene]()) for scene in ("playing", "playing", "waiting")] == [True, False, True]


def test_it_can_make_no_sound() -> None:
    with Window(DUMMY, Words("en")):
        assert os.environ["SDL_AUDIODRIVER"] == "dummy"


def test_a_screen_that_is_not_there_is_told_by_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # put back what the window sets
    pygame.display.quit()
    with pytest.raises(ScreenMissing) as missing:
        Window(Screen(driver="no-such-driver"), Words("en"))
    assert missing.value.code == "screen_missing"
