"""What a finger may touch: a rectangle, the key that it is, what is written on it."""

from typing import Final, NamedTuple

import pygame

from kiosk.screens import style
from kiosk.screens.middle import Tone
from kiosk.screens.pen import Pen, Said
from kiosk.screens.words import Words

LARGEST: Final = 0.1
"""Of letters on a button, as a share of the screen's height."""


MARGIN: Final = 0.035
"""Left free beside a label at most, on both sides together, as a share of the screen's height."""


class Target(NamedTuple):
    """One button on the screen. Touching it is the same as pressing its key."""

    key: str
    label: str
    box: pygame.Rect
    tone: Tone = "plain"


class Buttons:
    """Draws targets."""

    def __init__(self, words: Words, pen: Pen, height: int) -> None:
        self._words, self._pen, self._height = words, pen, height

    def draw(self, surface: pygame.Surface, target: Target, *, pressed: bool) -> None:
        """Draw one: filled where it is strong, and the other way round while a finger is on it."""
        filled = pressed != (target.tone == "strong")
        ground, ink = (style.TEXT, style.GROUND) if filled else (style.PANEL, style.TEXT)
        radius = target.box.height // 7
        pygame.draw.rect(surface, ground, target.box, border_radius=radius)
        pygame.draw.rect(surface, style.EDGE, target.box, width=max(2, target.box.height // 30), border_radius=radius)
        self._label(surface, target, ink)

    def _label(self, surface: pygame.Surface, target: Target, ink: style.Colour) -> None:
        hint = self._key(target)
        margin = min(target.box.height // 4, round(MARGIN * self._height))
        inside = target.box.inflate(-margin, -target.box.height // 8)
        parts, share = target.label.split("\n"), min(LARGEST, target.box.height / 2 / self._height)
        if len(parts) > 1:
            share = self._pen.share(parts, share, inside.width)
        label = [Said(line, share, ink) for line in parts]
        lines = [*label, *([Said(hint, style.SMALLEST, ink)] if hint else [])]
        fitted = self._pen.fit(lines, inside.width, inside.height)
        y = inside.top + (inside.height - self._pen.high(fitted, inside.width)) // 2
        for line in fitted:
            at = (inside.centerx, y)
            y = self._pen.write(surface, line.text, at, line.share, line.colour, inside.width, align="centre").bottom

    def _key(self, target: Target) -> str:
        """Name the key of the keyboard that does the same, where it is not the label itself."""
        named = f"key_{target.key}"
        name = self._words(named) if named in self._words else target.key.upper()
        return "" if name == target.label else name
