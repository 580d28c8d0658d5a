"""The answer to a scan, as large as the screen: seat, row and place, or why the tile goes nowhere."""

from collections.abc import Iterator

import pygame

from kiosk.bench import Bench
from kiosk.screens import style
from kiosk.screens.faults import fault
from kiosk.screens.middle import Action, Middle, Paint
from kiosk.screens.moves import place_name
from kiosk.screens.pen import Pen, Said
from kiosk.screens.plain import extra, problem
from kiosk.screens.seat_shape import draw_shape
from kiosk.screens.shown import Shown
from kiosk.screens.tray_drawing import Drawn
from kiosk.screens.words import Words
from kiosk.table.restoring.places import Place
from kiosk.table.restoring.scans import FOREIGN, Answer


def scan(words: Words, shown: Shown) -> Middle | None:
    """The tile that was scanned last."""
    bench = shown.bench
    if bench is None or bench.showing != "scanner" or bench.scans.answer is None:
        return None
    answer = bench.scans.answer
    lines = (*extra(words, shown), *_said(words, answer), *_run(words, bench), *problem(words, shown))
    paint = _goes(words, answer.place) if answer.place is not None else None
    return Middle(lines, (Action("back", words("do_back")),), paint=paint, seats=False)


def _said(words: Words, answer: Answer) -> Iterator[Said]:
    if answer.code is not None:
        name = f"scan_{'foreign' if answer.code == FOREIGN else 'nothing'}"
        yield Said(words(name), 0.12, style.ATTENTION)
        why = fault(words, "scanner", answer.code)
        yield Said(words(f"{name}_help", text=answer.text[:24], fault=why), 0.06, style.TEXT)
        return
    again = words("scan_again") if answer.again else ""
    yield Said(f"{answer.serial}   {again}".strip(), 0.07, style.ATTENTION if again else style.QUIET)
    if answer.astray is not None:
        yield Said(words("scan_astray", place=place_name(words, answer.astray, seat=True)), 0.055, style.ATTENTION)


def _run(words: Words, bench: Bench) -> Iterator[Said]:
    run = bench.scans.run
    if run is not None and run.count > 1:
        yield Said(words("scan_run", seat=words.seat(run.seat), count=run.count), 0.05, style.GOOD)
    elif bench.scans.answer is not None and bench.scans.answer.code is None:
        yield Said(words("scan_seen", count=len(bench.scans.seen)), 0.05, style.QUIET)


def _goes(words: Words, place: Place) -> Paint:
    """Draw the seat's shape beside its name, row and place, and the place in its tray under them."""

    def paint(surface: pygame.Surface, room: pygame.Rect, pen: Pen) -> None:
        upper = pygame.Rect(room.left, room.top, room.width, room.height // 2)
        size = upper.height
        draw_shape(surface, pygame.Rect(upper.left, upper.top, size, size), place.seat, pen)
        left, width = upper.left + size + size // 4, room.width - size - size // 4
        share = 0.48 * upper.height / surface.get_height()
        y = pen.write(surface, words.seat(place.seat), (left, upper.top), share, style.TEXT, width).bottom
        pen.write(surface, place_name(words, place, seat=False), (left, y), share, style.TEXT, width)
        lower = pygame.Rect(room.left, upper.bottom + 8, room.width, room.bottom - upper.bottom - 8)
        Drawn(place.seat, colours={place: style.ATTENTION}, strong=(place,)).paint(surface, lower, pen)

    return paint
