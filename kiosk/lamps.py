"""What the lamps in the buttons show: made from what the screen shows, so they know of presses no more than it does."""

from firmware.reports import SEATS, Lamp, Seat
from kiosk.screens.shown import Shown

ASKING = ("seating", "confirming", "accepting")


def lamps(shown: Shown) -> dict[Seat, Lamp]:
    """Blink where a press is waited for, shine where it was given or a hu is told, else be dark: in a play all are."""
    return {seat: _lamp(shown, seat) for seat in SEATS}


def _lamp(shown: Shown, seat: Seat) -> Lamp:
    if shown.self_test is not None:
        return "on" if seat in shown.self_test.right else "blink" if seat == shown.self_test.asked else "off"
    if shown.paused:
        return "off"
    if shown.state in ASKING:
        return "on" if seat in shown.marked else "blink"
    return "on" if seat in shown.declared else "off"
