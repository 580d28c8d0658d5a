"""The drawing in the documents is what the code draws, and shows every wire at its own pin and terminal."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import pytest

from firmware.diagram import COLUMNS, PITCH, TOP, draw
from firmware.pinout import BY_GPIO
from firmware.wiring import FULL, Wiring, read_wiring

ROOT: Final = Path(__file__).parents[2]
SVG: Final = "{http://www.w3.org/2000/svg}"
PLAIN: Final = read_wiring("east=5,south=6,west=13,north=19")


def test_the_drawing_in_the_documents_is_what_the_code_draws() -> None:
    assert (ROOT / "docs" / "wiring.svg").read_text(encoding="utf-8") == draw(FULL), "make docs"


@pytest.mark.parametrize("wiring", [FULL, PLAIN])
def test_every_wire_begins_at_its_pin_and_all_buttons_have_ground(wiring: Wiring) -> None:
    drawn = ElementTree.fromstring(draw(wiring))  # noqa: S314 - we have just drawn it
    starts = sorted(_position(wire.attrib["points"]) for wire in drawn.iter(f"{SVG}polyline"))
    pins = [BY_GPIO[gpio].position for seat in wiring.values() for gpio in seat.used().values()]
    assert starts == sorted([*pins, 39, 39, 39, 39])


def _position(points: str) -> int:
    x, y = map(float, points.split(maxsplit=1)[0].split(","))
    column = min(COLUMNS, key=lambda one: (x - one) if x >= one else 1000)
    return round((y - TOP) / PITCH) * 2 + COLUMNS.index(column) + 1


@pytest.mark.parametrize("wiring", [FULL, PLAIN])
def test_no_two_wires_run_over_each_other(wiring: Wiring) -> None:
    """Wires may cross; where two lie in one line one cannot tell which is which. The ground is one wire to all."""
    lines = re.findall(r'points="([^"]*)"[^>]* stroke="(#[0-9a-f]+)"', draw(wiring))
    segments = [
        (wire, *segment)
        for wire, (points, colour) in enumerate(lines)
        if colour != "#1c1b1f"
        for segment in _segments(points)
    ]
    assert [(one, two) for one in segments for two in segments if one[0] < two[0] and _overlap(one[1:], two[1:])] == []


def _segments(points: str) -> list[tuple[str, float, float, float]]:
    corners = [(float(x), float(y)) for x, y in (corner.split(",") for corner in points.split())]
    pairs = list(pairwise(corners))
    across = [("across", y1, min(x1, x2), max(x1, x2)) for (x1, y1), (x2, y2) in pairs if y1 == y2]
    return across + [("down", x1, min(y1, y2), max(y1, y2)) for (x1, y1), (x2, y2) in pairs if x1 == x2]


def _overlap(one: tuple[str, float, float, float], two: tuple[str, float, float, float]) -> bool:
    return one[0] == two[0] and abs(one[1] - two[1]) < 3 and one[2] < two[3] and two[2] < one[3]
