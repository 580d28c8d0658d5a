"""An event on two machines, one of them a standby, with real processes that may be killed."""

import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from broker.cli.standby import reserve_port
from broker.event import write_devices
from broker.files import write_private
from broker.mqtt.certificates import Certificates
from broker.mqtt.programs import Kind
from broker.sim.demo_event import listed_device
from broker.sim.processes import DemoProcess
from tests.chaos.event import ChaosEvent, expected, make_chaos_event, write_device
from tests.chaos.ledger import Play
from tests.e2e.cut_off import PATIENT
from tests.e2e.hall import write_config
from tests.encryption import trusting
from tests.patience import PATIENCE_S

SPEED: Final = 6
TABLES: Final = 4


class Machine:
    """One of the machines, with its own copy of the event's folder."""

    def __init__(self, name: str, base: Path, said: Callable[[str, str], None]) -> None:
        self.name, self.folder, self._said = name, base / name, said
        self.broker, self.desk = reserve_port(), reserve_port()
        self.cut_file = base / f"{name}.cut"
        self.patient = True
        """Whether it waits indefinitely for the other one's answer while it is not cut off."""
        self.cut_from(None)
        self.process: DemoProcess | None = None

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.desk}"

    def start(self, kind: Kind, *options: str) -> DemoProcess:
        program = [sys.executable, "-m", "tests.e2e.cut_off", str(self.cut_file)]
        ports = ["--mqtt-port", str(self.broker), "--desk-port", str(self.desk)]
        command = ["scorer", str(self.folder), "--broker", kind, "--public", *ports, *options]
        self.process = DemoProcess(self.name, command, self._said, program)
        return self.process

    def wait_for(self, pattern: str) -> str:
        assert self.process is not None
        return self.process.wait_for(pattern, PATIENCE_S)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.stop()

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        os.kill(self.process.pid, number)

    def cut_from(self, other: "Machine | None") -> None:
        """Block connections to another machine; None allows all again."""
        cut = (str(other.broker), str(other.desk)) if other else ()
        write_private(self.cut_file, " ".join((*cut, *([PATIENT] if self.patient else []))).encode("ascii"))

    def take_over_soon(self) -> None:
        """Wait for the other machine only as long as a standby does, since it is gone or about to be."""
        self.patient = False
        self.cut_from(None)

    def view(self) -> dict[str, Any]:
        with urllib.request.urlopen(
            f"{self.url}/view.json", timeout=PATIENCE_S, context=trusting(self.folder)
        ) as answer:
            view: dict[str, Any] = json.load(answer)
        return view

    def results(self) -> list[tuple[Play, dict[str, Any]]]:
        """Return table, round and content of each stored result."""
        with closing(sqlite3.connect(f"file:{self.folder / 'scorer.sqlite'}?mode=ro", uri=True)) as store:
            bodies = [json.loads(body) for (body,) in store.execute("SELECT body FROM journal ORDER BY height")]
        facts = [(one["table"], one["fact"]) for one in bodies if "fact" in one and one["fact"]["type"] == "result"]
        return [((table, fact["round"]), fact) for table, fact in facts]


class TwoMachines:
    """Both machines, and the tables' devices in one process."""

    def __init__(self, base: Path, plays: int, kind: Kind = "embedded", seed: int = 1) -> None:
        self.base, self._kind = base, kind
        self.log: list[str] = []
        self._news = threading.Condition()
        self.first = Machine("first", base, self._said)
        self.second = Machine("second", base, self._said)
        self.event: ChaosEvent = make_chaos_event(self.first.folder, TABLES, plays, random.Random(seed))
        self.tables: DemoProcess | None = None
        self._write_tables()

    def _write_tables(self) -> None:
        certificates, folder, listed = Certificates.ensure(self.first.folder), self.base / "tables", []
        write_device(self.event, folder, range(1, TABLES + 1), 0)
        self.configs = []
        for table in range(1, TABLES + 1):
            listed.append(listed_device(folder, table))
            certificates.issue(table, listed[-1].key)
            self.configs.append(str(write_config(folder, table, self.first.broker, self.first.folder)))
        write_devices(self.first.folder, listed)

    def start(self) -> None:
        """Start the first machine and the second as its standby on a copied folder, and let the tables play."""
        self.start_first()
        left = shutil.ignore_patterns(
            "scorer.*", "people.sqlite*", "broker", "session.key", "disk-reserve", "server.*", "*.new"
        )
        shutil.copytree(self.first.folder, self.second.folder, ignore=left)
        self.start_second()
        self.second.wait_for(r"^Standby: up to date")
        self.start_tables()

    def start_first(self) -> None:
        self.first.start(self._kind)
        self.first.wait_for(r"^Desk: ")

    def start_second(self) -> None:
        self.second.start(self._kind, "--standby-of", self.first.url)

    def start_tables(self) -> None:
        arguments = [str(time.monotonic_ns()), str(SPEED), *self.configs]
        self.tables = DemoProcess("tables", arguments, self._said, [sys.executable, "-m", "tests.chaos.tables"])

    def _said(self, who: str, line: str) -> None:
        with self._news:
            self.log.append(f"{time.monotonic():.2f} {who}: {line}")
            self._news.notify_all()

    def wait_for_results(self, machine: Machine, count: int) -> None:
        """Wait until a machine's store has so many results."""
        deadline, pause = time.monotonic() + PATIENCE_S, threading.Event()
        while len(machine.results()) < count:
            assert time.monotonic() < deadline, self.log[-40:]
            pause.wait(0.05)

    def wait_for_plays(self, machine: Machine, count: int) -> None:
        """Wait until a desk shows so many plays."""
        deadline, pause = time.monotonic() + PATIENCE_S, threading.Event()
        while time.monotonic() < deadline:
            try:
                if machine.view()["plays_in"] >= count:
                    return
            except OSError:
                pass  # the file does not exist yet
            pause.wait(0.1)
        raise AssertionError(f"{machine.name} has not {count} plays: {self.log[-40:]}")

    def problems(self, machine: Machine) -> list[str]:
        """Return the scripted results that were lost, duplicated or altered."""
        results = machine.results()
        plays = [play for play, _ in results]
        found = [f"lost: {play}" for play in self.event.deals if play not in plays]
        found += [f"doubled: {play}" for play in set(plays) if plays.count(play) > 1]
        for play, fact in results:
            meant = expected(self.event, play)
            told = {name: fact[name] for name in meant if name != "fines"}
            if told != {name: value for name, value in meant.items() if name != "fines"}:
                found.append(f"altered: {play}: {told}, not {meant}")
        return found

    def __enter__(self) -> "TwoMachines":
        return self

    def __exit__(self, *_: object) -> None:
        for process in (self.tables, self.first.process, self.second.process):
            if process is not None:
                process.stop()
