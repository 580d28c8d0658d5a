"""Which device serves each table. The first that speaks does, until it is gone; another is refused. Pure.

A refused device is silent from then on, so whatever it says later is somebody at it who asks again: once the first is
gone, it is let in. A device that was away and comes back is still the one, unless another was let in meanwhile.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from broker.contract.messages import TableState
from broker.scorer.alerts import GONE, Concern

SHOWN: Final = 8
"""Characters by which people tell devices apart."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The device that serves a table."""

    device: str
    start: int
    gone: bool = False


class Serving:
    """All tables of an event."""

    def __init__(self) -> None:
        self._holders: dict[int, Holder] = {}
        self.refused: dict[int, str] = {}
        """The device that was refused last at a table."""

    def holder(self, table: int) -> str | None:
        """Give the device that serves a table; None: none has spoken."""
        found = self._holders.get(table)
        return found.device if found else None

    def refuses(self, table: int, device: str | None) -> bool:
        """Say whether facts that a device sends are not taken. A device that does not say which it is is taken."""
        found = self._holders.get(table)
        return found is not None and device is not None and found.device != device

    def hear(self, state: TableState) -> bool:
        """Take in what a device says of itself; say whether it serves its table."""
        found, gone = self._holders.get(state.table), state.lifecycle in GONE
        if found is None or (found.device != state.device and found.gone):
            if not gone:
                self._holders[state.table] = Holder(state.device, state.start)
                self.refused.pop(state.table, None)
            return found is None or not gone
        if found.device != state.device:
            if not gone:
                self.refused[state.table] = state.device
            return False
        if state.start >= found.start or found.gone:  # an older start's last will may come late
            self._holders[state.table] = Holder(state.device, state.start, gone)
        return True

    def concerns(self, state: TableState) -> Iterable[Concern]:
        """Tell of a device that was refused just now."""
        if self.refused.get(state.table) == state.device and state.lifecycle not in GONE:
            text = f"table {state.table}: a second device, {state.device[:SHOWN]}, is refused"
            yield Concern("two_devices", text, state.table)
