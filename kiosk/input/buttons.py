"""What buttons mean to a table: reports in, events out; and when a claim window may be closed.

In a play a press counts from its edge, and is journalled at once. Where a press agrees to something (the tiles are in
order, the result is right) it counts when the finger lets go: held for two seconds it is a call for the arbiter,
perhaps over this very result, and what four have accepted cannot be taken back. A claim window stays open until
whoever pressed in time was heard.
"""

from typing import Final

from firmware.reports import Held, Pressed, Released, Seat
from kiosk.table import ButtonHeld, ButtonPressed, ButtonReleased, Event, Phase

AGREEING: Final = (Phase.RESTORING, Phase.SEATING, Phase.CONFIRMING, Phase.ACCEPTING)


class ButtonInput:
    """Four fingers on four buttons."""

    def __init__(self) -> None:
        self._agreeing: dict[Seat, int] = {}
        """Who is pressing to agree, and since when."""

    def event(self, report: Pressed | Released | Held, phase: Phase) -> Event | None:
        """Return what has happened, if anything has yet."""
        since = self._agreeing.pop(report.seat, None)
        match report:
            case Pressed(seat, at) if phase in AGREEING:
                self._agreeing[seat] = at
                return None
            case Pressed(seat, at):
                return ButtonPressed(at=at, seat=seat)
            case Held(seat, at):
                return ButtonHeld(at=at, seat=seat)
            case Released(seat, at):
                return ButtonReleased(at=at, seat=seat) if since is None else ButtonPressed(at=since, seat=seat)


MS: Final = 1_000_000

GRACE_NS: Final = 150 * MS
"""For edges that are on their way; a box speaks every tenth of a second."""

END_NS: Final = 1_000 * MS
"""For how a press ends, where a finger is still down: with a slow line it comes late whether that was a call."""

BACK_NS: Final = 1_000 * MS
"""For what a box has kept, from when it is back."""

PATIENCE_NS: Final = 10_000 * MS
"""Longer than this after its time no window stays open: a box that is not back by then may never be."""


class WindowClosing:
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

    def may_close(self, closes_at: int, now: int, *, down: bool) -> bool:
        """Whether the window may be closed now whose time was over at `closes_at`, ns; a finger may be `down`."""
        if now >= closes_at + PATIENCE_NS:
            return True
        quiet_since = max(closes_at, self._heard_at or 0) + (END_NS if down else GRACE_NS)
        return not self._away and now >= quiet_since and (self._back_at is None or now >= self._back_at + BACK_NS)
