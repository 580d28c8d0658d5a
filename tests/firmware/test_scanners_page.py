"""The page for scanners tells the settings and codes that there are, and its examples are addresses."""

import re
import tomllib
from pathlib import Path
from typing import Final

import pytest

from firmware.errors import FirmwareError
from firmware.scan_codes import CodeSettings, Tile, read_code
from firmware.scanner_addresses import SETTINGS, parse_scanner

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "scanners.md").read_text(encoding="utf-8")
CODES: Final = (ROOT / "docs" / "codes.md").read_text(encoding="utf-8")

SETTING: Final = re.compile(r"^\| `(\w+)` \| (all|serial|evdev|sim) \| (?:`([^`]*)`|nothing) \|", re.MULTILINE)


def test_the_settings_told_are_the_settings_that_there_are() -> None:
    kinds = {"all": set(SETTINGS)} | {kind: {kind} for kind in SETTINGS}
    told = {(kind, name, usual) for name, of, usual in SETTING.findall(PAGE) for kind in kinds[of]}
    assert told == {(kind, name, usual) for kind, known in SETTINGS.items() for name, (usual, _) in known.items()}


def test_every_code_of_a_scan_and_of_its_device_is_told() -> None:
    codes = {kind.code for kind in FirmwareError.__subclasses__()} | {
        *re.findall(r"^\| `(scan_\w+)`", CODES, re.MULTILINE)
    }
    others = {code for code in codes if not code.startswith(("scan_", "device_", "evdev_", "bad_device_"))}
    assert sorted(code for code in codes - others if f"| `{code}` |" not in PAGE) == []


@pytest.mark.parametrize("address", re.findall(r'^scanner = "(.*)"$', PAGE, re.MULTILINE))
def test_the_example_is_an_address(address: str) -> None:
    assert parse_scanner(address).kind == "serial"


def test_the_package_that_is_told_to_be_installed_is_the_one_that_is_asked_for() -> None:
    (asked,) = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]["evdev"]
    assert f"pip install '{asked.partition(';')[0]}'" in PAGE


def test_what_is_told_to_be_printed_is_read() -> None:
    table = PAGE.partition("## What to print")[2].partition("##")[0]
    rows = re.findall(r"^\| (`[^|]*`) \|", table, re.MULTILINE)
    codes = [code for row in rows for code in re.findall(r"`(.*?)`", row)]
    assert codes == ["HM1-08-117", "HM08117", "08117", "C117", "117", "007", "7"]
    assert [code for code in codes if not isinstance(read_code(code, CodeSettings()), Tile)] == []
