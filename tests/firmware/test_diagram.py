"""The drawing in the documents is what the code draws, and shows every wire at its own pin and terminal."""

from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import pytest

from firmware.diagram import COLUMNS, PITCH, TOP, draw
from firmware.pinout import BY_GPIO
from firmware.wiring import FULL, Wiring, read_wiring
from tests.firmware.drawn import one_over_another

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
    """The ground is one wire to all."""
    assert one_over_another(draw(wiring), but="#1c1b1f") == []
