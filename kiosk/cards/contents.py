"""What is on each card: moments with the sentence that belongs to each, and what else to know."""

from dataclasses import dataclass
from typing import Final

from kiosk.cards import moments
from kiosk.screens.shown import Shown


@dataclass(frozen=True, slots=True)
class Card:
    """One card. Sentences are named, and found in the catalogue."""

    name: str
    moments: tuple[tuple[str, Shown], ...]
    """In the order of a play."""
    besides: tuple[str, ...]


STAFF: Final = Card(
    "staff",
    (
        ("card_restore", moments.RESTORING),
        ("card_fault", moments.FAULT),
        ("card_confirm", moments.CONFIRMING),
        ("card_stay_away", moments.PLAYING),
        ("card_value", moments.VALUE),
        ("card_next", moments.RECORDED),
    ),
    ("card_offline", "card_cable", "card_dark", "card_call"),
)

PLAYERS: Final = Card(
    "players",
    (
        ("card_order", moments.CONFIRMING),
        ("card_hu", moments.PLAYING),
        ("card_declared", moments.DECLARED),
        ("card_accept", moments.RESULT),
    ),
    ("card_hold", "card_false_hu", "card_nobody", "card_call"),
)

CARDS: Final = (STAFF, PLAYERS)
