"""Hardware faults as sentences, with what to do: at the foot of the screen and in the self-test."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from broker.i18n import Translator, languages
from broker.protocol.link import LinkRefused
from firmware.errors import FAULT_CODES, BadAddress, FirmwareError, PinInUse, PinReserved
from kiosk.camera.loop import REPORTED_PROBLEMS
from kiosk.errors import JournalFull
from kiosk.screens.device import fault_name, part_and_fault, part_name, remedy, with_remedy
from kiosk.status import LATE_PRESS
from vision.errors import CameraError

FIRMWARE: Final = Path(__file__).parents[3] / "firmware"

ENDS_THE_PROGRAM: Final = {one.code for one in (FirmwareError, BadAddress, PinInUse, PinReserved)}
"""Codes of device errors that end the program, and so never show at a table."""

PARTS: Final = ("buttons", "button-east", "contact-east", "lamps", "scanner", "camera", "disk", "broker", "board")
OTHERS: Final = ("press-east", "wire", "plan")
"""Other parts that may appear at the foot of the screen."""


def under(base: type[Exception]) -> Iterator[str]:
    """Return the codes of a family of errors."""
    yield vars(base)["code"]
    for kind in base.__subclasses__():
        yield from under(kind)


def of_hardware() -> set[str]:
    """Return every code that the health of a part can have, or that the self-test finds."""
    told = {"button_exchanged", "button_silent", "card_refuses", "disk_low"}
    told |= {"picture_wrong", "scanner_beeps", "scanner_silent"}
    devices = {code for code in under(FirmwareError) if code not in ENDS_THE_PROGRAM}
    cameras = {code for code in under(CameraError) if code != "camera_address"}
    return devices | cameras | {*FAULT_CODES, *REPORTED_PROBLEMS} | told | {JournalFull.code, LinkRefused.code}


@pytest.mark.parametrize("language", languages())
def test_every_hardware_fault_has_words_and_a_remedy(language: str) -> None:
    _ = Translator(language)
    wordless = {code for code in of_hardware() if fault_name(_, "camera", code) == code or not remedy(_, code)}
    assert wordless == set()


@pytest.mark.parametrize("language", languages())
def test_every_part_of_a_device_has_a_name(language: str) -> None:
    _ = Translator(language)
    assert [part for part in (*PARTS, *OTHERS) if part_name(_, part) == part] == []


@pytest.mark.parametrize("language", languages())
def test_every_unreadable_scan_has_a_reason(language: str) -> None:
    _, source = Translator(language), "".join(one.read_text(encoding="utf-8") for one in FIRMWARE.glob("scan_*.py"))
    codes = {*re.findall(r'"(scan_[a-z_]+)"', source)}
    assert len(codes) >= 9
    assert {code for code in codes if fault_name(_, "scanner", code) == code} == set()


def test_a_fault_names_its_part() -> None:
    _ = Translator()
    assert part_and_fault(_, "button-north", "button_stuck") == "Button North: stays pressed"
    assert part_and_fault(_, "plan", "plan_rewrites_past") == "Plan: not accepted"
    assert part_and_fault(_, "press-east", LATE_PRESS) == "Press of East: reported late"
    assert with_remedy(_, "camera", "camera_dark") == "Camera: too dark. More light on the mat."


def test_a_fault_without_words_is_shown_by_its_code() -> None:
    _ = Translator("fr")
    assert part_and_fault(_, "toaster", "toast_burnt") == "toaster\N{NO-BREAK SPACE}: toast_burnt"
    assert with_remedy(_, "toaster", "toast_burnt") == "toaster\N{NO-BREAK SPACE}: toast_burnt"
