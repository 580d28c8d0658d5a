"""The signs of verdicts and the shapes of seats, as lines and corners in a box from -1 to 1."""

from typing import Final

import numpy as np

from vision.geometry import Points
from vision.live.overlay.pen import Pen, circle
from vision.live.overlay.style import (
    BLACK,
    ORANGE,
    REDDISH_PURPLE,
    SKY_BLUE,
    YELLOW,
    Colour,
    Look,
    Sign,
)


def _arc(start: float, end: float, radius: float, centre: tuple[float, float] = (0.0, 0.0)) -> Points:
    """Give an arc in degrees, clockwise on the screen from three o'clock, shape (13, 2)."""
    angle = np.radians(np.linspace(start, end, 13))
    return np.asarray(centre) + radius * np.column_stack([np.cos(angle), np.sin(angle)])


SIGNS: Final[dict[Sign, list[Points]]] = {
    Sign.TICK: [np.array([[-0.55, 0.05], [-0.12, 0.48], [0.58, -0.45]])],
    Sign.QUESTION: [
        np.vstack([_arc(180, 400, 0.36, (0.0, -0.28)), [[0.0, 0.22]]]),
        np.array([[0.0, 0.62], [0.0, 0.64]]),
    ],
    Sign.BANG: [np.array([[0.0, -0.68], [0.0, 0.16]]), np.array([[0.0, 0.60], [0.0, 0.62]])],
    Sign.TURN: [_arc(-60, 210, 0.48), np.array([[-0.72, -0.02], [-0.42, -0.26], [-0.16, 0.04]])],
}

SEATS: Final[dict[str, tuple[Colour, Points]]] = {
    "E": (ORANGE, circle(np.zeros(2), 1.0)),
    "S": (SKY_BLUE, circle(np.array([0.0, 0.25]), 1.25, 3)),
    "W": (REDDISH_PURPLE, np.array([[-0.88, -0.88], [0.88, -0.88], [0.88, 0.88], [-0.88, 0.88]])),
    "N": (YELLOW, circle(np.zeros(2), 1.15, 4)),
}
"""Each seat's colour and shape: a circle, a triangle, a square, a square on its corner."""


def draw_badge(pen: Pen, centre: Points, radius: float, look: Look) -> None:
    """Draw a round badge with a verdict's sign."""
    size = radius * (1 + (look.weight - 1) / 2)
    pen.shape(circle(centre, size), look.colour)
    pen.plain([centre + size * stroke for stroke in SIGNS[look.sign]], max(1.0, 0.26 * size), look.ink)


def draw_seat(pen: Pen, centre: Points, radius: float, seat: str) -> None:
    """Draw a seat's shape with its letter."""
    colour, corners = SEATS[seat]
    pen.shape(centre + radius * corners, colour)
    lower = np.array([0.0, 0.25 * radius if seat == "S" else 0.0])  # a triangle is wide at its foot
    pen.text(seat, centre + lower, radius, radius, BLACK)
