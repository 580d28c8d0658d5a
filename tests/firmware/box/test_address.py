"""The button box is configuration: a device's path, or a twin with faults by option."""

import queue

import pytest

from firmware.addresses import open_buttons
from firmware.errors import BadAddress
from firmware.reports import SEATS, Health, Pressed, Report
from firmware.twins.box_fingers import BoxFingers


def test_a_simulated_box_is_opened_through_its_pseudo_terminal_and_ends_with_its_buttons() -> None:
    told: queue.Queue[Report] = queue.Queue()
    opened = open_buttons("sim://box?bounces=4&hold_ms=60&delay_ms=3&ppm=80&seed=7", told.put)
    assert isinstance(opened.fingers, BoxFingers)
    with opened.buttons:
        assert told.get(timeout=30) == Health("buttons", None)
        for seat in SEATS:
            opened.fingers.press(seat)
        seen = [told.get(timeout=30) for _ in range(8)]
    assert [one.seat for one in seen if isinstance(one, Pressed)] == [*SEATS]
    assert not opened.fingers.box.path.exists()


def test_a_simulated_box_is_pulled_out_and_starts_anew_by_itself() -> None:
    """In its own time: how often, until this test has seen both, is the machine's to say."""
    told: queue.Queue[Report] = queue.Queue()
    codes: set[str | None] = set()
    with open_buttons("sim://box?unplugged_ms=900&away_ms=600&reset_ms=1300", told.put).buttons:
        while codes != {None, "device_unplugged", "box_reset"}:
            report = told.get(timeout=30)
            assert isinstance(report, Health)
            codes.add(report.code)


def test_the_address_of_a_box_that_is_not_there_opens_and_says_so() -> None:
    told: queue.Queue[Report] = queue.Queue()
    with open_buttons("box:/dev/serial/by-id/no-such-box", told.put).buttons:
        missing = told.get(timeout=30)
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
def test_a_bad_address_of_a_box_is_refused_and_says_why(address: str, said: str) -> None:
    with pytest.raises(BadAddress) as refused:
        open_buttons(address, lambda _: None)
    assert refused.value.code == "bad_device_address"
    assert said in str(refused.value)
