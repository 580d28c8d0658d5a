"""The table's screen: one layout for all states, so that the eye knows where to look, and the finger where to touch."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import pygame

from broker.contract.words import SEATS
from kiosk.screens import square, style
from kiosk.screens.body import middle
from kiosk.screens.foot import standing, today
from kiosk.screens.layout import FINGER, HEAD, Hand, Layout
from kiosk.screens.middle import Middle
from kiosk.screens.pen import Align, Pen, Said
from kiosk.screens.riichi_seat import riichi_head
from kiosk.screens.seats import SeatBox
from kiosk.screens.shown import Shown
from kiosk.screens.targets import Buttons, Target
from kiosk.screens.words import Words

LEADING = 0.008
"""Between two lines in the middle, as a share of the screen's height."""


class Look(NamedTuple):
    """What each table may have otherwise."""

    hand: Hand = "right"
    larger: float = 1.0
    """How much larger than usual letters are, where they have room."""


USUAL: Final = Look()


class Parted(NamedTuple):
    """The middle's room, with a QR code beside it or without."""

    lines: pygame.Rect
    place: pygame.Rect = pygame.Rect(0, 0, 0, 0)
    code: pygame.Surface | None = None


class TableScreen:
    """Draws what is shown onto a surface, and says what of it may be touched."""

    def __init__(self, words: Words, size: tuple[int, int], look: Look = USUAL, pen: Pen | None = None) -> None:
        """Raise BadConfiguration where the language has no font here."""
        self._words = words
        self._layout = Layout(size, look.hand)
        self._pen = pen or Pen(words.language, size, look.larger)
        self._seat = SeatBox(words, self._pen, size[1])
        self._buttons = Buttons(words, self._pen, size[1])

    def targets(self, shown: Shown) -> tuple[Target, ...]:
        """Give what may be touched."""
        return (*self._targets(middle(self._words, shown), shown),)

    def draw(self, surface: pygame.Surface, shown: Shown, pressed: Target | None = None) -> None:
        """Draw everything; a finger may be on one target."""
        now = middle(self._words, shown)
        surface.fill(style.GROUND)
        self._head(surface, shown)
        self._middle(surface, shown, now)
        if shown.players and now.seats:
            for seat, box in zip(SEATS, self._layout.seats(panel=bool(now.panel)), strict=True):
                self._seat.draw(surface, shown, seat, box, small=bool(now.panel))
        self._foot(surface, shown)
        for target in self._targets(now, shown):
            self._buttons.draw(surface, target, pressed=target == pressed)

    def _targets(self, now: Middle, shown: Shown) -> Iterator[Target]:
        if now.actions:
            boxes = self._layout.actions(self._parted(now, shown).lines, len(now.actions))
            for action, box in zip(now.actions, boxes, strict=True):
                yield Target(action.key, action.label, box, action.tone)
        for row, boxes in zip(now.panel, self._layout.grid([len(row) for row in now.panel]), strict=True):
            for action, box in zip(row, boxes, strict=True):
                yield Target(action.key, action.label, box, action.tone)
        if shown.players:
            label = self._words("do_uncall" if shown.calling else "do_call")
            yield Target("c", label, self._layout.call)

    def _room(self, now: Middle, shown: Shown) -> pygame.Rect:
        return self._layout.middle(panel=bool(now.panel), seats=bool(shown.players) and now.seats)

    def _parted(self, now: Middle, shown: Shown) -> Parted:
        """Give the room of the lines and their buttons, and the QR code beside them; it may reach into the gaps."""
        room = self._room(now, shown)
        code = square.drawn(now.square, room.height + self._layout.gap) if now.square else None
        if code is None:
            return Parted(room)
        return Parted(*self._layout.beside(room, code.get_width()), code)

    def _head(self, surface: pygame.Surface, shown: Shown) -> None:
        words, layout = self._words, self._layout
        y, third = layout.y(HEAD), (layout.width - 4 * layout.margin) // 3
        texts = [words("table", table=shown.table) if shown.table else words("no_table")]
        if shown.deal is not None and shown.prevalent_wind is not None:
            texts += riichi_head(words, shown) or [
                words("deal", deal=shown.deal, round=shown.round),
                words("prevalent_wind", wind=words.seat(shown.prevalent_wind)),
            ]
        share = self._pen.share(texts, 0.06, third)
        places: tuple[tuple[int, Align], ...] = (
            (layout.margin, "left"),
            (layout.width // 2, "centre"),
            (layout.width - layout.margin, "right"),
        )
        for text, (x, align) in zip(texts, places, strict=False):
            self._pen.write(surface, text, (x, y), share, style.TEXT, third, align=align)

    def _middle(self, surface: pygame.Surface, shown: Shown, now: Middle) -> None:
        """Write the lines in the middle of the free room, smaller where there are many; what is painted is below."""
        parted, leading = self._parted(now, shown), self._layout.y(LEADING)
        room = parted.lines
        if parted.code:
            surface.blit(parted.code, parted.place)
        if now.actions:
            room.height -= self._layout.y(FINGER) + leading
        lines = [part for line in now.lines for part in self._pen.broken(line, room.width)]
        lines = self._pen.fit(lines, room.width, room.height, leading)
        high = self._pen.high(lines, room.width, leading)
        y = room.top if now.paint else room.top + (room.height - high) // 2
        for line in lines:
            at = (room.centerx, y)
            y = self._pen.write(surface, line.text, at, line.share, line.colour, room.width, align="centre").bottom
            y += leading
        if now.paint:
            now.paint(surface, pygame.Rect(room.left, y, room.width, room.bottom - y), self._pen)

    def _foot(self, surface: pygame.Surface, shown: Shown) -> None:
        """Say how the device stands, what is broken or called; beside it the time of day."""
        call = bool(shown.players)
        self._lines(surface, [*standing(self._words, shown)], self._layout.foot(call=call), self._layout.outer)
        self._lines(surface, [*today(shown)], self._layout.clock(call=call), "centre")

    def _lines(self, surface: pygame.Surface, lines: list[Said], room: pygame.Rect, align: Align) -> None:
        """Write lines in the middle of a room's height."""
        lines = self._pen.fit(lines, room.width, room.height)
        x = {"left": room.left, "centre": room.centerx, "right": room.right}[align]
        y = room.top + (room.height - self._pen.high(lines, room.width)) // 2
        for line in lines:
            at = (x, y)
            y = self._pen.write(surface, line.text, at, line.share, line.colour, room.width, align).bottom
