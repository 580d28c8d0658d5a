"""From raw edges of the four buttons' contacts to presses, long presses and faults.

Pure: edges and the passing of time go in, outcomes come out. Times are nanoseconds of any one clock.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from firmware.reports import SEATS, Health, Held, Pressed, Released, Seat, TooShort

MS: Final = 1_000_000
"""Nanoseconds."""


@dataclass(frozen=True, slots=True)
class ContactLimits:
    """How long things take, in ns."""

    finger_ns: int = 3 * MS
    """Closed for less than this, a contact was not pressed by a finger: the shortest taps of people last some 30 ms,
    sparks and what a cable picks up last microseconds. As short as this because every press is told this much later."""

    bounce_ns: int = 10 * MS
    """Open for this long, a closing contact has stopped bouncing (nearly all the switches of Ganssle's A Guide to
    Debouncing had done so within 6.2 ms). Longer would let a spark before a press pass for its first edge."""

    burst_ns: int = 30 * MS
    """A contact that chatters for longer than this without closing starts over; other seats do not wait for it."""

    release_ns: int = 40 * MS
    """Open for this long, a contact was let go; no finger presses again within it."""

    held_ns: int = 2_000 * MS
    """The long press: the player calls the arbiter."""

    stuck_ns: int = 30_000 * MS
    """No finger presses for this long."""


ContactOutcome = Pressed | Released | Held | Health | TooShort


@dataclass(frozen=True, slots=True)
class ContactOpen:
    """At rest."""


@dataclass(frozen=True, slots=True)
class ContactClosing:
    """It has closed, and bounces or may be a spark: since `since` closed, or open again."""

    first: int
    closed: bool
    since: int
    longest: int = 0


@dataclass(frozen=True, slots=True)
class ContactClosed:
    """Pressed at `first`; None if it was closed when we first looked, which is no press."""

    first: int | None
    held: bool = False
    stuck: bool = False


@dataclass(frozen=True, slots=True)
class ContactOpening:
    """It has opened at `let_go`, and bounces: since `since` closed again, or open."""

    was: ContactClosed
    let_go: int
    closed: bool
    since: int


ContactState = ContactOpen | ContactClosing | ContactClosed | ContactOpening
ContactStep = tuple[ContactState, tuple[ContactOutcome, ...]]


def initial_state(seat: Seat, *, closed: bool) -> ContactStep:
    """Look at a contact for the first time. Who finds it closed cannot know since when: it is stuck until it opens."""
    if not closed:
        return ContactOpen(), ()
    return ContactClosed(None, held=True, stuck=True), (_stuck(seat, "it was closed at the start"),)


def apply_edge(state: ContactState, seat: Seat, limits: ContactLimits, *, closed: bool, at: int) -> ContactStep:
    """Take in an edge. Whoever calls has let the time pass until `at` (`pass_time`); an edge to where it is is none."""
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
    """When will `pass_time` change something if no edge comes before? None: never."""
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
    """Let the time pass until `now`, at which no edge came."""
    told: tuple[ContactOutcome, ...] = ()
    while (when := next_deadline(state, limits)) is not None and when <= now:
        state, more = _apply_due(state, seat, limits)
        told += more
    return state, told


def _apply_due(state: ContactState, seat: Seat, limits: ContactLimits) -> ContactStep:
    """Do what is due."""
    match state:
        case ContactClosing(first=first):
            pressed = ContactClosed(first), (Pressed(seat, first),)
            return pressed if state.closed else (ContactOpen(), (TooShort(seat, first, state.longest),))
        case ContactOpening():
            return (state.was, ()) if state.closed else (ContactOpen(), _let_go(seat, state))
        case ContactClosed(first=int(first), held=False):
            return replace(state, held=True), (Held(seat, first),)
        case ContactClosed():
            return replace(state, stuck=True), (_stuck(seat, f"closed for {limits.stuck_ns // (1000 * MS)} s"),)
    return state, ()


def _let_go(seat: Seat, state: ContactOpening) -> tuple[ContactOutcome, ...]:
    released = () if state.was.first is None else (Released(seat, state.let_go),)
    return (*released, Health(f"button-{seat}", None)) if state.was.stuck else released


def _stuck(seat: Seat, text: str) -> Health:
    return Health(f"button-{seat}", "button_stuck", text)


CHANGEOVER_FAULT_NS: Final = 1_000 * MS
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
        """Return when `pass_time` will tell something if no edge comes before."""
        return None if self.ill or self._is_right() else self.since + CHANGEOVER_FAULT_NS

    def pass_time(self, now: int) -> list[Health]:
        """Let the time pass until `now`."""
        when = self.due()
        if when is None or now < when:
            return []
        self.ill = True
        code, state = ("button_shorted", "closed") if self.closes else ("button_disconnected", "open")
        return [Health(f"button-{self.seat}", code, f"both contacts are {state}")]

    def _is_right(self) -> bool:
        return self.closes != self.opens


CHATTER_PULSES: Final = 5
"""So many pulses ..."""

CHATTER_WITHIN_NS: Final = 10_000 * MS
"""... in so long."""

CHATTER_QUIET_NS: Final = 60_000 * MS
"""Without one for so long, the contact is well again."""


@dataclass(slots=True)
class Chatter:
    """The latest pulses of one contact, and whether it was told that it chatters."""

    seat: Seat
    ill: bool = False
    _pulses: deque[int] = field(default_factory=lambda: deque(maxlen=CHATTER_PULSES))

    def pulse(self, at: int) -> list[Health]:
        """Take in a pulse that was no finger's."""
        self._pulses.append(at)
        if self.ill or len(self._pulses) < CHATTER_PULSES or at - self._pulses[0] > CHATTER_WITHIN_NS:
            return []
        self.ill = True
        return [
            self._health("button_chatters", f"{CHATTER_PULSES} pulses in {(at - self._pulses[0]) / MS / 1000:.1f} s")
        ]

    def due(self) -> int | None:
        """Return when `pass_time` will tell something if no pulse comes before."""
        return self._pulses[-1] + CHATTER_QUIET_NS if self.ill else None

    def pass_time(self, now: int) -> list[Health]:
        """Let the time pass until `now`."""
        when = self.due()
        if when is None or now < when:
            return []
        self.ill = False
        return [self._health(None, "")]

    def _health(self, code: str | None, text: str) -> Health:
        return Health(f"contact-{self.seat}", code, text)


class Presses:
    """Edges and time in, outcomes out. No clock and no thread: who feeds it from several threads holds a lock."""

    def __init__(self, limits: ContactLimits | None = None) -> None:
        self.limits = limits or ContactLimits()
        self._states: dict[Seat, ContactState] = dict.fromkeys(SEATS, ContactOpen())
        self._untold: dict[Seat, deque[ContactOutcome]] = {seat: deque() for seat in SEATS}
        """What is certain, in the order in which it became so."""
        self._chatter = {seat: Chatter(seat) for seat in SEATS}

    def begin(self, closed: Mapping[Seat, bool]) -> list[ContactOutcome]:
        """Look at the contacts for the first time."""
        for seat, is_closed in closed.items():
            self._take(seat, initial_state(seat, closed=is_closed))
        return self._tell()

    def edge(self, seat: Seat, *, closed: bool, at: int) -> list[ContactOutcome]:
        """Take in one contact's edge; time passes for all. Edges of one seat come in order, and soon."""
        self._pass_time(at)
        self._take(seat, apply_edge(self._states[seat], seat, self.limits, closed=closed, at=at))
        return self._tell()

    def pass_time(self, now: int) -> list[ContactOutcome]:
        """Let the time pass until `now`."""
        self._pass_time(now)
        return self._tell()

    def due(self) -> int | None:
        """When must `pass_time` be called if no edge comes before? None: nothing is due."""
        times = [next_deadline(state, self.limits) for state in self._states.values()]
        times += [one.due() for one in self._chatter.values()]
        return min((when for when in times if when is not None), default=None)

    def is_closed(self, seat: Seat) -> bool:
        """Return where the contact is by the edges so far."""
        match self._states[seat]:
            case ContactOpen():
                return False
            case ContactClosed():
                return True
            case state:
                return state.closed

    def _pass_time(self, now: int) -> None:
        for seat, state in self._states.items():
            self._take(seat, pass_time(state, seat, self.limits, now))
            self._untold[seat] += self._chatter[seat].pass_time(now)

    def _take(self, seat: Seat, step: ContactStep) -> None:
        self._states[seat], outcomes = step
        for outcome in outcomes:
            self._untold[seat].append(outcome)
            if isinstance(outcome, TooShort):
                self._untold[seat] += self._chatter[seat].pulse(outcome.at)

    def _tell(self) -> list[ContactOutcome]:
        told = []
        while (queue := self._next()) is not None:
            told.append(queue.popleft())
        return told

    def _next(self) -> deque[ContactOutcome] | None:
        """Find what is told next. Each seat's own order stays; between seats only presses have one."""
        presses = []
        for queue in self._untold.values():
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
