"""What is wrong with a table's device, part by part, and what of it may be told now."""

from typing import Final

from firmware.reports import Health
from kiosk.screens.shown import QUIET
from kiosk.table.state import Phase, Table

CONTACT: Final = "contact-"
"""How the health of one seat's contact is named: pulses come where a finger moves, so it waits for the play's end."""

BUTTONS: Final = "buttons"
"""How the health of all four buttons together is named."""

CAMERA: Final = "camera"

TOLD_LATE: Final = "press_told_late"
"""Somebody's declaration was lost, and the arbiter must hear of it."""


class Wellbeing:
    """Codes of what is wrong, by part; what would tell of a finger waits until it cannot."""

    def __init__(self) -> None:
        self._codes: dict[str, str] = {}
        self._waiting: dict[str, str | None] = {}

    @property
    def codes(self) -> dict[str, str]:
        """What is wrong, by part of the device."""
        return dict(self._codes)

    def say(self, part: str, code: str | None) -> None:
        """Remember what is wrong with a part of the device; None: nothing."""
        self._codes.pop(part, None)
        if code:
            self._codes[part] = code

    def report(self, health: Health, phase: Phase) -> None:
        """Take in what a device says of a part of itself; how contacts are waits while the table is quiet."""
        if health.part.startswith(CONTACT) and phase in QUIET:
            self._waiting[health.part] = health.code
        else:
            self.say(health.part, health.code)

    def moved(self, table: Table) -> None:
        """Follow a table to its next state: tell what waited, forget what the arbiter has seen by then."""
        hand_is_over = table.session is not None and table.phase is Phase.RECORDED
        if table.phase is Phase.RESTORING or hand_is_over:
            self._codes = {part: code for part, code in self._codes.items() if code != TOLD_LATE}
        for part, code in self._waiting.items():
            self.say(part, code)
        self._waiting.clear()
