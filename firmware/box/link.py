"""The table's end of the serial line to the button box. Pure: bytes and times in, reports and bytes out.

`BoxClock` maps the box's microseconds to this machine's clock. A query goes out and the box writes its time into the
reply: that time lies after we asked and before we heard, so each query gives an interval. The interval grows by what
the two clocks can drift apart, and the next query cuts it. The fast way out of one query and the fast way back of
another bound the time together, better than any single one does. The middle is used: it is wrong by half of the
interval at most.

`BoxSession` is one start of the box: each edge once and in order, presses judged, times mapped. `BoxLink` is the line.
"""

from collections import deque
from dataclasses import dataclass, replace
from typing import Final

from firmware.box.codec import LOST, VERSION, FrameSplitter, encode_frame
from firmware.presses import MS, ContactOutcome, Presses
from firmware.reports import SEATS, Health, Held, Pressed, Released, Report, Seat, TooShort

ENOUGH_QUERIES: Final = 4
"""Queries until times are mapped."""

_CRYSTAL_ERROR: Final = 0.15
"""By how many ns a µs two crystals differ at the most: each is good to some 50 millionths."""

_TIME_SERVER_SLEW: Final = 0.5
"""By how many ns a µs a time server may pull this machine's clock: adjtimex(2) slews by 500 millionths at the most."""

_RATE_ERROR: Final = _TIME_SERVER_SLEW + 2 * _CRYSTAL_ERROR
"""By how many ns a µs the rate may be wrong: the one that was measured is within CRYSTALS, as is the true one but for
the pull."""

_APART_US: Final = 30_000_000
"""Between two times that are kept for the rate."""

_KEPT_TIMES: Final = 8
"""Times for the rate: of the last four minutes."""


@dataclass(frozen=True, slots=True)
class TimeBounds:
    """At this time of the box it was no earlier and no later than these times of ours."""

    us: int
    earliest: float
    latest: float

    @property
    def middle(self) -> float:
        """The best guess."""
        return (self.earliest + self.latest) / 2


class BoxClock:
    """One start of the box. Time is mapped once `ready`."""

    def __init__(self) -> None:
        self._known: TimeBounds | None = None
        self._apart: deque[TimeBounds] = deque(maxlen=_KEPT_TIMES)
        self._left = ENOUGH_QUERIES
        self.rate = 1000.0
        """Of our ns to the box's µs."""

    @property
    def ready(self) -> bool:
        """Return whether there were enough queries."""
        return self._left <= 0

    def renew(self) -> None:
        """Be ready only after new queries: what was known is old, all but the rate."""
        self._left = ENOUGH_QUERIES

    def add(self, us: int, asked_ns: int, answered_ns: int) -> None:
        """Take in a query: the box's time, and ours before and after."""
        self._left -= 1
        earliest, latest = self._between(us)
        earliest, latest = max(earliest, asked_ns), min(latest, answered_ns)
        if earliest > latest:  # a clock was pulled by more than we allow for, or set: only this query is true
            earliest, latest = asked_ns, answered_ns
        self._known = TimeBounds(us, earliest, latest)
        self._measure(self._known)

    def slack_ns(self, us: int) -> float:
        """Return by how much `to_ns` can be wrong at this time."""
        earliest, latest = self._between(us)
        return (latest - earliest) / 2

    def to_ns(self, us: int) -> int:
        """Map a time of the box, in µs since its start, to ns of this machine's monotonic clock."""
        return 0 if self._known is None else round(self._known.middle + (us - self._known.us) * self.rate)

    def _between(self, us: int) -> tuple[float, float]:
        """Return the earliest and the latest of our times that this time of the box can have been."""
        known = self._known
        if known is None:
            return float("-inf"), float("inf")
        passed = us - known.us
        drift, middle = abs(passed) * _RATE_ERROR, passed * self.rate
        return known.earliest + middle - drift, known.latest + middle + drift

    def _measure(self, new: TimeBounds) -> None:
        """Take the rate between the oldest time kept and this one."""
        if not self._apart or new.us - self._apart[-1].us >= _APART_US:
            self._apart.append(new)
        oldest = self._apart[0]
        if new.us - oldest.us >= _APART_US:
            rate = (new.middle - oldest.middle) / (new.us - oldest.us)
            self.rate = min(max(rate, 1000 - _CRYSTAL_ERROR), 1000 + _CRYSTAL_ERROR)


NS_PER_US: Final = 1000

SETTLED_US: Final = 100_000
"""An edge is acknowledged this long after it: what it meant has been told by then, unless the contact chatters."""

REPEAT_NS: Final = 50_000_000
"""Between two requests for the same edges."""

SessionReport = Report | TooShort
"""What comes of what the box says: reports, and pulses that were no finger's, for who looks after the wiring."""


class BoxSession:
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

    def begin(self, closed: int) -> list[SessionReport]:
        """Take in which contacts were closed before the first edge: a bit for each, east lowest."""
        return self._told(self._presses.begin({seat: bool(closed >> at & 1) for at, seat in enumerate(SEATS)}))

    def heartbeat(self, first: int, following: int, us: int, now: int) -> list[SessionReport]:
        """Let the time pass until the box's time `us`, if all edges before it are here."""
        if first > self._next:
            return [*self.let_go(now), *self._resume(first)]
        if following > self._next:
            self._ask(now)
            return []
        reports = self._told(self._presses.pass_time(us * NS_PER_US))
        self._settle(us)
        if first < self._settled:
            self.outgoing.append(encode_frame("A", self.boot, self._settled))
        return reports

    def edge(self, number: int, seat: int, closed: int, us: int, now: int) -> list[SessionReport]:
        """Take in an edge, if it is the next. Edges wait in the box until the clock is ready."""
        if not self.clock.ready or number < self._next:
            return []
        if number > self._next:
            self._ask(now)
            return []
        self._next += 1
        self._unsettled.append(us)
        if seat >= LOST:
            return [*self.let_go(now), _overflow()]
        return self._told(self._presses.edge(SEATS[seat], closed=bool(closed), at=us * NS_PER_US))

    def let_go(self, now: int) -> list[SessionReport]:
        """Go on with open contacts, at the end too: no press is made up, and nobody holds a button forever."""
        told: list[SessionReport] = [Released(seat, now) for seat in self._down]
        told += [Health(part, None) for part in sorted(self._ill)]
        self._presses = Presses()
        self._down.clear()
        self._ill.clear()
        return told

    def _resume(self, first: int) -> list[SessionReport]:
        """Go on where the box does; somebody else has taken edges."""
        self._next = self._settled = first
        self._unsettled.clear()
        return [_overflow()]

    def _ask(self, now: int) -> None:
        """Ask for the edges that are missing."""
        if self.clock.ready and (self._asked_at is None or now - self._asked_at >= REPEAT_NS):
            self._asked_at = now
            self.outgoing.append(encode_frame("N", self.boot, self._next))

    def _settle(self, us: int) -> None:
        while self._unsettled and self._unsettled[0] <= us - SETTLED_US:
            self._unsettled.popleft()
            self._settled += 1

    def _told(self, outcomes: list[ContactOutcome]) -> list[SessionReport]:
        """Map what was found out to this machine's clock."""
        reports: list[SessionReport] = []
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


def _overflow() -> Health:
    return Health("buttons", "box_overflow", "the box had no more room: presses may be missing")


PART: Final = "buttons"
"""As `Health` names all four."""

SILENT_NS: Final = 1_500 * MS
"""A box says something every 100 ms. With the pause between two looks this is told well within 2 s."""

QUERY_NS: Final = 250 * MS
"""Between two queries of the time: what it is known to grows by 0.2 ms meanwhile (`clock.DOUBT`)."""

FIRST_QUERY_NS: Final = 50 * MS
"""The same until the clock is ready, where no answer comes; an answer is followed by the next query at once."""

OUTSTANDING: Final = 8
"""Queries without an answer that are remembered."""

LAMPS_NS: Final = 200 * MS
"""Between two commands to the lamps, where the box does not say that it shows them."""

AHEAD_NS: Final = 10 * MS
"""By how much a press may seem to be later than it is told: times are mapped, and never quite exactly."""


def happened_by(now: int, at: int) -> int:
    """Return a time, or for one that lies further ahead another that does not; their order stays.

    A claim window that was opened in the year 3000 would never close.
    """
    over = at - now - AHEAD_NS
    return at if over <= 0 else now + AHEAD_NS + AHEAD_NS * over // (over + SILENT_NS)


@dataclass(frozen=True, slots=True)
class LinkOutput:
    """What came of an event: tell the reports first, then send the bytes."""

    reports: tuple[SessionReport, ...]
    outgoing: bytes


class BoxLink:
    """A line to a box, open or not."""

    def __init__(self) -> None:
        self._splitter, self._version = FrameSplitter(), VERSION
        self._session: BoxSession | None = None
        self._health: str | None = ""
        """The code that was told last; none yet."""
        self._heard_at = 0
        self._queries: deque[int] = deque(maxlen=OUTSTANDING)
        """When the latest were asked. That is their token too, so that an answer to another program is no answer."""
        self._query_at = 0
        self.lamps = 0
        """What they are to show: see `L` in `codec.FIELDS`."""
        self._lamps_at = 0
        self._pressed_at: dict[Seat, int] = {}  # as it was told: a hold is told with the time of its press
        self._reports: list[SessionReport] = []
        self._outgoing: list[bytes] = []

    def opened(self, now: int) -> LinkOutput:
        """Begin to listen."""
        self._splitter, self._heard_at, self._query_at = FrameSplitter(), now, now
        self._queries.clear()
        if self._session is not None:
            self._session.clock.renew()
        return self._said()

    def closed(self, code: str, text: str) -> LinkOutput:
        """Say that the line is gone. What the box has stored comes when it is back."""
        self._tell_health(code, text)
        return self._said()

    def received(self, chunk: bytes, now: int) -> LinkOutput:
        """Take in what came, maybe nothing, and let the time pass until `now`, in ns of the monotonic clock."""
        for kind, numbers in self._splitter.feed(chunk):
            self._hear(kind, numbers, now)
        if now - self._heard_at > SILENT_NS:
            self._tell_health("box_silent", "nothing comes from the box: is it flashed?")
        if self._session is not None and now >= self._query_at:
            self._query(now)
        return self._said()

    def _hear(self, kind: str, numbers: list[int], now: int) -> None:
        if kind == "B":
            self._name(numbers[0], now)
        elif self._version != VERSION:
            return
        if kind == "H":
            self._heard_at = now
            self._heartbeat(numbers, now)
        elif kind == "E" and self._session is not None:
            boot, number, seat, closed, us = numbers
            if boot == self._session.boot:
                self._report(self._session.edge(number, seat, closed, us, now), now)
        elif kind == "R" and self._session is not None and numbers[0] in self._queries:
            asked, us = numbers
            self._queries.remove(asked)
            self._session.clock.add(us, asked, now)
            self._query_at = now + (QUERY_NS if self._session.clock.ready else 0)

    def _name(self, version: int, now: int) -> None:
        """Take in which version the box speaks."""
        self._version = version
        if version != VERSION:
            self._heard_at, self._session = now, None
            self._tell_health("box_version", f"the box has version {version}, this table {VERSION}: flash it again")

    def _heartbeat(self, numbers: list[int], now: int) -> None:
        boot, first, following, closed, lamps, us = numbers
        session = self._session
        if session is None or session.boot != boot:
            session = self._begin(boot, first, closed, now)
        if session.clock.ready:
            self._tell_health(None, "")
        self._report(session.heartbeat(first, following, us, now), now)
        if lamps != self.lamps and now - self._lamps_at >= LAMPS_NS:
            self._lamps_at = now
            self._outgoing.append(encode_frame("L", self.lamps))

    def _begin(self, boot: int, first: int, closed: int, now: int) -> BoxSession:
        """Get to know a box."""
        if self._session is not None:
            self._report(self._session.let_go(now), now)
            self._tell_health("box_reset", "the box has restarted")
        self._session = BoxSession(boot, first)
        self._report(self._session.begin(closed), now)
        self._queries.clear()
        self._query_at = now
        return self._session

    def _query(self, now: int) -> None:
        """Ask for the box's time."""
        self._queries.append(now)
        ready = self._session is not None and self._session.clock.ready
        self._query_at = now + (QUERY_NS if ready else FIRST_QUERY_NS)
        self._outgoing.append(encode_frame("Q", now))

    def _report(self, told: list[SessionReport], now: int) -> None:
        """Pass on what the session tells: nothing that is yet to come, whatever a box says of its time."""
        for one in told:
            if isinstance(one, Health):
                if one.part == PART:
                    self._tell_health(one.code, one.text)
                else:
                    self._reports.append(one)
                continue
            at = self._pressed_at[one.seat] if isinstance(one, Held) else happened_by(now, one.at)
            if isinstance(one, Pressed):
                self._pressed_at[one.seat] = at
            self._reports.append(replace(one, at=at))

    def _tell_health(self, code: str | None, text: str) -> None:
        """Tell what is new."""
        if code != self._health:
            self._health = code
            self._reports.append(Health(PART, code, text))

    def _said(self) -> LinkOutput:
        outgoing = self._outgoing
        if self._session is not None:
            outgoing = outgoing + self._session.outgoing
            self._session.outgoing.clear()
        said = LinkOutput(tuple(self._reports), b"".join(outgoing))
        self._reports.clear()
        self._outgoing.clear()
        return said
