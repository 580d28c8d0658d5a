"""Pages as PDF. On each: the event, provisional or final, the rules, when it was printed, how many pages there are."""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from broker.organiser.deals.lettering import fitted, width, write
from broker.records.printed.grid import GAP, Block, Cell, Column, Line, pages
from broker.records.printed.words import Words

MARGIN: Final = 14 * mm
HEAD: Final = 25 * mm
FOOT: Final = 11 * mm
SIZE: Final = 9.5
SMALLEST: Final = 7
BASE: Final = 1.7 * mm
"""From the foot of a line to that of its letters."""

PAD: Final = 1.0 * mm
STRIPE: Final = 0.945
GREY: Final = 0.35


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands on each page. `at`: when it was printed, with its time zone."""

    title: str
    kind: str
    final: bool
    profile: str
    progress: str
    at: datetime
    words: Words


def pdf(heading: Heading, blocks: Iterable[Block], columns: Sequence[Column], *, wide: bool = False) -> bytes:
    """Give the pages; the same content and time give the same bytes. `wide`: A4 on its side."""
    page = io.BytesIO()
    size = landscape(A4) if wide else A4
    canvas = Canvas(page, pagesize=size, invariant=1, lang=heading.words.language)
    canvas.setTitle(f"{heading.title}: {heading.kind}")
    laid = pages(blocks, size[1] - HEAD - FOOT - 2 * mm - MARGIN / 2)
    for number, lines in enumerate(laid, 1):
        _head(canvas, heading, size)
        _foot(canvas, heading, size, heading.words.say("page", number=number, all=len(laid)))
        _lines(canvas, lines, columns, size)
        canvas.showPage()
    canvas.save()
    return page.getvalue()


def _head(canvas: Canvas, heading: Heading, size: tuple[float, float]) -> None:
    badge = heading.words.say("final" if heading.final else "provisional")
    right, y = size[0] - MARGIN, size[1] - MARGIN
    _badge(canvas, badge, (right, y - 6 * mm), filled=heading.final)
    room = right - MARGIN - width(badge, 11, bold=True) - 12 * mm
    kind, large = fitted(f"{heading.kind}", room, 17, 10, bold=True)
    write(canvas, (MARGIN, y - 5.5 * mm), kind, large, bold=True)
    title, large = fitted(heading.title, right - MARGIN, 11, 7)
    write(canvas, (MARGIN, y - 11.5 * mm), title, large)
    _right(canvas, (right, y - 11.5 * mm), heading.progress, 9)


def _badge(canvas: Canvas, text: str, at: tuple[float, float], *, filled: bool) -> None:
    """Frame `provisional`, and write `final` white on black: told apart at a glance, without colour too."""
    wide = width(text, 11, bold=True) + 7 * mm
    canvas.setLineWidth(0.9)
    canvas.roundRect(at[0] - wide, at[1] - 1.2 * mm, wide, 7 * mm, 1.5 * mm, stroke=1, fill=int(filled))
    canvas.setFillGray(1 if filled else 0)
    write(canvas, (at[0] - wide + 3.5 * mm, at[1] + 0.9 * mm), text, 11, bold=True)
    canvas.setFillGray(0)


def _foot(canvas: Canvas, heading: Heading, size: tuple[float, float], page: str) -> None:
    canvas.setLineWidth(0.4)
    canvas.line(MARGIN, FOOT, size[0] - MARGIN, FOOT)
    canvas.setFillGray(GREY)
    time = heading.at.strftime("%Y-%m-%d %H:%M %z").strip()
    said = " · ".join((heading.words.say("profile", profile=heading.profile), heading.words.say("printed", time=time)))
    write(canvas, (MARGIN, FOOT - 4 * mm), said, 8)
    _right(canvas, (size[0] - MARGIN, FOOT - 4 * mm), page, 8)
    canvas.setFillGray(0)


def _lines(canvas: Canvas, lines: Iterable[Line | None], columns: Sequence[Column], size: tuple[float, float]) -> None:
    y = size[1] - MARGIN / 2 - HEAD
    for line in lines:
        y -= line.high if line else GAP
        if line:
            _line(canvas, line, columns, (y, size[0] - 2 * MARGIN))


def _line(canvas: Canvas, line: Line, columns: Sequence[Column], place: tuple[float, float]) -> None:
    y, wide = place
    if line.kind == "heading":
        end = write(canvas, (MARGIN, y + 2.6 * mm), line.cells[0].text, 13, bold=True)
        for cell in line.cells[1:]:
            text, size = fitted(cell.text, MARGIN + wide - end - 5 * mm, SIZE, SMALLEST)
            end = write(canvas, (end + 5 * mm, y + 2.6 * mm), text, size)
        return
    if line.kind == "note":
        text, size = fitted(line.cells[0].text, wide, 8.5, SMALLEST)
        write(canvas, (MARGIN, y + BASE), text, size)
        return
    if line.striped:
        canvas.setFillGray(STRIPE)
        canvas.rect(MARGIN, y, wide, line.high, stroke=0, fill=1)
        canvas.setFillGray(0)
    for cell, column in zip(line.cells, columns, strict=True):
        _cell(canvas, cell, column, y, small=line.kind == "columns")
    _rule(canvas, line, y, wide)


def _rule(canvas: Canvas, line: Line, y: float, wide: float) -> None:
    """Draw a line under the columns' names, and over sums."""
    if line.kind == "columns":
        canvas.setLineWidth(0.8)
        canvas.line(MARGIN, y, MARGIN + wide, y)
    if line.kind == "sum":
        canvas.setLineWidth(0.4)
        canvas.line(MARGIN, y + line.high, MARGIN + wide, y + line.high)


def _cell(canvas: Canvas, cell: Cell, column: Column, y: float, *, small: bool) -> None:
    bold = cell.bold or small
    text, size = fitted(cell.text, column.wide - 2 * PAD, 8.5 if small else SIZE, SMALLEST, bold=bold)
    x = column.left + PAD
    if column.align == "right":
        x = column.left + column.wide - PAD - width(text, size, bold=bold)
    write(canvas, (x, y + BASE), text, size, bold=bold)


def _right(canvas: Canvas, at: tuple[float, float], text: str, size: float) -> None:
    write(canvas, (at[0] - width(text, size), at[1]), text, size)
