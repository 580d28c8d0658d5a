"""What all screens are made of: sentences in the table's language, colours and type, lines of text, buttons.

Dark, quiet, legible from where its readers are. Text that is too long is made smaller; cut only where nobody could
read it any more.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Literal, NamedTuple

import pygame

from broker.i18n import ISOLATE, ISOLATE_END, N_, SEAT_LETTERS, SEAT_NAMES, Translator
from broker.protocol import Seat
from kiosk.camera.observations import CameraView
from kiosk.screens.fonts import HAN, MOST_KNOWN, Fonts
from kiosk.screens.texts import refusal
from kiosk.screens.views import ScreenView
from vision.palette import SEAT_SHAPES

Colour = tuple[int, int, int]

GROUND: Final[Colour] = (16, 24, 22)
PANEL: Final[Colour] = (30, 43, 40)
TEXT: Final[Colour] = (240, 243, 238)
QUIET: Final[Colour] = (170, 186, 178)
GOOD: Final[Colour] = (112, 232, 152)
ATTENTION: Final[Colour] = (250, 190, 88)
DANGER: Final[Colour] = (255, 112, 100)
LINE: Final[Colour] = (66, 86, 79)
EDGE: Final[Colour] = (132, 152, 143)
"""Around what may be touched: 3:1 on its ground, as WCAG asks of what is no text."""

LOWERED: Final[Colour] = (160, 150, 135)
"""Share of 255 that is left of each colour on a screen that is dimmed, or in quiet light: with little blue, and still
legible from a chair.
"""

STICK: Final[Colour] = (240, 236, 220)
STICK_RED: Final[Colour] = (200, 52, 44)
STICK_DARK: Final[Colour] = (40, 40, 44)
HEADLINE: Final = 0.15
"""What happens, or what everybody does now: across the room, by whoever passes."""

TITLE: Final = 0.11
"""A question, a result, points: by the four players and whoever stands behind them."""

LARGE: Final = 0.085
"""Whose seat it is, and what was said there: across the table."""

BODY: Final = 0.062
"""How to do it; names: from the nearest chairs."""

SMALL: Final = 0.05
"""How devices are: by who comes to the screen.

How high lines are, by who is to read them from where, as shares of the screen's shorter side. What these are in arc
minutes on which display is in docs/screens.md.
"""

SMALLEST: Final = 0.031
"""Share of the unit below which nobody reads a line; what is longer is cut."""

Align = Literal["left", "centre", "right"]
Hand = Literal["right", "left"]
"""At which side the buttons are."""


class Appearance(NamedTuple):
    """What each table may have otherwise."""

    hand: Hand = "right"
    larger: float = 1.0
    """How much larger than usual letters are, where they have room."""
    quiet: bool = False
    """Quiet light, for a dark hall: lowered, and nothing white."""
    near: Seat = "east"
    """Who sits at the screen's lower edge."""
    turned: bool = False
    """Each seat's text stands upright for who sits there: the display lies flat."""


USUAL: Final = Appearance()
SMALLER: Final = 0.94
MUCH_SMALLER: Final = 0.72
BREAKS: Final = " -，；：、。"
"""After which a text may go on in the next line."""

NOT_FIRST: Final = ":;?!»，；：、。！？"
"""What never begins a line, though French has a blank before some of it."""

CUT: Final = "…"


class TextLine(NamedTuple):
    """One line: its height as a share of the screen's."""

    text: str
    share: float
    colour: Colour = TEXT
    broken_at: float = MUCH_SMALLER
    """Where it had to be smaller than this share of its size, it stands in several lines."""


class FittedText(NamedTuple):
    """A text that fits into a width, the size that it does so in, and how wide and high it is in pixels."""

    text: str
    share: float
    size: tuple[int, int]


class TextPen:
    """Writes on screens of one language and size."""

    def __init__(self, language: str, size: tuple[int, int], look: Appearance = USUAL) -> None:
        """Raise BadConfiguration where the language has no font here."""
        self.look, self.language = look, language
        self.unit = min(size)
        """Of what sizes are shares, in pixels: the screen's shorter side."""
        self._type = Fonts(language, self.unit)
        self._smallest = SMALLEST / look.larger
        self._size = lru_cache(MOST_KNOWN)(self._measure)
        self.in_two = lru_cache(MOST_KNOWN)(self._halve)
        self._fitting = lru_cache(MOST_KNOWN)(self._fit)

    def height(self, text: str, share: float, width: int) -> int:
        """Return how high a line will be."""
        return self._fitting(text, share, width).size[1]

    def high(self, lines: Sequence[TextLine], width: int, leading: int = 0) -> int:
        """Return how high lines will be together."""
        return sum(self.height(line.text, line.share, width) for line in lines) + (len(lines) - 1) * leading

    def wide(self, text: str, share: float) -> int:
        """Return how wide a text is at a size."""
        return self._size(text, share)[0]

    def share(self, texts: Iterable[str], share: float, width: int) -> float:
        """Return a size, up to a share, in which each of these texts is no wider: what stands side by side is alike."""
        known = [*texts]
        return self.largest(share, lambda size: all(self.wide(text, size) <= width for text in known))

    def largest(self, share: float, fits: Callable[[float], bool]) -> float:
        """Return the largest size, up to a share, in which all fits; the smallest where it does in none."""
        return next(size for size in self._sizes(share) if size == self._smallest or fits(size))

    def fit(self, lines: list[TextLine], width: int, room: int, leading: int = 0) -> list[TextLine]:
        """Make lines smaller until they fit in height; the smallest size is small enough for as many as there are."""
        while self.high(lines, width, leading) > room and any(line.share > self._smallest for line in lines):
            lines = [line._replace(share=max(line.share * SMALLER, self._smallest)) for line in lines]
        return lines

    def write(
        self,
        surface: pygame.Surface,
        text: str,
        at: tuple[int, int],
        share: float,
        colour: Colour,
        width: int,
        align: Align = "left",
    ) -> pygame.Rect:
        """Write one line from its upper left corner, middle or upper right corner, and give where it stands."""
        text, share, _ = self._fitting(text, share, width)
        picture = self._type.render(text, share * self.look.larger, colour)
        left = {"left": 0, "centre": picture.get_width() // 2, "right": picture.get_width()}[align]
        return surface.blit(picture, (at[0] - left, at[1]))

    def write_lines(
        self,
        surface: pygame.Surface,
        lines: Iterable[TextLine],
        at: tuple[int, int],
        width: int,
        align: Align = "centre",
        leading: int = 0,
    ) -> int:
        """Write lines one below the other, each aligned at the same x; return where the next one would begin."""
        x, y = at
        for line in lines:
            y = self.write(surface, line.text, (x, y), line.share, line.colour, width, align).bottom + leading
        return y

    def _halve(self, text: str, share: float, width: int) -> tuple[str, ...]:
        """Break a text at a blank, hyphen or mark into halves as alike as can be, if it does not fit into one line."""
        text = self._type.written(text)
        cuts = (
            at for at, letter in enumerate(text[:-1], 1) if letter in BREAKS and text[at:].lstrip()[:1] not in NOT_FIRST
        )
        halves = [_halves(text, at) for at in cuts]
        if self.wide(text, share) <= width or not halves:
            return (text,)
        return min(halves, key=lambda two: max(self.wide(half, share) for half in two))

    def uncut(self, lines: Iterable[TextLine], width: int) -> list[TextLine]:
        """Return lines, each of them in two where it would be cut otherwise."""
        return [line._replace(text=part) for line in lines for part in self.in_two(line.text, self._smallest, width)]

    def name_lines(self, name: str, share: float, width: int) -> tuple[str, ...]:
        """Return a name in one line or two: broken within a word where one would be cut otherwise."""
        parts = self.in_two(name, share, width)
        if all(self.wide(part, self._smallest) <= width for part in parts):
            return parts
        text = self._type.written(name)
        cuts = (_halves(text, at) for at in range(1, len(text)))
        return min(cuts, key=lambda two: max(self.wide(part, self._smallest) for part in two), default=parts)

    def broken(self, line: TextLine, width: int) -> Iterator[TextLine]:
        """Break a line that would have to be made much smaller than it is to be."""
        parts = self.in_two(line.text, line.share * line.broken_at, width)
        if len(parts) == 1:
            yield line
        else:
            for part in parts:
                yield from self.broken(line._replace(text=part), width)

    def _fit(self, text: str, share: float, width: int) -> FittedText:
        """Return a text and the largest font up to that share in which it is no wider."""
        text = self._type.written(text)
        for size in self._sizes(share):
            if self.wide(text, size) <= width:
                return FittedText(text, size, self._size(text, size))
        while text and self.wide(text + CUT, self._smallest) > width:
            text = text[:-1]
        text = text.rstrip() + CUT
        return FittedText(text, self._smallest, self._size(text, self._smallest))

    def _measure(self, text: str, share: float) -> tuple[int, int]:
        return self._type.size(text, share * self.look.larger)

    def _sizes(self, share: float) -> Iterator[float]:
        while share > self._smallest:
            yield share
            share *= SMALLER
        yield self._smallest


def _halves(text: str, at: int) -> tuple[str, str]:
    """Cut a text in two; a name that is cut has its own direction in both lines."""
    first, second = text[:at].strip(), text[at:].strip()
    if first.count(ISOLATE) > first.count(ISOLATE_END):
        return first + ISOLATE_END, ISOLATE + second
    return first, second


Tone = Literal["plain", "strong"]
"""Strong: what one most likely wants here."""


class KeyButton(NamedTuple):
    """What a key does, as it stands on a button: the key that it is, what is written on it."""

    key: str
    label: str
    tone: Tone = "plain"
    seat: Seat | None = None
    """The seat that it names, whose shape is drawn on it."""


ButtonRows = tuple[tuple[KeyButton, ...], ...]
"""Buttons of a panel, from above; those of one row are equally wide."""

Paint = Callable[[pygame.Surface, pygame.Rect, TextPen], None]
"""Draws into the room that it is given, and nowhere else."""


@dataclass(frozen=True, slots=True)
class ScreenBody:
    """The middle of the screen."""

    lines: tuple[TextLine, ...]
    """From above; made smaller together until they fit."""
    actions: tuple[KeyButton, ...] = ()
    """A row of buttons under the lines."""
    panel: ButtonRows = ()
    """A panel of buttons beside the lines, as high as lines and seats: keypads and lists to choose from."""
    paint: Paint | None = None
    """Draws under the lines, in the room that they leave."""
    square: str = ""
    """Stands as a QR code beside the lines, where there is room for one that can be read."""
    seats: bool = True
    """The four seats are drawn; else the middle has their room."""


def time_lines(_: Translator, view: ScreenView) -> tuple[TextLine, ...]:
    """Return the time that the play has left, where it is limited, and the extra time that the arbiter has given."""
    said = [] if view.time.left_min is None else [_time_left(_, view.time.left_min)]
    if view.time.extra_min:
        said.append(
            _(
                N_("{minutes} min of them extra") if said else N_("Extra time: {minutes} min"),
                minutes=view.time.extra_min,
            )
        )
    over = view.time.left_min is not None and view.time.left_min <= 0
    return (TextLine(" · ".join(said), BODY, ATTENTION if over else TEXT),) if said else ()


def _time_left(_: Translator, minutes: int) -> str:
    if minutes > 0:
        return _("Time left: {minutes} min", minutes=minutes)
    return _("Over time: +{minutes} min", minutes=-minutes) if minutes else _("Time is up")


def problem_lines(_: Translator, view: ScreenView) -> tuple[TextLine, ...]:
    """Return what was refused at the keyboard, if anything was."""
    return (TextLine(refusal(_, view.problem), BODY, ATTENTION),) if view.problem else ()


DIGIT_ROWS: Final = tuple(tuple(KeyButton(digit, digit) for digit in row) for row in ("123", "456", "789"))


def seat_name(_: Translator, seat: str) -> str:
    """Return what a seat is called, or the wind of that name."""
    return _(SEAT_NAMES[seat])


def wind_name(_: Translator, wind: Seat) -> str:
    """Say which wind somebody plays."""
    return _("plays {wind}", wind=seat_name(_, wind))


def who_sits(_: Translator, view: ScreenView, seat: Seat) -> str:
    """Return a seat's wind and player, the wind first: it stays where a name is cut off. Nobody: an empty text."""
    if view.play is None or not (name := view.players.get(seat)):
        return ""
    return _("{wind} · {player}", wind=wind_name(_, view.play.winds[seat]), player=name)


def player_line(_: Translator, view: ScreenView, seat: Seat) -> TextLine:
    """Return who sits at a seat that is asked about: players call each other by seat wind."""
    return TextLine(who_sits(_, view, seat), BODY, QUIET)


def seat_button(_: Translator, view: ScreenView, seat: Seat, tone: Tone = "plain", does: str = "") -> KeyButton:
    """Return the button that names a seat, and what it does with it; below who sits there."""
    head = " · ".join(part for part in (seat_name(_, seat), does) if part)
    who = who_sits(_, view, seat)
    return KeyButton(seat[0], f"{head}\n{who}" if who else head, tone, seat)


NOTHING: Final = KeyButton("", "")
"""Keeps the place of a button that would do nothing now."""


def keypad(_: Translator, typed: str, *last: KeyButton, back: str = N_("Back")) -> ButtonRows:
    """Return a numeric keypad: beside the nought what clears, and what deletes a digit or, without one, goes back.

    `back` is empty where there is nothing to go back to.
    """
    name = _(N_("Delete")) if typed else back and _(back)
    backwards = KeyButton("back", name) if name else NOTHING
    return (*DIGIT_ROWS, (KeyButton("clear", _("Clear")), KeyButton("0", "0"), backwards), last)


def paint_picture(view: CameraView) -> Paint:
    """Return what shows the camera's picture as large as there is room."""

    def paint(surface: pygame.Surface, room: pygame.Rect, pen: TextPen) -> None:
        height, width = view.picture.shape[:2]
        seen = pygame.image.frombuffer(view.picture.tobytes(), (width, height), "BGR")
        scale = min(room.width / width, room.height / height)
        seen = pygame.transform.smoothscale(seen, (round(width * scale), round(height * scale)))
        if pen.look.quiet:
            seen.fill(EDGE, special_flags=pygame.BLEND_MULT)
        surface.blit(seen, seen.get_rect(center=room.center))

    return paint


WHITER = 0.2
"""Brighter than on tiles, so that the letter on it has the contrast of all else that is written (7:1)."""

LOWER = 0.16
"""A triangle is wide at its foot: its letter stands lower, by this share of the box."""


@cache
def seat_mark(language: str, seat: Seat) -> str:
    """Return what is written on a seat's shape: the letter that tiles have, or for who reads Chinese its character."""
    return Translator(language)(SEAT_LETTERS[seat]) if language[:2] in HAN else seat[0].upper()


def draw_shape(surface: pygame.Surface, box: pygame.Rect, seat: Seat, pen: TextPen) -> None:
    """Draw it as large as a square box."""
    letter, written = seat[0].upper(), seat_mark(pen.language, seat)
    colour, corners = SEAT_SHAPES[letter]
    blue, green, red = (round(part + WHITER * (255 - part)) for part in colour)
    reach = 0.42 * box.height
    points = [(box.centerx + reach * x, box.centery + reach * y) for x, y in corners]
    pygame.draw.polygon(surface, (red, green, blue), points)
    share = 0.42 * box.height / pen.unit
    middle = box.centery + (round(LOWER * box.height) if letter == "S" else 0)
    at = (box.centerx, middle - pen.height(written, share, box.width) // 2)
    pen.write(surface, written, at, share, GROUND, box.width, align="centre")
