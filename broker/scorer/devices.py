"""The devices of an event's tables, as the scorer knows them also after it has started again.

A scorer that knew nothing would take whichever speaks first for the one that serves, and that may be the idle one.
"""

from collections.abc import Callable
from typing import Final

from broker.contract.messages import TableState
from broker.scorer.serving import Serving
from broker.store.journal import Journal

SERVES: Final = "serves/"
"""Under which keys the store keeps which device serves which table."""


class Devices:
    """Which device serves each table. On the scorer's thread alone; `tell` tells tables how they stand."""

    def __init__(self, journal: Journal, tell: Callable[[set[int]], None]) -> None:
        self._journal, self._tell = journal, tell
        self.serving = Serving(journal.remembered(SERVES))

    def hear(self, state: TableState) -> bool:
        """Take in what a device says of itself, within a commit; say whether it serves its table."""
        before, serves = self.serving.written(state.table), self.serving.hear(state)
        if self.serving.written(state.table) != before:
            self._keep(state.table)
        return serves

    def hand_over(self, table: int, to: str) -> None:
        """Let a table's second device serve it, and tell both. Raises NoDeviceWaits."""
        with self._journal.commit():
            self.serving.hand_over(table, to)
            self._keep(table)
        self._tell({table})

    def _keep(self, table: int) -> None:
        self._journal.remember(f"{SERVES}{table}", self.serving.written(table))
