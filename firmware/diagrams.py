"""Draw the wiring of the buttons as SVG: at a Raspberry Pi's header and at the button box's Pico.

`python -m firmware.diagrams header` and `python -m firmware.diagrams box` write the drawings of docs/.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from firmware.pico.assembly import BUTTONS, LAMPS
from firmware.reports import SEATS, Seat
from firmware.wiring import BY_GPIO, FULL_WIRING, HEADER, RESERVED, HeaderPin, Wiring

PITCH: Final = 30
HEADER_TOP: Final = 84
HEADER_COLUMNS: Final = (190, 228)
"""Middle of the header's odd and even pins."""

_LANES: Final = (400, 15)
"""Where the first wire turns, and how far to the next."""

_BUTTON_BOX: Final = (640, 250, 128)
"""The buttons: left edge, width, height."""

_GROUND: Final = 39
"""The position of the ground pin that all buttons share."""

_SEAT_COLOURS: Final = {"east": "#b3261e", "south": "#1b6e3c", "west": "#1d4f91", "north": "#8a5a00"}
_POWER_COLOURS: Final = {"5V": "#e46962", "3V3": "#eeb76b", "GND": "#1c1b1f"}
_DASHES: Final = {"button": "", "second contact": "7 4", "lamp": "2 4", "ground": ""}
_TERMINALS: Final = ("button", "second contact", "lamp", "ground")
_TERMINAL_LABELS: Final = {
    "button": "closes when pressed",
    "second contact": "opens when pressed",
    "lamp": "lamp + (330 Ω before it)",
    "ground": "common, and lamp −",
}


@dataclass(frozen=True, slots=True)
class _HeaderWire:
    """A wire: whose, what for, and at which position of the header it begins."""

    seat: Seat
    what: str
    position: int
    lane: int


def draw_header_wiring(wiring: Wiring) -> str:
    """Return the drawing as SVG."""
    wires = list(_header_wires(wiring))
    used = {wire.position: _SEAT_COLOURS[wire.seat] for wire in wires if wire.what != "ground"}
    parts = [
        *_header_heading(),
        *(line for wire in wires for line in _header_wire(wire)),
        *(line for pin in HEADER for line in _header_pin(pin, used.get(pin.position))),
        *(line for seat in SEATS for line in _header_button(seat, wiring)),
    ]
    height = HEADER_TOP + 20 * PITCH + 40
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 {height}" font-family="sans-serif" font-size="13">'
    )
    return "\n".join([head, f'<rect width="920" height="{height}" fill="#fff"/>', *parts, "</svg>", ""])


def _header_wires(wiring: Wiring) -> Iterator[_HeaderWire]:
    """Return all wires. Lanes go by position: upper pins turn further out, so that fewer wires cross."""
    ends = [(seat, what, BY_GPIO[gpio].position) for seat, pins in wiring.items() for what, gpio in pins.used().items()]
    ends.sort(key=lambda end: -_header_height(end[2]))
    for lane, (seat, what, position) in enumerate(ends, 1):
        yield _HeaderWire(seat, what, position, lane)
    for seat in wiring:
        yield _HeaderWire(seat, "ground", _GROUND, 0)


def _header_height(position: int) -> float:
    """Return where the wire of a pin leaves the header: odd ones pass between two rows."""
    row = HEADER_TOP + (position - 1) // 2 * PITCH
    return row + PITCH / 2 if position % 2 else row


def _header_terminal(seat: Seat, what: str) -> float:
    """Return where a wire ends. The numbers keep it clear of the heights at which wires leave the header."""
    return 110.25 + SEATS.index(seat) * 165 + _TERMINALS.index(what) * 22.5


def _header_wire(wire: _HeaderWire) -> Iterator[str]:
    start, end, turn = (
        _header_height(wire.position),
        _header_terminal(wire.seat, wire.what),
        _LANES[0] + wire.lane * _LANES[1],
    )
    column = HEADER_COLUMNS[(wire.position - 1) % 2]
    first = (
        f"{column},{start - PITCH / 2} {column + PITCH / 2},{start}" if wire.position % 2 else f"{column + 76},{start}"
    )
    colour = _POWER_COLOURS["GND"] if wire.what == "ground" else _SEAT_COLOURS[wire.seat]
    dash = f' stroke-dasharray="{_DASHES[wire.what]}"' if _DASHES[wire.what] else ""
    points = f"{first} {turn},{start} {turn},{end} {_BUTTON_BOX[0]},{end}"
    yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'


def _header_pin(pin: HeaderPin, used: str | None) -> Iterator[str]:
    x, y = HEADER_COLUMNS[(pin.position - 1) % 2], HEADER_TOP + (pin.position - 1) // 2 * PITCH
    fill = used or _POWER_COLOURS.get(pin.name, "#e6e0e9")
    yield f'<circle cx="{x}" cy="{y}" r="11" fill="{fill}" stroke="#49454f"/>'
    ink = "#fff" if used or pin.name == "GND" else "#1c1b1f"
    yield f'<text x="{x}" y="{y + 4}" font-size="11" text-anchor="middle" fill="{ink}">{pin.position}</text>'
    also = "kept" if pin.gpio in RESERVED else pin.also
    name = f"{pin.name} ({also})" if also else pin.name
    at = f'x="{x - 20}" text-anchor="end"' if pin.position % 2 else f'x="{x + 20}" text-anchor="start"'
    weight = ' font-weight="bold"' if used else ""
    yield f'<text {at} y="{y + 4}" fill="{used or "#49454f"}"{weight}>{name}</text>'


def _header_button(seat: Seat, wiring: Wiring) -> Iterator[str]:
    left, width, height = _BUTTON_BOX
    top, colour = _header_terminal(seat, "button") - 42, _SEAT_COLOURS[seat]
    size = f'x="{left}" y="{top}" width="{width}" height="{height}"'
    yield f'<rect {size} rx="8" fill="#fff" stroke="{colour}" stroke-width="2"/>'
    yield f'<text x="{left + 14}" y="{top + 24}" font-size="15" font-weight="bold" fill="{colour}">{seat}</text>'
    for what in ("ground", *wiring[seat].used()):
        y = _header_terminal(seat, what)
        yield f'<circle cx="{left}" cy="{y}" r="4" fill="{_POWER_COLOURS["GND"] if what == "ground" else colour}"/>'
        yield f'<text x="{left + 14}" y="{y + 4}" fill="#1c1b1f">{_TERMINAL_LABELS[what]}</text>'


def _header_heading() -> Iterable[str]:
    yield '<text x="20" y="28" font-size="18" font-weight="bold">Four buttons on a Raspberry Pi 4 or 5</text>'
    text = (
        "Seen from above, the USB sockets at the bottom. Numbers in circles are positions on the header, "
        "GPIO numbers those of the configuration."
    )
    yield f'<text x="20" y="50" fill="#49454f">{text}</text>'


BOX_GROUNDS: Final = (3, 8, 13, 18)
"""Positions of the ground pins on this side, east's first: one a seat, so that no screw holds more than one wire."""

BOX_POSITIONS: Final = tuple(position for position in range(1, 21) if position not in BOX_GROUNDS)
"""Where GP0 is, where GP1, ... (Raspberry Pi Pico datasheet, "Pinout")."""

BOX_TOP: Final = 108
BOX_BOARD: Final = (640, 250)
"""The Pico: left edge, on which its pins are, and width."""

_BOX_BUTTON_BOX: Final = (30, 250, 105)
"""The buttons: left edge, width, height."""

_BOX_LANES: Final = (610, 24)
"""Where the first wire turns, and how far to the left the next."""

_BOX_TERMINALS: Final = ("button", "lamp", "ground")


@dataclass(frozen=True, slots=True)
class BoxWire:
    """From a position on the Pico to a terminal of a seat's button."""

    seat: Seat
    what: str
    position: int


def box_wires() -> Iterator[BoxWire]:
    """Return all wires by seat."""
    for seat, button, lamp, ground in zip(SEATS, BUTTONS, LAMPS, BOX_GROUNDS, strict=True):
        yield BoxWire(seat, "button", BOX_POSITIONS[button])
        yield BoxWire(seat, "lamp", BOX_POSITIONS[lamp])
        yield BoxWire(seat, "ground", ground)


def draw_box_wiring() -> str:
    """Return the drawing as SVG."""
    drawn = sorted(box_wires(), key=_box_terminal, reverse=True)  # so the fewest wires cross
    used = {wire.position: _SEAT_COLOURS[wire.seat] for wire in drawn if wire.what != "ground"}
    parts = [
        *_box_heading(),
        *_box_board(),
        *(_box_line(wire, lane) for lane, wire in enumerate(drawn)),
        *(line for position in range(1, 21) for line in _box_pin(position, used.get(position))),
        *(line for seat in SEATS for line in _box_button(seat)),
    ]
    height = BOX_TOP + 20 * PITCH + 20
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 {height}" font-family="sans-serif" font-size="13">'
    )
    return "\n".join([head, f'<rect width="920" height="{height}" fill="#fff"/>', *parts, "</svg>", ""])


def _box_height(position: int) -> float:
    return BOX_TOP + (position - 1) * PITCH


def _box_terminal(wire: BoxWire) -> float:
    """Return where a wire ends. The numbers keep it clear of the heights of pins."""
    return 141.75 + SEATS.index(wire.seat) * 150 + _BOX_TERMINALS.index(wire.what) * 22.5


def _box_line(wire: BoxWire, lane: int) -> str:
    turn, start, end = _BOX_LANES[0] - lane * _BOX_LANES[1], _box_height(wire.position), _box_terminal(wire)
    colour = _POWER_COLOURS["GND"] if wire.what == "ground" else _SEAT_COLOURS[wire.seat]
    dash = f' stroke-dasharray="{_DASHES[wire.what]}"' if _DASHES[wire.what] else ""
    points = f"{BOX_BOARD[0]},{start} {turn},{start} {turn},{end} {_BOX_BUTTON_BOX[0] + _BOX_BUTTON_BOX[1]},{end}"
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'


def _box_pin(position: int, used: str | None) -> Iterator[str]:
    x, y, ground = BOX_BOARD[0], _box_height(position), position in BOX_GROUNDS
    fill, ink = used or (_POWER_COLOURS["GND"] if ground else "#e6e0e9"), "#fff" if used or ground else "#1c1b1f"
    yield f'<circle cx="{x}" cy="{y}" r="11" fill="{fill}" stroke="#49454f"/>'
    yield f'<text x="{x}" y="{y + 4}" font-size="11" text-anchor="middle" fill="{ink}">{position}</text>'
    name = "GND" if ground else f"GP{BOX_POSITIONS.index(position)}"
    weight = ' font-weight="bold"' if used else ""
    yield f'<text x="{x + 20}" y="{y + 4}" fill="{used or "#49454f"}"{weight}>{name}</text>'


def _box_button(seat: Seat) -> Iterator[str]:
    left, width, height = _BOX_BUTTON_BOX
    top, colour = _box_terminal(BoxWire(seat, "button", 0)) - 42, _SEAT_COLOURS[seat]
    size = f'x="{left}" y="{top}" width="{width}" height="{height}"'
    yield f'<rect {size} rx="8" fill="#fff" stroke="{colour}" stroke-width="2"/>'
    yield f'<text x="{left + 14}" y="{top + 24}" font-size="15" font-weight="bold" fill="{colour}">{seat}</text>'
    for what in _BOX_TERMINALS:
        y, dot = _box_terminal(BoxWire(seat, what, 0)), _POWER_COLOURS["GND"] if what == "ground" else colour
        yield f'<circle cx="{left + width}" cy="{y}" r="4" fill="{dot}"/>'
        yield f'<text x="{left + 14}" y="{y + 4}" fill="#1c1b1f">{_TERMINAL_LABELS[what]}</text>'


def _box_board() -> Iterator[str]:
    left, width = BOX_BOARD
    yield (
        f'<rect x="{left}" y="{BOX_TOP - 24}" width="{width}" height="{20 * PITCH + 18}" rx="8" fill="#f3faf5" '
        f'stroke="#49454f"/>'
    )
    middle = left + width / 2
    size = f'x="{middle - 40}" y="{BOX_TOP - 40}" width="80" height="34"'
    yield f'<rect {size} rx="4" fill="#cac4d0" stroke="#49454f"/>'
    yield f'<text x="{middle}" y="{BOX_TOP - 19}" text-anchor="middle" fill="#1c1b1f">USB</text>'


def _box_heading() -> Iterable[str]:
    yield '<text x="20" y="28" font-size="18" font-weight="bold">Four buttons on a Raspberry Pi Pico</text>'
    yield (
        '<text x="20" y="50" fill="#49454f">Seen from above, the USB socket at the top. Numbers in circles are '
        "positions; the right side is not used.</text>"
    )


if __name__ == "__main__":
    sys.stdout.write(draw_box_wiring() if sys.argv[1:] == ["box"] else draw_header_wiring(FULL_WIRING))
