"""What the four buttons of a table do: a press, what it agrees to, and when a claim window may close."""

from typing import Final

from broker.protocol import Seat
from firmware.presses import MS
from firmware.reports import Held, Pressed, Released
from kiosk.table import (
    SETTLE_NS,
    ButtonHeld,
    ButtonPressed,
    ButtonReleased,
    Event,
    Phase,
    Table,
)

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


class TableButtons:
    """The four buttons of one table, and when a claim window may be closed."""

    def __init__(self, shown_at: int) -> None:
        """Take when the screen last asked for something else: a box may have kept presses from before a restart."""
        self._shown_at = shown_at
        self._input, self._closing = ButtonInput(), WindowClosing()

    def event(self, report: Pressed | Released | Held, state: Table, now: int) -> Event | None:
        """Return what has happened, if anything has yet. Where one speaks that was in time, others may be on their way.

        A press counts only of who had seen what is asked: a slow device must not make a hu of a confirmation. What was
        pressed in a claim window that is closed by now is the table's to judge.
        """
        if state.closes_at is not None and report.at < state.closes_at:
            self._closing.heard(now)
        event = self._input.event(report, state.phase)
        return event if event is None or self.counts(event, state) else None

    def counts(self, event: Event, state: Table) -> bool:
        """Return whether whoever pressed had seen what the screen asks now; what is no press always counts."""
        if not isinstance(event, ButtonPressed) or event.at >= self._shown_at + SETTLE_NS:
            return True
        return state.closed_at is not None and event.at < state.closed_at

    def health(self, code: str | None, now: int) -> None:
        """Take in how the buttons are."""
        self._closing.health(code, now)

    def screen_changed(self, now: int) -> None:
        """Take in that the screen asks for something else from now on."""
        self._shown_at = now

    def may_close(self, state: Table, now: int) -> bool:
        """Whether there is a claim window that may be closed now."""
        return state.closes_at is not None and self._closing.may_close(state.closes_at, now, down=state.finger_down)
