"""A contact that chatters: pulses that were no finger's, too many of them in a short time. Pure; times are ns.

One spark is nothing. A loose wire, a worn contact or a cable beside the mains gives them again and again, and one day a
pulse long enough for a finger: it is said before that.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from firmware.contact import MS
from firmware.errors import ButtonChatters
from firmware.reports import Health, Seat

MANY: Final = 5
"""So many pulses ..."""

WITHIN_NS: Final = 10_000 * MS
"""... in so long."""

QUIET_NS: Final = 60_000 * MS
"""Without one for so long, the contact is well again."""


@dataclass(slots=True)
class Chatter:
    """The latest pulses of one contact, and whether it was told that it chatters."""

    seat: Seat
    ill: bool = False
    _pulses: deque[int] = field(default_factory=lambda: deque(maxlen=MANY))

    def pulse(self, at: int) -> list[Health]:
        """Take in a pulse that was no finger's."""
        self._pulses.append(at)
        if self.ill or len(self._pulses) < MANY or at - self._pulses[0] > WITHIN_NS:
            return []
        self.ill = True
        return [self._health(ButtonChatters.code, f"{MANY} pulses in {(at - self._pulses[0]) / MS / 1000:.1f} s")]

    def due(self) -> int | None:
        """Say when `pass_time` will tell something if no pulse comes before."""
        return self._pulses[-1] + QUIET_NS if self.ill else None

    def pass_time(self, now: int) -> list[Health]:
        """Let the time pass until `now`."""
        when = self.due()
        if when is None or now < when:
            return []
        self.ill = False
        return [self._health(None, "")]

    def _health(self, code: str | None, text: str) -> Health:
        return Health(f"contact-{self.seat}", code, text)
