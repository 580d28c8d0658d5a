"""The drawing of the button box is what the code draws; every wire begins at the pin that the program has for it."""

from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from firmware.box.diagram import BOARD, GROUNDS, PITCH, POSITIONS, TOP, draw
from firmware.pico.assembly import BUTTONS, LAMPS
from tests.firmware.drawn import one_over_another

ROOT: Final = Path(__file__).parents[3]
SVG: Final = "{http://www.w3.org/2000/svg}"


def test_the_drawing_in_the_documents_is_what_the_code_draws() -> None:
    assert (ROOT / "docs" / "button-box.svg").read_text(encoding="utf-8") == draw(), "make docs"


def test_every_wire_begins_at_its_pin_and_each_seat_has_its_own_ground() -> None:
    drawn = ElementTree.fromstring(draw())  # noqa: S314 - we have just drawn it
    starts = [wire.attrib["points"].split(maxsplit=1)[0].split(",") for wire in drawn.iter(f"{SVG}polyline")]
    assert {float(x) for x, _ in starts} == {BOARD[0]}
    assert sorted((float(y) - TOP) / PITCH + 1 for _, y in starts) == sorted(
        [*(POSITIONS[number] for number in (*BUTTONS, *LAMPS)), *GROUNDS]
    )


def test_no_two_wires_run_over_each_other() -> None:
    assert one_over_another(draw()) == []


def test_the_pins_of_the_processor_are_where_the_datasheet_has_them() -> None:
    assert POSITIONS == (1, 2, 4, 5, 6, 7, 9, 10, 11, 12, 14, 15, 16, 17, 19, 20)
