"""Opening buttons by address."""

import queue

import gpiozero
import pytest
from gpiozero.pins.mock import MockFactory

from firmware.button_addresses import BUTTON_SETTINGS, open_buttons
from firmware.errors import BadAddress, DeviceMissing, FirmwareError, PinInUse
from firmware.reports import SEATS, Health, Pressed, Released, Report
from firmware.sim.box import BoxFingers
from tests.patience import PATIENCE_S

GOOD = "gpio:east=5,south=6,west=13,north=19"


def refusal(address: str) -> FirmwareError:
    with pytest.raises(FirmwareError) as refused:
        open_buttons(address, lambda _: None)
    return refused.value


def test_a_gpio_address_opens_the_machines_pins(monkeypatch: pytest.MonkeyPatch) -> None:
    factory, told = MockFactory(), queue.Queue[Report]()
    monkeypatch.setattr(gpiozero.Device, "pin_factory", factory)
    opened = open_buttons(GOOD, told.put)
    with opened.buttons:
        factory.pin(13).drive_low()
        seen = told.get(timeout=PATIENCE_S)
    assert isinstance(seen, Pressed)
    assert (opened.fingers, seen.seat) == (None, "west")


def test_a_gpio_address_without_pins_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpiozero.Device, "pin_factory", None)
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "no such pins")
    assert type(refusal(GOOD)) is DeviceMissing


def test_a_simulated_address_opens_mock_pins_with_fingers() -> None:
    told: queue.Queue[Report] = queue.Queue()
    opened = open_buttons("sim://buttons?bounces=4&hold_ms=60&late_ms=2&seed=7", told.put)
    assert opened.fingers is not None
    with opened.buttons:
        for seat in SEATS:
            opened.fingers.press(seat)
        seen = [told.get(timeout=PATIENCE_S) for _ in range(8)]
    assert [one.seat for one in seen if isinstance(one, Pressed)] == [*SEATS]
    assert sorted(one.seat for one in seen if isinstance(one, Released)) == sorted(SEATS)


def test_a_simulated_address_can_have_unplugged_cables_and_stuck_buttons() -> None:
    told: queue.Queue[Report] = queue.Queue()
    opened = open_buttons("sim://buttons?cut=south,north&stuck=west&hold_ms=10", told.put)
    assert opened.fingers is not None
    with opened.buttons:
        opened.fingers.press("west")
        seen = [told.get(timeout=PATIENCE_S) for _ in range(3)]
    assert [type(one) for one in seen] == [Pressed, Health, Health]
    assert {one.part for one in seen if isinstance(one, Health)} == {"button-south", "button-north"}


def test_a_simulated_cable_can_be_unplugged_for_a_while() -> None:
    told: queue.Queue[Report] = queue.Queue()
    with open_buttons("sim://buttons?cut=south&cut_ms=1100", told.put).buttons:
        seen = [told.get(timeout=PATIENCE_S) for _ in range(2)]
    assert [(one.part, one.code) for one in seen if isinstance(one, Health)] == [
        ("button-south", "button_disconnected"),
        ("button-south", None),
    ]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "is no address of buttons"),
        ("gpio", "expected one of east, south, west, north"),
        ("serial:/dev/ttyACM0", "is no address of buttons"),
        ("sim:buttons", "is no address of buttons"),
        ("sim://tray", "is no address of buttons"),
        ("sim://buttons/east", "is no address of buttons"),
        ("sim://[", "is no address of buttons"),
        ("sim://buttons?bounce=2", f"no setting 'bounce'; there are {', '.join(sorted(BUTTON_SETTINGS))}"),
        ("sim://buttons?bounces=", "bounces is no number"),
        ("sim://buttons?bounces=-1", "bounces is no number"),
        ("sim://buttons?hold_ms=1.5", "hold_ms is no number"),
        ("sim://buttons?seed=" + "9" * 5000, "seed is no number"),
        ("sim://buttons?stuck=up", "'up' is no seat"),
        ("sim://buttons?cut=east,,1", "'1' is no seat"),
    ],
)
def test_a_bad_address_is_refused_with_a_reason(address: str, said: str) -> None:
    error = refusal(address)
    assert (type(error), error.code) == (BadAddress, "bad_device_address")
    assert said in str(error)


def test_one_pin_for_two_seats_is_refused_naming_both() -> None:
    error = refusal("gpio:east=5,south=6,west=5,north=19")
    assert (type(error), error.code) == (PinInUse, "pin_in_use")
    assert str(error) == "GPIO5 is wired to east's button and west's button"


def test_a_simulated_box_is_opened_and_ends_with_its_buttons() -> None:
    told: queue.Queue[Report] = queue.Queue()
    opened = open_buttons("sim://box?bounces=4&hold_ms=60&delay_ms=3&ppm=80&seed=7", told.put)
    assert isinstance(opened.fingers, BoxFingers)
    with opened.buttons:
        assert told.get(timeout=PATIENCE_S) == Health("buttons", None)
        for seat in SEATS:
            opened.fingers.press(seat)
        seen = [told.get(timeout=PATIENCE_S) for _ in range(8)]
    assert [one.seat for one in seen if isinstance(one, Pressed)] == [*SEATS]
    assert not opened.fingers.box.path.exists()


def test_a_simulated_box_can_be_unplugged_and_restart_by_itself() -> None:
    """In real time: how often both happen before the test has seen them depends on the machine."""
    told: queue.Queue[Report] = queue.Queue()
    codes: set[str | None] = set()
    with open_buttons("sim://box?unplugged_ms=900&away_ms=600&reset_ms=1300", told.put).buttons:
        while codes != {None, "device_unplugged", "box_reset"}:
            report = told.get(timeout=PATIENCE_S)
            assert isinstance(report, Health)
            codes.add(report.code)


def test_a_missing_box_is_reported_after_opening() -> None:
    told: queue.Queue[Report] = queue.Queue()
    with open_buttons("box:/dev/serial/by-id/no-such-box", told.put).buttons:
        missing = told.get(timeout=PATIENCE_S)
    assert isinstance(missing, Health)
    assert (missing.part, missing.code) == ("buttons", "device_missing")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("box:", "is no path of a serial device"),
        ("box:ttyACM0", "is no path of a serial device"),
        ("box:/dev/\0", "is no path of a serial device"),
        ("sim://box?delay=5", "no setting 'delay'; there are away_ms, bounces, delay_ms, garbage, garbled, hold_ms"),
        ("sim://box?delay_ms=", "delay_ms is no number"),
        ("sim://box?lost=2.5", "lost is no number"),
        ("sim://box?stuck=up", "'up' is no seat"),
        ("sim://box/east", "is no address of buttons"),
    ],
)
def test_a_bad_address_of_a_box_is_refused_with_a_reason(address: str, said: str) -> None:
    with pytest.raises(BadAddress) as refused:
        open_buttons(address, lambda _: None)
    assert refused.value.code == "bad_device_address"
    assert said in str(refused.value)
