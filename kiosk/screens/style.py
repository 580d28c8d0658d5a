"""Colours and type, for all screens: dark, quiet, legible at two metres."""

from pathlib import Path
from typing import Final

import pygame

from kiosk.errors import BadConfiguration

Colour = tuple[int, int, int]

GROUND: Final[Colour] = (16, 24, 22)
PANEL: Final[Colour] = (28, 40, 37)
TEXT: Final[Colour] = (240, 243, 238)
QUIET: Final[Colour] = (160, 176, 168)
GOOD: Final[Colour] = (108, 206, 150)
ATTENTION: Final[Colour] = (250, 190, 88)
LINE: Final[Colour] = (58, 76, 70)

CHINESE: Final = ("wqymicrohei", "wenquanyimicrohei", "notosanscjksc", "notosanscjk", "droidsansfallback")


class Type:
    """Fonts in sizes relative to the height of the screen."""

    def __init__(self, language: str, height: int) -> None:
        """Raise BadConfiguration where the language has no font here."""
        self._path = _font(language)
        self._height = height
        self._fonts: dict[int, pygame.font.Font] = {}

    def font(self, share: float) -> pygame.font.Font:
        """Give the font whose height is this share of the screen's."""
        size = max(10, round(self._height * share))
        if size not in self._fonts:
            self._fonts[size] = pygame.font.Font(self._path, size)
        return self._fonts[size]

    def fitting(self, text: str, share: float, width: int) -> pygame.font.Font:
        """Give the largest font up to that share in which the text is no wider."""
        while share > 0.02 and self.font(share).size(text)[0] > width:  # noqa: PLR2004 - no smaller: illegible
            share *= 0.94
        return self.font(share)


def _font(language: str) -> Path | None:
    """Give the font file of a language; None is pygame's own, which has every letter of English and French."""
    if language != "zh":
        return None
    for name in CHINESE:
        if found := pygame.font.match_font(name):
            return Path(found)
    raise BadConfiguration("language zh needs a Chinese font: sudo apt-get install fonts-wqy-microhei")
