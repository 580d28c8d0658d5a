"""A page to draw on in millimetres, from its top left corner down, at the printer's scale."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from reportlab.lib.colors import Color, HexColor
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from vision.sheets.lettering import runs, width

BLACK: Final = HexColor("#000000")
GREY: Final = HexColor("#777777")
HAIR: Final = 0.1


class Page:
    """One page of a canvas, ended with its block; a scale of 1 is full size. Letters are measured by their em."""

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
        """Draw from a corner on, turned by a quarter to the right: what goes right goes down the page."""
        self._canvas.saveState()
        self._canvas.translate(x, -y)
        self._canvas.rotate(-90)
        yield
        self._canvas.restoreState()

    def box(
        self,
        at: tuple[float, float],
        size: tuple[float, float],
        *,
        corner: float = 0.0,
        fill: Color | None = None,
        line: Color | None = GREY,
        thick: float = HAIR,
    ) -> None:
        """Draw a rectangle from its top left corner."""
        self._pens(fill, line, thick)
        place = at[0], -at[1] - size[1], *size
        self._canvas.roundRect(*place, corner, stroke=line is not None, fill=fill is not None)

    def disc(self, centre: tuple[float, float], radius: float, fill: Color) -> None:
        """Draw a filled circle."""
        self._pens(fill, None, HAIR)
        self._canvas.circle(centre[0], -centre[1], radius, stroke=0, fill=1)

    def line(
        self, start: tuple[float, float], end: tuple[float, float], thick: float = HAIR, ink: Color = BLACK
    ) -> None:
        """Draw a line."""
        self._pens(None, ink, thick)
        self._canvas.line(start[0], -start[1], end[0], -end[1])

    def modules(self, at: tuple[float, float], module: float, black: NDArray[np.bool_]) -> None:
        """Draw the black modules of a code as one shape: drawn one by one, some printers leave seams between them."""
        self._pens(BLACK, None, HAIR)
        shape = self._canvas.beginPath()
        for row, cells in enumerate(black):
            for start, end in _runs_of(cells):
                y = -at[1] - (row + 1) * module
                shape.rect(at[0] + start * module, y, (end - start) * module, module)
        self._canvas.drawPath(shape, stroke=0, fill=1)

    def text(self, at: tuple[float, float], text: str, size: float, *, bold: bool = False, ink: Color = BLACK) -> None:
        """Write from a place to the right, on its foot line."""
        self._canvas.setFillColor(ink)
        x = at[0]
        for font, part in runs(text, bold=bold):
            self._canvas.setFont(font, size)
            self._canvas.drawString(x, -at[1], part)
            x += self._canvas.stringWidth(part, font, size)

    def centred(
        self, at: tuple[float, float], text: str, size: float, *, bold: bool = False, ink: Color = BLACK
    ) -> None:
        """Write about a place, on its foot line."""
        self.text((at[0] - width(text, size, bold=bold) / 2, at[1]), text, size, bold=bold, ink=ink)

    def _pens(self, fill: Color | None, line: Color | None, thick: float) -> None:
        if fill is not None:
            self._canvas.setFillColor(fill)
        if line is not None:
            self._canvas.setStrokeColor(line)
        self._canvas.setLineWidth(thick)


def _runs_of(cells: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Give where black begins and ends in a row of modules."""
    steps = np.flatnonzero(np.diff(np.concatenate(([False], cells, [False])).astype(np.int8)))
    yield from zip(steps[::2].tolist(), steps[1::2].tolist(), strict=True)
