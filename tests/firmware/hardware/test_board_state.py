"""What the board says of its power, its heat and its clock: a machine laid out in a folder."""

from pathlib import Path

import pytest

from firmware.hardware.board_state import board_troubles, clock_troubles


def wrote(root: Path, **files: str) -> Path:
    """Lay out what the kernel tells, by the file's name in a folder of its own."""
    folder = root / {"temp": "sys/class/thermal/thermal_zone0"}.get(next(iter(files)), "sys/class/hwmon/hwmon1")
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(f"{text}\n", encoding="ascii")
    return root


def told(root: Path) -> list[str]:
    return [one.code for one in board_troubles(root)]


@pytest.mark.parametrize(("temperature", "codes"), [("79999", []), ("80000", ["too_hot"]), ("no number", [])])
def test_a_board_is_too_hot_from_where_it_slows_down(tmp_path: Path, temperature: str, codes: list[str]) -> None:
    assert told(wrote(tmp_path, temp=temperature)) == codes


@pytest.mark.parametrize(
    ("sensor", "alarm", "codes"), [("rpi_volt", "1", ["undervoltage"]), ("rpi_volt", "0", []), ("nvme", "1", [])]
)
def test_the_pis_own_alarm_tells_of_too_little_power(tmp_path: Path, sensor: str, alarm: str, codes: list[str]) -> None:
    assert told(wrote(tmp_path, name=sensor, in0_lcrit_alarm=alarm)) == codes


def test_a_machine_that_tells_nothing_is_not_blamed(tmp_path: Path) -> None:
    assert told(tmp_path) == []


def test_a_clock_that_nobody_has_set_is_told() -> None:
    assert [one.code for one in clock_troubles(lambda: False)] == ["clock_unset"]
    assert [*clock_troubles(lambda: True)] == []
