"""Trays on the screen: drawings and sentences for a tray, and the screens of carrier sheets and wrong carriers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import pygame

from broker.i18n import N_, Translator
from broker.protocol import Seat
from broker.rules import ROWS
from kiosk.screens.drawing import (
    ATTENTION,
    BODY,
    EDGE,
    GOOD,
    GROUND,
    LARGE,
    LINE,
    PANEL,
    TEXT,
    TITLE,
    Colour,
    KeyButton,
    Paint,
    ScreenBody,
    TextLine,
    TextPen,
    seat_name,
)
from kiosk.screens.views import RestoringView, ScreenView
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
    """Return a move as a sentence. Moves between trays name seats; `face`: the tile to turn lies face up."""
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
    """Return the name of a place, counted from 1."""
    row, col = place.row + 1, place.col + 1
    if seat:
        return _("{seat}, row {row}, place {col}", seat=seat_name(_, place.seat), row=row, col=col)
    return _("row {row}, place {col}", row=row, col=col)


def tray_verdict(_: Translator, check: TrayProblem) -> str:
    """Return the state of a tray in one line."""
    seat = seat_name(_, check.seat)
    if check.unknown_look is not None:
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
    """Yield a sentence for each wrong place; an exchange is named once. A tray of an unknown deal has none."""
    if check.unknown_look is not None:
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
"""Width of a tile divided by its height."""


@dataclass(frozen=True, slots=True)
class TrayDrawing:
    """A drawing of one tray. `texts` are written in their places; `strong` places are filled."""

    seat: Seat
    colours: Mapping[TilePlace, Colour] = field(default_factory=dict)
    texts: Mapping[TilePlace, str] = field(default_factory=dict)
    strong: tuple[TilePlace, ...] = ()
    arrow: bool = False
    """Whether an arrow leads from one strong place to the other."""

    def paint(self, surface: pygame.Surface, room: pygame.Rect, pen: TextPen) -> None:
        """Draw the tray as large as there is room."""
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
    """Return a painter for a tray that was checked: wrong places have a sign, those of the next move are filled."""
    here = {place: carrier[place] for place in PLACES if place.seat == seat}
    wrong = {place for place, content in here.items() if not _right(content, deal[place])}
    return TrayDrawing(
        seat,
        colours={place: ATTENTION if place in wrong else EDGE for place in here},
        texts={place: _sign(content) for place, content in here.items() if place in wrong},
        strong=places_of(move) if move is not None else (),
        arrow=isinstance(move, Swap | Shift),
    ).paint


def _right(content: PlaceContent, wanted: int) -> bool:
    return content.serial == wanted and content.aligned


def _sign(content: PlaceContent) -> str:
    if content.what is Content.EMPTY:
        return "–"
    return SIGNS.get(content.what, "×" if content.aligned else "!")


def by_hand_button(_: Translator, view: ScreenView, phase: RestoringView) -> tuple[KeyButton, ...]:
    """Return the button for ticking rows, where the table accepts that (`may_tick`)."""
    may = camera_is_out(view) or (phase.check is not None and phase.check.unread > 0)
    return (KeyButton("h", _("By hand")),) if may else ()


def camera_is_out(view: ScreenView) -> bool:
    """Return whether the camera is known not to work."""
    return any(one.startswith("camera: ") for one in view.line.health)


def carrier_sheet_screen(_: Translator, view: ScreenView, phase: RestoringView) -> ScreenBody | None:
    """Return the screen for a carrier's sheet that was scanned or is under the camera, or None."""
    if (sheet := phase.restoring.sheet) is None:
        return None
    name = (
        _("This is a carrier of another event")
        if sheet.deal is None
        else _("This is the carrier of deal {deal}", deal=sheet.deal)
    )
    right = sheet.deal == view.deal
    actions = KeyButton("back", _("Back")), *by_hand_button(_, view, phase)
    title = TextLine(name, TITLE, GOOD if right else ATTENTION)
    return ScreenBody((title, *(_right_carrier(_) if right else _wanted_carrier(_, view))), actions)


def another_carrier_screen(_: Translator, view: ScreenView, phase: RestoringView) -> ScreenBody | None:
    """Return the screen for a tray of another deal under the camera, or None."""
    check, showing = phase.check, phase.restoring.showing
    if check is None or (check.deal is None and (check.unknown_look is None or showing == "hand")):
        return None
    # A carrier of unknown tiles may hold no deal at all, but tiles of this set that somebody has put into trays.
    may_be_laid = check.unknown_look is not None and not check.of_another_set
    if showing == "anew" and may_be_laid:
        return _lay_again(_, view)
    lines, by_hand = (_carrier_title(_, view, check), *_wanted_carrier(_, view)), by_hand_button(_, view, phase)
    if not may_be_laid:
        return ScreenBody(lines, by_hand)
    these = TextLine(_("Lay the deal with these tiles only if nobody has prepared them."), BODY)
    return ScreenBody((*lines, these), (KeyButton("enter", _("Lay deal {deal} with these", deal=view.deal)), *by_hand))


def _lay_again(_: Translator, view: ScreenView) -> ScreenBody:
    """Return the question before tiles are laid anew: another table may need them as they are."""
    lines = (
        TextLine(_("Lay deal {deal} with these tiles?", deal=view.deal), TITLE, ATTENTION),
        TextLine(_("If they were laid for another deal, that work is lost."), LARGE),
    )
    return ScreenBody(
        lines, (KeyButton("y", _("Yes, lay them again")), KeyButton("back", _("No, leave them"), "strong"))
    )


def _carrier_title(_: Translator, view: ScreenView, check: TrayProblem) -> TextLine:
    if check.deal is not None:
        return TextLine(_("This is the carrier of deal {deal}", deal=check.deal), TITLE, ATTENTION)
    name = (
        N_("These tiles are of another set") if check.of_another_set else N_("This is not the carrier of deal {deal}")
    )
    return TextLine(_(name, deal=view.deal), TITLE, ATTENTION)


def _wanted_carrier(_: Translator, view: ScreenView) -> tuple[TextLine, ...]:
    return (
        TextLine(_("Deal {deal} is to be played here", deal=view.deal), LARGE),
        TextLine(_("Get the right one. If it is not there, call the arbiter."), BODY),
    )


def _right_carrier(_: Translator) -> tuple[TextLine, ...]:
    return TextLine(_("It is the right one"), LARGE), TextLine(_("Remove the sheet and show the trays."), BODY)
