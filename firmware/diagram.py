"""Draws the wiring of a table: the Pi's header, four buttons and every wire, from the pin map.

`python -m firmware.diagram > docs/wiring.svg`; `make docs` does it.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from firmware.pinout import BY_GPIO, HEADER, RESERVED, HeaderPin
from firmware.reports import SEATS, Seat
from firmware.wiring import FULL, Wiring

PITCH: Final = 30
TOP: Final = 84
COLUMNS: Final = (190, 228)
"""Middle of the header's odd and even pins."""

LANES: Final = (400, 15)
"""Where the first wire turns, and how far to the next."""

BOX: Final = (640, 250, 128)
"""The buttons: left edge, width, height."""

GROUND: Final = 39
"""The position of the ground pin that all buttons share."""

COLOURS: Final = {"east": "#b3261e", "south": "#1b6e3c", "west": "#1d4f91", "north": "#8a5a00"}
PLAIN: Final = {"5V": "#e46962", "3V3": "#eeb76b", "GND": "#1c1b1f"}
DASHES: Final = {"button": "", "second contact": "7 4", "lamp": "2 4", "ground": ""}
TERMINALS: Final = ("button", "second contact", "lamp", "ground")
SAYS: Final = {
    "button": "closes when pressed",
    "second contact": "opens when pressed",
    "lamp": "lamp + (330 Ω before it)",
    "ground": "common, and lamp −",
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A wire: whose, what for, and at which position of the header it begins."""

    seat: Seat
    what: str
    position: int
    lane: int


def draw(wiring: Wiring) -> str:
    """Give the drawing as SVG."""
    wires = list(_wires(wiring))
    used = {wire.position: COLOURS[wire.seat] for wire in wires if wire.what != "ground"}
    parts = [
        *_heading(),
        *(line for wire in wires for line in _wire(wire)),
        *(line for pin in HEADER for line in _pin(pin, used.get(pin.position))),
        *(line for seat in SEATS for line in _button(seat, wiring)),
    ]
    height = TOP + 20 * PITCH + 40
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 {height}" font-family="sans-serif" font-size="13">'
    )
    return "\n".join([head, f'<rect width="920" height="{height}" fill="#fff"/>', *parts, "</svg>", ""])


def _wires(wiring: Wiring) -> Iterator[Drawn]:
    """Give all wires. Lanes go by position: upper pins turn further out, so that fewer wires cross."""
    ends = [(seat, what, BY_GPIO[gpio].position) for seat, pins in wiring.items() for what, gpio in pins.used().items()]
    ends.sort(key=lambda end: -_height(end[2]))
    for lane, (seat, what, position) in enumerate(ends, 1):
        yield Drawn(seat, what, position, lane)
    for seat in wiring:
        yield Drawn(seat, "ground", GROUND, 0)


def _height(position: int) -> float:
    """Give where the wire of a pin leaves the header: odd ones pass between two rows."""
    row = TOP + (position - 1) // 2 * PITCH
    return row + PITCH / 2 if position % 2 else row


def _terminal(seat: Seat, what: str) -> float:
    """Give where a wire ends. The numbers keep it clear of the heights at which wires leave the header."""
    return 110.25 + SEATS.index(seat) * 165 + TERMINALS.index(what) * 22.5


def _wire(wire: Drawn) -> Iterator[str]:
    start, end, turn = _height(wire.position), _terminal(wire.seat, wire.what), LANES[0] + wire.lane * LANES[1]
    column = COLUMNS[(wire.position - 1) % 2]
    first = (
        f"{column},{start - PITCH / 2} {column + PITCH / 2},{start}" if wire.position % 2 else f"{column + 76},{start}"
    )
    colour = PLAIN["GND"] if wire.what == "ground" else COLOURS[wire.seat]
    dash = f' stroke-dasharray="{DASHES[wire.what]}"' if DASHES[wire.what] else ""
    points = f"{first} {turn},{start} {turn},{end} {BOX[0]},{end}"
    yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'


def _pin(pin: HeaderPin, used: str | None) -> Iterator[str]:
    x, y = COLUMNS[(pin.position - 1) % 2], TOP + (pin.position - 1) // 2 * PITCH
    fill = used or PLAIN.get(pin.name, "#e6e0e9")
    yield f'<circle cx="{x}" cy="{y}" r="11" fill="{fill}" stroke="#49454f"/>'
    ink = "#fff" if used or pin.name == "GND" else "#1c1b1f"
    yield f'<text x="{x}" y="{y + 4}" font-size="11" text-anchor="middle" fill="{ink}">{pin.position}</text>'
    also = "kept" if pin.gpio in RESERVED else pin.also
    name = f"{pin.name} ({also})" if also else pin.name
    at = f'x="{x - 20}" text-anchor="end"' if pin.position % 2 else f'x="{x + 20}" text-anchor="start"'
    weight = ' font-weight="bold"' if used else ""
    yield f'<text {at} y="{y + 4}" fill="{used or "#49454f"}"{weight}>{name}</text>'


def _button(seat: Seat, wiring: Wiring) -> Iterator[str]:
    left, width, height = BOX
    top, colour = _terminal(seat, "button") - 42, COLOURS[seat]
    size = f'x="{left}" y="{top}" width="{width}" height="{height}"'
    yield f'<rect {size} rx="8" fill="#fff" stroke="{colour}" stroke-width="2"/>'
    yield f'<text x="{left + 14}" y="{top + 24}" font-size="15" font-weight="bold" fill="{colour}">{seat}</text>'
    for what in ("ground", *wiring[seat].used()):
        y = _terminal(seat, what)
        yield f'<circle cx="{left}" cy="{y}" r="4" fill="{PLAIN["GND"] if what == "ground" else colour}"/>'
        yield f'<text x="{left + 14}" y="{y + 4}" fill="#1c1b1f">{SAYS[what]}</text>'


def _heading() -> Iterable[str]:
    yield '<text x="20" y="28" font-size="18" font-weight="bold">Four buttons on a Raspberry Pi 4 or 5</text>'
    text = (
        "Seen from above, the USB sockets at the bottom. Numbers in circles are positions on the header, "
        "GPIO numbers those of the configuration."
    )
    yield f'<text x="20" y="50" fill="#49454f">{text}</text>'


if __name__ == "__main__":
    sys.stdout.write(draw(FULL))
