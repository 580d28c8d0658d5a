"""Printed pages: text in any script, tables whose blocks stay together, and a header with the event and its state.

Sentences are in three languages. Names in scripts that no font of ours covers, such as Arabic or Devanagari, are
printed as federations spell them. ReportLab would need three packages and a font for each such script, which the desk
does not otherwise have, and the list of players has first and last names in Latin letters anyway.
"""

import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache, partial
from importlib.resources import as_file, files
from itertools import accumulate, groupby
from typing import Final, Literal, NamedTuple
from xml.sax.saxutils import escape

from reportlab import rl_config
from reportlab.lib.colors import Color, black
from reportlab.lib.enums import TA_LEFT, TA_RIGHT
from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont, stringWidth
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    KeepTogether,
    LongTable,
    PageTemplate,
    Paragraph,
)

from broker.event import Event, ListedPlayer, spelling
from broker.event.readiness import Finding
from broker.i18n import N_, Translator, without_pictographs
from broker.qr import qr_code
from broker.rules import RuleError

rl_config.useA85 = False  # ASCII streams were for old printers, and are slower

LATIN: Final = "Helvetica"
BOLD: Final = "Helvetica-Bold"
ROBOTO: Final = "Roboto"
ROBOTO_BOLD: Final = "Roboto-Bold"
CJK_FONTS: Final = {"gb2312": "STSong-Light", "gbk": "STSong-Light", "euc_kr": "HYSMyeongJo-Medium"}
"""Fonts that every PDF reader provides, by the encoding that they cover, in order of preference."""

ELLIPSIS: Final = "…"
TOLERANCE: Final = 0.01
"""Points of tolerance, so that a text made to fit exactly is not cut because of rounding."""


SPELLINGS: Final[ContextVar[Mapping[str, str]]] = ContextVar("spellings")
"""The spelling to print for each name that cannot be printed."""


NO_SPELLINGS: Final[Mapping[str, str]] = {}


class FontRun(NamedTuple):
    """A run of text in one font."""

    font: str
    text: str


def draw_qr(canvas: Canvas, payload: str, at: tuple[float, float], side: float) -> None:
    """Draw a QR code with its lower left corner at a position."""
    size, runs = qr_code(payload)
    canvas.saveState()
    canvas.setFillColor(black)
    canvas.translate(at[0], at[1] + side)
    canvas.scale(side / size, -side / size)
    # A single shape, because some printers leave seams between separate modules.
    canvas.addLiteral(" ".join((*(f"{x} {y} {length} 1 re" for x, y, length in runs), "f")))
    canvas.restoreState()


Side = Literal["left", "centre", "right"]
SHIFT: Final[Mapping[Side, float]] = {"left": 0, "centre": 0.5, "right": 1}
"""The part of a text that lies left of its position."""


def draw_text(
    canvas: Canvas, at: tuple[float, float], text: str, size: float, *, bold: bool = False, align: Side = "left"
) -> float:
    """Draw a text right of, centred on, or left of a position; return where the text ends, in points."""
    x, y = at
    if shift := SHIFT[align]:
        x -= shift * text_width(text, size, bold=bold)
    for run in font_runs(text, bold=bold):
        canvas.setFont(run.font, size)
        canvas.drawString(x, y, run.text)
        x += stringWidth(run.text, run.font, size)
    return x


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text in points."""
    return float(sum(stringWidth(run.text, run.font, size) for run in font_runs(text, bold=bold)))


def fit_text(text: str, room: float, largest: float, smallest: float, *, bold: bool = False) -> tuple[str, float]:
    """Return a text and its font size so that it fits: first reduced, then cut with an ellipsis."""
    size = min(largest, max(smallest, largest * room / max(text_width(text, largest, bold=bold), 1)))
    while text and text_width(text, size, bold=bold) > room + TOLERANCE:
        text = text.removesuffix(ELLIPSIS)[:-1].rstrip() + ELLIPSIS
    return text, size


def draw_fitted(
    canvas: Canvas,
    at: tuple[float, float],
    text: str,
    room: float,
    sizes: tuple[float, float],
    *,
    bold: bool = False,
    align: Side = "left",
) -> float:
    """Draw a text so that it fits, as `draw_text`. `sizes`: the largest, and the smallest before the text is cut."""
    fitted, size = fit_text(text, room, *sizes, bold=bold)
    return draw_text(canvas, at, fitted, size, bold=bold, align=align)


def draw_name(
    canvas: Canvas, at: tuple[float, float], name: str, room: tuple[float, float], largest: float, *, bold: bool = False
) -> None:
    """Draw a whole name, as large as fits in one line, or on several lines where that would be too small to read.

    `at`: where the last line begins. `room`: width and height; the font is reduced until the lines fit.
    """
    width, height = room
    size = largest * width / max(text_width(name, largest, bold=bold), 1)
    if size >= LEGIBLE:
        draw_text(canvas, at, name, min(size, largest), bold=bold)
        return
    size = LEGIBLE
    while True:
        markup = _markup(_hyphenated(name, width, size, bold=bold), bold=bold)
        lines = Paragraph(markup, ParagraphStyle("name", fontSize=size, leading=size * LEADING, splitLongWords=1))
        if lines.wrap(width, height)[1] <= height or size <= SMALLEST:
            break
        size -= 0.25
    lines.drawOn(canvas, at[0], at[1] - size * (LEADING - 1))


def font_runs(text: str, *, bold: bool = False) -> list[FontRun]:
    """Split a text by font. Missing letters are simplified or become question marks; pictographs are dropped."""
    for name, printed in SPELLINGS.get(NO_SPELLINGS).items():
        text = text.replace(name, printed)
    text = unicodedata.normalize("NFC", text)
    text = text if _encodes(text, "cp1252") else without_pictographs(text, _has_glyph)
    words = ("".join(part) for _, part in groupby(text, str.isspace))
    pieces = [piece for word in words for piece in _word_runs(word, bold=bold)]
    return [FontRun(font, "".join(run.text for run in same)) for font, same in groupby(pieces, lambda run: run.font)]


def is_printable(text: str) -> bool:
    """Return whether the fonts cover a text, counting simplified letters."""
    return _encodes(text, "cp1252") or not any("?" in run.text for run in font_runs(text.replace("?", "")))


def _has_glyph(letter: str) -> bool:
    return _encodes(letter, "cp1252") or ord(letter) in _roboto_letters() or _encodes(letter, "gbk")


def _word_runs(word: str, *, bold: bool) -> list[FontRun]:
    """Return a word in one font or, if none covers it, letter by letter."""
    if _encodes(word, "cp1252"):
        return [FontRun(BOLD if bold else LATIN, word)]
    if all(ord(letter) in _roboto_letters() for letter in word):
        return [FontRun(ROBOTO_BOLD if bold else ROBOTO, word)]
    return [_letter_run(letter, bold=bold) for letter in word]


def _letter_run(letter: str, *, bold: bool) -> FontRun:
    plain = unicodedata.normalize("NFKD", letter)[0]
    for wanted in (letter, plain):
        if _encodes(wanted, "cp1252"):
            return FontRun(BOLD if bold else LATIN, wanted)
        if ord(wanted) in _roboto_letters():
            return FontRun(ROBOTO_BOLD if bold else ROBOTO, wanted)
        if font := next((font for encoding, font in CJK_FONTS.items() if _encodes(wanted, encoding)), None):
            return FontRun(font, wanted)
    return FontRun(BOLD if bold else LATIN, " " if letter.isspace() else "?")


def _encodes(letter: str, encoding: str) -> bool:
    try:
        letter.encode(encoding)
    except UnicodeEncodeError:
        return False
    return letter.isprintable()


@cache
def _roboto_letters() -> frozenset[int]:
    """Register all fonts with ReportLab; return the letters that Roboto covers."""
    for font in {*CJK_FONTS.values()}:
        registerFont(UnicodeCIDFont(font))
    folder = files("font_roboto") / "files"
    with as_file(folder / "Roboto-Regular.ttf") as plain, as_file(folder / "Roboto-Bold.ttf") as bold:
        regular, heavy = TTFont(ROBOTO, str(plain)), TTFont(ROBOTO_BOLD, str(bold))
    registerFont(regular)
    registerFont(heavy)
    both = regular.face.charToGlyph.keys() & heavy.face.charToGlyph.keys()
    return frozenset(letter for letter in both if chr(letter).isprintable())


MARGIN: Final = 14 * mm
HEAD: Final = 25 * mm
FOOT: Final = 11 * mm
LINE_HEIGHT: Final[float] = 5.6 * mm
LEADING: Final = 1.15
"""Line spacing as a multiple of the font size."""

HEADING: Final[float] = 7.5 * mm
GAP: Final[float] = 4.5 * mm
"""Gap between two tables."""

SIZE: Final = 9.5
SMALL: Final = 8.5
LEGIBLE: Final = 7.5
"""Font size in points below which a text that is too long is wrapped instead."""

SMALLEST: Final = 4.0
"""Font size in points of the longest names where there is room for few lines."""

PAD: Final[float] = 1.0 * mm
APART: Final[float] = 2.5 * mm
"""Gap between a number and a name to its right."""

STRIPE: Final = Color(0.945, 0.945, 0.945)
GREY: Final = 0.35

Align = Literal["left", "right"]

Columns = Sequence[tuple[float, Align]]
"""The width of each column of a table, in points, and the alignment of its text."""


@dataclass(frozen=True, slots=True)
class PageCell:
    """The text of one column, or of several adjacent ones."""

    text: str
    bold: bool = False
    columns: int = 1


Kind = Literal["heading", "columns", "row", "sum", "note"]


@dataclass(frozen=True, slots=True)
class PageLine:
    """One line: a heading (its first cell large, the others beside it), columns, a row, a row of sums, or a note."""

    kind: Kind
    cells: tuple[PageCell, ...]
    striped: bool = False


@dataclass(frozen=True, slots=True)
class PageBlock:
    """Lines that stay on one page if they fit; otherwise `head` is repeated on each page."""

    head: tuple[PageLine, ...]
    lines: tuple[PageLine, ...]


def striped_rows(lines: Iterable[Sequence[PageCell]]) -> tuple[PageLine, ...]:
    """Return rows, every second one on grey to guide the eye from a name to its number."""
    return tuple(PageLine("row", tuple(cells), striped=bool(at % 2)) for at, cells in enumerate(lines))


TABLE_STYLE: Final = (
    ("RIGHTPADDING", (0, 0), (-1, -1), PAD),
    ("TOPPADDING", (0, 0), (-1, -1), 1),
    ("BOTTOMPADDING", (0, 0), (-1, -1), 2),
    ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
)

LINE_STYLES: Final[Mapping[Kind, Sequence[tuple[object, ...]]]] = {
    "heading": (("SPAN",), ("LEFTPADDING", 0)),
    "columns": (("LINEBELOW", 0.8, black),),
    "row": (),
    "sum": (("LINEABOVE", 0.4, black),),
    "note": (("SPAN",), ("LEFTPADDING", 0)),
}


def _page_table(block: PageBlock, columns: Columns) -> Flowable:
    lines = (*block.head, *block.lines)
    style: list[tuple[object, ...]] = list(TABLE_STYLE)
    style += [("LEFTPADDING", (at, 0), (at, -1), _left_padding(columns, at)) for at in range(len(columns))]
    for row, line in enumerate(lines):
        stripe = (("BACKGROUND", STRIPE),) if line.striped else ()
        style += [(name, (0, row), (-1, row), *values) for name, *values in (*LINE_STYLES[line.kind], *stripe)]
        ends = accumulate(cell.columns for cell in line.cells)
        style += [
            ("SPAN", (end - cell.columns, row), (end - 1, row))
            for end, cell in zip(ends, line.cells, strict=True)
            if cell.columns > 1
        ]
    table = LongTable(
        [[*_row(line, columns)] for line in lines],
        [width for width, _ in columns],
        minRowHeights=[HEADING if line.kind == "heading" else LINE_HEIGHT for line in lines],
        repeatRows=len(block.head),
        style=style,
        spaceBefore=GAP,
    )
    return KeepTogether([table])


def _left_padding(columns: Columns, at: int) -> float:
    return APART if at and (columns[at - 1][1], columns[at][1]) == ("right", "left") else PAD


def _row(line: PageLine, columns: Columns) -> Iterator[Flowable | str]:
    if line.kind in {"heading", "note"}:
        large, *others = (cell.text for cell in line.cells)
        beside = "".join(f"&nbsp;&nbsp;&nbsp; {_markup(text)}" for text in others)
        yield (
            _paragraph(_markup(large), SMALL)
            if line.kind == "note"
            else _paragraph(f'<font size="13">{_markup(large, bold=True)}</font>{beside}', SIZE)
        )
        yield from [""] * (len(columns) - 1)
        return
    at = 0
    for cell in line.cells:
        (*_, (_, align)) = spanned = columns[at : at + cell.columns]
        room = sum(width for width, _ in spanned) - _left_padding(columns, at) - PAD
        small = line.kind == "columns"
        yield _fitted(cell.text, room, align, SMALL if small else SIZE, bold=cell.bold or small)
        yield from [""] * (cell.columns - 1)
        at += cell.columns


def _fitted(text: str, room: float, align: Align, size: float, *, bold: bool) -> Flowable | str:
    """Return a text in one line, reduced if need be, or wrapped where that would be too small to read."""
    if not text:
        return ""
    width = text_width(text, size, bold=bold)
    if width * LEGIBLE > room * size:
        return _paragraph(_markup(_hyphenated(text, room, LEGIBLE, bold=bold), bold=bold), LEGIBLE, align)
    return _Line(text, size * min(1.0, room / width), align, bold=bold)


class _Line(Flowable):  # type: ignore[misc]  # reportlab ships no types
    """A text in one line. Most cells are; a paragraph takes four times as long to lay out."""

    def __init__(self, text: str, size: float, align: Align, *, bold: bool) -> None:
        super().__init__()
        self._text, self._size, self._align, self._bold = text, size, align, bold

    def wrap(self, room: float, _high: float) -> tuple[float, float]:
        """Take the space available."""
        self.width, self.height = room, self._size * LEADING
        return self.width, self.height

    def draw(self) -> None:
        """Draw the text at its side."""
        at = self.width if self._align == "right" else 0, self.height - self._size
        draw_text(self.canv, at, self._text, self._size, bold=self._bold, align=self._align)


def _hyphenated(text: str, room: float, size: float, *, bold: bool) -> str:
    """Return a text whose words are split after hyphens where they are too long for a line."""
    parts: list[str] = []
    for word in text.split(" "):
        first, *others = re.split(r"(?<=-)", word)
        parts.append(first)
        for one in others:
            if text_width(parts[-1] + one, size, bold=bold) > room:
                parts.append(one)
            else:
                parts[-1] += one
    return " ".join(parts)


def _markup(text: str, *, bold: bool = False) -> str:
    return "".join(f'<font face="{run.font}">{escape(run.text)}</font>' for run in font_runs(text, bold=bold))


def _paragraph(markup: str, size: float, align: Align = "left") -> Flowable:
    side = TA_RIGHT if align == "right" else TA_LEFT
    return Paragraph(markup, ParagraphStyle("cell", fontSize=size, leading=size * LEADING, alignment=side))


def drawn_pdf(
    pages: Iterable[Callable[[Canvas], object]], title: str, language: str, size: tuple[float, float] = A4
) -> bytes:
    """Return pages that are drawn one by one, as PDF; the same drawings give the same bytes."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=size, invariant=1, lang=language)
    canvas.setTitle(title)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


DrawPage = Callable[[Canvas, int, int], None]
"""Draws everything on a page besides its tables, given the page number and the number of pages."""


class _CountedCanvas(Canvas):  # type: ignore[misc]  # reportlab ships no types
    """A canvas that finishes its pages at the end, so that each can show the number of pages."""

    def __init__(self, *args: object, draw_page: DrawPage, **options: object) -> None:
        super().__init__(*args, **options)
        self._draw_page = draw_page
        self._states: list[dict[str, object]] = []

    def showPage(self) -> None:  # noqa: N802 - reportlab's name
        """Store a page for later."""
        self._states.append(dict(self.__dict__))
        self._startPage()

    def save(self) -> None:
        """Finish all pages."""
        for number, state in enumerate(self._states, 1):
            self.__dict__.update(state)
            self._draw_page(self, number, len(self._states))
            super().showPage()
        super().save()


def tables_pdf(
    blocks: Iterable[PageBlock | Flowable],
    columns: Columns,
    draw_page: DrawPage,
    *,
    size: tuple[float, float],
    margins: tuple[float, float, float],
    title: str,
    language: str,
) -> bytes:
    """Return tables, with drawings between them, as a PDF of any length; the same content gives the same bytes.

    `margins`: at the sides, above and below.
    """
    page = io.BytesIO()
    beside, above, below = margins
    frame = Frame(
        *(beside, below, size[0] - 2 * beside, size[1] - above - below),
        **dict.fromkeys(("leftPadding", "rightPadding", "topPadding", "bottomPadding"), 0),
    )
    document = BaseDocTemplate(page, pagesize=size, title=title, lang=language, invariant=1)
    document.addPageTemplates(PageTemplate(frames=[frame]))
    tables = [_page_table(one, columns) if isinstance(one, PageBlock) else one for one in blocks]
    document.build(tables, canvasmaker=partial(_CountedCanvas, draw_page=draw_page))
    return page.getvalue()


@dataclass(frozen=True, slots=True)
class PageHeading:
    """The header and footer of each page. `at`: time of printing, with its time zone."""

    title: str
    kind: str
    final: bool
    profile: str
    progress: str
    at: datetime
    translator: Translator
    anchor: str = ""


def pages_pdf(
    heading: PageHeading, blocks: Iterable[PageBlock | Flowable], columns: Columns, *, wide: bool = False
) -> bytes:
    """Return the pages as PDF; the same content and time give the same bytes. `wide`: A4 landscape."""
    size = landscape(A4) if wide else A4

    def head_and_foot(canvas: Canvas, number: int, total: int) -> None:
        _head(canvas, heading, size)
        _ = heading.translator
        _foot(canvas, heading, size, _("Page {number} of {all}", number=number, all=total))

    return tables_pdf(
        blocks,
        columns,
        head_and_foot,
        size=size,
        margins=(MARGIN, HEAD + MARGIN / 2, FOOT + 2 * mm),
        title=f"{heading.title}: {heading.kind}",
        language=heading.translator.language,
    )


def _head(canvas: Canvas, heading: PageHeading, size: tuple[float, float]) -> None:
    _ = heading.translator
    badge = _("Final") if heading.final else _("Provisional")
    right, y = size[0] - MARGIN, size[1] - MARGIN
    _badge(canvas, badge, (right, y - 6 * mm), filled=heading.final)
    room = right - MARGIN - text_width(badge, 11, bold=True) - 12 * mm
    draw_fitted(canvas, (MARGIN, y - 5.5 * mm), heading.kind, room, (17, 10), bold=True)
    room = right - MARGIN - text_width(heading.progress, 9) - 4 * mm
    draw_fitted(canvas, (MARGIN, y - 11.5 * mm), heading.title, room, (11, 7))
    draw_text(canvas, (right, y - 11.5 * mm), heading.progress, 9, align="right")


def _badge(canvas: Canvas, text: str, at: tuple[float, float], *, filled: bool) -> None:
    """Draw a frame for `provisional`, and white on black for `final`: distinct at a glance, even without colour."""
    width = text_width(text, 11, bold=True) + 7 * mm
    canvas.setLineWidth(0.9)
    canvas.roundRect(at[0] - width, at[1] - 1.2 * mm, width, 7 * mm, 1.5 * mm, stroke=1, fill=int(filled))
    canvas.setFillGray(1 if filled else 0)
    draw_text(canvas, (at[0] - width + 3.5 * mm, at[1] + 0.9 * mm), text, 11, bold=True)
    canvas.setFillGray(0)


def _foot(canvas: Canvas, heading: PageHeading, size: tuple[float, float], page: str) -> None:
    canvas.setLineWidth(0.4)
    canvas.line(MARGIN, FOOT, size[0] - MARGIN, FOOT)
    canvas.setFillGray(GREY)
    time = heading.at.strftime("%Y-%m-%d %H:%M %z").strip()
    _ = heading.translator
    left = " · ".join((_("Rules: {profile}", profile=heading.profile), _("Printed {time}", time=time)))
    right = " · ".join((_("Anchor: {anchor}", anchor=heading.anchor), page)) if heading.anchor else page
    room = size[0] - 2 * MARGIN - text_width(right, 8) - 4 * mm
    draw_fitted(canvas, (MARGIN, FOOT - 4 * mm), left, room, (8, 5))
    draw_text(canvas, (size[0] - MARGIN, FOOT - 4 * mm), right, 8, align="right")
    canvas.setFillGray(0)


@contextmanager
def printed_spellings(event: Event) -> Iterator[None]:
    """Print an event's names in the spelling of its list of players where they cannot be printed otherwise."""
    token = SPELLINGS.set(_spellings(event))
    try:
        yield
    finally:
        SPELLINGS.reset(token)


@lru_cache(maxsize=4)
def _spellings(event: Event) -> dict[str, str]:
    """Return the spelling to print, by name; the longest name first, because one may be part of another."""
    names = {one.name: event.listing_of(one.id).spelling for one in event.known.values() if not is_printable(one.name)}
    return {name: names[name] for name in sorted(names, key=len, reverse=True) if _is_usable(names[name])}


@lru_cache(maxsize=4)
def unprintable_names(event: Event) -> tuple[tuple[str, str], ...]:
    """Return id and name of the players whose names cannot be printed and have no spelling."""
    known = _spellings(event)
    return tuple(
        (one.id, one.name) for one in event.players.values() if one.name not in known and not is_printable(one.name)
    )


def unprintable_text(event: Event) -> str:
    """Return a command's warning about names that could not be printed; empty if there are none."""
    names = ", ".join(f"{id_} ({name})" for id_, name in unprintable_names(event))
    advice = "first_name and last_name in Latin letters are printed instead (players.csv, or a correction)"
    return f"no letters to print these names: {names}; {advice}" if names else ""


def spelling_notes(listed: Iterable[ListedPlayer]) -> list[Finding]:
    """Return a finding for each name of a list that cannot be printed and has no spelling."""
    unprintable = [
        one
        for one in listed
        if not is_printable(one.player.name) and not _is_usable(spelling(one.first_name, one.last_name))
    ]
    notes = (
        RuleError("name_unprintable", N_("{where}: {problem}", where=one.player.id, problem=one.player.name))
        for one in unprintable
    )
    return [(one.code, one.text) for one in notes]


def _is_usable(spelling_: str) -> bool:
    return bool(spelling_) and is_printable(spelling_)
