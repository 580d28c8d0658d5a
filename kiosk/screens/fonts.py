"""The fonts of the screen: Roboto, and one that has Chinese characters."""

from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Final

import pygame

from kiosk.errors import BadConfiguration

ROBOTO: Final = Path(str(files("font_roboto") / "files" / "Roboto-Bold.ttf"))
"""For Latin, Greek and Cyrillic letters; evenly spaced at every size, as on our prints."""

CHINESE_FILES: Final = (Path("/usr/share/fonts/truetype/wqy/wqy-microhei.ttc"),)
"""Where Debian's fonts-wqy-microhei puts it: asked first, so that fontconfig need not be there."""

CHINESE_NAMES: Final = ("wqymicrohei", "wenquanyimicrohei", "notosanscjksc", "notosanscjk", "droidsansfallback")
NO_LETTER: Final = "\uffff"
"""Unicode promises that this is no letter."""

HINT: Final = "language {language} needs a Chinese font: sudo apt-get install fonts-wqy-microhei"
HAN: Final = ("zh", "ja", "ko")
"""Languages that Roboto has no letters for, and fonts-wqy-microhei has."""

MOST_KNOWN: Final = 4_096
"""Texts whose font and size are remembered; a day at a table has some hundreds."""


class Fonts:
    """Fonts in sizes relative to the height of the screen; a text gets one that has all its letters."""

    def __init__(self, language: str, height: int) -> None:
        """Raise BadConfiguration where the language has no font here."""
        self._chinese_first = language[:2] in HAN
        if self._chinese_first and chinese_font() is None:
            raise BadConfiguration(HINT.format(language=language))
        self._height = height
        self._face = lru_cache(MOST_KNOWN)(self._choose)

    def font(self, text: str, share: float) -> pygame.font.Font:
        """Return the font with lines of this share of the screen's height that has the most letters of a text.

        A Chinese name may sit at an English table and a Polish one at a Chinese table.
        """
        return self._sized(self._face(text), share)

    def covers(self, text: str) -> bool:
        """Return whether a font here has every letter of a text."""
        return any(_lacking(path, text) == 0 for path in self._faces())

    def _choose(self, text: str) -> Path:
        whole = (path for path in self._faces() if not _lacking(path, text))
        return next(whole, None) or min(self._faces(), key=lambda path: _lacking(path, text))

    def _faces(self) -> Iterator[Path]:
        """Return font files in the order of trying."""
        if not self._chinese_first:
            yield ROBOTO
        if (chinese := chinese_font()) is not None:
            yield chinese
        if self._chinese_first:
            yield ROBOTO

    def _sized(self, path: Path, share: float) -> pygame.font.Font:
        return _font(path, max(8, round(self._height * share / _line_height(path))))


@cache
def _font(path: Path, size: int) -> pygame.font.Font:
    """Open a font once for all screens: each keeps its file open."""
    return pygame.font.Font(path, size)


@cache
def _line_height(path: Path) -> float:
    """Return how high a line is for a font's nominal size: Chinese fonts leave more room above and below."""
    return pygame.font.Font(path, 100).get_height() / 100


def _lacking(path: Path, text: str) -> int:
    return sum(not _has(path, letter) for letter in text)


@cache
def _has(path: Path, letter: str) -> bool:
    """Return whether a font has a letter: what it draws is not what it draws for one that no font has."""
    return letter.isspace() or _drawn(path, letter) != _drawn(path, NO_LETTER)


@cache
def _drawn(path: Path, letter: str) -> bytes:
    picture = _font(path, 24).render(letter, False, "white", "black")  # noqa: FBT003 - pygame's own: antialias
    return pygame.image.tobytes(picture, "RGB")


@cache
def chinese_font() -> Path | None:
    """Return a file with Chinese letters, if there is one here."""
    for path in CHINESE_FILES:
        if path.is_file():
            return path
    for name in CHINESE_NAMES:
        if found := pygame.font.match_font(name):
            return Path(found)
    return None
