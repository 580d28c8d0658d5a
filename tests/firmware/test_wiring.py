"""Wirings are parsed, or refused with a reason, and checked against the pins of a Pi."""

from pathlib import Path

import pytest

from firmware.errors import BadAddress, FirmwareError, PinInUse, PinReserved
from firmware.reports import SEATS
from firmware.wiring import BY_GPIO, HEADER, REVISIONS, SeatPins, ground_beside, header, pins_in_use, read_wiring

GOOD = "east=5,south=6,west=13,north=19"


def refusal(text: str) -> FirmwareError:
    with pytest.raises(FirmwareError) as refused:
        read_wiring(text)
    return refused.value


def test_pins_are_parsed_in_any_order_and_returned_in_seat_order() -> None:
    wiring = read_wiring("north=19, west=13+12/22,east=5/17 ,south=06")
    assert [*wiring] == [*SEATS]
    assert wiring == {
        "east": SeatPins(5, lamp=17),
        "south": SeatPins(6),
        "west": SeatPins(13, 12, 22),
        "north": SeatPins(19),
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected one of east, south, west, north"),
        ("east=5,south=6,west=13", "no pin for north"),
        ("east=5", "no pin for south, west, north"),
        (GOOD + ",north=20", "'north=20': north is wired twice"),
        ("up=5,south=6,west=13,north=19", "'up=5': expected one of"),
        ("east=five,south=6,west=13,north=19", "'east=five': expected one of"),
        ("east=٥,south=6,west=13,north=19", "expected one of"),
        ("east=-5,south=6,west=13,north=19", "'east=-5': expected one of"),
        ("east=,south=6,west=13,north=19", "'east=': expected one of"),
        ("east=5/,south=6,west=13,north=19", "'east=5/': expected one of"),
        ("east=5+/17,south=6,west=13,north=19", "'east=5+/17': expected one of"),
        ("east=5/17+20,south=6,west=13,north=19", "'east=5/17+20': expected one of"),
        ("east=28,south=6,west=13,north=19", "there is no pin GPIO28 on the header: 2 to 27"),
        ("east=5/99,south=6,west=13,north=19", "there is no pin GPIO99 on the header: 2 to 27"),
        ("east=" + "9" * 5000, "expected one of"),
    ],
)
def test_an_impossible_wiring_is_refused_with_a_reason(text: str, said: str) -> None:
    error = refusal(text)
    assert (type(error), error.code) == (BadAddress, "bad_device_address")
    assert said in str(error)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("east=5,south=6,west=5,north=19", "GPIO5 is wired to east's button and west's button"),
        ("east=5/6,south=6,west=13,north=19", "GPIO6 is wired to east's lamp and south's button"),
        ("east=5+5,south=6,west=13,north=19", "GPIO5 is wired to east's button and east's second contact"),
    ],
)
def test_one_pin_for_two_things_is_refused_naming_both(text: str, said: str) -> None:
    error = refusal(text)
    assert (type(error), error.code, str(error)) == (PinInUse, "pin_in_use", said)


@pytest.mark.parametrize("pin", [0, 1])
def test_pins_that_the_pi_needs_to_start_are_refused(pin: int) -> None:
    error = refusal(f"east=5,south=6,west=13/{pin},north=19")
    assert (type(error), error.code) == (PinReserved, "pin_reserved")
    assert str(error).startswith(f"GPIO{pin} (west's lamp) is kept for the identification chip")


def test_every_other_pin_of_the_header_can_be_used() -> None:
    for pin in range(2, 28):
        others = [number for number in (20, 21, 26, 16) if number != pin][:3]
        wiring = read_wiring(
            f"east={pin}," + ",".join(f"{seat}={one}" for seat, one in zip(SEATS[1:], others, strict=True))
        )
        assert wiring["east"] == SeatPins(pin)


def test_the_header_has_forty_pins_and_twenty_eight_numbers() -> None:
    assert [pin.position for pin in HEADER] == [*range(1, 41)]
    assert sorted(BY_GPIO) == [*range(28)]
    assert [pin.position for pin in HEADER if pin.name == "GND"] == [6, 9, 14, 20, 25, 30, 34, 39]


def test_all_supported_boards_have_the_same_header() -> None:
    assert {header(model) for model in REVISIONS} == {HEADER}


@pytest.mark.parametrize(
    ("gpio", "also"),
    [
        (0, "the identification chip of a board put on top (ID_SD, ID_SC)"),
        (2, "I2C"),
        (10, "SPI"),
        (15, "serial console"),
        (5, ""),
    ],
)
def test_a_pin_lists_its_other_functions(gpio: int, also: str) -> None:
    assert BY_GPIO[gpio].also == also


@pytest.mark.parametrize(("position", "ground"), [(29, 30), (33, 34), (31, 30), (35, 34), (40, 39), (1, 6)])
def test_the_nearest_ground_is_found(position: int, ground: int) -> None:
    assert ground_beside(position) == ground


def test_pins_with_another_function_are_described_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    assert pins_in_use([2, 5, 9], "5B", tmp_path) == []
    for sign in ("i2c-1", "spidev0.0", "serial0"):
        (tmp_path / "dev" / sign).touch()
    assert pins_in_use([9, 5, 2, 14], "5B", tmp_path) == [
        "GPIO2 belongs to I2C here: dtparam=i2c_arm=off in /boot/firmware/config.txt, or another pin",
        "GPIO9 belongs to SPI here: dtparam=spi=off in /boot/firmware/config.txt, or another pin",
    ]
    assert [said[:30] for said in pins_in_use([14], "4B", tmp_path)] == ["GPIO14 belongs to serial conso"]
    assert pins_in_use([2, 14], "3B", tmp_path) == []
