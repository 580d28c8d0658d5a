"""The four contacts of a table together: presses are told in the order of their first edges. Pure.

A contact that bounces for long is certain later than one that does not. A press is therefore kept back while another
seat's earlier edge may yet become a press: for `burst_ns + finger_ns + bounce_ns` at most, and not at all while nobody
else's contact moves.
"""

from collections import deque
from collections.abc import Mapping

from firmware.chatter import Chatter
from firmware.contact import Closed, Closing, Limits, Open, Outcome, State, Step, TooShort, begin, due, edge, pass_time
from firmware.reports import SEATS, Pressed, Seat


class Presses:
    """Edges and time in, outcomes out. No clock and no thread: who feeds it from several threads holds a lock."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._states: dict[Seat, State] = dict.fromkeys(SEATS, Open())
        self._untold: dict[Seat, deque[Outcome]] = {seat: deque() for seat in SEATS}
        """What is certain, in the order in which it became so."""
        self._chatter = {seat: Chatter(seat) for seat in SEATS}

    def begin(self, closed: Mapping[Seat, bool]) -> list[Outcome]:
        """Look at the contacts for the first time."""
        for seat, is_closed in closed.items():
            self._take(seat, begin(seat, closed=is_closed))
        return self._tell()

    def edge(self, seat: Seat, *, closed: bool, at: int) -> list[Outcome]:
        """Take in one contact's edge; time passes for all. Edges of one seat come in order, and soon."""
        self._pass_time(at)
        self._take(seat, edge(self._states[seat], seat, self.limits, closed=closed, at=at))
        return self._tell()

    def pass_time(self, now: int) -> list[Outcome]:
        """Let the time pass until `now`."""
        self._pass_time(now)
        return self._tell()

    def due(self) -> int | None:
        """When must `pass_time` be called if no edge comes before? None: nothing is due."""
        times = [due(state, self.limits) for state in self._states.values()]
        times += [one.due() for one in self._chatter.values()]
        return min((when for when in times if when is not None), default=None)

    def is_closed(self, seat: Seat) -> bool:
        """Say where the contact is by the edges so far."""
        match self._states[seat]:
            case Open():
                return False
            case Closed():
                return True
            case state:
                return state.closed

    def _pass_time(self, now: int) -> None:
        for seat, state in self._states.items():
            self._take(seat, pass_time(state, seat, self.limits, now))
            self._untold[seat] += self._chatter[seat].pass_time(now)

    def _take(self, seat: Seat, step: Step) -> None:
        self._states[seat], outcomes = step
        for outcome in outcomes:
            self._untold[seat].append(outcome)
            if isinstance(outcome, TooShort):
                self._untold[seat] += self._chatter[seat].pulse(outcome.at)

    def _tell(self) -> list[Outcome]:
        told = []
        while (queue := self._next()) is not None:
            told.append(queue.popleft())
        return told

    def _next(self) -> deque[Outcome] | None:
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
        undecided = [state.first for state in self._states.values() if isinstance(state, Closing)]
        return queue if all(at <= first for first in undecided) else None
