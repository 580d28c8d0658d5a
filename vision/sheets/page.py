"""A page to draw on in millimetres, at the printer's scale, with text in the sheet's three languages."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import groupby
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from reportlab import rl_config
from reportlab.lib.colors import Color, HexColor
from reportlab.lib.units import mm
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont, stringWidth
from reportlab.pdfgen.canvas import Canvas

rl_config.useA85 = False  # ASCII streams were for old printers, and are slower

LATIN: Final = "Helvetica"
BOLD: Final = "Helvetica-Bold"
CHINESE: Final = "STSong-Light"

_WORD: Final = re.compile(r"(?:[\u2e80-\uffff]|[^ \u2e80-\uffff]+|(?: ))[，。：；）、”]*")
"""The units that lines are made of: words, spaces, and single Chinese characters, each with punctuation after it."""


def font_runs(text: str, *, bold: bool = False) -> Iterator[tuple[str, str]]:
    """Split a text into pairs of font and text. A text with Chinese is never bold, as Chinese has only one weight."""
    _register()
    bold = bold and all(map(_is_latin, text))
    for latin, letters in groupby(text, _is_latin):
        yield (BOLD if bold else LATIN) if latin else CHINESE, "".join(letters)


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text, in the unit of `size`."""
    return float(sum(stringWidth(part, font, size) for font, part in font_runs(text, bold=bold)))


def fitted_size(text: str, room: float, largest: float, *, bold: bool = False) -> float:
    """Return the font size at which a text fits into the width `room`, at most `largest`."""
    return min(largest, largest * room / text_width(text, largest, bold=bold))


def wrapped_lines(text: str, room: float, size: float) -> list[str]:
    """Break a text into lines no wider than `room`."""
    lines = [""]
    for word in _WORD.findall(text):
        if lines[-1] and text_width(lines[-1] + word, size) > room:
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


BLACK: Final = HexColor("#000000")
GREY: Final = HexColor("#777777")
HAIRLINE: Final = 0.1


class LabelPage:
    """One page of a canvas, as a context manager that ends the page. A scale of 1 is full size; font sizes are ems."""

    def __init__(self, canvas: Canvas, height: float, scale: float) -> None:
        self._canvas = canvas
        canvas.saveState()
        canvas.translate(0, height * mm)
        canvas.scale(mm * scale, mm * scale)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._canvas.restoreState()
        self._canvas.showPage()

    @contextmanager
    def turned(self, x: float, y: float) -> Iterator[None]:
        """Draw from a corner, rotated a quarter turn clockwise: to the right then means down the page."""
        self._canvas.saveState()
        self._canvas.translate(x, -y)
        self._canvas.rotate(-90)
        yield
        self._canvas.restoreState()

    def box(
        self,
        origin: tuple[float, float],
        size: tuple[float, float],
        *,
        corner: float = 0.0,
        fill: Color | None = None,
        line: Color | None = GREY,
        line_width: float = HAIRLINE,
    ) -> None:
        """Draw a rectangle with its top left corner at `origin`."""
        self._pens(fill, line, line_width)
        place = origin[0], -origin[1] - size[1], *size
        self._canvas.roundRect(*place, corner, stroke=line is not None, fill=fill is not None)

    def disc(self, centre: tuple[float, float], radius: float, fill: Color) -> None:
        """Draw a filled circle."""
        self._pens(fill, None, HAIRLINE)
        self._canvas.circle(centre[0], -centre[1], radius, stroke=0, fill=1)

    def line(
        self, start: tuple[float, float], end: tuple[float, float], line_width: float = HAIRLINE, ink: Color = BLACK
    ) -> None:
        """Draw a line."""
        self._pens(None, ink, line_width)
        self._canvas.line(start[0], -start[1], end[0], -end[1])

    def modules(self, at: tuple[float, float], module: float, black: NDArray[np.bool_]) -> None:
        """Draw the black modules of a code as one shape, as some printers leave seams between separate ones."""
        self._canvas.saveState()
        self._canvas.setFillColor(BLACK)
        self._canvas.translate(at[0], -at[1])
        self._canvas.scale(module, -module)
        # In whole modules: ReportLab's path would write each run as four fractions.
        rows, steps = np.nonzero(np.diff(np.pad(black, ((0, 0), (1, 1)))))  # beginnings and ends of runs, alternately
        runs = zip(steps[::2].tolist(), rows[::2].tolist(), (steps[1::2] - steps[::2]).tolist(), strict=True)
        self._canvas.addLiteral(" ".join((*(f"{start} {row} {long} 1 re" for start, row, long in runs), "f")))
        self._canvas.restoreState()

    def text(self, at: tuple[float, float], text: str, size: float, *, bold: bool = False, ink: Color = BLACK) -> None:
        """Write text to the right of a point on its baseline."""
        self._canvas.setFillColor(ink)
        x = at[0]
        for font, part in font_runs(text, bold=bold):
            self._canvas.setFont(font, size)
            self._canvas.drawString(x, -at[1], part)
            x += self._canvas.stringWidth(part, font, size)

    def centred(
        self, at: tuple[float, float], text: str, size: float, *, bold: bool = False, ink: Color = BLACK
    ) -> None:
        """Write text centred on a point on its baseline."""
        self.text((at[0] - text_width(text, size, bold=bold) / 2, at[1]), text, size, bold=bold, ink=ink)

    def _pens(self, fill: Color | None, line: Color | None, line_width: float) -> None:
        if fill is not None:
            self._canvas.setFillColor(fill)
        if line is not None:
            self._canvas.setStrokeColor(line)
        self._canvas.setLineWidth(line_width)
