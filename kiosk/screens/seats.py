"""The four seats at the foot of the table's screen, a box each, in the order of the chairs.

A seat has one name everywhere: on the box, in every sentence, on its key and on its button's label. Its wind in
this play is told beside it.
"""

from collections.abc import Iterator
from typing import Final

import pygame

from broker.contract.words import SEATS, Seat
from kiosk.screens import sticks, style
from kiosk.screens.pen import Pen, Said
from kiosk.screens.riichi_seat import alone_seat, riichi_seat
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words

MINUS: Final = "\N{MINUS SIGN}"

STRIP: Final = 0.044
"""Height of a row of sticks that a seat pays or gets, as a share of the screen's."""


class SeatBox:
    """Draws one seat."""

    def __init__(self, words: Words, pen: Pen, height: int) -> None:
        self._words, self._pen, self._height = words, pen, height
        self._thick = max(3, round(height * 0.008))

    def draw(self, surface: pygame.Surface, shown: Shown, seat: Seat, box: pygame.Rect, *, small: bool) -> None:
        """Draw who sits there from above, and what became of it from below; in a small box without the wind."""
        self._frame(surface, shown, seat, box)
        padding = round(self._height * 0.016)
        inside = box.inflate(-2 * padding - self._thick, -2 * padding)
        if shown.session is not None and (paid := shown.session.paid.get(seat)):
            strip = round(self._height * STRIP * sticks.rows(paid))
            inside.height -= strip
            sticks.draw(surface, self._pen, paid, pygame.Rect(inside.left, inside.bottom, inside.width, strip))
        who = [*self._who(shown, seat, inside.width)]
        if not small:
            who.append(self._wind(shown, seat, inside.width))
        lines = self._pen.fit([*who, *self._what(shown, seat)], inside.width, inside.height)
        self._write(surface, lines[: len(who)], inside, inside.top)
        what = lines[len(who) :]
        self._write(surface, what, inside, inside.bottom - self._pen.high(what, inside.width))

    def _write(self, surface: pygame.Surface, lines: list[Said], inside: pygame.Rect, y: int) -> None:
        for line in lines:
            at = (inside.centerx, y)
            y = self._pen.write(surface, line.text, at, line.share, line.colour, inside.width, align="centre").bottom

    def _frame(self, surface: pygame.Surface, shown: Shown, seat: Seat, box: pygame.Rect) -> None:
        asked = seat == (shown.riichi.asked if shown.riichi else shown.form.seat if shown.form else None)
        marked = seat in shown.marked or (shown.riichi is not None and seat in shown.riichi.marked)
        colour = style.ATTENTION if asked else style.GOOD if marked else style.LINE
        pygame.draw.rect(surface, style.PANEL, box, border_radius=8)
        pygame.draw.rect(surface, colour, box, width=self._thick if asked or marked else 1, border_radius=8)
        if marked:
            self._tick(surface, box)

    def _tick(self, surface: pygame.Surface, box: pygame.Rect) -> None:
        """A sign beside the colour: not everybody tells green from grey."""
        size = round(self._height * 0.026)
        x, y = box.right - round(2.1 * size), box.top + round(1.3 * size)
        points = [(x, y), (x + size // 2, y + size // 2), (x + round(size * 1.4), y - size // 2)]
        pygame.draw.lines(surface, style.GOOD, closed=False, points=points, width=self._thick)

    def _who(self, shown: Shown, seat: Seat, width: int) -> Iterator[Said]:
        yield Said(self._words.seat(seat), 0.085, style.TEXT)
        for part in self._pen.in_two(shown.players[seat], 0.052, width):
            yield Said(part, 0.052, style.TEXT)

    def _wind(self, shown: Shown, seat: Seat, width: int) -> Said:
        winds = {wind: self._words("seat_wind", wind=self._words.seat(wind)) for wind in SEATS}
        return Said(winds[shown.winds[seat]], self._pen.share(winds.values(), 0.05, width), style.QUIET)

    def _what(self, shown: Shown, seat: Seat) -> Iterator[Said]:
        if shown.session is not None:
            yield from riichi_seat(self._words, shown, shown.session, seat)
        elif shown.alone is not None:
            yield from alone_seat(self._words, shown, shown.alone, seat)
            yield from self._fined(shown, seat)
        else:
            yield from self._came_of(shown, seat)

    def _came_of(self, shown: Shown, seat: Seat) -> Iterator[Said]:
        form = shown.form
        entered = dict(zip(form.declared, form.values, strict=False)) if form else {}
        if shown.result is not None:
            yield from self._scored(shown.result.points[seat], shown.result.winners.get(seat))
        elif seat in entered:
            yield Said(self._words("value", value=entered[seat]), 0.06, style.TEXT)
        elif seat in shown.declared:
            yield Said(self._words("has_declared"), 0.06, style.ATTENTION)
        elif seat in shown.marked:
            yield Said(self._words(f"{shown.state}_marked"), 0.05, style.GOOD)
        yield from self._fined(shown, seat)

    def _fined(self, shown: Shown, seat: Seat) -> Iterator[Said]:
        if seat in shown.fines:
            yield Said(self._words("fine", imp=shown.fines[seat].imp), 0.045, style.ATTENTION)

    def _scored(self, points: int, value: int | None) -> Iterator[Said]:
        if value is not None:
            yield Said(self._words("value", value=value), 0.045, style.GOOD)
        yield Said(f"+{points}" if points > 0 else str(points).replace("-", MINUS), 0.1, style.TEXT)
