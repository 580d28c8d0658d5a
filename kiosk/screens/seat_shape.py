"""The colour, shape and letter of a seat: the same as are drawn on tiles in the camera's picture."""

import pygame

from broker.contract.words import Seat
from kiosk.screens import style
from kiosk.screens.pen import Pen

WHITER = 0.2
"""Brighter than on tiles, so that the letter on it has the contrast of all else that is written (7:1)."""

LOWER = 0.16
"""A triangle is wide at its foot: its letter stands lower, by this share of the box."""


def draw_shape(surface: pygame.Surface, box: pygame.Rect, seat: Seat, pen: Pen) -> None:
    """Draw it as large as a square box."""
    from vision.live.overlay.signs import SEATS  # noqa: PLC0415 - OpenCV: not before the first screen is shown

    letter = seat[0].upper()
    colour, corners = SEATS[letter]
    blue, green, red = (round(part + WHITER * (255 - part)) for part in colour)
    reach = 0.42 * box.height
    points = [(box.centerx + reach * x, box.centery + reach * y) for x, y in corners]
    pygame.draw.polygon(surface, (red, green, blue), points)
    share = 0.42 * box.height / surface.get_height()
    middle = box.centery + (round(LOWER * box.height) if letter == "S" else 0)
    at = (box.centerx, middle - pen.height(letter, share, box.width) // 2)
    pen.write(surface, letter, at, share, style.GROUND, box.width, align="centre")
