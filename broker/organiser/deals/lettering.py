"""Text on a sheet in any script, as wide as it may be: each word in the first font that has it.

Helvetica for western Latin; Roboto, which is embedded, for all of Latin, Greek and Cyrillic; STSong-Light for Chinese.
The last is named in the PDF and not embedded: who shows or prints it needs a Chinese font. A name keeps its accents,
and no letter of a word that one font can write stands in another.
"""

import unicodedata
from functools import cache
from importlib.resources import as_file, files
from itertools import groupby
from typing import Final, NamedTuple

from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont, stringWidth
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

LATIN: Final = "Helvetica"
BOLD: Final = "Helvetica-Bold"
WIDER: Final = "Roboto"
WIDER_BOLD: Final = "Roboto-Bold"
CHINESE: Final = "STSong-Light"

ELLIPSIS: Final = "…"
ROUNDING: Final = 0.01
"""Points: a text that was made to fit exactly is not cut for the last digit of its width."""


class Run(NamedTuple):
    """Letters that are written in one font."""

    font: str
    text: str


def write(canvas: Canvas, at: tuple[float, float], text: str, size: float, *, bold: bool = False) -> float:
    """Write from a place to the right; give where the text ends (points)."""
    x, y = at
    for run in runs(text, bold=bold):
        canvas.setFont(run.font, size)
        canvas.drawString(x, y, run.text)
        x += stringWidth(run.text, run.font, size)
    return x


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Give the width of a text in points."""
    return float(sum(stringWidth(run.text, run.font, size) for run in runs(text, bold=bold)))


def fitted(text: str, room: float, largest: float, smallest: float, *, bold: bool = False) -> tuple[str, float]:
    """Give a text and its size so that it fits: smaller first, then cut, with an ellipsis."""
    size = min(largest, max(smallest, largest * room / max(width(text, largest, bold=bold), 1)))
    while text and width(text, size, bold=bold) > room + ROUNDING:
        text = text.removesuffix(ELLIPSIS)[:-1].rstrip() + ELLIPSIS
    return text, size


def runs(text: str, *, bold: bool = False) -> list[Run]:
    """Cut a text by fonts; what no font has is written plainer, or as a question mark."""
    words = ("".join(part) for _, part in groupby(unicodedata.normalize("NFC", text), str.isspace))
    pieces = [piece for word in words for piece in _word(word, bold=bold)]
    return [Run(font, "".join(run.text for run in same)) for font, same in groupby(pieces, lambda run: run.font)]


def _word(word: str, *, bold: bool) -> list[Run]:
    """Write a word in one font, or where none has all of it letter by letter."""
    if _encodes(word, "cp1252"):
        return [Run(BOLD if bold else LATIN, word)]
    if all(ord(letter) in _wider() for letter in word):
        return [Run(WIDER_BOLD if bold else WIDER, word)]
    return [_letter(letter, bold=bold) for letter in word]


def _letter(letter: str, *, bold: bool) -> Run:
    plain = unicodedata.normalize("NFKD", letter)[0]
    for wanted in (letter, plain):
        if _encodes(wanted, "cp1252"):
            return Run(BOLD if bold else LATIN, wanted)
        if ord(wanted) in _wider():
            return Run(WIDER_BOLD if bold else WIDER, wanted)
        if _encodes(wanted, "gb2312") or _encodes(wanted, "gbk"):
            return Run(CHINESE, wanted)
    return Run(BOLD if bold else LATIN, " " if letter.isspace() else "?")


def _encodes(letter: str, encoding: str) -> bool:
    try:
        letter.encode(encoding)
    except UnicodeEncodeError:
        return False
    return letter.isprintable()


@cache
def _wider() -> frozenset[int]:
    """Let reportlab know all fonts; give the letters that Roboto has."""
    registerFont(UnicodeCIDFont(CHINESE))
    folder = files("font_roboto") / "files"
    with as_file(folder / "Roboto-Regular.ttf") as plain, as_file(folder / "Roboto-Bold.ttf") as bold:
        regular, heavy = TTFont(WIDER, str(plain)), TTFont(WIDER_BOLD, str(bold))
    registerFont(regular)
    registerFont(heavy)
    both = regular.face.charToGlyph.keys() & heavy.face.charToGlyph.keys()
    return frozenset(letter for letter in both if chr(letter).isprintable())
