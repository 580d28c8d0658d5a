"""The table's screen: every state in every language, with the longest names, without overlaps."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations, product
from typing import get_args

import numpy as np
import pygame
import pytest

from broker.i18n import Translator, languages
from broker.protocol import RiichiEvent
from broker.rules.riichi import AbortReason
from kiosk.camera.observations import CameraView, TableObservation
from kiosk.screens import (
    CallView,
    DeclaredView,
    RestoringView,
    ScreenView,
    SeatingView,
    TableScreen,
    TextPen,
    TouchTarget,
)
from kiosk.screens.drawing import DIMMED, EDGE, GROUND, PANEL, TEXT, Align, Appearance, Colour, Hand
from kiosk.screens.fonts import Fonts
from kiosk.screens.layout import drawn_size
from kiosk.screens.restoring import MOST_PLACES_NAMED
from kiosk.screens.riichi import how_it_ended
from kiosk.screens.table import current_screen
from kiosk.screens.views import TimeView
from kiosk.screens.window import LARGER
from tests.kiosk.screens.riichi_scenes import ALL_SCENES as SCENES
from tests.kiosk.screens.scenes import unread

SIZES = [(800, 480), (1280, 720), (1024, 600), (1920, 1080), (720, 1280)]

NOTHING = pygame.Rect(0, 0, 0, 0)
"""Room for a picture where only the lines are checked: its pixels would take half of the time."""

Room = tuple[tuple[int, int], float]
"""A size, and the factor by which letters are larger."""

ROOMS: list[Room] = [
    *((size, 1.0) for size in (SIZES[0], SIZES[1], SIZES[2], SIZES[4])),
    (SIZES[0], 1.4),
    (SIZES[3], 1.4),
    (SIZES[4], 1.2),
    *product((drawn_size((480, 480)), (480, 800)), LARGER.values()),
]
"""All shares are relative to the size, so the largest equals its half, except with larger letters."""


class Inked(TextPen):
    """A pen that only records where its lines would be, and on which ground."""

    def __init__(self, language: str, room: Room) -> None:
        super().__init__(language, room[0], Appearance(larger=room[1]))
        self.lines: list[tuple[str, pygame.Rect]] = []
        self.shares = dict[str, float]()
        """Size of each line as written."""
        self.inks: set[tuple[Colour, Colour]] = set()
        """Colours of text, with their grounds."""

    def write(
        self,
        surface: pygame.Surface,
        text: str,
        at: tuple[int, int],
        share: float,
        colour: Colour,
        width: int,
        align: Align = "left",
    ) -> pygame.Rect:
        drawn, fitted, taken = self._fitting(text, share, width)
        self.shares[drawn] = fitted
        rect = pygame.Rect(at, taken)
        rect.x -= {"left": 0, "centre": rect.width // 2, "right": rect.width}[align]
        self.lines.append((drawn, rect))
        red, green, blue, _ = surface.get_at(rect.center)
        self.inks.add((colour, (red, green, blue)))
        return rect


@cache
def drawing(language: str, room: Room) -> tuple[TableScreen, Inked, pygame.Surface]:
    """Return what draws one table's screen; fonts are slow to open."""
    pen = Inked(language, room)
    return TableScreen(Translator(language), room[0], pen=pen), pen, pygame.Surface(room[0])


@cache
def scene_of(name: str) -> ScreenView:
    return SCENES[name]()


def inked(language: str, room: Room, scene: str) -> list[tuple[str, pygame.Rect]]:
    """Draw a scene, and return its lines."""
    screen, pen, surface = drawing(language, room)
    pen.lines.clear()
    surface.set_clip(NOTHING)
    screen.draw(surface, scene_of(scene))
    return [*pen.lines]


def name_in(text: str) -> str:
    """Return what is left of a name in a line that begins with its wind."""
    return text.rstrip("…").rpartition(" · ")[2]


def overlapping(rects: list[pygame.Rect]) -> Iterator[tuple[int, int]]:
    """Return the rectangles that overlap."""
    for one, rect in enumerate(rects):
        yield from ((one, other) for other in rect.collidelistall(rects) if other > one)


def mislaid(scene: str, room: Room) -> list[str]:
    """Draw a scene in every language; return what is wrong with its lines."""
    wrong = []
    names, (size, _) = scene_of(scene).players.values(), room
    for language in languages():
        lines = inked(language, room, scene)
        screen = pygame.Rect((0, 0), size)
        # Fonts leave room above and below their letters: lines may share that, never ink.
        tight = [(text, rect.inflate(0, -rect.height // 3)) for text, rect in lines]
        buttons = [target.box for target in drawing(language, room)[0].targets(scene_of(scene))]
        found = (
            *(f"outside: {text}" for text, rect in lines if not screen.contains(rect)),
            *(f"{tight[one][0]} on {tight[other][0]}" for one, other in overlapping([rect for _, rect in tight])),
            *(
                f"half under a button: {text}"
                for text, rect in tight
                if any(box.colliderect(rect) and not box.contains(rect) for box in buttons)
            ),
            *(f"cut: {text}" for text, _ in lines if "…" in text and not any(name_in(text) in it for it in names)),
        )
        wrong += [f"{scene}, {language}, {room}: {one}" for one in found]
    return wrong


@pytest.mark.parametrize("room", ROOMS, ids=str)
def test_all_lines_are_on_the_screen_without_overlaps_and_only_names_are_cut(room: Room) -> None:
    assert [one for scene in SCENES for one in mislaid(scene, room)] == []


@pytest.mark.parametrize("language", languages())
def test_every_letter_exists_in_its_font(language: str) -> None:
    fonts = Fonts(language, ROOMS[0][0][1])
    lines = [(scene, text) for scene in SCENES for text, _ in inked(language, ROOMS[0], scene)]
    assert [one for one in lines if fonts.drawable(one[1]) != one[1]] == []


@pytest.mark.parametrize("language", languages())
def test_labels_of_a_panel_or_a_row_of_buttons_have_one_size(language: str) -> None:
    screen, pen, surface = drawing(language, ROOMS[0])
    for scene in SCENES:
        for group in screen._targets(current_screen(screen._, scene_of(scene)), scene_of(scene)):
            pen.shares.clear()
            screen._buttons.draw(surface, group)
            labels = [one.label.partition("\n")[0] for one in group]
            apart = {screen._buttons._key(one) for one in group} | {*"东南西北ESWN"}
            parts = {text for text in pen.shares if any(text in label for label in labels) and text not in apart}
            assert len({pen.shares[text] for text in parts}) <= 1, (scene, parts)


@pytest.mark.parametrize("scene", ["declared, value", "accepting, three winners"])
def test_a_hand_value_and_points_are_the_largest_of_their_kind(scene: str) -> None:
    (_, height), _ = ROOMS[1]
    tallest = max(rect.height for _, rect in inked("en", ROOMS[1], scene))
    assert tallest >= height // 12


@cache
def screen_of(size: tuple[int, int], hand: Hand) -> TableScreen:
    return TableScreen(Translator("en"), size, Appearance(hand))


def targets(scene: str, size: tuple[int, int] = SIZES[0], hand: Hand = "right") -> tuple[TouchTarget, ...]:
    """Return the touch targets of a scene."""
    return screen_of(size, hand).targets(scene_of(scene))


def test_touch_targets_are_large_enough_for_a_finger_and_apart() -> None:
    """48 of 480 pixels are 9 mm on the official 7-inch display."""
    hands: tuple[Hand, ...] = ("right", "left")
    wrong = []
    for size, hand, scene in product(SIZES, hands, SCENES):
        screen, boxes = pygame.Rect((0, 0), size), [target.box for target in targets(scene, size, hand)]
        small = [box for box in boxes if min(box.size) < min(size) / 10 or not screen.contains(box)]
        touching = [pair for pair in combinations(boxes, 2) if pair[0].colliderect(pair[1])]
        if small or touching:
            wrong.append((size, hand, scene, small, touching))
    assert wrong == []


@pytest.mark.parametrize(
    ("scene", "keys"),
    [
        ("waiting", "t m"),
        ("restoring", "c m"),
        ("confirming", "c m"),
        ("playing", "d c"),
        ("playing, nobody won", "c"),
        ("playing, paused", "c"),
        ("declared, value", "b 1 2 3 4 5 6 7 8 9 clear 0 back x enter c m"),
        ("declared, discarder", "e s n d back c m"),
        ("declared, on whose tile", "s w n d x back c m"),
        ("declared, three winners", "b 1 2 3 4 5 6 7 8 9 clear 0 back x enter c m"),
        ("accepting", "r c m"),
        ("recorded", "enter c m"),
        ("finished", "t m"),
    ],
)
def test_whatever_a_key_does_a_touch_does_too(scene: str, keys: str) -> None:
    assert " ".join(target.key for target in targets(scene)) == keys


def test_the_self_test_offers_no_panel_to_a_called_arbiter() -> None:
    tested = replace(SCENES["confirming"](), call=CallView(), self_test=SCENES["self-test, buttons"]().self_test)
    assert "a" not in {button.key for button in current_screen(Translator("en"), tested).actions}


@pytest.mark.parametrize("scene", ["confirming", "riichi, confirming", "riichi deal, confirming", "recorded"])
def test_extra_time_is_shown_wherever_players_wait_for_a_play(scene: str) -> None:
    seen = current_screen(Translator("en"), replace(SCENES[scene](), time=TimeView(extra_min=5)))
    assert seen.lines[0].text == "Extra time: 5 min"


def test_a_left_handed_table_has_its_buttons_at_the_left() -> None:
    width, scene = SIZES[0][0], "declared, value"
    assert all(target.box.left > width / 2 for target in targets(scene, hand="right"))
    assert all(target.box.right < width / 2 for target in targets(scene, hand="left"))


def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """Return the contrast of two colours as WCAG 2.2 defines it."""

    def luminance(colour: tuple[int, ...]) -> float:
        parts = [part / 255 for part in colour]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def test_every_text_is_legible_on_its_ground() -> None:
    """7:1, the stricter of WCAG's two levels; on pressed buttons too, each in one scene."""
    screen, pen, surface = drawing("en", ROOMS[0])
    pen.inks.clear()
    surface.set_clip(None)
    pressed = set[tuple[str, str]]()
    for scene in SCENES:
        shown = scene_of(scene)
        new = [one for one in screen.targets(shown) if (one.key, one.label) not in pressed]
        pressed.update((one.key, one.label) for one in new)
        for target in (None, *new):
            screen.draw(surface, shown, target)
    assert len({ground for _, ground in pen.inks}) == 9  # three of the screen, a row ticked, a place, four seats
    assert [(ink, ground) for ink, ground in pen.inks if contrast(ink, ground) < 7] == []


@pytest.mark.parametrize("ground", [GROUND, PANEL])
def test_text_on_a_dimmed_screen_is_legible(ground: Colour) -> None:
    """4.5:1, WCAG's level for all text."""
    dimmed = [tuple(part * left // 255 for part, left in zip(one, DIMMED, strict=True)) for one in (TEXT, ground)]
    assert contrast(*dimmed) >= 4.5


@pytest.mark.parametrize("ground", [GROUND, PANEL])
def test_the_edge_of_a_button_is_visible(ground: Colour) -> None:
    """3:1, what WCAG asks of what is no text."""
    assert contrast(EDGE, ground) >= 3


def pixels(shown: ScreenView) -> bytes:
    surface = pygame.Surface(SIZES[0])
    TableScreen(Translator("en"), SIZES[0]).draw(surface, shown)
    return pygame.image.tobytes(pygame.transform.grayscale(surface), "RGB")


def test_every_meaning_of_a_colour_is_also_shown_without_it() -> None:
    """A seat's tick, the seat in question and faults are recognisable in grey too."""
    confirming = scene_of("confirming")
    phases = SeatingView("confirming"), DeclaredView(), DeclaredView(("east",))
    told = [confirming, *(replace(confirming, phase=one) for one in phases)]
    assert len({pixels(one) for one in told}) == len(told)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_reason_for_an_aborted_hand_begins_like_a_sentence(language: str) -> None:
    ended = [RiichiEvent(kind="abort", reason=reason) for reason in get_args(AbortReason)]
    assert all(how_it_ended(Translator(language), one)[0].isupper() for one in ended)


def test_no_line_begins_with_closing_punctuation() -> None:
    """French has a space before a colon, at which no line may break."""
    first = {text[0] for scene in SCENES for text, _ in inked("fr", ROOMS[0], scene) if len(text) > 1}
    assert first & set(":;?!»") == set()


def test_unread_places_are_named_while_they_are_few() -> None:
    told = [text for text, _ in inked("en", ROOMS[0], "restoring, unread")]
    assert "Waiting for row 1, place 1 · row 1, place 2 · row 1, place 3" in told
    screen, pen, surface = drawing("en", ROOMS[0])
    pen.lines.clear()
    screen.draw(surface, unread(MOST_PLACES_NAMED + 1))
    assert [text for text, _ in pen.lines if text.startswith("Waiting")] == []


def test_cut_out_tiles_are_below_their_tray() -> None:
    colour = (250, 0, 250)
    shown, listed = scene_of("restoring, unread"), np.full((148, 1196, 3), colour, np.uint8)
    assert isinstance(shown.phase, RestoringView)
    restoring = replace(shown.phase.restoring, observation=TableObservation(listed=CameraView(2, listed)))
    surface = pygame.Surface(SIZES[0])
    TableScreen(Translator("en"), SIZES[0]).draw(
        surface, replace(shown, phase=replace(shown.phase, restoring=restoring))
    )
    drawn = np.frombuffer(pygame.image.tobytes(surface, "RGB"), np.uint8).reshape(*reversed(SIZES[0]), 3)
    marked = np.abs(drawn.astype(int) - colour).max(axis=2) < 9  # as smooth scaling leaves it
    assert marked.sum() > 0.1 * marked.size
    assert marked[: SIZES[0][1] // 2].sum() == 0


def test_no_two_buttons_of_a_screen_share_a_key() -> None:
    """The key of the light, or of the call, would otherwise take another button's touch."""
    screen = TableScreen(Translator(), (800, 480))
    keys = {name: [one.key for one in screen.targets(scene_of(name))] for name in SCENES}
    assert {name: found for name, found in keys.items() if len(found) > len({*found})} == {}
