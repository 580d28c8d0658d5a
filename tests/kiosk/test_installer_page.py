"""The installer's page tells the settings and addresses that there are, and its example is one."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from firmware.button_addresses import BUTTON_SETTINGS
from firmware.wiring import read_wiring
from kiosk.config import Config, KioskSettings, UnpairedConfig

PAGE: Final = (Path(__file__).parents[2] / "docs" / "installer.md").read_text(encoding="utf-8")

NEEDED: Final = "needed"

SETTINGS: Final = re.compile(r"^\| setting \| default \| meaning \|\n\|[-|]+\|\n(?P<rows>(?:\|.*\n)+)", re.MULTILINE)
ROW: Final = re.compile(r"^\| `(?P<name>[^`]+)` \| (?P<default>[^|]+) \| (?P<meaning>[^|]+) \|$")


def settings_told() -> list[tuple[str, str]]:
    """Return what the page's table says: each setting with its default."""
    found = SETTINGS.search(PAGE)
    assert found is not None
    rows = [ROW.match(line) for line in found["rows"].splitlines()]
    assert None not in rows
    return [(row["name"], row["default"]) for row in rows if row]


def settings_of(struct: type[msgspec.Struct], within: str = "") -> Iterator[tuple[str, str]]:
    """Return the settings that there are, sections as `section.setting`."""
    for field in msgspec.structs.fields(struct):
        name = f"{within}{field.name}"
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from settings_of(field.type, f"{name}.")
        else:
            yield name, _told(field.default)


def _told(default: Any) -> str:  # noqa: ANN401 - a default is of any type
    if default is msgspec.NODEFAULT:
        return NEEDED
    return "none" if default is None else f"`{msgspec.json.encode(default).decode()}`"


def test_the_settings_told_are_the_settings_that_there_are() -> None:
    assert sorted(settings_told()) == sorted({*settings_of(Config), *settings_of(UnpairedConfig)})


def test_the_examples_are_configurations(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    path = tmp_path / "table-3.toml"
    path.write_text(example, encoding="utf-8")
    config = KioskSettings(path).config
    told = re.findall(r"(east|south|west|north) GPIO(\d+)", PAGE)
    wiring = read_wiring(config.devices.buttons.removeprefix("gpio:"))
    assert {seat: pins.closes for seat, pins in wiring.items()} == {seat: int(pin) for seat, pin in told}


def test_the_defaults_of_simulated_buttons_are_told() -> None:
    assert "&".join(f"{name}={value}" for name, value in BUTTON_SETTINGS.items()) in PAGE
