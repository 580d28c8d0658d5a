"""Screens of the device itself: the hardware self-test, pairing with an event, and faults as sentences."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import pygame

from broker.i18n import Translator
from broker.protocol import SEATS, Seat, pairing
from firmware.hardware.self_test import Remark
from firmware.reports import Scanned
from kiosk.pairing.form import PairingForm
from kiosk.screens import layout, texts
from kiosk.screens.drawing import (
    ATTENTION,
    BODY,
    GOOD,
    HEADLINE,
    LARGE,
    LINE,
    PANEL,
    QUIET,
    SMALL,
    TITLE,
    ButtonRows,
    Colour,
    KeyButton,
    Paint,
    ScreenBody,
    TextLine,
    TextPen,
    draw_shape,
    keypad,
    paint_picture,
    seat_name,
)
from kiosk.screens.views import PairingView, ScreenView
from kiosk.self_test import SelfTestStep, SelfTestView

UNKNOWN_KEY: Final = "key"
"""Prefix in the health of a device unknown to the desk, followed by its id."""


def part_and_fault(_: Translator, part: str, code: str) -> str:
    """Return a part and its fault; the code if there are no words for it."""
    return _("{part}: {fault}", part=part_name(_, part), fault=fault_name(_, part, code))


def part_name(_: Translator, part: str) -> str:
    """Return the name of a part of the health, such as `camera` or `button-east`."""
    kind, *seat = part.split("-", 1)
    if kind not in texts.PART:
        return part
    if kind == UNKNOWN_KEY:
        return _(texts.PART[kind], device=part.removeprefix(f"{kind}-"))
    return _(texts.PART[kind], seat=seat_name(_, seat[0])) if seat else _(texts.PART[kind])


def fault_name(_: Translator, part: str, code: str) -> str:
    """Return what is wrong with a part."""
    found = texts.FAULT.get(code) or texts.PART_FAULT.get(part)
    return _(found) if found else code


def remedy(_: Translator, code: str) -> str:
    """Return what to do about a fault; "" if nobody at the table can do anything."""
    return _(texts.REMEDY[code]) if code in texts.REMEDY else ""


def with_remedy(_: Translator, part: str, code: str) -> str:
    """Return what is wrong and what to do, in one line."""
    what, help_ = part_and_fault(_, part, code), remedy(_, code)
    return _("{fault}. {remedy}", fault=what, remedy=help_) if help_ else what


STEPS: Final[tuple[SelfTestStep, ...]] = ("buttons", "scanner", "camera", "found")

MOST_FAULTS: Final = 3
"""Most faults for which there is room, with what to do."""


def self_test_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """Return the screen for the current step of the test, or None."""
    test = view.self_test
    if test is None:
        return None
    return _STEPS[test.step](_, test)


def _head(_: Translator, test: SelfTestView) -> TextLine:
    steps = tuple(step for step in STEPS if step != "scanner" or test.scanner)
    return TextLine(_("Self-test {step} of {steps}", step=steps.index(test.step) + 1, steps=len(steps)), SMALL, QUIET)


def _skip(_: Translator) -> KeyButton:
    return KeyButton("q", _("Skip the test"))


def _buttons(_: Translator, test: SelfTestView) -> ScreenBody:
    title = _("Press the button of {seat}", seat=seat_name(_, test.awaited) if test.awaited else "")
    remark = (
        (_remark(_, test.remark), ATTENTION) if test.remark else (_("One short press each. Anyone may press."), QUIET)
    )
    lines = _head(_, test), TextLine(title, TITLE), TextLine(remark[0], BODY, remark[1])
    return ScreenBody(lines, (KeyButton("x", _("No signal")), _skip(_)), paint=_seats(_, test), seats=False)


def _remark(_: Translator, remark: Remark) -> str:
    """Return the text of a remark about the buttons."""
    if remark.said == "ill" and remark.code is not None:
        part = f"button-{remark.other}" if remark.other in SEATS else remark.other
        return with_remedy(_, part, remark.code)
    return _(texts.TEST[remark.said], other=seat_name(_, remark.other) if remark.other in SEATS else remark.other)


def _scanner(_: Translator, test: SelfTestView) -> ScreenBody:
    if test.scan is None:
        lines = _head(_, test), TextLine(_("Scan any tile"), TITLE), TextLine(_("It must not beep."), BODY, QUIET)
        return ScreenBody(lines, (KeyButton("x", _("Nothing is read")), _skip(_)), seats=False)
    if isinstance(test.scan, Scanned):
        was = TextLine(_("Tile {serial} was read", serial=test.scan.serial), LARGE, GOOD)
    else:
        was = TextLine(_("That was not a tile code"), LARGE, ATTENTION)
    lines = _head(_, test), was, TextLine(_("Did the scanner beep?"), LARGE)
    return ScreenBody(lines, (KeyButton("n", _("No"), "strong"), KeyButton("y", _("Yes"))), seats=False)


def _camera(_: Translator, test: SelfTestView) -> ScreenBody:
    wrong, view = test.picture.wrong, test.picture.view
    lines = [_head(_, test), TextLine(_("Is the picture sharp, bright and whole?"), BODY)]
    if view is None:
        lines.append(TextLine(_("No picture yet"), BODY, ATTENTION))
    elif wrong:
        lines.append(TextLine(with_remedy(_, "camera", wrong[0]), SMALL, ATTENTION))
    else:
        lines.append(TextLine(_("Put a tray there, face down."), SMALL, QUIET))
    right = (KeyButton("enter", _("Right"), "strong"),) if view is not None else ()
    answers = (*right, KeyButton("x", _("Wrong")), _skip(_))
    return ScreenBody((*lines,), answers, paint=paint_picture(view) if view is not None else None, seats=False)


def _found(_: Translator, test: SelfTestView) -> ScreenBody:
    go_on, again = KeyButton("enter", _("Continue"), "strong"), KeyButton("r", _("Test again"))
    passed = TextLine(_("All tests passed"), HEADLINE, GOOD)
    verdict = TextLine(_("Needs fixing"), LARGE, ATTENTION) if test.found else passed
    return ScreenBody((_head(_, test), verdict, *_faults(_, test)), (go_on, again), seats=False)


def _faults(_: Translator, test: SelfTestView) -> Iterator[TextLine]:
    """Yield each fault with what to do, as many as there is room for."""
    for one in test.found[:MOST_FAULTS]:
        yield TextLine(part_and_fault(_, one.part, one.code), BODY)
        if help_ := remedy(_, one.code):
            yield TextLine(help_, SMALL, QUIET)
    more = len(test.found) - MOST_FAULTS
    if more > 0:
        yield TextLine(_.ngettext("and {count} more", "and {count} more", count=more), SMALL, QUIET)


# ---- the four seats -----------------------------------------------------------------------------


def _seats(_: Translator, test: SelfTestView) -> Paint:
    """Return a painter for four boxes, each with the state of the seat's button in a word and a colour."""

    def paint(surface: pygame.Surface, room: pygame.Rect, pen: TextPen) -> None:
        gap = round(pen.unit * 0.02)
        for seat, box in layout.seats_around(room.inflate(0, -gap), gap, pen.look.near).items():
            _box(surface, pen, box, seat, seat_name(_, seat), _state(_, test, seat))

    return paint


def _state(_: Translator, test: SelfTestView, seat: Seat) -> tuple[str, Colour, bool]:
    """Return a button's text, its colour, and whether it is framed."""
    if seat in test.right:
        return _("works"), GOOD, True
    if seat in test.wrong:
        return _("no signal"), ATTENTION, False
    return (_("press now"), ATTENTION, True) if seat == test.awaited else ("", QUIET, False)


def _box(
    surface: pygame.Surface,
    pen: TextPen,
    box: pygame.Rect,
    seat: Seat,
    name: str,
    state: tuple[str, Colour, bool],
) -> None:
    word, colour, framed = state
    frame, thick = (colour, max(3, round(pen.unit * 0.008))) if framed else (LINE, 1)
    pygame.draw.rect(surface, PANEL, box, border_radius=8)
    pygame.draw.rect(surface, frame, box, width=thick, border_radius=8)
    side, inside = round(pen.unit * TITLE), box.inflate(-round(pen.unit * 0.03), -4)
    if beside := inside.width > 2 * inside.height:
        draw_shape(surface, pygame.Rect(inside.left, inside.centery - side // 2, side, side), seat, pen)
        inside.width, inside.left = inside.width - side, inside.left + side
    above = 0 if beside else side
    lines = [TextLine(name, LARGE), TextLine(word or " ", BODY, colour)]
    lines = pen.fit(lines, inside.width, inside.height - above)
    y = inside.top + (inside.height - above - pen.lines_height(lines, inside.width)) // 2
    if not beside:
        draw_shape(surface, pygame.Rect(inside.centerx - side // 2, y, side, side), seat, pen)
    pen.write_lines(surface, lines, (inside.centerx, y + above), inside.width)


_STEPS: Final[dict[SelfTestStep, Callable[[Translator, SelfTestView], ScreenBody]]] = {
    "buttons": _buttons,
    "scanner": _scanner,
    "camera": _camera,
    "found": _found,
}

EMPTY: Final = "·"
"""Stands for a digit that is still to be typed."""


def pairing_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """Return the screen for the current step of pairing, or None."""
    if not isinstance(view.phase, PairingView):
        return None
    form = view.phase.form
    match form.step:
        case "address":
            return _address(_, form)
        case "code":
            return _code(_, form)
        case "asking":
            return ScreenBody((TextLine(_("Asking the desk"), TITLE), TextLine(form.address, BODY, QUIET)))
        case "paired":
            table = TextLine(_("Table {table}", table=form.table), HEADLINE)
            return ScreenBody((TextLine(_("Paired"), LARGE, GOOD), table, TextLine(form.event, LARGE, QUIET)))


def _address(_: Translator, form: PairingForm) -> ScreenBody:
    dot, colon = KeyButton(".", "."), KeyButton(":", ":")
    lines = (*_found_desks(_, form), TextLine(form.address or "–", LARGE))
    return _typed(_, form, lines, keypad(_, form.address, dot, colon, KeyButton("enter", _("Enter"), "strong")))


def _typed(_: Translator, form: PairingForm, lines: Iterable[TextLine], pad: ButtonRows) -> ScreenBody:
    """Return a form with its keypad; a refusal is its last line."""
    head = TextLine(_("Pair this table"), LARGE)
    help_ = TextLine(_("Show the desk’s QR code to the camera or scanner, or type:"), BODY, QUIET)
    problem = (TextLine(texts.refusal(_, form.problem), BODY, ATTENTION),) if form.problem else ()
    return ScreenBody((head, help_, *lines, *problem), panel=pad)


def _found_desks(_: Translator, form: PairingForm) -> tuple[TextLine, ...]:
    """Return the desks that were found, with the numbers that choose them."""
    if not form.found:
        return (TextLine(_("the desk’s address"), BODY),)
    prompt = TextLine(_("the number of your event, or another address"), BODY)
    desks = (
        _("{number}: {event} ({address})", number=at, event=desk.event, address=desk.address)
        for at, desk in enumerate(form.found[:MOST_FAULTS], 1)
    )
    return (prompt, *(TextLine(desk, SMALL, QUIET) for desk in desks))


def _code(_: Translator, form: PairingForm) -> ScreenBody:
    typed = form.code.ljust(pairing.DIGITS, EMPTY)
    lines = (
        TextLine(_("the eight digits from {desk}", desk=form.address), BODY),
        TextLine(f"{typed[: pairing.DIGITS // 2]} {typed[pairing.DIGITS // 2 :]}", HEADLINE),
    )
    return _typed(_, form, lines, keypad(_, form.code, KeyButton("enter", _("Enter"), "strong")))
