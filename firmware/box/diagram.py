"""Draws the wiring of the button box: the side of the Pico that is used, four buttons and every wire, from its pin map.

`python -m firmware.box.diagram > docs/button-box.svg`; `make docs` does it.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from firmware.diagram import COLOURS, DASHES, PLAIN, SAYS
from firmware.pico.assembly import BUTTONS, LAMPS
from firmware.reports import SEATS, Seat

GROUNDS: Final = (3, 8, 13, 18)
"""Positions of the ground pins on this side, east's first: one a seat, so that no screw holds more than one wire."""

POSITIONS: Final = tuple(position for position in range(1, 21) if position not in GROUNDS)
"""Where GP0 is, where GP1, ... (Raspberry Pi Pico datasheet, "Pinout")."""

PITCH: Final = 30
TOP: Final = 108
BOARD: Final = (640, 250)
"""The Pico: left edge, on which its pins are, and width."""

BOX: Final = (30, 250, 105)
"""The buttons: left edge, width, height."""

LANES: Final = (610, 24)
"""Where the first wire turns, and how far to the left the next."""

TERMINALS: Final = ("button", "lamp", "ground")


@dataclass(frozen=True, slots=True)
class Wire:
    """From a position on the Pico to a terminal of a seat's button."""

    seat: Seat
    what: str
    position: int


def wires() -> Iterator[Wire]:
    """Give all wires by seat."""
    for seat, button, lamp, ground in zip(SEATS, BUTTONS, LAMPS, GROUNDS, strict=True):
        yield Wire(seat, "button", POSITIONS[button])
        yield Wire(seat, "lamp", POSITIONS[lamp])
        yield Wire(seat, "ground", ground)


def draw() -> str:
    """Give the drawing as SVG."""
    drawn = sorted(wires(), key=_terminal, reverse=True)  # so the fewest wires cross
    used = {wire.position: COLOURS[wire.seat] for wire in drawn if wire.what != "ground"}
    parts = [
        *_heading(),
        *_board(),
        *(_line(wire, lane) for lane, wire in enumerate(drawn)),
        *(line for position in range(1, 21) for line in _pin(position, used.get(position))),
        *(line for seat in SEATS for line in _button(seat)),
    ]
    height = TOP + 20 * PITCH + 20
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 {height}" font-family="sans-serif" font-size="13">'
    )
    return "\n".join([head, f'<rect width="920" height="{height}" fill="#fff"/>', *parts, "</svg>", ""])


def _height(position: int) -> float:
    return TOP + (position - 1) * PITCH


def _terminal(wire: Wire) -> float:
    """Give where a wire ends. The numbers keep it clear of the heights of pins."""
    return 141.75 + SEATS.index(wire.seat) * 150 + TERMINALS.index(wire.what) * 22.5


def _line(wire: Wire, lane: int) -> str:
    turn, start, end = LANES[0] - lane * LANES[1], _height(wire.position), _terminal(wire)
    colour = PLAIN["GND"] if wire.what == "ground" else COLOURS[wire.seat]
    dash = f' stroke-dasharray="{DASHES[wire.what]}"' if DASHES[wire.what] else ""
    points = f"{BOARD[0]},{start} {turn},{start} {turn},{end} {BOX[0] + BOX[1]},{end}"
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'


def _pin(position: int, used: str | None) -> Iterator[str]:
    x, y, ground = BOARD[0], _height(position), position in GROUNDS
    fill, ink = used or (PLAIN["GND"] if ground else "#e6e0e9"), "#fff" if used or ground else "#1c1b1f"
    yield f'<circle cx="{x}" cy="{y}" r="11" fill="{fill}" stroke="#49454f"/>'
    yield f'<text x="{x}" y="{y + 4}" font-size="11" text-anchor="middle" fill="{ink}">{position}</text>'
    name = "GND" if ground else f"GP{POSITIONS.index(position)}"
    weight = ' font-weight="bold"' if used else ""
    yield f'<text x="{x + 20}" y="{y + 4}" fill="{used or "#49454f"}"{weight}>{name}</text>'


def _button(seat: Seat) -> Iterator[str]:
    left, width, height = BOX
    top, colour = _terminal(Wire(seat, "button", 0)) - 42, COLOURS[seat]
    size = f'x="{left}" y="{top}" width="{width}" height="{height}"'
    yield f'<rect {size} rx="8" fill="#fff" stroke="{colour}" stroke-width="2"/>'
    yield f'<text x="{left + 14}" y="{top + 24}" font-size="15" font-weight="bold" fill="{colour}">{seat}</text>'
    for what in TERMINALS:
        y, dot = _terminal(Wire(seat, what, 0)), PLAIN["GND"] if what == "ground" else colour
        yield f'<circle cx="{left + width}" cy="{y}" r="4" fill="{dot}"/>'
        yield f'<text x="{left + 14}" y="{y + 4}" fill="#1c1b1f">{SAYS[what]}</text>'


def _board() -> Iterator[str]:
    left, width = BOARD
    yield (
        f'<rect x="{left}" y="{TOP - 24}" width="{width}" height="{20 * PITCH + 18}" rx="8" fill="#f3faf5" '
        f'stroke="#49454f"/>'
    )
    middle = left + width / 2
    size = f'x="{middle - 40}" y="{TOP - 40}" width="80" height="34"'
    yield f'<rect {size} rx="4" fill="#cac4d0" stroke="#49454f"/>'
    yield f'<text x="{middle}" y="{TOP - 19}" text-anchor="middle" fill="#1c1b1f">USB</text>'


def _heading() -> Iterable[str]:
    yield '<text x="20" y="28" font-size="18" font-weight="bold">Four buttons on a Raspberry Pi Pico</text>'
    yield (
        '<text x="20" y="50" fill="#49454f">Seen from above, the USB socket at the top. Numbers in circles are '
        "positions; the right side is not used.</text>"
    )


if __name__ == "__main__":
    sys.stdout.write(draw())
