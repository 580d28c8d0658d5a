"""Labels as PDF: a page to check the printer, then sheets with each face before the labels of its four tiles."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from vision.errors import LabelTooSmallError, StartOffSheetError
from vision.sheets.check_page import draw_check_page
from vision.sheets.code import TEXTS
from vision.sheets.faces import FACES
from vision.sheets.formats import Format
from vision.sheets.label import LabelLayout, Number, lay_out, usual_modules
from vision.sheets.page import Page
from vision.sheets.placing import Placed, place
from vision.sheets.stickers import Group, Stickers, draw_stickers
from vision.sheets.words import Language, catalogue


@dataclass(frozen=True, slots=True)
class Labels:
    """What is to be printed: `faces` is serial to face, of a whole set or of the labels that are to be replaced.

    `modules` is None where the label's size is to decide.
    """

    set: int
    faces: Mapping[int, str] = field(repr=False)  # secret
    sheet: Format
    modules: int | None = None
    number: Number = "small"
    language: Language = "en"
    start: int = 1
    scale: float = 1.0


def labels_pdf(labels: Labels) -> bytes:
    """Give the labels as PDF; the same labels give the same bytes. Raises LabelTooSmallError, StartOffSheetError."""
    sheet, words = labels.sheet, catalogue()[labels.language]
    modules, layout = layout_on(sheet, labels.number, labels.modules)
    groups = by_face(labels.faces)
    placed = _place(labels, groups)
    sheets = placed[-1].sheet + 1
    written = io.BytesIO()
    canvas = Canvas(written, pagesize=(sheet.page[0] * mm, sheet.page[1] * mm), invariant=1, lang=labels.language)
    canvas.setTitle(words["title"].format(set=f"{labels.set:02d}"))
    with Page(canvas, sheet.page[1], labels.scale) as page:
        draw_check_page(page, sheet, words, f"{labels.set:02d}", sheets)
    for at in range(sheets):
        here = tuple((group, spot.cells) for group, spot in zip(groups, placed, strict=True) if spot.sheet == at)
        heading = words["heading"].format(set=f"{labels.set:02d}", sheet=at + 1, sheets=sheets)
        with Page(canvas, sheet.page[1], labels.scale) as page:
            draw_stickers(page, Stickers(labels.set, sheet, layout, modules, heading, here), words)
    canvas.save()
    return written.getvalue()


def by_face(faces: Mapping[int, str]) -> Sequence[Group]:
    """Give the serials of each face, in the order of a box of tiles; faces without any are left out."""
    groups = ((face, tuple(sorted(serial for serial in faces if faces[serial] == face))) for face in FACES)
    return [group for group in groups if group[1]]


def layout_on(sheet: Format, number: Number, modules: int | None = None) -> tuple[int, LabelLayout]:
    """Give how many modules the labels of a sheet have, and how they are laid out. Raises LabelTooSmallError."""
    try:
        modules = modules or usual_modules(*sheet.upright, TEXTS, number)
        return modules, lay_out(*sheet.upright, modules, number)
    except LabelTooSmallError as error:
        raise LabelTooSmallError(f"{sheet.name}: {error}") from None


def _place(labels: Labels, groups: Sequence[Group]) -> Sequence[Placed]:
    columns, rows = labels.sheet.columns, labels.sheet.rows
    if not 1 <= labels.start <= columns * rows:
        raise StartOffSheetError(f"a sheet of {labels.sheet.name} has the labels 1 to {columns * rows}")
    return place([1 + len(serials) for _, serials in groups], columns, rows, labels.start)
