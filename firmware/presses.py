"""Detect presses, long presses and faults from the raw edges of the four buttons' contacts.

Pure: edges and the passing of time go in, outcomes come out. Times are nanoseconds of any single clock.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from firmware.reports import SEATS, Health, Held, Pressed, Released, Seat, TooShort

MS: Final = 1_000_000
"""Nanoseconds in a millisecond."""


@dataclass(frozen=True, slots=True)
class ContactLimits:
    """Thresholds, in ns."""

    finger_ns: int = 3 * MS
    """A contact that was closed for less than this was not pressed by a finger: people's shortest taps last about 30
    ms, sparks and interference microseconds. It is this short because every press is reported this much later."""

    bounce_ns: int = 10 * MS
    """After being open for this long a closing contact has stopped bouncing (nearly all the switches in Ganssle's A
    Guide to Debouncing had done so within 6.2 ms). If it were longer, a spark before a press could pass for its first
    edge."""

    burst_ns: int = 30 * MS
    """A contact that chatters for longer than this without closing starts over, and other seats do not wait for it."""

    release_ns: int = 40 * MS
    """After being open for this long a contact was released; no finger presses again sooner."""

    held_ns: int = 2_000 * MS
    """A press of this length calls the arbiter."""

    stuck_ns: int = 30_000 * MS
    """No finger presses for this long."""


ContactOutcome = Pressed | Released | Held | Health | TooShort


@dataclass(frozen=True, slots=True)
class ContactOpen:
    """The contact is at rest."""


@dataclass(frozen=True, slots=True)
class ContactClosing:
    """The contact has closed and is bouncing, or it was a spark. It has been `closed`, or open again, since `since`."""

    first: int
    closed: bool
    since: int
    longest: int = 0


@dataclass(frozen=True, slots=True)
class ContactClosed:
    """Pressed at `first`; None if it was already closed at the start, which is not a press."""

    first: int | None
    held: bool = False
    stuck: bool = False


@dataclass(frozen=True, slots=True)
class ContactOpening:
    """The contact has opened at `opened_at` and is bouncing. It has been `closed` again, or open, since `since`."""

    before: ContactClosed
    opened_at: int
    closed: bool
    since: int


ContactState = ContactOpen | ContactClosing | ContactClosed | ContactOpening
ContactStep = tuple[ContactState, tuple[ContactOutcome, ...]]


def initial_state(seat: Seat, *, closed: bool) -> ContactStep:
    """Return the state of a contact at the start. A closed one is stuck until it opens: nobody knows since when."""
    if not closed:
        return ContactOpen(), ()
    return ContactClosed(None, held=True, stuck=True), (_stuck(seat, "it was closed at the start"),)


def apply_edge(state: ContactState, seat: Seat, limits: ContactLimits, *, closed: bool, at: int) -> ContactStep:
    """Return the state after an edge; one without a change is ignored. Call `pass_time` up to `at` before."""
    match state:
        case ContactOpen() if closed:
            return ContactClosing(at, closed=True, since=at), ()
        case ContactClosing(first=first) if closed and not state.closed and at - first > limits.burst_ns:
            return ContactClosing(at, closed=True, since=at), (TooShort(seat, first, state.longest),)
        case ContactClosing() if closed != state.closed:
            pulse = 0 if closed else at - state.since
            return replace(state, closed=closed, since=at, longest=max(state.longest, pulse)), ()
        case ContactClosed() if not closed:
            return ContactOpening(state, at, closed=False, since=at), ()
        case ContactOpening() if closed != state.closed:
            return replace(state, closed=closed, since=at), ()
    return state, ()


def next_deadline(state: ContactState, limits: ContactLimits) -> int | None:
    """Return when `pass_time` will change something if no edge comes before; None: never."""
    match state:
        case ContactClosing():
            return state.since + (limits.finger_ns if state.closed else limits.bounce_ns)
        case ContactOpening():
            return state.since + (limits.finger_ns if state.closed else limits.release_ns)
        case ContactClosed(first=int(first)) if not state.held:
            return first + limits.held_ns
        case ContactClosed(first=int(first)) if not state.stuck:
            return first + limits.stuck_ns
    return None


def pass_time(state: ContactState, seat: Seat, limits: ContactLimits, now: int) -> ContactStep:
    """Return the state after time has passed until `now` without an edge."""
    reports: tuple[ContactOutcome, ...] = ()
    while (when := next_deadline(state, limits)) is not None and when <= now:
        state, more = _apply_due(state, seat, limits)
        reports += more
    return state, reports


def _apply_due(state: ContactState, seat: Seat, limits: ContactLimits) -> ContactStep:
    """Apply the transition that is due."""
    match state:
        case ContactClosing(first=first):
            pressed = ContactClosed(first), (Pressed(seat, first),)
            return pressed if state.closed else (ContactOpen(), (TooShort(seat, first, state.longest),))
        case ContactOpening():
            return (state.before, ()) if state.closed else (ContactOpen(), _released(seat, state))
        case ContactClosed(first=int(first), held=False):
            return replace(state, held=True), (Held(seat, first),)
        case ContactClosed():
            return replace(state, stuck=True), (_stuck(seat, f"closed for {limits.stuck_ns // (1000 * MS)} s"),)
    return state, ()


def _released(seat: Seat, state: ContactOpening) -> tuple[ContactOutcome, ...]:
    released = () if state.before.first is None else (Released(seat, state.opened_at),)
    return (*released, Health(f"button-{seat}", None)) if state.before.stuck else released


def _stuck(seat: Seat, text: str) -> Health:
    return Health(f"button-{seat}", "button_stuck", text)


CHANGEOVER_FAULT_NS: Final = 1_000 * MS
"""A finger may briefly rest between the two contacts, but an unplugged cable must be reported within 2 s."""


@dataclass(slots=True)
class Changeover:
    """The state of a button's two contacts: since when they disagree, and whether that was reported."""

    seat: Seat
    closes: bool
    """Whether the contact that closes when pressed is closed."""
    opens: bool
    since: int
    faulty: bool = False

    def edge(self, *, closes: bool | None = None, opens: bool | None = None, at: int) -> list[Health]:
        """Process a new state of one of the contacts."""
        reports = self.pass_time(at)
        was_consistent = self._is_consistent()
        self.closes = self.closes if closes is None else closes
        self.opens = self.opens if opens is None else opens
        if was_consistent and not self._is_consistent():
            self.since = at
        if self.faulty and self._is_consistent():
            self.faulty = False
            reports.append(Health(f"button-{self.seat}", None))
        return reports

    def due(self) -> int | None:
        """Return when `pass_time` will report something if no edge comes before."""
        return None if self.faulty or self._is_consistent() else self.since + CHANGEOVER_FAULT_NS

    def pass_time(self, now: int) -> list[Health]:
        """Let time pass until `now`."""
        when = self.due()
        if when is None or now < when:
            return []
        self.faulty = True
        code, state = ("button_shorted", "closed") if self.closes else ("button_disconnected", "open")
        return [Health(f"button-{self.seat}", code, f"both contacts are {state}")]

    def _is_consistent(self) -> bool:
        return self.closes != self.opens


CHATTER_PULSES: Final = 5
"""A contact chatters if it gives this many short pulses ..."""

CHATTER_WITHIN_NS: Final = 10_000 * MS
"""... within this time."""

CHATTER_QUIET_NS: Final = 60_000 * MS
"""After this long without a short pulse the contact is well again."""


@dataclass(slots=True)
class Chatter:
    """The latest short pulses of one contact, and whether it was reported to chatter."""

    seat: Seat
    faulty: bool = False
    _pulses: deque[int] = field(default_factory=lambda: deque(maxlen=CHATTER_PULSES))

    def pulse(self, at: int) -> list[Health]:
        """Process a pulse too short for a finger."""
        self._pulses.append(at)
        if self.faulty or len(self._pulses) < CHATTER_PULSES or at - self._pulses[0] > CHATTER_WITHIN_NS:
            return []
        self.faulty = True
        return [
            self._health("button_chatters", f"{CHATTER_PULSES} pulses in {(at - self._pulses[0]) / MS / 1000:.1f} s")
        ]

    def due(self) -> int | None:
        """Return when `pass_time` will report something if no pulse comes before."""
        return self._pulses[-1] + CHATTER_QUIET_NS if self.faulty else None

    def pass_time(self, now: int) -> list[Health]:
        """Let time pass until `now`."""
        when = self.due()
        if when is None or now < when:
            return []
        self.faulty = False
        return [self._health(None, "")]

    def _health(self, code: str | None, text: str) -> Health:
        return Health(f"contact-{self.seat}", code, text)


class Presses:
    """Edges and time in, outcomes out. It has no clock, thread or lock: concurrent callers must hold a lock."""

    def __init__(self, limits: ContactLimits | None = None) -> None:
        self.limits = limits or ContactLimits()
        self._states: dict[Seat, ContactState] = dict.fromkeys(SEATS, ContactOpen())
        self._pending: dict[Seat, deque[ContactOutcome]] = {seat: deque() for seat in SEATS}
        """Outcomes that are certain but not reported, in the order in which they became so."""
        self._chatter = {seat: Chatter(seat) for seat in SEATS}

    def begin(self, closed: Mapping[Seat, bool]) -> list[ContactOutcome]:
        """Set the initial state of the contacts."""
        for seat, is_closed in closed.items():
            self._apply(seat, initial_state(seat, closed=is_closed))
        return self._drain()

    def edge(self, seat: Seat, *, closed: bool, at: int) -> list[ContactOutcome]:
        """Process one contact's edge; time passes for all. Edges of one seat must come in order and without delay."""
        self._pass_time(at)
        self._apply(seat, apply_edge(self._states[seat], seat, self.limits, closed=closed, at=at))
        return self._drain()

    def pass_time(self, now: int) -> list[ContactOutcome]:
        """Let time pass until `now`."""
        self._pass_time(now)
        return self._drain()

    def due(self) -> int | None:
        """Return when `pass_time` must be called if no edge comes before; None if nothing is due."""
        times = [next_deadline(state, self.limits) for state in self._states.values()]
        times += [one.due() for one in self._chatter.values()]
        return min((when for when in times if when is not None), default=None)

    def is_closed(self, seat: Seat) -> bool:
        """Return whether a contact is closed according to the edges so far."""
        match self._states[seat]:
            case ContactOpen():
                return False
            case ContactClosed():
                return True
            case state:
                return state.closed

    def _pass_time(self, now: int) -> None:
        for seat, state in self._states.items():
            self._apply(seat, pass_time(state, seat, self.limits, now))
            self._pending[seat] += self._chatter[seat].pass_time(now)

    def _apply(self, seat: Seat, step: ContactStep) -> None:
        self._states[seat], outcomes = step
        for outcome in outcomes:
            self._pending[seat].append(outcome)
            if isinstance(outcome, TooShort):
                self._pending[seat] += self._chatter[seat].pulse(outcome.at)

    def _drain(self) -> list[ContactOutcome]:
        reports = []
        while (queue := self._next()) is not None:
            reports.append(queue.popleft())
        return reports

    def _next(self) -> deque[ContactOutcome] | None:
        """Return the queue to report from next. Each seat keeps its order; across seats only presses have one."""
        presses = []
        for queue in self._pending.values():
            match queue:
                case [Pressed(at=at), *_]:
                    presses.append((at, queue))
                case [_, *_]:
                    return queue
        if not presses:
            return None
        at, queue = min(presses, key=lambda press: press[0])
        undecided = [state.first for state in self._states.values() if isinstance(state, ContactClosing)]
        return queue if all(at <= first for first in undecided) else None
