"""What seats and winds are called, on every page, screen and sheet."""

from collections.abc import Mapping
from typing import Final

from broker.i18n import N_, Message

SEAT_NAMES: Final[Mapping[str, Message]] = {
    "east": N_("East"),
    "south": N_("South"),
    "west": N_("West"),
    "north": N_("North"),
}

SUIT_SIGNS: Final[Mapping[str, str]] = {"m": "萬", "p": "筒", "s": "索"}
HONOUR_SIGNS: Final = "東南西北白發中"


def tile_signs(face: str) -> tuple[str, str]:
    """Return what is drawn on a tile: a rank and the sign of its suit, or no rank and an honour's sign."""
    rank, suit = face[0], face[1]
    return ("", HONOUR_SIGNS[int(rank) - 1]) if suit == "z" else (rank, SUIT_SIGNS[suit])


SEAT_LETTERS: Final[Mapping[str, Message]] = {
    "east": N_("E"),
    "south": N_("S"),
    "west": N_("W"),
    "north": N_("N"),
}
