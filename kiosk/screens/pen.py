"""Writes lines of text: made smaller where they are too long, cut only where nobody could read them any more."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import pygame

from kiosk.screens import style

Align = Literal["left", "centre", "right"]

SMALLER: Final = 0.94

MUCH_SMALLER: Final = 0.72

BREAKS: Final = " -，；：、。"
"""After which a text may go on in the next line."""

NOT_FIRST: Final = ":;?!»，；：、。！？"
"""What never begins a line, though French has a blank before some of it."""

CUT: Final = "…"

MOST_KNOWN: Final = 4_096
"""Texts whose font and size are remembered; a day at a table has some hundreds."""


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
        self._font = lru_cache(MOST_KNOWN)(self._choose)
        self._wide = lru_cache(MOST_KNOWN)(self._measure)
        self._fitting = lru_cache(MOST_KNOWN)(self._fit)

    def height(self, text: str, share: float, width: int) -> int:
        """Give how high a line will be."""
        fitted, font = self._fitting(text, share, width)
        return font.size(fitted)[1]

    def high(self, lines: Sequence[Said], width: int, leading: int = 0) -> int:
        """Give how high lines will be together."""
        return sum(self.height(line.text, line.share, width) for line in lines) + (len(lines) - 1) * leading

    def wide(self, text: str, share: float) -> int:
        """Give how wide a text is at a size."""
        return self._wide(text, share)

    def share(self, texts: Iterable[str], share: float, width: int) -> float:
        """Give a size, up to a share, in which each of these texts is no wider: what stands side by side is alike."""
        return next(
            size
            for size in self._sizes(share)
            if size == self._smallest or all(self._wide(text, size) <= width for text in texts)
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
        cuts = (
            at for at, letter in enumerate(text[:-1], 1) if letter in BREAKS and text[at:].lstrip()[:1] not in NOT_FIRST
        )
        halves = [(text[:at].strip(), text[at:].strip()) for at in cuts]
        if self._wide(text, share) <= width or not halves:
            return (text,)
        font = self._font(text, share)
        return min(halves, key=lambda two: max(font.size(half)[0] for half in two))

    def broken(self, line: Said, width: int) -> Iterator[Said]:
        """Break a line that would have to be made much smaller than it is to be."""
        parts = self.in_two(line.text, line.share * MUCH_SMALLER, width)
        if len(parts) == 1:
            yield line
        else:
            for part in parts:
                yield from self.broken(line._replace(text=part), width)

    def _fit(self, text: str, share: float, width: int) -> tuple[str, pygame.font.Font]:
        """Give a text and the largest font up to that share in which it is no wider."""
        text = _printable(text)
        for size in self._sizes(share):
            if self._wide(text, size) <= width:
                return text, self._font(text, size)
        font = self._font(text, self._smallest)
        return _cut(text, font, width), font

    def _choose(self, text: str, share: float) -> pygame.font.Font:
        return self._type.font(text, share * self._larger)

    def _measure(self, text: str, share: float) -> int:
        return self._font(text, share).size(text)[0]

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
