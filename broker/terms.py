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

SEAT_LETTERS: Final[Mapping[str, Message]] = {
    "east": N_("E"),
    "south": N_("S"),
    "west": N_("W"),
    "north": N_("N"),
}
