"""Which device serves each table. The first that speaks does, until it is gone; another is refused. Pure.

A refused device is silent from then on, so whatever it says later is somebody at it who asks again: once the first is
gone, it is let in. A device that was away and comes back is still the one, unless another was let in meanwhile.
An arbiter may hand a table over to the one that was refused, while the first is still alive.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from broker.contract.messages import TableState
from broker.scorer.alerts import GONE, Concern
from broker.scorer.errors import NoDeviceWaits

SHOWN: Final = 8
"""Characters by which people tell devices apart."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The device that serves a table."""

    device: str
    start: int
    gone: bool = False
    refused: str | None = None
    """Another one that was refused last."""


class Serving:
    """All tables of an event."""

    def __init__(self, kept: Mapping[str, str] | None = None) -> None:
        """Take what was `written` by table; what cannot be read of it is as if it were not there."""
        found = {int(table): _read(text) for table, text in (kept or {}).items() if table.isdecimal()}
        self._holders: dict[int, Holder] = {table: holder for table, holder in found.items() if holder is not None}

    def written(self, table: int) -> str:
        """Write down what is known of a table, so that a scorer that starts again knows it."""
        return msgspec.json.encode(self._holders.get(table)).decode()

    def waiting(self) -> dict[int, tuple[str, str]]:
        """Give the tables at which a device was refused: which serves, and which was refused."""
        there = sorted(self._holders.items())
        return {table: (one.device, one.refused) for table, one in there if one.refused is not None}

    def of(self, table: int) -> tuple[str | None, str | None]:
        """Give the device that serves a table, and another one that was refused last."""
        found = self._holders.get(table)
        return (found.device, found.refused) if found else (None, None)

    def hand_over(self, table: int, to: str) -> None:
        """Let the device `to` serve, which was refused last; the one that did is refused now. Raises NoDeviceWaits.

        Handed to that one it is undone. Whichever has gone by then is not asked: who orders this stands before them.
        """
        found = self._holders.get(table)
        if found is None or found.refused != to:
            raise NoDeviceWaits(f"the device {to[:SHOWN]} has not asked to serve table {table}, or serves it by now")
        self._holders[table] = Holder(to, 0, refused=found.device)

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
            return found is None or not gone
        if found.device != state.device:
            if not gone:
                self._holders[state.table] = replace(found, refused=state.device)
            return False
        if state.start >= found.start or found.gone:  # an older start's last will may come late
            self._holders[state.table] = Holder(state.device, state.start, gone, found.refused)
        return True

    def concerns(self, state: TableState) -> Iterable[Concern]:
        """Tell of a device that was refused just now."""
        if self.of(state.table)[1] == state.device and state.lifecycle not in GONE:
            text = f"table {state.table}: a second device, {state.device[:SHOWN]}, is refused"
            yield Concern("two_devices", text, state.table)


def _read(text: str) -> Holder | None:
    try:
        return msgspec.json.decode(text, type=Holder)
    except (msgspec.DecodeError, UnicodeError):
        return None
