"""Colours and type, for all screens: dark, quiet, legible at two metres."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pygame

from kiosk.errors import BadConfiguration

Colour = tuple[int, int, int]

GROUND: Final[Colour] = (16, 24, 22)
PANEL: Final[Colour] = (30, 43, 40)
TEXT: Final[Colour] = (240, 243, 238)
QUIET: Final[Colour] = (170, 186, 178)
GOOD: Final[Colour] = (108, 206, 150)
ATTENTION: Final[Colour] = (250, 190, 88)
LINE: Final[Colour] = (66, 86, 79)
EDGE: Final[Colour] = (132, 152, 143)
"""Around what may be touched: 3:1 on its ground, as WCAG asks of what is no text."""

STICK: Final[Colour] = (240, 236, 220)
STICK_RED: Final[Colour] = (200, 52, 44)
STICK_DARK: Final[Colour] = (40, 40, 44)

SMALLEST: Final = 0.031
"""Share of the screen's height below which nobody reads a line; what is longer is cut."""

CHINESE_FILES: Final = (Path("/usr/share/fonts/truetype/wqy/wqy-microhei.ttc"),)
"""Where Debian's fonts-wqy-microhei puts it: asked first, so that fontconfig need not be there."""

CHINESE_NAMES: Final = ("wqymicrohei", "wenquanyimicrohei", "notosanscjksc", "notosanscjk", "droidsansfallback")

NO_LETTER: Final = "\uffff"
"""Unicode promises that this is no letter."""

HINT: Final = "language {language} needs a Chinese font: sudo apt-get install fonts-wqy-microhei"

HAN: Final = ("zh", "ja", "ko")
"""Languages that pygame's own font has no letters for, and fonts-wqy-microhei has."""


class Type:
    """Fonts in sizes relative to the height of the screen; a text gets one that has all its letters."""

    def __init__(self, language: str, height: int) -> None:
        """Raise BadConfiguration where the language has no font here."""
        self._chinese_first = language[:2] in HAN
        if self._chinese_first and chinese_font() is None:
            raise BadConfiguration(HINT.format(language=language))
        self._height = height

    def font(self, text: str, share: float) -> pygame.font.Font:
        """Give the font with lines of this share of the screen's height that has the most letters of a text.

        A Chinese name may sit at an English table and a Polish one at a Chinese table.
        """
        return self._sized(min(self._faces(), key=lambda path: _lacking(path, text)), share)

    def covers(self, text: str) -> bool:
        """Say whether a font here has every letter of a text."""
        return any(_lacking(path, text) == 0 for path in self._faces())

    def _faces(self) -> Iterator[Path | None]:
        """Give font files in the order of trying; None is pygame's own, for most European languages."""
        if not self._chinese_first:
            yield None
        if (chinese := chinese_font()) is not None:
            yield chinese
        if self._chinese_first:
            yield None

    def _sized(self, path: Path | None, share: float) -> pygame.font.Font:
        return _font(path, max(8, round(self._height * share / _line_height(path))))


@cache
def _font(path: Path | None, size: int) -> pygame.font.Font:
    """Open a font once for all screens: each keeps its file open."""
    return pygame.font.Font(path, size)


@cache
def _line_height(path: Path | None) -> float:
    """Give how high a line is for a font's nominal size: Chinese fonts leave more room above and below."""
    return pygame.font.Font(path, 100).get_height() / 100


def _lacking(path: Path | None, text: str) -> int:
    return sum(not _has(path, letter) for letter in text)


@cache
def _has(path: Path | None, letter: str) -> bool:
    """Say whether a font has a letter: what it draws is not what it draws for one that no font has."""
    return letter.isspace() or _drawn(path, letter) != _drawn(path, NO_LETTER)


@cache
def _drawn(path: Path | None, letter: str) -> bytes:
    picture = pygame.font.Font(path, 24).render(letter, False, TEXT, GROUND)  # noqa: FBT003 - pygame's own: antialias
    return pygame.image.tobytes(picture, "RGB")


@cache
def chinese_font() -> Path | None:
    """Give a file with Chinese letters, if there is one here."""
    for path in CHINESE_FILES:
        if path.is_file():
            return path
    for name in CHINESE_NAMES:
        if found := pygame.font.match_font(name):
            return Path(found)
    return None
