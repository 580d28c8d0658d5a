"""Draw the wiring of the buttons as SVG, at a Raspberry Pi's header and at the button box's Pico.

`python -m firmware.diagrams header` and `python -m firmware.diagrams box` print the drawings used in docs/.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from firmware.pico.assembly import BUTTONS, LAMPS
from firmware.reports import SEATS, Seat
from firmware.wiring import BY_GPIO, FULL_WIRING, HEADER, RESERVED, HeaderPin, Wiring

PITCH: Final = 30
HEADER_TOP: Final = 84
HEADER_COLUMNS: Final = (190, 228)
"""Centres of the header's odd and even pins."""

_LANES: Final = (400, 15)
"""Where the first wire turns, and the distance to the next."""

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


def _drawing(height: int, parts: Iterable[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 {height}" font-family="sans-serif" font-size="13">'
    )
    return "\n".join([head, f'<rect width="920" height="{height}" fill="#fff"/>', *parts, "</svg>", ""])


def _colour(seat: Seat, what: str) -> str:
    return _POWER_COLOURS["GND"] if what == "ground" else _SEAT_COLOURS[seat]


def _wire(seat: Seat, what: str, points: str) -> str:
    dash = f' stroke-dasharray="{_DASHES[what]}"' if _DASHES[what] else ""
    return f'<polyline points="{points}" fill="none" stroke="{_colour(seat, what)}" stroke-width="2"{dash}/>'


def _pin(x: float, y: float, position: int, name: str, fill: str, used: str | None, place: str) -> Iterator[str]:
    """Draw a pin with its number, and its name at `place` beside it, in the colour of the seat that uses it."""
    ink = "#fff" if used or name == "GND" else "#1c1b1f"
    weight = ' font-weight="bold"' if used else ""
    yield f'<circle cx="{x}" cy="{y}" r="11" fill="{used or fill}" stroke="#49454f"/>'
    yield f'<text x="{x}" y="{y + 4}" font-size="11" text-anchor="middle" fill="{ink}">{position}</text>'
    yield f'<text {place} y="{y + 4}" fill="{used or "#49454f"}"{weight}>{name}</text>'


def _button(seat: Seat, box: tuple[int, int, int], dots: int, terminals: Mapping[str, float]) -> Iterator[str]:
    """Draw a button and its terminals, given as purpose and height, with their dots at x = `dots`."""
    left, width, height = box
    top, colour = terminals["button"] - 42, _SEAT_COLOURS[seat]
    size = f'x="{left}" y="{top}" width="{width}" height="{height}"'
    yield f'<rect {size} rx="8" fill="#fff" stroke="{colour}" stroke-width="2"/>'
    yield f'<text x="{left + 14}" y="{top + 24}" font-size="15" font-weight="bold" fill="{colour}">{seat}</text>'
    for what, y in terminals.items():
        yield f'<circle cx="{dots}" cy="{y}" r="4" fill="{_colour(seat, what)}"/>'
        yield f'<text x="{left + 14}" y="{y + 4}" fill="#1c1b1f">{_TERMINAL_LABELS[what]}</text>'


@dataclass(frozen=True, slots=True)
class _HeaderWire:
    """A wire: its seat, its purpose and its position on the header."""

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
        *map(_header_wire, wires),
        *(line for pin in HEADER for line in _header_pin(pin, used.get(pin.position))),
        *(line for seat in SEATS for line in _header_button(seat, wiring)),
    ]
    return _drawing(HEADER_TOP + 20 * PITCH + 40, parts)


def _header_wires(wiring: Wiring) -> Iterator[_HeaderWire]:
    """Return all wires. Lanes follow the position: upper pins turn further out, so that fewer wires cross."""
    ends = [(seat, what, BY_GPIO[gpio].position) for seat, pins in wiring.items() for what, gpio in pins.used().items()]
    ends.sort(key=lambda end: -_header_height(end[2]))
    for lane, (seat, what, position) in enumerate(ends, 1):
        yield _HeaderWire(seat, what, position, lane)
    for seat in wiring:
        yield _HeaderWire(seat, "ground", _GROUND, 0)


def _header_height(position: int) -> float:
    """Return the height at which a pin's wire leaves the header. Wires of odd pins pass between two rows."""
    row = HEADER_TOP + (position - 1) // 2 * PITCH
    return row + PITCH / 2 if position % 2 else row


def _header_terminal(seat: Seat, what: str) -> float:
    """Return the height at which a wire ends, clear of the heights at which wires leave the header."""
    return 110.25 + SEATS.index(seat) * 165 + _TERMINALS.index(what) * 22.5


def _header_wire(wire: _HeaderWire) -> str:
    start, end = _header_height(wire.position), _header_terminal(wire.seat, wire.what)
    turn, column = _LANES[0] + wire.lane * _LANES[1], HEADER_COLUMNS[(wire.position - 1) % 2]
    first = (
        f"{column},{start - PITCH / 2} {column + PITCH / 2},{start}" if wire.position % 2 else f"{column + 76},{start}"
    )
    return _wire(wire.seat, wire.what, f"{first} {turn},{start} {turn},{end} {_BUTTON_BOX[0]},{end}")


def _header_pin(pin: HeaderPin, used: str | None) -> Iterator[str]:
    x, y = HEADER_COLUMNS[(pin.position - 1) % 2], HEADER_TOP + (pin.position - 1) // 2 * PITCH
    also = "kept" if pin.gpio in RESERVED else pin.also
    name = f"{pin.name} ({also})" if also else pin.name
    place = f'x="{x - 20}" text-anchor="end"' if pin.position % 2 else f'x="{x + 20}" text-anchor="start"'
    return _pin(x, y, pin.position, name, _POWER_COLOURS.get(pin.name, "#e6e0e9"), used, place)


def _header_button(seat: Seat, wiring: Wiring) -> Iterator[str]:
    terminals = {what: _header_terminal(seat, what) for what in ("ground", *wiring[seat].used())}
    return _button(seat, _BUTTON_BOX, _BUTTON_BOX[0], terminals)


def _header_heading() -> Iterable[str]:
    yield '<text x="20" y="28" font-size="18" font-weight="bold">Four buttons on a Raspberry Pi 4 or 5</text>'
    text = (
        "Seen from above, the USB sockets at the bottom. Numbers in circles are positions on the header, "
        "GPIO numbers those of the configuration."
    )
    yield f'<text x="20" y="50" fill="#49454f">{text}</text>'


BOX_GROUNDS: Final = (3, 8, 13, 18)
"""Positions of the ground pins on this side, in seat order: one for each seat, so that no screw holds more than one
wire."""

BOX_POSITIONS: Final = tuple(position for position in range(1, 21) if position not in BOX_GROUNDS)
"""Positions of GP0, GP1, ... (Raspberry Pi Pico datasheet, "Pinout")."""

BOX_TOP: Final = 108
BOX_BOARD: Final = (640, 250)
"""The Pico: its left edge, where the pins are, and its width."""

_BOX_BUTTON_BOX: Final = (30, 250, 105)
"""The buttons: left edge, width, height."""

_BOX_LANES: Final = (610, 24)
"""Where the first wire turns, and the distance to the next, leftwards."""

_BOX_TERMINALS: Final = ("button", "lamp", "ground")


@dataclass(frozen=True, slots=True)
class BoxWire:
    """A wire from a position on the Pico to a terminal of a seat's button."""

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
    drawn = sorted(box_wires(), key=_box_terminal, reverse=True)  # in this order the fewest wires cross
    used = {wire.position: _SEAT_COLOURS[wire.seat] for wire in drawn if wire.what != "ground"}
    parts = [
        *_box_heading(),
        *_box_board(),
        *(_box_line(wire, lane) for lane, wire in enumerate(drawn)),
        *(line for position in range(1, 21) for line in _box_pin(position, used.get(position))),
        *(line for seat in SEATS for line in _box_button(seat)),
    ]
    return _drawing(BOX_TOP + 20 * PITCH + 20, parts)


def _box_height(position: int) -> float:
    return BOX_TOP + (position - 1) * PITCH


def _box_terminal(wire: BoxWire) -> float:
    """Return the height at which a wire ends, clear of the heights of pins."""
    return 141.75 + SEATS.index(wire.seat) * 150 + _BOX_TERMINALS.index(wire.what) * 22.5


def _box_line(wire: BoxWire, lane: int) -> str:
    turn, start, end = _BOX_LANES[0] - lane * _BOX_LANES[1], _box_height(wire.position), _box_terminal(wire)
    points = f"{BOX_BOARD[0]},{start} {turn},{start} {turn},{end} {_BOX_BUTTON_BOX[0] + _BOX_BUTTON_BOX[1]},{end}"
    return _wire(wire.seat, wire.what, points)


def _box_pin(position: int, used: str | None) -> Iterator[str]:
    ground = position in BOX_GROUNDS
    name = "GND" if ground else f"GP{BOX_POSITIONS.index(position)}"
    fill = _POWER_COLOURS["GND"] if ground else "#e6e0e9"
    return _pin(BOX_BOARD[0], _box_height(position), position, name, fill, used, f'x="{BOX_BOARD[0] + 20}"')


def _box_button(seat: Seat) -> Iterator[str]:
    terminals = {what: _box_terminal(BoxWire(seat, what, 0)) for what in _BOX_TERMINALS}
    return _button(seat, _BOX_BUTTON_BOX, _BOX_BUTTON_BOX[0] + _BOX_BUTTON_BOX[1], terminals)


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
