"""The table's screen. It has one layout for all states, so that eyes and fingers always know where to go.

The middle shows the first screen in a list that applies; the foot shows the device's state and what is broken.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple
from unicodedata import east_asian_width

import pygame

from broker.i18n import N_, Message, Translator
from broker.protocol import SEATS
from kiosk.screens import arbiter, counting, device, keeping, play, restoring, riichi, seats
from kiosk.screens.drawing import (
    ATTENTION,
    BODY,
    DANGER,
    DIMMED,
    EDGE,
    GOOD,
    GROUND,
    NO_BUTTON,
    QUIET,
    SMALL,
    TEXT,
    USUAL,
    Align,
    Appearance,
    KeyButton,
    ScreenBody,
    TextLine,
    TextPen,
    problem_lines,
    seat_name,
    time_lines,
)
from kiosk.screens.layout import ScreenLayout, TargetPainter, TouchTarget
from kiosk.screens.views import (
    AcceptingView,
    CallView,
    DeclaredView,
    IdleView,
    PlayingView,
    RecordedView,
    RestoringView,
    ResultView,
    ScreenView,
    StoppedView,
)

LIGHT_KEY: Final = "m"
"""Switches between normal and quiet light."""


class BodyParts(NamedTuple):
    """The parts of the middle: lines with what is painted below them, buttons, and a QR code."""

    lines: pygame.Rect
    actions: tuple[pygame.Rect, ...] = ()
    code_box: pygame.Rect = pygame.Rect(0, 0, 0, 0)
    code: pygame.Surface | None = None


class TableScreen:
    """Draws a view onto a surface, and says which parts of it may be touched."""

    def __init__(
        self, _: Translator, size: tuple[int, int], look: Appearance = USUAL, pen: TextPen | None = None
    ) -> None:
        """Load the fonts. Raises BadConfiguration if there is none for the language."""
        self._ = _
        self._pen = pen or TextPen(_.language, size, look)
        self._layout = ScreenLayout(size, self._pen.look)
        self._seat = seats.SeatBox(_, self._pen)
        self._buttons = TargetPainter(_, self._pen)

    def targets(self, view: ScreenView) -> tuple[TouchTarget, ...]:
        """Return the touch targets."""
        return tuple(target for group in self._targets(current_screen(self._, view), view) for target in group)

    def draw(self, surface: pygame.Surface, view: ScreenView, pressed: TouchTarget | None = None) -> None:
        """Draw everything; a finger may be on one target."""
        body = current_screen(self._, view)
        surface.fill(GROUND)
        self._head(surface, view)
        self._middle(surface, view, body)
        if view.players and body.seats:
            for seat, box in self._layout.seats(panel=bool(body.panel)).items():
                self._seat.draw(surface, view, seat, box, small=bool(body.panel))
        self._foot(surface, view)
        for group in self._targets(body, view):
            self._buttons.draw(surface, group, pressed)
        if self._pen.look.quiet:
            surface.fill(DIMMED, special_flags=pygame.BLEND_MULT)

    def _targets(self, body: ScreenBody, view: ScreenView) -> Iterator[tuple[TouchTarget, ...]]:
        """Yield the touch targets in groups whose labels have one size; each button at the foot is its own group."""
        if body.actions:
            yield tuple(map(_target, body.actions, self._parts(body, view).actions))
        if body.panel:
            grid = self._layout.grid([len(row) for row in body.panel])
            rows = (zip(row, boxes, strict=True) for row, boxes in zip(body.panel, grid, strict=True))
            yield tuple(_target(button, box) for row in rows for button, box in row if button is not NO_BUTTON)
        if view.players:
            label = self._(N_("Cancel the call") if view.call else N_("Call the arbiter"))
            yield (TouchTarget("c", label, self._layout.call),)
        if (clock := clock_button(self._layout, view)) is not None:
            yield (clock,)

    def _room(self, body: ScreenBody, view: ScreenView) -> pygame.Rect:
        return self._layout.middle(panel=bool(body.panel), seats=bool(view.players) and body.seats)

    def _parts(self, body: ScreenBody, view: ScreenView) -> BodyParts:
        """Divide the middle into its parts."""
        room, place = self._room(body, view), pygame.Rect(0, 0, 0, 0)
        code = _fitted_code(body.qr_code, self._layout.square_side(room)) if body.qr_code else None
        if code is not None:
            room, place = self._layout.split_beside(room, code.get_width())
        if not body.actions:
            return BodyParts(room, (), place, code)
        return BodyParts(
            *self._layout.with_actions(room, len(body.actions), panel=bool(body.panel)), code_box=place, code=code
        )

    def _head(self, surface: pygame.Surface, view: ScreenView) -> None:
        _, layout = self._, self._layout
        no_table = "" if isinstance(view.phase, StoppedView) else _("Not paired")
        texts = [_("Table {table}", table=view.table) if view.table else no_table]
        if view.play is not None:
            texts += riichi.riichi_head(_, view) or [
                _("Deal {deal} · round {round}", deal=view.play.deal, round=view.play.round),
                _("Prevalent wind: {wind}", wind=seat_name(_, view.play.prevalent_wind)),
            ]
        share = self._pen.share(texts, 0.06, layout.head_width)
        for text, (at, align) in zip(texts, layout.heads, strict=False):
            self._pen.write(surface, text, at, share, TEXT, layout.head_width, align=align)

    def _middle(self, surface: pygame.Surface, view: ScreenView, body: ScreenBody) -> None:
        """Write the lines centred in their room, smaller if there are many, and paint below them."""
        parts, leading = self._parts(body, view), self._layout.leading
        room = parts.lines
        if parts.code:
            surface.blit(parts.code, parts.code_box)
            if self._pen.look.quiet:
                surface.fill(EDGE, parts.code_box, pygame.BLEND_MULT)
        lines = [part for line in body.lines for part in self._pen.wrapped(line, room.width)]
        lines = self._pen.fit(lines, room.width, room.height, leading)
        if self._pen.lines_height(lines, room.width, leading) > room.height:  # still too high: fewer lines
            lines = self._pen.fit(self._pen.halved(body.lines, room.width), room.width, room.height, leading)
        high = self._pen.lines_height(lines, room.width, leading)
        y = room.top if body.paint else room.top + (room.height - high) // 2
        y = self._pen.write_lines(surface, lines, (room.centerx, y), room.width, leading=leading)
        if body.paint:
            body.paint(surface, pygame.Rect(room.left, y, room.width, room.bottom - y), self._pen)

    def _foot(self, surface: pygame.Surface, view: ScreenView) -> None:
        """Write the device's state, what is broken and any call, and the time of day beside it."""
        call = bool(view.players)
        self._lines(surface, [*status_lines(self._, view)], self._layout.foot(call=call), self._layout.outer)
        self._lines(surface, [*clock_lines(view)], self._layout.clock(call=call), "centre")

    def _lines(self, surface: pygame.Surface, lines: list[TextLine], room: pygame.Rect, align: Align) -> None:
        """Write lines vertically centred in a room."""
        lines = self._pen.fit(lines, room.width, room.height)
        x = {"left": room.left, "centre": room.centerx, "right": room.right}[align]
        y = room.top + (room.height - self._pen.lines_height(lines, room.width)) // 2
        self._pen.write_lines(surface, lines, (x, y), room.width, align)


def _target(button: KeyButton, box: pygame.Rect) -> TouchTarget:
    return TouchTarget(button.key, button.label, box, button.tone, button.seat)


PRIORITY_SCREENS: Final = (
    device.pairing_screen,
    play.program_stopped_screen,
    play.other_device_screen,
    play.disk_full_screen,
    device.self_test_screen,
    arbiter.arbiter_screen,
    play.paused_screen,
    keeping.keeping_screen,
    riichi.sheet_screen,
)
"""Screens that take precedence over the play. They show its time or a refusal only if they add it themselves."""


def current_screen(_: Translator, view: ScreenView) -> ScreenBody:
    """Return the middle of the screen."""
    found = next((body for screen in PRIORITY_SCREENS if (body := screen(_, view)) is not None), None)
    if found is None:
        found = _play_screen(_, view)
        found = replace(found, lines=(*time_lines(_, view), *found.lines, *problem_lines(_, view)))
    return _with_arbiter(_, view, _with_arrivals(_, view, found))


def _play_screen(_: Translator, view: ScreenView) -> ScreenBody:
    found: ScreenBody | None = None
    match view.phase:
        case DeclaredView(count=count) if count is not None:
            found = counting.counting_screen(_, view, count)
        case PlayingView() as phase:
            found = play.doubt_screen(_, phase)
    return found or riichi.riichi_screen(_, view) or _phase_screen(_, view) or play.state_screen(_, view)


def _phase_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    match view.phase:
        case DeclaredView(form=form, discarder_key=key) if form is not None:
            return play.win_form_screen(_, view, form, key)
        case AcceptingView(result=ResultView() as result) | RecordedView(result=ResultView() as result):
            return play.result_screen(_, view, result)
        case RestoringView() as phase:
            return restoring.restoring_screen(_, view, phase)
        case PlayingView() as phase:
            return play.playing_screen(_, view, phase)
    return None


def _with_arrivals(_: Translator, view: ScreenView, found: ScreenBody) -> ScreenBody:
    """Add who has checked in if trays fill the screen, where no seat can be marked."""
    if found.seats or not isinstance(view.phase, RestoringView) or not view.phase.arrived:
        return found
    here = ", ".join(seat_name(_, seat) for seat in SEATS if seat in view.phase.arrived)
    return replace(found, lines=(*found.lines, TextLine(_("Players here: {seats}", seats=here), SMALL, GOOD)))


def _with_arbiter(_: Translator, view: ScreenView, found: ScreenBody) -> ScreenBody:
    """Add the button of the arbiter's panel while the arbiter is called. It reveals no caller and no press."""
    if view.call is None or view.play is None or view.panel is not None or view.self_test is not None:
        return found
    open_it = KeyButton("a", _("Arbiter"))
    if found.panel:
        return replace(found, panel=(*found.panel, (open_it,)))
    return replace(found, actions=(*found.actions, open_it))


MOST_LETTERS: Final = 48
"""Letters of faults for which the foot has room, beside the number of further ones; the desk has them all.

A Chinese character takes the room of two letters.
"""


def status_lines(_: Translator, view: ScreenView) -> Iterator[TextLine]:
    """Yield the lines of the foot, from the top."""
    if view.call:
        yield TextLine(_call_sentence(_, view.call), SMALL, ATTENTION)
    line = view.line
    if line.unpaired:
        yield TextLine(line.version, SMALL, QUIET)
        return
    wrong = (
        [_.ngettext("{count} refused: call the arbiter", "{count} refused: call the arbiter", count=line.refused)]
        if line.refused
        else []
    )
    wrong.extend(device.part_and_fault(_, *one.split(": ", 1)) for one in line.health)
    reached = line.up and not line.scorer_silent
    colour = QUIET if reached and not wrong else ATTENTION
    connection = [_(_connection(view))]
    if line.plain:
        connection.append(_("NOT ENCRYPTED"))
    if line.version and isinstance(view.phase, IdleView):
        connection.append(line.version)
    if line.unsent:
        connection.append(_("{count} to send", count=line.unsent))
    if reached and isinstance(view.phase, RecordedView) and view.phase.at_centre is not None:
        connection.append(_("result at the centre") if view.phase.at_centre else _("result not yet at the centre"))
    yield TextLine(" · ".join(connection), SMALL, DANGER if line.plain else colour)
    if wrong:
        yield TextLine(_shortened(_, wrong), SMALL, colour)


def _connection(view: ScreenView) -> Message:
    """Return whether messages reach the scorer, in words."""
    if not view.line.up and view.state == "waiting":
        return N_("offline: if this lasts, tell the desk")
    if not view.line.up:
        return N_("offline: play on, nothing is lost")
    if view.line.scorer_silent:
        return N_("the scorer does not answer: play on, nothing is lost")
    return N_("connected")


def _call_sentence(_: Translator, call: CallView) -> str:
    """Return that the arbiter is called, and that one is coming or how many calls are before this one."""
    if call.arbiter_coming:
        return _("An arbiter is on the way")
    before = call.before
    if before is None:
        return _("The arbiter is called")
    return (
        _("The arbiter is called · {count} before you", count=before)
        if before
        else _("The arbiter is called · you are next")
    )


def clock_button(layout: ScreenLayout, view: ScreenView) -> TouchTarget | None:
    """Return the clock as a button that changes the light; None in a play, where a touch must change no pixel."""
    if not view.line.clock or view.state == "playing":
        return None
    room = layout.clock(call=bool(view.players))
    box = pygame.Rect(0, 0, room.width, layout.call.height)
    box.center = room.center
    return TouchTarget(LIGHT_KEY, view.line.clock, box)


def clock_lines(view: ScreenView) -> Iterator[TextLine]:
    """Yield the time of day in a play; otherwise it is on a button."""
    if view.line.clock and view.state == "playing":
        yield TextLine(view.line.clock, BODY)


def _shortened(_: Translator, wrong: list[str]) -> str:
    """Return as many faults as there is room for, and the number of further ones."""
    named = [*wrong]
    while len(named) > 1 and _letters(" · ".join(named)) > MOST_LETTERS:
        named.pop()
    if more := len(wrong) - len(named):
        named.append(_.ngettext("and {count} more", "and {count} more", count=more))
    return " · ".join(named)


def _letters(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


QUIET_ZONE: Final = 4
"""White modules around the code, as required by ISO/IEC 18004."""

SMALLEST_MODULE: Final = 3
"""Pixels of a module. A phone at arm's length cannot resolve smaller ones, so no code is drawn then."""

BLACK: Final = (0, 0, 0)
WHITE: Final = (255, 255, 255)


@lru_cache(4)
def _fitted_code(link: str, room: int) -> pygame.Surface | None:
    """Return the QR code of a link, without the fragment after # if there is no room for that."""
    return qr_code(link, room) or qr_code(link.partition("#")[0], room)


def qr_code(text: str, room: int) -> pygame.Surface | None:
    """Return the QR code as large as the room (pixels) allows; None if it would be too small to read."""
    import zxingcpp  # noqa: PLC0415 - not needed before the first result

    # A screen has no stains: error correction L (7 %) gives the largest modules.
    code = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode, ec_level="L")
    image: Any = zxingcpp.write_barcode_to_image(code, add_quiet_zones=False)  # a buffer, though its types do not tell
    rows: Any = memoryview(image).tolist()
    modules: list[list[int]] = rows
    side = len(modules) + 2 * QUIET_ZONE
    scale = room // side
    if scale < SMALLEST_MODULE:
        return None
    small = pygame.Surface((side, side))
    small.fill(WHITE)
    for y, row in enumerate(modules):
        for x, light in enumerate(row):
            if not light:
                small.set_at((x + QUIET_ZONE, y + QUIET_ZONE), BLACK)
    return pygame.transform.scale(small, (side * scale, side * scale))
