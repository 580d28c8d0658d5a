"""Colours that colour-blind people can tell apart (the palette of Okabe and Ito), and each seat's shape.

Imported at start-up, so it must not import NumPy or OpenCV.
"""

from math import cos, pi, sin
from typing import Final

Colour = tuple[int, int, int]  # BGR

BLACK: Final[Colour] = (0, 0, 0)
WHITE: Final[Colour] = (255, 255, 255)
ORANGE: Final[Colour] = (0, 159, 230)
SKY_BLUE: Final[Colour] = (233, 180, 86)
BLUISH_GREEN: Final[Colour] = (115, 158, 0)
YELLOW: Final[Colour] = (66, 228, 240)
VERMILLION: Final[Colour] = (0, 94, 213)
REDDISH_PURPLE: Final[Colour] = (167, 121, 204)

Corners = tuple[tuple[float, float], ...]


def regular_corners(radius: float, corners: int = 24, lower: float = 0.0) -> Corners:
    """Return the corners of a regular polygon centred on (0, `lower`), starting at the top."""
    angles = (2 * pi * at / corners for at in range(corners))
    return tuple((radius * sin(angle), lower - radius * cos(angle)) for angle in angles)


SEAT_SHAPES: Final[dict[str, tuple[Colour, Corners]]] = {
    "E": (ORANGE, regular_corners(1.0)),
    "S": (SKY_BLUE, regular_corners(1.25, 3, lower=0.25)),
    "W": (REDDISH_PURPLE, ((-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88))),
    "N": (YELLOW, regular_corners(1.15, 4)),
}
"""Each seat's colour and shape, by its letter: a circle, a triangle, a square and a square on its corner."""
