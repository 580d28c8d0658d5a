"""The walk through the self-test shows on the lamps whom it asks."""

import pytest

from firmware.buttons import SeatButtons
from firmware.hardware.walk import walk
from firmware.reports import SEATS, Lamp, Seat


def test_the_lamp_of_the_seat_asked_blinks_and_stays_on_when_it_was_right(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[Seat, Lamp]] = []
    monkeypatch.setattr(SeatButtons, "show", lambda _, seat, lamp: shown.append((seat, lamp)))
    assert walk("sim://buttons?hold_ms=20", 60, lambda _: None).passed
    assert shown == [(seat, lamp) for seat in SEATS for lamp in ("blink", "on")]
