"""Blank result sheets: two on a page of A4, one for each play, with fields for four signatures.

They are used when a table's device is out of order; the results are then entered at the desk. The key in the corner
identifies the play, so that a stray sheet can still be assigned.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from broker.event import BookedPlay, DealRecord, Event
from broker.export.pdf import draw_fitted, draw_name, draw_text, drawn_pdf
from broker.i18n import N_, SEAT_NAMES, Message, Translator
from broker.protocol import SEATS, Seat
from broker.rules import RuleError
from broker.rulings import StandIn, substitute_of
from broker.rulings.paper import of_hand_values

LEFT: Final = 14 * mm
RIGHT: Final = A4[0] - 14 * mm
HALF: Final = A4[1] / 2
ROW: Final = 15 * mm
GREY: Final = 0.4

COLUMNS: Final[Mapping[str, tuple[Message, float]]] = {
    "seat": (N_("Seat"), 22 * mm),
    "player": (N_("Player"), 53 * mm),
    "hu": (N_("Hu"), 12 * mm),
    "hand_value": (N_("HV"), 18 * mm),
    "discarder": (N_("Discarder"), 20 * mm),
    "points": (N_("Points"), 20 * mm),
    "signature": (N_("Signature"), 37 * mm),
}
"""Title and width of each column."""


class BlankSheet(NamedTuple):
    """The data for the sheet of one play."""

    play: BookedPlay
    deal: DealRecord
    names: Mapping[Seat, str]
    """Who sits there; a substitute's own name."""
    replaced: Mapping[Seat, str]
    """The player replaced by a substitute, for such seats."""
    title: str
    event: str
    minimum: int
    """The smallest hand value that wins."""

    @property
    def key(self) -> str:
        """The key of the play, short enough to be typed."""
        return f"{self.event} R{self.play.round} T{self.play.table} D{self.play.deal}"


def blank_sheets(
    event: Event,
    deals: Mapping[int, DealRecord],
    *,
    tables: Iterable[int] = (),
    rounds: Iterable[int] = (),
    stand_ins: Sequence[StandIn] = (),
) -> list[BlankSheet]:
    """Return the sheets of an event by table, only for some tables or rounds if these are given.

    `stand_ins`: substitutes that were ruled. Raises RuleError `no_riichi_sheet`.
    """
    only_tables, only_rounds = set(tables), set(rounds)
    minimum = of_hand_values(event).payments.minimum.value
    return [
        BlankSheet(
            play,
            deals[play.deal],
            {
                seat: substitute_of(stand_ins, player, play.round) or event.players[player].name
                for seat, player in play.players.items()
            },
            {
                seat: event.players[player].name
                for seat, player in play.players.items()
                if substitute_of(stand_ins, player, play.round)
            },
            event.plan.title,
            event.name,
            minimum,
        )
        for play in sorted(event.plan.plays, key=lambda play: (play.table, play.round))
        if play.table in (only_tables or {play.table}) and play.round in (only_rounds or {play.round})
    ]


def blank_sheets_pdf(sheets: Iterable[BlankSheet], language: str) -> bytes:
    """Return the sheets as PDF, two on a page; the same sheets give the same bytes."""
    _, all_sheets = Translator(language), [*sheets]
    pairs = (all_sheets[at : at + 2] for at in range(0, len(all_sheets), 2))
    return drawn_pdf((partial(_page, pair, _) for pair in pairs), _("Blank sheets"), language)


def _page(sheets: Sequence[BlankSheet], _: Translator, canvas: Canvas) -> None:
    """Draw one or two sheets, and the line to cut along."""
    for sheet, foot in zip(sheets, (HALF, 0), strict=False):
        _sheet(canvas, sheet, _, foot)
    canvas.setDash(2, 3)
    canvas.setLineWidth(0.4)
    canvas.line(0, HALF, A4[0], HALF)


def _sheet(canvas: Canvas, sheet: BlankSheet, _: Translator, foot: float) -> None:
    top = foot + HALF - 12 * mm
    draw_fitted(canvas, (RIGHT, top - 3 * mm), sheet.key, 62 * mm, (11, 7), bold=True, align="right")
    draw_fitted(canvas, (LEFT, top - 3 * mm), sheet.title, 110 * mm, (10, 7))
    parts = (
        _("Table {number}", number=sheet.play.table),
        _("Round {number}", number=sheet.play.round),
        _("Deal {number}", number=sheet.play.deal),
    )
    draw_fitted(canvas, (LEFT, top - 13 * mm), "   ".join(parts), RIGHT - LEFT - 62 * mm, (21, 12), bold=True)
    winds = (
        _("Prevalent wind {wind}", wind=_(SEAT_NAMES[sheet.deal.prevalent_wind])),
        _("Dealer {seat}", seat=_(SEAT_NAMES[sheet.deal.dealer])),
    )
    draw_fitted(canvas, (RIGHT, top - 13 * mm), " · ".join(winds), 60 * mm, (10.5, 7), align="right")
    _endings(canvas, _, top - 23 * mm)
    below = _grid(canvas, sheet, _, top - 29 * mm)
    _below(canvas, sheet, _, below, foot)


def _endings(canvas: Canvas, _: Translator, y: float) -> None:
    end = draw_text(canvas, (LEFT, y), _("How it ended"), 10.5, bold=True) + 6 * mm
    for text in (_("won on a discard"), _("self-drawn"), _("draw")):
        canvas.rect(end, y - 0.8 * mm, 4.6 * mm, 4.6 * mm)
        end = draw_text(canvas, (end + 6.5 * mm, y), text, 10.5) + 8 * mm


def _grid(canvas: Canvas, sheet: BlankSheet, _: Translator, top: float) -> float:
    """Draw the header and four rows; return where they end."""
    head = 7 * mm
    canvas.setLineWidth(0.7)
    x = LEFT
    for key, (title, width) in COLUMNS.items():
        draw_fitted(canvas, (x + 1.5 * mm, top - 5 * mm), _(title), width - 3 * mm, (9, 6.5), bold=True)
        for at, seat in enumerate(SEATS):
            y = top - head - (at + 1) * ROW
            canvas.rect(x, y, width, ROW)
            _filled(canvas, sheet, _, (key, seat), (x, y, width))
        x += width
    return float(top - head - len(SEATS) * ROW)


def _filled(
    canvas: Canvas,
    sheet: BlankSheet,
    _: Translator,
    cell: tuple[str, Seat],
    box: tuple[float, float, float],
) -> None:
    """Fill in the seat and the name. The rest of a row is to be filled in by hand."""
    (key, seat), (x, y, width) = cell, box
    if key == "seat":
        draw_fitted(canvas, (x + 1.5 * mm, y + 4.4 * mm), _(SEAT_NAMES[seat]), width - 3 * mm, (14, 9), bold=True)
    elif key == "player":
        draw_name(canvas, (x + 1.5 * mm, y + 5.2 * mm), sheet.names[seat], (width - 3 * mm, ROW - 5.5 * mm), 12)
        canvas.setFillGray(GREY)
        player = sheet.play.players[seat]
        if seat in sheet.replaced:
            player += " · " + _("for {player}", player=sheet.replaced[seat])
        draw_fitted(canvas, (x + 1.5 * mm, y + 1.4 * mm), player, width - 3 * mm, (7.5, 6))
        canvas.setFillGray(0)
    elif key in ("hu", "discarder"):
        canvas.rect(x + width / 2 - 2.6 * mm, y + ROW / 2 - 2.6 * mm, 5.2 * mm, 5.2 * mm)


def _below(canvas: Canvas, sheet: BlankSheet, _: Translator, y: float, foot: float) -> None:
    draw_text(canvas, (LEFT, y - 8 * mm), _("Fine (arbiter): seat, IMP, reason"), 9)
    canvas.setLineWidth(0.4)
    canvas.line(LEFT + 62 * mm, y - 8.5 * mm, RIGHT - 52 * mm, y - 8.5 * mm)
    end = draw_text(canvas, (RIGHT - 50 * mm, y - 8 * mm), _("Arbiter"), 9)
    canvas.line(end + 2 * mm, y - 8.5 * mm, RIGHT, y - 8.5 * mm)
    canvas.setFillGray(GREY)
    about = _(
        "Several players may win on one discard. Minimum HV: {least}. All four sign, then give the sheet to "
        "the arbiter.",
        least=sheet.minimum,
    )
    draw_fitted(canvas, (LEFT, foot + 8 * mm), about, RIGHT - LEFT, (8.5, 6.5))
    canvas.setFillGray(0)


MAX_SHEETS: Final = 2000
"""Sheets in one file: 1,000 pages."""


def refuse_none_or_many(sheets: Sequence[BlankSheet]) -> Sequence[BlankSheet]:
    """Return the sheets unless there are none, or too many for one file. Raises RuleError `no_plays`, `too_large`."""
    if not sheets:
        raise RuleError("no_plays", N_("no plays are planned at these tables in these rounds"))
    if len(sheets) > MAX_SHEETS:
        text = N_(
            "{count} sheets are too many for one file (maximum {most}): choose fewer tables or rounds",
            count=len(sheets),
            most=MAX_SHEETS,
        )
        raise RuleError("too_large", text)
    return sheets
