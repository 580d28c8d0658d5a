"""A broker as a child process, with its settings, folder, lock and port. It ends when this process ends.

Even after kill -9 no broker is left holding a port. Linux kills the child when the *thread* that started it ends (prctl
PR_SET_PDEATHSIG), so each child is started from its own thread, which lives exactly as long.
"""

import fcntl
import os
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import SystemRandom
from typing import Final, Self

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.reasoncodes import ReasonCode

from broker.errors import (
    BrokerDied,
    BrokerPortTaken,
    BrokerStartFailed,
    NotReady,
    ProgramMissing,
    SettingRefused,
    StoreLocked,
)
from broker.mqtt.access import PROBER, Credentials, Permissions, permissions_of_event
from broker.mqtt.certificates import Certificates
from broker.protocol import TOPICS
from broker.protocol.tls import event_context

PAYLOAD_LIMIT: Final = max(topic.limit for topic in TOPICS) + 16_384
"""Largest payload that a broker accepts, in bytes: the contract's largest plus what brokers count besides."""

HIGHEST_PORT: Final = 65_535

OF_A_TABLE: Final = 4
"""Most simultaneous connections of a table: two devices, each with an old connection not yet timed out."""

FREE_CONNECTIONS: Final = 4_096
"""Connections for offices, probes, and clients that connect and stay silent until the broker drops them."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """The cluster of which a node is part."""

    number: int
    """The node's own number, from 1."""
    routes: tuple[str, ...]
    """HOST:PORT at which the nodes reach each other, in the order of their numbers."""
    secret: str = field(repr=False, default="")
    """Password by which nodes on one machine recognise each other."""
    certificate: Path | None = None
    """File with certificate and key (PEM) by which nodes on several machines recognise each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MqttBrokerSettings:
    """The settings of a broker. The constructor raises SettingRefused or UserUnknown."""

    folder: Path
    event: str
    credentials: Credentials
    tables: int
    host: str = "127.0.0.1"
    port: int = 0
    certificates: Certificates | None = None
    """With certificates, the broker uses TLS and clients need a certificate; without, they need a password."""
    halls: Callable[[], tuple[str, ...] | None] = lambda: None
    """At the centre of an event in several halls, returns the halls that may connect (instead of tables)."""
    cluster: Cluster | None = None
    """The cluster, if the broker is one of several nodes."""

    def __post_init__(self) -> None:
        if self.certificates is None:
            for user in self.permissions():
                self.credentials.password(user)
        if not 0 <= self.port <= HIGHEST_PORT:
            raise SettingRefused(f"port {self.port}")
        # Host and folders go into configuration files, in which not everything can be quoted.
        paths = (self.certificates.folder,) if self.certificates else ()
        for text in (self.host, *map(str, (self.folder, *paths))):
            if not text or not text.isprintable() or '"' in text:
                raise SettingRefused(f"{text!r} cannot be written into a configuration")

    @property
    def connections(self) -> int:
        """The broker's limit of connections, which is below the open-file limit of our systemd units."""
        return FREE_CONNECTIONS + OF_A_TABLE * self.tables

    def permissions(self) -> dict[str, Permissions]:
        """Return the permissions of each user that the broker accepts."""
        everybody = permissions_of_event(self.event, self.tables, self.halls())
        if self.certificates is None or self.halls() is not None:
            return everybody
        return self.certificates.permissions(self.event)


TIMEOUT_S: Final = 5.0  # nats-server creates its streams at the first CONNECT, with many fsyncs
CLIENT_ID: Final = "homologue-probe"


def probe_broker(
    host: str, port: int, login: tuple[str, str] | None = None, context: ssl.SSLContext | None = None
) -> str | None:
    """Connect and disconnect; return why the broker did not accept the connection, or None if it did.

    `login` is user and password; `context` is the TLS context, with the client's certificate.
    """
    probe = mqtt.Client(CallbackAPIVersion.VERSION2, f"{CLIENT_ID}-{secrets.token_hex(8)}")
    probe.connect_timeout = TIMEOUT_S
    if login:
        probe.username_pw_set(*login)
    if context:
        probe.tls_set_context(context)
    answers: list[ReasonCode] = []
    probe.on_connect = lambda _probe, _data, _flags, reason, _properties: answers.append(reason)
    try:
        probe.connect(host, port)
        deadline = time.monotonic() + TIMEOUT_S
        while not answers and time.monotonic() < deadline:
            if (problem := probe.loop(POLL_S)) and not answers:
                return mqtt.error_string(problem)
    except OSError as error:  # ssl.SSLError and TimeoutError are OSErrors
        return str(error) or type(error).__name__
    finally:
        probe.disconnect()
    if not answers:
        return "does not answer"
    return f"refused the connection: {answers[0]}" if answers[0].is_failure else None


# The death signal is set only after the fork. If this process died in between, the child has another parent by now.
CHECK_PARENT: Final = '[ "$PPID" = "$0" ] || exit 111; exec "$@"'


class ChildProcess:
    """A running child process. Its output is appended to `log`, and it inherits the file descriptors in `keep`."""

    def __init__(self, command: Sequence[str], *, log: Path, keep: Sequence[int] = ()) -> None:
        """Start the command. Raises ProgramMissing, and OSError or ValueError if it cannot be run or logged."""
        self._command = [find_setpriv(), "--pdeathsig", "KILL", "sh", "-c", CHECK_PARENT, str(os.getpid()), *command]
        self._log = log
        self._keep = tuple(keep)
        self._process: subprocess.Popen[bytes] | None = None
        self._failure: OSError | ValueError | None = None
        self._begun = threading.Event()
        self._ended = threading.Event()
        threading.Thread(target=self._run, name=f"child process {Path(command[0]).name}", daemon=True).start()
        self._begun.wait()
        if self._failure:
            raise self._failure

    @property
    def pid(self) -> int:
        """The process id, even after the process has ended."""
        return self._running_or_ended().pid

    def running(self) -> bool:
        """Return whether the process has not ended."""
        return not self._ended.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait up to so many seconds for the process to end; return whether it has."""
        return self._ended.wait(seconds)

    def terminate(self) -> None:
        """Ask the process to end (SIGTERM)."""
        self._running_or_ended().terminate()

    def kill(self) -> None:
        """End the process (SIGKILL) and return when it has ended."""
        self._running_or_ended().kill()
        self._ended.wait()

    def _running_or_ended(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError("the constructor did not return")
        return self._process

    def _run(self) -> None:
        try:
            self._process = self._start()
        except (OSError, ValueError) as error:
            self._failure = error
        finally:
            self._begun.set()
        if self._process is not None:
            self._process.wait()
        self._ended.set()

    def _start(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=self._keep,
                # Ctrl-C at the terminal must reach only us; we then end the child ourselves.
                start_new_session=True,
            )


def find_setpriv() -> str:
    """Return the path of setpriv, which sets the death signal. Raises ProgramMissing."""
    found = shutil.which("setpriv")
    if found is None:
        raise ProgramMissing("setpriv is not installed: it comes with Debian's package util-linux")
    return found


READY_S: Final = 60.0  # for a busy machine, a slow card with a large store, or nodes still connecting
STOP_S: Final = 10.0
LOCK_S: Final = 3.0  # a broker whose parent was killed takes a moment to end
POLL_S: Final = 0.02
TRIES: Final = 20
PORTS: Final = range(20_000, 32_768)  # below Linux's ephemeral ports, so a retrying client cannot connect to itself
LOG_BYTES: Final = 4_000_000
TAIL_LINES: Final = 12
ANY_ADDRESS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - looked up, not bound


def start_on_port(wanted: int, start: Callable[[int], None]) -> None:
    """Call `start` with the port `wanted`, or if that is 0, with a free port. Raises BrokerPortTaken."""
    for tries_left in reversed(range(TRIES)):
        try:
            start(wanted or SystemRandom().choice(PORTS))
        except BrokerPortTaken:
            if wanted or not tries_left:
                raise
        else:
            return


class Broker(ABC):
    """A broker running as a child process, which ends when this process ends, however it ends.

    As a context manager, it starts on entering and stops on leaving. Not thread-safe.
    """

    name: str

    def __init__(self, settings: MqttBrokerSettings, *, ready_s: float = READY_S) -> None:
        self._settings = settings
        self._ready_s = ready_s
        self._port = settings.port
        self._stamp: object = None
        """State of the certificates and halls that the broker has loaded."""
        self._child: ChildProcess | None = None

    @abstractmethod
    def _command(self, port: int) -> list[str]:
        """Write the configuration and return the command line. Raises ProgramMissing."""

    @property
    def host(self) -> str:
        """Address that clients on this machine connect to."""
        return ANY_ADDRESS.get(self._settings.host, self._settings.host)

    @property
    def port(self) -> int:
        """TCP port of the MQTT listener; before the first start, the port in the settings."""
        return self._port

    @property
    def pid(self) -> int | None:
        """Process id of the broker; None if it is not running."""
        return self._child.pid if self._child and self._child.running() else None

    @property
    def log(self) -> Path:
        """The file to which the broker's output goes."""
        return self._settings.folder / f"{self.name}.log"

    def alive(self) -> bool:
        """Return whether the process runs."""
        return self.pid is not None

    def check(self) -> None:
        """Raise BrokerDied if the process has ended by itself. Reload it if certificates or halls have changed.

        A reload disconnects clients that are no longer accepted.
        """
        if self._child is not None and not self._child.running():
            raise BrokerDied(f"{self.name} ended; its log is {self.log}")
        if self._certificates_stamp() != self._stamp and self.pid is not None:
            self._reload(self.pid)

    def _reload(self, pid: int) -> bool:
        """Make the broker reload its configuration, which disconnects only clients that are no longer accepted.

        Return whether it was signalled. If the configuration cannot be written (full disk), or the broker has just
        ended, the next check tries again.
        """
        before, self._stamp = self._stamp, self._certificates_stamp()
        try:
            self._command(self._port)
            os.kill(pid, signal.SIGHUP)
        except OSError:
            self._stamp = before
            return False
        return True

    def _certificates_stamp(self) -> object:
        certificates = self._settings.certificates
        return (certificates.stamp if certificates else None), self._settings.halls()

    def start(self) -> None:
        """Start, and return once a client with real credentials is accepted. A running broker is left alone.

        A restart uses the same port and the same store. Raises ProgramMissing, BrokerPortTaken, StoreLocked,
        BrokerStartFailed, NotReady.
        """
        if self.alive():
            return
        configured = self._port
        try:
            start_on_port(configured, lambda port: self.spawn(port)())
        except BrokerPortTaken:
            self._port = configured
            raise

    def stop(self) -> None:
        """Stop the broker cleanly, or by force after `STOP_S`; may be called twice."""
        if self._child is None:
            return
        self._child.terminate()
        if not self._child.wait(STOP_S):
            self._child.kill()
        self._child = None

    def kill(self) -> None:
        """End the broker with SIGKILL, like a power cut (fault injection)."""
        if self._child is not None:
            self._child.kill()
        self._child = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def spawn(self, port: int) -> Callable[[], None]:
        """Start the process; return a function that waits until clients are accepted. Both raise as `start`."""
        self._settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _locked(self._settings.folder) as lock:
            self._stamp = self._certificates_stamp()
            command = self._command(port)
            _refuse_taken(self._settings.host, port)
            log_start = _rotate_log(self.log)
            self._child = child = ChildProcess(command, log=self.log, keep=(lock,))
        self._port = port

        def ready() -> None:
            try:
                self._wait_until_ready(child, port, log_start)
            except BaseException:
                child.kill()  # the next check notices that it has ended
                raise

        return ready

    def _wait_until_ready(self, child: ChildProcess, port: int, log_start: int) -> None:
        deadline = time.monotonic() + self._ready_s
        while why := self._probe(port):
            if child.wait(POLL_S):
                raise self._ended(port, log_start)
            if time.monotonic() > deadline:
                output = _tail(self.log, log_start)
                raise NotReady(f"{self.name} {why} for {self._ready_s:g} s; its log:\n{output}")
        if not child.running():  # then another program's broker answered
            raise self._ended(port, log_start)

    def _probe(self, port: int) -> str | None:
        settings, role = self._settings, PROBER
        if settings.certificates is None:
            return probe_broker(self.host, port, (role, settings.credentials.password(role)))
        context = event_context(settings.certificates.authority, settings.certificates.office(role))
        return probe_broker(self.host, port, context=context)

    def _ended(self, port: int, log_start: int) -> BrokerPortTaken | BrokerStartFailed:
        output = _tail(self.log, log_start)
        if "address already in use" in output.lower():
            return BrokerPortTaken(f"{self.host} port {port} is taken; the log of {self.name}:\n{output}")
        return BrokerStartFailed(f"{self.name} ended by itself; its log:\n{output}")


@contextmanager
def _locked(folder: Path) -> Iterator[int]:
    """Hold the folder's lock. The child inherits it, so the lock is released exactly when the child has ended."""
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
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as brokers do, to need no wait after a restart
        try:
            trial.bind((host, port))
        except OSError as error:
            raise BrokerPortTaken(f"cannot listen on {host} port {port}: {error.strerror}") from None


def _rotate_log(log: Path) -> int:
    """Return the length of the log in bytes, after renaming a log of `LOG_BYTES` or more to `.1`."""
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
