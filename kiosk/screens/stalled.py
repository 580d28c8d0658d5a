"""The card has no room: the table stands still, and says so by the clock, not by what anybody does."""

from typing import Final

from kiosk.errors import JournalFull
from kiosk.screens import style
from kiosk.screens.middle import Middle
from kiosk.screens.pen import Said
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words

FULL: Final = f"disk: {JournalFull.code}"


def stalled(words: Words, shown: Shown) -> Middle | None:
    """Whatever the table was doing."""
    if FULL not in shown.line.health:
        return None
    return Middle((Said(words("stalled"), 0.11, style.ATTENTION), Said(words("stalled_help"), 0.06, style.TEXT)))
