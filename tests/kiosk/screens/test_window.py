"""The window: keys and touches in, pictures out, no sound; how often it is polled, and when it dims."""

import os
from dataclasses import replace
from pathlib import Path

import pygame
import pytest

from broker.i18n import Translator
from kiosk.config import DeviceSettings, ScreenSettings
from kiosk.errors import ScreenMissing
from kiosk.screens import (
    QUIT,
    PlayingView,
    ScreenView,
    ScreenWindow,
    StatusLine,
    TableScreen,
    TouchTarget,
    open_keyboards,
    type_key,
)
from kiosk.screens.window import (
    QUICK_FOR_NS,
    QUICK_S,
    ROUND_S,
    SECOND_NS,
    SEEN_NS,
    Backlight,
    Dimming,
    Finger,
)
from tests.kiosk.screens.pixels import shown_pixels
from tests.kiosk.screens.scenes import SCENES

DUMMY = ScreenSettings(driver="dummy")


class Time:
    """A clock set by hand."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


def mouse(kind: int, at: tuple[int, int], button: int = pygame.BUTTON_LEFT) -> None:
    """Put the events of a mouse, or of a finger on a touch screen, into pygame's queue."""
    pygame.event.post(pygame.event.Event(kind, pos=at, button=button, touch=False))


def touched(window: ScreenWindow, at: tuple[int, int], button: int = pygame.BUTTON_LEFT) -> list[str]:
    """Touch, and return the resulting keys."""
    mouse(pygame.MOUSEBUTTONDOWN, at, button)
    mouse(pygame.MOUSEBUTTONUP, at, button)
    return [key for key in window.pressed() if key != QUIT]


def target(scene: str, key: str) -> tuple[int, int]:
    """Return the position of a key on the screen."""
    screen = TableScreen(Translator("en"), (DUMMY.width, DUMMY.height))
    (box,) = [one.box for one in screen.targets(SCENES[scene]()) if one.key == key]
    return box.center


def test_typed_keys_are_returned_by_name() -> None:
    with ScreenWindow(DUMMY, Translator("en")) as window:
        for key in ("d", "7", "enter", "back"):
            type_key(key)
        assert [key for key in window.pressed() if key != QUIT] == ["d", "7", "enter", "back"]


def picture_of(window: ScreenWindow, view: ScreenView) -> bytes:
    window.show(view)
    return shown_pixels()


@pytest.mark.parametrize(
    ("size", "drawn"),
    [
        ((1280, 1024), (1280, 853)),
        ((1024, 768), (1024, 682)),
        ((480, 320), (480, 320)),
        ((768, 1024), (614, 1024)),
        ((480, 800), (480, 800)),
    ],
)
def test_of_a_nearly_square_display_only_a_part_is_used(
    size: tuple[int, int], drawn: tuple[int, int], tmp_path: Path
) -> None:
    with ScreenWindow(ScreenSettings(driver="dummy", width=size[0], height=size[1]), Translator("en")) as window:
        window.show(SCENES["confirming"]())
        window.picture(str(tmp_path / "table.png"))
        assert window._whole.get_size() == size
    assert pygame.image.load(tmp_path / "table.png").get_size() == drawn


def test_a_picture_that_cannot_be_saved_does_not_stop_the_table(tmp_path: Path) -> None:
    with ScreenWindow(DUMMY, Translator("en")) as window:
        window.show(SCENES["confirming"]())
        window.picture(str(tmp_path / "gone" / "table.png"))
        window.picture(str(tmp_path / "table.png"))
    assert [one.name for one in tmp_path.iterdir()] == ["table.png"]


@pytest.mark.parametrize("how", ["key", "finger"])
def test_the_light_changes_by_its_key_and_by_a_touch_on_the_clock(how: str) -> None:
    view = SCENES["confirming"]()
    with ScreenWindow(DUMMY, Translator("en"), time := Time()) as window:
        seen = [picture_of(window, view)]
        for _ in range(2):
            time.now += SEEN_NS
            if how == "key":
                press(pygame.K_m, "m")
            else:
                touched(window, target("confirming", "m"))
            assert [key for key in window.pressed() if key != QUIT] == [], "the table knows nothing of it"
            seen.append(picture_of(window, view))
    assert seen[0] != seen[1]
    assert seen[0] == seen[2]


def test_every_letter_of_an_address_can_be_typed_and_the_clock_still_changes_the_light() -> None:
    view = SCENES["pairing, no address"]()
    with ScreenWindow(DUMMY, Translator("en"), time := Time()) as window:
        before = picture_of(window, view)
        for key in "homologue":
            type_key(key)
        assert [key for key in window.pressed() if key != QUIT] == [*"homologue"]
        time.now += SEEN_NS
        assert touched(window, target("pairing, no address", "m")) == []
        assert picture_of(window, view) != before


def test_during_a_play_the_light_cannot_be_changed_at_the_table() -> None:
    view = SCENES["playing"]()
    with ScreenWindow(DUMMY, Translator("en")) as window:
        before = picture_of(window, view)
        assert not [one for one in window._screen.targets(view) if one.key == "m"]
        press(pygame.K_m, "m")
        assert [key for key in window.pressed() if key != QUIT] == []
        assert picture_of(window, view) == before


@pytest.mark.parametrize("scene", ["confirming", "playing"])
def test_the_desk_changes_the_light_even_in_a_play_and_a_later_touch_of_the_clock_changes_it_back(
    scene: str,
) -> None:
    view = SCENES[scene]()
    with ScreenWindow(DUMMY, Translator("en")) as window:
        usual = picture_of(window, view)
        quiet = picture_of(window, replace(view, light="quiet"))
        assert quiet != usual
        assert picture_of(window, replace(view, light="normal")) == usual
        assert picture_of(window, replace(view, light="quiet")) == quiet
        press(pygame.K_m, "m")
        assert [key for key in window.pressed() if key != QUIT] == []
        assert picture_of(window, replace(view, light="quiet")) == (quiet if scene == "playing" else usual)
        assert picture_of(window, view) == usual


def test_configured_quiet_light_applies_from_the_start_and_is_not_dimmed_further() -> None:
    quiet, view = ScreenSettings(driver="dummy", light="quiet", dim_after_s=1), SCENES["confirming"]()
    with ScreenWindow(quiet, Translator("en"), time := Time()) as window:
        begun = picture_of(window, view)
        time.now += 2 * SECOND_NS
        assert picture_of(window, view) == begun
    with ScreenWindow(DUMMY, Translator("en")) as window:
        assert picture_of(window, view) != begun


def press(key: int, character: str = "") -> None:
    """Type on a keyboard that reaches the window, as any that is plugged in does."""
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key, unicode=character, mod=0))


def type_a_word() -> None:
    press(pygame.K_d, "D")
    press(pygame.K_KP7)
    press(pygame.K_RETURN, "\r")
    press(pygame.K_F2)


def test_without_named_keyboards_every_keyboard_types() -> None:
    with ScreenWindow(DUMMY, Translator("en")) as window:
        type_a_word()
        assert [key for key in window.pressed() if key != QUIT] == ["d", "7", "enter"]


def test_with_named_keyboards_others_type_nothing_and_wake_nothing() -> None:
    named = DeviceSettings("sim://buttons", "sim://tray", keyboards=("evdev:/dev/input/by-id/none-event-kbd",))
    screen = ScreenSettings(driver="dummy", dim_after_s=1)
    with (
        ScreenWindow(screen, Translator("en"), time := Time()) as window,
        open_keyboards(named, window, lambda _: None),
    ):
        window.show(SCENES["declared, value"]())
        time.now += 2 * SECOND_NS
        type_a_word()
        assert [key for key in window.pressed() if key != QUIT] == []
        assert window._dimming.dark(time.now)
        type_key("7")
        assert [key for key in window.pressed() if key != QUIT] == ["7"]
        assert not window._dimming.dark(time.now)
        time.now += SEEN_NS
        assert touched(window, target("declared, value", "enter")) == ["enter"]


def test_keys_beyond_the_queues_size_are_lost_without_harm() -> None:
    with ScreenWindow(DUMMY, Translator("en")) as window:
        for _ in range(100_000):
            type_key("7")
        assert {key for key in window.pressed() if key != QUIT} == {"7"}


def test_an_unchanged_view_is_not_drawn_again() -> None:
    with ScreenWindow(DUMMY, Translator("en")) as window:
        assert [window.show(SCENES[scene]()) for scene in ("playing", "playing", "waiting")] == [True, False, True]


@pytest.mark.parametrize(
    ("scene", "key"),
    [("declared, value", key) for key in ("0", "7", "enter", "back", "clear", "x")]
    + [("playing", "d"), ("playing", "c"), ("accepting", "r"), ("recorded", "enter")],
)
def test_a_touch_gives_the_key_at_its_place(scene: str, key: str) -> None:
    with ScreenWindow(DUMMY, Translator("en"), time := Time()) as window:
        window.show(SCENES[scene]())
        time.now += SEEN_NS
        assert touched(window, target(scene, key)) == [key]
        assert touched(window, target(scene, key), pygame.BUTTON_RIGHT) == []
        assert touched(window, (1, 1)) == []


@pytest.mark.parametrize(("scene", "changes"), [("recorded", True), ("playing", False), ("playing, nobody won", False)])
def test_a_finger_on_the_screen_shows_except_in_a_play(scene: str, *, changes: bool) -> None:
    with ScreenWindow(DUMMY, Translator("en"), time := Time()) as window:
        window.show(SCENES[scene]())
        time.now += SEEN_NS
        before = shown_pixels()
        mouse(pygame.MOUSEBUTTONDOWN, target(scene, "c"))
        assert [*window.pressed()] == []
        window.show(SCENES[scene]())
        assert (shown_pixels() != before) is changes


def test_the_window_cannot_make_a_sound() -> None:
    with ScreenWindow(DUMMY, Translator("en")):
        assert os.environ["SDL_AUDIODRIVER"] == "dummy"


def test_a_missing_screen_is_reported_by_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # restores what the window sets
    pygame.display.quit()
    with pytest.raises(ScreenMissing) as missing:
        ScreenWindow(ScreenSettings(driver="no-such-driver"), Translator("en"))
    assert missing.value.code == "screen_missing"


ONE = TouchTarget("enter", "Next deal", pygame.Rect(0, 0, 100, 50))
OTHER = TouchTarget("r", "Wrong: correct it", pygame.Rect(0, 0, 100, 50))
BESIDE = TouchTarget("c", "Call", pygame.Rect(200, 0, 100, 50))
INSIDE, OUTSIDE = (50, 25), (150, 25)


@pytest.fixture
def finger() -> Finger:
    made = Finger()
    made.offer([ONE, BESIDE], 0)
    return made


def test_down_and_up_on_a_target_gives_its_key(finger: Finger) -> None:
    finger.down(INSIDE, SEEN_NS)
    assert finger.on == ONE
    assert finger.up(INSIDE) == "enter"
    assert finger.on is None


@pytest.mark.parametrize(
    ("down", "up"), [(INSIDE, OUTSIDE), (OUTSIDE, INSIDE), ((250, 25), INSIDE), (OUTSIDE, OUTSIDE)]
)
def test_sliding_off_or_onto_a_target_touches_nothing(
    finger: Finger, down: tuple[int, int], up: tuple[int, int]
) -> None:
    finger.down(down, SEEN_NS)
    assert finger.up(up) is None


def test_a_target_that_has_just_appeared_cannot_be_touched(finger: Finger) -> None:
    finger.offer([OTHER, BESIDE], 5 * SEEN_NS)
    finger.down(INSIDE, 6 * SEEN_NS - 1)
    assert finger.up(INSIDE) is None
    finger.down(INSIDE, 6 * SEEN_NS)
    assert finger.up(INSIDE) == "r"


def test_a_target_that_stays_can_be_touched_again_at_once(finger: Finger) -> None:
    finger.offer([ONE], 5 * SEEN_NS)
    finger.down(INSIDE, 5 * SEEN_NS)
    assert finger.up(INSIDE) == "enter"


def test_a_target_that_disappears_under_a_finger_is_not_touched(finger: Finger) -> None:
    finger.down(INSIDE, SEEN_NS)
    finger.offer([OTHER], SEEN_NS)
    assert finger.on is None
    assert finger.up(INSIDE) is None


def test_lifting_without_touching_down_does_nothing(finger: Finger) -> None:
    assert finger.up(INSIDE) is None


def test_a_touch_makes_polling_faster_for_a_while_and_new_content_does_not() -> None:
    time = Time()
    with ScreenWindow(ScreenSettings(driver="dummy"), Translator("en"), time) as window:
        for scene in ("playing", "waiting"):
            window.show(SCENES[scene]())
            assert window.pause == ROUND_S
        mouse(pygame.MOUSEBUTTONDOWN, (1, 1))
        assert [*window.pressed()] == []
        assert window.pause == QUICK_S
        time.now += QUICK_FOR_NS - 1
        assert window.pause == QUICK_S
        time.now += 1
        assert window.pause == ROUND_S


PLAYING = ScreenView(3, PlayingView(), StatusLine(clock="14:05"))


def dark_at(dimming: Dimming, *seconds: float) -> list[bool]:
    return [dimming.dark(round(second * SECOND_NS)) for second in seconds]


def test_the_screen_dims_after_a_while_without_anything_new() -> None:
    dimming = Dimming(10)
    dimming.shown(PLAYING, 5 * SECOND_NS)
    assert dark_at(dimming, 5, 14.9, 15, 1000) == [False, False, True, True]


def test_a_passing_minute_is_not_new() -> None:
    dimming = Dimming(10)
    dimming.shown(PLAYING, 0)
    dimming.shown(replace(PLAYING, line=StatusLine(clock="14:06")), 9 * SECOND_NS)
    assert dark_at(dimming, 10) == [True]


def test_new_content_and_touches_wake_the_screen() -> None:
    dimming = Dimming(10)
    dimming.shown(PLAYING, 0)
    dimming.shown(replace(PLAYING, phase=PlayingView(ended=True)), 20 * SECOND_NS)
    assert dark_at(dimming, 20, 30) == [False, True]
    dimming.woken(40 * SECOND_NS)
    assert dark_at(dimming, 40, 49.9, 50) == [False, False, True]


def test_zero_means_never() -> None:
    dimming = Dimming(0)
    dimming.shown(PLAYING, 0)
    assert dark_at(dimming, 1_000_000) == [False]


S = 1_000_000_000
DARK_S = 60


def display(folder: Path, name: str = "10-0045", *, most: int = 31, now: int = 31) -> Path:
    """Create the files that Linux has for a display."""
    place = folder / name
    place.mkdir()
    (place / "max_brightness").write_text(f"{most}\n")
    (place / "brightness").write_text(f"{now}\n")
    return place / "brightness"


def level(file: Path) -> int:
    return int(file.read_text())


@pytest.mark.parametrize(("most", "now", "lowered"), [(31, 31, 9), (255, 200, 76), (1, 1, 1), (2, 2, 1)])
def test_the_backlight_is_dimmed_never_off_and_restored(tmp_path: Path, most: int, now: int, lowered: int) -> None:
    file = display(tmp_path, most=most, now=now)
    light = Backlight(tmp_path)
    assert (light.lower(dark=True), level(file)) == (True, lowered)
    assert (light.lower(dark=False), level(file)) == (True, now)


def test_a_backlight_left_low_by_a_power_cut_is_restored_at_the_start(tmp_path: Path) -> None:
    file = display(tmp_path, now=9)
    Backlight(tmp_path)
    assert level(file) == 31


def test_the_first_display_by_name_is_used_or_the_given_folder_itself(tmp_path: Path) -> None:
    second, first = display(tmp_path, "11-0045"), display(tmp_path, "10-0045")
    Backlight(tmp_path).lower(dark=True)
    Backlight(second.parent).lower(dark=True)
    assert (level(first), level(second)) == (9, 9)


def test_closing_restores_the_backlight_and_may_be_repeated(tmp_path: Path) -> None:
    file = display(tmp_path)
    light = Backlight(tmp_path)
    light.lower(dark=True)
    light.close()
    light.close()
    assert level(file) == 31


@pytest.mark.parametrize("what", ["", "no number"])
def test_without_a_backlight_the_picture_must_be_darkened(tmp_path: Path, what: str) -> None:
    if what:
        display(tmp_path).write_text(what)
    light = Backlight(tmp_path)
    assert [light.lower(dark=dark) for dark in (True, False)] == [False, True]


def test_an_unplugged_display_is_no_fault_and_the_picture_is_darkened_from_then_on(tmp_path: Path) -> None:
    file = display(tmp_path)
    light = Backlight(tmp_path)
    for name in ("brightness", "max_brightness"):
        file.with_name(name).unlink()
    file.parent.rmdir()
    assert [light.lower(dark=dark) for dark in (True, False, True)] == [False, True, False]


def test_a_window_dims_the_backlight_instead_of_its_picture_and_a_touch_restores_it(tmp_path: Path) -> None:
    file, time, shown = display(tmp_path), Time(), SCENES["waiting"]()
    with ScreenWindow(
        ScreenSettings(driver="dummy", dim_after_s=DARK_S, backlight=str(tmp_path)), Translator("en"), time
    ) as window:
        window.show(shown)
        bright = shown_pixels()
        time.now += DARK_S * S
        window.show(shown)
        assert (level(file), shown_pixels() == bright) == (9, True)
        mouse(pygame.MOUSEBUTTONDOWN, (1, 1))
        assert [*window.pressed()] == []
        window.show(shown)
        assert level(file) == 31
        time.now += DARK_S * S
        window.show(shown)
    assert level(file) == 31
