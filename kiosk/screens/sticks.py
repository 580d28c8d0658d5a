"""Points as the sticks that they are paid in: 10000, 5000, 1000 and 100."""

from collections.abc import Mapping
from typing import Final

import pygame

from kiosk.screens import style
from kiosk.screens.pen import Pen

WORTH: Final = (10_000, 5_000, 1_000, 100)

LONG: Final = 0.19
"""Length of a stick as a share of its cell."""

SHARE: Final = 0.036
"""Height of the figures as a share of the screen's."""

DOTS: Final[Mapping[int, tuple[int, style.Colour]]] = {
    10_000: (5, style.STICK_RED),
    5_000: (3, style.STICK_RED),
    1_000: (1, style.STICK_RED),
    100: (4, style.STICK_DARK),
}
"""How many dots a stick has, and of which colour. The number beside it says its worth."""


def sticks(points: int) -> dict[int, int]:
    """Give how many of each stick pay so much, in hundreds; as few as possible."""
    left, found = abs(points), dict[int, int]()
    for worth in WORTH:
        count, left = divmod(left, worth)
        if count:
            found[worth] = count
    return found


def rows(points: int) -> int:
    """Say how many rows of two they take."""
    return (len(sticks(points)) + 1) // 2


def draw(surface: pygame.Surface, pen: Pen, points: int, box: pygame.Rect) -> None:
    """Draw each stick with how many of them and what it is worth, two in a row."""
    paid = sticks(points)
    columns, lines = min(2, len(paid)), max(1, rows(points))
    width, height = box.width // 2, box.height // lines
    share = pen.share([f"{count}×{worth}" for worth, count in paid.items()], SHARE, width - round(width * LONG) - 4)
    for at, (worth, count) in enumerate(paid.items()):
        left = box.left + (box.width - columns * width) // 2 + at % 2 * width
        cell = pygame.Rect(left, box.top + at // 2 * height, width, height)
        _stick(surface, worth, cell)
        room = cell.width - round(cell.width * LONG) - 4
        place = (cell.right - room, cell.top)
        pen.write(surface, f"{count}×{worth}", place, share, style.TEXT, room)


def _stick(surface: pygame.Surface, worth: int, cell: pygame.Rect) -> None:
    number, colour = DOTS[worth]
    stick = pygame.Rect(cell.left, 0, round(cell.width * LONG), max(6, round(cell.height * 0.42)))
    stick.centery = cell.centery
    pygame.draw.rect(surface, style.STICK, stick, border_radius=stick.height // 2)
    radius = max(1, stick.height // 5)
    for dot in range(number):
        x = stick.centerx + round((dot - (number - 1) / 2) * 2.6 * radius)
        pygame.draw.circle(surface, colour, (x, stick.centery), radius)
