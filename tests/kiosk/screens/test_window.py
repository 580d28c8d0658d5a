"""The window: keys in, pictures out, no sound, and a screen that is missing is told by its code."""

import os

import pygame
import pytest

from kiosk.config import Screen
from kiosk.errors import ScreenMissing
from kiosk.screens.finger import SEEN_NS
from kiosk.screens.table import TableScreen
from kiosk.screens.window import QUIT, Window, type_key
from kiosk.screens.words import Words
from tests.kiosk.screens.scenes import SCENES

DUMMY = Screen(driver="dummy")


class Time:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


def mouse(kind: int, at: tuple[int, int], button: int = pygame.BUTTON_LEFT) -> None:
    """Put into pygame's queue what it makes of a mouse, and of a finger on a touch screen."""
    pygame.event.post(pygame.event.Event(kind, pos=at, button=button, touch=False))


def touched(window: Window, at: tuple[int, int], button: int = pygame.BUTTON_LEFT) -> list[str]:
    """Touch, and give the keys that came of it."""
    mouse(pygame.MOUSEBUTTONDOWN, at, button)
    mouse(pygame.MOUSEBUTTONUP, at, button)
    return [key for key in window.pressed() if key != QUIT]


def target(scene: str, key: str) -> tuple[int, int]:
    """Give where a key is on the screen."""
    screen = TableScreen(Words("en"), (DUMMY.width, DUMMY.height))
    (box,) = [one.box for one in screen.targets(SCENES[scene]()) if one.key == key]
    return box.center


def test_keys_that_are_typed_come_out_by_their_names() -> None:
    with Window(DUMMY, Words("en")) as window:
        for key in ("d", "7", "enter", "back"):
            type_key(key)
        assert [key for key in window.pressed() if key != QUIT] == ["d", "7", "enter", "back"]


def test_what_is_shown_already_is_not_drawn_again() -> None:
    with Window(DUMMY, Words("en")) as window:
        assert [window.show(SCENES[scene]()) for scene in ("playing", "playing", "waiting")] == [True, False, True]


@pytest.mark.parametrize(
    ("scene", "key"),
    [("declared, value", key) for key in ("0", "7", "enter", "back", "clear", "x")]
    + [("playing", "d"), ("playing", "c"), ("accepting", "r"), ("recorded", "enter")],
)
def test_a_touch_comes_out_as_the_key_that_stands_there(scene: str, key: str) -> None:
    with Window(DUMMY, Words("en"), time := Time()) as window:
        window.show(SCENES[scene]())
        time.now += SEEN_NS
        assert touched(window, target(scene, key)) == [key]
        assert touched(window, target(scene, key), pygame.BUTTON_RIGHT) == []
        assert touched(window, (1, 1)) == []


@pytest.mark.parametrize(("scene", "changes"), [("recorded", True), ("playing", False), ("playing, nobody won", False)])
def test_a_finger_on_the_screen_shows_but_in_a_play(scene: str, *, changes: bool) -> None:
    def pixels() -> bytes:
        return pygame.image.tobytes(pygame.display.get_surface(), "RGB")

    with Window(DUMMY, Words("en"), time := Time()) as window:
        window.show(SCENES[scene]())
        time.now += SEEN_NS
        before = pixels()
        mouse(pygame.MOUSEBUTTONDOWN, target(scene, "c"))
        assert [*window.pressed()] == []
        window.show(SCENES[scene]())
        assert (pixels() != before) is changes


def test_it_can_make_no_sound() -> None:
    with Window(DUMMY, Words("en")):
        assert os.environ["SDL_AUDIODRIVER"] == "dummy"


def test_a_screen_that_is_not_there_is_told_by_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # put back what the window sets
    pygame.display.quit()
    with pytest.raises(ScreenMissing) as missing:
        Window(Screen(driver="no-such-driver"), Words("en"))
    assert missing.value.code == "screen_missing"
