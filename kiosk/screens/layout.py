"""The layout of the table's screen for a size and a hand, and what may be touched."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import pygame

from broker.i18n import Translator
from broker.protocol import SEATS, Seat
from kiosk.screens import drawing, texts

HEAD: Final = 0.022
BODY: Final = 0.105
"""The top of the head and of the middle."""
SEATS_AT: Final = 0.5
SEATS_AT_BESIDE: Final = 0.44
"""The top of the seats beside a panel, where they are in two rows."""
FOOT: Final = 0.128
"""Height of the foot. All are shares of the unit, the screen's shorter side."""

FINGER: Final = 0.105
"""Height of a button: 50 of 480 pixels, 9 mm on the official 7-inch display."""

PANEL: Final = 0.42
"""Width of a panel as a share of the screen's."""

CALL: Final = 0.3
"""Width of the button at the foot as a share of the screen's."""

CLOCK: Final = 0.11
"""Width of the clock at the foot as a share of the screen's."""

HEAD_ROW: Final = 0.08
FOOT_ROW: Final = 0.1
SEAT_ROW: Final = 0.375
SMALL_SEAT_ROW: Final = 0.185
UPRIGHT_PANEL: Final = 0.51
UPRIGHT_ACTIONS: Final = 2
"""On an upright screen: a panel's share of the middle, and the most buttons in a row.

Its head and foot have a second row each, and its seats are in two rows above the panel.
"""

ASIDE: Final = 0.3
"""Share of the width for buttons beside the lines of an upright screen with a panel."""

LEADING: Final = 0.008
"""Space between two lines in the middle."""

LONG: Final = 5 / 3
"""Width by height of a landscape screen, which gives the width of buttons on an upright one."""


def drawn_size(size: tuple[int, int]) -> tuple[int, int]:
    """Return the part of a display that is used: one that is nearly square stays dark below, or at the right.

    Otherwise texts side by side would have so little room that they would be cut.
    """
    width, height = size
    return (min(width, height * 3 // 5), height) if height > width else (width, min(height, width * 2 // 3))


class ScreenLayout:
    """Rectangles for a screen of one size, landscape or upright."""

    def __init__(self, size: tuple[int, int], look: drawing.Appearance = drawing.USUAL) -> None:
        self.width, self.height = size
        self.unit, self.upright = min(size), size[1] > size[0]
        self._left, self._near = look.hand == "left", look.near
        self.margin = self.y(0.03)
        self.gap, self.leading = self.margin // 2, self.y(LEADING)

    @property
    def outer(self) -> drawing.Hand:
        """The side opposite the buttons."""
        return "right" if self._left else "left"

    def y(self, share: float) -> int:
        """Return a share of the unit in pixels."""
        return round(self.unit * share)

    @property
    def heads(self) -> Sequence[tuple[tuple[int, int], drawing.Align]]:
        """Position and alignment of the texts in the head: three in a row, or two with one below."""
        y, left, right = self.y(HEAD), self.margin, self.width - self.margin
        if self.upright:
            return ((left, y), "left"), ((right, y), "right"), ((left, y + self.y(HEAD_ROW)), "left")
        return ((left, y), "left"), ((self.width // 2, y), "centre"), ((right, y), "right")

    @property
    def head_width(self) -> int:
        """The most width for one text of the head."""
        beside = 2 if self.upright else 3
        return (self.width - (beside + 1) * self.margin) // beside

    @property
    def _foot_top(self) -> int:
        return self.height - self.y(FOOT + (FOOT_ROW if self.upright else 0))

    @property
    def _inside(self) -> pygame.Rect:
        """The area between head and foot."""
        top = self.y(BODY + (HEAD_ROW if self.upright else 0))
        return pygame.Rect(self.margin, top, self.width - 2 * self.margin, self._foot_top - top - self.gap)

    @property
    def panel(self) -> pygame.Rect:
        """The panel of buttons."""
        inside = self._inside
        if self.upright:
            high = round(inside.height * UPRIGHT_PANEL)
            return pygame.Rect(inside.left, inside.bottom - high, inside.width, high)
        inside.width = round(self.width * PANEL)
        if not self._left:
            inside.right = self.width - self.margin
        return inside

    def _without_panel(self, *, panel: bool) -> pygame.Rect:
        """Return the area without the panel."""
        inside = self._inside
        if panel and self.upright:
            inside.height -= self.panel.height + self.margin
        elif panel:
            inside.width -= self.panel.width + self.margin
            if self._left:
                inside.left = self.panel.right + self.margin
        return inside

    def middle(self, *, panel: bool, seats: bool) -> pygame.Rect:
        """Return the room for lines and the buttons below them."""
        room = self._without_panel(panel=panel)
        if seats:
            room.height = self._seats_top(panel=panel) - self.gap - room.top
        return room

    def square_side(self, room: pygame.Rect) -> int:
        """Return the side of the largest square beside a room's lines. It may extend into the gaps."""
        return min(room.height + self.gap, room.width * 9 // 20)

    def split_beside(self, room: pygame.Rect, square: int) -> tuple[pygame.Rect, pygame.Rect]:
        """Split a room into lines and a square of a size, which is away from the buttons."""
        place = pygame.Rect(0, 0, square, square)
        place.centery = room.centery
        lines = pygame.Rect(room)
        lines.width -= square + self.margin
        if self._left:
            place.right = room.right
        else:
            place.left, lines.right = room.left, room.right
        return lines, place

    def _seats_top(self, *, panel: bool) -> int:
        if self.upright:
            row = self.y(SMALL_SEAT_ROW if panel else SEAT_ROW)
            return self._without_panel(panel=panel).bottom - 2 * row - self.gap
        return self.y(SEATS_AT_BESIDE if panel else SEATS_AT)

    def seats(self, *, panel: bool) -> dict[Seat, pygame.Rect]:
        """Return four boxes as people sit: the near seat at the bottom, and then each next seat to its right."""
        room = self._without_panel(panel=panel)
        top = self._seats_top(panel=panel)
        room.height, room.top = room.bottom - top, top
        return seats_around(room, self.gap, self._near)

    def with_actions(
        self, room: pygame.Rect, count: int, *, panel: bool
    ) -> tuple[pygame.Rect, tuple[pygame.Rect, ...]]:
        """Split a room into lines and, under them, this many buttons, no wider than needed.

        An upright screen with a panel is not high enough for both, so its buttons are beside the lines.
        """
        lines = pygame.Rect(room)
        if self.upright and panel:
            column = pygame.Rect(0, 0, round(room.width * ASIDE), count * (self.y(FINGER) + self.gap) - self.gap)
            column.midright = room.midright
            lines.width -= column.width + self.margin
            if self._left:
                column.left, lines.right = room.left, room.right
            return lines, (*_down(column, count, self.gap),)
        rows, widest = -(-count // UPRIGHT_ACTIONS) if self.upright else 1, self._long(CALL)
        each, boxes = -(-count // rows), list[pygame.Rect]()
        for row in range(rows):
            here = min(each, count - row * each)
            box = pygame.Rect(0, 0, min(room.width, here * widest + (here - 1) * self.margin), self.y(FINGER))
            box.midbottom = room.centerx, room.bottom - (rows - 1 - row) * (box.height + self.gap)
            boxes += _across(box, here, self.margin)
        lines.height = boxes[0].top - self.leading - lines.top
        return lines, (*boxes,)

    def grid(self, counts: Sequence[int]) -> tuple[tuple[pygame.Rect, ...], ...]:
        """Return the boxes of a panel's buttons, with this many in each row."""
        rows = _down(self.panel, len(counts), self.gap)
        return tuple((*_across(row, count, self.gap),) for row, count in zip(rows, counts, strict=True))

    def _long(self, share: float) -> int:
        """Return a share of the longer side; on an upright screen, of what it would be in landscape."""
        return round((self.unit * LONG if self.upright else self.width) * share)

    @property
    def call(self) -> pygame.Rect:
        """The button at the foot."""
        box = pygame.Rect(self.margin, 0, self._long(CALL), self.y(FINGER))
        box.centery = self.height - self.y(FOOT) // 2
        if not self._left:
            box.right = self.width - self.margin
        return box

    def clock(self, *, call: bool) -> pygame.Rect:
        """Return the room for the clock at the foot, beside the button if there is one."""
        box = pygame.Rect(self.margin, self.height - self.y(FOOT), self._long(CLOCK), self.y(FOOT))
        if call and self._left:
            box.left = self.call.right + self.margin
        elif not self._left:
            box.right = self.call.left - self.margin if call else self.width - self.margin
        return box

    def foot(self, *, call: bool) -> pygame.Rect:
        """Return the room for the lines at the foot: what clock and button leave, or a row above them."""
        if self.upright:
            return pygame.Rect(self.margin, self._foot_top, self.width - 2 * self.margin, self.y(FOOT_ROW))
        clock = self.clock(call=call)
        if self._left:
            clock.width, clock.left = self.width - 2 * self.margin - clock.right, clock.right + self.margin
        else:
            clock.width, clock.left = clock.left - 2 * self.margin, self.margin
        return clock


BAR: Final = 0.25
"""Height of the near and the far box in a nearly square room, as a share of the room's."""

SQUARE: Final = 1.6
LONG_ROOM: Final = 3
WING: Final = 0.25
NARROW_WING: Final = 0.33
"""Width of the left and the right box, as a share of the room's, for a long room and for a less long one."""


def seats_around(room: pygame.Rect, gap: int, near: Seat) -> dict[Seat, pygame.Rect]:
    """Split a room into four as people sit around it."""
    if room.width < SQUARE * room.height:
        bar = round(BAR * room.height)
        far, below = (pygame.Rect(room.left, top, room.width, bar) for top in (room.top, room.bottom - bar))
        left, right = _across(room.inflate(0, -2 * (bar + gap)), 2, gap)
    else:
        wing = round((WING if room.width > LONG_ROOM * room.height else NARROW_WING) * room.width)
        left, right = (pygame.Rect(x, room.top, wing, room.height) for x in (room.left, room.right - wing))
        far, below = _down(room.inflate(-2 * (wing + gap), 0), 2, gap)
    at = SEATS.index(near)
    return dict(zip((*SEATS[at:], *SEATS[:at]), (below, right, far, left), strict=True))


def _across(room: pygame.Rect, count: int, gap: int) -> Iterator[pygame.Rect]:
    width = (room.width - (count - 1) * gap) // count
    for at in range(count):
        yield pygame.Rect(room.left + at * (width + gap), room.top, width, room.height)


def _down(room: pygame.Rect, count: int, gap: int) -> Iterator[pygame.Rect]:
    height = (room.height - (count - 1) * gap) // max(1, count)
    for at in range(count):
        yield pygame.Rect(room.left, room.top + at * (height + gap), room.width, height)


LARGEST_LABEL: Final = 0.1
"""Largest letters on a button, as a share of the screen's height."""

LABEL_MARGIN: Final = 0.035
"""Largest total margin at both sides of a label, as a share of the screen's height."""


class TouchTarget(NamedTuple):
    """One button on the screen. Touching it is the same as pressing its key."""

    key: str
    label: str
    box: pygame.Rect
    tone: drawing.Tone = "plain"
    seat: Seat | None = None


class LabelRoom(NamedTuple):
    """The room of a label, and the name of its key: below it or, if that is one letter, at its right."""

    inside: pygame.Rect
    below: str = ""
    beside: str = ""


class TargetPainter:
    """Draws touch targets."""

    def __init__(self, _: Translator, pen: drawing.TextPen) -> None:
        self._, self._pen = _, pen

    def draw(self, surface: pygame.Surface, targets: Sequence[TouchTarget], pressed: TouchTarget | None = None) -> None:
        """Draw the buttons of a panel or a row, with labels of one size, the largest at which all fit."""
        height = min((target.box.height for target in targets), default=0)
        share = self._pen.largest(
            min(LARGEST_LABEL, height / 2 / self._pen.unit),
            lambda share: all(self._fits(target, share) for target in targets),
        )
        for target in targets:
            self._button(surface, target, share, pressed=target == pressed)

    def _button(self, surface: pygame.Surface, target: TouchTarget, share: float, *, pressed: bool) -> None:
        """Draw a button. A strong one is filled (in quiet light: framed), and a touch inverts either."""
        filled, quiet = pressed != (target.tone == "strong"), self._pen.look.quiet
        ground, ink = (drawing.TEXT, drawing.GROUND) if filled and not quiet else (drawing.PANEL, drawing.TEXT)
        edge, thick = (drawing.TEXT, 3) if filled and quiet else (drawing.EDGE, 1)
        radius, wide = target.box.height // 7, thick * max(2, target.box.height // 30)
        pygame.draw.rect(surface, ground, target.box, border_radius=radius)
        pygame.draw.rect(surface, edge, target.box, width=wide, border_radius=radius)
        inside, _, beside = self._room(target, share)
        if target.seat is not None:
            shape = pygame.Rect(inside.left - inside.height, inside.top, inside.height, inside.height)
            drawing.draw_shape(surface, shape, target.seat, self._pen)
        if beside:
            small = min(share, drawing.SMALLEST)
            wide = self._pen.text_width(beside, small)
            at = (inside.right + wide // 2, inside.centery - self._pen.height(beside, small, wide) // 2)
            self._pen.write(surface, beside, at, small, ink, wide)
        lines = self._lines(target, share, ink)
        y = inside.top + (inside.height - self._pen.lines_height(lines, inside.width)) // 2
        self._pen.write_lines(surface, lines, (inside.centerx, y), inside.width)

    def _room(self, target: TouchTarget, share: float) -> LabelRoom:
        """Return the room for a label of this size; the name of its key is no larger."""
        key = self._key(target)
        margin = min(target.box.height // 4, round(LABEL_MARGIN * self._pen.unit))
        inside = target.box.inflate(-margin, -target.box.height // 8)
        if target.seat is not None:
            inside.left, inside.width = inside.left + inside.height, inside.width - inside.height
        if len(key) > 1:
            return LabelRoom(inside, below=key)
        inside.width -= self._pen.text_width(key, min(share, drawing.SMALLEST)) * 3 // 2
        return LabelRoom(inside, beside=key)

    def _label(self, target: TouchTarget, share: float) -> Sequence[str]:
        if target.seat is None and "\n" not in target.label:
            return self._pen.halve(target.label, share, self._room(target, share).inside.width)
        return target.label.split("\n")

    def _lines(self, target: TouchTarget, share: float, ink: drawing.Colour) -> list[drawing.TextLine]:
        below = self._room(target, share).below
        lines = [drawing.TextLine(text, share, ink) for text in self._label(target, share)]
        return [*lines, drawing.TextLine(below, min(share, drawing.SMALLEST), ink)] if below else lines

    def _fits(self, target: TouchTarget, share: float) -> bool:
        """Return whether a label fits at a size; the player's name below a seat may be smaller."""
        inside, label = self._room(target, share).inside, self._label(target, share)
        alike = label if target.seat is None else label[:1]
        high = self._pen.lines_height(self._lines(target, share, drawing.TEXT), inside.width)
        return high <= inside.height and all(self._pen.text_width(text, share) <= inside.width for text in alike)

    def _key(self, target: TouchTarget) -> str:
        """Return the name of the keyboard's key that does the same, unless the label already is that."""
        name = self._(texts.KEY[target.key]) if target.key in texts.KEY else target.key.upper()
        return "" if name == target.label else name
