"""Labels as a PDF: a page for checking the printer, then sheets with each face before the labels of its four tiles."""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from broker.i18n import N_, Translator
from vision.errors import LabelTooSmallError, StartOffSheetError
from vision.sheets.formats import USUAL_FORMAT, PlacedGroup, SheetFormat, place_groups, sheet_formats
from vision.sheets.label import LabelLayout, NumberSize, lay_out_label, usual_modules
from vision.sheets.page import BLACK, GREY, LabelPage, fitted_size, wrapped_lines
from vision.sheets.registry import FACES, TILES_OF_EACH
from vision.sheets.stickers import StickerGroup, StickerSheet, draw_stickers

SIDE: Final = 100.0
"""Width and height of the frame to measure, millimetres."""

INCH: Final = 25.4
INCHES: Final = 4

_TEXT: Final = 3.4
_LINE: Final = 4.3


def draw_check_page(page: LabelPage, sheet: SheetFormat, _: Translator, set_text: str, sheets: int) -> None:
    """Draw the frame, ruler and instructions, and the outlines of the labels at the sheet's edges."""
    width, height = sheet.page
    left, top = (width - SIDE) / 2, (height - SIDE) / 2 - 8
    for column, row in _edge_labels(sheet):
        page.box(sheet.corner_of(column, row), (sheet.width, sheet.height), corner=sheet.corner)
    title = _("Set {set}: check the printer", set=set_text)
    page.text((left, top - 12), title, fitted_size(title, SIDE, 7, bold=True), bold=True)
    _frame(page, left, top)
    _inches(page, left, top + SIDE + 10)
    y = top + 13
    for step in steps(sheet, _, sheets):
        for line in wrapped_lines(step, SIDE - 16, _TEXT):
            page.text((left + 11, y), line, _TEXT)
            y += _LINE
        y += 1.5


def _edge_labels(sheet: SheetFormat) -> Iterator[tuple[int, int]]:
    for row in range(sheet.rows):
        for column in range(sheet.columns):
            if row in {0, sheet.rows - 1} or column in {0, sheet.columns - 1}:
                yield column, row


def steps(sheet: SheetFormat, _: Translator, sheets: int) -> Iterator[str]:
    """Return the numbered instructions."""
    steps = (
        _("Print this page on plain paper at 100 %: “actual size”, not “fit to page”."),
        _(
            "Measure the frame. It should be 100 mm wide and high; the ruler below is 4 inches long. If you "
            "measure M mm instead of 100, print the sheets again with --scale 10000 / M: for 99 mm, 101.01."
        ),
        _(
            N_("Cut the labels out along the marks and glue them on. The outlines at the edges show their positions.")
            if sheet.cut
            else N_(
                "Hold this page with a sheet of stickers against the light. The outlines at "
                "the edges must lie on the stickers; if not, move them with --margin-left and "
                "--margin-top."
            )
        ),
        _(
            "Print the other pages ({pages}) on {paper}. A drawing of each tile comes before the labels for its "
            "backs; do not stick the drawings on tiles.",
            pages="2" if sheets == 1 else f"2–{sheets + 1}",
            paper=sheet.name,
        ),
        _(
            N_(
                "The labels are printed sideways: turn the sheet a quarter to the left and stick them upright, "
                "with the number below the code."
            )
            if sheet.lying
            else N_("Stick each label upright: the number is beside or below the code.")
        ),
        _("Keep the sheets as secret as the deals, and destroy leftovers."),
    )
    return (f"{number}\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}{step}" for number, step in enumerate(steps, 1))


def _frame(page: LabelPage, left: float, top: float) -> None:
    """Draw the square, with millimetre ticks at the top and at the left."""
    page.box((left, top), (SIDE, SIDE), line=BLACK, line_width=0.2)
    for at in range(round(SIDE) + 1):
        long = 5.0 if at % 10 == 0 else 3.5 if at % 5 == 0 else 2.0
        page.line((left + at, top), (left + at, top + long))
        page.line((left, top + at), (left + long, top + at))
        if at % 10 == 0:
            page.centred((left + at, top - 1.5), str(at), 2.8)
            page.text((left - (5.5 if at == SIDE else 4), top + at + 1), str(at), 2.8)
    page.text((left + SIDE + 4, top - 1.5), "mm", 2.8, ink=GREY)


def _inches(page: LabelPage, left: float, y: float) -> None:
    """Draw a ruler of four inches, in sixteenths."""
    page.line((left, y), (left + INCHES * INCH, y), 0.2)
    for at in range(16 * INCHES + 1):
        long = 5.0 if at % 16 == 0 else 3.5 if at % 8 == 0 else 2.0
        page.line((left + at * INCH / 16, y), (left + at * INCH / 16, y + long))
        if at % 16 == 0:
            page.centred((left + at * INCH / 16, y - 1.5), str(at // 16), 2.8)
    page.text((left + INCHES * INCH + 2, y - 1.5), "in", 2.8, ink=GREY)


@dataclass(frozen=True, slots=True)
class LabelOrder:
    """What to print: `faces` by serial, of a whole set or of the labels to be replaced.

    `modules` is None to choose it by the label's size.
    """

    set: int
    faces: Mapping[int, str] = field(repr=False)  # secret
    sheet: SheetFormat
    modules: int | None = None
    number: NumberSize = "small"
    language: str = "en"
    start: int = 1
    scale: float = 1.0


def labels_pdf(labels: LabelOrder) -> bytes:
    """Return the labels as a PDF; equal orders give equal bytes. Raises LabelTooSmallError, StartOffSheetError."""
    sheet, _ = labels.sheet, Translator(labels.language)
    modules, layout = layout_on(sheet, labels.number, labels.modules)
    groups = by_face(labels.faces)
    placed = _place(labels, groups)
    sheets = placed[-1].sheet + 1
    written = io.BytesIO()
    canvas = Canvas(written, pagesize=(sheet.page[0] * mm, sheet.page[1] * mm), invariant=1, lang=labels.language)
    canvas.setTitle(_("Set {set}: check the printer", set=f"{labels.set:02d}"))
    with LabelPage(canvas, sheet.page[1], labels.scale) as page:
        draw_check_page(page, sheet, _, f"{labels.set:02d}", sheets)
    for at in range(sheets):
        here = tuple((group, spot.cells) for group, spot in zip(groups, placed, strict=True) if spot.sheet == at)
        heading = _(
            "Set {set}   ·   sheet {sheet} of {sheets}   ·   SECRET: shows which number is on which tile",
            set=f"{labels.set:02d}",
            sheet=at + 1,
            sheets=sheets,
        )
        with LabelPage(canvas, sheet.page[1], labels.scale) as page:
            draw_stickers(page, StickerSheet(labels.set, sheet, layout, modules, heading, here), _)
    canvas.save()
    return written.getvalue()


def by_face(faces: Mapping[int, str]) -> Sequence[StickerGroup]:
    """Return the serials of each face, in the order of `FACES`; faces without serials are left out."""
    groups = ((face, tuple(sorted(serial for serial in faces if faces[serial] == face))) for face in FACES)
    return [group for group in groups if group[1]]


def layout_on(sheet: SheetFormat, number: NumberSize, modules: int | None = None) -> tuple[int, LabelLayout]:
    """Return the number of modules and the layout of the labels on a sheet. Raises LabelTooSmallError."""
    try:
        modules = modules or usual_modules(*sheet.upright, number)
        return modules, lay_out_label(*sheet.upright, modules, number)
    except LabelTooSmallError as error:
        raise LabelTooSmallError(f"{sheet.name}: {error}") from None


def _place(labels: LabelOrder, groups: Sequence[StickerGroup]) -> Sequence[PlacedGroup]:
    columns, rows = labels.sheet.columns, labels.sheet.rows
    if not 1 <= labels.start <= columns * rows:
        raise StartOffSheetError(f"a sheet of {labels.sheet.name} has the labels 1 to {columns * rows}")
    return place_groups([1 + len(serials) for _, serials in groups], columns, rows, labels.start)


def format_list() -> str:
    """Return a table of formats, one per line; modules and their size are those with a small number."""
    rows: list[tuple[str, ...]] = [("format", "paper", "label mm", "grid", "sheets", "modules", "mm each", "sold as")]
    rows += [_row(sheet) for sheet in sheet_formats().values()]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _row(sheet: SheetFormat) -> tuple[str, ...]:
    groups = place_groups([1 + TILES_OF_EACH] * len(FACES), sheet.columns, sheet.rows)
    modules, layout = layout_on(sheet, "small")
    usual = " (usual)" if sheet.name == USUAL_FORMAT else ""
    return (
        sheet.name,
        sheet.paper,
        f"{sheet.width:g} x {sheet.height:g}",
        f"{sheet.columns} x {sheet.rows}",
        str(groups[-1].sheet + 1),
        str(modules),
        f"{layout.module:.2f}",
        sheet.sold_as + usual,
    )
