"""Buttons are configuration: good addresses open, bad ones say what is wrong with a stable code."""

import gpiozero
import pytest
from gpiozero.pins.mock import MockFactory

from firmware.addresses import FINGERS, open_buttons, pins_of
from firmware.errors import BadAddress, FirmwareError, PinInUse
from firmware.twins.fingers import PINS

GOOD = "gpio:east=5,south=6,west=13,north=19"


def refusal(address: str) -> FirmwareError:
    with pytest.raises(FirmwareError) as refused:
        open_buttons(address, lambda *_: None)
    return refused.value


def test_pins_are_read_in_any_order_and_with_blanks() -> None:
    assert pins_of("north=19, west=13,east=5 ,south=06") == {"east": 5, "south": 6, "west": 13, "north": 19}


def test_a_gpio_address_opens_real_pins(monkeypatch: pytest.MonkeyPatch) -> None:
    factory, pressed = MockFactory(), list[str]()
    monkeypatch.setattr(gpiozero.Device, "pin_factory", factory)
    opened = open_buttons(GOOD, lambda seat, _: pressed.append(seat))
    with opened.buttons:
        factory.pin(13).drive_low()
    assert (opened.fingers, pressed) == (None, ["west"])


def test_a_simulated_address_opens_the_same_code_on_mock_pins_and_fingers_that_press() -> None:
    pressed: list[str] = []
    opened = open_buttons("sim://buttons?bounces=0&hold_ms=0&seed=7", lambda seat, _: pressed.append(seat))
    assert opened.fingers is not None
    with opened.buttons:
        for seat in PINS:
            opened.fingers.press(seat)
    assert pressed == [*PINS]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "is no address of buttons"),
        ("gpio", "expected one of east, south, west, north"),
        ("gpio:", "expected one of east, south, west, north"),
        ("serial:/dev/ttyACM0", "is no address of buttons"),
        ("sim:buttons", "is no address of buttons"),
        ("sim://tray", "is no address of buttons"),
        ("sim://buttons/east", "is no address of buttons"),
        ("sim://[", "is no address of buttons"),
        ("sim://buttons?bounce=2", f"no setting 'bounce'; there are {', '.join(FINGERS)}"),
        ("sim://buttons?bounces=", "bounces is no number"),
        ("sim://buttons?bounces=-1", "bounces is no number"),
        ("sim://buttons?hold_ms=1.5", "hold_ms is no number"),
        ("sim://buttons?seed=" + "9" * 5000, "seed is no number"),
        ("gpio:east=5,south=6,west=13", "no pin for north"),
        ("gpio:east=5", "no pin for south, west, north"),
        (GOOD + ",north=20", "'north=20': expected one of"),
        ("gpio:up=5,south=6,west=13,north=19", "'up=5': expected one of"),
        ("gpio:east=five,south=6,west=13,north=19", "'east=five': expected one of"),
        ("gpio:east=٥,south=6,west=13,north=19", "expected one of"),
        ("gpio:east=-5,south=6,west=13,north=19", "'east=-5': expected one of"),
        ("gpio:east=,south=6,west=13,north=19", "'east=': expected one of"),
        ("gpio:east=1,south=6,west=13,north=19", "there is no pin GPIO1 on the header: 2 to 27"),
        ("gpio:east=28,south=6,west=13,north=19", "there is no pin GPIO28 on the header: 2 to 27"),
        ("gpio:east=" + "9" * 5000, "expected one of"),
    ],
)
def test_a_bad_address_is_refused_and_says_why(address: str, said: str) -> None:
    error = refusal(address)
    assert (type(error), error.code) == (BadAddress, "bad_device_address")
    assert said in str(error)


def test_one_pin_for_two_seats_is_a_conflict_that_names_both() -> None:
    error = refusal("gpio:east=5,south=6,west=5,north=19")
    assert (type(error), error.code) == (PinInUse, "pin_in_use")
    assert str(error) == "GPIO5 is wired to east and west"


@pytest.mark.parametrize("pin", [2, 27])
def test_the_first_and_the_last_pin_of_the_header_can_be_used(pin: int) -> None:
    assert pins_of(f"east={pin},south=6,west=13,north=19")["east"] == pin
