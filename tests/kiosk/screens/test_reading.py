"""Letters are large enough for their readers: at least 16 arc minutes, from where each of them is."""

from math import atan, degrees
from pathlib import Path
from typing import Final

import pygame
import pytest

from broker.i18n import N_, SEAT_NAMES, Translator, languages
from kiosk.screens import drawing, fonts
from kiosk.screens.texts import STATE_HELP
from tests.kiosk.screens.test_table import inked, scene_of

ROOT: Final = Path(__file__).parents[3]

DISPLAYS: Final = {"7-inch": 86, "10-inch": 136, "15-inch": 194}
"""Length of the shorter side in mm: the official 7-inch display; 10.1 and 15.6 inches of 16:10 and 16:9."""

LEAST: Final = 16
"""Arc minutes of a capital letter that is read at a glance."""

FROM_M: Final = {drawing.HEADLINE: 1.6, drawing.TITLE: 1.2, drawing.LARGE: 0.9, drawing.BODY: 0.65, drawing.SMALL: 0.5}
"""Reading distances in m, on the smallest of these displays."""

OF_FOUR: Final = (
    "restoring",
    "confirming",
    "playing",
    "playing, nobody won",
    "accepting",
    "recorded",
    "recorded, void",
)
"""Texts that the four players read from their chairs."""


def capital() -> float:
    """Return the height of a capital letter, as a share of its line."""
    font = pygame.font.Font(fonts.ROBOTO, 1000)
    letter = font.render("H", antialias=True, color=drawing.TEXT)
    return letter.get_bounding_rect().height / font.get_height()


def arc_minutes(share: float, display: str, from_m: float) -> float:
    return 60 * degrees(atan(capital() * share * DISPLAYS[display] / 1000 / from_m))


@pytest.mark.parametrize(("share", "from_m"), FROM_M.items())
def test_each_text_size_is_legible_from_its_reading_distance(share: float, from_m: float) -> None:
    assert arc_minutes(share, "7-inch", from_m) >= LEAST


def test_the_screens_page_states_the_reading_distances() -> None:
    page = (ROOT / "docs" / "screens.md").read_text(encoding="utf-8")
    for share in FROM_M:
        far = [f"{share * capital() * mm / 1000 / (LEAST / 60 / 57.2958):.1f} m" for mm in DISPLAYS.values()]
        assert f"| {' | '.join(far)} |" in page


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("size", [(800, 480), (1280, 720), (720, 1280)], ids=str)
def test_text_for_all_four_players_keeps_its_size(language: str, size: tuple[int, int]) -> None:
    """Lines may shrink where there are many, but not a seat's name, nor what the table does now."""
    seats = [Translator(language)(name) for name in SEAT_NAMES.values()]
    for scene in OF_FOUR:
        lines = [(text, rect.height / min(size)) for text, rect in inked(language, (size, 1.0), scene)]
        assert max(share for _, share in lines) >= 0.95 * drawing.TITLE, scene
        for seat in seats:  # readers of Chinese have its name on its shape as well
            assert max(share for text, share in lines if text == seat) >= 0.8 * drawing.LARGE, scene
        named = [share for text, share in lines if text in scene_of(scene).players.values()]
        assert min(named, default=drawing.BODY) >= 0.75 * drawing.BODY, scene


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("size", [(800, 480), (1280, 720)], ids=str)
def test_instructions_wrap_to_a_second_line_rather_than_shrink(language: str, size: tuple[int, int]) -> None:
    helps = {
        "seating": STATE_HELP["seating"],
        "confirming": STATE_HELP["confirming"],
        "riichi deal, confirming": N_(
            "13 tiles for your hand, 21 of the wall, in order? Press your button. If not, call the arbiter."
        ),
    }
    for scene, text in helps.items():
        help_ = Translator(language)(text).replace("\N{NO-BREAK SPACE}", " ")
        drawn = [
            rect.height / min(size)
            for text, rect in inked(language, (size, 1.0), scene)
            if text in help_ and len(text) > 17
        ]
        assert min(drawn) >= 0.93 * drawing.BODY, scene
