"""Walks through the self-test: asks, listens, and lets the lamp of the seat asked blink."""

import queue
import threading
import time
from collections.abc import Callable
from typing import Protocol

from firmware.addresses import open_buttons
from firmware.contact import TooShort
from firmware.hardware.self_test import Remark, SelfTest
from firmware.reports import Report, Seat
from firmware.ticker import NS


class Presser(Protocol):
    """Simulated fingers, at pins or elsewhere."""

    def press(self, seat: Seat) -> None:
        """Press one button and let it go."""


def walk(address: str, wait_s: float, say: Callable[[Remark], None]) -> SelfTest:
    """Open the buttons and test them. Raises BadAddress, PinInUse, PinReserved, DeviceMissing.

    Simulated fingers press what is asked, by themselves.
    """
    told: queue.Queue[Report | TooShort] = queue.Queue()
    test = SelfTest(round(wait_s * NS))
    opened = open_buttons(address, told.put, told.put)

    def show(remarks: list[Remark]) -> None:
        for remark in remarks:
            say(remark)
            if remark.said in ("right", "timed_out"):
                opened.buttons.show(remark.seat, "on" if remark.said == "right" else "off")
            elif remark.said == "asked":
                opened.buttons.show(remark.seat, "blink")
                _press(opened.fingers, remark)

    with opened.buttons:
        show(test.begin(time.monotonic_ns()))
        while test.asked is not None:
            try:
                left = ((test.due or 0) - time.monotonic_ns()) / NS
                one = told.get(timeout=max(0.0, left))
                show(test.take(one, time.monotonic_ns()))
            except queue.Empty:
                show(test.pass_time(time.monotonic_ns()))
    return test


def _press(fingers: Presser | None, remark: Remark) -> None:
    if fingers is not None:
        threading.Thread(target=fingers.press, args=(remark.seat,), name="a simulated player", daemon=True).start()
