"""The table's screen: every state in every language, with the longest names, and nothing runs into anything."""

from itertools import combinations
from typing import get_args

import pygame
import pytest

from kiosk.config import Language
from kiosk.screens import style
from kiosk.screens.pen import Align, Pen
from kiosk.screens.table import TableScreen
from kiosk.screens.words import Words
from tests.kiosk.screens.scenes import SCENES

SIZES = [(800, 480), (1280, 720), (1024, 600)]


class Inked(Pen):
    """A pen that remembers where its lines stand, cut off by nothing."""

    def __init__(self, language: Language, size: tuple[int, int]) -> None:
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


def inked(language: Language, size: tuple[int, int], scene: str) -> tuple[pygame.Surface, Inked]:
    """Draw a scene."""
    pen = Inked(language, size)
    screen = TableScreen(Words(language), size, pen)
    surface = pygame.Surface(size)
    screen.draw(surface, SCENES[scene]())
    return surface, pen


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("language", get_args(Language))
def test_every_line_stands_on_the_screen_and_apart_from_the_others(
    language: Language, size: tuple[int, int], scene: str
) -> None:
    surface, pen = inked(language, size, scene)
    assert [line for line in pen.lines if not surface.get_rect().contains(line[1])] == []
    # Fonts leave room above and below their letters: lines may share that, never ink.
    tight = [(text, rect.inflate(0, -rect.height // 3)) for text, rect in pen.lines]
    assert [(one[0], other[0]) for one, other in combinations(tight, 2) if one[1].colliderect(other[1])] == []


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("language", get_args(Language))
def test_every_letter_is_in_the_font_it_is_written_in(language: Language, scene: str) -> None:
    size = SIZES[0]
    _, pen = inked(language, size, scene)
    fonts = style.Type(language, size[1])
    assert [text for text, _ in pen.lines if not fonts.covers(text)] == []


@pytest.mark.parametrize("scene", ["playing, all broken", "confirming, all broken"])
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("language", get_args(Language))
def test_where_much_is_broken_nothing_of_it_is_cut_off(language: Language, size: tuple[int, int], scene: str) -> None:
    _, pen = inked(language, size, scene)
    assert [text for text, _ in pen.lines if "…" in text] == []


@pytest.mark.parametrize("scene", ["declared, value", "accepting, three winners"])
def test_a_hand_value_and_points_are_the_largest_of_their_kind(scene: str) -> None:
    _, pen = inked("en", SIZES[1], scene)
    tallest = max(rect.height for _, rect in pen.lines)
    assert tallest >= SIZES[1][1] // 12


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
