"""The command `homologue table hardware`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from broker.cli.main import homologue
from firmware.buttons import SeatButtons
from firmware.hardware.command import run_self_test
from firmware.reports import SEATS, Lamp, Seat
from tests.refusals import codes


def run(*arguments: str) -> Result:
    return CliRunner().invoke(homologue, ["table", "hardware", *arguments])


def test_without_arguments_it_lists_this_machine() -> None:
    told = json.loads(run("--json").stdout)
    assert sorted(told) == ["board", "devices", "troubles", "wires"]
    assert told["wires"] == []


def test_the_wires_are_those_of_the_configuration(tmp_path: Path) -> None:
    config = tmp_path / "table.toml"
    config.write_text('[devices]\nbuttons = "gpio:east=5,south=6,west=13,north=19/26"\n', encoding="utf-8")
    told = json.loads(run(str(config), "--json").stdout)
    assert [(wire["seat"], wire["gpio"]) for wire in told["wires"]] == [
        *(("east", 5), ("south", 6), ("west", 13), ("north", 19), ("north", 26))
    ]


def test_a_missing_configured_keyboard_is_reported(tmp_path: Path) -> None:
    config = tmp_path / "table.toml"
    keyboard = "/dev/input/by-id/usb-None-event-kbd"
    buttons = 'buttons = "gpio:east=5,south=6,west=13,north=19"'
    config.write_text(f'[devices]\n{buttons}\nkeyboards = ["evdev:{keyboard}?layout=fr"]\n', encoding="utf-8")
    said = run(str(config), "--json").stdout
    assert f"devices.keyboards[0]: {keyboard} does not exist" in said


@pytest.mark.parametrize("text", ["", "[devices]\n", "devices = 3\n", "[devices]\nbuttons = 3\n", "[", "\xff"])
def test_a_configuration_without_buttons_is_refused(tmp_path: Path, text: str) -> None:
    config = tmp_path / "table.toml"
    config.write_bytes(text.encode("latin-1"))
    told = run(str(config), "--json")
    assert (told.exit_code, json.loads(told.stdout)["error"]["code"]) == (1, "bad_device_address")


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("gpio:east=5", "bad_device_address"),
        ("pins:east=5", "bad_device_address"),
        ("gpio:east=5,south=5,west=13,north=19", "pin_in_use"),
        ("gpio:east=0,south=5,west=13,north=19", "pin_reserved"),
    ],
)
def test_a_bad_wiring_is_refused_with_its_code(address: str, code: str) -> None:
    told = run("--buttons", address)
    assert (told.exit_code, codes(told.stderr)) == (1, [code])


def test_buttons_that_are_not_on_pins_have_no_wires() -> None:
    assert json.loads(run("--buttons", "sim://buttons", "--json").stdout)["wires"] == []


def test_a_test_needs_the_address_of_the_buttons() -> None:
    assert run("--test").exit_code == 2


def test_four_simulated_players_pass_the_self_test() -> None:
    told = run("--buttons", "sim://buttons?hold_ms=20", "--test")
    assert (told.exit_code, told.stdout.splitlines()[-1]) == (0, "all four buttons work")


def test_swapped_plugs_and_an_unplugged_cable_fail_the_self_test() -> None:
    told = run("--buttons", "sim://buttons?hold_ms=20&swap=east,south&cut=west", "--test", "--wait", "1.2", "--json")
    result = json.loads(told.stdout)
    assert (told.exit_code, result["passed"], result["right"]) == (1, False, ["north"])
    found = {(one["seat"], one["said"]) for one in result["remarks"]} - {("north", "right")}
    assert {one for one in found if one[1] not in ("asked", "ill")} == {
        *(("east", "wrong_seat"), ("east", "timed_out"), ("south", "wrong_seat"), ("south", "timed_out")),
        ("west", "timed_out"),
    }
    assert [one["text"] for one in result["remarks"] if one["said"] == "ill"] == [
        "west: button_disconnected: both contacts are open"
    ]


def test_presses_that_are_too_short_fail_with_their_length() -> None:
    told = run("--buttons", "sim://buttons?hold_ms=1", "--test", "--wait", "0.5")
    assert (told.exit_code, told.stdout.count("1.0 ms is too short for a finger")) == (1, 4)


def test_a_test_with_a_bad_address_is_refused() -> None:
    told = run("--buttons", "sim://buttons?x=1", "--test", "--json")
    assert (told.exit_code, json.loads(told.stdout)["error"]["code"]) == (1, "bad_device_address")


def test_the_lamp_blinks_while_a_seat_is_asked_and_stays_on_once_it_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[Seat, Lamp]] = []
    monkeypatch.setattr(SeatButtons, "show", lambda _, seat, lamp: shown.append((seat, lamp)))
    assert run_self_test("sim://buttons?hold_ms=20", 60, lambda _: None).passed
    assert shown == [(seat, lamp) for seat in SEATS for lamp in ("blink", "on")]
