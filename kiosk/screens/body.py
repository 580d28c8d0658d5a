"""Which screen is in the middle of the table's layout: the first in this list whose turn it is."""

from typing import Final

from kiosk.screens.form import entering
from kiosk.screens.middle import Middle, Screen
from kiosk.screens.plain import paused, plain, playing
from kiosk.screens.result import result
from kiosk.screens.shown import Shown
from kiosk.screens.stopped import another_carrier, stopped
from kiosk.screens.trays import tray
from kiosk.screens.words import Words

SCREENS: Final[tuple[Screen, ...]] = (
    paused,
    entering,
    result,
    stopped,
    another_carrier,
    tray,
    playing,
)


def middle(words: Words, shown: Shown) -> Middle:
    """Give what is in the middle."""
    for screen in SCREENS:
        if (found := screen(words, shown)) is not None:
            return found
    return plain(words, shown)
