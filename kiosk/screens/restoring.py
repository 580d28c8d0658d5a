"""Screens for restoring walls: a tray with its next move, a heap under the camera, a scan, rows ticked by hand."""

from collections.abc import Iterator
from typing import Final

import pygame

from broker.i18n import N_, Translator
from broker.protocol import SEATS, Seat
from broker.rules import TRAY
from kiosk.camera.observations import LIST_SHARE, CameraView
from kiosk.restoring import FOREIGN, ROW_KEYS, Restoring, ScanAnswer, sorting_stage, tray_by_hand, unseen_serials
from kiosk.screens import device, texts
from kiosk.screens.drawing import (
    ATTENTION,
    BODY,
    GOOD,
    HEADLINE,
    LARGE,
    QUIET,
    SMALL,
    TEXT,
    TITLE,
    KeyButton,
    Paint,
    ScreenBody,
    TextLine,
    TextPen,
    draw_shape,
    paint_picture,
    seat_name,
    wind_and_player,
)
from kiosk.screens.tray import (
    TrayDrawing,
    another_carrier_screen,
    by_hand_button,
    camera_is_out,
    carrier_sheet_screen,
    move_sentence,
    paint_look,
    place_name,
    tray_verdict,
)
from kiosk.screens.views import RestoringView, ScreenView
from kiosk.table import (
    PLACES,
    Carrier,
    Content,
    PutIn,
    TilePlace,
    TrayProblem,
    Work,
    known_places,
    place_by_serial,
    places_of,
    serial_by_place,
)

MOST_PLACES_NAMED: Final = 3
"""Most places that are named in a line."""


def restoring_screen(_: Translator, view: ScreenView, phase: RestoringView) -> ScreenBody | None:
    """Return the first of these screens that applies, or None if there is nothing to show of any tray."""
    return (
        _stopped(_, view, phase)
        or carrier_sheet_screen(_, view, phase)
        or another_carrier_screen(_, view, phase)
        or _by_hand(_, phase)
        or _scan(_, view, phase)
        or _heap(_, view, phase)
        or _tray(_, view, phase)
        or _unread_print(_, view, phase)
        or _no_camera(_, view, phase)
    )


def _stopped(_: Translator, view: ScreenView, phase: RestoringView) -> ScreenBody | None:
    """Return the screen of a play that must not go on without the arbiter."""
    if phase.stopped is None:
        return None
    lines = (
        TextLine(_("Stop. Touch no tile. Call the arbiter."), TITLE, ATTENTION),
        TextLine(_(texts.STOPPED[phase.stopped], deal=view.deal), BODY),
        *(TextLine(wind_and_player(_, view, seat), BODY) for seat in phase.repeating),
    )
    return ScreenBody(lines)


def _tray(_: Translator, view: ScreenView, phase: RestoringView) -> ScreenBody | None:
    """Return the screen of the last tray that was checked and is not right."""
    if (check := phase.check) is None:
        return None
    work, order = phase.work, phase.order
    drawn = _drawn_seat(work, check)
    lines = (
        TextLine(tray_verdict(_, check), LARGE, ATTENTION),
        *_waited_for(_, work.carrier, check),
        *_move(_, work),
        *_missing_in_view(_, phase),
        *_covered(_, phase),
        *_print_to_blame(_, phase),
    )
    paint = paint_look(work.carrier, serial_by_place(order), drawn, work.move)
    if (listed := phase.restoring.observation.listed) is not None and drawn == check.seat:
        paint = _with_list(paint, listed)
    return ScreenBody(lines, by_hand_button(_, view, phase), paint=paint, seats=False)


def _waited_for(_: Translator, carrier: Carrier, check: TrayProblem) -> tuple[TextLine, ...]:
    """Return the unread places of a tray that is right as far as it was read, if they are few."""
    unread = [place for place in PLACES if place.seat == check.seat and carrier[place].what is Content.UNREAD]
    if check.wrong or check.unknown_look is not None or not 0 < len(unread) <= MOST_PLACES_NAMED:
        return ()
    places = " · ".join(place_name(_, place, seat=False) for place in unread)
    return (TextLine(_("Waiting for {places}", places=places), SMALL),)


def _with_list(tray: Paint, listed: CameraView) -> Paint:
    """Return a painter for a tray with the cut-outs of its tiles and their serials below it."""

    def paint(surface: pygame.Surface, room: pygame.Rect, pen: TextPen) -> None:
        lower = pygame.Rect(room.left, 0, room.width, round(LIST_SHARE * room.height))
        lower.bottom = room.bottom
        gap = pen.unit // 60
        tray(surface, pygame.Rect(room.left, room.top, room.width, lower.top - room.top - gap), pen)
        paint_picture(listed)(surface, lower, pen)

    return paint


def _no_camera(_: Translator, view: ScreenView, phase: RestoringView) -> ScreenBody | None:
    """Return the screen for a camera that does not work, before any tray was checked."""
    if not camera_is_out(view):
        return None
    lines = (
        TextLine(_(texts.STATE[view.state]), HEADLINE),
        TextLine(_("The camera does not work now: compare each tray by hand."), BODY),
    )
    return ScreenBody(lines, by_hand_button(_, view, phase))


def _drawn_seat(work: Work, check: TrayProblem) -> Seat:
    """Return the tray to draw: the one under the camera, if the move touches it."""
    seats = [place.seat for place in places_of(work.move)] if work.move else []
    return check.seat if check.seat in seats or not seats else seats[0]


def _move(_: Translator, work: Work) -> tuple[TextLine, ...]:
    if work.move is None:
        return ()
    face = work.carrier[work.move.one].what is Content.FACE_UP
    done = _("Last move done.") + "   " if work.last_move_done else ""
    left = _.ngettext("{count} move still to make", "{count} moves still to make", count=work.left)
    count_line = TextLine(done + left, SMALL, TEXT if work.last_move_done else QUIET)
    return count_line, TextLine(move_sentence(_, work.move, face=face), LARGE)


def _missing_in_view(_: Translator, phase: RestoringView) -> tuple[TextLine, ...]:
    """Return a line if the missing tile is in view outside the trays."""
    move, in_view = phase.work.move, phase.restoring.observation.in_view
    if not isinstance(move, PutIn) or all(one.serial != move.serial or one.foreign for one in in_view):
        return ()
    return (TextLine(_("{serial} is beside the tray.", serial=move.serial), BODY, GOOD),)


def _covered(_: Translator, phase: RestoringView) -> tuple[TextLine, ...]:
    if not (covered := phase.restoring.observation.covered):
        return ()
    text = _.ngettext(
        "{count} place is covered: take your hands away",
        "{count} places are covered: take your hands away",
        count=covered,
    )
    return (TextLine(text, SMALL, ATTENTION),)


def _print_to_blame(_: Translator, phase: RestoringView) -> tuple[TextLine, ...]:
    if not phase.restoring.observation.print_to_blame:
        return ()
    return (TextLine(_("Many backs cannot be read. Ask the organiser to photograph this set."), SMALL, ATTENTION),)


def _unread_print(_: Translator, view: ScreenView, phase: RestoringView) -> ScreenBody | None:
    """Return the screen for a tray of which nothing can be read, so that its seat is unknown."""
    if not (blame := _print_to_blame(_, phase)):
        return None
    lines = TextLine(_(texts.STATE[view.state]), TITLE), blame[0]._replace(share=BODY)
    return ScreenBody(lines, by_hand_button(_, view, phase))


ALL_TILES: Final = TRAY * len(SEATS)
MOST_NAMED: Final = 12
"""Most serials that somebody can look for at a time."""


def _heap(_: Translator, view: ScreenView, phase: RestoringView) -> ScreenBody | None:
    """Return the screen of tiles outside the trays."""
    restoring, picture = phase.restoring, phase.restoring.observation.view
    if restoring.showing != "camera" or picture is None or not restoring.heap.in_view:
        return None
    lines = (_sorting(_, phase), *_heap_lines(_, restoring, phase.work), *_print_to_blame(_, phase))
    return ScreenBody(lines, by_hand_button(_, view, phase), paint=paint_picture(picture), seats=False)


def _sorting(_: Translator, phase: RestoringView) -> TextLine:
    """Return how the tiles are to be sorted at this stage."""
    serials = (one.serial for one in phase.restoring.heap.in_view if one.serial is not None and not one.foreign)
    sort, seat = sorting_stage(serials, place_by_serial(serial_by_place(phase.order)))
    if sort == "seat" or seat is None:
        return TextLine(_("Sort the tiles by seat: colour and letter"), BODY)
    return TextLine(_("{seat}: row and place are on the tiles", seat=seat_name(_, seat)), BODY)


def _heap_lines(_: Translator, restoring: Restoring, work: Work) -> Iterator[TextLine]:
    """Yield the progress, and what to do with tiles that have no place."""
    missing = unseen_serials(restoring.heap, known_places(work.carrier).keys())
    progress = _("{seen} of {all} tiles seen", seen=ALL_TILES - len(missing), all=ALL_TILES)
    if 0 < len(missing) <= MOST_NAMED:
        progress += "   " + _("not seen: {serials}", serials=" ".join(map(str, missing)))
    yield TextLine(progress, SMALL, QUIET if missing else GOOD)
    if faces := restoring.heap.count(face_up=True):
        text = _.ngettext("{count} face up: turn it over", "{count} face up: turn them over", count=faces)
        yield TextLine(text, SMALL, ATTENTION)
    if foreign := restoring.heap.count(foreign=True):
        text = _.ngettext(
            "{count} of another set: put it aside", "{count} of another set: put them aside", count=foreign
        )
        yield TextLine(text, SMALL, ATTENTION)
    if unread := restoring.heap.unread:
        text = _.ngettext("{count} not read: spread out, wipe", "{count} not read: spread out, wipe", count=unread)
        yield TextLine(text, SMALL, ATTENTION)


def _scan(_: Translator, view: ScreenView, phase: RestoringView) -> ScreenBody | None:
    """Return the screen of the tile that was scanned last."""
    restoring = phase.restoring
    if restoring.showing != "scanner" or (answer := restoring.scans.answer) is None:
        return None
    lines = (*_scan_lines(_, answer), *_run_lines(_, restoring))
    paint = _paint_place(_, answer.place) if answer.place is not None else None
    actions = KeyButton("back", _("Back")), *by_hand_button(_, view, phase)
    return ScreenBody(lines, actions, paint=paint, seats=False)


def _scan_lines(_: Translator, answer: ScanAnswer) -> Iterator[TextLine]:
    if answer.code is not None:
        foreign = answer.code == FOREIGN
        yield TextLine(_("Another set") if foreign else _("Not read"), TITLE, ATTENTION)
        why = device.fault_name(_, "scanner", answer.code)
        help_ = (
            _("Put this tile aside, and give it to the arbiter.")
            if foreign
            else _("Not a tile: scan again. {fault} ({text})", text=answer.text[:24], fault=why)
        )
        yield TextLine(help_, BODY)
        return
    if answer.again:
        yield TextLine(_("scanned twice"), BODY, ATTENTION)
    elif answer.astray is not None:
        where = place_name(_, answer.astray, seat=True)
        yield TextLine(_("Not the tile for {place}: look for that one", place=where), BODY, ATTENTION)
    yield TextLine(_("Put tile {serial} here:", serial=answer.serial), LARGE)


def _run_lines(_: Translator, restoring: Restoring) -> Iterator[TextLine]:
    run = restoring.scans.run
    if run is not None and run.count > 1:
        yield TextLine(_("{seat}: {count} of 34 in order", seat=seat_name(_, run.seat), count=run.count), SMALL, GOOD)
    elif restoring.scans.answer is not None and restoring.scans.answer.code is None:
        text = _.ngettext("{count} tile scanned", "{count} tiles scanned", count=len(restoring.scans.seen))
        yield TextLine(text, SMALL, QUIET)


def _paint_place(_: Translator, place: TilePlace) -> Paint:
    """Return a painter for the seat's shape, its name, row and place, and below them the place in its tray."""

    def paint(surface: pygame.Surface, room: pygame.Rect, pen: TextPen) -> None:
        upper = pygame.Rect(room.left, room.top, room.width, room.height // 2)
        size = upper.height
        draw_shape(surface, pygame.Rect(upper.left, upper.top, size, size), place.seat, pen)
        left, width = upper.left + size + size // 4, room.width - size - size // 4
        share = 0.48 * upper.height / pen.unit
        y = pen.write(surface, seat_name(_, place.seat), (left, upper.top), share, TEXT, width).bottom
        pen.write(surface, place_name(_, place, seat=False), (left, y), share, TEXT, width)
        lower = pygame.Rect(room.left, upper.bottom + 8, room.width, room.bottom - upper.bottom - 8)
        TrayDrawing(place.seat, colours={place: ATTENTION}, strong=(place,)).paint(surface, lower, pen)

    return paint


def _by_hand(_: Translator, phase: RestoringView) -> ScreenBody | None:
    """Return the screen of the next tray that nobody has vouched for."""
    seat = tray_by_hand(phase.work) if phase.restoring.showing == "hand" else None
    if seat is None:
        return None
    lines = (
        TextLine(_("{seat}: compare each number, then tick the row", seat=seat_name(_, seat)), LARGE),
        TextLine(_("Tiles were not read: the play is recorded as not verified."), SMALL, ATTENTION),
    )
    return ScreenBody(lines, _row_keys(_, phase.work, seat), paint=_ticked_tray(phase, seat).paint, seats=False)


def _row_keys(_: Translator, work: Work, seat: Seat) -> tuple[KeyButton, ...]:
    rows = tuple(
        KeyButton(key, _(N_("Undo row {row}") if (seat, row) in work.rows else N_("Row {row} right"), row=row + 1))
        for row, key in enumerate(ROW_KEYS)
    )
    back = (KeyButton("back", _("Undo last row")),) if work.rows else ()
    return (*rows, *back, KeyButton("h", _("Camera")))


def _ticked_tray(phase: RestoringView, seat: Seat) -> TrayDrawing:
    """Return a drawing of what belongs in the tray; ticked rows are filled."""
    deal = {place: serial for place, serial in serial_by_place(phase.order).items() if place.seat == seat}
    ticked: tuple[TilePlace, ...] = tuple(place for place in deal if (seat, place.row) in phase.work.rows)
    colours = {place: GOOD if place in ticked else TEXT for place in deal}
    return TrayDrawing(seat, colours, {place: str(serial) for place, serial in deal.items()}, ticked)
