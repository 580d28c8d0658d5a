"""The faults: what each kind does, which parts it affects, and how it begins and ends."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.chaos import disks
from tests.chaos.arbiter import ChaosArbiter
from tests.chaos.intruder import Intruder
from tests.chaos.venue import Venue

YEARS_10: Final = 3650 * 86_400
JUMPS: Final = (-400 * 86_400, -3600, -90, 90, 3600, YEARS_10)
"""Seconds by which a wall clock is shifted."""


@dataclass(slots=True)
class Chaos:
    """The running event that faults act on."""

    venue: Venue
    arbiter: ChaosArbiter
    base: Path
    chance: random.Random
    mounts: bool
    """Whether each part has its own disk."""

    def tables(self) -> str:
        """Draw a process with tables, or the kiosk."""
        return self.chance.choice([*(one.name for one in self.venue.machines), "kiosk"])

    def machines(self) -> str:
        """Draw a process with tables."""
        return self.chance.choice(self.venue.machines).name

    def intrude(self, whom: str, work: Callable[[Intruder], None]) -> None:
        """Let an intruder with the password of one of these tables attack for as long as it takes."""
        machines = next(one for one in self.venue.machines if one.name == whom)
        table, chance = self.chance.choice(machines.tables), random.Random(self.chance.random())
        somebody = Intruder(self.venue.broker.port, self.venue.known, table, chance, self.venue.stolen(table))
        threading.Thread(target=work, args=(somebody,), daemon=True, name="intruder").start()

    def part(self) -> str:
        """Draw a process other than the broker."""
        return self.chance.choice(["scorer", self.tables()])


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault. `strikes` draws the part to affect; a part has only one fault at a time."""

    kind: str
    strikes: Callable[[Chaos], str]
    begin: Callable[[Chaos, str], None]
    end: Callable[[Chaos, str], None]
    lasts_s: tuple[float, float]
    needs_mounts: bool = False
    looks_in: bool = False
    """Whether the fault needs somebody who can read the network, which TLS prevents."""

    def possible(self, chaos: Chaos) -> bool:
        """Return whether it is possible in this event."""
        return (chaos.mounts or not self.needs_mounts) and not (self.looks_in and chaos.venue.certificates)


def _kill(chaos: Chaos, whom: str) -> None:
    if whom == "broker":
        chaos.venue.broker.kill()
    else:
        chaos.venue.kill(whom)


def _start(chaos: Chaos, whom: str) -> None:
    if whom == "broker":
        chaos.venue.broker.start()
    else:
        chaos.venue.start(whom)


def _reboot(chaos: Chaos, whom: str) -> None:
    chaos.venue.kill(whom)
    chaos.venue.reboot(whom)


def _new_device(chaos: Chaos, whom: str) -> None:
    chaos.venue.kill(whom)
    machines = next(one for one in chaos.venue.machines if one.name == whom)
    chaos.venue.replace_device(chaos.chance.choice(machines.tables))


def _swallow(chaos: Chaos, whom: str) -> None:
    chaos.venue.networks[whom].swallow()


def _swallow_one_way(chaos: Chaos, whom: str) -> None:
    chaos.venue.networks[whom].swallow(chaos.chance.choice(("up", "down")))


def _delay(chaos: Chaos, whom: str) -> None:
    chaos.venue.networks[whom].delay(chaos.chance.uniform(0.05, 1.5))


def _mix(chaos: Chaos, whom: str) -> None:
    chance = random.Random(chaos.chance.random())
    chaos.venue.networks[whom].repeat_and_reorder(chance, chaos.chance.uniform(0.05, 0.4))


def _heal(chaos: Chaos, whom: str) -> None:
    chaos.venue.networks[whom].heal()


def _refuse_writes(chaos: Chaos, whom: str) -> None:
    process = chaos.venue.parts[whom].process
    if process is not None and process.exit_code is None:
        disks.refuse_writes(process.pid)


def _allow_writes(chaos: Chaos, whom: str) -> None:
    process = chaos.venue.parts[whom].process
    if process is not None and process.exit_code is None:
        disks.allow_writes(process.pid)


def _read_only(chaos: Chaos, whom: str) -> None:
    """Restart a process with its disk mounted read-only, as a worn-out card is."""
    chaos.venue.kill(whom)
    disks.set_read_only(chaos.venue.parts[whom].disk, read_only=True)
    chaos.venue.start(whom)


def _writable(chaos: Chaos, whom: str) -> None:
    chaos.venue.kill(whom)
    disks.set_read_only(chaos.venue.parts[whom].disk, read_only=False)
    chaos.venue.start(whom)


def _jump(chaos: Chaos, whom: str) -> None:
    chaos.venue.clock_file(whom).write_text(str(chaos.chance.choice(JUMPS)), encoding="ascii")


def _right_clock(chaos: Chaos, whom: str) -> None:
    chaos.venue.clock_file(whom).write_text("0", encoding="ascii")


def _copy_store(chaos: Chaos, _whom: str) -> None:
    chaos.venue.copy_store(chaos.base / "copy.sqlite")


def _restore_store(chaos: Chaos, whom: str) -> None:
    chaos.venue.kill(whom)
    chaos.venue.restore_store(chaos.base / "copy.sqlite")
    chaos.venue.start(whom)


def _delete_log(chaos: Chaos, whom: str) -> None:
    chaos.venue.kill(whom)
    chaos.venue.delete_log()


def _flip_bit(chaos: Chaos, whom: str) -> None:
    chaos.venue.kill(whom)
    chaos.venue.flip_bit(chaos.chance)


def _rubbish(chaos: Chaos, whom: str) -> None:
    chaos.intrude(whom, Intruder.rubbish)


def _take_ids(chaos: Chaos, whom: str) -> None:
    chaos.intrude(whom, Intruder.take_client_ids)


def _forge(chaos: Chaos, whom: str) -> None:
    chaos.intrude(whom, Intruder.forge)


def _toggle(chaos: Chaos, whom: str) -> None:
    chaos.intrude(whom, Intruder.toggle_calls)


def _nothing(_chaos: Chaos, _whom: str) -> None:
    """The end of a fault after which nothing has to be undone."""


def _the(whom: str) -> Callable[[Chaos], str]:
    return lambda _chaos: whom


FAULTS: Final = (
    Fault("scorer killed", _the("scorer"), _kill, _start, (0, 3)),
    Fault("broker killed", _the("broker"), _kill, _start, (0, 3)),
    Fault("tables killed", Chaos.tables, _kill, _start, (0, 3)),
    Fault("machine rebooted", Chaos.machines, _reboot, _start, (0, 2)),
    Fault("device replaced", Chaos.machines, _new_device, _start, (0, 2)),
    Fault("scorer frozen", _the("scorer"), lambda c, w: c.venue.freeze(w), lambda c, w: c.venue.thaw(w), (1, 8)),
    Fault("broker frozen", _the("broker"), lambda c, w: c.venue.freeze(w), lambda c, w: c.venue.thaw(w), (1, 6)),
    Fault("tables frozen", Chaos.tables, lambda c, w: c.venue.freeze(w), lambda c, w: c.venue.thaw(w), (1, 8)),
    Fault("network cut", Chaos.part, lambda c, w: c.venue.networks[w].cut(), _heal, (0.2, 6)),
    Fault("network swallows all", Chaos.part, _swallow, _heal, (1, 8)),
    Fault("network half open", Chaos.part, _swallow_one_way, _heal, (1, 8)),
    Fault("network slow", Chaos.part, _delay, _heal, (2, 8)),
    Fault("messages repeated and reordered", Chaos.part, _mix, _heal, (3, 10), looks_in=True),
    Fault("writes refused", Chaos.part, _refuse_writes, _allow_writes, (0.5, 3)),
    Fault("disk full", Chaos.part, lambda c, w: disks.fill(c.venue.parts[w].disk),
          lambda c, w: disks.empty(c.venue.parts[w].disk), (1, 5), needs_mounts=True),
    Fault("broker's disk full", _the("broker"), lambda c, _: disks.fill(c.base / "broker"),
          lambda c, _: disks.empty(c.base / "broker"), (1, 5), needs_mounts=True),
    Fault("disk read-only", Chaos.part, _read_only, _writable, (1, 3), needs_mounts=True),
    Fault("clock jumps", lambda c: c.chance.choice(["scorer", c.machines()]), _jump, _right_clock, (2, 10)),
    Fault("older copy of the store restored", _the("scorer"), _copy_store, _restore_store, (2, 8)),
    Fault("log of the store deleted", _the("scorer"), _delete_log, _start, (0, 2)),
    Fault("bit flipped in the store", _the("scorer"), _flip_bit, _start, (0, 2)),
    Fault("second scorer on a copied folder", _the("scorer"), lambda c, _: c.venue.start_second_scorer(),
          lambda c, _: c.venue.end_second_scorer(), (5, 12)),
    Fault("rubbish on every topic", Chaos.machines, _rubbish, _nothing, (0, 0)),
    Fault("forged results and rulings", Chaos.machines, _forge, _nothing, (0, 0)),
    Fault("calls without end", Chaos.machines, _toggle, _nothing, (0, 0)),
    Fault("another's client id taken", Chaos.machines, _take_ids, _nothing, (0, 0)),
)  # fmt: skip


@dataclass(slots=True)
class Ongoing:
    """A fault that has begun."""

    fault: Fault
    whom: str
    until: float


class Weather:
    """Begins and ends faults. All kinds occur equally often, in an order drawn from the seed."""

    def __init__(self, chaos: Chaos, pause_s: float, log: Callable[[str], None]) -> None:
        """`pause_s`: mean time between two faults; `log` is called for each fault that begins."""
        self._chaos, self._pause_s = chaos, pause_s
        self._bag: list[Fault] = []
        self._next = time.monotonic()
        self.ongoing: list[Ongoing] = []
        self.counts: dict[str, int] = {}
        self._log = log

    def step(self, *, calm: bool) -> None:
        """End the faults whose time is over; begin the next one if it is due and faults may still begin."""
        now = time.monotonic()
        for one in [one for one in self.ongoing if calm or one.until <= now]:
            one.fault.end(self._chaos, one.whom)
            self.ongoing.remove(one)
        if not calm and now >= self._next:
            self._begin(now)
            self._next = time.monotonic() + self._chaos.chance.uniform(0.3, 1.7) * self._pause_s

    def _begin(self, now: float) -> None:
        chance = self._chaos.chance
        if not self._bag:
            self._bag = [one for one in FAULTS if one.possible(self._chaos)]
            chance.shuffle(self._bag)
        fault = self._bag.pop()
        whom, lasts = fault.strikes(self._chaos), chance.uniform(*fault.lasts_s)
        if any(one.whom == whom for one in self.ongoing):
            self._bag.insert(0, fault)
            return
        self._log(f"FAULT {fault.kind}: {whom}, {lasts:.1f} s")
        self.counts[fault.kind] = self.counts.get(fault.kind, 0) + 1
        fault.begin(self._chaos, whom)
        self.ongoing.append(Ongoing(fault, whom, now + lasts))
