"""What is on each card: moments with the sentence that belongs to each, and what else to know."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kiosk.cards import moments
from kiosk.screens.shown import Shown


@dataclass(frozen=True, slots=True)
class Card:
    """One card. Sentences are named, and found in the catalogue."""

    name: str
    moments: tuple[tuple[str, Shown | Callable[[], Shown]], ...]
    """In the order of a play; what takes time to draw is made when it is wanted."""
    besides: tuple[str, ...]


STAFF: Final = Card(
    "staff",
    (
        ("card_heap", moments.heap),
        ("card_fault", moments.fault),
        ("card_confirm", moments.CONFIRMING),
        ("card_stay_away", moments.PLAYING),
        ("card_value", moments.VALUE),
        ("card_next", moments.RECORDED),
    ),
    ("card_seats", "card_offline", "card_cable", "card_dark", "card_call"),
)

PLAYERS: Final = Card(
    "players",
    (
        ("card_sit", moments.SEATING),
        ("card_order", moments.CONFIRMING),
        ("card_hu", moments.PLAYING),
        ("card_nobody", moments.NOBODY),
        ("card_declared", moments.DECLARED),
        ("card_accept", moments.RESULT),
    ),
    ("card_hold", "card_false_hu", "card_call"),
)

RIICHI: Final = Card(
    "riichi",
    (
        ("card_riichi_sit", moments.RIICHI_SEATING),
        ("card_riichi_win", moments.RIICHI_PLAYING),
        ("card_riichi_tenpai", moments.RIICHI_TENPAI),
        ("card_riichi_pay", moments.RIICHI_RESULT),
    ),
    ("card_riichi_next", "card_offline", "card_call"),
)

CARDS: Final = (STAFF, PLAYERS, RIICHI)
