"""The points table as a PDF: one page A4 across: on the left for a non-dealer, on the right for the dealer."""

from collections.abc import Mapping
from io import BytesIO
from typing import Final, NamedTuple

from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from broker.organiser.deals.lettering import fitted, width, write
from broker.riichi.table import HAN, Cell, limit_rows, rows
from broker.riichi.table_text import counters_told
from broker.riichi.words import words
from broker.rules.riichi.names import Language, name
from broker.rules.riichi.profile import RiichiProfile

MARGIN: Final = 12 * mm
GAP: Final = 9 * mm
TOP: Final = 190 * mm
ROW: Final = 9.6 * mm
FU: Final = 14 * mm
LIMIT: Final = 46 * mm
SHADE: Final = 0.9
LARGE: Final = 12
SMALL: Final = 8.5


class Half(NamedTuple):
    """Where one half of the page is, and whose."""

    left: float
    width: float
    dealer: bool


def written_table(profile: RiichiProfile, language: Language) -> bytes:
    """Give the PDF; the same table gives the same bytes."""
    page = BytesIO()
    canvas = Canvas(page, pagesize=landscape(A4), invariant=True, lang=language if language in ("fr", "zh") else "en")
    canvas.setTitle(profile.title)
    wide = (landscape(A4)[0] - 2 * MARGIN - GAP) / 2
    for half in (Half(MARGIN, wide, dealer=False), Half(MARGIN + wide + GAP, wide, dealer=True)):
        _half(canvas, half, profile, language)
    _foot(canvas, profile, language)
    canvas.showPage()
    canvas.save()
    return page.getvalue()


def _half(canvas: Canvas, half: Half, profile: RiichiProfile, language: Language) -> None:
    said = words(language)
    write(canvas, (half.left, TOP + 4 * mm), said["dealer" if half.dealer else "other"], 17, bold=True)
    key, size = fitted(said["key_dealer" if half.dealer else "key_other"], half.width, 8, 6)
    write(canvas, (half.left, TOP - 0.5 * mm), key, size)
    bottom = _head(canvas, half, TOP - 9 * mm, said)
    for at, (fu, cells) in enumerate(rows(profile.points, dealer=half.dealer)):
        bottom -= ROW
        _shade(canvas, half, bottom, at)
        _centred(canvas, half.left + FU / 2, bottom + ROW / 2 - 4, str(fu), LARGE)
        _cells(canvas, half, bottom, cells, language)
    _limits(canvas, half, bottom - 3 * mm, profile, language)


def _head(canvas: Canvas, half: Half, base: float, said: Mapping[str, str]) -> float:
    """Write the names of the columns; give where the rows begin."""
    column = (half.width - FU) / len(HAN)
    _centred(canvas, half.left + FU / 2, base, said["fu"], 10)
    for at, han in enumerate(HAN):
        _centred(canvas, half.left + FU + (at + 0.5) * column, base, said["han"].format(han), 10)
    return float(base - 2 * mm)


def _cells(canvas: Canvas, half: Half, bottom: float, cells: tuple[Cell, ...], language: Language) -> None:
    column = (half.width - FU) / len(cells)
    for at, cell in enumerate(cells):
        middle = half.left + FU + (at + 0.5) * column
        if cell.mangan:
            _centred(canvas, middle, bottom + ROW / 2 - 3, name("limit", "mangan", language), 9.5, bold=False)
        else:
            _cell(canvas, middle, bottom, cell)


def _cell(canvas: Canvas, middle: float, bottom: float, cell: Cell) -> None:
    """Write both lines; what no hand reaches has a dash, so that nothing looks forgotten."""
    if cell.on_discard is None and cell.self_drawn is None:
        _centred(canvas, middle, bottom + ROW / 2 - 3, "–", LARGE, bold=False)
        return
    on_discard = "–" if cell.on_discard is None else str(cell.on_discard)
    _centred(canvas, middle, bottom + ROW - 4.6 * mm, on_discard, LARGE, bold=cell.on_discard is not None)
    self_drawn = "–" if cell.self_drawn is None else " / ".join(map(str, cell.self_drawn))
    _centred(canvas, middle, bottom + 1.5 * mm, self_drawn, SMALL, bold=False)


def _limits(canvas: Canvas, half: Half, top: float, profile: RiichiProfile, language: Language) -> None:
    for at, (limit, han, cell) in enumerate(limit_rows(profile.points, dealer=half.dealer)):
        bottom = top - (at + 1) * ROW * 0.76
        canvas.line(half.left, bottom, half.left + half.width, bottom)
        base = bottom + 2.2 * mm
        told, size = fitted(words(language)["han"].format(han) if han else "", FU, 9, 6, bold=True)
        _centred(canvas, half.left + FU / 2, base, told, size)
        write(canvas, (half.left + FU + 4 * mm, base), name("limit", limit, language), 10)
        write(canvas, (half.left + FU + LIMIT, base), str(cell.on_discard), LARGE, bold=True)
        drawn = " / ".join(map(str, cell.self_drawn or ()))
        write(canvas, (half.left + half.width - width(drawn, 10) - 1 * mm, base), drawn, 10)


def _foot(canvas: Canvas, profile: RiichiProfile, language: Language) -> None:
    said = words(language)
    write(canvas, (MARGIN, 13 * mm), counters_told(profile, language), 9)
    told = said["rules"].format(title=profile.title, id=profile.id, version=profile.version)
    write(canvas, (MARGIN, 8 * mm), told, 8)


def _shade(canvas: Canvas, half: Half, bottom: float, at: int) -> None:
    """Shade every other row: the eye follows it to the column."""
    if at % 2 == 0:
        canvas.setFillGray(SHADE)
        canvas.rect(half.left, bottom, half.width, ROW, stroke=0, fill=1)
        canvas.setFillGray(0)


def _centred(canvas: Canvas, middle: float, base: float, text: str, size: float, *, bold: bool = True) -> None:
    write(canvas, (middle - width(text, size, bold=bold) / 2, base), text, size, bold=bold)
