"""When a day begins at a table, so that its hardware is to be tested."""

from typing import Final

from kiosk.table.self_test import BEFORE_PLAY
from kiosk.table.state import Table

NIGHT_MS: Final = 4 * 60 * 60 * 1000
"""Where nothing has happened at a table for so long its day is over: no break between two sessions lasts longer."""


def begins_a_day(state: Table, last: int | None, wall: int) -> bool:
    """Say whether a day begins at a table that was started: never where a play goes on.

    `wall` is now, `last` when something happened there last, both ms since 1970; None: never.

    A device without a network may take up where its clock stood when it was switched off, and so miss a new day. Who
    wants the test then asks for it.
    """
    return state.self_test != "running" and state.phase in BEFORE_PLAY and (last is None or wall >= last + NIGHT_MS)
