"""Writes lines of text: made smaller where they are too long, cut only where nobody could read them any more."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

import pygame

from kiosk.screens import style

Align = Literal["left", "centre", "right"]

SMALLER: Final = 0.94

MUCH_SMALLER: Final = 0.72

BREAKS: Final = " -，；：、。"
"""After which a text may go on in the next line."""

CUT: Final = "…"

MOST_KNOWN: Final = 4_096
"""Texts whose size is remembered; a day at a table has some hundreds."""


class Said(NamedTuple):
    """One line: its height as a share of the screen's."""

    text: str
    share: float
    colour: style.Colour


class Pen:
    """Writes on screens of one language and size."""

    def __init__(self, language: str, size: tuple[int, int], larger: float = 1.0) -> None:
        """Take how much larger than usual letters are to be, where they have room.

        Raise BadConfiguration where the language has no font here.
        """
        self._type = style.Type(language, size[1])
        self._larger = larger
        self._smallest = style.SMALLEST / larger
        self._known: dict[tuple[str, float, int], tuple[str, pygame.font.Font]] = {}

    def height(self, text: str, share: float, width: int) -> int:
        """Give how high a line will be."""
        fitted, font = self._fitting(text, share, width)
        return font.size(fitted)[1]

    def high(self, lines: Sequence[Said], width: int, leading: int = 0) -> int:
        """Give how high lines will be together."""
        return sum(self.height(line.text, line.share, width) for line in lines) + (len(lines) - 1) * leading

    def share(self, texts: Iterable[str], share: float, width: int) -> float:
        """Give a size, up to a share, in which each of these texts is no wider: what stands side by side is alike."""
        return next(
            size
            for size in self._sizes(share)
            if size == self._smallest or all(self._font(text, size).size(text)[0] <= width for text in texts)
        )

    def fit(self, lines: list[Said], width: int, room: int, leading: int = 0) -> list[Said]:
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
        colour: style.Colour,
        width: int,
        align: Align = "left",
    ) -> pygame.Rect:
        """Write one line from its upper left corner, middle or upper right corner, and give where it stands."""
        text, font = self._fitting(text, share, width)
        picture = font.render(text, True, colour)  # noqa: FBT003 - pygame's own argument: antialias
        left = {"left": 0, "centre": picture.get_width() // 2, "right": picture.get_width()}[align]
        return surface.blit(picture, (at[0] - left, at[1]))

    def in_two(self, text: str, share: float, width: int) -> tuple[str, ...]:
        """Break a text at a blank, hyphen or mark into halves as alike as can be, if it does not fit into one line."""
        text = _printable(text)
        font = self._font(text, share)
        cuts = (at for at, letter in enumerate(text[:-1], 1) if letter in BREAKS)
        halves = [(text[:at].strip(), text[at:].strip()) for at in cuts]
        if font.size(text)[0] <= width or not halves:
            return (text,)
        return min(halves, key=lambda two: max(font.size(half)[0] for half in two))

    def broken(self, line: Said, width: int) -> Iterator[Said]:
        """Break a line that would have to be made much smaller than it is to be."""
        parts = self.in_two(line.text, line.share * MUCH_SMALLER, width)
        if len(parts) == 1:
            yield line
        else:
            for part in parts:
                yield from self.broken(line._replace(text=part), width)

    def _fitting(self, text: str, share: float, width: int) -> tuple[str, pygame.font.Font]:
        """Give a text and the largest font up to that share in which it is no wider."""
        known = text, share, width
        if known not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[known] = self._fit_anew(_printable(text), share, width)
        return self._known[known]

    def _fit_anew(self, text: str, share: float, width: int) -> tuple[str, pygame.font.Font]:
        for size in self._sizes(share):
            font = self._font(text, size)
            if font.size(text)[0] <= width:
                return text, font
        return _cut(text, font, width), font

    def _font(self, text: str, share: float) -> pygame.font.Font:
        return self._type.font(text, share * self._larger)

    def _sizes(self, share: float) -> Iterator[float]:
        while share > self._smallest:
            yield share
            share *= SMALLER
        yield self._smallest


def _printable(text: str) -> str:
    """Make a blank of what no font can draw: a name may hold anything."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _cut(text: str, font: pygame.font.Font, width: int) -> str:
    while text and font.size(text + CUT)[0] > width:
        text = text[:-1]
    return text.rstrip() + CUT
