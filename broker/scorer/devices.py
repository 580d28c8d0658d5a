"""The tables' devices: which one serves each table, whether it is there, its clock, and its health.

The first device that speaks serves a table until it is gone, and others are refused. A refused device is silent from
then on, so if it speaks later, somebody asks again; once the first is gone, it is let in. A device that was away and
comes back still serves, unless another was let in meanwhile. An arbiter may hand a table over to the refused device
while the first is still alive. The store has which device serves, because a restarted scorer could otherwise mistake an
idle device for the one that serves.
"""

import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import count
from types import MappingProxyType
from typing import Final, TypedDict

from msgspec import Struct
from msgspec.structs import replace

from broker.errors import NoDeviceWaits
from broker.event import ListedDevice
from broker.i18n import duration
from broker.protocol import (
    SILENT_S,
    Beat,
    DeviceAdmitted,
    DeviceRecord,
    DeviceRevoked,
    TableState,
    UpgradeOffer,
    clock_offset,
    device_of,
)
from broker.scorer.access import Admissions
from broker.scorer.alerts import Concern
from broker.store import Journal

CHECK_S: Final = 1.0
"""Interval between checks for silent tables."""

LONGEST_S: Final = 3 * CHECK_S
"""Longest time between two checks that counts as listening. In a longer gap, this program was not running."""


class Liveness:
    """Tracks the tables that send a sign of life every few seconds, and those that have fallen silent."""

    def __init__(self) -> None:
        self._listened, self._checked_at = 0.0, 0.0
        self._heard: dict[int, float] = {}
        self.silent: set[int] = set()

    def heard(self, table: int) -> bool:
        """Record that a table was heard. Return whether it had been silent."""
        self._heard[table] = self._listened
        was_silent = table in self.silent
        self.silent.discard(table)
        return was_silent

    def expect(self, table: int) -> None:
        """Expect signs of life from a table from now on, although it has not been heard."""
        self._heard.setdefault(table, self._listened)

    def forget(self, table: int) -> None:
        """Stop expecting signs of life from a table that is gone, or whose program sends none."""
        self._heard.pop(table, None)
        self.silent.discard(table)

    def expected(self, table: int) -> bool:
        """Return whether signs of life are expected from a table."""
        return table in self._heard

    @property
    def heard_count(self) -> int:
        """The number of tables that are expected and not silent. Thread-safe."""
        return len({*tuple(self._heard)} - self.silent)

    def check(self, now: float, *, listening: bool) -> set[int]:
        """Return the tables that have newly fallen silent. `now` in s of a monotonic clock."""
        passed = now - self._checked_at
        if 0 <= passed < CHECK_S:
            return set()
        self._checked_at = now
        if listening:
            self._listened += min(max(passed, 0), LONGEST_S)
        silent = {table for table, heard in self._heard.items() if self._listened - heard >= SILENT_S}
        found, self.silent = silent - self.silent, silent
        return found


GONE: Final = ("lost", "disconnected")


class TableStates:
    """The last state of each table, and whether two devices speak for the same table."""

    def __init__(self) -> None:
        self.last: dict[int, TableState] = {}
        self._spoke_twice: set[tuple[int, frozenset[str]]] = set()

    def is_hello(self, state: TableState) -> bool:
        """Return whether a device has just connected: this is its first state, or its last one repeated."""
        before = self.last.get(state.table)
        if state.lifecycle in GONE:
            return False
        if before is None or before.lifecycle in GONE or (before.device, before.start) != (state.device, state.start):
            return True
        return replace(before, id=state.id, count=state.count, at=state.at, heard=state.heard) == state

    def apply(self, state: TableState) -> Iterable[Concern]:
        """Apply a state. Return a concern if another device spoke for the table while the first was there.

        A broker may deliver an old state after a newer one. A last will was written when its device started, so it only
        means that the device is lost; the rest of the device's last state still holds.
        """
        before = self.last.get(state.table)
        if before is None or before.device != state.device:
            if before is not None and state.lifecycle in GONE:
                return ()  # another device serves this table now
            self.last[state.table] = state
            return self._second_device(before, state)
        if state.lifecycle == "lost":
            if state.start >= before.start and before.lifecycle not in GONE:
                self.last[state.table] = replace(before, lifecycle="lost")
                return (Concern("table_lost", state.table),)
        elif (state.start, state.count) >= (before.start, before.count) or _uses_older_journal(before, state):
            self.last[state.table] = state
        return ()

    def _second_device(self, before: TableState | None, state: TableState) -> Iterable[Concern]:
        if before is None:
            return ()
        pair = state.table, frozenset({before.device, state.device})
        if before.lifecycle in GONE or pair in self._spoke_twice:
            return ()
        self._spoke_twice.add(pair)
        return (Concern("two_devices", state.table),)


def _uses_older_journal(before: TableState, state: TableState) -> bool:
    """Return whether a device that was gone uses an older copy of its journal, from which it counts its starts."""
    return before.lifecycle in GONE and state.start < before.start


ID_SHOWN: Final = 8
"""Characters of an id shown to people, enough to tell devices apart."""


class Holder(Struct, frozen=True):
    """The device that serves a table."""

    device: str
    start: int
    gone: bool = False
    refused: str | None = None
    """Another device, if one was refused; the latest."""


class Serving:
    """Tracks which device serves each table of an event."""

    def __init__(self, stored: Mapping[str, Holder] = MappingProxyType({})) -> None:
        """Start from the stored holders, by table."""
        self._holders = {int(table): holder for table, holder in stored.items() if table.isdecimal()}

    def holder(self, table: int) -> Holder | None:
        """Return the holder of a table, to be stored for the next start of the scorer."""
        return self._holders.get(table)

    def waiting(self) -> dict[int, tuple[str, str]]:
        """Return the tables at which a device was refused, with the device that serves and the one refused."""
        holders = sorted(self._holders.items())
        return {table: (holder.device, holder.refused) for table, holder in holders if holder.refused is not None}

    def of(self, table: int) -> tuple[str | None, str | None]:
        """Return the device that serves a table, and the one refused last."""
        holder = self._holders.get(table)
        return (holder.device, holder.refused) if holder else (None, None)

    def hand_over(self, table: int, to: str) -> None:
        """Let the device `to`, refused last, serve the table, and refuse the former one instead. Raises NoDeviceWaits.

        To undo it, hand the table back. It does not matter whether either device is gone: the person who orders this
        can see both.
        """
        holder = self._holders.get(table)
        if holder is None or holder.refused != to:
            raise NoDeviceWaits(
                f"the device {to[:ID_SHOWN]} has not asked to serve table {table}, or already serves it"
            )
        self._holders[table] = Holder(to, 0, refused=holder.device)

    def forget(self, table: int, device: str) -> None:
        """Forget that a device serves its table, or waits to."""
        holder = self._holders.get(table)
        if holder is not None and holder.device == device:
            del self._holders[table]
        elif holder is not None and holder.refused == device:
            self._holders[table] = replace(holder, refused=None)

    def refuses(self, table: int, device: str | None) -> bool:
        """Return whether a device's facts are refused. Those of a device that gives no id are not."""
        holder = self._holders.get(table)
        return holder is not None and device is not None and holder.device != device

    def mark_gone(self, table: int) -> None:
        """Record that the device that serves a table is no longer heard, so that another one may be let in."""
        if table in self._holders:
            self._holders[table] = replace(self._holders[table], gone=True)

    def mark_back(self, table: int, device: str) -> None:
        """Record that a device is heard again. It serves its table, unless another one was let in meanwhile."""
        if table in self._holders and self._holders[table].device == device:
            self._holders[table] = replace(self._holders[table], gone=False)

    def apply(self, state: TableState) -> bool:
        """Apply a device's state. Return whether the device serves its table."""
        holder, gone = self._holders.get(state.table), state.lifecycle in GONE
        if holder is None or (holder.device != state.device and holder.gone):
            if not gone:
                self._holders[state.table] = Holder(state.device, state.start)
            return holder is None or not gone
        if holder.device != state.device:
            if not gone:
                self._holders[state.table] = replace(holder, refused=state.device)
            return False
        if state.start >= holder.start or holder.gone:  # the last will of an older start may arrive late
            self._holders[state.table] = Holder(state.device, state.start, gone, holder.refused)
        return True

    def concerns(self, state: TableState) -> Iterable[Concern]:
        """Yield a concern if this device was just refused."""
        if self.of(state.table)[1] == state.device and state.lifecycle not in GONE:
            yield Concern("two_devices", state.table)


CLOCK_CODES: Final = frozenset({"clock_ahead", "clock_behind", "clock_right"})


class ClockWatch:
    """Reports once when a table's clock is far off, and once when it is right again."""

    def __init__(self) -> None:
        self._reported: dict[int, str] = {}
        self._unreported: dict[int, Concern] = {}

    def apply(self, state: TableState, now: int) -> None:
        """Check the clock of a table that is there. `now` in ms since 1970, by our clock."""
        off = None if state.lifecycle in GONE else clock_offset(state, now)
        if off is None:
            return
        concern = _clock_concern(state.table, off)
        self._unreported.pop(state.table, None)
        if concern.code != self._reported.get(state.table, "clock_right"):
            self._unreported[state.table] = concern

    def concerns(self) -> list[Concern]:
        """Return the news, one concern per table. They are repeated until `reported`."""
        return list(self._unreported.values())

    def reported(self, concerns: Collection[Concern]) -> None:
        """Note which concerns (among others) were reported."""
        for concern in concerns:
            if concern.code in CLOCK_CODES and concern.table in self._unreported:
                self._reported[concern.table] = self._unreported.pop(concern.table).code


def _clock_concern(table: int, off: int) -> Concern:
    if not off:
        return Concern("clock_right", table)
    span = str(duration(abs(off) / 1000))
    return Concern("clock_ahead" if off > 0 else "clock_behind", table, values={"span": span})


HEALTH_CODES: Final = frozenset({"device_unwell", "device_well"})
SKIPPED_PART: Final = "refused"
"""Health code that is left out, since the scorer itself reports what it refuses."""

Health = Mapping[str, str]
"""Health problems, by part of the table's device."""


class HealthWatch:
    """Reports changes of each table's health, which is part of each of its states.

    A problem that comes and goes between two reports is not reported at all.
    """

    def __init__(self) -> None:
        self._reported: dict[int, Health] = {}
        self._unreported: dict[int, Health] = {}
        """The health of tables for which it differs from what was reported."""
        self._changes = count(1)

    def apply(self, state: TableState) -> None:
        """Apply a table's state."""
        health = {part: code for part, code in state.health.items() if part != SKIPPED_PART}
        self._unreported.pop(state.table, None)
        if health != self._reported.get(state.table, {}):
            self._unreported[state.table] = health

    def concerns(self) -> list[Concern]:
        """Return the news: for each table what fails and what works again. They are repeated until `reported`."""
        return [concern for table, health in self._unreported.items() for concern in self._concerns(table, health)]

    def reported(self, concerns: Collection[Concern]) -> None:
        """Note which concerns (among others) were reported. The rest come with a later batch."""
        for concern in concerns:
            if concern.code not in HEALTH_CODES or concern.table not in self._unreported:
                continue
            health, before = self._unreported[concern.table], self._reported.get(concern.table, {})
            unwell = concern.code == "device_unwell"
            now = {**before, **health} if unwell else {part: code for part, code in before.items() if part in health}
            self._reported[concern.table] = now
            if now == health:
                del self._unreported[concern.table]

    def _concerns(self, table: int, health: Health) -> Iterator[Concern]:
        before = self._reported.get(table, {})
        unwell = [f"{part}: {code}" for part, code in health.items() if before.get(part) != code]
        mended = [part for part in before if part not in health]
        for code, what in (("device_unwell", unwell), ("device_well", mended)):
            if what:
                yield Concern(code, table, about=next(self._changes), values={"what": "; ".join(what)})


SERVES: Final = "serves/"
"""Key prefix in the store for the device that serves a table."""


class UnknownDevice(Struct, frozen=True):
    """A device that speaks for a table without being admitted there."""

    table: int
    device: str
    key: str | None
    """Its public key, or None if its program is too old to sign."""


class Reading(Struct, frozen=True):
    """The latest measurements that a table's device has reported. Times in ms."""

    heard_at: float
    """In s, by our monotonic clock."""
    offset_ms: int | None = None
    """How far its wall clock is ahead of ours."""
    disk_mib: int | None = None
    celsius: int | None = None


class _RecordHead(TypedDict):
    id: str
    event: str
    number: int
    table: int
    device: str
    at: int


class Devices:
    """All state of the tables' devices. For the scorer's thread only.

    `changed` is called with the tables that an arbiter has handed over, or where one has admitted a device.
    """

    def __init__(
        self,
        journal: Journal,
        event: str,
        records: Iterable[DeviceRecord],
        clock: Callable[[], int],
        changed: Callable[[set[int]], None],
    ) -> None:
        self._journal, self._event, self._clock, self._changed = journal, event, clock, changed
        self.admissions = Admissions(records)
        self.unknown: dict[int, UnknownDevice] = {}
        """By table, the last device that spoke there without being admitted."""
        self.serving = Serving(journal.stored_structs(SERVES, Holder))
        self.states = TableStates()
        self.upgrades = Upgrades(journal, lambda: changed({*self.states.last}))
        self._watches = HealthWatch(), ClockWatch()
        self._older: dict[int, int] = {}
        """By table, the highest receipt number for which it was reported that the store has less."""
        self.liveness = Liveness()
        self.readings: dict[int, Reading] = {}
        """By table, from the device that serves it."""
        self.connected: set[int] = set()
        """Tables whose device has connected since the last answer, and so needs its plan and its receipt."""
        self.refused: set[int] = set()
        """Tables at which a device was refused since the last answer."""
        self.heard_again: set[int] = set()
        """Tables that were silent and have been heard again since the last answer."""
        self.unseen: set[int] = set()
        """Tables whose device has sent a beat since the last answer, but whose state is not known.

        A broker may lose a state that arrives while the scorer subscribes: it is neither sent on nor delivered as
        retained.
        """

    def apply(self, state: TableState, now: int) -> Iterable[Concern]:
        """Apply a device's state, within a commit. A device that does not serve its table changes nothing else.

        Return what is to be reported. Changes of health and clocks are returned by `concerns`.
        """
        if not self.admissions.admits(state.table, state.device):
            return self._not_admitted(state)
        if not self._serves(state):
            if state.table not in self.states.last:  # the one that serves may have died before this scorer started
                self.liveness.expect(state.table)
            self.refused.add(state.table)
            return self.serving.concerns(state)
        if self.states.is_hello(state):
            self.connected.add(state.table)
        found = self.states.apply(state)
        last = self.states.last[state.table]
        if last.lifecycle in GONE or last.version is None:  # older programs send no beats
            self.liveness.forget(state.table)
        else:
            self.liveness.heard(state.table)
        if last.lifecycle in GONE and state.lifecycle not in GONE:  # an older state that arrived after the last will
            self.serving.mark_gone(state.table)
            self._store_holder(state.table)
        health, clock = self._watches
        health.apply(self.states.last[state.table])  # a last will leaves the health as it was
        clock.apply(state, now)
        return found

    def heard(self, beat: Beat, now: int, seconds: float) -> None:
        """Apply a device's beat, within a commit.

        `now`: ms since 1970; `seconds`: of a monotonic clock.
        """
        table, holder = beat.table, self.serving.of(beat.table)[0]
        if not self.liveness.expected(table) and holder in (None, beat.device):
            if self.admissions.admits(table, beat.device):
                self.unseen.add(table)
            return
        if holder != beat.device:
            return
        offset = None if beat.at is None else beat.at - now
        self.readings[table] = Reading(seconds, offset, beat.disk_mib, beat.celsius)
        if self.liveness.heard(table):
            self.serving.mark_back(table, beat.device)
            self._store_holder(table)
            self.heard_again.add(table)

    def check(self, now: float, *, listening: bool) -> list[Concern]:
        """Return concerns for the tables that have fallen silent. `now` in s of a monotonic clock."""
        silent = self.liveness.check(now, listening=listening)
        if silent:
            with self._journal.commit():
                for table in silent:
                    self.serving.mark_gone(table)
                    self._store_holder(table)
        return [Concern("table_silent", one, values={"seconds": SILENT_S}) for one in sorted(silent)]

    def _not_admitted(self, state: TableState) -> Iterable[Concern]:
        table, known = state.table, self.unknown.get(state.table)
        if state.lifecycle in GONE:
            if known is not None and known.device == state.device:
                del self.unknown[table]
            return ()
        key = state.key if state.key is not None and device_of(state.key) == state.device else None
        self.unknown[table] = UnknownDevice(table, state.device, key)
        self.refused.add(table)
        if known is not None and known.device == state.device:
            return ()
        return (Concern("device_waits", table, values={"device": state.device[:ID_SHOWN]}),)

    # ---- admission --------------------------------------------------------------------------

    def admit(self, table: int, key: str, machine: str) -> None:
        """Admit a device that was paired, or that the organiser has listed."""
        if not self.admissions.admits(table, device_of(key)):
            self.record(DeviceAdmitted(**self._head(table, device_of(key)), key=key, machine=machine))

    def admit_listed(self, listed: Iterable[ListedDevice]) -> None:
        """Admit the listed devices in one commit, except those about which something was decided before."""
        new = {(one.table, one.device): one for one in listed if not self.admissions.has_record(one.table, one.device)}
        self.record(
            *(
                DeviceAdmitted(**self._head(one.table, one.device), key=one.key, machine=one.machine)
                for one in new.values()
            )
        )

    def accept(self, table: int, device: str, author: str, account: str) -> None:
        """Admit the device that speaks for a table, as decided by an arbiter. Raises NoDeviceWaits."""
        found = self.unknown.get(table)
        if found is None or found.device != device:
            raise NoDeviceWaits(f"no device {device[:ID_SHOWN]} waits to be admitted at table {table}")
        self.record(DeviceAdmitted(**self._head(table, device), key=found.key, author=author, account=account))

    def revoke(self, table: int, device: str, reason: str, author: str, account: str) -> None:
        """Stop accepting facts from a device at a table. To undo it, accept the device again. Raises NoDeviceWaits."""
        if not self.admissions.admits(table, device):
            raise NoDeviceWaits(f"the device {device[:ID_SHOWN]} is not admitted at table {table}")
        self.record(DeviceRevoked(**self._head(table, device), author=author, account=account, reason=reason))

    def revoke_all(self, reason: str, author: str) -> int:
        """Stop accepting facts from any device, in one commit. Return how many devices there were."""
        admitted = self.admissions.all()
        heads = [self._head(one.table, one.device) for one in admitted]
        self.record(*(DeviceRevoked(**head, author=author, account="", reason=reason) for head in heads))
        return len(admitted)

    def _head(self, table: int, device: str) -> _RecordHead:
        """Return the fields common to all records. `record` replaces the number."""
        id_, at = uuid.uuid4().hex, self._clock()
        return {"id": id_, "event": self._event, "number": 1, "table": table, "device": device, "at": at}

    def record(self, *records: DeviceRecord) -> None:
        """Store decisions made here or at another desk, with our next numbers, in one commit, and apply them."""
        if not records:
            return
        numbered = [replace(one, number=self.admissions.number + at) for at, one in enumerate(records, 1)]
        with self._journal.commit():
            for record in numbered:
                self._journal.append(record, self._clock())
                if isinstance(record, DeviceRevoked):
                    self.serving.forget(record.table, record.device)
                    self._store_holder(record.table)
        for record in numbered:
            self.apply_decision(record)

    def apply_decision(self, record: DeviceRecord) -> None:
        """Apply a stored decision."""
        table, device = record.table, record.device
        if isinstance(record, DeviceAdmitted):
            if table in self.unknown and self.unknown[table].device == device:
                del self.unknown[table]
        else:
            key = next((one.key for one in self.admissions.all() if (one.table, one.device) == (table, device)), None)
            self.unknown[table] = UnknownDevice(table, device, key)
        self.admissions.apply(record)
        self._changed({table})

    def answered(self) -> None:
        """Clear the sets of devices that wait for an answer."""
        self.connected.clear()
        self.refused.clear()
        self.heard_again.clear()
        self.unseen.clear()

    def receipted(self, table: int) -> int:
        """Return the number up to which a table's device has receipts of this store."""
        state = self.states.last.get(table)
        return state.safe if state is not None and state.store == self._journal.store else 0

    def compare_receipts(self, table: int, upto: int) -> Iterable[Concern]:
        """Yield a concern if a table has receipts of this store for more than the store has, once for each number."""
        safe = self.receipted(table)
        if safe > max(upto, self._older.get(table, 0)):
            self._older[table] = safe
            yield Concern("store_older", table, about=safe, values={"safe": safe, "upto": upto})

    def concerns(self) -> list[Concern]:
        """Return the changes of health and clocks that have not been reported yet."""
        return [concern for watch in self._watches for concern in watch.concerns()]

    def reported(self, concerns: Collection[Concern]) -> None:
        """Note which concerns (among others) were reported."""
        for watch in self._watches:
            watch.reported(concerns)

    def hand_over(self, table: int, to: str) -> None:
        """Let a table's waiting device serve it. Raises NoDeviceWaits."""
        with self._journal.commit():
            self.serving.hand_over(table, to)
            self._store_holder(table)
        self._changed({table})

    def _serves(self, state: TableState) -> bool:
        before, serves = self.serving.holder(state.table), self.serving.apply(state)
        if self.serving.holder(state.table) != before:
            self._store_holder(state.table)
        return serves

    def _store_holder(self, table: int) -> None:
        self._journal.set_struct(f"{SERVES}{table}", self.serving.holder(table))


OFFERED: Final = "upgrade"
"""Key of the offered upgrade in the store."""


class Offered(Struct, frozen=True):
    """The offered version, the hash of its manifest, and the tables that may install it."""

    version: str
    manifest: str
    install: tuple[int, ...] = ()


class Upgrades:
    """Offers upgrades to the tables. For the scorer's thread only."""

    def __init__(self, journal: Journal, changed: Callable[[], None]) -> None:
        """`changed` is called to notify the tables."""
        self._journal, self._changed = journal, changed
        self.desk: tuple[str | None, int] | None = None
        """The desk's address for tables: host (None: the broker's) and port. None: there is no desk."""
        self.offered = journal.stored_structs(OFFERED, Offered).get("")

    def offer(self, version: str, manifest: str) -> None:
        """Let all tables download a version."""
        self._store_holder(Offered(version, manifest))

    def withdraw(self) -> None:
        """Withdraw the offer. Tables keep what they have installed."""
        self._store_holder(None)

    def install(self, tables: Iterable[int]) -> None:
        """Let these tables install the offered version, as soon as no play is in progress there."""
        if self.offered is not None:
            self._store_holder(replace(self.offered, install=tuple(sorted({*self.offered.install, *tables}))))

    def for_table(self, table: int) -> UpgradeOffer | None:
        """Return the offer for a table, if any."""
        if self.offered is None or self.desk is None:
            return None
        version, manifest, install = self.offered.version, self.offered.manifest, table in self.offered.install
        return UpgradeOffer(version=version, manifest=manifest, host=self.desk[0], port=self.desk[1], install=install)

    def _store_holder(self, offered: Offered | None) -> None:
        with self._journal.commit():
            self._journal.set_struct(OFFERED, offered)
        self.offered = offered
        self._changed()
