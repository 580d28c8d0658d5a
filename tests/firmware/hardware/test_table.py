"""What a table's configuration names is looked for, and no light on its board shows a press."""

from pathlib import Path

import pytest

from firmware.hardware.lights import LIGHTS
from firmware.hardware.page import look

SCANNER = "/dev/serial/by-id/usb-Scanner-if00"
ADDRESSES = {
    "buttons": "box:/dev/serial/by-id/usb-Box-if00",
    "scanner": f"serial:{SCANNER}?baud=9600",
    "camera": "v4l2:/dev/video0?fps=10",
}


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    for path in (SCANNER, "/dev/video0", "/dev/serial/by-id/usb-Box-if00"):
        file = tmp_path / path.removeprefix("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return tmp_path


def light(machine: Path, name: str, triggers: str) -> None:
    path = machine / "sys/class/leds" / name / "trigger"
    path.parent.mkdir(parents=True)
    path.write_text(triggers, encoding="utf-8")


def troubles(machine: Path, addresses: dict[str, str] | None = ADDRESSES) -> list[tuple[str, str]]:
    return [(one.code, one.text) for one in look(None, machine, addresses).troubles]


def test_a_table_that_has_what_its_configuration_names_has_no_trouble(machine: Path) -> None:
    assert troubles(machine) == []


def test_each_device_that_is_not_where_the_configuration_says_is_named(machine: Path) -> None:
    (machine / "dev/serial/by-id/usb-Box-if00").unlink()
    (machine / "dev/video0").unlink()
    assert troubles(machine) == [
        (
            "device_missing",
            "devices.buttons: /dev/serial/by-id/usb-Box-if00 is not there: plugged in, and by this name?",
        ),
        ("device_missing", "devices.camera: /dev/video0 is not there: plugged in, and by this name?"),
    ]


def test_what_is_no_path_is_looked_for_by_nobody(machine: Path) -> None:
    assert troubles(machine, {"buttons": "sim://buttons", "camera": "picamera:0", "scanner": "sim://scanner"}) == []


def test_a_device_that_is_not_listed_and_may_not_be_used_is_named(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "dev/ttyAMA3").touch()
    monkeypatch.setattr("os.access", lambda path, _: "ttyAMA3" not in str(path))
    assert troubles(machine, {"scanner": "serial:/dev/ttyAMA3"}) == [
        ("device_forbidden", "devices.scanner: this user may not use /dev/ttyAMA3")
    ]


@pytest.mark.parametrize("trigger", ["mmc0", "cpu", "disk-activity", "heartbeat", "kbd-capslock"])
def test_a_light_that_follows_what_the_machine_does_is_told_with_how_to_still_it(machine: Path, trigger: str) -> None:
    light(machine, "ACT", f"none timer [{trigger}] default-on\n")
    how = "dtparam=act_led_trigger=none in /boot/firmware/config.txt, and restart"
    assert troubles(machine) == [
        ("light_tells", f"the light ACT of the board follows {trigger}, so that it can show a press: {how}")
    ]


@pytest.mark.parametrize("triggers", ["[none] mmc0", "none mmc0 [default-on]", "none [input]", "", "none mmc0"])
def test_lights_that_stand_still_are_no_trouble(machine: Path, triggers: str) -> None:
    for name in LIGHTS:
        light(machine, name, triggers)
    assert troubles(machine) == []


def test_the_lights_of_a_machine_that_is_no_tables_are_its_own_affair(machine: Path) -> None:
    light(machine, "ACT", "none [mmc0]")
    assert troubles(machine, None) == []
