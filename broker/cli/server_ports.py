"""The ports of a scorer that may take over: held while it stands by, and tried again if the desk's is not free."""

import errno
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import Event as Stop
from typing import Final

import click

from broker.closing import Closing
from broker.scorer.alerts import Concern
from broker.web import errors

PAUSE_S: Final = 1.0
"""Seconds between two attempts to get a port that is taken."""

PORT_HINT: Final = "sudo ss -ltnp shows which program has it, unless that is the standby of another event"

PortLease = Callable[[], AbstractContextManager[None]]
"""Returns a context manager in which a server of ours may use its port."""


class HeldPort(Closing):
    """A port that is bound but not listened on, so that no other program can take it before a server of ours does."""

    def __init__(self, host: str, port: int) -> None:
        """Raises OSError if another program has it."""
        self._socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        try:
            self._share(1)  # as servers do, so that connections of one that has ended do not block it
            self._socket.bind((host, port))
            self._share(0)
        except OSError:
            self.close()
            raise

    def _share(self, shared: int) -> None:
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, shared)

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Let a server of ours listen on the port during the block."""
        self._share(1)
        try:
            yield
        finally:
            self._share(0)

    def close(self) -> None:
        """Release the port. May be called twice."""
        self._socket.close()


def hold_port(host: str, port: int, codes: tuple[str, str], stop: Stop, running: ExitStack) -> HeldPort | None:
    """Wait for a port, and hold it until `running` is closed. Return None if `stop` is set first.

    `codes`: those of the errors that a server raises if another program has the port, and if it cannot listen there.
    """
    reported = ""
    while not stop.is_set():
        try:
            return running.enter_context(HeldPort(host, port))
        except OSError as why:
            code, hint = (codes[0], f" ({PORT_HINT})") if why.errno == errno.EADDRINUSE else (codes[1], "")
            if (text := f"{code}: {host} port {port}: {why.strerror}") != reported:
                click.echo(f"Standby: {text}: this machine stands by only when it has the port{hint}")
            reported = text
        stop.wait(PAUSE_S)
    return None


class DeskOpening:
    """Opens the desk. A scorer that has taken over runs without a desk until it can listen on its port."""

    def __init__(self, start: Callable[[], None], report: Callable[[Concern], None], *, patient: bool) -> None:
        """`start` may raise DeskPortTaken or AddressRefused. If `patient`, it is then tried again."""
        self._start, self._report, self._patient = start, report, patient
        self._open, self._reported = False, ""
        self._again_at = 0.0

    def try_open(self) -> None:
        """Open the desk if it is not open and it is time. Raises DeskPortTaken, AddressRefused unless patient."""
        if self._open or (now := time.monotonic()) < self._again_at:
            return
        try:
            self._start()
            self._open = True
        except (errors.DeskPortTaken, errors.AddressRefused) as why:
            if not self._patient:
                raise
            self._again_at = now + PAUSE_S
            if self._reported != why.code:
                hint = f" ({PORT_HINT})" if isinstance(why, errors.DeskPortTaken) else ""
                click.echo(f"No desk yet: {why.code}: {why.strerror}. Results are stored nevertheless{hint}")
                self._report(Concern(why.code))
            self._reported = why.code
