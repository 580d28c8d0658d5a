"""The common wall of a planned deal under riichi rules: our own layout, since no source has one.

docs/riichi-session.md: each tray has a hand of 13 and 21 tiles of the wall. The wall begins with the dealer's 21 and
goes on with those of the next players in turn order; its last 14 tiles are the dead wall.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

from broker.protocol import SEATS, Seat
from broker.rules.deal import ROWS, Deal

REPLACEMENTS: Final = 4
INDICATORS: Final = 5

DEAD: Final = REPLACEMENTS + 2 * INDICATORS
"""Tiles that nobody draws but after a kan."""


@dataclass(frozen=True, slots=True)
class CommonWall:
    """Who begins with what, and what lies where. Each kan takes the last tile of `live`, which is then not drawn."""

    hands: Mapping[Seat, tuple[str, ...]]
    live: tuple[str, ...]
    """70 tiles in the order in which they are drawn."""
    replacements: tuple[str, ...]
    indicators: tuple[str, ...]
    under: tuple[str, ...]
    """Those below the indicators, which are looked at after riichi."""


def wall_of(dealer: Seat) -> tuple[Seat, ...]:
    """Return whose 21 tiles are drawn one after the other; the last 14 of the last are the dead wall."""
    at = SEATS.index(dealer)
    return SEATS[at:] + SEATS[:at]


def common_wall(deal: Deal) -> CommonWall:
    """Return a deal as riichi plays it."""
    hand = ROWS[0]
    wall = tuple(chain.from_iterable(deal.faces[seat][hand:] for seat in wall_of(deal.dealer)))
    live, dead = wall[:-DEAD], wall[-DEAD:]
    turned = dead[REPLACEMENTS:]
    return CommonWall(
        hands={seat: deal.faces[seat][:hand] for seat in SEATS},
        live=live,
        replacements=dead[:REPLACEMENTS],
        indicators=turned[:INDICATORS],
        under=turned[INDICATORS:],
    )
