"""Screens for restoring walls: a tray with its next move, a heap under the camera, a scan, rows ticked by hand."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import pygame

from broker.i18n import N_, Translator
from broker.protocol import SEATS, Seat, Verifier
from broker.rules import ROWS, TRAY
from broker.terms import SEAT_NAMES
from kiosk.camera.observations import LIST_SHARE, CameraView
from kiosk.restoring import FOREIGN, ROW_KEYS, Restoring, ScanAnswer, sorting_stage, tray_by_hand, unseen_serials
from kiosk.screens import drawing
from kiosk.screens.device import fault_name
from kiosk.screens.drawing import (
    KeyButton,
    Paint,
    ScreenBody,
    TextLine,
    TextPen,
    by_hand_button,
    camera_is_out,
    draw_shape,
    paint_picture,
    problem_lines,
    time_lines,
)
from kiosk.screens.texts import STATE
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
    Work,
    known_places,
    place_by_serial,
    places_of,
    serial_by_place,
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
        return _("{seat}, row {row}, place {col}", seat=_(SEAT_NAMES[place.seat]), row=row, col=col)
    return _("row {row}, place {col}", row=row, col=col)


def tray_verdict(_: Translator, check: TrayProblem) -> str:
    """Say in a line how a tray stands."""
    seat = _(SEAT_NAMES[check.seat])
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

MOST_WAITED_FOR: Final = 3
"""As many places are named in a line."""

SHAPE: Final = 0.72
"""Of a tile: its width by its height."""


@dataclass(frozen=True, slots=True)
class TrayDrawing:
    """What is drawn of one tray. `texts` stand in their places, `strong` places are filled."""

    seat: Seat
    colours: Mapping[TilePlace, drawing.Colour] = field(default_factory=dict)
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
            pygame.draw.line(surface, drawing.TEXT, here[0].center, here[1].center, max(2, here[0].width // 12))

    def _cell(self, surface: pygame.Surface, box: pygame.Rect, place: TilePlace, pen: TextPen) -> None:
        colour, strong = self.colours.get(place, drawing.LINE), place in self.strong
        filled = strong and not pen.look.quiet
        radius, width = max(2, box.width // 8), max(1, box.width // (14 if filled or not strong else 7))
        pygame.draw.rect(surface, colour if filled else drawing.PANEL, box, border_radius=radius)
        pygame.draw.rect(surface, colour, box, width=width, border_radius=radius)
        if text := self.texts.get(place, ""):
            share = 0.62 * box.height / pen.unit
            high = pen.height(text, share, box.width - 2)
            ink = drawing.GROUND if filled else colour
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
        colours={place: drawing.ATTENTION if place in wrong else drawing.EDGE for place in here},
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


def tray_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """The tray that was looked at last, where it is not right."""
    phase = view.phase
    if not isinstance(phase, RestoringView) or (check := phase.check) is None:
        return None
    work, order = phase.work, phase.order
    drawn = _drawn_seat(work, check)
    lines = [
        TextLine(tray_verdict(_, check), drawing.LARGE, drawing.ATTENTION),
        *_waited_for(_, work.carrier, check),
        *_move(_, work),
        *_beside(_, phase),
        *_covered(_, phase),
        *_print_to_blame(_, phase),
    ]
    paint = paint_look(work.carrier, serial_by_place(order), drawn, work.move)
    if (listed := phase.restoring.observation.listed) is not None and drawn == check.seat:
        paint = _with_list(paint, listed)
    said = (*time_lines(_, view), *lines, *problem_lines(_, view))
    return ScreenBody(said, by_hand_button(_, view), paint=paint, seats=False)


def _waited_for(_: Translator, carrier: Carrier, check: TrayProblem) -> tuple[TextLine, ...]:
    """Name the places of a tray that lies right, as far as it was read, where tiles are not read yet, if few."""
    unread = [place for place in PLACES if place.seat == check.seat and carrier[place].what is Content.UNREAD]
    if check.wrong or check.aside is not None or not 0 < len(unread) <= MOST_WAITED_FOR:
        return ()
    places = " · ".join(place_name(_, place, seat=False) for place in unread)
    return (TextLine(_("Waiting for {places}", places=places), drawing.SMALL, drawing.TEXT),)


def _with_list(tray: Paint, listed: CameraView) -> Paint:
    """Draw the tiles of a tray as they were cut out, with their serials, under the tray."""

    def paint(surface: pygame.Surface, room: pygame.Rect, pen: TextPen) -> None:
        lower = pygame.Rect(room.left, 0, room.width, round(LIST_SHARE * room.height))
        lower.bottom = room.bottom
        gap = pen.unit // 60
        tray(surface, pygame.Rect(room.left, room.top, room.width, lower.top - room.top - gap), pen)
        paint_picture(listed)(surface, lower, pen)

    return paint


def no_camera_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """Nothing was looked at, and the camera looks at nothing."""
    if not isinstance(view.phase, RestoringView) or not camera_is_out(view):
        return None
    lines = (
        TextLine(_(STATE[view.state]), drawing.HEADLINE, drawing.TEXT),
        TextLine(_("The camera does not work now: compare each tray by hand."), drawing.BODY, drawing.TEXT),
    )
    return ScreenBody((*time_lines(_, view), *lines, *problem_lines(_, view)), by_hand_button(_, view))


def _drawn_seat(work: Work, check: TrayProblem) -> Seat:
    """Return the tray that is drawn: the one under the camera, if the move touches it."""
    seats = [place.seat for place in places_of(work.move)] if work.move else []
    return check.seat if check.seat in seats or not seats else seats[0]


def _move(_: Translator, work: Work) -> tuple[TextLine, ...]:
    if work.move is None:
        return ()
    face = work.carrier[work.move.one].what is Content.FACE_UP
    done = _("Last move done.") + "   " if work.ticked else ""
    left = _.ngettext("{count} move still to make", "{count} moves still to make", count=work.left)
    said = TextLine(done + left, drawing.SMALL, drawing.TEXT if work.ticked else drawing.QUIET)
    return said, TextLine(move_sentence(_, work.move, face=face), drawing.LARGE, drawing.TEXT)


def _beside(_: Translator, phase: RestoringView) -> tuple[TextLine, ...]:
    """Say that the tile that is missing lies in view, in no tray."""
    move, in_view = phase.work.move, phase.restoring.observation.in_view
    if not isinstance(move, PutIn) or all(one.serial != move.serial or one.foreign for one in in_view):
        return ()
    return (TextLine(_("{serial} is beside the tray.", serial=move.serial), drawing.BODY, drawing.GOOD),)


def _covered(_: Translator, phase: RestoringView) -> tuple[TextLine, ...]:
    covered = phase.restoring.observation.covered
    return (
        (
            TextLine(
                _.ngettext(
                    "{count} place is covered: take your hands away",
                    "{count} places are covered: take your hands away",
                    count=covered,
                ),
                drawing.SMALL,
                drawing.ATTENTION,
            ),
        )
        if covered
        else ()
    )


def _print_to_blame(_: Translator, phase: RestoringView) -> tuple[TextLine, ...]:
    if not phase.restoring.observation.print_to_blame:
        return ()
    return (
        TextLine(
            _("Many backs cannot be read. Ask the organiser to photograph this set."), drawing.SMALL, drawing.ATTENTION
        ),
    )


def unread_print_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """A tray of which nothing is read, so that nobody can tell whose it is."""
    phase = view.phase
    if not isinstance(phase, RestoringView) or not (blame := _print_to_blame(_, phase)):
        return None
    lines = TextLine(_(STATE[view.state]), drawing.TITLE, drawing.TEXT), blame[0]._replace(share=drawing.BODY)
    return ScreenBody((*time_lines(_, view), *lines, *problem_lines(_, view)), by_hand_button(_, view))


ALL: Final = TRAY * len(SEATS)

MOST_NAMED: Final = 12
"""As many serials as somebody looks for at a time."""


def heap_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """Tiles that lie in no tray."""
    phase = view.phase
    if not isinstance(phase, RestoringView) or phase.restoring.showing != "camera":
        return None
    restoring, picture = phase.restoring, phase.restoring.observation.view
    if picture is None or not restoring.heap.in_view:
        return None
    lines = (
        *time_lines(_, view),
        _sorting(_, phase),
        *_heap_lines(_, restoring, phase.work),
        *_print_to_blame(_, phase),
        *problem_lines(_, view),
    )
    return ScreenBody(lines, by_hand_button(_, view), paint=paint_picture(picture), seats=False)


def _sorting(_: Translator, phase: RestoringView) -> TextLine:
    """Say by what tiles are sorted now."""
    serials = (one.serial for one in phase.restoring.heap.in_view if one.serial is not None and not one.foreign)
    sort, seat = sorting_stage(serials, place_by_serial(serial_by_place(phase.order)))
    if sort == "seat" or seat is None:
        return TextLine(_("Sort the tiles by seat: colour and letter"), drawing.BODY, drawing.TEXT)
    return TextLine(_("{seat}: row and place are on the tiles", seat=_(SEAT_NAMES[seat])), drawing.BODY, drawing.TEXT)


def _heap_lines(_: Translator, restoring: Restoring, work: Work) -> Iterator[TextLine]:
    """Return how far it is, and what to do with tiles that go nowhere."""
    missing = unseen_serials(restoring.heap, known_places(work.carrier).keys())
    progress = _("{seen} of {all} tiles seen", seen=ALL - len(missing), all=ALL)
    if 0 < len(missing) <= MOST_NAMED:
        progress += "   " + _("not seen: {serials}", serials=" ".join(map(str, missing)))
    yield TextLine(progress, drawing.SMALL, drawing.QUIET if missing else drawing.GOOD)
    if faces := restoring.heap.count(face_up=True):
        text = _.ngettext("{count} face up: turn it over", "{count} face up: turn them over", count=faces)
        yield TextLine(text, drawing.SMALL, drawing.ATTENTION)
    if foreign := restoring.heap.count(foreign=True):
        text = _.ngettext(
            "{count} of another set: put it aside", "{count} of another set: put them aside", count=foreign
        )
        yield TextLine(text, drawing.SMALL, drawing.ATTENTION)
    if unread := restoring.heap.unread:
        text = _.ngettext("{count} not read: spread out, wipe", "{count} not read: spread out, wipe", count=unread)
        yield TextLine(text, drawing.SMALL, drawing.ATTENTION)


def scan_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """The tile that was scanned last."""
    restoring = view.phase.restoring if isinstance(view.phase, RestoringView) else None
    if restoring is None or restoring.showing != "scanner" or (answer := restoring.scans.answer) is None:
        return None
    lines = (*time_lines(_, view), *_scan_lines(_, answer), *_run_lines(_, restoring), *problem_lines(_, view))
    paint = _goes(_, answer.place) if answer.place is not None else None
    actions = KeyButton("back", _("Back")), *by_hand_button(_, view)
    return ScreenBody(lines, actions, paint=paint, seats=False)


def _scan_lines(_: Translator, answer: ScanAnswer) -> Iterator[TextLine]:
    if answer.code is not None:
        foreign = answer.code == FOREIGN
        yield TextLine(_("Another set") if foreign else _("Not read"), drawing.TITLE, drawing.ATTENTION)
        why = fault_name(_, "scanner", answer.code)
        help_ = (
            _("Put this tile aside, and give it to the arbiter.")
            if foreign
            else _("Not a tile: scan again. {fault} ({text})", text=answer.text[:24], fault=why)
        )
        yield TextLine(help_, drawing.BODY, drawing.TEXT)
        return
    if answer.again:
        yield TextLine(_("scanned twice"), drawing.BODY, drawing.ATTENTION)
    elif answer.astray is not None:
        where = place_name(_, answer.astray, seat=True)
        text = _("Not the tile for {place}: look for that one", place=where)
        yield TextLine(text, drawing.BODY, drawing.ATTENTION)
    yield TextLine(_("Put tile {serial} here:", serial=answer.serial), drawing.LARGE, drawing.TEXT)


def _run_lines(_: Translator, restoring: Restoring) -> Iterator[TextLine]:
    run = restoring.scans.run
    if run is not None and run.count > 1:
        yield TextLine(
            _("{seat}: {count} of 34 in order", seat=_(SEAT_NAMES[run.seat]), count=run.count),
            drawing.SMALL,
            drawing.GOOD,
        )
    elif restoring.scans.answer is not None and restoring.scans.answer.code is None:
        yield TextLine(
            _.ngettext("{count} tile scanned", "{count} tiles scanned", count=len(restoring.scans.seen)),
            drawing.SMALL,
            drawing.QUIET,
        )


def _goes(_: Translator, place: TilePlace) -> Paint:
    """Draw the seat's shape beside its name, row and place, and the place in its tray under them."""

    def paint(surface: pygame.Surface, room: pygame.Rect, pen: TextPen) -> None:
        upper = pygame.Rect(room.left, room.top, room.width, room.height // 2)
        size = upper.height
        draw_shape(surface, pygame.Rect(upper.left, upper.top, size, size), place.seat, pen)
        left, width = upper.left + size + size // 4, room.width - size - size // 4
        share = 0.48 * upper.height / pen.unit
        y = pen.write(surface, _(SEAT_NAMES[place.seat]), (left, upper.top), share, drawing.TEXT, width).bottom
        pen.write(surface, place_name(_, place, seat=False), (left, y), share, drawing.TEXT, width)
        lower = pygame.Rect(room.left, upper.bottom + 8, room.width, room.bottom - upper.bottom - 8)
        TrayDrawing(place.seat, colours={place: drawing.ATTENTION}, strong=(place,)).paint(surface, lower, pen)

    return paint


BY: Final[Verifier] = "hand"


def by_hand_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """The next tray that nobody has vouched for."""
    phase = view.phase
    if not isinstance(phase, RestoringView) or phase.restoring.showing != BY:
        return None
    work, seat = phase.work, tray_by_hand(phase.work)
    if seat is None:
        return None
    lines = (
        *time_lines(_, view),
        TextLine(
            _("{seat}: compare each number, then tick the row", seat=_(SEAT_NAMES[seat])), drawing.LARGE, drawing.TEXT
        ),
        TextLine(_("Tiles were not read: the play is recorded as not verified."), drawing.SMALL, drawing.ATTENTION),
        *problem_lines(_, view),
    )
    return ScreenBody(lines, _keys(_, work, seat), paint=_tray(phase, seat).paint, seats=False)


def _keys(_: Translator, work: Work, seat: Seat) -> tuple[KeyButton, ...]:
    rows = tuple(
        KeyButton(key, _(N_("Undo row {row}") if (seat, row) in work.rows else N_("Row {row} right"), row=row + 1))
        for row, key in enumerate(ROW_KEYS)
    )
    back = (KeyButton("back", _("Undo last row")),) if work.rows else ()
    return (*rows, *back, KeyButton("h", _("Camera")))


def _tray(phase: RestoringView, seat: Seat) -> TrayDrawing:
    """Draw what belongs in the tray; a row that is ticked is filled."""
    deal = {place: serial for place, serial in serial_by_place(phase.order).items() if place.seat == seat}
    ticked: tuple[TilePlace, ...] = tuple(place for place in deal if (seat, place.row) in phase.work.rows)
    colours = {place: drawing.GOOD if place in ticked else drawing.TEXT for place in deal}
    return TrayDrawing(seat, colours, {place: str(serial) for place, serial in deal.items()}, ticked)
