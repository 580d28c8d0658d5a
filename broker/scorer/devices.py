"""The tables' devices: which serves each table, whether it is there, whether its clock is right, and how it is.

The first device that speaks serves a table until it is gone; another is refused. A refused device is silent from then
on, so whatever it says later means that somebody asks again: once the first is gone, it is let in. A device that was
away and comes back still serves, unless another was let in meanwhile. An arbiter may hand a table over to the device
that was refused while the first is still alive. Which device serves is kept in the store: a scorer that restarts
without knowing it could take an idle device for the one that serves.
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

LOOK_S: Final = 1.0
"""How often is looked."""

LONGEST_S: Final = 3 * LOOK_S
"""Of the time between two looks no more counts: in the rest we did not listen."""


class Liveness:
    """The tables that say every few seconds that they are there, and those of them that do so no more."""

    def __init__(self) -> None:
        self._listened, self._looked = 0.0, 0.0
        self._heard: dict[int, float] = {}
        self.silent: set[int] = set()

    def heard(self, table: int) -> bool:
        """Take in that a table has said something; return whether it had been silent."""
        self._heard[table] = self._listened
        was_silent = table in self.silent
        self.silent.discard(table)
        return was_silent

    def expect(self, table: int) -> None:
        """Take it that a table has something to say from now on, though it has not been heard."""
        self._heard.setdefault(table, self._listened)

    def forget(self, table: int) -> None:
        """Expect nothing of a table: it is known to be gone, or its program says nothing by itself."""
        self._heard.pop(table, None)
        self.silent.discard(table)

    def expected(self, table: int) -> bool:
        """Return whether a table is to say something."""
        return table in self._heard

    @property
    def there(self) -> int:
        """How many tables have something to say, and do. From any thread."""
        return len({*tuple(self._heard)} - self.silent)

    def look(self, now: float, *, listening: bool) -> set[int]:
        """Return the tables that have grown silent by now. `now` in s of a clock that counts on."""
        passed = now - self._looked
        if 0 <= passed < LOOK_S:
            return set()
        self._looked = now
        if listening:
            self._listened += min(max(passed, 0), LONGEST_S)
        silent = {table for table, heard in self._heard.items() if self._listened - heard >= SILENT_S}
        found, self.silent = silent - self.silent, silent
        return found


GONE: Final = ("lost", "disconnected")


class TableStates:
    """What the tables last said of themselves, and whether two devices speak for one of them."""

    def __init__(self) -> None:
        self.last: dict[int, TableState] = {}
        self._spoke_twice: set[tuple[int, frozenset[str]]] = set()

    def is_hello(self, state: TableState) -> bool:
        """Return whether a device has just connected: this is its first state, or the last one repeated."""
        before = self.last.get(state.table)
        if state.lifecycle in GONE:
            return False
        if before is None or before.lifecycle in GONE or (before.device, before.start) != (state.device, state.start):
            return True
        return replace(before, id=state.id, count=state.count, at=state.at, heard=state.heard) == state

    def apply(self, state: TableState) -> Iterable[Concern]:
        """Take in a state; return a concern where another device spoke for the table while the first was there.

        A broker may bring an old state after a newer one. A last will was written when its device started: it says
        only that the device is lost; the rest of its last state stays.
        """
        before = self.last.get(state.table)
        if before is None or before.device != state.device:
            if before is not None and state.lifecycle in GONE:
                return ()  # somebody else has this table by now
            self.last[state.table] = state
            return self._another(before, state)
        if state.lifecycle == "lost":
            if state.start >= before.start and before.lifecycle not in GONE:
                self.last[state.table] = replace(before, lifecycle="lost")
                return (Concern("table_lost", state.table),)
        elif (state.start, state.count) >= (before.start, before.count) or _put_back(before, state):
            self.last[state.table] = state
        return ()

    def _another(self, before: TableState | None, state: TableState) -> Iterable[Concern]:
        if before is None:
            return ()
        pair = state.table, frozenset({before.device, state.device})
        if before.lifecycle in GONE or pair in self._spoke_twice:
            return ()
        self._spoke_twice.add(pair)
        return (Concern("two_devices", state.table),)


def _put_back(before: TableState, state: TableState) -> bool:
    """Whether a device that was gone speaks with an older copy of its journal: it counts its starts from there."""
    return before.lifecycle in GONE and state.start < before.start


ID_SHOWN: Final = 8
"""Characters by which people tell devices apart."""


class Holder(Struct, frozen=True):
    """The device that serves a table."""

    device: str
    start: int
    gone: bool = False
    refused: str | None = None
    """Another one that was refused last."""


class Serving:
    """Which device serves each table of an event."""

    def __init__(self, kept: Mapping[str, Holder] = MappingProxyType({})) -> None:
        """Start from what was kept, by table."""
        self._holders = {int(table): holder for table, holder in kept.items() if table.isdecimal()}

    def holder(self, table: int) -> Holder | None:
        """Return what is known of a table, to be kept for a scorer that starts again."""
        return self._holders.get(table)

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

        To undo it, hand the table back. Whether either is gone does not matter: who orders this stands before them.
        """
        found = self._holders.get(table)
        if found is None or found.refused != to:
            raise NoDeviceWaits(f"the device {to[:ID_SHOWN]} has not asked to serve table {table}, or serves it by now")
        self._holders[table] = Holder(to, 0, refused=found.device)

    def forget(self, table: int, device: str) -> None:
        """Let a device serve its table no more, nor wait for it."""
        found = self._holders.get(table)
        if found is not None and found.device == device:
            del self._holders[table]
        elif found is not None and found.refused == device:
            self._holders[table] = replace(found, refused=None)

    def refuses(self, table: int, device: str | None) -> bool:
        """Return whether a device's facts are refused; not those of a device that does not give its id."""
        found = self._holders.get(table)
        return found is not None and device is not None and found.device != device

    def lose(self, table: int) -> None:
        """Take in that the device that serves a table is not heard of any more: another one may be let in."""
        if table in self._holders:
            self._holders[table] = replace(self._holders[table], gone=True)

    def found(self, table: int, device: str) -> None:
        """Take in that a device is heard of again. It serves its table, unless another one was let in meanwhile."""
        if table in self._holders and self._holders[table].device == device:
            self._holders[table] = replace(self._holders[table], gone=False)

    def apply(self, state: TableState) -> bool:
        """Take in a device's state; return whether it serves its table."""
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
        """Return what an arbiter must know if this device was refused just now."""
        if self.of(state.table)[1] == state.device and state.lifecycle not in GONE:
            yield Concern("two_devices", state.table)


CLOCK_CODES: Final = frozenset({"clock_ahead", "clock_behind", "clock_right"})


class ClockWatch:
    """Reports once when a table's clock is far off, and once when it is right again."""

    def __init__(self) -> None:
        self._reported: dict[int, str] = {}
        self._news: dict[int, Concern] = {}

    def apply(self, state: TableState, now: int) -> None:
        """Take in the state of a table that is there. `now` in ms since 1970, by our clock."""
        off = None if state.lifecycle in GONE else clock_offset(state, now)
        if off is None:
            return
        concern = _clock_concern(state.table, off)
        self._news.pop(state.table, None)
        if concern.code != self._reported.get(state.table, "clock_right"):
            self._news[state.table] = concern

    def concerns(self) -> list[Concern]:
        """Return the news, one concern a table; the same again until they were `reported`."""
        return list(self._news.values())

    def reported(self, concerns: Collection[Concern]) -> None:
        """Learn which concerns, among others, were reported."""
        for concern in concerns:
            if concern.code in CLOCK_CODES and concern.table in self._news:
                self._reported[concern.table] = self._news.pop(concern.table).code


def _clock_concern(table: int, off: int) -> Concern:
    if not off:
        return Concern("clock_right", table)
    span = str(duration(abs(off) / 1000))
    return Concern("clock_ahead" if off > 0 else "clock_behind", table, values={"span": span})


HEALTH_CODES: Final = frozenset({"device_unwell", "device_well"})
REPORTED_ELSEWHERE: Final = "refused"
"""What the scorer has refused of a table it reports itself."""

Health = Mapping[str, str]
"""What is wrong, by part of the table's device."""


class HealthWatch:
    """Reports changes of each table's health, which is in each of its states.

    What came and went between two reports is reported as neither.
    """

    def __init__(self) -> None:
        self._reported: dict[int, Health] = {}
        self._news: dict[int, Health] = {}
        """The health of tables where it differs from what was reported."""
        self._changes = count(1)

    def apply(self, state: TableState) -> None:
        """Take in a table's state."""
        health = {part: code for part, code in state.health.items() if part != REPORTED_ELSEWHERE}
        self._news.pop(state.table, None)
        if health != self._reported.get(state.table, {}):
            self._news[state.table] = health

    def concerns(self) -> list[Concern]:
        """Return the news, of each table what fails and what works again; the same again until they were `reported`."""
        return [concern for table, health in self._news.items() for concern in self._concerns(table, health)]

    def reported(self, concerns: Collection[Concern]) -> None:
        """Learn which concerns, among others, were reported; the rest come with a later batch."""
        for concern in concerns:
            if concern.code not in HEALTH_CODES or concern.table not in self._news:
                continue
            health, before = self._news[concern.table], self._reported.get(concern.table, {})
            unwell = concern.code == "device_unwell"
            now = {**before, **health} if unwell else {part: code for part, code in before.items() if part in health}
            self._reported[concern.table] = now
            if now == health:
                del self._news[concern.table]

    def _concerns(self, table: int, health: Health) -> Iterator[Concern]:
        before = self._reported.get(table, {})
        unwell = [f"{part}: {code}" for part, code in health.items() if before.get(part) != code]
        mended = [part for part in before if part not in health]
        for code, what in (("device_unwell", unwell), ("device_well", mended)):
            if what:
                yield Concern(code, table, about=next(self._changes), values={"what": "; ".join(what)})


SERVES: Final = "serves/"
"""Under which keys the store keeps which device serves which table."""


class UnknownDevice(Struct, frozen=True):
    """A device that speaks for a table at which it was not admitted."""

    table: int
    device: str
    key: str | None
    """Its public key; None if its program is too old to sign."""


class Reading(Struct, frozen=True):
    """What a table's device has told last of its machine. Times in ms."""

    heard_at: float
    """By our clock that counts on, in s."""
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
    """All that is known of the tables' devices. On the scorer's thread alone.

    `changed` is called with the tables that an arbiter has handed over, or at which one has admitted a device.
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
        """By table, the last device that spoke there without having been admitted."""
        self.serving = Serving(journal.kept(SERVES, Holder))
        self.states = TableStates()
        self.upgrades = Upgrades(journal, lambda: changed({*self.states.last}))
        self._watches = HealthWatch(), ClockWatch()
        self._older: dict[int, int] = {}
        """By table, up to which number of its receipts it was told that the store has less."""
        self.liveness = Liveness()
        self.readings: dict[int, Reading] = {}
        """By table, of the device that serves it."""
        self.connected: set[int] = set()
        """Tables whose device has connected since the last answer: they need their plan and their receipt."""
        self.refused: set[int] = set()
        """Tables at which a device was refused since the last answer."""
        self.heard_again: set[int] = set()
        """Tables that had been silent and were heard of since the last answer."""
        self.unseen: set[int] = set()
        """Tables whose device has said since the last answer that it is there, and has to say how they stand.

        A broker may bring a state neither as new nor as kept that comes while the scorer subscribes.
        """

    def apply(self, state: TableState, now: int) -> Iterable[Concern]:
        """Take in a device's state, within a commit; a device that does not serve its table changes nothing else.

        Return what is to be reported; changes of health and clocks follow with `concerns`.
        """
        if not self.admissions.admits(state.table, state.device):
            return self._not_admitted(state)
        if not self._serves(state):
            if state.table not in self.states.last:  # the one that serves may have died before this scorer was started
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
        if last.lifecycle in GONE and state.lifecycle not in GONE:  # an older state, which came after the last will
            self.serving.lose(state.table)
            self._keep(state.table)
        health, clock = self._watches
        health.apply(self.states.last[state.table])  # a last will does not make a device well
        clock.apply(state, now)
        return found

    def heard(self, beat: Beat, now: int, seconds: float) -> None:
        """Take in, within a commit, that a device has said it is there.

        `now`: ms since 1970; `seconds`: of a clock that counts on.
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
            self.serving.found(table, beat.device)
            self._keep(table)
            self.heard_again.add(table)

    def look(self, now: float, *, listening: bool) -> list[Concern]:
        """Return which tables are not heard of any more. `now` in s of a clock that counts on."""
        silent = self.liveness.look(now, listening=listening)
        if silent:
            with self._journal.commit():
                for table in silent:
                    self.serving.lose(table)
                    self._keep(table)
        return [Concern("table_silent", one, values={"seconds": SILENT_S}) for one in sorted(silent)]

    def _not_admitted(self, state: TableState) -> Iterable[Concern]:
        table, before = state.table, self.unknown.get(state.table)
        if state.lifecycle in GONE:
            if before is not None and before.device == state.device:
                del self.unknown[table]
            return ()
        key = state.key if state.key is not None and device_of(state.key) == state.device else None
        self.unknown[table] = UnknownDevice(table, state.device, key)
        self.refused.add(table)
        if before is not None and before.device == state.device:
            return ()
        return (Concern("device_waits", table, values={"device": state.device[:ID_SHOWN]}),)

    # ---- who is admitted --------------------------------------------------------------------

    def admit(self, table: int, key: str, machine: str) -> None:
        """Admit a device that was paired, or that the organiser has listed."""
        if not self.admissions.admits(table, device_of(key)):
            self.record(DeviceAdmitted(**self._head(table, device_of(key)), key=key, machine=machine))

    def admit_listed(self, listed: Iterable[ListedDevice]) -> None:
        """Admit devices that the organiser has listed, in one commit; not those on which somebody has decided."""
        new = {(one.table, one.device): one for one in listed if not self.admissions.knew(one.table, one.device)}
        self.record(
            *(
                DeviceAdmitted(**self._head(one.table, one.device), key=one.key, machine=one.machine)
                for one in new.values()
            )
        )

    def accept(self, table: int, device: str, author: str, account: str) -> None:
        """Admit the device that speaks for a table, as an arbiter decides. Raises NoDeviceWaits."""
        found = self.unknown.get(table)
        if found is None or found.device != device:
            raise NoDeviceWaits(f"no device {device[:ID_SHOWN]} waits to be admitted at table {table}")
        self.record(DeviceAdmitted(**self._head(table, device), key=found.key, author=author, account=account))

    def revoke(self, table: int, device: str, reason: str, author: str, account: str) -> None:
        """Take nothing more from a device at a table. To undo it, accept it again. Raises NoDeviceWaits."""
        if not self.admissions.admits(table, device):
            raise NoDeviceWaits(f"the device {device[:ID_SHOWN]} is not admitted at table {table}")
        self.record(DeviceRevoked(**self._head(table, device), author=author, account=account, reason=reason))

    def revoke_all(self, reason: str, author: str) -> int:
        """Take nothing more from any device, in one commit; return how many there were."""
        admitted = self.admissions.all()
        heads = [self._head(one.table, one.device) for one in admitted]
        self.record(*(DeviceRevoked(**head, author=author, account="", reason=reason) for head in heads))
        return len(admitted)

    def _head(self, table: int, device: str) -> _RecordHead:
        """Return what every record begins with; `record` gives it its number."""
        id_, at = uuid.uuid4().hex, self._clock()
        return {"id": id_, "event": self._event, "number": 1, "table": table, "device": device, "at": at}

    def record(self, *records: DeviceRecord) -> None:
        """Keep what was decided, here or at another desk, under our next numbers and in one commit; let it hold."""
        if not records:
            return
        numbered = [replace(one, number=self.admissions.number + at) for at, one in enumerate(records, 1)]
        with self._journal.commit():
            for record in numbered:
                self._journal.append(record, self._clock())
                if isinstance(record, DeviceRevoked):
                    self.serving.forget(record.table, record.device)
                    self._keep(record.table)
        for record in numbered:
            self.hold(record)

    def hold(self, record: DeviceRecord) -> None:
        """Let hold what was decided, and is stored."""
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
        """Forget which devices wait for an answer."""
        self.connected.clear()
        self.refused.clear()
        self.heard_again.clear()
        self.unseen.clear()

    def receipted(self, table: int) -> int:
        """Return up to which number the device that serves a table has receipts of this store for its facts."""
        state = self.states.last.get(table)
        return state.safe if state is not None and state.store == self._journal.store else 0

    def compare_receipts(self, table: int, upto: int) -> Iterable[Concern]:
        """Return that a table has receipts of this store for more than is in it, once for each number."""
        safe = self.receipted(table)
        if safe > max(upto, self._older.get(table, 0)):
            self._older[table] = safe
            yield Concern("store_older", table, about=safe, values={"safe": safe, "upto": upto})

    def concerns(self) -> list[Concern]:
        """Return changes of health and clocks that were not reported yet."""
        return [concern for watch in self._watches for concern in watch.concerns()]

    def reported(self, concerns: Collection[Concern]) -> None:
        """Learn which concerns, among others, were reported."""
        for watch in self._watches:
            watch.reported(concerns)

    def hand_over(self, table: int, to: str) -> None:
        """Let a table's second device serve it. Raises NoDeviceWaits."""
        with self._journal.commit():
            self.serving.hand_over(table, to)
            self._keep(table)
        self._changed({table})

    def _serves(self, state: TableState) -> bool:
        before, serves = self.serving.holder(state.table), self.serving.apply(state)
        if self.serving.holder(state.table) != before:
            self._keep(state.table)
        return serves

    def _keep(self, table: int) -> None:
        self._journal.keep(f"{SERVES}{table}", self.serving.holder(table))


OFFERED: Final = "upgrade"
"""Under which key the store keeps it."""


class Offered(Struct, frozen=True):
    """What is offered, by its manifest's hash, and the tables that have been let change to it."""

    version: str
    manifest: str
    install: tuple[int, ...] = ()


class Upgrades:
    """On the scorer's thread alone."""

    def __init__(self, journal: Journal, changed: Callable[[], None]) -> None:
        """`changed` tells the tables."""
        self._journal, self._changed = journal, changed
        self.desk: tuple[str | None, int] | None = None
        """Where tables reach the desk: host (None: the broker's) and port. None: there is none."""
        self.offered = journal.kept(OFFERED, Offered).get("")

    def offer(self, version: str, manifest: str) -> None:
        """Let all tables fetch a version."""
        self._keep(Offered(version, manifest))

    def withdraw(self) -> None:
        """Offer nothing any more; tables keep what they have installed."""
        self._keep(None)

    def install(self, tables: Iterable[int]) -> None:
        """Let these tables change to what is offered, once no play is on there."""
        if self.offered is not None:
            self._keep(replace(self.offered, install=tuple(sorted({*self.offered.install, *tables}))))

    def for_table(self, table: int) -> UpgradeOffer | None:
        """Return what a table is told."""
        if self.offered is None or self.desk is None:
            return None
        version, manifest, install = self.offered.version, self.offered.manifest, table in self.offered.install
        return UpgradeOffer(version=version, manifest=manifest, host=self.desk[0], port=self.desk[1], install=install)

    def _keep(self, offered: Offered | None) -> None:
        with self._journal.commit():
            self._journal.keep(OFFERED, offered)
        self.offered = offered
        self._changed()
