"""The elements of all screens: sentences in the table's language, colours and type, lines of text, buttons.

Screens are dark, quiet, and legible from where their readers are. Text that is too long is made smaller, and cut only
when it would be illegible.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Literal, NamedTuple

import pygame

from broker.i18n import ISOLATE, ISOLATE_END, N_, SEAT_LETTERS, SEAT_NAMES, Translator
from broker.protocol import Seat
from kiosk.camera.observations import CameraView
from kiosk.screens.fonts import HAN_LANGUAGES, MOST_KNOWN, Fonts
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
"""The edge of what may be touched: contrast 3:1 with its ground, as WCAG requires for anything that is not text."""

DIMMED: Final[Colour] = (160, 150, 135)
"""What is left of each colour, as a share of 255, on a dimmed screen or in quiet light: little blue, still legible."""

STICK: Final[Colour] = (240, 236, 220)
STICK_RED: Final[Colour] = (200, 52, 44)
STICK_DARK: Final[Colour] = (40, 40, 44)
HEADLINE: Final = 0.15
"""What is happening, or what everybody does now: read from across the room."""

TITLE: Final = 0.11
"""A question, a result, points: read by the four players and the people behind them."""

LARGE: Final = 0.085
"""A seat, and what was said there: read from across the table."""

BODY: Final = 0.062
"""Instructions and names: read from the nearest chairs."""

SMALL: Final = 0.05
"""The state of devices: read by whoever comes to the screen.

Line heights by reader and distance, as shares of the screen's shorter side. For the angles in arc minutes on each
display, see docs/screens.md.
"""

SMALLEST: Final = 0.031
"""Share of the unit below which nobody can read a line; text that is longer is cut."""

Align = Literal["left", "centre", "right"]
Hand = Literal["right", "left"]
"""The side of the buttons."""


class Appearance(NamedTuple):
    """How a table's screen may differ from the usual one."""

    hand: Hand = "right"
    larger: float = 1.0
    """Factor by which letters are larger than usual where there is room."""
    quiet: bool = False
    """Quiet light for a dark hall: dimmed, with nothing white."""
    near: Seat = "east"
    """The seat at the screen's lower edge."""
    turned: bool = False
    """Whether each seat's text is turned to its player, for a display that lies flat."""


USUAL: Final = Appearance()
SHRINK_STEP: Final = 0.94
MUCH_SMALLER: Final = 0.72
BREAKS: Final = " -，；：、。"
"""Characters after which a line may break."""

NOT_FIRST: Final = ":;?!»，；：、。！？"
"""Characters that never begin a line, although French puts a space before some of them."""

ELLIPSIS: Final = "…"


class TextLine(NamedTuple):
    """One line of text; its height is a share of the screen's."""

    text: str
    share: float
    colour: Colour = TEXT
    wrap_below: float = MUCH_SMALLER
    """A line that would have to be smaller than this share of its size is broken into several."""


class FittedText(NamedTuple):
    """A text that fits into a width, its size as a share, and its width and height in pixels."""

    text: str
    share: float
    size: tuple[int, int]


class TextPen:
    """Writes text on screens of one language and size."""

    def __init__(self, language: str, size: tuple[int, int], look: Appearance = USUAL) -> None:
        """Load the fonts. Raises BadConfiguration if there is none for the language."""
        self.look, self.language = look, language
        self.unit = min(size)
        """The screen's shorter side in pixels; sizes are shares of it."""
        self._type = Fonts(language, self.unit)
        self._smallest = SMALLEST / look.larger
        self._size = lru_cache(MOST_KNOWN)(self._measure)
        self.halve = lru_cache(MOST_KNOWN)(self._halve)
        self._fitting = lru_cache(MOST_KNOWN)(self._fit)

    def height(self, text: str, share: float, width: int) -> int:
        """Return the height of a line."""
        return self._fitting(text, share, width).size[1]

    def lines_height(self, lines: Sequence[TextLine], width: int, leading: int = 0) -> int:
        """Return the total height of lines."""
        return sum(self.height(line.text, line.share, width) for line in lines) + (len(lines) - 1) * leading

    def text_width(self, text: str, share: float) -> int:
        """Return the width of a text at a size."""
        return self._size(text, share)[0]

    def share(self, texts: Iterable[str], share: float, width: int) -> float:
        """Return the largest size, up to a share, at which all these texts fit the width, so that neighbours match."""
        known = [*texts]
        return self.largest(share, lambda size: all(self.text_width(text, size) <= width for text in known))

    def largest(self, share: float, fits: Callable[[float], bool]) -> float:
        """Return the largest size, up to a share, at which all fits, or else the smallest."""
        return next(size for size in self._sizes(share) if size == self._smallest or fits(size))

    def fit(self, lines: list[TextLine], width: int, room: int, leading: int = 0) -> list[TextLine]:
        """Make lines smaller until they fit in height; at the smallest size any number of them is accepted."""
        while self.lines_height(lines, width, leading) > room and any(line.share > self._smallest for line in lines):
            lines = [line._replace(share=max(line.share * SHRINK_STEP, self._smallest)) for line in lines]
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
        """Write one line from its upper left corner, middle or upper right corner; return its rectangle."""
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
        """Break a text at a space, hyphen or mark into halves as equal as possible, unless it fits into one line."""
        text = self._type.drawable(text)
        cuts = (
            at for at, letter in enumerate(text[:-1], 1) if letter in BREAKS and text[at:].lstrip()[:1] not in NOT_FIRST
        )
        halves = [_halves(text, at) for at in cuts]
        if self.text_width(text, share) <= width or not halves:
            return (text,)
        return min(halves, key=lambda two: max(self.text_width(half, share) for half in two))

    def halved(self, lines: Iterable[TextLine], width: int) -> list[TextLine]:
        """Return lines, each in two where it would be cut otherwise."""
        return [line._replace(text=part) for line in lines for part in self.halve(line.text, self._smallest, width)]

    def name_lines(self, name: str, share: float, width: int) -> tuple[str, ...]:
        """Return a name in one line or two, broken within a word where it would be cut otherwise."""
        parts = self.halve(name, share, width)
        if all(self.text_width(part, self._smallest) <= width for part in parts):
            return parts
        text = self._type.drawable(name)
        cuts = (_halves(text, at) for at in range(1, len(text)))
        return min(cuts, key=lambda two: max(self.text_width(part, self._smallest) for part in two), default=parts)

    def wrapped(self, line: TextLine, width: int) -> Iterator[TextLine]:
        """Break a line that would have to be much smaller than intended."""
        parts = self.halve(line.text, line.share * line.wrap_below, width)
        if len(parts) == 1:
            yield line
        else:
            for part in parts:
                yield from self.wrapped(line._replace(text=part), width)

    def _fit(self, text: str, share: float, width: int) -> FittedText:
        """Return a text at the largest size, up to that share, at which it fits. Cut it if none does."""
        text = self._type.drawable(text)
        for size in self._sizes(share):
            if self.text_width(text, size) <= width:
                return FittedText(text, size, self._size(text, size))
        while text and self.text_width(text + ELLIPSIS, self._smallest) > width:
            text = text[:-1]
        text = text.rstrip() + ELLIPSIS
        return FittedText(text, self._smallest, self._size(text, self._smallest))

    def _measure(self, text: str, share: float) -> tuple[int, int]:
        return self._type.size(text, share * self.look.larger)

    def _sizes(self, share: float) -> Iterator[float]:
        while share > self._smallest:
            yield share
            share *= SHRINK_STEP
        yield self._smallest


def _halves(text: str, at: int) -> tuple[str, str]:
    """Cut a text in two. If that splits a name, both parts keep its direction."""
    first, second = text[:at].strip(), text[at:].strip()
    if first.count(ISOLATE) > first.count(ISOLATE_END):
        return first + ISOLATE_END, ISOLATE + second
    return first, second


Tone = Literal["plain", "strong"]
"""`strong` marks the most likely choice."""


class KeyButton(NamedTuple):
    """A button for a key: the key and its label."""

    key: str
    label: str
    tone: Tone = "plain"
    seat: Seat | None = None
    """The seat that the button names, whose shape is drawn on it."""


ButtonRows = tuple[tuple[KeyButton, ...], ...]
"""Buttons of a panel, row by row from the top; those in one row have the same width."""

Paint = Callable[[pygame.Surface, pygame.Rect, TextPen], None]
"""Draws within the given room, and nowhere else."""


@dataclass(frozen=True, slots=True)
class ScreenBody:
    """The middle of the screen."""

    lines: tuple[TextLine, ...]
    """Lines from the top, made smaller together until they fit."""
    actions: tuple[KeyButton, ...] = ()
    """A row of buttons under the lines."""
    panel: ButtonRows = ()
    """Buttons beside the lines, as high as lines and seats: keypads and lists to choose from."""
    paint: Paint | None = None
    """Draws under the lines, in the room they leave."""
    qr_code: str = ""
    """Content of a QR code beside the lines, shown if there is room for one that can be read."""
    seats: bool = True
    """Whether the four seats are drawn; otherwise the middle has their room."""


def time_lines(_: Translator, view: ScreenView) -> tuple[TextLine, ...]:
    """Return the time left in the play, if it is limited, and any extra time from the arbiter."""
    parts = [] if view.time.left_min is None else [_time_left(_, view.time.left_min)]
    if view.time.extra_min:
        parts.append(
            _(
                N_("{minutes} min of them extra") if parts else N_("Extra time: {minutes} min"),
                minutes=view.time.extra_min,
            )
        )
    over = view.time.left_min is not None and view.time.left_min <= 0
    return (TextLine(" · ".join(parts), BODY, ATTENTION if over else TEXT),) if parts else ()


def _time_left(_: Translator, minutes: int) -> str:
    if minutes > 0:
        return _("Time left: {minutes} min", minutes=minutes)
    return _("Over time: +{minutes} min", minutes=-minutes) if minutes else _("Time is up")


def problem_lines(_: Translator, view: ScreenView) -> tuple[TextLine, ...]:
    """Return the last refusal at the keyboard, if there is one."""
    return (TextLine(refusal(_, view.problem), BODY, ATTENTION),) if view.problem else ()


DIGIT_ROWS: Final = tuple(tuple(KeyButton(digit, digit) for digit in row) for row in ("123", "456", "789"))


def seat_name(_: Translator, seat: str) -> str:
    """Return the name of a seat, or of the wind of that name."""
    return _(SEAT_NAMES[seat])


def wind_name(_: Translator, wind: Seat) -> str:
    """Return that somebody plays a wind."""
    return _("plays {wind}", wind=seat_name(_, wind))


def wind_and_player(_: Translator, view: ScreenView, seat: Seat) -> str:
    """Return a seat's wind and player, or "". The wind is first, as the end of a long name may be cut."""
    if view.play is None or not (name := view.players.get(seat)):
        return ""
    return _("{wind} · {player}", wind=wind_name(_, view.play.winds[seat]), player=name)


def player_line(_: Translator, view: ScreenView, seat: Seat) -> TextLine:
    """Return the line for the player at a seat in question: players call each other by seat wind."""
    return TextLine(wind_and_player(_, view, seat), BODY, QUIET)


def seat_button(_: Translator, view: ScreenView, seat: Seat, tone: Tone = "plain", action: str = "") -> KeyButton:
    """Return the button for a seat, with what it does, and below that its player."""
    head = " · ".join(part for part in (seat_name(_, seat), action) if part)
    who = wind_and_player(_, view, seat)
    return KeyButton(seat[0], f"{head}\n{who}" if who else head, tone, seat)


NO_BUTTON: Final = KeyButton("", "")
"""An empty space in place of a button that would do nothing now."""


def keypad(_: Translator, typed: str, *last: KeyButton, back: str = N_("Back")) -> ButtonRows:
    """Return a numeric keypad. Beside the zero are keys to clear it, and to delete a digit or go back.

    `back` is empty if there is nothing to go back to.
    """
    name = _(N_("Delete")) if typed else back and _(back)
    delete = KeyButton("back", name) if name else NO_BUTTON
    return (*DIGIT_ROWS, (KeyButton("clear", _("Clear")), KeyButton("0", "0"), delete), last)


def paint_picture(view: CameraView) -> Paint:
    """Return a painter for the camera's picture, as large as there is room."""

    def paint(surface: pygame.Surface, room: pygame.Rect, pen: TextPen) -> None:
        height, width = view.picture.shape[:2]
        seen = pygame.image.frombuffer(view.picture.tobytes(), (width, height), "BGR")
        scale = min(room.width / width, room.height / height)
        seen = pygame.transform.smoothscale(seen, (round(width * scale), round(height * scale)))
        if pen.look.quiet:
            seen.fill(EDGE, special_flags=pygame.BLEND_MULT)
        surface.blit(seen, seen.get_rect(center=room.center))

    return paint


WHITENING = 0.2
"""Shapes are brighter than on tiles, so that their letter has the contrast of all other text (7:1)."""

TRIANGLE_DROP = 0.16
"""The letter in a triangle is lower by this share of the box, where the triangle is wide."""


@cache
def seat_mark(language: str, seat: Seat) -> str:
    """Return the mark on a seat's shape: the letter on tiles, or its character for readers of Chinese."""
    return Translator(language)(SEAT_LETTERS[seat]) if language[:2] in HAN_LANGUAGES else seat[0].upper()


def draw_shape(surface: pygame.Surface, box: pygame.Rect, seat: Seat, pen: TextPen) -> None:
    """Draw a seat's shape in a square box."""
    letter, written = seat[0].upper(), seat_mark(pen.language, seat)
    colour, corners = SEAT_SHAPES[letter]
    blue, green, red = (round(part + WHITENING * (255 - part)) for part in colour)
    reach = 0.42 * box.height
    points = [(box.centerx + reach * x, box.centery + reach * y) for x, y in corners]
    pygame.draw.polygon(surface, (red, green, blue), points)
    share = 0.42 * box.height / pen.unit
    middle = box.centery + (round(TRIANGLE_DROP * box.height) if letter == "S" else 0)
    at = (box.centerx, middle - pen.height(written, share, box.width) // 2)
    pen.write(surface, written, at, share, GROUND, box.width, align="centre")
