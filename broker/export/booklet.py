"""A booklet of the event for players to take home: a page for each deal with its walls, results and stories.

It is only available once the standings are final, because faces are secret until then.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from itertools import chain
from math import sqrt
from typing import Final

from reportlab.lib.colors import HexColor
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, PageBreak

from broker.event import SeatPar
from broker.export.pdf import PageBlock, PageCell, PageLine, draw_fitted, draw_text, pages_pdf
from broker.export.pmn.record import in_order
from broker.export.printed_results import (
    TRAVELLERS,
    note_line,
    page_heading,
    par_note,
    signed_text,
    travellers_by_deal,
    unplayed_notes,
)
from broker.i18n import SEAT_NAMES, Translator, tile_signs
from broker.protocol import SEATS, Seat
from broker.rules import ROWS, Deal
from broker.scorer import DealSheet, StoredEvent, deal_sheet
from broker.scorer.highlights import TITLES, deal_highlights, event_highlights, highlight_text
from broker.scoring import event_strength

LEADERS: Final = 3

TILE: Final = (6.4 * mm, 9 * mm)
ROW: Final = 11 * mm
NAME: Final = 27 * mm
STRIP: Final = 5 * mm
DOT: Final = 0.8 * mm
"""Radius of the dot of one table."""
SCALE_END: Final = 200 * mm
"""Where the scale of points ends."""
HAND_GAP: Final = 4 * mm
"""Gap between hand and wall."""

INKS: Final = {"m": "#b3261e", "p": "#1f4e9c", "s": "#1b6e37", "z": "#000000"}


def booklet_pdf(stored: StoredEvent, _: Translator, at: datetime, *, anchor: str = "") -> bytes:
    """Return the booklet, on A4 landscape. Raises as `Event.open_deal`."""
    pages = [_cover(stored, _), *_deals(stored, _)]
    return pages_pdf(page_heading(stored, _, at, _("Booklet"), anchor), pages, TRAVELLERS, wide=True)


def _cover(stored: StoredEvent, _: Translator) -> PageBlock:
    snapshot = stored.state.snapshot()
    leaders = [
        _("Place {place}: {name}, {imp} IMP", place=one.place, name=one.name, imp=signed_text(Fraction(one.imp)))
        for one in snapshot.standings[:LEADERS]
    ]
    stories = [
        (
            _(TITLES[kind]),
            [_("Deal {number}: {text}", number=one.deal, text=highlight_text(_, one, signed_text)) for one in of_kind],
        )
        for kind, of_kind in event_highlights(snapshot).items()
    ]
    strength = event_strength(snapshot.ledger)
    luck = []
    if strength:
        low, share, high = (round(100 * (part or 0)) for part in sorted(strength.reliability, key=lambda one: one or 0))
        luck = [
            _(
                "{share} % of the differences between the players is strength (between {low} and {high} %), the rest "
                "is luck.",
                share=share,
                low=low,
                high=high,
            )
        ]
    lines = [
        *_part(_("Standings"), leaders),
        *(line for title, texts in stories for line in _part(title, texts)),
        *_part(_("Luck and strength"), luck),
        *_part(
            _("How to read a page"),
            [
                _("Each seat’s tray: the 13 tiles of the hand, sorted, then its own wall in the order of drawing."),
                _("Below: the results with these tiles at each table."),
                _(
                    "For each seat, a dot shows the points at one table, a larger one at several, and the stroke the "
                    "datum; where there is a par, the bar spans 8 of 10 simulated plays."
                ),
            ],
        ),
        *par_note(stored, _),
    ]
    return PageBlock((), tuple(lines))


def _part(title: str, lines: Sequence[str]) -> Iterator[PageLine]:
    if title and lines:
        yield PageLine("heading", (PageCell(title), PageCell("")))
    yield from map(note_line, lines)


def _deals(stored: StoredEvent, _: Translator) -> Iterator[Flowable | PageBlock]:
    snapshot = stored.state.snapshot()
    blocks = travellers_by_deal(stored, _, stored.state.groups(), unplayed_notes(stored, _, embargoed=False))
    previous, names = 0, {seat: _(SEAT_NAMES[seat]) for seat in SEATS}
    for deal, block in blocks:
        if deal != previous:
            sheet = deal_sheet(snapshot, deal)
            stories = deal_highlights(sheet)
            yield PageBreak()
            yield PageBlock(block.head[:1], ())
            yield WallsDrawing(stored.event.open_deal(deal), names)
            if highlight_lines := tuple(_part("", [highlight_text(_, one, signed_text) for one in stories])):
                yield PageBlock((), highlight_lines)
            yield SeatPoints(sheet, par.seats() if (par := stored.par_of(deal)) else {}, names)
        yield block if deal == previous else PageBlock(block.head[1:], block.lines)
        previous = deal


class SeatPoints(Flowable):  # type: ignore[misc]  # reportlab ships no types
    """The points of each seat of a deal on one scale: dots for the tables, a stroke for the datum, a bar for par."""

    def __init__(self, sheet: DealSheet, par: Mapping[Seat, SeatPar], names: Mapping[Seat, str]) -> None:
        super().__init__()
        self._names, self._par = names, par
        plays = [play for group in sheet.groups for play in group.plays]
        self._points = {seat: [one for play in plays if (one := play.seats[seat].points) is not None] for seat in SEATS}
        datum = sheet.groups[0].datum if len(sheet.groups) == 1 else None
        self._datum = {seat: float(Fraction(datum[seat])) for seat in SEATS} if datum else {}
        ends = [end for one in par.values() for end in (one.least, one.most)]
        all_points = [0, *ends, *chain.from_iterable(self._points.values())]
        self._low, self._high = min(all_points), max(*all_points, min(all_points) + 1)

    def wrap(self, room: float, _high: float) -> tuple[float, float]:
        """Take the space of four rows and the scale."""
        self.width, self.height = room, STRIP * (len(SEATS) + 1)
        return self.width, self.height

    def _across(self, points: float) -> float:
        at: float = NAME + (points - self._low) / (self._high - self._low) * (SCALE_END - NAME)
        return at

    def draw(self) -> None:
        """Draw the rows, the first seat on top."""
        canvas, zero = self.canv, self._across(0)
        canvas.setLineWidth(0.5)
        for row, seat in enumerate(SEATS, 1):
            middle = self.height - (row - 0.5) * STRIP
            draw_fitted(canvas, (0, middle - 1 * mm), self._names[seat], NAME - 2 * mm, (8, 6))
            canvas.setStrokeGray(0.7)
            canvas.line(NAME, middle, SCALE_END, middle)
            if one := self._par.get(seat):
                left, right = self._across(one.least), self._across(one.most)
                canvas.setFillGray(0.85)
                canvas.rect(left, middle - 1.2 * mm, max(right - left, 1), 2.4 * mm, stroke=0, fill=1)
            canvas.setFillGray(0)
            canvas.setStrokeGray(0)
            for points, tables in Counter(self._points[seat]).items():
                canvas.circle(self._across(points), middle, min(DOT * sqrt(tables), STRIP / 2), stroke=0, fill=1)
            if seat in self._datum:
                at = self._across(self._datum[seat])
                canvas.line(at, middle - 2 * mm, at, middle + 2 * mm)
        canvas.setDash(1, 2)
        canvas.line(zero, STRIP, zero, self.height)
        for points in {self._low, 0, self._high}:
            draw_text(canvas, (self._across(points), 1.5 * mm), signed_text(Fraction(points)), 7, align="centre")
        canvas.setDash()


class WallsDrawing(Flowable):  # type: ignore[misc]  # reportlab ships no types
    """The four trays of a deal, one row each: the hand, then the wall in the order of drawing."""

    def __init__(self, deal: Deal, names: dict[Seat, str]) -> None:
        super().__init__()
        self._deal, self._names = deal, names

    def wrap(self, room: float, _high: float) -> tuple[float, float]:
        """Take the space of four rows."""
        self.width, self.height = room, ROW * len(SEATS)
        return self.width, self.height

    def draw(self) -> None:
        """Draw the rows, the first seat on top."""
        for row, seat in enumerate(SEATS, 1):
            base = self.height - row * ROW
            bold = seat == self._deal.dealer
            draw_fitted(self.canv, (0, base + 3 * mm), self._names[seat], NAME - 2 * mm, (10, 6), bold=bold)
            tray = self._deal.faces[seat]
            for at, face in enumerate((*in_order(tray[: ROWS[0]]), *tray[ROWS[0] :])):
                left = NAME + at * TILE[0] + (HAND_GAP if at >= ROWS[0] else 0)
                draw_tile(self.canv, (left, base), face)


def draw_tile(canvas: Canvas, at: tuple[float, float], face: str) -> None:
    """Draw a tile's face from its lower left corner: a rank and the sign of its suit, or an honour's sign."""
    (x, y), (width, height) = at, TILE
    canvas.saveState()
    canvas.setLineWidth(0.4)
    canvas.roundRect(x + 0.2 * mm, y, width - 0.4 * mm, height, 0.8 * mm)
    canvas.setFillColor(HexColor(INKS[face[1]]))
    rank, sign = tile_signs(face)
    signs = ((rank, 10, 0.55), (sign, 9, 0.12)) if rank else ((sign, 12, 0.32),)
    for sign, size, up in signs:
        draw_text(canvas, (x + width / 2, y + up * height), sign, size, bold=sign.isascii(), align="centre")
    canvas.restoreState()
