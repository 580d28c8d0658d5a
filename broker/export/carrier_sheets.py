"""The carrier sheet: an A4 page in a deal's carrier that shows which serial belongs in which place.

It shows no face. The same layout is available for programs as JSON and CSV.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from broker.errors import collect_errors
from broker.event import DealRecord, Registry, read_registry
from broker.event.deals import NO_KEY, Opener, read_event_head, refuse_other_event, resolve_event_name
from broker.export import revealed_deals
from broker.export.pdf import BOLD, LATIN, draw_fitted, draw_qr, draw_text, drawn_pdf, text_width
from broker.i18n import N_, SEAT_NAMES, Translator
from broker.protocol import SEATS, CarrierCode, DealNo, EventName, Hash, Name, Seat, SetNo, Wind, carrier_code_text
from broker.rules import ROWS, RuleError, SerialTray, form_hash, seat_wind
from broker.spreadsheet import csv_text


class CarrierLayout(Struct, frozen=True):
    """Where each serial of a set lies in one deal's carrier; `form` is the hash that the tables report."""

    event: EventName
    title: Name
    deal: DealNo
    set: SetNo
    prevalent_wind: Wind
    dealer: Seat
    form: Hash
    order: Mapping[Seat, SerialTray]

    @property
    def payload(self) -> str:
        """The text of the sheet's QR code, which identifies the deal and reveals nothing about it."""
        return carrier_code_text(CarrierCode(self.event, self.deal))


def carrier_layout(
    record: DealRecord, registry: Registry, event: str, title: str, opener: Opener = NO_KEY
) -> CarrierLayout:
    """Return a deal's layout in serials. Raises RuleError `not_a_deal`, `not_a_set`, `set_unknown`."""
    if record.set not in registry:
        raise RuleError(
            "set_unknown",
            N_("deal {deal} uses set {set}, which is not registered", deal=record.number, set=record.set),
        )
    order = record.serials(partial(opener.set_faces, registry=registry))
    return CarrierLayout(
        event=event,
        title=title,
        deal=record.number,
        set=record.set,
        prevalent_wind=record.prevalent_wind,
        dealer=record.dealer,
        form=form_hash(order),
        order=order,
    )


def layout_json(layout: CarrierLayout) -> bytes:
    """Return a layout as JSON: for each seat the rows of 13, 11 and 10 serials."""
    return msgspec.json.encode(layout) + b"\n"


def layout_csv(layout: CarrierLayout) -> bytes:
    """Return a layout as CSV, one line for each place; rows and places count from 1, the hand first."""
    places = (
        (layout.deal, layout.set, seat, row, place, serial)
        for seat in SEATS
        for row, serials in enumerate(layout.order[seat], 1)
        for place, serial in enumerate(serials, 1)
    )
    return csv_text(("deal", "set", "seat", "row", "place", "serial"), places).encode()


def carrier_layouts(folder: Path, numbers: Collection[int] = (), event: str | None = None) -> list[CarrierLayout]:
    """Return the layouts of all deals, or of those named. `event`: its name, if the folder does not contain it.

    Raises BadEvent; RuleError `event_not_said`, `other_event`, `deal_unknown`; an ExceptionGroup of RuleErrors as
    `carrier_layout`.
    """
    name = resolve_event_name(folder, event)
    refuse_other_event(folder)
    head = read_event_head(folder)
    layout = partial(
        carrier_layout,
        registry=read_registry(folder),
        event=name,
        title=head.title if head else name,
        opener=Opener(folder),
    )
    return collect_errors(layout, revealed_deals.select_deals(folder, numbers))


LEFT: Final = 11 * mm
RIGHT: Final = A4[0] - LEFT
QR: Final = 34 * mm
LABEL: Final = 16 * mm
CELL: Final = (RIGHT - LEFT - LABEL) / ROWS[0], 13.6 * mm
"""Width and height of a place."""

SERIAL: Final = 19.5
"""Font size of a serial in points: three digits fill a place and can be read while standing."""

AFTER_HAND: Final = 1.6 * mm
"""Gap between the hand and the wall."""

FIRST_TRAY: Final = 242 * mm
TRAY: Final = 57.5 * mm
FORM: Final = 12
"""Characters of the form's hash on the sheet: enough to tell two forms apart, few enough to compare by eye."""


def carrier_sheets_pdf(layouts: Sequence[CarrierLayout], language: str) -> bytes:
    """Return the sheets of one or more deals as PDF, one page each; the same layouts give the same bytes."""
    _, title = Translator(language), layouts[0].title
    if len(layouts) == 1:
        title = _("{what}: {value}", what=title, value=_("Deal {number}", number=layouts[0].deal))
    return drawn_pdf((partial(_page, layout, _) for layout in layouts), title, language)


def _page(layout: CarrierLayout, _: Translator, canvas: Canvas) -> None:
    _head(canvas, layout, _)
    for at, seat in enumerate(SEATS):
        _tray(canvas, layout, _, seat, FIRST_TRAY - at * TRAY)
    _foot(canvas, layout, _)


def _head(canvas: Canvas, layout: CarrierLayout, _: Translator) -> None:
    room = RIGHT - LEFT - QR - 4 * mm
    draw_fitted(canvas, (LEFT, 282 * mm), layout.title, room, (16, 9))
    draw_text(canvas, (LEFT, 263 * mm), _("Deal {number}", number=layout.deal), 44, bold=True)
    parts = (
        _("Prevalent wind: {wind}", wind=_(SEAT_NAMES[layout.prevalent_wind])),
        _("Dealer: {seat}", seat=_(SEAT_NAMES[layout.dealer])),
        _("Tile set: {number}", number=layout.set),
    )
    draw_fitted(canvas, (LEFT, 252 * mm), "   ·   ".join(parts), room, (15, 10), bold=True)
    draw_qr(canvas, layout.payload, (RIGHT - QR, 252 * mm), QR)


def _tray(canvas: Canvas, layout: CarrierLayout, _: Translator, seat: Seat, top: float) -> None:
    base = top - 6 * mm
    end = draw_text(canvas, (LEFT, base), _(SEAT_NAMES[seat]), 19, bold=True)
    own = _("seat wind: {wind}", wind=_(SEAT_NAMES[seat_wind(seat, layout.dealer)]))
    end = draw_text(canvas, (end + 5 * mm, base), own, 13)
    if seat == layout.dealer:
        _tag(canvas, end + 5 * mm, base, _("DEALER"))
    for row, (name, serials) in enumerate(
        zip((N_("1  Hand"), N_("2  Wall"), N_("3  Wall")), layout.order[seat], strict=True)
    ):
        bottom = top - 11.5 * mm - (row + 1) * CELL[1] - (AFTER_HAND if row else 0)
        draw_fitted(canvas, (LEFT, bottom + CELL[1] / 2 - 4), _(name), LABEL - 1 * mm, (11, 8))
        _row(canvas, serials, bottom)
    _places(canvas, top - 10.6 * mm)


def _tag(canvas: Canvas, x: float, y: float, text: str) -> None:
    """Write white on black, so that the dealer is seen at a glance."""
    canvas.rect(x, y - 1.6 * mm, text_width(text, 13, bold=True) + 5 * mm, 6.8 * mm, stroke=0, fill=1)
    canvas.setFillGray(1)
    draw_text(canvas, (x + 2.5 * mm, y), text, 13, bold=True)
    canvas.setFillGray(0)


def _row(canvas: Canvas, serials: tuple[int, ...], bottom: float) -> None:
    width, height = CELL
    for at, serial in enumerate(serials):
        x = LEFT + LABEL + at * width
        canvas.rect(x, bottom, width, height)
        canvas.setFont(BOLD, SERIAL)
        canvas.drawCentredString(x + width / 2, bottom + height / 2 - 7, str(serial))


def _places(canvas: Canvas, y: float) -> None:
    """Number the columns, small and grey: the table's screen refers to places by number."""
    canvas.setFillGray(0.35)
    canvas.setFont(LATIN, 7.5)
    for at in range(ROWS[0]):
        canvas.drawCentredString(LEFT + LABEL + (at + 0.5) * CELL[0], y, str(at + 1))
    canvas.setFillGray(0)


def _foot(canvas: Canvas, layout: CarrierLayout, _: Translator) -> None:
    about = _("Tiles face down. Each number is the serial of the tile at that place; rows run from the player’s left.")
    draw_fitted(canvas, (LEFT, 10.5 * mm), about, RIGHT - LEFT, (9, 7))
    form = _("Form {start}", start=layout.form[:FORM])
    draw_fitted(canvas, (LEFT, 6 * mm), f"{form}   ·   {layout.payload}", RIGHT - LEFT, (9, 7))
