"""The wiring diagrams: those in docs/ are up to date, and no two wires overlap."""

from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import pytest

from firmware.diagrams import (
    BOX_BOARD,
    BOX_GROUNDS,
    BOX_POSITIONS,
    BOX_TOP,
    HEADER_COLUMNS,
    HEADER_TOP,
    PITCH,
    draw_box_wiring,
    draw_header_wiring,
)
from firmware.pico.assembly import BUTTONS, LAMPS
from firmware.wiring import BY_GPIO, FULL_WIRING, Wiring, read_wiring
from tests.firmware.wire_drawing import one_over_another

ROOT: Final = Path(__file__).parents[2]
SVG: Final = "{http://www.w3.org/2000/svg}"
PLAIN: Final = read_wiring("east=5,south=6,west=13,north=19")


def test_the_header_drawing_in_docs_is_up_to_date() -> None:
    assert (ROOT / "docs" / "wiring.svg").read_text(encoding="utf-8") == draw_header_wiring(FULL_WIRING), "make docs"


@pytest.mark.parametrize("wiring", [FULL_WIRING, PLAIN])
def test_every_wire_starts_at_its_pin_and_all_buttons_have_ground(wiring: Wiring) -> None:
    drawn = ElementTree.fromstring(draw_header_wiring(wiring))  # noqa: S314 - we have just drawn it
    starts = sorted(_position(wire.attrib["points"]) for wire in drawn.iter(f"{SVG}polyline"))
    pins = [BY_GPIO[gpio].position for seat in wiring.values() for gpio in seat.used().values()]
    assert starts == sorted([*pins, 39, 39, 39, 39])


def _position(points: str) -> int:
    x, y = map(float, points.split(maxsplit=1)[0].split(","))
    column = min(HEADER_COLUMNS, key=lambda one: (x - one) if x >= one else 1000)
    return round((y - HEADER_TOP) / PITCH) * 2 + HEADER_COLUMNS.index(column) + 1


@pytest.mark.parametrize("wiring", [FULL_WIRING, PLAIN])
def test_no_two_wires_of_the_header_overlap(wiring: Wiring) -> None:
    """All ground wires are one wire."""
    assert one_over_another(draw_header_wiring(wiring), but="#1c1b1f") == []


def test_the_box_drawing_in_docs_is_up_to_date() -> None:
    assert (ROOT / "docs" / "button-box.svg").read_text(encoding="utf-8") == draw_box_wiring(), "make docs"


def test_every_wire_of_the_box_starts_at_its_pin_with_a_ground_for_each_seat() -> None:
    drawn = ElementTree.fromstring(draw_box_wiring())  # noqa: S314 - we have just drawn it
    starts = [wire.attrib["points"].split(maxsplit=1)[0].split(",") for wire in drawn.iter(f"{SVG}polyline")]
    assert {float(x) for x, _ in starts} == {BOX_BOARD[0]}
    assert sorted((float(y) - BOX_TOP) / PITCH + 1 for _, y in starts) == sorted(
        [*(BOX_POSITIONS[number] for number in (*BUTTONS, *LAMPS)), *BOX_GROUNDS]
    )


def test_no_two_wires_of_the_box_overlap() -> None:
    assert one_over_another(draw_box_wiring()) == []


def test_pin_positions_are_those_of_the_datasheet() -> None:
    assert BOX_POSITIONS == (1, 2, 4, 5, 6, 7, 9, 10, 11, 12, 14, 15, 16, 17, 19, 20)
