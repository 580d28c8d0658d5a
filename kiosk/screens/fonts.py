"""The fonts of the screen: Roboto, a Chinese one, and those of other scripts for names.

HarfBuzz, which is part of SDL, shapes Arabic, Thai and the scripts of South Asia, and sets Arabic and Hebrew from right
to left.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

import pygame

from broker.i18n import ISOLATE, ISOLATE_END, RIGHT_TO_LEFT, without_pictographs
from kiosk.errors import BadConfiguration

ROBOTO: Final = Path(str(files("font_roboto") / "files" / "Roboto-Bold.ttf"))
"""For Latin, Greek and Cyrillic letters; evenly spaced at every size, as on our prints."""

CHINESE_FILES: Final = (Path("/usr/share/fonts/truetype/wqy/wqy-microhei.ttc"),)
"""Where Debian's fonts-wqy-microhei installs it. It is tried first, so that fontconfig is not needed."""

CHINESE_NAMES: Final = ("wqymicrohei", "wenquanyimicrohei", "notosanscjksc", "notosanscjk", "droidsansfallback")

NAMES_FILES: Final = (
    Path("/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"),
    Path("/usr/share/fonts/truetype/tlwg/Loma-Bold.ttf"),
    Path("/usr/share/fonts/truetype/lohit-devanagari/Lohit-Devanagari.ttf"),
    Path("/usr/share/fonts/truetype/lohit-bengali/Lohit-Bengali.ttf"),
    Path("/usr/share/fonts/truetype/lohit-tamil/Lohit-Tamil.ttf"),
    Path("/usr/share/fonts/truetype/sinhala/lklug.ttf"),
)
"""Fonts for further scripts, as Debian installs them. Without its font, a script is shown as question marks.

Hebrew, Arabic, Armenian and Georgian: fonts-dejavu-core; Thai: fonts-tlwg-loma-ttf; Devanagari: fonts-lohit-deva;
Bengali: fonts-lohit-beng-bengali; Tamil: fonts-lohit-taml; Sinhala: fonts-lklug-sinhala.
"""

LETTERS_REACH: Final = {"Lohit-Tamil.ttf": (0.25, 0.87)}
"""For fonts whose lines are much higher than their letters: the range of the letters, as shares of a line."""

JOINERS: Final = "\u200c\u200d"
"""They say whether the letters around them are joined, as in Sinhala ක්\u200dර; they are not drawn themselves."""

LETTERS: Final = re.compile(f".[{JOINERS}]*", re.DOTALL)
"""A letter with the joiners after it."""

NO_LETTER: Final = "\uffff"
"""Unicode guarantees that this is no character."""

CHINESE_FONT_HINT: Final = "language {language} needs a Chinese font: sudo apt-get install fonts-wqy-microhei"
HAN_LANGUAGES: Final = ("zh", "ja", "ko")
"""Languages whose characters are in fonts-wqy-microhei, and not in Roboto."""

MOST_KNOWN: Final = 4_096
"""Texts whose font and size are cached; a day at a table has some hundreds."""

RTL_TEXT: Final = re.compile("(R(?:[RME ]*[RM])?E?)")
"""Text read from right to left in a sentence, by `_direction`, with whatever is inside, and the mark of a cut."""

LTR_TEXT: Final = re.compile("(L(?:[LM ]*[LM])?)")
"""Text read from left to right in a name that is not."""

ISOLATED: Final = re.compile(f"{ISOLATE}([^{ISOLATE_END}]*){ISOLATE_END}?")
"""A name as marked by `isolated`; one that was cut has no end."""

MARKS: Final = ISOLATE + ISOLATE_END

NAME_SEPARATORS: Final = re.compile(f"( · |[{MARKS}])")
"""The separator between a wind and its player's name, and the marks around a name."""

SCRIPTS: Final = {
    "ARABIC": "Arab",
    "HEBREW": "Hebr",
    "THAI": "Thai",
    "DEVANAGARI": "Deva",
    "BENGALI": "Beng",
    "TAMIL": "Taml",
    "SINHALA": "Sinh",
}
"""HarfBuzz's scripts, by the first word of their letters' names: these are shaped, or read from right to left."""


class TextRun(NamedTuple):
    """Letters of one font and direction."""

    path: Path
    text: str
    right_to_left: bool = False

    @property
    def script(self) -> str | None:
        """The script of the first letter that has one in SCRIPTS."""
        return next(filter(None, map(_script, self.text)), None)


@cache
def _script(letter: str) -> str | None:
    return SCRIPTS.get(unicodedata.name(letter, "").partition(" ")[0])


class Fonts:
    """Fonts in sizes relative to the screen's height; each part of a text gets a font with all its letters."""

    def __init__(self, language: str, height: int) -> None:
        """Find the fonts. Raises BadConfiguration if there is none for the language."""
        chinese = chinese_font()
        if (chinese_first := language[:2] in HAN_LANGUAGES) and chinese is None:
            raise BadConfiguration(CHINESE_FONT_HINT.format(language=language))
        first = [ROBOTO, *([chinese] if chinese else [])]
        self._sentences: tuple[Path, ...] = (*(reversed(first) if chinese_first else first),)
        self._paths: tuple[Path, ...] = (*self._sentences, *(path for path in NAMES_FILES if path.is_file()))
        """In the order in which they are tried; the first are those of sentences."""
        self._height = height
        self.drawable = lru_cache(MOST_KNOWN)(self._drawable_text)
        self._letter = lru_cache(MOST_KNOWN)(self._drawable_letter)
        self._runs = lru_cache(MOST_KNOWN)(self._split_runs)

    def size(self, text: str, share: float) -> tuple[int, int]:
        """Return width and height of a text in pixels, with lines of this share of the screen's height."""
        runs = self._runs(text)
        sizes = [self._sized(run, share).size(run.text) for run in runs]
        heights = (_line(run.path, height)[1] for run, (_, height) in zip(runs, sizes, strict=True))
        return sum(width for width, _ in sizes), max(heights)

    def render(self, text: str, share: float, colour: tuple[int, int, int]) -> pygame.Surface:
        """Draw a text part by part from the left: a Chinese name may be at an English table, or an Arabic one."""
        parts = [self._render(run, share, colour) for run in self._runs(text)]
        if len(parts) == 1:
            return parts[0]
        whole, x = pygame.Surface(self.size(text, share), pygame.SRCALPHA), 0
        for part in parts:
            x = whole.blit(part, (x, 0)).right
        return whole

    def _render(self, run: TextRun, share: float, colour: tuple[int, int, int]) -> pygame.Surface:
        picture = self._sized(run, share).render(run.text, antialias=True, color=colour)
        top, height = _line(run.path, picture.get_height())
        return picture.subsurface((0, top, picture.get_width(), height))

    def _drawable_text(self, text: str) -> str:
        """Return a text in available letters: plainer ones for some, question marks for others, and no emoji."""
        if text.isascii() and text.isprintable():
            return text
        parts = NAME_SEPARATORS.split(unicodedata.normalize("NFC", text))
        plain = (part if at % 2 else without_pictographs(part, self._is_drawn) for at, part in enumerate(parts))
        return "".join(letter if letter in MARKS else self._letter(letter) for letter in "".join(plain))

    def _drawable_letter(self, letter: str) -> str:
        if not letter.isprintable() and letter not in JOINERS:
            return " "
        plain = unicodedata.normalize("NFKD", letter)[0]
        return next((one for one in (letter, plain) if self._is_drawn(one)), "?")

    def _is_drawn(self, letter: str) -> bool:
        return letter in JOINERS or (letter.isprintable() and any(_has(path, letter) for path in self._paths))

    def _split_runs(self, text: str) -> list[TextRun]:
        """Split a text by direction and font, in drawing order."""
        runs = list[TextRun]()
        for number, part in enumerate(ISOLATED.split(self.drawable(text))):
            if number % 2 and _begins_right_to_left(part):
                for piece in reversed([*self._by_direction(part, LTR_TEXT)]):
                    runs += piece
            else:
                for piece in self._by_direction(part, RTL_TEXT):
                    runs += piece
        return runs or [TextRun(ROBOTO, "")]

    def _by_direction(self, text: str, within: re.Pattern[str]) -> Iterator[list[TextRun]]:
        """Split a text at parts read the other way; yield each piece's runs, the leftmost first."""
        at = 0
        for number, part in enumerate(within.split("".join(map(_direction, text)))):
            piece, at = text[at : at + len(part)], at + len(part)
            if (number % 2 == 1) == (within is RTL_TEXT):
                yield [run._replace(right_to_left=True) for run in reversed(self._by_font(piece, self._paths))]
            else:
                yield self._by_font(piece, self._sentences)

    def _by_font(self, text: str, fonts: Sequence[Path]) -> list[TextRun]:
        """Split a text by font, or not at all if one font has all its letters."""
        if not text:
            return []
        if whole := next((path for path in fonts if _covers(path, text)), None):
            return [TextRun(whole, text)]
        return [TextRun(path, "".join(letters)) for path, letters in groupby(LETTERS.findall(text), self._path_of)]

    def _path_of(self, letter: str) -> Path:
        return next((path for path in self._paths if _covers(path, letter)), self._paths[0])

    def _sized(self, run: TextRun, share: float) -> pygame.font.Font:
        size = max(8, round(self._height * share / _line_height(run.path)))
        return _font(run.path, size, run.script, right_to_left=run.right_to_left)


@cache
def _direction(letter: str) -> str:
    """Return R for a letter read from right to left, L from left to right, M for a mark, E for an ellipsis."""
    kind = unicodedata.bidirectional(letter)
    known = {"R": "R", "AL": "R", "NSM": "M", "L": "L", "EN": "L", "AN": "L"}
    return "E" if letter == "…" else known.get(kind, " ")


def _begins_right_to_left(name: str) -> bool:
    """Return whether a name's first letter is read from right to left."""
    first = next((kind for kind in map(unicodedata.bidirectional, name) if kind in {"L", *RIGHT_TO_LEFT}), "L")
    return first in RIGHT_TO_LEFT


@cache
def _font(path: Path, size: int, script: str | None = None, *, right_to_left: bool = False) -> pygame.font.Font:
    """Open a font once for all screens, as each keeps its file open."""
    font = pygame.font.Font(path, size)
    with suppress(pygame.error):  # SDL without HarfBuzz: the name is drawn unshaped
        if script:
            font.set_script(script)
        if right_to_left:
            font.set_direction(pygame.DIRECTION_RTL)
    return font


@cache
def _line_height(path: Path) -> float:
    """Return a font's line height relative to its nominal size: Chinese fonts leave more room above and below."""
    return _line(path, pygame.font.Font(path, 100).get_height())[1] / 100


def _line(path: Path, height: int) -> tuple[int, int]:
    """Return the first pixel of a font's line that letters reach, and the height they take."""
    top, bottom = LETTERS_REACH.get(path.name, (0, 1))
    return round(top * height), round((bottom - top) * height)


def _covers(path: Path, text: str) -> bool:
    return all(_has(path, letter) for letter in text)


@cache
def _has(path: Path, letter: str) -> bool:
    """Return whether a font has a letter: it draws something else than for a character that no font has."""
    return letter.isspace() or letter in JOINERS or _drawn(path, letter) != _drawn(path, NO_LETTER)


@cache
def _drawn(path: Path, letter: str) -> bytes:
    picture = _font(path, 24).render(letter, False, "white", "black")  # noqa: FBT003 - pygame's own: antialias
    return pygame.image.tobytes(picture, "RGB")


@cache
def chinese_font() -> Path | None:
    """Return a font file with Chinese characters, or None."""
    for path in CHINESE_FILES:
        if path.is_file():
            return path
    for name in CHINESE_NAMES:
        if found := pygame.font.match_font(name):
            return Path(found)
    return None
