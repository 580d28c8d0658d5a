"""Which screen is in the middle of the table's layout: the first in this list whose turn it is."""

from dataclasses import replace
from typing import Final

from kiosk.screens.arbiter import panel
from kiosk.screens.by_hand import by_hand
from kiosk.screens.carrier import another_carrier, carrier_sheet
from kiosk.screens.counting import counting
from kiosk.screens.form import entering
from kiosk.screens.heap import heap
from kiosk.screens.middle import Action, Middle, Screen
from kiosk.screens.pairing import pairing
from kiosk.screens.plain import paused, plain, playing
from kiosk.screens.result import result
from kiosk.screens.riichi import riichi
from kiosk.screens.riichi_alone import riichi_alone
from kiosk.screens.scan import scan
from kiosk.screens.self_test import self_test
from kiosk.screens.shown import Shown
from kiosk.screens.stalled import stalled
from kiosk.screens.stopped import elsewhere, stopped
from kiosk.screens.trays import tray
from kiosk.screens.words import Words

SCREENS: Final[tuple[Screen, ...]] = (
    pairing,
    elsewhere,
    stalled,
    self_test,
    panel,
    paused,
    counting,
    riichi,
    riichi_alone,
    entering,
    result,
    stopped,
    carrier_sheet,
    another_carrier,
    by_hand,
    scan,
    heap,
    tray,
    playing,
)


def middle(words: Words, shown: Shown) -> Middle:
    """Give what is in the middle."""
    for screen in SCREENS:
        if (found := screen(words, shown)) is not None:
            return _with_arbiter(words, shown, found)
    return _with_arbiter(words, shown, plain(words, shown))


def _with_arbiter(words: Words, shown: Shown, found: Middle) -> Middle:
    """Where the arbiter is called, offer the panel too; it says nothing of who called, nor of presses."""
    if not shown.calling or shown.panel is not None:
        return found
    open_it = Action("a", words("do_arbiter"))
    if found.panel:
        return replace(found, panel=(*found.panel, (open_it,)))
    return replace(found, actions=(*found.actions, open_it))
