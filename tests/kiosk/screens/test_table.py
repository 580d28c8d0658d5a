"""The table's screen: every state in every language, with the longest names, and nothing runs into anything."""

from itertools import combinations, product

import pygame
import pytest

from kiosk.screens import style
from kiosk.screens.layout import Hand
from kiosk.screens.pen import Align, Pen
from kiosk.screens.table import Look, TableScreen
from kiosk.screens.targets import Target
from kiosk.screens.words import Words, languages
from tests.kiosk.screens.scenes import SCENES

SIZES = [(800, 480), (1280, 720), (1024, 600)]


class Inked(Pen):
    """A pen that remembers where its lines stand, cut off by nothing."""

    def __init__(self, language: str, size: tuple[int, int]) -> None:
        super().__init__(language, size)
        self.lines: list[tuple[str, pygame.Rect]] = []

    def write(
        self,
        surface: pygame.Surface,
        text: str,
        at: tuple[int, int],
        share: float,
        colour: style.Colour,
        width: int,
        align: Align = "left",
    ) -> pygame.Rect:
        drawn, font = self._fitting(text, share, width)
        rect = pygame.Rect(at, font.size(drawn))
        rect.x -= {"left": 0, "centre": rect.width // 2, "right": rect.width}[align]
        self.lines.append((drawn, rect))
        return super().write(surface, text, at, share, colour, width, align)


def inked(language: str, size: tuple[int, int], scene: str) -> tuple[pygame.Surface, Inked]:
    """Draw a scene."""
    pen = Inked(language, size)
    screen = TableScreen(Words(language), size, pen=pen)
    surface = pygame.Surface(size)
    screen.draw(surface, SCENES[scene]())
    return surface, pen


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("language", languages())
def test_every_line_stands_on_the_screen_and_apart_from_the_others(
    language: str, size: tuple[int, int], scene: str
) -> None:
    surface, pen = inked(language, size, scene)
    assert [line for line in pen.lines if not surface.get_rect().contains(line[1])] == []
    # Fonts leave room above and below their letters: lines may share that, never ink.
    tight = [(text, rect.inflate(0, -rect.height // 3)) for text, rect in pen.lines]
    assert [(one[0], other[0]) for one, other in combinations(tight, 2) if one[1].colliderect(other[1])] == []


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("language", languages())
def test_every_letter_is_in_the_font_it_is_written_in(language: str, scene: str) -> None:
    size = SIZES[0]
    _, pen = inked(language, size, scene)
    fonts = style.Type(language, size[1])
    assert [text for text, _ in pen.lines if not fonts.covers(text)] == []


@pytest.mark.parametrize("scene", ["playing, all broken", "confirming, all broken"])
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("language", languages())
def test_where_much_is_broken_nothing_of_it_is_cut_off(language: str, size: tuple[int, int], scene: str) -> None:
    _, pen = inked(language, size, scene)
    assert [text for text, _ in pen.lines if "…" in text] == []


@pytest.mark.parametrize("scene", ["declared, value", "accepting, three winners"])
def test_a_hand_value_and_points_are_the_largest_of_their_kind(scene: str) -> None:
    _, pen = inked("en", SIZES[1], scene)
    tallest = max(rect.height for _, rect in pen.lines)
    assert tallest >= SIZES[1][1] // 12


def targets(scene: str, size: tuple[int, int] = SIZES[0], hand: Hand = "right") -> tuple[Target, ...]:
    """Give what may be touched in a scene."""
    return TableScreen(Words("en"), size, Look(hand)).targets(SCENES[scene]())


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize(("size", "hand"), [*product(SIZES, ("right", "left"))], ids=str)
def test_what_may_be_touched_is_large_enough_for_a_finger_and_apart(
    size: tuple[int, int], hand: Hand, scene: str
) -> None:
    """48 of 480 pixels are 9 mm on the official 7-inch display."""
    boxes = [target.box for target in targets(scene, size, hand)]
    assert [box for box in boxes if min(box.size) < size[1] / 10 or not pygame.Rect((0, 0), size).contains(box)] == []
    assert [(one, other) for one, other in combinations(boxes, 2) if one.colliderect(other)] == []


@pytest.mark.parametrize(
    ("scene", "keys"),
    [
        ("waiting", ""),
        ("restoring", "c"),
        ("confirming", "c"),
        ("playing", "d c"),
        ("playing, nobody won", "c"),
        ("playing, paused", "c"),
        ("declared, value", "1 2 3 4 5 6 7 8 9 clear 0 back x enter c"),
        ("declared, false hu", "4 8 back c"),
        ("declared, discarder", "e s n d back c"),
        ("declared, all four", "1 2 3 4 5 6 7 8 9 clear 0 back x enter c"),
        ("accepting", "r c"),
        ("recorded", "enter c"),
        ("finished", ""),
    ],
)
def test_whatever_a_key_does_a_finger_does_too(scene: str, keys: str) -> None:
    assert " ".join(target.key for target in targets(scene)) == keys


def test_a_left_handed_table_has_its_buttons_at_the_left() -> None:
    width, scene = SIZES[0][0], "declared, value"
    assert all(target.box.left > width / 2 for target in targets(scene, hand="right"))
    assert all(target.box.right < width / 2 for target in targets(scene, hand="left"))


def contrast(one: style.Colour, other: style.Colour) -> float:
    """Give the contrast of two colours as WCAG 2.2 defines it."""

    def luminance(colour: style.Colour) -> float:
        parts = [part / 255 for part in colour]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("colour", [style.TEXT, style.QUIET, style.GOOD, style.ATTENTION])
@pytest.mark.parametrize("ground", [style.GROUND, style.PANEL])
def test_everything_written_can_be_read_from_afar(colour: style.Colour, ground: style.Colour) -> None:
    """7:1, the stricter of WCAG's two levels."""
    assert contrast(colour, ground) >= 7
