"""The light behind the screen, on a folder like the one that Linux gives: lowered, never off, bright again."""

from pathlib import Path

import pygame
import pytest

from kiosk.config import Screen
from kiosk.screens.backlight import Backlight
from kiosk.screens.window import Window
from kiosk.screens.words import Words
from tests.kiosk.screens.scenes import SCENES
from tests.kiosk.screens.test_window import Time, mouse

S = 1_000_000_000
DARK_S = 60


def display(folder: Path, name: str = "10-0045", *, most: int = 31, now: int = 31) -> Path:
    """Make what Linux shows of a display."""
    place = folder / name
    place.mkdir()
    (place / "max_brightness").write_text(f"{most}\n")
    (place / "brightness").write_text(f"{now}\n")
    return place / "brightness"


def level(file: Path) -> int:
    return int(file.read_text())


@pytest.mark.parametrize(("most", "now", "lowered"), [(31, 31, 9), (255, 200, 76), (1, 1, 1), (2, 2, 1)])
def test_it_is_lowered_but_never_off_and_bright_again_as_it_was(
    tmp_path: Path, most: int, now: int, lowered: int
) -> None:
    file = display(tmp_path, most=most, now=now)
    light = Backlight(tmp_path)
    assert (light.lower(dark=True), level(file)) == (True, lowered)
    assert (light.lower(dark=False), level(file)) == (True, now)


def test_a_light_that_a_power_cut_left_low_is_made_bright_at_the_start(tmp_path: Path) -> None:
    file = display(tmp_path, now=9)
    Backlight(tmp_path)
    assert level(file) == 31


def test_the_first_display_by_name_is_taken_and_a_displays_own_folder_will_do(tmp_path: Path) -> None:
    second, first = display(tmp_path, "11-0045"), display(tmp_path, "10-0045")
    Backlight(tmp_path).lower(dark=True)
    Backlight(second.parent).lower(dark=True)
    assert (level(first), level(second)) == (9, 9)


def test_it_is_bright_when_it_is_closed_and_may_be_closed_twice(tmp_path: Path) -> None:
    file = display(tmp_path)
    light = Backlight(tmp_path)
    light.lower(dark=True)
    light.close()
    light.close()
    assert level(file) == 31


@pytest.mark.parametrize("what", ["", "no number"])
def test_where_there_is_none_the_picture_has_to_be_darker(tmp_path: Path, what: str) -> None:
    if what:
        display(tmp_path).write_text(what)
    light = Backlight(tmp_path)
    assert [light.lower(dark=dark) for dark in (True, False)] == [False, True]


def test_a_display_that_is_pulled_out_is_no_fault_and_the_picture_is_darker_from_then_on(tmp_path: Path) -> None:
    file = display(tmp_path)
    light = Backlight(tmp_path)
    for name in ("brightness", "max_brightness"):
        file.with_name(name).unlink()
    file.parent.rmdir()
    assert [light.lower(dark=dark) for dark in (True, False, True)] == [False, True, False]


def test_a_window_lowers_the_light_instead_of_its_picture_and_a_touch_brightens_it(tmp_path: Path) -> None:
    file, time, shown = display(tmp_path), Time(), SCENES["waiting"]()
    with Window(Screen(driver="dummy", dim_after_s=DARK_S, backlight=str(tmp_path)), Words("en"), time) as window:
        window.show(shown)
        bright = pygame.image.tobytes(pygame.display.get_surface(), "RGB")
        time.now += DARK_S * S
        window.show(shown)
        assert (level(file), pygame.image.tobytes(pygame.display.get_surface(), "RGB") == bright) == (9, True)
        mouse(pygame.MOUSEBUTTONDOWN, (1, 1))
        assert [*window.pressed()] == []
        window.show(shown)
        assert level(file) == 31
        time.now += DARK_S * S
        window.show(shown)
    assert level(file) == 31
