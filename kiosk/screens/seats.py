"""The four seats, each in a box as people sit around the table, with their shapes and point sticks."""

from collections.abc import Iterator, Mapping
from typing import Final

import pygame

from broker.i18n import Translator
from broker.protocol import SEATS, Seat
from kiosk.screens import riichi, texts
from kiosk.screens.drawing import (
    ATTENTION,
    BODY,
    GOOD,
    GROUND,
    LARGE,
    LINE,
    MUCH_SMALLER,
    PANEL,
    QUIET,
    SMALL,
    SMALLEST,
    STICK,
    STICK_DARK,
    STICK_RED,
    TEXT,
    TITLE,
    Colour,
    TextLine,
    TextPen,
    draw_shape,
    seat_name,
    wind_name,
)
from kiosk.screens.views import DeclaredView, RecordedView, RestoringView, ScreenView, SessionView

TICK: Final = 0.026

STRIP: Final = 0.044
"""Height of a row of sticks that a seat pays or gets, as a share of the screen's."""


WIDE: Final = 2.6
"""From this ratio of width to height on, a seat's result is beside its name instead of below."""

MANY: Final = 2
"""From so many lines of results on, the seat wind shares one of them."""

SPARE: Final = 0.7
"""Share of a small box for everything but the seat's name; if that needs more, a long name is cut."""

LEAST: Final = 0.85
"""The seat's name keeps at least this share of its size while other lines shrink, if there is room."""

TURNS: Final = (0, 90, 180, 270)
"""Degrees to the left by which text is turned, for the near seat and then those whose turn comes next."""


class SeatBox:
    """Draws one seat."""

    def __init__(self, _: Translator, pen: TextPen) -> None:
        self._, self._pen = _, pen
        self._thick = max(3, round(pen.unit * 0.008))

    def draw(self, surface: pygame.Surface, view: ScreenView, seat: Seat, box: pygame.Rect, *, small: bool) -> None:
        """Draw a seat, turned to its player if the display lies flat."""
        turn = TURNS[SEATS.index(seat) - SEATS.index(self._pen.look.near)] if self._pen.look.turned else 0
        if not turn:
            self._draw(surface, view, seat, box, small=small)
            return
        own = pygame.Surface(box.size if turn == TURNS[2] else (box.height, box.width))
        own.fill(GROUND)
        self._draw(own, view, seat, own.get_rect(), small=small)
        surface.blit(pygame.transform.rotate(own, turn), box)

    def _draw(self, surface: pygame.Surface, view: ScreenView, seat: Seat, box: pygame.Rect, *, small: bool) -> None:
        """Draw the seat's name, its player and, from the bottom, its result; in a wide box side by side.

        In a small box, the largest line of the result is beside the seat's name.
        """
        marked = self._frame(surface, view, seat, box)
        padding = round(self._pen.unit * 0.016)
        tick = round(2 * TICK * self._pen.unit)
        inside = box.inflate(-2 * padding - self._thick, -2 * padding)
        wide = not small and box.width > WIDE * box.height
        result = pygame.Rect(inside)
        paid = view.riichi.paid.get(seat) if isinstance(view.riichi, SessionView) else None
        if paid:
            across = len(WORTH) if wide else 2
            result.height -= (strip := round(self._pen.unit * STRIP * stick_rows(paid, across)))
            inside.height = result.height
            draw_sticks(surface, self._pen, paid, pygame.Rect(result.left, result.bottom, result.width, strip), across)
        if wide:
            inside.width = (inside.width - padding) // 2
            result.width, result.left = inside.width - (tick if marked else 0), inside.right + padding
        who, what = [*self._name_lines(view, seat, inside.width, small=small)], [*self._result_lines(view, seat)]
        onward = self._onward_lines(view, seat)
        if onward:  # the wind of a finished play gives way to where its players go next
            what += onward
        elif view.play:
            wind = self._wind(view.play.winds[seat], inside.width, SMALL if small or paid else BODY)
            who, what = (who, [*self._with_wind(wind, what, result.width)]) if wide or paid else ([*who, wind], what)
        what = self._pen.halved(what, result.width)
        if wide:
            what = self._pen.fit(what, result.width, result.height)
            at = (result.centerx, result.centery - self._pen.lines_height(what, result.width) // 2)
            self._pen.write_lines(surface, what, at, result.width)
            what = []
        name = self._name(inside.width - (0 if small else tick), BODY if small or (wide and paid) else LARGE)
        self._stack(surface, seat, inside, [name, *who], what, tick if marked and not wide else 0, small=small)

    def _with_wind(self, wind: TextLine, what: list[TextLine], width: int) -> Iterator[TextLine]:
        """Put the wind above a seat's result, or beside the last small line of a long one if both fit."""
        shared = next((at for at in reversed(range(len(what))) if what[at].share <= BODY), None)
        if len(what) >= MANY and shared is not None:
            line = what[shared]
            both = line._replace(text=self._("{wind} · {what}", wind=wind.text, what=line.text))
            if self._pen.text_width(both.text, self._pen.share([both.text], line.share, width)) <= width:
                yield from (*what[:shared], both, *what[shared + 1 :])
                return
        yield from (wind, *what)

    def _stack(
        self,
        surface: pygame.Surface,
        seat: Seat,
        inside: pygame.Rect,
        who: list[TextLine],
        what: list[TextLine],
        tick: int,
        *,
        small: bool,
    ) -> None:
        """Write the seat's name, leaving room for a tick; its player below; and from the bottom its result."""
        name, *who = who
        head = pygame.Rect(inside)
        head.width -= tick
        least = [line._replace(share=SMALLEST) for line in (*who, *what)]
        if small and len(who) > MANY and self._pen.lines_height(least, inside.width) > SPARE * inside.height:
            who = [who[0]._replace(text=" ".join(line.text for line in who[:-1])), who[-1]]
        beside = max(what, key=lambda line: line.share) if small and what else None
        if beside is not None and self._has_room(beside, name, head.width):
            what.remove(beside)
        else:
            beside = None
        fitted, *lines = self._pen.fit([name, *who, *what], inside.width, inside.height)
        if small and len(who) > 1 and self._pen.lines_height([fitted, *lines], inside.width) > inside.height:
            who = who[:-1]  # without the wind, which the panel's buttons show as well
            fitted, *lines = self._pen.fit([name, *who, *what], inside.width, inside.height)
        large = name._replace(share=max(fitted.share, LEAST * name.share))
        left = inside.height - self._pen.lines_height([large], inside.width)
        rest = self._pen.fit([*who, *what], inside.width, left)
        if self._pen.lines_height(rest, inside.width) <= left:
            fitted, lines = large, rest
        y = self._head(surface, seat, head, fitted.share, beside)
        self._pen.write_lines(surface, lines[: len(who)], (inside.centerx, y), inside.width)
        what = lines[len(who) :]
        at = (inside.centerx, inside.bottom - self._pen.lines_height(what, inside.width))
        self._pen.write_lines(surface, what, at, inside.width)

    def _name(self, width: int, share: float) -> TextLine:
        """Return the longest name of a seat, at the size that all four share."""
        names = [seat_name(self._, seat) for seat in SEATS]
        share = self._pen.share(names, share, width - round(1.2 * share * self._pen.unit))
        return TextLine(max(names, key=lambda name: self._pen.text_width(name, share)), share)

    def _has_room(self, line: TextLine, name: TextLine, width: int) -> bool:
        """Return whether a line beside a name would be legible."""
        left = width - self._pen.text_width(name.text, name.share) - round(1.5 * name.share * self._pen.unit)
        return self._pen.text_width(line.text, SMALL) <= left

    def _head(
        self, surface: pygame.Surface, seat: Seat, head: pygame.Rect, share: float, beside: TextLine | None
    ) -> int:
        """Write the seat's shape and name, and a line beside them if there is one; return their lower edge."""
        side = round(share * self._pen.unit)
        draw_shape(surface, pygame.Rect(head.topleft, (side, side)), seat, self._pen)
        left, name = head.left + round(1.15 * side), seat_name(self._, seat)
        written = self._pen.write(surface, name, (left, head.top), share, TEXT, head.right - left)
        if beside is not None:
            wide, share = head.right - written.right - side // 3, min(beside.share, share)
            y = written.centery - self._pen.height(beside.text, share, wide) // 2
            self._pen.write(surface, beside.text, (head.right, y), share, beside.colour, wide, align="right")
        return written.bottom

    def _frame(self, surface: pygame.Surface, view: ScreenView, seat: Seat, box: pygame.Rect) -> bool:
        """Draw the box, with a tick if it is marked; return whether it is."""
        in_question = view.form is not None and seat == (view.form.whose_tile or view.form.seat)
        marked = seat in view.marked or (view.riichi is not None and seat in view.riichi.marked)
        colour = ATTENTION if in_question else GOOD if marked else LINE
        pygame.draw.rect(surface, PANEL, box, border_radius=8)
        pygame.draw.rect(surface, colour, box, width=self._thick if in_question or marked else 1, border_radius=8)
        if marked:
            self._tick(surface, box)
        return marked

    def _tick(self, surface: pygame.Surface, box: pygame.Rect) -> None:
        """Draw a sign beside the colour, as not everybody can tell green from grey."""
        size = round(self._pen.unit * TICK)
        x, y = box.right - round(2.1 * size), box.top + round(1.3 * size)
        points = [(x, y), (x + size // 2, y + size // 2), (x + round(size * 1.4), y - size // 2)]
        pygame.draw.lines(surface, GOOD, closed=False, points=points, width=self._thick)

    def _name_lines(self, view: ScreenView, seat: Seat, width: int, *, small: bool) -> Iterator[TextLine]:
        """Yield the player's name. In a small box it takes two lines only if one would be much smaller."""
        share = BODY * (MUCH_SMALLER if small else 1)
        for part in self._pen.name_lines(view.players[seat], share, width):
            yield TextLine(part, BODY)

    def _wind(self, own: Seat, width: int, share: float) -> TextLine:
        winds = {wind: wind_name(self._, wind) for wind in SEATS}
        return TextLine(winds[own], self._pen.share(winds.values(), share, width), QUIET)

    def _result_lines(self, view: ScreenView, seat: Seat) -> Iterator[TextLine]:
        if isinstance(view.riichi, SessionView):
            yield from riichi.session_seat_lines(self._, view, view.riichi, seat)
        elif view.riichi is not None:
            yield from riichi.planned_seat_lines(self._, view, view.riichi, seat)
            yield from self._fine_lines(view, seat)
        else:
            yield from self._mcr_lines(view, seat)

    def _mcr_lines(self, view: ScreenView, seat: Seat) -> Iterator[TextLine]:
        form = view.phase.form if isinstance(view.phase, DeclaredView) else None
        entered = dict(zip(form.valued, form.values, strict=False)) if form else {}
        if view.result is not None:
            yield from self._score_lines(view.result.points[seat], view.result.winners.get(seat))
        elif seat in entered:
            yield TextLine(self._("value {value}", value=entered[seat]), BODY)
        elif form and seat in form.overtaken:
            yield TextLine(self._("later tile"), BODY, QUIET)
        elif seat in view.declared:
            yield TextLine(self._("hu"), LARGE, ATTENTION)
        elif seat in view.marked:
            yield TextLine(self._(texts.STATE_MARKED[view.state]), SMALL, GOOD)
        if isinstance(view.phase, RestoringView) and seat in view.phase.arrived:
            here = texts.STATE_MARKED["seating"]
            yield TextLine(self._(here), SMALL, GOOD)
        yield from self._fine_lines(view, seat)

    def _onward_lines(self, view: ScreenView, seat: Seat) -> list[TextLine]:
        """Return where a player plays next, if one of the four moves after this play."""
        if not isinstance(view.phase, RecordedView) or view.play is None or seat not in view.phase.onward:
            return []
        then = view.phase.onward[seat]
        if then is None:
            return [TextLine(self._("no further play"), BODY, QUIET)]
        where = self._("Next: table {table}, {seat}", table=then.table, seat=seat_name(self._, then.seat))
        lines = [TextLine(where, BODY, ATTENTION)]
        if then.round > view.play.round + 1:
            lines.append(TextLine(self._("in round {round}", round=then.round), SMALL, QUIET))
        return lines

    def _fine_lines(self, view: ScreenView, seat: Seat) -> Iterator[TextLine]:
        if view.play and seat in view.play.fines:
            yield TextLine(self._("fine {imp} IMP", imp=view.play.fines[seat].imp), SMALL, ATTENTION)

    def _score_lines(self, points: int, value: int | None) -> Iterator[TextLine]:
        if value is not None:
            yield TextLine(self._("value {value}", value=value), SMALL, GOOD)
        yield TextLine(riichi.signed_points(points), TITLE)


WORTH: Final = (10_000, 5_000, 1_000, 100)

LONG: Final = 0.19
"""Length of a stick as a share of its cell."""

SHARE: Final = 0.036
"""Height of the figures as a share of the screen's."""

DOTS: Final[Mapping[int, tuple[int, Colour]]] = {
    10_000: (5, STICK_RED),
    5_000: (3, STICK_RED),
    1_000: (1, STICK_RED),
    100: (4, STICK_DARK),
}
"""Number and colour of the dots on each stick. The number beside it gives its worth."""


def sticks(points: int) -> dict[int, int]:
    """Return how many of each stick pay so many points, to the hundred, with as few sticks as possible."""
    left, found = abs(points), dict[int, int]()
    for worth in WORTH:
        count, left = divmod(left, worth)
        if count:
            found[worth] = count
    return found


def stick_rows(points: int, across: int) -> int:
    """Return the number of rows that the sticks take, with so many in a row."""
    return -(-len(sticks(points)) // across)


def draw_sticks(surface: pygame.Surface, pen: TextPen, points: int, box: pygame.Rect, across: int) -> None:
    """Draw each kind of stick with its number and worth, so many in a row."""
    paid = sticks(points)
    columns, lines = min(across, len(paid)), max(1, stick_rows(points, across))
    width, height = box.width // across, box.height // lines
    share = pen.share([f"{count}×{worth}" for worth, count in paid.items()], SHARE, width - round(width * LONG) - 4)
    for at, (worth, count) in enumerate(paid.items()):
        left = box.left + (box.width - columns * width) // 2 + at % across * width
        cell = pygame.Rect(left, box.top + at // across * height, width, height)
        _stick(surface, worth, cell)
        room = cell.width - round(cell.width * LONG) - 4
        place = (cell.right - room, cell.top)
        pen.write(surface, f"{count}×{worth}", place, share, TEXT, room)


def _stick(surface: pygame.Surface, worth: int, cell: pygame.Rect) -> None:
    number, colour = DOTS[worth]
    stick = pygame.Rect(cell.left, 0, round(cell.width * LONG), max(6, round(cell.height * 0.42)))
    stick.centery = cell.centery
    pygame.draw.rect(surface, STICK, stick, border_radius=stick.height // 2)
    radius = max(1, stick.height // 5)
    for dot in range(number):
        x = stick.centerx + round((dot - (number - 1) / 2) * 2.6 * radius)
        pygame.draw.circle(surface, colour, (x, stick.centery), radius)
