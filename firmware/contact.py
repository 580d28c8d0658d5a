"""One button's contact: raw edges and the passing of time in, presses out. Pure; times are ns of any one clock.

A contact bounces when it closes and when it opens, picks up sparks, and sticks. What is told of a press is the time of
its *first* edge, however long the contact then bounces. That a press is a finger's is known only once the contact has
stayed closed for `Limits.finger_ns` without a break, so a press is told that much later than it happened, with the time
at which it happened.
"""

from dataclasses import dataclass, replace
from typing import Final

from firmware.errors import ButtonStuck
from firmware.reports import Health, Held, Pressed, Released, Seat

MS: Final = 1_000_000
"""Nanoseconds."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long things take, in ns."""

    finger_ns: int = 3 * MS
    """Closed for less than this, a contact was not pressed by a finger: the shortest taps of people last some 30 ms,
    sparks and what a cable picks up last microseconds. As short as this because every press is told this much later."""

    bounce_ns: int = 10 * MS
    """Open for this long, a closing contact has stopped bouncing (nearly all the switches of Ganssle's A Guide to
    Debouncing had done so within 6.2 ms). Longer would let a spark before a press pass for its first edge."""

    burst_ns: int = 30 * MS
    """A contact that chatters for longer than this without closing begins anew; other seats do not wait for it."""

    release_ns: int = 40 * MS
    """Open for this long, a contact was let go; no finger presses again within it."""

    held_ns: int = 2_000 * MS
    """The long press: the player calls the arbiter."""

    stuck_ns: int = 30_000 * MS
    """No finger presses for this long."""


@dataclass(frozen=True, slots=True)
class TooShort:
    """A pulse that was no finger's: first edge, and for how many ns the contact was closed at the longest."""

    seat: Seat
    at: int
    lasted_ns: int


Outcome = Pressed | Released | Held | Health | TooShort


@dataclass(frozen=True, slots=True)
class Open:
    """At rest."""


@dataclass(frozen=True, slots=True)
class Closing:
    """It has closed, and bounces or may be a spark: since `since` closed, or open again."""

    first: int
    closed: bool
    since: int
    longest: int = 0


@dataclass(frozen=True, slots=True)
class Closed:
    """Pressed at `first`; None where it was closed when we first looked, which is no press."""

    first: int | None
    held: bool = False
    stuck: bool = False


@dataclass(frozen=True, slots=True)
class Opening:
    """It has opened at `let_go`, and bounces: since `since` closed again, or open."""

    was: Closed
    let_go: int
    closed: bool
    since: int


State = Open | Closing | Closed | Opening
Step = tuple[State, tuple[Outcome, ...]]


def begin(seat: Seat, *, closed: bool) -> Step:
    """Look at a contact for the first time. Who finds it closed cannot know since when: it is stuck until it opens."""
    if not closed:
        return Open(), ()
    return Closed(None, held=True, stuck=True), (_stuck(seat, "it was closed at the start"),)


def edge(state: State, seat: Seat, limits: Limits, *, closed: bool, at: int) -> Step:
    """Take in an edge. Whoever calls has let the time pass until `at` (`pass_time`); an edge to where it is is none."""
    match state:
        case Open() if closed:
            return Closing(at, closed=True, since=at), ()
        case Closing(first=first) if closed and not state.closed and at - first > limits.burst_ns:
            return Closing(at, closed=True, since=at), (TooShort(seat, first, state.longest),)
        case Closing() if closed != state.closed:
            pulse = 0 if closed else at - state.since
            return replace(state, closed=closed, since=at, longest=max(state.longest, pulse)), ()
        case Closed() if not closed:
            return Opening(state, at, closed=False, since=at), ()
        case Opening() if closed != state.closed:
            return replace(state, closed=closed, since=at), ()
    return state, ()


def due(state: State, limits: Limits) -> int | None:
    """When will `pass_time` change something if no edge comes before? None: never."""
    match state:
        case Closing():
            return state.since + (limits.finger_ns if state.closed else limits.bounce_ns)
        case Opening():
            return state.since + (limits.finger_ns if state.closed else limits.release_ns)
        case Closed(first=int(first)) if not state.held:
            return first + limits.held_ns
        case Closed(first=int(first)) if not state.stuck:
            return first + limits.stuck_ns
    return None


def pass_time(state: State, seat: Seat, limits: Limits, now: int) -> Step:
    """Let the time pass until `now`, at which no edge came."""
    told: tuple[Outcome, ...] = ()
    while (when := due(state, limits)) is not None and when <= now:
        state, more = _ripen(state, seat, limits)
        told += more
    return state, told


def _ripen(state: State, seat: Seat, limits: Limits) -> Step:
    """Do what is due."""
    match state:
        case Closing(first=first):
            pressed = Closed(first), (Pressed(seat, first),)
            return pressed if state.closed else (Open(), (TooShort(seat, first, state.longest),))
        case Opening():
            return (state.was, ()) if state.closed else (Open(), _let_go(seat, state))
        case Closed(first=int(first), held=False):
            return replace(state, held=True), (Held(seat, first),)
        case Closed():
            return replace(state, stuck=True), (_stuck(seat, f"closed for {limits.stuck_ns // (1000 * MS)} s"),)
    return state, ()


def _let_go(seat: Seat, state: Opening) -> tuple[Outcome, ...]:
    released = () if state.was.first is None else (Released(seat, state.let_go),)
    return (*released, Health(f"button-{seat}", None)) if state.was.stuck else released


def _stuck(seat: Seat, text: str) -> Health:
    return Health(f"button-{seat}", ButtonStuck.code, text)
