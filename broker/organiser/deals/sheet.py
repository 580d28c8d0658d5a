"""The carrier sheet: one A4 page that lies in a deal's carrier and says which serial belongs on which place."""

import io
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, Literal, get_args

from reportlab.graphics import renderPDF
from reportlab.graphics.barcode.qr import QrCodeWidget
from reportlab.graphics.shapes import Drawing
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from broker.contract.words import SEATS, Seat
from broker.organiser.deals.layout import Layout
from broker.organiser.deals.lettering import BOLD, LATIN, fitted, width, write
from broker.rules.deal import ROWS, seat_wind

Language = Literal["en", "fr", "zh"]
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)

LEFT: Final = 11 * mm
RIGHT: Final = A4[0] - LEFT
QR: Final = 34 * mm
LABEL: Final = 16 * mm
CELL: Final = (RIGHT - LEFT - LABEL) / ROWS[0], 13.6 * mm
"""Width and height of a place."""

SERIAL: Final = 19.5
"""Points of a serial: three digits fill a place, and one reads them standing."""

AFTER_HAND: Final = 1.6 * mm
"""The hand lies apart from the wall."""

FIRST_TRAY: Final = 242 * mm
TRAY: Final = 57.5 * mm
FORM: Final = 12
"""Characters of the form's hash on the sheet: enough to tell two forms apart, few enough to compare by eye."""


def sheet(layout: Layout, language: Language) -> bytes:
    """Give the sheet as PDF; the same layout gives the same bytes."""
    words = catalogue()[language]
    return _pdf([layout], f"{layout.title}: {words['deal'].format(number=layout.deal)}", language)


def sheets(layouts: Sequence[Layout], language: Language) -> bytes:
    """Give the sheets of several deals of an event as one PDF, a page each. `layouts`: at least one."""
    return _pdf(layouts, layouts[0].title, language)


def _pdf(layouts: Iterable[Layout], title: str, language: Language) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=1, lang=language)
    canvas.setTitle(title)
    for layout in layouts:
        _page(canvas, layout, catalogue()[language])
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def _page(canvas: Canvas, layout: Layout, words: Mapping[str, str]) -> None:
    _head(canvas, layout, words)
    for at, seat in enumerate(SEATS):
        _tray(canvas, layout, words, seat, FIRST_TRAY - at * TRAY)
    _foot(canvas, layout, words)


@cache
def catalogue() -> dict[Language, Mapping[str, str]]:
    """Read `sheet.toml`."""
    tables = tomllib.loads((files("broker.organiser.deals") / "sheet.toml").read_text(encoding="utf-8"))
    return {language: tables[language] for language in LANGUAGES}


def _head(canvas: Canvas, layout: Layout, words: Mapping[str, str]) -> None:
    room = RIGHT - LEFT - QR - 4 * mm
    title, size = fitted(layout.title, room, 16, 9)
    write(canvas, (LEFT, 282 * mm), title, size)
    write(canvas, (LEFT, 263 * mm), words["deal"].format(number=layout.deal), 44, bold=True)
    told = (
        words["prevalent_wind"].format(wind=words[layout.prevalent_wind]),
        words["dealer"].format(seat=words["seat"].format(seat=words[layout.dealer])),
        words["set"].format(number=layout.set),
    )
    text, size = fitted("   ·   ".join(told), room, 15, 10, bold=True)
    write(canvas, (LEFT, 252 * mm), text, size, bold=True)
    _qr(canvas, layout.payload, RIGHT - QR, 252 * mm)


def _qr(canvas: Canvas, payload: str, x: float, y: float) -> None:
    code = QrCodeWidget(payload, barWidth=QR, barHeight=QR, barLevel="M")
    drawing = Drawing(QR, QR)
    drawing.add(code)
    renderPDF.draw(drawing, canvas, x, y)


def _tray(canvas: Canvas, layout: Layout, words: Mapping[str, str], seat: Seat, top: float) -> None:
    base = top - 6 * mm
    end = write(canvas, (LEFT, base), words["seat"].format(seat=words[seat]), 19, bold=True)
    own = words["seat_wind"].format(wind=words[seat_wind(seat, layout.dealer)])
    end = write(canvas, (end + 5 * mm, base), own, 13)
    if seat == layout.dealer:
        _tag(canvas, end + 5 * mm, base, words["deals_here"])
    for row, (name, serials) in enumerate(zip(("hand", "wall_far", "wall_near"), layout.order[seat], strict=True)):
        bottom = top - 11.5 * mm - (row + 1) * CELL[1] - (AFTER_HAND if row else 0)
        label, size = fitted(words[name], LABEL - 1 * mm, 11, 8)
        write(canvas, (LEFT, bottom + CELL[1] / 2 - 4), label, size)
        _row(canvas, serials, bottom)
    _places(canvas, top - 10.6 * mm)


def _tag(canvas: Canvas, x: float, y: float, text: str) -> None:
    """Write white on black: who deals is seen before it is read."""
    canvas.rect(x, y - 1.6 * mm, width(text, 13, bold=True) + 5 * mm, 6.8 * mm, stroke=0, fill=1)
    canvas.setFillGray(1)
    write(canvas, (x + 2.5 * mm, y), text, 13, bold=True)
    canvas.setFillGray(0)


def _row(canvas: Canvas, serials: tuple[int, ...], bottom: float) -> None:
    wide, high = CELL
    for at, serial in enumerate(serials):
        x = LEFT + LABEL + at * wide
        canvas.rect(x, bottom, wide, high)
        canvas.setFont(BOLD, SERIAL)
        canvas.drawCentredString(x + wide / 2, bottom + high / 2 - 7, str(serial))


def _places(canvas: Canvas, y: float) -> None:
    """Number the columns, small and grey: the table's screen speaks of places."""
    canvas.setFillGray(0.35)
    canvas.setFont(LATIN, 7.5)
    for at in range(ROWS[0]):
        canvas.drawCentredString(LEFT + LABEL + (at + 0.5) * CELL[0], y, str(at + 1))
    canvas.setFillGray(0)


def _foot(canvas: Canvas, layout: Layout, words: Mapping[str, str]) -> None:
    text, size = fitted(words["help"], RIGHT - LEFT, 9, 7)
    write(canvas, (LEFT, 10.5 * mm), text, size)
    form = words["form"].format(start=layout.form[:FORM])
    text, size = fitted(f"{form}   ·   {layout.payload}", RIGHT - LEFT, 9, 7)
    write(canvas, (LEFT, 6 * mm), text, size)
