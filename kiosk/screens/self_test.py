"""The self-test of the hardware: each button in its turn, a scan, the camera's picture, and what is to be mended."""

from collections.abc import Callable, Iterator
from typing import Final

import pygame

from broker.contract.words import SEATS, Seat
from firmware.hardware.self_test import Remark
from firmware.reports import Scanned
from kiosk.screens import style
from kiosk.screens.faults import faulty, remedy, with_remedy
from kiosk.screens.heap import picture
from kiosk.screens.middle import Action, Middle, Paint
from kiosk.screens.pen import Pen, Said
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words
from kiosk.self_test.walk import Seen, Step

STEPS: Final[tuple[Step, ...]] = ("buttons", "scanner", "camera", "found")

MOST: Final = 3
"""As many faults as have room with what to do."""


def self_test(words: Words, shown: Shown) -> Middle | None:
    """Whatever step the test is at."""
    seen = shown.self_test
    if seen is None:
        return None
    return _STEPS[seen.step](words, seen)


def _head(words: Words, seen: Seen) -> Said:
    steps = tuple(step for step in STEPS if step != "scanner" or seen.scanner)
    return Said(words("test_step", step=steps.index(seen.step) + 1, steps=len(steps)), 0.045, style.QUIET)


def _skip(words: Words) -> Action:
    return Action("q", words("do_test_skip"))


def _buttons(words: Words, seen: Seen) -> Middle:
    asked = words("test_button", seat=words.seat(seen.asked or ""))
    said = (_remark(words, seen.remark), style.ATTENTION) if seen.remark else (words("test_button_help"), style.QUIET)
    lines = _head(words, seen), Said(asked, 0.1, style.TEXT), Said(said[0], 0.055, said[1])
    return Middle(lines, (Action("x", words("do_test_not")), _skip(words)), paint=_seats(words, seen), seats=False)


def _remark(words: Words, remark: Remark) -> str:
    """Say what the buttons have told that was not asked for."""
    if remark.said == "ill" and remark.code is not None:
        part = f"button-{remark.other}" if remark.other in SEATS else remark.other
        return with_remedy(words, part, remark.code)
    return words(f"test_{remark.said}", other=words.seat(remark.other) if remark.other in SEATS else remark.other)


def _scanner(words: Words, seen: Seen) -> Middle:
    if seen.scan is None:
        lines = Said(words("test_scan"), 0.11, style.TEXT), Said(words("test_scan_help"), 0.06, style.QUIET)
        return Middle((_head(words, seen), *lines), (Action("x", words("do_test_no_scan")), _skip(words)), seats=False)
    if isinstance(seen.scan, Scanned):
        was = Said(words("test_scanned", serial=seen.scan.serial), 0.08, style.GOOD)
    else:
        was = Said(words("test_scanned_other"), 0.08, style.ATTENTION)
    lines = was, Said(words("test_beep"), 0.08, style.TEXT)
    answers = Action("n", words("do_riichi_no"), "strong"), Action("y", words("do_riichi_yes"))
    return Middle((_head(words, seen), *lines), answers, seats=False)


def _camera(words: Words, seen: Seen) -> Middle:
    wrong, view = seen.picture.wrong, seen.picture.view
    lines = [_head(words, seen), Said(words("test_camera"), 0.065, style.TEXT)]
    if view is None:
        lines.append(Said(words("test_no_picture"), 0.055, style.ATTENTION))
    elif wrong:
        lines.append(Said(with_remedy(words, "camera", wrong[0]), 0.045, style.ATTENTION))
    else:
        lines.append(Said(words("test_camera_help"), 0.045, style.QUIET))
    right = (Action("enter", words("do_test_right"), "strong"),) if view is not None else ()
    answers = (*right, Action("x", words("do_test_wrong")), _skip(words))
    return Middle((*lines,), answers, paint=picture(view) if view is not None else None, seats=False)


def _found(words: Words, seen: Seen) -> Middle:
    go_on, again = Action("enter", words("do_test_go_on"), "strong"), Action("r", words("do_test_again"))
    passed, ill = Said(words("test_passed"), 0.13, style.GOOD), Said(words("test_found"), 0.075, style.ATTENTION)
    lines = _head(words, seen), ill if seen.found else passed, *_faults(words, seen)
    return Middle(lines, (go_on, again), seats=False)


def _faults(words: Words, seen: Seen) -> Iterator[Said]:
    """Name what is wrong and what to do: of as many as have room."""
    for one in seen.found[:MOST]:
        yield Said(faulty(words, one.part, one.code), 0.06, style.TEXT)
        if help_ := remedy(words, one.code):
            yield Said(help_, 0.045, style.QUIET)
    more = len(seen.found) - MOST
    if more > 0:
        yield Said(words("more", count=more), 0.05, style.QUIET)


_STEPS: Final[dict[Step, Callable[[Words, Seen], Middle]]] = {
    "buttons": _buttons,
    "scanner": _scanner,
    "camera": _camera,
    "found": _found,
}


# ---- the four seats -----------------------------------------------------------------------------


def _seats(words: Words, seen: Seen) -> Paint:
    """Give what draws a box for each seat: what is said of its button, in a word and a colour."""

    def paint(surface: pygame.Surface, room: pygame.Rect, pen: Pen) -> None:
        height = surface.get_height()
        gap = round(height * 0.02)
        width = (room.width - 3 * gap) // len(SEATS)
        for at, seat in enumerate(SEATS):
            box = pygame.Rect(room.left + at * (width + gap), room.top + gap, width, room.height - 2 * gap)
            _box(surface, pen, box, words.seat(seat), _state(words, seen, seat))

    return paint


def _state(words: Words, seen: Seen, seat: Seat) -> tuple[str, style.Colour, bool]:
    """Give what is said of a button, in which colour, and whether it is framed."""
    if seat in seen.right:
        return words("test_seat_right"), style.GOOD, True
    if seat in seen.wrong:
        return words("test_seat_wrong"), style.ATTENTION, False
    return (words("test_seat_asked"), style.ATTENTION, True) if seat == seen.asked else ("", style.QUIET, False)


def _box(surface: pygame.Surface, pen: Pen, box: pygame.Rect, name: str, state: tuple[str, style.Colour, bool]) -> None:
    said, colour, framed = state
    height = surface.get_height()
    pygame.draw.rect(surface, style.PANEL, box, border_radius=8)
    frame = colour if framed else style.LINE
    pygame.draw.rect(surface, frame, box, width=max(3, round(height * 0.008)) if framed else 1, border_radius=8)
    lines = pen.fit([Said(name, 0.085, style.TEXT), Said(said or " ", 0.055, colour)], box.width, box.height)
    y = box.top + (box.height - pen.high(lines, box.width)) // 2
    for line in lines:
        wide = box.width - round(height * 0.03)
        y = pen.write(surface, line.text, (box.centerx, y), line.share, line.colour, wide, align="centre").bottom
