"""Finds overlapping wires in a drawing. Wires may cross, but if two overlap nobody can tell them apart."""

import re
from itertools import pairwise

Segment = tuple[str, float, float, float]


def one_over_another(drawing: str, *, but: str = "") -> list[tuple[int, int]]:
    """Return the pairs of overlapping wires, by their order in the drawing. Wires of the colour `but` may overlap."""
    lines = re.findall(r'points="([^"]*)"[^>]* stroke="(#[0-9a-f]+)"', drawing)
    segments = [
        (wire, segment) for wire, (points, colour) in enumerate(lines) if colour != but for segment in _segments(points)
    ]
    return [
        (one, two) for one, of_one in segments for two, of_two in segments if one < two and _overlap(of_one, of_two)
    ]


def _segments(points: str) -> list[Segment]:
    corners = [(float(x), float(y)) for x, y in (corner.split(",") for corner in points.split())]
    pairs = list(pairwise(corners))
    across = [("across", y1, min(x1, x2), max(x1, x2)) for (x1, y1), (x2, y2) in pairs if y1 == y2]
    return across + [("down", x1, min(y1, y2), max(y1, y2)) for (x1, y1), (x2, y2) in pairs if x1 == x2]


def _overlap(one: Segment, two: Segment) -> bool:
    return one[0] == two[0] and abs(one[1] - two[1]) < 3 and one[2] < two[3] and two[2] < one[3]
