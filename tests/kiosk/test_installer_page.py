"""The pages of the installer and of the settings match the code, and the examples are valid configurations."""

import re
from pathlib import Path
from typing import Final

from firmware.wiring import read_wiring
from kiosk.config import KioskSettings
from kiosk.settings_page import page

PAGE: Final = (Path(__file__).parents[2] / "docs" / "installer.md").read_text(encoding="utf-8")

SETTINGS: Final = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_settings_page_matches_the_settings() -> None:
    assert SETTINGS.read_text(encoding="utf-8") == page(), "make docs"


def test_the_examples_are_valid_configurations(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    path = tmp_path / "table-3.toml"
    path.write_text(example, encoding="utf-8")
    config = KioskSettings(path).config
    told = re.findall(r"(east|south|west|north) GPIO(\d+)", PAGE)
    wiring = read_wiring(config.devices.buttons.removeprefix("gpio:"))
    assert {seat: pins.closes for seat, pins in wiring.items()} == {seat: int(pin) for seat, pin in told}
