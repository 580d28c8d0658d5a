"""A broker as a child process: one folder, one lock, one port."""

import fcntl
import os
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import SystemRandom
from types import TracebackType
from typing import Final, Self

from broker.child.leash import Leashed
from broker.child.probe import refusal
from broker.child.settings import Settings
from broker.errors import BrokerDied, NotReady, PortTaken, StartFailed, StoreLocked

READY_S: Final = 20.0  # a Raspberry Pi with a slow card needs some seconds for a large store
STOP_S: Final = 10.0
LOCK_S: Final = 3.0  # a broker whose master was killed takes a moment to die
POLL_S: Final = 0.02
TRIES: Final = 20
PORTS: Final = range(20_000, 32_768)  # below Linux's ephemeral ports: a client that retries cannot meet itself
LOG_BYTES: Final = 4_000_000
TAIL_LINES: Final = 12
ANY_ADDRESS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - looked up, not bound


class ChildBroker(ABC):
    """What the embedded broker and Mosquitto have in common; `broker.brokers.Broker` says what each part does."""

    name: str

    def __init__(self, settings: Settings, *, ready_s: float = READY_S) -> None:
        self._settings = settings
        self._ready_s = ready_s
        self._port = settings.port
        self._child: Leashed | None = None

    @abstractmethod
    def _command(self, port: int) -> list[str]:
        """Write the configuration and give the command line. Raises ProgramMissing."""

    @property
    def host(self) -> str:
        """Address that clients on this machine connect to."""
        return ANY_ADDRESS.get(self._settings.host, self._settings.host)

    @property
    def port(self) -> int:
        """TCP port of the MQTT listener."""
        return self._port

    @property
    def pid(self) -> int | None:
        """Process id of the running broker."""
        return self._child.pid if self._child and self._child.running() else None

    @property
    def log(self) -> Path:
        """Where the broker's output goes."""
        return self._settings.folder / f"{self.name}.log"

    def alive(self) -> bool:
        """Tell whether the process runs."""
        return self.pid is not None

    def check(self) -> None:
        """Raise BrokerDied where the process has ended without being told to."""
        if self._child is not None and not self._child.running():
            raise BrokerDied(f"{self.name} ended; its log is {self.log}")

    def start(self) -> None:
        """Start, and return once clients are let in."""
        if self.alive():
            return
        self._settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self._port:
            self._start_on(self._port)
            return
        for tries_left in reversed(range(TRIES)):
            port = SystemRandom().choice(PORTS)
            try:
                self._start_on(port)
            except PortTaken:
                if not tries_left:
                    raise
            else:
                self._port = port
                return

    def stop(self) -> None:
        """End the broker in good order, by force after some seconds."""
        if self._child is None:
            return
        self._child.terminate()
        if not self._child.wait(STOP_S):
            self._child.kill()
        self._child = None

    def kill(self) -> None:
        """End the broker with SIGKILL."""
        if self._child is not None:
            self._child.kill()
        self._child = None

    def restart(self) -> None:
        """Stop and start."""
        self.stop()
        self.start()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _start_on(self, port: int) -> None:
        with _locked(self._settings.folder) as lock:
            command = self._command(port)
            _refuse_taken(self._settings.host, port)
            said_before = _shortened(self.log)
            self._child = Leashed(command, log=self.log, keep=(lock,))
        try:
            self._await_ready(self._child, port, said_before)
        except BaseException:
            self.kill()
            raise

    def _await_ready(self, child: Leashed, port: int, said_before: int) -> None:
        user, deadline = "arbiter", time.monotonic() + self._ready_s
        password = self._settings.credentials.password(user)
        while why := refusal(self.host, port, user, password, tls=self._settings.tls):
            if child.wait(POLL_S):
                raise self._ended(port, said_before)
            if time.monotonic() > deadline:
                said = _tail(self.log, said_before)
                raise NotReady(f"{self.name} {why} for {self._ready_s:g} s; it said:\n{said}")
        if not child.running():  # then somebody else's broker answered
            raise self._ended(port, said_before)

    def _ended(self, port: int, said_before: int) -> PortTaken | StartFailed:
        said = _tail(self.log, said_before)
        if "address already in use" in said.lower():
            return PortTaken(f"{self.host} port {port} is taken; {self.name} said:\n{said}")
        return StartFailed(f"{self.name} ended by itself; it said:\n{said}")


@contextmanager
def _locked(folder: Path) -> Iterator[int]:
    """Hold the folder's lock. The child inherits it, so that it is free exactly when the child has ended."""
    path = folder / "broker.lock"
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + LOCK_S
        while not _try_lock(handle):
            if time.monotonic() > deadline:
                raise StoreLocked(f"another broker runs on {folder}: end it first, or take another folder")
            time.sleep(POLL_S)
        yield handle
    finally:
        os.close(handle)


def _try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _refuse_taken(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as brokers do: no waiting after a restart
        try:
            trial.bind((host, port))
        except OSError as error:
            raise PortTaken(f"cannot listen on {host} port {port}: {error.strerror}") from None


def _shortened(log: Path) -> int:
    """Give the length of the log in bytes; one that has grown long is kept as `.1` and begun anew."""
    size = log.stat().st_size if log.exists() else 0
    if size < LOG_BYTES:
        return size
    log.replace(log.with_name(f"{log.name}.1"))
    return 0


def _tail(log: Path, start: int) -> str:
    with log.open("rb") as file:
        file.seek(start)
        lines = file.read().decode(errors="replace").splitlines()
    return "\n".join(lines[-TAIL_LINES:]) or "(nothing)"
