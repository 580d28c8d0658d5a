"""The table's screen: one layout for all states, so that the eye knows where to look."""

from collections.abc import Iterator
from typing import Final

import pygame

from broker.contract.words import SEATS, Seat
from kiosk.screens import style
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words

MINUS: Final = "\N{MINUS SIGN}"

MOST_LINES: Final = 4


class TableScreen:
    """Draws what is shown onto a surface."""

    def __init__(self, words: Words, size: tuple[int, int]) -> None:
        self._words = words
        self._width, self._height = size
        self._type = style.Type(words.language, size[1])
        self._margin = round(self._height * 0.04)

    def draw(self, surface: pygame.Surface, shown: Shown) -> None:
        """Draw everything."""
        surface.fill(style.GROUND)
        self._head(surface, shown)
        self._middle(surface, shown)
        self._seats(surface, shown)
        self._foot(surface, shown)

    def _text(
        self,
        surface: pygame.Surface,
        text: str,
        at: tuple[int, int],
        share: float,
        colour: style.Colour = style.TEXT,
        *,
        width: int | None = None,
        align: str = "left",
    ) -> int:
        """Write one line and give its height; it is made smaller rather than cut off."""
        picture = self._type.fitting(text, share, width or self._width - 2 * self._margin).render(text, True, colour)  # noqa: FBT003 - pygame's own argument: antialias
        x = {"left": at[0], "right": at[0] - picture.get_width(), "centre": at[0] - picture.get_width() // 2}[align]
        surface.blit(picture, (x, at[1]))
        return picture.get_height()

    def _head(self, surface: pygame.Surface, shown: Shown) -> None:
        top, half = self._margin // 2, self._width // 2 - self._margin
        self._text(surface, self._words("table", table=shown.table), (self._margin, top), 0.062, width=half // 2)
        if shown.deal is None or shown.prevalent_wind is None:
            return
        right = self._width - self._margin
        deal = self._words("deal", deal=shown.deal, round=shown.round)
        self._text(surface, deal, (self._width // 2, top), 0.062, width=half, align="centre")
        wind = self._words("prevalent_wind", wind=self._words.seat(shown.prevalent_wind))
        self._text(surface, wind, (right, top), 0.05, style.QUIET, width=half // 2 + self._margin, align="right")

    def _middle(self, surface: pygame.Surface, shown: Shown) -> None:
        centre, y = self._width // 2, round(self._height * 0.14)
        for text, share, colour in self._lines(shown):
            y += self._text(surface, text, (centre, y), share, colour, align="centre") + round(self._height * 0.008)

    def _lines(self, shown: Shown) -> Iterator[tuple[str, float, style.Colour]]:
        words = self._words
        if shown.form is not None:
            yield from self._form_lines(shown)
        elif shown.result is not None:
            yield self._result_line(shown), 0.1, style.TEXT
            yield words(f"{shown.state}_help"), 0.05, style.QUIET
        else:
            yield words(shown.state), 0.13, style.TEXT
            yield words(f"{shown.state}_help"), 0.055, style.QUIET
        if shown.state == "playing":
            yield f"{words('draw_help')}     {words('call_help')}", 0.04, style.QUIET
        if shown.check is not None:
            yield from self._check_lines(shown)
        if shown.problem:
            yield words("problem", code=shown.problem), 0.05, style.ATTENTION

    def _check_lines(self, shown: Shown) -> Iterator[tuple[str, float, style.Colour]]:
        if (check := shown.check) is None:
            return
        seat = self._words.seat(check.seat)
        yield self._words("tray_wrong", seat=seat), 0.06, style.ATTENTION
        for wrong in check.wrong[:MOST_LINES]:
            row2, col2 = wrong.other or (0, 0)
            names = {"row": wrong.row + 1, "col": wrong.col + 1, "row2": row2 + 1, "col2": col2 + 1}
            sentence = self._words(f"misplaced_{wrong.kind}", expected=wrong.expected, found=wrong.found, **names)
            yield sentence, 0.05, style.TEXT

    def _form_lines(self, shown: Shown) -> Iterator[tuple[str, float, style.Colour]]:
        form, words = shown.form, self._words
        if form is None:
            return
        if form.judging and form.seat:
            yield words("false_hu_of", seat=words.seat(form.seat)), 0.09, style.ATTENTION
            yield words("false_hu_help", fines=" / ".join(map(str, form.fines))), 0.055, style.QUIET
        elif form.seat:
            yield words("value_of", seat=words.seat(form.seat)), 0.09, style.TEXT
            yield form.digits or "–", 0.13, style.TEXT
            yield words("value_help"), 0.045, style.QUIET
        else:
            yield words("discarder"), 0.1, style.TEXT
            yield words("discarder_help"), 0.05, style.QUIET

    def _result_line(self, shown: Shown) -> str:
        result = shown.result
        if result is None or result.win == "draw":
            return self._words("draw")
        if result.discarder is None:
            return self._words("self_drawn")
        return self._words("on_discard", seat=self._words.seat(result.discarder))

    def _seats(self, surface: pygame.Surface, shown: Shown) -> None:
        if not shown.players:
            return
        gap = self._margin // 2
        width = (self._width - 2 * self._margin - 3 * gap) // 4
        top, height = round(self._height * 0.56), round(self._height * 0.32)
        for at, seat in enumerate(SEATS):
            box = pygame.Rect(self._margin + at * (width + gap), top, width, height)
            self._seat(surface, shown, seat, box)

    def _seat(self, surface: pygame.Surface, shown: Shown, seat: Seat, box: pygame.Rect) -> None:
        marked = seat in shown.marked
        pygame.draw.rect(surface, style.PANEL, box, border_radius=8)
        pygame.draw.rect(surface, style.GOOD if marked else style.LINE, box, width=4 if marked else 1, border_radius=8)
        centre, width, y = box.centerx, box.width - self._margin // 2, box.top + self._margin // 3
        y += self._text(surface, self._words.seat(shown.winds[seat]), (centre, y), 0.08, width=width, align="centre")
        y += self._text(surface, shown.players[seat], (centre, y), 0.042, style.QUIET, width=width, align="centre")
        for text, share, colour in self._seat_lines(shown, seat):
            y += self._text(surface, text, (centre, y), share, colour, width=width, align="centre")
        if marked:
            self._tick(surface, box)

    def _seat_lines(self, shown: Shown, seat: Seat) -> Iterator[tuple[str, float, style.Colour]]:
        if seat in shown.declared:
            yield self._words("declared"), 0.05, style.ATTENTION
        if shown.result is not None:
            value = shown.result.points[seat]
            yield f"+{value}" if value > 0 else str(value).replace("-", MINUS), 0.09, style.TEXT
        if seat in shown.fines:
            yield self._words("fine", imp=shown.fines[seat].imp), 0.04, style.ATTENTION

    def _tick(self, surface: pygame.Surface, box: pygame.Rect) -> None:
        """A sign beside the colour: not everybody tells green from grey."""
        size = round(self._height * 0.03)
        x, y = box.right - 2 * size, box.top + size
        points = [(x, y), (x + size // 2, y + size // 2), (x + round(size * 1.4), y - size // 2)]
        pygame.draw.lines(surface, style.GOOD, closed=False, points=points, width=4)

    def _foot(self, surface: pygame.Surface, shown: Shown) -> None:
        y, line = round(self._height * 0.92), shown.line
        parts = [self._words("online" if line.up else "offline")]
        if line.unsent:
            parts.append(self._words("unsent", count=line.unsent))
        if line.refused:
            parts.append(self._words("refused", count=line.refused))
        parts.extend(line.health)
        colour = style.QUIET if line.up and not line.refused and not line.health else style.ATTENTION
        half = self._width // 2 - self._margin
        self._text(surface, " · ".join(parts), (self._margin, y), 0.042, colour, width=half)
        if shown.calling:
            right = self._width - self._margin
            self._text(surface, self._words("calling"), (right, y), 0.042, style.ATTENTION, width=half, align="right")
