"""One start of the box, seen from the table: each edge once and in order, presses judged, times mapped. Pure.

Time passes for the contacts only as far as the box has spoken: a finger is not taken to be holding on because the line
is silent. Inside, times are the box's own, in ns; they are mapped to this machine's where something is told.
"""

from collections import deque
from dataclasses import replace
from typing import Final

from firmware.box.clock import BoxClock
from firmware.box.codec import LOST, encode
from firmware.contact import Outcome, TooShort
from firmware.errors import BoxOverflow
from firmware.presses import Presses
from firmware.reports import SEATS, Health, Held, Pressed, Released, Report, Seat

NS_PER_US: Final = 1000

SETTLED_US: Final = 100_000
"""An edge is acknowledged this long after it: what it meant has been told by then, unless the contact chatters."""

REPEAT_NS: Final = 50_000_000
"""Between two requests for the same edges."""

Told = Report | TooShort
"""What comes of what the box says: reports, and pulses that were no finger's, for who looks after the wiring."""


class Session:
    """What is known of a box since it started. Every method gives reports; `outgoing` is what to send."""

    def __init__(self, boot: int, first: int) -> None:
        self.boot, self.clock, self.outgoing = boot, BoxClock(), list[bytes]()
        self._next = self._settled = first
        """The first edge that has not come, and the first that is not acknowledged."""
        self._unsettled: deque[int] = deque()
        """When the edges between these two were, in µs."""
        self._asked_at: int | None = None
        self._presses = Presses()
        self._down: dict[Seat, int] = {}
        """Who presses, and since when on our clock."""
        self._ill: set[str] = set()
        """Which parts were told to be unwell."""
        self._latest = (0, 0)
        """The latest press that was told, by the box's clock and by ours."""

    def begin(self, closed: int) -> list[Told]:
        """Take in which contacts were closed before the first edge: a bit for each, east lowest."""
        return self._told(self._presses.begin({seat: bool(closed >> at & 1) for at, seat in enumerate(SEATS)}))

    def heartbeat(self, first: int, following: int, us: int, now: int) -> list[Told]:
        """Let the time pass until the box's time `us`, if all edges before it are here."""
        if first > self._next:
            return [*self.let_go(now), *self._resume(first)]
        if following > self._next:
            self._ask(now)
            return []
        reports = self._told(self._presses.pass_time(us * NS_PER_US))
        self._settle(us)
        if first < self._settled:
            self.outgoing.append(encode("A", self.boot, self._settled))
        return reports

    def edge(self, number: int, seat: int, closed: int, us: int, now: int) -> list[Told]:
        """Take in an edge, if it is the next. Edges wait in the box until the clock is ready."""
        if not self.clock.ready or number < self._next:
            return []
        if number > self._next:
            self._ask(now)
            return []
        self._next += 1
        self._unsettled.append(us)
        if seat >= LOST:
            return [*self.let_go(now), _lost()]
        return self._told(self._presses.edge(SEATS[seat], closed=bool(closed), at=us * NS_PER_US))

    def let_go(self, now: int) -> list[Told]:
        """Go on with open contacts, at the end too: no press is made up, and nobody holds a button for ever."""
        told: list[Told] = [Released(seat, now) for seat in self._down]
        told += [Health(part, None) for part in sorted(self._ill)]
        self._presses = Presses()
        self._down.clear()
        self._ill.clear()
        return told

    def _resume(self, first: int) -> list[Told]:
        """Go on where the box does; somebody else has taken edges."""
        self._next = self._settled = first
        self._unsettled.clear()
        return [_lost()]

    def _ask(self, now: int) -> None:
        """Ask for the edges that are missing."""
        if self.clock.ready and (self._asked_at is None or now - self._asked_at >= REPEAT_NS):
            self._asked_at = now
            self.outgoing.append(encode("N", self.boot, self._next))

    def _settle(self, us: int) -> None:
        while self._unsettled and self._unsettled[0] <= us - SETTLED_US:
            self._unsettled.popleft()
            self._settled += 1

    def _told(self, outcomes: list[Outcome]) -> list[Told]:
        """Map what was found out to this machine's clock."""
        reports: list[Told] = []
        for outcome in outcomes:
            match outcome:
                case Pressed(seat, at):
                    self._down[seat] = self._in_order(at)
                    reports.append(Pressed(seat, self._down[seat]))
                case Held(seat):
                    reports.append(Held(seat, self._down[seat]))
                case Released(seat, at):
                    reports.append(Released(seat, max(self._down.pop(seat), self.clock.to_ns(at // NS_PER_US))))
                case TooShort(at=at):
                    reports.append(replace(outcome, at=self.clock.to_ns(at // NS_PER_US)))
                case Health(part, code):
                    (self._ill.add if code else self._ill.discard)(part)
                    reports.append(outcome)
        return reports

    def _in_order(self, at: int) -> int:
        """Map the time of a press. Two presses keep their order even where the mapping has become another between."""
        before, told = self._latest
        ns = self.clock.to_ns(at // NS_PER_US)
        if at >= before:
            ns = max(ns, told + (at > before))
            self._latest = (at, ns)
        return ns


def _lost() -> Health:
    return Health("buttons", BoxOverflow.code, "the box had no more room: presses may be missing")
