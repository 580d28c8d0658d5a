"""The ports of a scorer that takes over: held while it stands by, and waited for where the desk's cannot be had."""

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
"""Between two tries to get a port that another program has."""

WHO: Final = "sudo ss -ltnp shows which program has it, unless that is the standby of another event"

Lend = Callable[[], AbstractContextManager[None]]
"""Lets a server of ours have its port meanwhile."""


class HeldPort(Closing):
    """A port on which no other program can listen, nor can be connected to, until a server of ours has it."""

    def __init__(self, host: str, port: int) -> None:
        """Raises OSError if another program has it."""
        self._socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        try:
            self._share(1)  # as servers do: connections of one that has ended are no reason to wait
            self._socket.bind((host, port))
            self._share(0)
        except OSError:
            self.close()
            raise

    def _share(self, shared: int) -> None:
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, shared)

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Let a server of ours listen on it meanwhile."""
        self._share(1)
        try:
            yield
        finally:
            self._share(0)

    def close(self) -> None:
        """Let others have it; may be called twice."""
        self._socket.close()


def hold_port(host: str, port: int, codes: tuple[str, str], stop: Stop, running: ExitStack) -> HeldPort | None:
    """Hold a port until `running` is closed, as soon as it can be had; None if told to stop.

    `codes`: of the errors that a server would raise where another program has it, and where it cannot listen there.
    """
    told = ""
    while not stop.is_set():
        try:
            return running.enter_context(HeldPort(host, port))
        except OSError as why:
            code, hint = (codes[0], f" ({WHO})") if why.errno == errno.EADDRINUSE else (codes[1], "")
            if (text := f"{code}: {host} port {port}: {why.strerror}") != told:
                click.echo(f"Standby: {text}: this machine stands by only when it has the port{hint}")
            told = text
        stop.wait(PAUSE_S)
    return None


class DeskOpening:
    """Opens the desk. A scorer that has taken over goes on without one while it cannot listen there."""

    def __init__(self, start: Callable[[], None], report: Callable[[Concern], None], *, patient: bool) -> None:
        """`start` raises DeskPortTaken, AddressRefused; `patient`: whether it is tried again then."""
        self._start, self._report, self._patient = start, report, patient
        self._open, self._told = False, ""
        self._again_at = 0.0

    def look(self) -> None:
        """Open it if it is not open, and that is due. Raises DeskPortTaken, AddressRefused, unless patient."""
        if self._open or (now := time.monotonic()) < self._again_at:
            return
        try:
            self._start()
            self._open = True
        except (errors.DeskPortTaken, errors.AddressRefused) as why:
            if not self._patient:
                raise
            self._again_at = now + PAUSE_S
            if self._told != why.code:
                hint = f" ({WHO})" if isinstance(why, errors.DeskPortTaken) else ""
                click.echo(f"No desk yet: {why.code}: {why.strerror}: results are stored all the same{hint}")
                self._report(Concern(why.code))
            self._told = why.code
