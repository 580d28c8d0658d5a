"""A tray on the screen: drawn as it lies, and said in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import pygame

from broker.i18n import N_, Translator
from broker.protocol import Seat
from broker.rules import ROWS
from kiosk.screens.drawing import (
    ATTENTION,
    EDGE,
    GROUND,
    LINE,
    PANEL,
    TEXT,
    Colour,
    Paint,
    TextPen,
    seat_name,
)
from kiosk.table import (
    PLACES,
    Carrier,
    Content,
    Deal,
    Misplaced,
    Move,
    PlaceContent,
    PutIn,
    Shift,
    Swap,
    TakeOut,
    TilePlace,
    TrayProblem,
    places_of,
)
from vision.verdict import FAULT_SENTENCES


def move_sentence(_: Translator, move: Move, *, face: bool) -> str:
    """Say a move. Places of two trays are named with their seat; `face`: what is turned lies face up."""
    across = len({place.seat for place in places_of(move)}) > 1
    one = place_name(_, move.one, seat=across)
    match move:
        case Swap(other=other):
            return _("Swap: {one} and {other}", one=one, other=place_name(_, other, seat=across))
        case Shift(other=other):
            return _("Move: {one} to {other}", one=one, other=place_name(_, other, seat=across))
        case TakeOut():
            return _("Remove the tile of another set: {one}", one=one)
        case PutIn(serial=serial):
            return _("Put in {serial}: {one}", one=one, serial=serial)
        case _:
            return _(N_("Turn it over: {one}") if face else N_("Turn it the right way round: {one}"), one=one)


def place_name(_: Translator, place: TilePlace, *, seat: bool) -> str:
    """Name a place, counted from 1."""
    row, col = place.row + 1, place.col + 1
    if seat:
        return _("{seat}, row {row}, place {col}", seat=seat_name(_, place.seat), row=row, col=col)
    return _("row {row}, place {col}", row=row, col=col)


def tray_verdict(_: Translator, check: TrayProblem) -> str:
    """Say in a line how a tray stands."""
    seat = seat_name(_, check.seat)
    if check.aside is not None:
        return _("{seat}: not a tray of this deal", seat=seat)
    if check.wrong:
        return _("{seat}: not right yet", seat=seat)
    return _.ngettext(
        "{seat}: {count} place not read; move your hands away",
        "{seat}: {count} places not read; move your hands away",
        seat=seat,
        count=check.unread,
    )


def fault_sentences(_: Translator, check: TrayProblem) -> Iterator[str]:
    """Name each place that is not right; an exchange is named once. In a tray of no deal of ours none is."""
    if check.aside is not None:
        return
    named: set[tuple[int, int]] = set()
    for wrong in check.wrong:
        if (wrong.row, wrong.col) not in named:
            yield _place(_, wrong)
        if wrong.other:
            named.add(wrong.other)


def _place(_: Translator, wrong: Misplaced) -> str:
    row2, col2 = wrong.other or (0, 0)
    return _(
        FAULT_SENTENCES[wrong.kind],
        row=wrong.row + 1,
        col=wrong.col + 1,
        row2=row2 + 1,
        col2=col2 + 1,
        expected=wrong.expected,
        found=wrong.found,
    )


SIGNS: Final = {
    Content.UNREAD: "?",
    Content.COVERED: "?",
    Content.UNSEEN: "",
    Content.FOREIGN: "!",
    Content.FACE_UP: "!",
}
SHAPE: Final = 0.72
"""Of a tile: its width by its height."""


@dataclass(frozen=True, slots=True)
class TrayDrawing:
    """What is drawn of one tray. `texts` stand in their places, `strong` places are filled."""

    seat: Seat
    colours: Mapping[TilePlace, Colour] = field(default_factory=dict)
    texts: Mapping[TilePlace, str] = field(default_factory=dict)
    strong: tuple[TilePlace, ...] = ()
    arrow: bool = False
    """An arrow leads between the two strong places."""

    def paint(self, surface: pygame.Surface, room: pygame.Rect, pen: TextPen) -> None:
        """Draw it as large as there is room."""
        boxes = place_boxes(self.seat, room)
        for place, box in boxes.items():
            self._cell(surface, box, place, pen)
        here = [boxes[place] for place in self.strong if place in boxes]
        if self.arrow and len(here) == 2:  # noqa: PLR2004 - from one to the other
            pygame.draw.line(surface, TEXT, here[0].center, here[1].center, max(2, here[0].width // 12))

    def _cell(self, surface: pygame.Surface, box: pygame.Rect, place: TilePlace, pen: TextPen) -> None:
        colour, strong = self.colours.get(place, LINE), place in self.strong
        filled = strong and not pen.look.quiet
        radius, width = max(2, box.width // 8), max(1, box.width // (14 if filled or not strong else 7))
        pygame.draw.rect(surface, colour if filled else PANEL, box, border_radius=radius)
        pygame.draw.rect(surface, colour, box, width=width, border_radius=radius)
        if text := self.texts.get(place, ""):
            share = 0.62 * box.height / pen.unit
            high = pen.height(text, share, box.width - 2)
            ink = GROUND if filled else colour
            at = (box.centerx, box.centery - high // 2)
            pen.write(surface, text, at, share, ink, box.width - 2, align="centre")


def place_boxes(seat: Seat, room: pygame.Rect) -> dict[TilePlace, pygame.Rect]:
    """Return the rectangle of each place: rows as the player sees them, from the left."""
    gap = max(2, room.height // 40)
    height = (room.height - 2 * gap) // len(ROWS)
    width = min((room.width - (ROWS[0] - 1) * gap) // ROWS[0], round(height / SHAPE))
    height = min(height, round(width / SHAPE))
    left = room.centerx - (ROWS[0] * (width + gap) - gap) // 2
    top = room.centery - (len(ROWS) * (height + gap) - gap) // 2
    return {
        place: pygame.Rect(left + place.col * (width + gap), top + place.row * (height + gap), width, height)
        for place in PLACES
        if place.seat == seat
    }


def paint_look(carrier: Carrier, deal: Deal, seat: Seat, move: Move | None) -> Paint:
    """Return what draws a tray that was looked at: what is wrong has a sign, the places of the next move are filled."""
    here = {place: carrier[place] for place in PLACES if place.seat == seat}
    wrong = {place for place, lying in here.items() if not _right(lying, deal[place])}
    return TrayDrawing(
        seat,
        colours={place: ATTENTION if place in wrong else EDGE for place in here},
        texts={place: _sign(lying) for place, lying in here.items() if place in wrong},
        strong=places_of(move) if move is not None else (),
        arrow=isinstance(move, Swap | Shift),
    ).paint


def _right(lying: PlaceContent, wanted: int) -> bool:
    return lying.serial == wanted and lying.well


def _sign(lying: PlaceContent) -> str:
    if lying.what is Content.EMPTY:
        return "–"
    return SIGNS.get(lying.what, "×" if lying.well else "!")
