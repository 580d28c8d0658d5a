"""docs/button-box.md agrees with the code."""

import json
import re

from firmware.box.codec import __doc__ as codec_page
from firmware.box.codec import encode_frame
from firmware.diagrams import BOX_POSITIONS, BoxWire, box_wires
from firmware.pico.assembly import BUTTONS, LAMPS, SERVICE
from firmware.pico.edges import STORE_SIZE
from firmware.reports import SEATS
from tests.firmware.micropython.flashed import ROOT

PAGE = (ROOT / "docs/button-box.md").read_text(encoding="utf-8")


def test_the_page_lists_the_wires_of_the_drawing() -> None:
    rows = re.findall(
        r"^\| (\w+) \| GP(\d+) \(pin (\d+)\) \| GP(\d+) \(pin (\d+)\) \| ground \(pin (\d+)\) \|$", PAGE, re.MULTILINE
    )
    assert [(seat, int(button), int(lamp)) for seat, button, _, lamp, _, _ in rows] == [
        *zip(SEATS, BUTTONS, LAMPS, strict=True)
    ]
    assert [
        BoxWire(seat, what, int(position))
        for seat, _, button, _, lamp, ground in rows
        for what, position in (("button", button), ("lamp", lamp), ("ground", ground))
    ] == [*box_wires()]


def test_the_example_in_the_codec_is_a_valid_frame() -> None:
    line = encode_frame("E", 3735928559, 17, 0, 1, 123456789).decode().strip()
    assert line in (codec_page or "")


def test_the_page_has_the_capacity_and_the_service_buttons() -> None:
    assert f"it keeps {STORE_SIZE - 1} edges" in PAGE
    assert f"**{' and '.join(SEATS[seat] for seat in SERVICE)}**" in PAGE


def test_the_page_names_the_micropython_version_of_the_tests() -> None:
    package = json.loads((ROOT / "tests/firmware/micropython/package.json").read_text(encoding="utf-8"))
    (version,) = package["dependencies"].values()
    assert set(re.findall(r"\b1\.\d+\.\d+\b", PAGE)) == {version}


def test_the_first_test_on_the_page_uses_the_contacts_pins() -> None:
    pins = [BOX_POSITIONS[number] for number in BUTTONS]
    assert f"(pins {pins[0]} to {pins[-1]})" in PAGE
    assert pins == [*range(pins[0], pins[-1] + 1)]
