"""Printed pages: text in any script, tables whose blocks stay together, and on each page the event and its state.

Their sentences are in three languages.
"""

import io
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import as_file, files
from itertools import groupby
from typing import Final, Literal, NamedTuple

from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.units import mm
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont, stringWidth
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from broker.i18n import Translator

LATIN: Final = "Helvetica"
BOLD: Final = "Helvetica-Bold"
WIDER: Final = "Roboto"
WIDER_BOLD: Final = "Roboto-Bold"
CHINESE: Final = "STSong-Light"

ELLIPSIS: Final = "…"
ROUNDING: Final = 0.01
"""Points: a text that was made to fit exactly is not cut for the last digit of its width."""


class FontRun(NamedTuple):
    """Letters that are written in one font."""

    font: str
    text: str


def draw_text(canvas: Canvas, at: tuple[float, float], text: str, size: float, *, bold: bool = False) -> float:
    """Write from a place to the right; give where the text ends (points)."""
    x, y = at
    for run in font_runs(text, bold=bold):
        canvas.setFont(run.font, size)
        canvas.drawString(x, y, run.text)
        x += stringWidth(run.text, run.font, size)
    return x


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text in points."""
    return float(sum(stringWidth(run.text, run.font, size) for run in font_runs(text, bold=bold)))


def fit_text(text: str, room: float, largest: float, smallest: float, *, bold: bool = False) -> tuple[str, float]:
    """Return a text and its size so that it fits: smaller first, then cut, with an ellipsis."""
    size = min(largest, max(smallest, largest * room / max(text_width(text, largest, bold=bold), 1)))
    while text and text_width(text, size, bold=bold) > room + ROUNDING:
        text = text.removesuffix(ELLIPSIS)[:-1].rstrip() + ELLIPSIS
    return text, size


def font_runs(text: str, *, bold: bool = False) -> list[FontRun]:
    """Cut a text by fonts; what no font has is written plainer, or as a question mark."""
    words = ("".join(part) for _, part in groupby(unicodedata.normalize("NFC", text), str.isspace))
    pieces = [piece for word in words for piece in _word(word, bold=bold)]
    return [FontRun(font, "".join(run.text for run in same)) for font, same in groupby(pieces, lambda run: run.font)]


def _word(word: str, *, bold: bool) -> list[FontRun]:
    """Write a word in one font, or where none has all of it letter by letter."""
    if _encodes(word, "cp1252"):
        return [FontRun(BOLD if bold else LATIN, word)]
    if all(ord(letter) in _wider() for letter in word):
        return [FontRun(WIDER_BOLD if bold else WIDER, word)]
    return [_letter(letter, bold=bold) for letter in word]


def _letter(letter: str, *, bold: bool) -> FontRun:
    plain = unicodedata.normalize("NFKD", letter)[0]
    for wanted in (letter, plain):
        if _encodes(wanted, "cp1252"):
            return FontRun(BOLD if bold else LATIN, wanted)
        if ord(wanted) in _wider():
            return FontRun(WIDER_BOLD if bold else WIDER, wanted)
        if _encodes(wanted, "gb2312") or _encodes(wanted, "gbk"):
            return FontRun(CHINESE, wanted)
    return FontRun(BOLD if bold else LATIN, " " if letter.isspace() else "?")


def _encodes(letter: str, encoding: str) -> bool:
    try:
        letter.encode(encoding)
    except UnicodeEncodeError:
        return False
    return letter.isprintable()


@cache
def _wider() -> frozenset[int]:
    """Let reportlab know all fonts; return the letters that Roboto has."""
    registerFont(UnicodeCIDFont(CHINESE))
    folder = files("font_roboto") / "files"
    with as_file(folder / "Roboto-Regular.ttf") as plain, as_file(folder / "Roboto-Bold.ttf") as bold:
        regular, heavy = TTFont(WIDER, str(plain)), TTFont(WIDER_BOLD, str(bold))
    registerFont(regular)
    registerFont(heavy)
    both = regular.face.charToGlyph.keys() & heavy.face.charToGlyph.keys()
    return frozenset(letter for letter in both if chr(letter).isprintable())


LINE_HEIGHT: Final[float] = 5.6 * mm
HEADING: Final[float] = 9.5 * mm
GAP: Final[float] = 4.5 * mm


@dataclass(frozen=True, slots=True)
class PageColumn:
    """Where a column begins, and how wide it is, in points."""

    left: float
    wide: float
    align: Literal["left", "right"] = "left"


@dataclass(frozen=True, slots=True)
class PageCell:
    """What stands in a column."""

    text: str
    bold: bool = False


Kind = Literal["heading", "columns", "row", "sum", "note"]


@dataclass(frozen=True, slots=True)
class PageLine:
    """One line: a heading (its first cell large, the others beside it), columns, a row, a row of sums, or a note."""

    kind: Kind
    cells: tuple[PageCell, ...]
    striped: bool = False

    @property
    def high(self) -> float:
        """Height in points."""
        return HEADING if self.kind == "heading" else LINE_HEIGHT


@dataclass(frozen=True, slots=True)
class PageBlock:
    """Lines that belong together; where they are too many for a page, `head` is said again on the next."""

    head: tuple[PageLine, ...]
    lines: tuple[PageLine, ...]

    @property
    def high(self) -> float:
        """Height in points."""
        return sum(line.high for line in (*self.head, *self.lines))


def page_columns(left: float, widths: Iterable[tuple[float, Literal["left", "right"]]]) -> tuple[PageColumn, ...]:
    """Set columns side by side, from widths in points."""
    found: list[PageColumn] = []
    for wide, align in widths:
        found.append(PageColumn(left, wide, align))
        left += wide
    return tuple(found)


def striped_rows(lines: Iterable[Sequence[PageCell]]) -> tuple[PageLine, ...]:
    """Make rows, every second one on grey: one follows a name to its number."""
    return tuple(PageLine("row", tuple(cells), striped=bool(at % 2)) for at, cells in enumerate(lines))


def paginate(blocks: Iterable[PageBlock], high: float) -> list[list[PageLine | None]]:
    """Lay blocks on pages of a height; None is a gap between two blocks. There is always a page."""
    found: list[list[PageLine | None]] = [[]]
    left = high
    for block in blocks:
        gap = GAP if found[-1] else 0.0
        if gap + block.high > left and found[-1]:
            found.append([])
            gap, left = 0.0, high
        if gap:
            found[-1].append(None)
        left -= gap
        for part in _parts(block, left, high):
            if part.fresh:
                found.append([])
                left = high
            found[-1] += part.lines
            left -= sum(line.high for line in part.lines)
    return found


@dataclass(frozen=True, slots=True)
class _Part:
    lines: tuple[PageLine, ...]
    fresh: bool
    """On a page of its own."""


def _parts(block: PageBlock, left: float, high: float) -> Iterator[_Part]:
    """Cut a block that no page holds."""
    head = sum(line.high for line in block.head)
    taken: list[PageLine] = []
    room, fresh = left - head, False
    for line in block.lines:
        if line.high > room and taken:
            yield _Part((*block.head, *taken), fresh)
            taken, room, fresh = [], high - head, True
        taken.append(line)
        room -= line.high
    yield _Part((*block.head, *taken), fresh)


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
class PageHeading:
    """What stands on each page. `at`: when it was printed, with its time zone."""

    title: str
    kind: str
    final: bool
    profile: str
    progress: str
    at: datetime
    translator: Translator


def pages_pdf(
    heading: PageHeading, blocks: Iterable[PageBlock], columns: Sequence[PageColumn], *, wide: bool = False
) -> bytes:
    """Return the pages; the same content and time give the same bytes. `wide`: A4 on its side."""
    page = io.BytesIO()
    size = landscape(A4) if wide else A4
    canvas = Canvas(page, pagesize=size, invariant=1, lang=heading.translator.language)
    canvas.setTitle(f"{heading.title}: {heading.kind}")
    laid = paginate(blocks, size[1] - HEAD - FOOT - 2 * mm - MARGIN / 2)
    for number, lines in enumerate(laid, 1):
        _head(canvas, heading, size)
        _ = heading.translator
        _foot(canvas, heading, size, _("Page {number} of {all}", number=number, all=len(laid)))
        _lines(canvas, lines, columns, size)
        canvas.showPage()
    canvas.save()
    return page.getvalue()


def _head(canvas: Canvas, heading: PageHeading, size: tuple[float, float]) -> None:
    _ = heading.translator
    badge = _("Final") if heading.final else _("Provisional")
    right, y = size[0] - MARGIN, size[1] - MARGIN
    _badge(canvas, badge, (right, y - 6 * mm), filled=heading.final)
    room = right - MARGIN - text_width(badge, 11, bold=True) - 12 * mm
    kind, large = fit_text(f"{heading.kind}", room, 17, 10, bold=True)
    draw_text(canvas, (MARGIN, y - 5.5 * mm), kind, large, bold=True)
    title, large = fit_text(heading.title, right - MARGIN, 11, 7)
    draw_text(canvas, (MARGIN, y - 11.5 * mm), title, large)
    _right(canvas, (right, y - 11.5 * mm), heading.progress, 9)


def _badge(canvas: Canvas, text: str, at: tuple[float, float], *, filled: bool) -> None:
    """Frame `provisional`, and write `final` white on black: told apart at a glance, without colour too."""
    wide = text_width(text, 11, bold=True) + 7 * mm
    canvas.setLineWidth(0.9)
    canvas.roundRect(at[0] - wide, at[1] - 1.2 * mm, wide, 7 * mm, 1.5 * mm, stroke=1, fill=int(filled))
    canvas.setFillGray(1 if filled else 0)
    draw_text(canvas, (at[0] - wide + 3.5 * mm, at[1] + 0.9 * mm), text, 11, bold=True)
    canvas.setFillGray(0)


def _foot(canvas: Canvas, heading: PageHeading, size: tuple[float, float], page: str) -> None:
    canvas.setLineWidth(0.4)
    canvas.line(MARGIN, FOOT, size[0] - MARGIN, FOOT)
    canvas.setFillGray(GREY)
    time = heading.at.strftime("%Y-%m-%d %H:%M %z").strip()
    _ = heading.translator
    said = " · ".join((_("rules: {profile}", profile=heading.profile), _("printed {time}", time=time)))
    draw_text(canvas, (MARGIN, FOOT - 4 * mm), said, 8)
    _right(canvas, (size[0] - MARGIN, FOOT - 4 * mm), page, 8)
    canvas.setFillGray(0)


def _lines(
    canvas: Canvas, lines: Iterable[PageLine | None], columns: Sequence[PageColumn], size: tuple[float, float]
) -> None:
    y = size[1] - MARGIN / 2 - HEAD
    for line in lines:
        y -= line.high if line else GAP
        if line:
            _line(canvas, line, columns, (y, size[0] - 2 * MARGIN))


def _line(canvas: Canvas, line: PageLine, columns: Sequence[PageColumn], place: tuple[float, float]) -> None:
    y, wide = place
    if line.kind == "heading":
        end = draw_text(canvas, (MARGIN, y + 2.6 * mm), line.cells[0].text, 13, bold=True)
        for cell in line.cells[1:]:
            text, size = fit_text(cell.text, MARGIN + wide - end - 5 * mm, SIZE, SMALLEST)
            end = draw_text(canvas, (end + 5 * mm, y + 2.6 * mm), text, size)
        return
    if line.kind == "note":
        text, size = fit_text(line.cells[0].text, wide, 8.5, SMALLEST)
        draw_text(canvas, (MARGIN, y + BASE), text, size)
        return
    if line.striped:
        canvas.setFillGray(STRIPE)
        canvas.rect(MARGIN, y, wide, line.high, stroke=0, fill=1)
        canvas.setFillGray(0)
    for cell, column in zip(line.cells, columns, strict=True):
        _cell(canvas, cell, column, y, small=line.kind == "columns")
    _rule(canvas, line, y, wide)


def _rule(canvas: Canvas, line: PageLine, y: float, wide: float) -> None:
    """Draw a line under the columns' names, and over sums."""
    if line.kind == "columns":
        canvas.setLineWidth(0.8)
        canvas.line(MARGIN, y, MARGIN + wide, y)
    if line.kind == "sum":
        canvas.setLineWidth(0.4)
        canvas.line(MARGIN, y + line.high, MARGIN + wide, y + line.high)


def _cell(canvas: Canvas, cell: PageCell, column: PageColumn, y: float, *, small: bool) -> None:
    bold = cell.bold or small
    text, size = fit_text(cell.text, column.wide - 2 * PAD, 8.5 if small else SIZE, SMALLEST, bold=bold)
    x = column.left + PAD
    if column.align == "right":
        x = column.left + column.wide - PAD - text_width(text, size, bold=bold)
    draw_text(canvas, (x, y + BASE), text, size, bold=bold)


def _right(canvas: Canvas, at: tuple[float, float], text: str, size: float) -> None:
    draw_text(canvas, (at[0] - text_width(text, size), at[1]), text, size)
