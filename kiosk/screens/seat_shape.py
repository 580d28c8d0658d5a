"""The colour, shape and letter of a seat: the same as are drawn on tiles in the camera's picture."""

import numpy as np
import pygame

from broker.contract.words import Seat
from kiosk.screens import style
from kiosk.screens.pen import Pen
from vision.live.overlay.signs import SEATS

LOWER = 0.16
"""A triangle is wide at its foot: its letter stands lower, by this share of the box."""


def draw_shape(surface: pygame.Surface, box: pygame.Rect, seat: Seat, pen: Pen) -> None:
    """Draw it as large as a square box."""
    letter = seat[0].upper()
    (blue, green, red), corners = SEATS[letter]
    points = np.asarray(box.center) + 0.42 * box.height * corners
    pygame.draw.polygon(surface, (red, green, blue), points.tolist())
    share = 0.42 * box.height / surface.get_height()
    middle = box.centery + (round(LOWER * box.height) if letter == "S" else 0)
    at = (box.centerx, middle - pen.height(letter, share, box.width) // 2)
    pen.write(surface, letter, at, share, style.GROUND, box.width, align="centre")
