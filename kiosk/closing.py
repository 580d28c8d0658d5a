"""When a claim window may be closed, beyond its time: whoever pressed in time is to be heard first.

Edges count by their time, so it harms nobody to wait for those that are still on their way: from the pins for a moment,
from a box whose cable was out until it has come back and told what it has kept. It can be waited for only so long.
"""

from typing import Final

MS: Final = 1_000_000

GRACE_NS: Final = 150 * MS
"""For edges that are on their way; a box speaks every tenth of a second."""

BACK_NS: Final = 1_000 * MS
"""For what a box has kept, from when it is back."""

PATIENCE_NS: Final = 10_000 * MS
"""Longer than this after its time no window stays open: a box that is not back by then may never be."""


class Closing:
    """What is known of how far the buttons have been heard."""

    def __init__(self) -> None:
        self._heard_at: int | None = None
        self._back_at: int | None = None
        self._away = False

    def heard(self, now: int) -> None:
        """Take in that something was told of a press."""
        self._heard_at = now

    def health(self, code: str | None, now: int) -> None:
        """Take in how the buttons are."""
        if self._away and code is None:
            self._back_at = now
        self._away = code is not None

    def may_close(self, closes_at: int, now: int) -> bool:
        """Say whether the window may be closed now whose time was over at `closes_at`, in ns."""
        if now >= closes_at + PATIENCE_NS:
            return True
        quiet_since = max(closes_at, self._heard_at or 0) + GRACE_NS
        return not self._away and now >= quiet_since and (self._back_at is None or now >= self._back_at + BACK_NS)
