"""Kills a table again and again through a whole day, and checks whether anybody there or in the room could notice."""

import os
import pickle
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from msgspec import structs

from broker.protocol import LogMessage, decode_on_topic
from kiosk.journal import JournaledTable, TableJournal
from kiosk.screens import StatusLine
from tests.kiosk.cuts.cut import START, Cut, Moment, tear
from tests.kiosk.cuts.days import day
from tests.kiosk.cuts.hands import set_up, steadied
from tests.kiosk.cuts.run import POWER_ON, Start, in_a_process, uncut, until_killed, where
from tests.kiosk.journals import OURS

LARGEST: Final = 1 << 20
"""Largest message between two processes, in bytes."""

MOST_AT_START: Final = 8
"""Number of writes that every start makes."""


@dataclass
class Found:
    """The results."""

    kills: Counter[str] = field(default_factory=Counter)
    """Kills by the table's state."""
    moments: Counter[str] = field(default_factory=Counter)
    slowest_ms: float = 0.0
    colds: int = 0
    """Number of starts from nothing."""
    slowest_cold_ms: float = 0.0
    differences: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Number of kills."""
        return self.kills.total()

    def add(self, other: "Found") -> None:
        """Add the results of another day."""
        self.kills += other.kills
        self.moments += other.moments
        self.slowest_ms = max(self.slowest_ms, other.slowest_ms)
        self.colds += other.colds
        self.slowest_cold_ms = max(self.slowest_cold_ms, other.slowest_cold_ms)
        self.differences += other.differences


class Killing:
    """One day, and all its cuts."""

    def __init__(self, kind: str, seed: int, folder: Path, found: Found, cold: float = 0.0, every: int = 1) -> None:
        self._cold, self._every = cold, every
        self._name, self._chance = f"{kind} {seed}", random.Random(f"{kind} {seed}")
        self._day, self._folder, self._found = day(kind, seed), folder / "cut", found
        set_up(folder / "twin")
        set_up(self._folder)
        self._known = _told_by(lambda tell: tell(uncut(folder / "twin", self._day)))
        self._boots = 0
        self._now, self._waited = POWER_ON, 0
        self._heard: dict[str, LogMessage] = {}

    def kills(self) -> Iterator[None]:
        """Kill at each of the cuts in turn."""
        done = 0
        for cut in islice(self._cuts(), 0, None, self._every):
            if self._spoilt:
                return  # one difference leads to others
            if cut.action < done:
                continue  # the day was over when it was killed at an earlier write
            done = self._killed(self._started(done, cut), cut)
            yield
            if self._chance.random() < self._cold:
                self._from_nothing(done)
            if self._chance.random() < 0.15:
                again = Cut(START, self._chance.randrange(MOST_AT_START), self._moment())
                self._killed(self._started(done, again), again)
                yield
        self._whole(done)

    def _cuts(self) -> Iterator[Cut]:
        for at, known in enumerate(self._known[1:]):
            last = len(known.writes) - 1
            for write in range(len(known.writes)):
                yield Cut(at, write, "before")
                yield Cut(at, write, "torn")
                if write < last or self._chance.random() < 0.5:
                    yield Cut(at, write, "after")
            yield Cut(at, None)

    def _from_nothing(self, done: int) -> None:
        """Start the program as in a hall, with a copy of the card: its first picture must be the twin's."""
        with tempfile.TemporaryDirectory() as place:
            copy = shutil.copytree(self._folder, Path(place) / "cold")
            began = time.monotonic_ns()
            command = [sys.executable, "-m", "tests.kiosk.cuts.cold", str(copy)]
            told = subprocess.check_output(command)
        first, at = pickle.loads(told)  # noqa: S301 - our own child's
        self._found.colds += 1
        self._found.slowest_cold_ms = max(self._found.slowest_cold_ms, (at - began) / 1e6)
        seen, twin = (replace(steadied(one), line=StatusLine()) for one in (first, self._known[done].after.shown))
        self._differs(f"from nothing after {done}", "" if seen == twin else where(twin, seen))

    def _moment(self) -> Moment:
        moments: tuple[Moment, ...] = ("before", "torn", "after")
        return self._chance.choice(moments)

    def _started(self, done: int, cut: Cut) -> Start:
        """Return how to start: in the same run of the machine, or after a power cut on another clock."""
        card, boot = self._on_the_card(), self._boots
        known = card.boot in ("", f"run {boot}")
        if known:
            self._now = max(self._now, card.latest)
        if self._chance.random() < 0.5:
            self._boots += 1
        if self._boots == boot and known:
            return Start(done, self._now, f"run {boot}", 0, cut)
        if known:  # otherwise nothing is known of its last clock
            self._waited = max(0, self._now - card.pressed) if card.pressed else 0
        on = POWER_ON + self._chance.randrange(10**10)
        self._now = on + self._waited
        return Start(done, on, f"run {self._boots}", self._waited, cut)

    def _on_the_card(self) -> "Card":
        path = self._folder / "table.sqlite"
        return read_card(path) if path.exists() else Card()

    def _killed(self, start: Start, cut: Cut) -> int:
        """Run the program until it is killed; return how many actions of the day are complete."""
        done, ended = start.at, False
        for told in _hear(lambda tell: until_killed(self._folder, self._day, self._known, start, tell)):
            match told:
                case ("done", at, *_):
                    done = at + 1
                case ("ended", status):
                    ended = status != -signal.SIGKILL
            self._noted(told, done)
        if ended:
            if cut.action != START:  # a start does not always make that many writes
                self._found.differences.append(f"{self._name}: {cut} was never reached")
            return done
        self._found.kills[self._known[done].phase.value] += 1
        self._found.moments["while it started" if cut.action == START else cut.moment] += 1
        if cut.moment == "torn" and not tear(self._folder / "table.sqlite-wal", self._chance.randint):
            cut = replace(cut, moment="after")
        return done if cut.action == START or cut.write is None else self._done_at(cut)

    def _noted(self, told: tuple[Any, ...], done: int) -> None:
        """Record what a run reports, and what the room hears of it."""
        match told:
            case ("back", back_ns, difference):
                self._found.slowest_ms = max(self._found.slowest_ms, back_ns / 1e6)
                self._differs(f"back after {done}", difference)
            case ("done", at, now, difference):
                self._now = now
                self._differs(f"{at} {self._day[at]}", difference)
            case ("said", topic, payload):
                self._hear(topic, payload)

    def _done_at(self, cut: Cut) -> int:
        """Return whether an action is complete, judging by its writes on the card."""
        assert cut.write is not None
        before, known = self._known[cut.action], self._known[cut.action + 1]
        there = known.writes[: cut.write + (cut.moment == "after")]
        if not there or (known.events > before.events and there[-1] < known.events):
            return cut.action
        return cut.action + (known.events > before.events or len(there) == len(known.writes))

    def _hear(self, topic: str, payload: bytes) -> None:
        _, message = decode_on_topic(topic, payload)
        if isinstance(message, LogMessage):
            bare = without_device(message)
            if self._heard.setdefault(message.id, bare) != bare:
                self._found.differences.append(f"{self._name}: {message.id} was told in two ways")

    def _whole(self, done: int) -> None:
        """Check everything that the room has heard: each fact of the twin's once, in order."""
        for told in _hear(lambda tell: until_killed(self._folder, self._day, self._known, self._last(done), tell)):
            if told[0] == "said":
                self._hear(*told[1:])
        told_facts = [one.fact for one in sorted(self._heard.values(), key=lambda one: one.seq)]
        if told_facts != [*self._known[-1].after.facts]:
            self._found.differences.append(f"{self._name}: the room heard {len(told_facts)} facts otherwise")

    def _last(self, done: int) -> Start:
        return Start(done, self._now, f"run {self._boots}")

    @property
    def _spoilt(self) -> bool:
        return any(one.startswith(f"{self._name}:") for one in self._found.differences)

    def _differs(self, where: str, difference: str) -> None:
        if difference:
            self._found.differences.append(f"{self._name}: {where}: {difference}")


@dataclass(frozen=True, slots=True)
class Card:
    """What a card says about its times."""

    boot: str = ""
    """Id of the machine's run to which its times belong; "" if it has none."""
    latest: int = 0
    """Time of its latest event, and of the latest press in an open claim window; 0: none."""
    pressed: int = 0


def read_card(path: Path) -> Card:
    """Read it as the next program would."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        for name in (path.name, f"{path.name}-wal"):
            if path.with_name(name).exists():
                shutil.copyfile(path.with_name(name), copy.with_name(name))
        boot = boot_on(copy)
        with closing(TableJournal(copy, OURS)) as journal:
            events = [*journal.events()]
            window = JournaledTable(journal, lambda: 0).state.window
    return Card(boot, events[-1].at if events else 0, window.latest if window else 0)


def boot_on(card: Path) -> str:
    """Return the id of the machine's run to which a card's times belong."""
    with closing(sqlite3.connect(card)) as store, suppress(sqlite3.OperationalError):
        for (value,) in store.execute("SELECT value FROM about WHERE key = 'boot'"):
            return str(value)
    return ""


def without_device(message: LogMessage) -> LogMessage:
    """Remove the sender."""
    return structs.replace(message, sender=None)


def _hear(work: Callable[[Callable[..., None]], None]) -> Iterator[tuple[Any, ...]]:
    """Run something in a separate process; yield what it reports until it ends, and how it ended."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def run() -> None:
        ours.close()
        its.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LARGEST)
        work(lambda *told: its.sendall(pickle.dumps(told)))

    child = in_a_process(run)
    its.close()
    with ours:
        while packet := ours.recv(LARGEST):
            yield pickle.loads(packet)  # noqa: S301 - our own child's
    _, status = os.waitpid(child, 0)
    yield ("ended", os.waitstatus_to_exitcode(status))


def _told_by(work: Callable[[Callable[..., None]], None]) -> Any:  # noqa: ANN401 - whatever it reports
    """Return the only report of a separate process."""
    with tempfile.TemporaryFile() as file:

        def run() -> None:
            work(lambda told: pickle.dump(told, file))
            file.flush()

        _, status = os.waitpid(in_a_process(run), 0)
        if status:
            raise SystemExit("the run that is not cut has failed")
        file.seek(0)
        return pickle.load(file)  # noqa: S301 - our own child's
