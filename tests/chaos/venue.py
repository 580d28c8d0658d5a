"""All processes of an event. Each can be killed, frozen or cut off; one that exits by itself is restarted."""

import os
import random
import re
import shutil
import signal
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from broker.errors import BrokerDied
from broker.event import write_devices
from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates, device_user
from broker.mqtt.programs import Kind
from broker.protocol import SigningKey, device_of
from broker.protocol.signing import open_key
from broker.protocol.tls import Identity, event_context
from broker.sim.demo_event import NAME, listed_device
from broker.sim.processes import COMMAND, DemoProcess
from broker.store import STORE
from tests.broker.mqtt.brokers import make_broker
from tests.chaos import disks
from tests.chaos.event import KIOSK, ChaosEvent, write_device
from tests.chaos.ledger import LedgerReader
from tests.chaos.tables import name_run
from tests.e2e.hall import write_config
from tests.e2e.proxy import Proxy
from tests.e2e.standstill import let_tables_say
from tests.patience import PATIENCE_S

TABLES_EACH: Final = 5
"""Number of tables per process."""

SECOND_HOME: Final = "second-home"
"""The files for the desk's decisions, beside the scorer's store."""

RESTART_S: Final = 0.5
"""Seconds until a process that exited by itself is restarted."""

KIOSK_REACTION_MS: Final = 300

RECORDED: Final = re.compile(r"\bdeal=(\d+) play=\S+ state=recorded\b")
"""Appears in a kiosk's log of its state once a result is recorded."""


class Part:
    """One process, over all its starts."""

    def __init__(self, name: str, disk: Path) -> None:
        self.name, self.disk = name, disk
        self.process: DemoProcess | None = None
        self.held = False
        """Whether it is kept stopped."""
        self.frozen = False
        self.crashes = 0
        """How often it has exited by itself."""
        self.start_at = 0.0

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self.process is not None and self.process.exit_code is None


class Machines(Part):
    """The devices of some tables."""

    def __init__(self, name: str, disk: Path, tables: list[int]) -> None:
        super().__init__(name, disk)
        self.tables = tables
        self.origin = time.monotonic_ns()
        self.devices = dict.fromkeys(tables, 1)
        """The number of the device that each table uses, counted from its first."""


class Venue:
    """The broker, the scorer, and the tables behind the proxies of their switches."""

    def __init__(
        self, event: ChaosEvent, kind: Kind, base: Path, speed: int, log: Callable[[str], None], *, plain: bool = False
    ) -> None:
        """`speed`: of the players' clocks relative to real time; `log` is called with the output of processes."""
        self.event, self.base, self._speed = event, base, speed
        self.ledger = LedgerReader()
        self._log = log
        self._second: DemoProcess | None = None
        self.devices: dict[int, str] = {}
        """The device id of each table, as printed on the device, which an arbiter can read there."""
        self.desk = ""
        """The desk's address; "" if there is none."""
        self.known = Credentials.load(event.folder / "credentials.json")
        self.certificates = None if plain else Certificates.ensure(event.folder)
        self.broker = make_broker(
            kind, base / "broker", NAME, self.known, tables=event.tables, certificates=self.certificates
        )
        self.broker.start()
        self.broker_crashes = 0
        """How often the broker has exited by itself: Mosquitto 2.0.11 may, when it reloads its configuration."""
        others = [table for table in range(1, event.tables + 1) if table != KIOSK]
        groups = [others[at : at + TABLES_EACH] for at in range(0, len(others), TABLES_EACH)]
        self.machines = [
            Machines(f"tables {group[0]}-{group[-1]}", base / f"tables-{group[0]}", group) for group in groups
        ]
        self.scorer, self.kiosk = Part("scorer", event.folder), Machines("kiosk", base / "kiosk", [KIOSK])
        self.parts: dict[str, Part] = {one.name: one for one in (self.scorer, self.kiosk, *self.machines)}
        self.networks = {name: Proxy(self.broker.port, mqtt=plain) for name in self.parts}
        (base / SECOND_HOME).mkdir()
        for part in self.parts.values():
            part.disk.mkdir(parents=True, exist_ok=True)

    def start_all(self) -> None:
        """Write the devices, list them with the event, and start everything."""
        listed = []
        for one in (self.kiosk, *self.machines):
            write_device(self.event, one.disk, one.tables, KIOSK_REACTION_MS if one is self.kiosk else 0)
            for table in one.tables:
                listed.append(listed_device(one.disk, table))
                if self.certificates:
                    self.certificates.issue(table, listed[-1].key)
                self._write_config(one, table)
                self.devices[table] = device_of(listed[-1].key)
        write_devices(self.event.folder, listed)
        self.start(self.scorer.name)
        if self.scorer.process is not None:
            self.scorer.process.wait_for(r"^Desk: ", PATIENCE_S)
        for name in self.parts:
            self.start(name)

    def _write_config(self, machines: Machines, table: int) -> Path:
        """Write how a table connects to the broker through its proxy, and with which certificate."""
        port, plain = self.networks[machines.name].port, self.certificates is None
        return write_config(machines.disk, table, port, self.event.folder, plain=plain)

    def start(self, name: str) -> None:
        """Start a part, or allow it to be restarted."""
        part = self.parts[name]
        part.held = False
        if not part.running:
            program, arguments = self._command(part)
            part.process = DemoProcess(name, arguments, self._said, program)

    def _command(self, part: Part) -> tuple[list[str], list[str]]:
        clock = [sys.executable, "-m", "tests.chaos.clock", str(self.clock_file(part.name))]
        if part is self.scorer:
            where = f"127.0.0.1:{self.networks[part.name].port}"
            return [*clock, "homologue"], [
                *("scorer", str(self.event.folder), "--broker", where, *self._plain),
                *("--desk-port", "0", "--public", "--second-home", str(self.base / SECOND_HOME)),
            ]
        assert isinstance(part, Machines)
        configs = [str(part.disk / f"table-{table}.toml") for table in part.tables]
        if part is self.kiosk:
            return [str(COMMAND)], ["kiosk", *configs]
        name_run(self.base, part.origin)  # the process may be unable to write
        return [*clock, "tests.chaos.tables"], [str(part.origin), str(self._speed), *configs]

    @property
    def _plain(self) -> tuple[str, ...]:
        return () if self.certificates else ("--plain",)

    @property
    def trust(self) -> ssl.SSLContext | None:
        """The TLS context for the desk; None without TLS."""
        return event_context(self.certificates.authority) if self.certificates else None

    def stolen(self, table: int) -> ssl.SSLContext | None:
        """Return the connection settings of a table's device: by certificate, or by password without TLS."""
        if self.certificates is None:
            return None
        machines = self.machines_of(table)
        key = open_key(machines.disk / device_folder(table, machines.devices[table]) / "device.key")
        return event_context(self.certificates.authority, Identity(self._certificate(table, key), key))

    def _certificate(self, table: int, key: SigningKey) -> Path:
        assert self.certificates is not None
        return self.certificates.folder / f"{device_user(table, key.device)}.crt"

    def clock_file(self, name: str) -> Path:
        """Return the file with the shift of a part's wall clock."""
        return self.base / f"clock-{name.replace(' ', '-')}"

    def _said(self, who: str, line: str) -> None:
        if self.ledger.take(line):
            return
        if who == "kiosk" and (recorded := RECORDED.search(line)):
            play = next(play for play in self.event.tables_of(int(recorded[1])) if play[0] == KIOSK)
            self.ledger.recorded.setdefault(play, time.monotonic_ns())
        if who == "scorer" and line.startswith("Desk: "):
            self.desk = line.removeprefix("Desk: ").strip()
        self._log(f"{who}: {line}")

    def supervise(self) -> None:
        """Restart processes that have exited, and supervise the broker as the scorer does that started it."""
        now = time.monotonic()
        try:
            self.broker.check()
        except BrokerDied as died:
            self._log(str(died))
            with suppress(OSError):  # its disk is full: tried again next time, as systemd would
                self.broker.start()
                self.broker_crashes += 1
        for part in self.parts.values():
            if part.held or part.running:
                part.start_at = 0.0
            elif part.start_at == 0.0:
                part.crashes += 1
                part.start_at = now + RESTART_S
                self._log(f"{part.name} has ended by itself with {part.process and part.process.exit_code}")
            elif now >= part.start_at:
                self.start(part.name)

    def say_how_tables_stand(self) -> None:
        """Make each running table log its state and what it is waiting for."""
        let_tables_say(*(one.process for one in self.machines if one.process is not None))

    def stop(self) -> None:
        """Stop everything."""
        self.end_second_scorer()
        for part in self.parts.values():
            if part.process is not None:
                self.thaw(part.name)
                part.process.stop()
        for network in self.networks.values():
            network.close()
        self.broker.stop()

    def kill(self, name: str) -> None:
        """Send SIGKILL; the process stays down until `start`."""
        part = self.parts[name]
        part.held = True
        if part is self.scorer:
            self.desk = ""
        if part.process is not None:
            part.process.kill()
            part.process.stop()

    def freeze(self, name: str) -> None:
        """Send SIGSTOP, which freezes the process."""
        self._signal(name, signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        """Send SIGCONT."""
        self._signal(name, signal.SIGCONT)

    def _signal(self, name: str, number: signal.Signals) -> None:
        pid = self.broker.pid if name == "broker" else None
        if name != "broker" and self.parts[name].running:
            process = self.parts[name].process
            pid = process.pid if process else None
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def reboot(self, name: str) -> None:
        """Start a machine anew: its monotonic clock starts over, and cannot be compared with the previous one."""
        machines = self.parts[name]
        assert isinstance(machines, Machines)
        machines.origin = time.monotonic_ns()

    def replace_device(self, table: int) -> str:
        """Replace a device whose process is stopped by another one with the same card.

        Return the output of the command that does it.
        """
        machines = self.machines_of(table)
        card = machines.disk / device_folder(table, machines.devices[table])
        if not _was_laid_out(card / "table.sqlite"):
            return "the device had no journal yet"
        folder = device_folder(table, machines.devices[table] + 1)
        key, first = open_key(machines.disk / folder / "device.key"), listed_device(machines.disk, table)
        if self.certificates:
            try:
                self.certificates.issue(table, key.public)
            except OSError:
                return "no device can be paired while the scorer's disk takes nothing"
        machines.devices[table] += 1
        config = self._write_config(machines, table)
        text = config.read_text(encoding="utf-8").replace(f'folder = "table-{table}"', f'folder = "{folder}"')
        config.write_text(text.replace(first.device, key.device), encoding="utf-8")
        command = [str(COMMAND), "table", "import", str(config), str(card)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(f"a journal that cannot be taken over: {done.stdout}{done.stderr}")
        self.devices[table] = key.device
        return done.stdout.strip()

    def machines_of(self, table: int) -> Machines:
        """Return the machine on which a table runs."""
        return next(one for one in (self.kiosk, *self.machines) if table in one.tables)

    def start_second_scorer(self) -> None:
        """Copy the event's folder, and start a scorer on the copy while the first one is running."""
        second = self.base / "second"
        shutil.rmtree(second, ignore_errors=True)
        left = ("scorer.sqlite*", "people.sqlite*", "*.new", disks.FILLER)
        shutil.copytree(self.event.folder, second, ignore=shutil.ignore_patterns(*left))
        for name in ("scorer.sqlite", "people.sqlite"):
            with (
                closing(sqlite3.connect(self.event.folder / name)) as store,
                closing(sqlite3.connect(second / name)) as copy,
            ):
                store.backup(copy)
        where = f"127.0.0.1:{self.broker.port}"
        arguments = ["scorer", str(second), "--broker", where, "--desk-port", "0", *self._plain]
        self._second = DemoProcess("second scorer", arguments, self._said)

    def end_second_scorer(self) -> None:
        """Kill the second scorer if it has not exited by itself."""
        if self._second is not None:
            self._second.kill()
            self._second.stop()
            self._second = None

    def copy_store(self, to: Path) -> None:
        """Copy the scorer's store as it is now."""
        to.unlink(missing_ok=True)
        with (
            closing(sqlite3.connect(self.event.folder / STORE)) as store,
            closing(sqlite3.connect(to)) as copy,
        ):
            store.backup(copy)

    def restore_store(self, copy: Path) -> None:
        """Replace the store of a stopped scorer by an older copy."""
        for beside in ("-wal", "-shm"):
            (self.event.folder / f"{STORE}{beside}").unlink(missing_ok=True)
        shutil.copyfile(copy, self.event.folder / STORE)

    def delete_log(self) -> None:
        """Delete the write-ahead log of a stopped scorer's store, with everything that only the log contains.

        Not if the scorer was killed during a checkpoint: a store with half of the pages is not a valid one.
        """
        store, log = self.event.folder / STORE, self.event.folder / f"{STORE}-wal"
        aside = log.with_name("deleted-log")
        if log.exists():
            log.rename(aside)
        (self.event.folder / f"{STORE}-shm").unlink(missing_ok=True)
        if _is_whole(store):
            aside.unlink(missing_ok=True)
        elif aside.exists():
            aside.rename(log)

    def flip_bit(self, chance: random.Random) -> str:
        """Change one random bit in the body of a row in a stopped scorer's store; return the row."""
        path = self.event.folder / STORE
        with closing(sqlite3.connect(path)) as store:
            store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if store.execute("SELECT 1 FROM sqlite_master WHERE name = 'journal'").fetchone() is None:
                return "the store had no rows yet"
            bodies = [body for (body,) in store.execute("SELECT body FROM journal")]
        content = bytearray(path.read_bytes())
        body = chance.choice(bodies or [b""])
        at = content.find(body)
        if body and at >= 0:
            content[at + chance.randrange(len(body))] ^= 1 << chance.randrange(8)
            path.write_bytes(content)
        return str(body)


def _is_whole(store: Path) -> bool:
    """Return whether an SQLite file is valid without its log."""
    with closing(sqlite3.connect(f"{store.absolute().as_uri()}?immutable=1", uri=True)) as left:
        try:
            (said,) = left.execute("PRAGMA quick_check(1)").fetchone()
            return bool(said == "ok")
        except sqlite3.DatabaseError:
            return False


def _was_laid_out(journal: Path) -> bool:
    """Return whether a stopped device has a journal; a full disk may have left an empty file."""
    with tempfile.TemporaryDirectory() as folder:
        for one in journal.parent.glob(f"{journal.name}*"):  # no file is created beside the real one
            shutil.copyfile(one, Path(folder) / one.name)
        with closing(sqlite3.connect(Path(folder) / journal.name)) as copy:
            return copy.execute("SELECT 1 FROM sqlite_master").fetchone() is not None


def device_folder(table: int, device: int) -> str:
    """Return the folder of a table's journal on one of its devices."""
    return f"table-{table}" if device == 1 else f"table-{table}-device-{device}"


def crashes(venue: Venue) -> Iterator[str]:
    """Describe which processes exited by themselves, and how often."""
    counts = [("broker", venue.broker_crashes), *((part.name, part.crashes) for part in venue.parts.values())]
    return (f"{name} {count}" for name, count in counts if count)
