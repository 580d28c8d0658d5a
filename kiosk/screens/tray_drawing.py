"""A tray as it lies before the camera: 34 places in three rows, each with a sign for how it is, beside its colour."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import pygame

from broker.contract.words import Seat
from broker.rules.deal import ROWS
from kiosk.screens import style
from kiosk.screens.pen import Pen
from kiosk.table.restoring.lying import Carrier, Lying, What
from kiosk.table.restoring.moves import Move, Shift, Swap, places_of
from kiosk.table.restoring.places import PLACES, Deal, Place

SIGNS: Final = {What.UNREAD: "?", What.COVERED: "?", What.UNSEEN: "", What.FOREIGN: "!", What.FACE_UP: "!"}

SHAPE: Final = 0.72
"""Of a tile: its width by its height."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn of one tray. `texts` stand in their places, `strong` places are filled."""

    seat: Seat
    colours: Mapping[Place, style.Colour] = field(default_factory=dict)
    texts: Mapping[Place, str] = field(default_factory=dict)
    strong: tuple[Place, ...] = ()
    arrow: bool = False
    """An arrow leads between the two strong places."""

    def paint(self, surface: pygame.Surface, room: pygame.Rect, pen: Pen) -> None:
        """Draw it as large as there is room."""
        boxes = cells(self.seat, room)
        for place, box in boxes.items():
            self._cell(surface, box, place, pen)
        here = [boxes[place] for place in self.strong if place in boxes]
        if self.arrow and len(here) == 2:  # noqa: PLR2004 - from one to the other
            pygame.draw.line(surface, style.TEXT, here[0].center, here[1].center, max(2, here[0].width // 12))

    def _cell(self, surface: pygame.Surface, box: pygame.Rect, place: Place, pen: Pen) -> None:
        colour, strong = self.colours.get(place, style.LINE), place in self.strong
        radius = max(2, box.width // 8)
        pygame.draw.rect(surface, colour if strong else style.PANEL, box, border_radius=radius)
        pygame.draw.rect(surface, colour, box, width=max(1, box.width // 14), border_radius=radius)
        if text := self.texts.get(place, ""):
            share = 0.62 * box.height / surface.get_height()
            high = pen.height(text, share, box.width - 2)
            ink = style.GROUND if strong else colour
            at = (box.centerx, box.centery - high // 2)
            pen.write(surface, text, at, share, ink, box.width - 2, align="centre")


def cells(seat: Seat, room: pygame.Rect) -> dict[Place, pygame.Rect]:
    """Give the rectangle of each place: rows as the player sees them, from the left."""
    gap = max(2, room.height // 40)
    height = (room.height - 2 * gap) // len(ROWS)
    width = min((room.width - (ROWS[0] - 1) * gap) // ROWS[0], round(height / SHAPE))
    height = min(height, round(width / SHAPE))
    left = room.centerx - (ROWS[0] * (width + gap) - gap) // 2
    top = room.centery - (len(ROWS) * (height + gap) - gap) // 2
    return {
        place: pygame.Rect(left + place.col * (width + gap), top + place.row * (height + gap), width, height)
        for place in PLACES
        if place.seat == seat
    }


def of_look(carrier: Carrier, deal: Deal, seat: Seat, move: Move | None) -> Callable[..., None]:
    """Give what draws a tray that was looked at: what is wrong has a sign, the places of the next move are filled."""
    here = {place: carrier[place] for place in PLACES if place.seat == seat}
    wrong = {place for place, lying in here.items() if not _right(lying, deal[place])}
    return Drawn(
        seat,
        colours={place: style.ATTENTION if place in wrong else style.EDGE for place in here},
        texts={place: _sign(lying) for place, lying in here.items() if place in wrong},
        strong=places_of(move) if move is not None else (),
        arrow=isinstance(move, Swap | Shift),
    ).paint


def _right(lying: Lying, wanted: int) -> bool:
    return lying.serial == wanted and lying.well


def _sign(lying: Lying) -> str:
    if lying.what is What.EMPTY:
        return "–"
    return SIGNS.get(lying.what, "×" if lying.well else "!")
