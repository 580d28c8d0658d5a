"""Connected devices, and problems that keep them from working."""

import struct
from pathlib import Path

import pytest

from firmware.hardware.command import hardware_text, inspect_hardware
from firmware.hardware.inventory import LIGHTS, Device, Machine, board_troubles, clock_troubles
from firmware.wiring import read_wiring

PLAIN = read_wiring("east=5,south=6,west=13,north=19")


@pytest.fixture
def pi(tmp_path: Path) -> Path:
    """Return the root of a simulated Pi 5 with all devices."""
    tree = tmp_path / "proc/device-tree"
    (tree / "system").mkdir(parents=True)
    (tree / "model").write_text("Raspberry Pi 5 Model B Rev 1.0\0")
    (tree / "system/linux,revision").write_bytes(struct.pack(">L", 0xD04170))
    for name in (
        "dev/gpiochip4",
        "dev/video0",
        "dev/serial/by-id/usb-Scanner-if00",
        "dev/i2c-1",
        "dev/input/by-id/usb-Wedge-event-kbd",
        "dev/input/by-id/usb-Wedge-event-mouse",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    label = tmp_path / "sys/class/video4linux/video0/name"
    label.parent.mkdir(parents=True)
    label.write_text("HD Webcam\n")
    return tmp_path


def test_a_pi_and_its_devices_are_listed(pi: Path) -> None:
    seen = inspect_hardware(None, pi)
    assert seen.board == Machine("Raspberry Pi 5 Model B Rev 1.0", "5B")
    assert seen.devices == (
        Device("pins", "/dev/gpiochip4", "gpiochip4", usable=True),
        Device("serial", "/dev/serial/by-id/usb-Scanner-if00", "usb-Scanner-if00", usable=True),
        Device("camera", "/dev/video0", "HD Webcam", usable=True),
        Device("keyboard", "/dev/input/by-id/usb-Wedge-event-kbd", "usb-Wedge", usable=True),
    )
    assert seen.troubles == ()


@pytest.mark.parametrize("broken", [None, b"", b"\0", b"\xff\xff\xff\xff"])
def test_a_machine_that_is_not_a_pi_is_recognised(tmp_path: Path, broken: bytes | None) -> None:
    if broken is not None:
        (tmp_path / "proc/device-tree/system").mkdir(parents=True)
        (tmp_path / "proc/device-tree/model").write_bytes(broken)
    assert inspect_hardware(None, tmp_path).board == Machine("no Raspberry Pi", None)


def test_forbidden_devices_are_reported_with_a_remedy(pi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, _: "video" in str(path))
    assert [(one.code, one.text) for one in inspect_hardware(None, pi).troubles] == [
        ("device_forbidden", "/dev/gpiochip4: sudo adduser $USER gpio, and log in again"),
        ("device_forbidden", "/dev/serial/by-id/usb-Scanner-if00: sudo adduser $USER dialout, and log in again"),
        ("device_forbidden", "/dev/input/by-id/usb-Wedge-event-kbd: sudo adduser $USER input, and log in again"),
    ]


def test_wires_are_listed_with_pin_and_nearest_ground(pi: Path) -> None:
    seen = inspect_hardware(read_wiring("east=5+20/17,south=6,west=13,north=10"), pi)
    assert [(wire.seat, wire.what, wire.gpio, wire.position, wire.ground, wire.also) for wire in seen.wires] == [
        ("east", "button", 5, 29, 30, ""),
        ("east", "second contact", 20, 38, 39, ""),
        ("east", "lamp", 17, 11, 9, ""),
        ("south", "button", 6, 31, 30, ""),
        ("west", "button", 13, 33, 34, ""),
        ("north", "button", 10, 19, 20, "SPI"),
    ]


def test_pins_with_another_function_are_reported(pi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firmware.hardware.command.find_spec", lambda _: object())
    assert inspect_hardware(PLAIN, pi).troubles == ()
    (trouble,) = inspect_hardware(read_wiring("east=2,south=6,west=13,north=19"), pi).troubles
    assert trouble.code == "pin_in_use"
    assert trouble.text.startswith("GPIO2 belongs to I2C here")


def test_a_pi_without_lgpio_is_reported_with_a_remedy(pi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firmware.hardware.command.find_spec", lambda _: None)
    (trouble,) = inspect_hardware(PLAIN, pi).troubles
    assert (trouble.code, "make setup" in trouble.text) == ("device_missing", True)


def test_pins_without_a_pi_are_reported(tmp_path: Path) -> None:
    assert [one.code for one in inspect_hardware(PLAIN, tmp_path).troubles] == ["device_missing"]


def test_the_text_contains_the_whole_report(pi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    seen = inspect_hardware(PLAIN, pi)
    text = "\n".join(hardware_text(seen))
    told = [seen.board.name, *(one.path for one in seen.devices), *(f"GPIO{one.gpio}" for one in seen.wires)]
    told += [one.text for one in seen.troubles]
    assert [one for one in told if one not in text] == []


def wrote(root: Path, **files: str) -> Path:
    """Write the kernel's sensor files below a root."""
    folder = root / {"temp": "sys/class/thermal/thermal_zone0"}.get(next(iter(files)), "sys/class/hwmon/hwmon1")
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(f"{text}\n", encoding="ascii")
    return root


def told(root: Path) -> list[str]:
    return [one.code for one in board_troubles(root)]


@pytest.mark.parametrize(("temperature", "codes"), [("79999", []), ("80000", ["too_hot"]), ("no number", [])])
def test_a_board_is_too_hot_from_80_degrees(tmp_path: Path, temperature: str, codes: list[str]) -> None:
    assert told(wrote(tmp_path, temp=temperature)) == codes


@pytest.mark.parametrize(
    ("sensor", "alarm", "codes"), [("rpi_volt", "1", ["undervoltage"]), ("rpi_volt", "0", []), ("nvme", "1", [])]
)
def test_undervoltage_is_read_from_the_pis_own_alarm(tmp_path: Path, sensor: str, alarm: str, codes: list[str]) -> None:
    assert told(wrote(tmp_path, name=sensor, in0_lcrit_alarm=alarm)) == codes


def test_missing_sensors_cause_no_report(tmp_path: Path) -> None:
    assert told(tmp_path) == []


def test_an_unset_clock_is_reported() -> None:
    assert [one.code for one in clock_troubles(lambda: False)] == ["clock_unset"]
    assert [*clock_troubles(lambda: True)] == []


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
    return [(one.code, one.text) for one in inspect_hardware(None, machine, addresses).troubles]


def test_a_table_with_all_configured_devices_has_no_trouble(machine: Path) -> None:
    assert troubles(machine) == []


def test_each_missing_configured_device_is_reported(machine: Path) -> None:
    (machine / "dev/serial/by-id/usb-Box-if00").unlink()
    (machine / "dev/video0").unlink()
    assert troubles(machine) == [
        (
            "device_missing",
            "devices.buttons: /dev/serial/by-id/usb-Box-if00 does not exist: is it plugged in, and is this its name?",
        ),
        ("device_missing", "devices.camera: /dev/video0 does not exist: is it plugged in, and is this its name?"),
    ]


def test_addresses_without_a_device_path_are_not_checked(machine: Path) -> None:
    assert troubles(machine, {"buttons": "sim://buttons", "camera": "picamera:0", "scanner": "sim://scanner"}) == []


def test_a_forbidden_device_outside_the_list_is_reported(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine / "dev/ttyAMA3").touch()
    monkeypatch.setattr("os.access", lambda path, _: "ttyAMA3" not in str(path))
    assert troubles(machine, {"scanner": "serial:/dev/ttyAMA3"}) == [
        ("device_forbidden", "devices.scanner: this user may not use /dev/ttyAMA3")
    ]


@pytest.mark.parametrize("trigger", ["mmc0", "cpu", "disk-activity", "heartbeat", "kbd-capslock"])
def test_a_light_that_reveals_activity_is_reported_with_a_remedy(machine: Path, trigger: str) -> None:
    light(machine, "ACT", f"none timer [{trigger}] default-on\n")
    how = "dtparam=act_led_trigger=none in /boot/firmware/config.txt, and restart"
    assert troubles(machine) == [
        ("light_tells", f"the light ACT of the board follows {trigger}, so that it can show a press: {how}")
    ]


@pytest.mark.parametrize("triggers", ["[none] mmc0", "none mmc0 [default-on]", "none [input]", "", "none mmc0"])
def test_lights_that_reveal_nothing_are_not_reported(machine: Path, triggers: str) -> None:
    for name in LIGHTS:
        light(machine, name, triggers)
    assert troubles(machine) == []


def test_lights_are_checked_only_on_a_tables_machine(machine: Path) -> None:
    light(machine, "ACT", "none [mmc0]")
    assert troubles(machine, None) == []
