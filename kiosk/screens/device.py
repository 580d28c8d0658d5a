"""Screens of the device itself: the self-test of the hardware, pairing with an event, and faults in a sentence."""

from collections.abc import Callable, Iterator
from typing import Final

import pygame

from broker.protocol import SEATS, Seat
from broker.protocol.pairing import DIGITS
from firmware.hardware.self_test import Remark
from firmware.reports import Scanned
from kiosk.pairing.form import PairingForm
from kiosk.screens import drawing
from kiosk.screens.drawing import KeyButton, Paint, ScreenBody, TextLine, TextPen, Translations, keypad, paint_picture
from kiosk.screens.views import ScreenView
from kiosk.self_test import SelfTestStep, SelfTestView


def part_and_fault(words: Translations, part: str, code: str) -> str:
    """Return which part it is and what is wrong with it; by its code where there is no word for that."""
    return words("faulty", part=part_name(words, part), fault=fault_name(words, part, code))


def part_name(words: Translations, part: str) -> str:
    """Name a part as its health does: `camera`, `button-east`."""
    kind, _, seat = part.partition("-")
    name = f"part_{kind}"
    if name not in words:
        return part
    return words(name, seat=words.seat(seat)) if seat else words(name)


def fault_name(words: Translations, part: str, code: str) -> str:
    """Return what is wrong with a part."""
    name = next((one for one in (f"fault_{code}", f"fault_of_{part}") if one in words), None)
    return words(name) if name else code


def remedy(words: Translations, code: str) -> str:
    """Return what to do; nothing where nobody at the table can do anything."""
    name = f"remedy_{code}"
    return words(name) if name in words else ""


def with_remedy(words: Translations, part: str, code: str) -> str:
    """Return what is wrong and what to do, in one line."""
    what, help_ = part_and_fault(words, part, code), remedy(words, code)
    return words("fault_and_remedy", fault=what, remedy=help_) if help_ else what


STEPS: Final[tuple[SelfTestStep, ...]] = ("buttons", "scanner", "camera", "found")

MOST: Final = 3
"""As many faults as have room with what to do."""


def self_test_screen(words: Translations, shown: ScreenView) -> ScreenBody | None:
    """Whatever step the test is at."""
    seen = shown.self_test
    if seen is None:
        return None
    return _STEPS[seen.step](words, seen)


def _head(words: Translations, seen: SelfTestView) -> TextLine:
    steps = tuple(step for step in STEPS if step != "scanner" or seen.scanner)
    return TextLine(words("test_step", step=steps.index(seen.step) + 1, steps=len(steps)), 0.045, drawing.QUIET)


def _skip(words: Translations) -> KeyButton:
    return KeyButton("q", words("do_test_skip"))


def _buttons(words: Translations, seen: SelfTestView) -> ScreenBody:
    asked = words("test_button", seat=words.seat(seen.asked or ""))
    said = (
        (_remark(words, seen.remark), drawing.ATTENTION) if seen.remark else (words("test_button_help"), drawing.QUIET)
    )
    lines = _head(words, seen), TextLine(asked, 0.1, drawing.TEXT), TextLine(said[0], 0.055, said[1])
    return ScreenBody(
        lines, (KeyButton("x", words("do_test_not")), _skip(words)), paint=_seats(words, seen), seats=False
    )


def _remark(words: Translations, remark: Remark) -> str:
    """Return what the buttons have told that was not asked for."""
    if remark.said == "ill" and remark.code is not None:
        part = f"button-{remark.other}" if remark.other in SEATS else remark.other
        return with_remedy(words, part, remark.code)
    return words(f"test_{remark.said}", other=words.seat(remark.other) if remark.other in SEATS else remark.other)


def _scanner(words: Translations, seen: SelfTestView) -> ScreenBody:
    if seen.scan is None:
        lines = TextLine(words("test_scan"), 0.11, drawing.TEXT), TextLine(words("test_scan_help"), 0.06, drawing.QUIET)
        return ScreenBody(
            (_head(words, seen), *lines), (KeyButton("x", words("do_test_no_scan")), _skip(words)), seats=False
        )
    if isinstance(seen.scan, Scanned):
        was = TextLine(words("test_scanned", serial=seen.scan.serial), 0.08, drawing.GOOD)
    else:
        was = TextLine(words("test_scanned_other"), 0.08, drawing.ATTENTION)
    lines = was, TextLine(words("test_beep"), 0.08, drawing.TEXT)
    answers = KeyButton("n", words("do_riichi_no"), "strong"), KeyButton("y", words("do_riichi_yes"))
    return ScreenBody((_head(words, seen), *lines), answers, seats=False)


def _camera(words: Translations, seen: SelfTestView) -> ScreenBody:
    wrong, view = seen.picture.wrong, seen.picture.view
    lines = [_head(words, seen), TextLine(words("test_camera"), 0.065, drawing.TEXT)]
    if view is None:
        lines.append(TextLine(words("test_no_picture"), 0.055, drawing.ATTENTION))
    elif wrong:
        lines.append(TextLine(with_remedy(words, "camera", wrong[0]), 0.045, drawing.ATTENTION))
    else:
        lines.append(TextLine(words("test_camera_help"), 0.045, drawing.QUIET))
    right = (KeyButton("enter", words("do_test_right"), "strong"),) if view is not None else ()
    answers = (*right, KeyButton("x", words("do_test_wrong")), _skip(words))
    return ScreenBody((*lines,), answers, paint=paint_picture(view) if view is not None else None, seats=False)


def _found(words: Translations, seen: SelfTestView) -> ScreenBody:
    go_on, again = KeyButton("enter", words("do_test_go_on"), "strong"), KeyButton("r", words("do_test_again"))
    passed, ill = (
        TextLine(words("test_passed"), 0.13, drawing.GOOD),
        TextLine(words("test_found"), 0.075, drawing.ATTENTION),
    )
    lines = _head(words, seen), ill if seen.found else passed, *_faults(words, seen)
    return ScreenBody(lines, (go_on, again), seats=False)


def _faults(words: Translations, seen: SelfTestView) -> Iterator[TextLine]:
    """Name what is wrong and what to do: of as many as have room."""
    for one in seen.found[:MOST]:
        yield TextLine(part_and_fault(words, one.part, one.code), 0.06, drawing.TEXT)
        if help_ := remedy(words, one.code):
            yield TextLine(help_, 0.045, drawing.QUIET)
    more = len(seen.found) - MOST
    if more > 0:
        yield TextLine(words("more", count=more), 0.05, drawing.QUIET)


# ---- the four seats -----------------------------------------------------------------------------


def _seats(words: Translations, seen: SelfTestView) -> Paint:
    """Return what draws a box for each seat: what is said of its button, in a word and a colour."""

    def paint(surface: pygame.Surface, room: pygame.Rect, pen: TextPen) -> None:
        height = surface.get_height()
        gap = round(height * 0.02)
        width = (room.width - 3 * gap) // len(SEATS)
        for at, seat in enumerate(SEATS):
            box = pygame.Rect(room.left + at * (width + gap), room.top + gap, width, room.height - 2 * gap)
            _box(surface, pen, box, words.seat(seat), _state(words, seen, seat))

    return paint


def _state(words: Translations, seen: SelfTestView, seat: Seat) -> tuple[str, drawing.Colour, bool]:
    """Return what is said of a button, in which colour, and whether it is framed."""
    if seat in seen.right:
        return words("test_seat_right"), drawing.GOOD, True
    if seat in seen.wrong:
        return words("test_seat_wrong"), drawing.ATTENTION, False
    return (words("test_seat_asked"), drawing.ATTENTION, True) if seat == seen.asked else ("", drawing.QUIET, False)


def _box(
    surface: pygame.Surface, pen: TextPen, box: pygame.Rect, name: str, state: tuple[str, drawing.Colour, bool]
) -> None:
    said, colour, framed = state
    height = surface.get_height()
    pygame.draw.rect(surface, drawing.PANEL, box, border_radius=8)
    frame = colour if framed else drawing.LINE
    pygame.draw.rect(surface, frame, box, width=max(3, round(height * 0.008)) if framed else 1, border_radius=8)
    lines = pen.fit([TextLine(name, 0.085, drawing.TEXT), TextLine(said or " ", 0.055, colour)], box.width, box.height)
    y = box.top + (box.height - pen.high(lines, box.width)) // 2
    for line in lines:
        wide = box.width - round(height * 0.03)
        y = pen.write(surface, line.text, (box.centerx, y), line.share, line.colour, wide, align="centre").bottom


_STEPS: Final[dict[SelfTestStep, Callable[[Translations, SelfTestView], ScreenBody]]] = {
    "buttons": _buttons,
    "scanner": _scanner,
    "camera": _camera,
    "found": _found,
}

EMPTY: Final = "·"
"""In the place of a digit that is still to be typed."""


def pairing_screen(words: Translations, shown: ScreenView) -> ScreenBody | None:
    """Whatever the form asks."""
    form = shown.pairing
    if form is None:
        return None
    match form.ask:
        case "address":
            return _address(words, form)
        case "code":
            return _code(words, form)
        case "asking":
            lines = TextLine(words("pairing_asking"), 0.1, drawing.TEXT), TextLine(form.address, 0.06, drawing.QUIET)
            return ScreenBody(lines)
        case "paired":
            return ScreenBody(
                (
                    TextLine(words("pairing_done"), 0.08, drawing.GOOD),
                    TextLine(words("table", table=form.table), 0.15, drawing.TEXT),
                    TextLine(form.event, 0.07, drawing.QUIET),
                )
            )


def _address(words: Translations, form: PairingForm) -> ScreenBody:
    lines = (
        TextLine(words("pairing_title"), 0.08, drawing.TEXT),
        TextLine(words("pairing_show"), 0.055, drawing.QUIET),
        TextLine(words("pairing_address"), 0.055, drawing.TEXT),
        TextLine(form.address or "–", 0.08, drawing.TEXT),
        *_problem(words, form),
    )
    dot, colon = KeyButton(".", "."), KeyButton(":", ":")
    return ScreenBody(lines, panel=keypad(words, dot, colon, KeyButton("enter", words("do_enter"), "strong")))


def _code(words: Translations, form: PairingForm) -> ScreenBody:
    typed = form.code.ljust(DIGITS, EMPTY)
    lines = (
        TextLine(words("pairing_title"), 0.08, drawing.TEXT),
        TextLine(words("pairing_show"), 0.055, drawing.QUIET),
        TextLine(words("pairing_code", desk=form.address), 0.055, drawing.TEXT),
        TextLine(f"{typed[: DIGITS // 2]} {typed[DIGITS // 2 :]}", 0.13, drawing.TEXT),
        *_problem(words, form),
    )
    return ScreenBody(lines, panel=keypad(words, KeyButton("enter", words("do_enter"), "strong")))


def _problem(words: Translations, form: PairingForm) -> tuple[TextLine, ...]:
    return (TextLine(words.problem(form.problem), 0.06, drawing.ATTENTION),) if form.problem else ()
