"""The centre on three machines: two with a scorer, of which one is active, and one with a node of the broker alone."""

import os
import shutil
import signal
import ssl
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import httpx

from broker.cli.halls import hall
from broker.cli.standby import reserve_port
from broker.sim.processes import COMMAND, DemoProcess
from broker.store import STORE
from tests.encryption import trusting
from tests.grow.database import Database

MACHINES: Final = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
"""Their addresses. The last one has no scorer."""

PATIENCE_S: Final = 600.0
"""A bound for what hangs: no verdict on how busy the machine is."""

OF_ITS_OWN: Final = shutil.ignore_patterns("scorer.*", "people.sqlite*", "broker", "session.key", "server.*", "*.new")

Said = Callable[[str, str], None]


def answered(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Ask a desk until it answers: a busy machine may take longer than a question waits. Raises httpx.HTTPError."""
    deadline, pause = time.monotonic() + PATIENCE_S, threading.Event()
    while True:
        try:
            return ask()
        except httpx.HTTPError:
            if time.monotonic() > deadline:
                raise
        pause.wait(0.5)


class CentreMachines:
    """Three machines, each of which may be killed, with everything on it."""

    def __init__(self, folder: Path, port: int, said: Said, database: Database | None) -> None:
        """`folder`: of the centre's event; the machines' nodes have `port` and the next one.

        With a `database` both scorers have it, else one follows the other.
        """
        self.port, self._desk_port, self._said, self._database = port, reserve_port(), said, database
        self._base = folder.parent
        self.folders = [folder, folder.parent / "centre-2", folder.parent / "nodes" / MACHINES[-1]]
        self.processes: dict[int, DemoProcess] = {}
        self.active = 0
        self._trust: ssl.SSLContext | None = None

    def prepare(self) -> None:
        """Hand over to the machines what they need."""
        addresses = [part for host in MACHINES for part in ("--address", f"{host}:{self.port}")]
        nodes = ["nodes", str(self.folders[0]), "--to", str(self._base / "nodes"), *addresses]
        hall.main(nodes, standalone_mode=False)
        shutil.copytree(self.folders[0], self.folders[1], ignore=OF_ITS_OWN)
        self._trust = trusting(self.folders[0])

    def start(self, number: int) -> DemoProcess:
        """Start a machine."""
        host = MACHINES[number]
        arguments = ["centre", str(self.folders[number]), "--node", str(number + 1), "--host", host]
        if number < 2:
            arguments += ["--desk-host", host, "--desk-port", str(self._desk_port)]
        if number < 2 and self._database:
            stored = ["--store", self._database.address, "--store-password", str(self._database.password)]
            arguments += ["--standby", *stored]
        elif number == 1:
            arguments += ["--standby-of", f"https://{MACHINES[0]}:{self._desk_port}"]
        made = self.processes[number] = DemoProcess(f"centre {number + 1}", arguments, self._said)
        return made

    def start_all(self) -> None:
        """Start all machines, and wait until there is an active scorer and one that stands by."""
        for number in range(len(MACHINES)):
            self.start(number)
        self._await_active()

    def _await_active(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not self._says(self.active, r"^Desk: "):
            assert time.monotonic() < deadline, "no scorer of the centre is active"
            self.active = 1 - self.active
        self.processes[1 - self.active].wait_for(r"^Standby: (up to date|store_in_use)", PATIENCE_S)

    def _says(self, number: int, pattern: str) -> bool:
        with suppress(TimeoutError):
            return bool(self.processes[number].wait_for(pattern, 0.5))
        return False

    def kill(self, number: int) -> None:
        """End a machine as a power cut would."""
        self.processes[number].kill()
        self.processes[number].stop()

    def replace_active(self) -> None:
        """Kill the machine with the active scorer, wait until the other has taken over, and start it again."""
        self.kill(self.active)
        self._start_again(self.active)

    def lose_database(self, database: Database) -> None:
        """Kill the primary of the database and promote its replica: the scorer ends, and the other goes on."""
        database.lose_primary()
        self.processes[self.active].wait(PATIENCE_S)
        self._start_again(self.active)

    def _start_again(self, ended: int) -> None:
        self.active = 1 - ended
        self.processes[self.active].wait_for(r"^Desk: ", PATIENCE_S)
        self.start(ended)
        self._await_active()

    def lose_all(self) -> None:
        """Kill all machines, and start them again."""
        for number in self.processes:
            self.kill(number)
        self.start_all()

    def kill_node(self, number: int) -> None:
        """Kill the node of a machine, and leave its scorer."""
        for process in Path("/proc").iterdir():
            with suppress(OSError):
                line = (process / "cmdline").read_bytes()
                if process.name.isdecimal() and b"nats-server\0" in line and bytes(self.folders[number]) + b"/" in line:
                    os.kill(int(process.name), signal.SIGKILL)

    def view(self) -> dict[str, Any]:
        """Return what the desk of the active scorer shows, as soon as it answers.

        One that a busy machine made too slow has been replaced, and has ended: it is started again, as by systemd.
        """

        def ask() -> dict[str, Any]:
            if self.processes[self.active].exit_code is not None:
                self._start_again(self.active)
            url = f"https://{MACHINES[self.active]}:{self._desk_port}/view.json"
            view: dict[str, Any] = httpx.get(url, verify=self._trust or False, timeout=PATIENCE_S).json()
            return view

        return answered(ask)

    @property
    def folder(self) -> Path:
        """The folder of the active scorer."""
        return self.folders[self.active]

    def store(self) -> Path:
        """Return the journal, as SQLite has it, once all have ended."""
        if self._database is None:
            return self.folder / STORE
        copies = self._base / "copies"
        copies.mkdir()
        subprocess.run([COMMAND, "store", "backup", self.folder, "--to", copies], check=True, capture_output=True)
        return next(copies.glob(f"*/{STORE}"))

    def set_revoked(self, name: str, *, revoked: bool) -> None:
        """Revoke a hall, or admit it again, on each machine: a hall may be connected with the node of any."""
        for folder in self.folders:
            hall.main(["revoke" if revoked else "admit", str(folder), name], standalone_mode=False)

    def stop(self) -> None:
        """End all."""
        for process in self.processes.values():
            process.stop()
