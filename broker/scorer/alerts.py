"""What the scorer tells the arbiters of: kept for the desk, and published."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from broker.contract.messages import TableState
from broker.scorer.view import AlertView

KEPT: Final = 100

MOST_AT_ONCE: Final = 20
"""Alerts from one batch: a table that floods the wire does not flood the arbiter."""


@dataclass(frozen=True, slots=True)
class Concern:
    """One thing that an arbiter must know."""

    code: str
    text: str
    table: int | None = None
    topic: str | None = None


class AlertBook:
    """The last alerts, newest first."""

    def __init__(self) -> None:
        self._kept: deque[AlertView] = deque(maxlen=KEPT)

    def add(self, concerns: Iterable[Concern], now: int) -> tuple[Concern, ...]:
        """Keep what is new in this batch and give it back: one of a kind and table, and not too many."""
        one_each = {(concern.code, concern.table): concern for concern in concerns}
        fresh = tuple(one_each.values())[:MOST_AT_ONCE]
        for concern in fresh:
            self._kept.appendleft(AlertView(now, concern.code, concern.table, concern.text))
        return fresh

    def newest_first(self) -> tuple[AlertView, ...]:
        """Give what is kept."""
        return tuple(self._kept)


class TableWatch:
    """What the tables last said of themselves, and whether two devices speak for one of them."""

    def __init__(self) -> None:
        self.states: dict[int, TableState] = {}
        self._spoke_twice: set[tuple[int, frozenset[str]]] = set()

    def hear(self, state: TableState) -> Concern | None:
        """Take a state in; give a concern where another device spoke for the table while the first was there."""
        before = self.states.get(state.table)
        self.states[state.table] = state
        if before is None or before.device == state.device:
            return None
        pair = state.table, frozenset({before.device, state.device})
        if before.lifecycle in ("lost", "disconnected") or pair in self._spoke_twice:
            return None
        self._spoke_twice.add(pair)
        return Concern("two_devices", f"two devices speak for table {state.table}", state.table)
