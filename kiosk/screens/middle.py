"""What a screen says in the middle of the table's layout, and what a finger may touch there. Values only.

A screen is a function: from words and what is shown to a Middle, or to None where it is not that screen's turn.
`body.py` lists them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pygame

from kiosk.screens.pen import Pen, Said
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words

Tone = Literal["plain", "strong"]
"""Strong: what one most likely wants here."""


class Action(NamedTuple):
    """What a key does, as it stands on a button: the key that it is, what is written on it."""

    key: str
    label: str
    tone: Tone = "plain"


Rows = tuple[tuple[Action, ...], ...]
"""Buttons of a panel, from above; those of one row are equally wide."""

Paint = Callable[[pygame.Surface, pygame.Rect, Pen], None]
"""Draws into the room that it is given, and nowhere else."""


@dataclass(frozen=True, slots=True)
class Middle:
    """The middle of the screen."""

    lines: tuple[Said, ...]
    """From above; made smaller together until they fit."""
    actions: tuple[Action, ...] = ()
    """A row of buttons under the lines."""
    panel: Rows = ()
    """A panel of buttons beside the lines, as high as lines and seats: keypads and lists to choose from."""
    paint: Paint | None = None
    """Draws under the lines, in the room that they leave."""
    square: str = ""
    """Stands as a QR code beside the lines, where there is room for one that can be read."""
    seats: bool = True
    """The four seats are drawn; else the middle has their room."""


Screen = Callable[[Words, Shown], Middle | None]
