"""gpiozero's own lgpio pins, over a stand-in for the chip: the kernel's time of an edge is the time that is told."""

import sys
from collections.abc import Iterator

import gpiozero
import gpiozero.pins.local
import pytest
from gpiozero.pins.local import LocalPiFactory

from firmware.buttons import SeatButtons
from firmware.contact import MS
from firmware.errors import DeviceMissing
from firmware.lines import kernel_pins, offset_ns
from firmware.reports import Pressed, Released, Report
from tests.firmware.chip import Chip
from tests.firmware.desk import BOOT, FULL, PLAIN, Clock

PI_4, PI_5 = 0xC03111, 0xD04170


@pytest.fixture
def chip(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chip]:
    """Give a chip in place of lgpio's, and a gpiozero that has not chosen its pins yet."""
    made = Chip()
    monkeypatch.setitem(sys.modules, "lgpio", made)
    monkeypatch.delitem(sys.modules, "gpiozero.pins.lgpio", raising=False)
    monkeypatch.setattr(gpiozero.Device, "pin_factory", None)
    monkeypatch.delenv("GPIOZERO_PIN_FACTORY", raising=False)
    monkeypatch.setattr(gpiozero.pins.local, "get_pi_revision", lambda: PI_5)
    yield made
    LocalPiFactory.pins.clear()
    LocalPiFactory._reservations.clear()
    sys.modules.pop("gpiozero.pins.lgpio", None)


@pytest.mark.parametrize("revision", [PI_4, PI_5])
def test_a_press_has_the_kernels_time_of_its_edge(chip: Chip, monkeypatch: pytest.MonkeyPatch, revision: int) -> None:
    monkeypatch.setattr(gpiozero.pins.local, "get_pi_revision", lambda: revision)
    clock, told = Clock(), list[Report]()
    monkeypatch.setattr(gpiozero.pins.local, "monotonic", clock.seconds)
    with SeatButtons(PLAIN, told.append, clock_ns=clock.now, ticking=False) as buttons:
        edge = clock.ns
        clock.sleep(1)
        for after_ms, level in [(0, 0), (1, 1), (2, 0), (90, 1)]:
            chip.happen(13, level, edge - BOOT + after_ms * MS)
        buttons.pass_time()
    assert told == [Pressed("west", edge), Released("west", edge + 90 * MS)]


def test_contacts_are_pulled_up_lamps_are_outputs_and_nothing_is_debounced_by_lgpio(chip: Chip) -> None:
    with SeatButtons(FULL, lambda _: None, ticking=False) as buttons:
        buttons.show("east", "on")
        assert {line for line, mode in chip.modes.items() if mode == Chip.SET_PULL_UP} == {5, 6, 13, 19, 20, 21, 12, 16}
        assert {line: chip.levels[line] for line, mode in chip.modes.items() if mode == 2} == {
            17: 1,
            27: 0,
            22: 0,
            23: 0,
        }
        assert sorted(chip.heard) == [5, 6, 12, 13, 16, 19, 20, 21]
    assert (chip.heard, chip.levels[17], chip.debounced) == ({}, 0, [])


def test_lgpios_pins_are_taken_and_no_others_in_their_place(chip: Chip, monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(kernel_pins()).__name__ == "LGPIOFactory"
    monkeypatch.setattr(gpiozero.Device, "pin_factory", None)

    def refuse(_: int) -> int:
        raise PermissionError("can not open gpiochip")

    monkeypatch.setattr(chip, "gpiochip_open", refuse)
    with pytest.raises(DeviceMissing, match="no pins here: can not open gpiochip"):
        kernel_pins()


def test_the_offset_between_two_clocks_is_found_once_by_the_quickest_look() -> None:
    clock = Clock()

    class Slow:
        """The first looks are interrupted for a second each."""

        looks = 0

        def ticks(self) -> float:
            self.looks += 1
            ticks = clock.seconds()
            if self.looks < 4:
                clock.sleep(1)
            return ticks

    assert offset_ns(Slow(), clock.now) == 1_000_000_000_000
