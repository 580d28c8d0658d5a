"""Text in the sheet's three languages: Helvetica for Latin letters, STSong-Light for Chinese.

The second is named in the PDF and not embedded: who shows or prints Chinese letters needs a Chinese font.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import Final

from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont, stringWidth

LATIN: Final = "Helvetica"
BOLD: Final = "Helvetica-Bold"
CHINESE: Final = "STSong-Light"

_WORD: Final = re.compile(r"(?:[\u2e80-\uffff]|[^ \u2e80-\uffff]+|(?: ))[，。：；）、”]*")
"""What a line is broken between: words, spaces, and Chinese letters each by itself, but for the stops after them."""


def runs(text: str, *, bold: bool = False) -> Iterator[tuple[str, str]]:
    """Cut a text by fonts: pairs of font and text. Chinese letters have one weight, and so has a text with any."""
    _register()
    bold = bold and all(map(_is_latin, text))
    for latin, letters in groupby(text, _is_latin):
        yield (BOLD if bold else LATIN) if latin else CHINESE, "".join(letters)


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Give the width of a text, in the unit of `size`."""
    return float(sum(stringWidth(part, font, size) for font, part in runs(text, bold=bold)))


def fitted(text: str, room: float, largest: float, *, bold: bool = False) -> float:
    """Give the size at which a text fits into the room, at most `largest`."""
    return min(largest, largest * room / width(text, largest, bold=bold))


def wrapped(text: str, room: float, size: float) -> list[str]:
    """Break a text into lines that fit."""
    lines = [""]
    for word in _WORD.findall(text):
        if lines[-1] and width(lines[-1] + word, size) > room:
            lines.append("")
        lines[-1] += word if lines[-1] else word.strip(" ")
    return [line.strip(" ") for line in lines]


def _is_latin(letter: str) -> bool:
    try:
        letter.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True


@cache
def _register() -> None:
    registerFont(UnicodeCIDFont(CHINESE))
