"""The table's screen: one layout for all states, so that the eye knows where to look."""

from collections.abc import Iterator

import pygame

from broker.contract.words import SEATS
from kiosk.screens import style
from kiosk.screens.body import said
from kiosk.screens.pen import Align, Pen, Said
from kiosk.screens.seats import SeatBox
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words

HEAD, BODY, SEATS_AT, FOOT = 0.022, 0.105, 0.495, 0.905
"""Where the parts begin, as shares of the screen's height."""

MOST_LETTERS = 48
"""As many of faults as have room at the foot, beside how many more there are; the desk has them all."""

LEADING = 0.008
"""Between two lines in the middle."""


class TableScreen:
    """Draws what is shown onto a surface."""

    def __init__(self, words: Words, size: tuple[int, int], pen: Pen | None = None) -> None:
        """Raise BadConfiguration where the language has no font here."""
        self._words = words
        self._width, self._height = size
        self._pen = pen or Pen(words.language, size)
        self._seat = SeatBox(words, self._pen, size[1])
        self._margin = round(self._height * 0.03)

    def draw(self, surface: pygame.Surface, shown: Shown) -> None:
        """Draw everything."""
        surface.fill(style.GROUND)
        self._head(surface, shown)
        self._body(surface, shown)
        self._seats(surface, shown)
        self._foot(surface, shown)

    def _y(self, share: float) -> int:
        return round(self._height * share)

    def _head(self, surface: pygame.Surface, shown: Shown) -> None:
        words, y, third = self._words, self._y(HEAD), (self._width - 4 * self._margin) // 3
        texts = [words("table", table=shown.table)]
        if shown.deal is not None and shown.prevalent_wind is not None:
            texts.append(words("deal", deal=shown.deal, round=shown.round))
            texts.append(words("prevalent_wind", wind=words.seat(shown.prevalent_wind)))
        share = self._pen.share(texts, 0.06, third)
        places: tuple[tuple[int, Align], ...] = (
            (self._margin, "left"),
            (self._width // 2, "centre"),
            (self._width - self._margin, "right"),
        )
        for text, (x, align) in zip(texts, places, strict=False):
            self._pen.write(surface, text, (x, y), share, style.TEXT, third, align=align)

    def _body(self, surface: pygame.Surface, shown: Shown) -> None:
        """Write the lines in the middle of the free room, smaller where there are many."""
        top, bottom = self._y(BODY), self._y(SEATS_AT if shown.players else FOOT) - self._margin // 2
        width = self._width - 2 * self._margin
        lines = self._pen.fit([*said(self._words, shown)], width, bottom - top, self._y(LEADING))
        y = top + (bottom - top - self._pen.high(lines, width, self._y(LEADING))) // 2
        for line in lines:
            at = (self._width // 2, y)
            y = self._pen.write(surface, line.text, at, line.share, line.colour, width, align="centre").bottom
            y += self._y(LEADING)

    def _seats(self, surface: pygame.Surface, shown: Shown) -> None:
        if not shown.players:
            return
        gap, top = self._margin // 2, self._y(SEATS_AT)
        width = (self._width - 2 * self._margin - 3 * gap) // 4
        for at, seat in enumerate(SEATS):
            box = pygame.Rect(self._margin + at * (width + gap), top, width, self._y(FOOT) - top - gap)
            self._seat.draw(surface, shown, seat, box)

    def _foot(self, surface: pygame.Surface, shown: Shown) -> None:
        """Say how the device stands, and whether the arbiter is called; a second line for what is broken."""
        left = self._width - 2 * self._margin - self._call(surface, shown)
        lines = [*self._standing(shown)]
        room = self._height - self._y(FOOT)
        y = self._y(FOOT) + (room - self._pen.high(lines, left)) // 2
        for line in self._pen.fit(lines, left, room):
            y = self._pen.write(surface, line.text, (self._margin, y), line.share, line.colour, left).bottom

    def _standing(self, shown: Shown) -> Iterator[Said]:
        words, line = self._words, shown.line
        wrong = [words("refused", count=line.refused)] if line.refused else []
        wrong.extend(line.health)
        named = [*wrong]
        while len(named) > 1 and len(" · ".join(named)) > MOST_LETTERS:
            named.pop()
        if more := len(wrong) - len(named):
            named.append(words("more", count=more))
        colour = style.QUIET if line.up and not wrong else style.ATTENTION
        connection = [words("online" if line.up else "offline")]
        if line.unsent:
            connection.append(words("unsent", count=line.unsent))
        yield Said(" · ".join(connection), 0.042, colour)
        if wrong:
            yield Said(" · ".join(named), 0.042, colour)

    def _call(self, surface: pygame.Surface, shown: Shown) -> int:
        """Write the call, or how to call, at the right; give the room that it takes."""
        if not shown.players:
            return 0
        text = self._words("calling" if shown.calling else "call_help")
        width, share = self._width * 3 // 10, 0.05 if shown.calling else 0.042
        high = self._pen.height(text, share, width)
        at = (self._width - self._margin, self._y(FOOT) + (self._height - self._y(FOOT) - high) // 2)
        if shown.calling:
            badge = pygame.Rect(at[0] - width, at[1], width, high).inflate(0, self._margin // 2)
            pygame.draw.rect(surface, style.ATTENTION, badge, border_radius=8)
            at = (badge.centerx, at[1])
            self._pen.write(surface, text, at, share, style.GROUND, width - self._margin, align="centre")
        else:
            self._pen.write(surface, text, at, share, style.QUIET, width, align="right")
        return width + 2 * self._margin
