"""A button with two contacts: one closes when pressed, the other opens. Pure; times are ns of any one clock.

At rest exactly the second is closed, under a finger exactly the first, and neither for the moment between. Neither for
longer means that the cable is off; both, that wires touch. A button with one contact that nobody presses cannot be told
from a cable that is off: both are open.
"""

from dataclasses import dataclass
from typing import Final

from firmware.contact import MS
from firmware.errors import ButtonDisconnected, ButtonShorted
from firmware.reports import Health, Seat

WRONG_NS: Final = 1_000 * MS
"""A finger may rest between the two contacts for a moment; what is pulled out must be told within 2 s."""


@dataclass(slots=True)
class Changeover:
    """Where both contacts are, since when, and whether that was told."""

    seat: Seat
    closes: bool
    """Is the contact that closes when pressed closed?"""
    opens: bool
    since: int
    ill: bool = False

    def edge(self, *, closes: bool | None = None, opens: bool | None = None, at: int) -> list[Health]:
        """Take in where one of the contacts is now."""
        told = self.pass_time(at)
        was_right = self._is_right()
        self.closes = self.closes if closes is None else closes
        self.opens = self.opens if opens is None else opens
        if was_right and not self._is_right():
            self.since = at
        if self.ill and self._is_right():
            self.ill = False
            told.append(Health(f"button-{self.seat}", None))
        return told

    def due(self) -> int | None:
        """Say when `pass_time` will tell something if no edge comes before."""
        return None if self.ill or self._is_right() else self.since + WRONG_NS

    def pass_time(self, now: int) -> list[Health]:
        """Let the time pass until `now`."""
        when = self.due()
        if when is None or now < when:
            return []
        self.ill = True
        wrong = ButtonShorted if self.closes else ButtonDisconnected
        return [Health(f"button-{self.seat}", wrong.code, "both contacts are " + ("closed" if self.closes else "open"))]

    def _is_right(self) -> bool:
        return self.closes != self.opens
