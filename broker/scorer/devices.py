"""The tables' devices: which serves each table, whether it is there, whether its clock is right, and how it is.

The first device that speaks serves a table until it is gone; another is refused. A refused device is silent from then
on, so whatever it says later means that somebody asks again: once the first is gone, it is let in. A device that was
away and comes back still serves, unless another was let in meanwhile. An arbiter may hand a table over to the device
that was refused while the first is still alive. Which device serves is kept in the store: a scorer that restarts
without knowing it could take an idle device for the one that serves.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from dataclasses import replace as dataclasses_replace
from itertools import count
from typing import Final

import msgspec
from msgspec.structs import replace

from broker.errors import NoDeviceWaits
from broker.protocol import TableState, clock_offset
from broker.scorer.alerts import Concern
from broker.store import Journal

GONE: Final = ("lost", "disconnected")


class TableWatch:
    """What the tables last said of themselves, and whether two devices speak for one of them."""

    def __init__(self) -> None:
        self.states: dict[int, TableState] = {}
        self._spoke_twice: set[tuple[int, frozenset[str]]] = set()

    def is_hello(self, state: TableState) -> bool:
        """Return whether a device has just connected: it begins to speak, or says again what it said."""
        before = self.states.get(state.table)
        if state.lifecycle in GONE:
            return False
        if before is None or before.lifecycle in GONE or (before.device, before.start) != (state.device, state.start):
            return True
        return replace(before, id=state.id, count=state.count, at=state.at, heard=state.heard) == state

    def hear(self, state: TableState) -> Iterable[Concern]:
        """Take a state in; return a concern where another device spoke for the table while the first was there.

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
    """Whether a device that was gone speaks with an older copy of its journal: it counts its starts from there."""
    return before.lifecycle in GONE and state.start < before.start


ID_SHOWN: Final = 8
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
        found = {int(table): _read_holder(text) for table, text in (kept or {}).items() if table.isdecimal()}
        self._holders: dict[int, Holder] = {table: holder for table, holder in found.items() if holder is not None}

    def written(self, table: int) -> str:
        """Write down what is known of a table, so that a scorer that starts again knows it."""
        return msgspec.json.encode(self._holders.get(table)).decode()

    def waiting(self) -> dict[int, tuple[str, str]]:
        """Return the tables at which a device was refused: which serves, and which was refused."""
        there = sorted(self._holders.items())
        return {table: (one.device, one.refused) for table, one in there if one.refused is not None}

    def of(self, table: int) -> tuple[str | None, str | None]:
        """Return the device that serves a table, and another one that was refused last."""
        found = self._holders.get(table)
        return (found.device, found.refused) if found else (None, None)

    def hand_over(self, table: int, to: str) -> None:
        """Let the device `to` serve, which was refused last; the one that did is refused now. Raises NoDeviceWaits.

        Handed to that one it is undone. Whichever has gone by then is not asked: who orders this stands before them.
        """
        found = self._holders.get(table)
        if found is None or found.refused != to:
            raise NoDeviceWaits(f"the device {to[:ID_SHOWN]} has not asked to serve table {table}, or serves it by now")
        self._holders[table] = Holder(to, 0, refused=found.device)

    def refuses(self, table: int, device: str | None) -> bool:
        """Return whether facts that a device sends are not taken. A device that does not say which it is is taken."""
        found = self._holders.get(table)
        return found is not None and device is not None and found.device != device

    def hear(self, state: TableState) -> bool:
        """Take in what a device says of itself; return whether it serves its table."""
        found, gone = self._holders.get(state.table), state.lifecycle in GONE
        if found is None or (found.device != state.device and found.gone):
            if not gone:
                self._holders[state.table] = Holder(state.device, state.start)
            return found is None or not gone
        if found.device != state.device:
            if not gone:
                self._holders[state.table] = dataclasses_replace(found, refused=state.device)
            return False
        if state.start >= found.start or found.gone:  # an older start's last will may come late
            self._holders[state.table] = Holder(state.device, state.start, gone, found.refused)
        return True

    def concerns(self, state: TableState) -> Iterable[Concern]:
        """Tell of a device that was refused just now."""
        if self.of(state.table)[1] == state.device and state.lifecycle not in GONE:
            text = f"table {state.table}: a second device, {state.device[:ID_SHOWN]}, is refused"
            yield Concern("two_devices", text, state.table)


def _read_holder(text: str) -> Holder | None:
    try:
        return msgspec.json.decode(text, type=Holder)
    except (msgspec.DecodeError, UnicodeError):
        return None


SERVES: Final = "serves/"
"""Under which keys the store keeps which device serves which table."""


class ServingDevices:
    """Which device serves each table. On the scorer's thread alone; `tell` tells tables how they stand."""

    def __init__(self, journal: Journal, tell: Callable[[set[int]], None]) -> None:
        self._journal, self._tell = journal, tell
        self.serving = Serving(journal.remembered(SERVES))

    def hear(self, state: TableState) -> bool:
        """Take in what a device says of itself, within a commit; return whether it serves its table."""
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


MINUTE_MS: Final = 60_000


class ClockWatch:
    """Tells once when a table's clock is far off, and once when it is right again."""

    def __init__(self) -> None:
        self._told: dict[int, str] = {}
        self._news: dict[int, Concern] = {}

    def hear(self, state: TableState, now: int) -> None:
        """Take in what a table that is there says of itself at a moment, ms since 1970 by our clock."""
        off = None if state.lifecycle in GONE else clock_offset(state, now)
        if off is None:
            return
        concern = _clock_concern(state.table, off)
        self._news.pop(state.table, None)
        if concern.code != self._told.get(state.table, "clock_right"):
            self._news[state.table] = concern

    def concerns(self) -> list[Concern]:
        """Return what is news, one concern a table; the same again until `told` has taken it."""
        return list(self._news.values())

    def told(self, concerns: Iterable[Concern]) -> None:
        """Take in which concerns were told, among others."""
        for concern in concerns:
            if concern.table is not None and self._news.get(concern.table) is concern:
                self._told[concern.table] = self._news.pop(concern.table).code


def _clock_concern(table: int, off: int) -> Concern:
    if not off:
        return Concern("clock_right", f"table {table}: its clock is right again", table)
    hours, minutes = divmod(round(abs(off) / MINUTE_MS), 60)
    span = f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
    if off > 0:
        text = f"table {table}: its clock is {span} ahead of the scorer's"
        return Concern("clock_ahead", text, table, values={"span": span})
    text = f"table {table}: its clock is {span} behind the scorer's"
    return Concern("clock_behind", text, table, values={"span": span})


HEALTH_CODES: Final = frozenset({"device_unwell", "device_well"})

REPORTED_ELSEWHERE: Final = "refused"
"""What the scorer refuses of a table it tells of itself."""

Health = Mapping[str, str]
"""What is wrong, by part of the table's device."""


class HealthWatch:
    """What was told of each table's health, beside what the table says of it.

    A table says its health with each of its states. What came and went between two looks was told as neither.
    """

    def __init__(self) -> None:
        self._told: dict[int, Health] = {}
        self._news: dict[int, Health] = {}
        """How tables are whose health is another than was told."""
        self._changes = count(1)

    def hear(self, state: TableState) -> None:
        """Take in what a table says of itself."""
        health = {part: code for part, code in state.health.items() if part != REPORTED_ELSEWHERE}
        self._news.pop(state.table, None)
        if health != self._told.get(state.table, {}):
            self._news[state.table] = health

    def concerns(self) -> list[Concern]:
        """Return what is news, one concern a table; the same again until `told` has taken it."""
        return [self._concern(table, health) for table, health in self._news.items()]

    def told(self, concerns: Iterable[Concern]) -> None:
        """Take in which concerns were told, among others: what was too much for one batch is told with a later one."""
        for concern in concerns:
            if concern.code in HEALTH_CODES and concern.table in self._news:
                self._told[concern.table] = self._news.pop(concern.table)

    def _concern(self, table: int, health: Health) -> Concern:
        before = self._told.get(table, {})
        unwell = [f"{part}: {code}" for part, code in health.items() if before.get(part) != code]
        mended = [part for part in before if part not in health]
        text = f"table {table}: {'; '.join((*unwell, *(f'{part} is well again' for part in mended)))}"
        about, values = next(self._changes), {"what": "; ".join(unwell or mended)}
        if unwell:
            return Concern("device_unwell", text, table, about=about, values=values)
        return Concern("device_well", text, table, about=about, values=values)
