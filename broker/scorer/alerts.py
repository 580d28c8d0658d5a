"""What the scorer tells the arbiters of: kept for the desk, and published."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count, islice
from operator import itemgetter
from typing import Final

from msgspec.structs import replace

from broker.contract.messages import TableState
from broker.scorer.view import AlertView

KEPT: Final = 50
"""Of each code: what a device says of itself every minute pushes no fouled deal out."""

MOST_AT_ONCE: Final = 20
"""Alerts from one batch: a table that floods the wire does not flood the arbiter."""

GONE: Final = ("lost", "disconnected")

PAUSE_MS: Final = 1000
"""The same thing of the same table is told again only after a second without it; the store keeps what was refused."""


@dataclass(frozen=True, slots=True)
class Concern:
    """One thing that an arbiter must know. `about` sets it apart from others of its code at its table."""

    code: str
    text: str
    table: int | None = None
    topic: str | None = None
    about: int | None = None
    values: Mapping[str, int | str] = field(default_factory=dict)
    """What the desk puts into the sentence that it has for the code; `text` says the same in English."""


Kind = tuple[str, int | None, int | None]
"""Code, table and what it is about."""


class AlertBook:
    """The last alerts of each code, newest first."""

    def __init__(self) -> None:
        self._kept: dict[str, deque[tuple[int, AlertView]]] = {}
        self._number = count()
        self._newest_first: tuple[AlertView, ...] | None = ()
        self._last: dict[Kind, int] = {}

    def add(self, concerns: Iterable[Concern], now: int) -> tuple[Concern, ...]:
        """Keep what is new in this batch and give it back: one of a kind, and not too many. `now` in ms.

        What was one too many counts as not told: it is told when it comes again.
        """
        one_each = {(concern.code, concern.table, concern.about): concern for concern in concerns}
        # A wall clock that was put back must not silence anything: only what was told just before `now` is quiet.
        self._last = {kind: at for kind, at in self._last.items() if 0 <= now - at < PAUSE_MS}
        quiet = one_each.keys() & self._last.keys()
        fresh = {kind: concern for kind, concern in one_each.items() if kind not in quiet}
        told = dict(islice(fresh.items(), MOST_AT_ONCE))
        self._last.update(dict.fromkeys((*quiet, *told), now))
        for concern in told.values():
            self._keep(now, concern)
        return tuple(told.values())

    def recall(self, told: Iterable[tuple[int, Concern]]) -> None:
        """Keep what was told before this scorer was started, by the times (ms) at which it was."""
        for at, concern in sorted(told, key=itemgetter(0)):
            self._keep(at, concern)

    def newest_first(self) -> tuple[AlertView, ...]:
        """Give what is kept."""
        if self._newest_first is None:
            kept = sorted((one for of_code in self._kept.values() for one in of_code), key=itemgetter(0), reverse=True)
            self._newest_first = tuple(alert for _, alert in kept)
        return self._newest_first

    def _keep(self, at: int, concern: Concern) -> None:
        alert = AlertView(at, concern.code, concern.table, concern.text, dict(concern.values), concern.about)
        self._kept.setdefault(concern.code, deque(maxlen=KEPT)).append((next(self._number), alert))
        self._newest_first = None


class TableWatch:
    """What the tables last said of themselves, and whether two devices speak for one of them."""

    def __init__(self) -> None:
        self.states: dict[int, TableState] = {}
        self._spoke_twice: set[tuple[int, frozenset[str]]] = set()

    def is_hello(self, state: TableState) -> bool:
        """Tell whether a device has just connected: it begins to speak, or says again what it said."""
        before = self.states.get(state.table)
        if state.lifecycle in GONE:
            return False
        if before is None or before.lifecycle in GONE or (before.device, before.start) != (state.device, state.start):
            return True
        return replace(before, id=state.id, count=state.count, at=state.at, heard=state.heard) == state

    def hear(self, state: TableState) -> Iterable[Concern]:
        """Take a state in; give a concern where another device spoke for the table while the first was there.

        A broker may bring an old state after a newer one. A last will was written when its device started: it tells
        only that the device is lost, and what the device said last stays.
        """
        before = self.states.get(state.table)
        if before is None or before.device != state.device:
            if before is not None and state.lifecycle in GONE:
                return ()  # somebody else has this table by now
            self.states[state.table] = state
            return self._another(before, state)
        if state.lifecycle == "lost":
            if state.start >= before.start and before.lifecycle not in GONE:
                self.states[state.table] = replace(before, lifecycle="lost")
                return (Concern("table_lost", f"table {state.table} has gone without signing off", state.table),)
        elif (state.start, state.count) >= (before.start, before.count) or _put_back(before, state):
            self.states[state.table] = state
        return ()

    def _another(self, before: TableState | None, state: TableState) -> Iterable[Concern]:
        if before is None:
            return ()
        pair = state.table, frozenset({before.device, state.device})
        if before.lifecycle in GONE or pair in self._spoke_twice:
            return ()
        self._spoke_twice.add(pair)
        return (Concern("two_devices", f"two devices speak for table {state.table}", state.table),)


def _put_back(before: TableState, state: TableState) -> bool:
    """Tell whether a device that was gone speaks with an older copy of its journal: it counts its starts from there."""
    return before.lifecycle in GONE and state.start < before.start
