"""The table's end of the serial line to the button box. Pure: bytes and times in, reports and bytes out.

`BoxClock` maps the box's microseconds to this machine's clock. A query goes out and the box puts its time into the
reply. That time lies between sending and receiving, so each query gives an interval. The interval grows with the
possible drift between the two clocks, and the next query narrows it. A fast way out in one query and a fast way back in
another bound the time together, better than any single query does. The midpoint is used; its error is at most half of
the interval.

`BoxSession` covers one start of the box: each edge once and in order, presses detected, times mapped. `BoxLink` is the
line.
"""

from collections import deque
from dataclasses import dataclass, replace
from typing import Final

from firmware.box.codec import LOST, VERSION, FrameSplitter, encode_frame
from firmware.presses import MS, ContactOutcome, Presses
from firmware.reports import SEATS, Health, Held, Pressed, Released, Report, Seat, TooShort

ENOUGH_QUERIES: Final = 4
"""Queries needed before times are mapped."""

_CRYSTAL_ERROR: Final = 0.15
"""Greatest difference between two crystals, in ns per µs: each is accurate to about 50 ppm."""

_TIME_SERVER_SLEW: Final = 0.5
"""Greatest slew of this machine's clock by time synchronisation, in ns per µs: adjtimex(2) is limited to 500 ppm."""

_RATE_ERROR: Final = _TIME_SERVER_SLEW + 2 * _CRYSTAL_ERROR
"""Greatest error of the rate, in ns per µs. The measured rate is within _CRYSTAL_ERROR of nominal, and so is the true
one apart from the slew."""

_SAMPLE_SPACING_US: Final = 30_000_000
"""Time between two samples that are stored to measure the rate."""

_RATE_SAMPLES: Final = 8
"""Samples stored to measure the rate: those of the last four minutes."""


@dataclass(frozen=True, slots=True)
class TimeBounds:
    """The earliest and latest time on our clock, in ns, that may correspond to a time of the box."""

    us: int
    earliest: float
    latest: float

    @property
    def middle(self) -> float:
        """The best estimate."""
        return (self.earliest + self.latest) / 2


class BoxClock:
    """The clock of a box since one start. Times can be mapped once it is `ready`."""

    def __init__(self) -> None:
        self._bounds: TimeBounds | None = None
        self._rate_samples: deque[TimeBounds] = deque(maxlen=_RATE_SAMPLES)
        self._queries_left = ENOUGH_QUERIES
        self.rate = 1000.0
        """Our ns per µs of the box."""

    @property
    def ready(self) -> bool:
        """Whether there were enough queries."""
        return self._queries_left <= 0

    def renew(self) -> None:
        """Require new queries before being ready again. Only the rate is still considered current."""
        self._queries_left = ENOUGH_QUERIES

    def add(self, us: int, sent_ns: int, received_ns: int) -> None:
        """Add a query: the box's time, and our times before and after."""
        self._queries_left -= 1
        earliest, latest = self._between(us)
        earliest, latest = max(earliest, sent_ns), min(latest, received_ns)
        if earliest > latest:  # a clock was set, or slewed by more than we allow for: only this query is valid
            earliest, latest = sent_ns, received_ns
        self._bounds = TimeBounds(us, earliest, latest)
        self._measure(self._bounds)

    def slack_ns(self, us: int) -> float:
        """Return the greatest error of `to_ns` at this time."""
        earliest, latest = self._between(us)
        return (latest - earliest) / 2

    def to_ns(self, us: int) -> int:
        """Map a time of the box, in µs since its start, to ns of this machine's monotonic clock."""
        return 0 if self._bounds is None else round(self._bounds.middle + (us - self._bounds.us) * self.rate)

    def _between(self, us: int) -> tuple[float, float]:
        """Return the earliest and the latest time on our clock that may correspond to this time of the box."""
        bounds = self._bounds
        if bounds is None:
            return float("-inf"), float("inf")
        passed = us - bounds.us
        drift, middle = abs(passed) * _RATE_ERROR, passed * self.rate
        return bounds.earliest + middle - drift, bounds.latest + middle + drift

    def _measure(self, new: TimeBounds) -> None:
        """Measure the rate between the oldest stored sample and this one."""
        if not self._rate_samples or new.us - self._rate_samples[-1].us >= _SAMPLE_SPACING_US:
            self._rate_samples.append(new)
        oldest = self._rate_samples[0]
        if new.us - oldest.us >= _SAMPLE_SPACING_US:
            rate = (new.middle - oldest.middle) / (new.us - oldest.us)
            self.rate = min(max(rate, 1000 - _CRYSTAL_ERROR), 1000 + _CRYSTAL_ERROR)


NS_PER_US: Final = 1000

SETTLED_US: Final = 100_000
"""How long after an edge it is acknowledged. By then its meaning has been reported, unless the contact chatters."""

REPEAT_NS: Final = 50_000_000
"""Time between two requests for the same edges."""

SessionReport = Report | TooShort
"""What a session produces: reports, and pulses too short for a finger, for whoever maintains the wiring."""


class BoxSession:
    """The state of a box since it started. Methods return reports and append the frames to send to `outgoing`."""

    def __init__(self, boot: int, first: int) -> None:
        self.boot, self.clock, self.outgoing = boot, BoxClock(), list[bytes]()
        self._next = self._settled = first
        """The first edge that has not arrived, and the first that is not acknowledged."""
        self._unsettled: deque[int] = deque()
        """Times of the edges between these two, in µs."""
        self._requested_at: int | None = None
        self._presses = Presses()
        self._pressed_since: dict[Seat, int] = {}
        """Seats that are pressed, and since when on our clock."""
        self._faulty: set[str] = set()
        """Parts that were reported unhealthy."""
        self._latest_press = (0, 0)
        """The latest press that was reported, on the box's clock and on ours."""

    def begin(self, closed: int) -> list[SessionReport]:
        """Process which contacts were closed before the first edge: one bit per seat, east lowest."""
        return self._mapped(self._presses.begin({seat: bool(closed >> at & 1) for at, seat in enumerate(SEATS)}))

    def heartbeat(self, first: int, following: int, us: int, now: int) -> list[SessionReport]:
        """Let time pass up to the box's time `us`, provided that all edges before it have arrived."""
        if first > self._next:
            return [*self.release_all(now), *self._resume(first)]
        if following > self._next:
            self._request_missing(now)
            return []
        reports = self._mapped(self._presses.pass_time(us * NS_PER_US))
        self._settle(us)
        if first < self._settled:
            self.outgoing.append(encode_frame("A", self.boot, self._settled))
        return reports

    def edge(self, number: int, seat: int, closed: int, us: int, now: int) -> list[SessionReport]:
        """Process an edge if it is the next one. The box stores edges until the clock is ready."""
        if not self.clock.ready or number < self._next:
            return []
        if number > self._next:
            self._request_missing(now)
            return []
        self._next += 1
        self._unsettled.append(us)
        if seat >= LOST:
            return [*self.release_all(now), _overflow()]
        return self._mapped(self._presses.edge(SEATS[seat], closed=bool(closed), at=us * NS_PER_US))

    def release_all(self, now: int) -> list[SessionReport]:
        """Treat all contacts as open, also at the end: no press is invented, and no button is held forever."""
        reports: list[SessionReport] = [Released(seat, now) for seat in self._pressed_since]
        reports += [Health(part, None) for part in sorted(self._faulty)]
        self._presses = Presses()
        self._pressed_since.clear()
        self._faulty.clear()
        return reports

    def _resume(self, first: int) -> list[SessionReport]:
        """Continue where the box does, after another program has acknowledged edges."""
        self._next = self._settled = first
        self._unsettled.clear()
        return [_overflow()]

    def _request_missing(self, now: int) -> None:
        """Request the missing edges."""
        if self.clock.ready and (self._requested_at is None or now - self._requested_at >= REPEAT_NS):
            self._requested_at = now
            self.outgoing.append(encode_frame("N", self.boot, self._next))

    def _settle(self, us: int) -> None:
        while self._unsettled and self._unsettled[0] <= us - SETTLED_US:
            self._unsettled.popleft()
            self._settled += 1

    def _mapped(self, outcomes: list[ContactOutcome]) -> list[SessionReport]:
        """Map outcomes to this machine's clock."""
        reports: list[SessionReport] = []
        for outcome in outcomes:
            match outcome:
                case Pressed(seat, at):
                    self._pressed_since[seat] = self._in_order(at)
                    reports.append(Pressed(seat, self._pressed_since[seat]))
                case Held(seat):
                    reports.append(Held(seat, self._pressed_since[seat]))
                case Released(seat, at):
                    pressed_at = self._pressed_since.pop(seat)
                    reports.append(Released(seat, max(pressed_at, self.clock.to_ns(at // NS_PER_US))))
                case TooShort(at=at):
                    reports.append(replace(outcome, at=self.clock.to_ns(at // NS_PER_US)))
                case Health(part, code):
                    (self._faulty.add if code else self._faulty.discard)(part)
                    reports.append(outcome)
        return reports

    def _in_order(self, at: int) -> int:
        """Map the time of a press. Two presses keep their order even if the mapping changed between them."""
        latest, latest_ns = self._latest_press
        ns = self.clock.to_ns(at // NS_PER_US)
        if at >= latest:
            ns = max(ns, latest_ns + (at > latest))
            self._latest_press = (at, ns)
        return ns


def _overflow() -> Health:
    return Health("buttons", "box_overflow", "the box had no room for more edges: presses may be missing")


PART: Final = "buttons"
"""Name of all four buttons in `Health`."""

SILENT_NS: Final = 1_500 * MS
"""Silence after which the box is reported; it sends something every 100 ms. Including the polling interval, the report
comes well within 2 s."""

QUERY_NS: Final = 250 * MS
"""Time between two queries. The uncertainty grows by 0.2 ms meanwhile (`_RATE_ERROR`)."""

FIRST_QUERY_NS: Final = 50 * MS
"""The same until the clock is ready, if no answer comes. An answer is followed by the next query at once."""

OUTSTANDING: Final = 8
"""Unanswered queries that are remembered."""

LAMPS_NS: Final = 200 * MS
"""Time between two lamp commands while the box does not confirm that it shows them."""

AHEAD_NS: Final = 10 * MS
"""How far a press may appear to lie in the future, because the mapping of times is never exact."""


def limit_to_near_future(now: int, at: int) -> int:
    """Return a time, limited to the near future by a mapping that preserves the order of times.

    A claim window that was opened in the year 3000 would never close.
    """
    over = at - now - AHEAD_NS
    return at if over <= 0 else now + AHEAD_NS + AHEAD_NS * over // (over + SILENT_NS)


@dataclass(frozen=True, slots=True)
class LinkOutput:
    """The result of an event. Deliver the reports first, then send the bytes."""

    reports: tuple[SessionReport, ...]
    outgoing: bytes


class BoxLink:
    """A line to a box, open or closed."""

    def __init__(self) -> None:
        self._splitter, self._version = FrameSplitter(), VERSION
        self._session: BoxSession | None = None
        self._reported_code: str | None = ""
        """The code that was reported last; empty before the first report."""
        self._received_at = 0
        self._queries: deque[int] = deque(maxlen=OUTSTANDING)
        """Send times of the latest queries. They also serve as tokens, so that a reply to another program is
        ignored."""
        self._next_query_at = 0
        self.lamps = 0
        """The lamp states to show: see `L` in `codec.FRAME_FIELDS`."""
        self._lamps_at = 0
        self._pressed_at: dict[Seat, int] = {}  # as reported: a hold is reported with the time of its press
        self._reports: list[SessionReport] = []
        self._outgoing: list[bytes] = []

    def opened(self, now: int) -> LinkOutput:
        """Start listening on an opened line."""
        self._splitter, self._received_at, self._next_query_at = FrameSplitter(), now, now
        self._queries.clear()
        if self._session is not None:
            self._session.clock.renew()
        return self._output()

    def closed(self, code: str, text: str) -> LinkOutput:
        """Report that the line is closed. What the box has stored arrives when it is back."""
        self._report_health(code, text)
        return self._output()

    def received(self, chunk: bytes, now: int) -> LinkOutput:
        """Process received bytes, maybe none, and let time pass until `now`, in ns of the monotonic clock."""
        for kind, numbers in self._splitter.feed(chunk):
            self._handle_frame(kind, numbers, now)
        if now - self._received_at > SILENT_NS:
            self._report_health("box_silent", "nothing is received from the box: is it flashed?")
        if self._session is not None and now >= self._next_query_at:
            self._query(now)
        return self._output()

    def _handle_frame(self, kind: str, numbers: list[int], now: int) -> None:
        if kind == "B":
            self._check_version(numbers[0], now)
        elif self._version != VERSION:
            return
        if kind == "H":
            self._received_at = now
            self._heartbeat(numbers, now)
        elif kind == "E" and self._session is not None:
            boot, number, seat, closed, us = numbers
            if boot == self._session.boot:
                self._report(self._session.edge(number, seat, closed, us, now), now)
        elif kind == "R" and self._session is not None and numbers[0] in self._queries:
            sent, us = numbers
            self._queries.remove(sent)
            self._session.clock.add(us, sent, now)
            self._next_query_at = now + (QUERY_NS if self._session.clock.ready else 0)

    def _check_version(self, version: int, now: int) -> None:
        """Process the box's protocol version."""
        self._version = version
        if version != VERSION:
            self._received_at, self._session = now, None
            self._report_health("box_version", f"the box has version {version}, this table {VERSION}: flash it again")

    def _heartbeat(self, numbers: list[int], now: int) -> None:
        boot, first, following, closed, lamps, us = numbers
        session = self._session
        if session is None or session.boot != boot:
            session = self._begin(boot, first, closed, now)
        if session.clock.ready:
            self._report_health(None, "")
        self._report(session.heartbeat(first, following, us, now), now)
        if lamps != self.lamps and now - self._lamps_at >= LAMPS_NS:
            self._lamps_at = now
            self._outgoing.append(encode_frame("L", self.lamps))

    def _begin(self, boot: int, first: int, closed: int, now: int) -> BoxSession:
        """Start a session for a newly seen or restarted box."""
        if self._session is not None:
            self._report(self._session.release_all(now), now)
            self._report_health("box_reset", "the box has restarted")
        self._session = BoxSession(boot, first)
        self._report(self._session.begin(closed), now)
        self._queries.clear()
        self._next_query_at = now
        return self._session

    def _query(self, now: int) -> None:
        """Query the box's time."""
        self._queries.append(now)
        ready = self._session is not None and self._session.clock.ready
        self._next_query_at = now + (QUERY_NS if ready else FIRST_QUERY_NS)
        self._outgoing.append(encode_frame("Q", now))

    def _report(self, reports: list[SessionReport], now: int) -> None:
        """Pass on a session's reports, with no time in the future whatever the box claims."""
        for one in reports:
            if isinstance(one, Health):
                if one.part == PART:
                    self._report_health(one.code, one.text)
                else:
                    self._reports.append(one)
                continue
            at = self._pressed_at[one.seat] if isinstance(one, Held) else limit_to_near_future(now, one.at)
            if isinstance(one, Pressed):
                self._pressed_at[one.seat] = at
            self._reports.append(replace(one, at=at))

    def _report_health(self, code: str | None, text: str) -> None:
        """Report a change of health."""
        if code != self._reported_code:
            self._reported_code = code
            self._reports.append(Health(PART, code, text))

    def _output(self) -> LinkOutput:
        outgoing = self._outgoing
        if self._session is not None:
            outgoing = outgoing + self._session.outgoing
            self._session.outgoing.clear()
        output = LinkOutput(tuple(self._reports), b"".join(outgoing))
        self._reports.clear()
        self._outgoing.clear()
        return output
