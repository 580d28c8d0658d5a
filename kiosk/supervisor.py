"""A small process around a table's program. It shows a message while the program cannot start, has ended or hangs.

It then restarts the program in the table's current version. This process comes from the apt package, and no upgrade
replaces it. Only one process at a time can own the screen or the pins, so the program asks for each before opening it
(`SupervisorLine`). Until then, presses of buttons on pins are kept, as a button box keeps its own, and handed over with
the pins. Nothing shown reveals a press: the message depends only on why the program ended.
"""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from broker.daemon import ServiceNotifier, stop_on_signals
from broker.logs import get_logger
from broker.upgrade.start import FAILURES_ENV
from firmware.reports import Held, Pressed, Released, Report, Seat
from kiosk.config import device_basics

if TYPE_CHECKING:
    from firmware.button_addresses import OpenedButtons
    from kiosk.screens import ScreenWindow

log = get_logger("homologue.kiosk")

LINE: Final = "HOMOLOGUE_SUPERVISOR"
"""Environment variable with the file descriptor of the program's end of the line."""

HANGS: Final = "program_hangs"
ENDED: Final = "program_ended"
CHANGES: Final = "upgrade_begins"

START_S: Final = 180.0
"""How long a program may take until its loop runs: a week's journal on a slow card takes time to read."""

SILENT_S: Final = 30.0
"""A loop that is silent for so long hangs."""

PAUSE_S: Final = 3.0
LONGEST_PAUSE_S: Final = 60.0
"""Pause before a restart. It doubles with each failure in a row, up to the longest pause."""

ROUND_S: Final = 0.05

MOST_PRESSES: Final = 1000
"""Most presses to keep, as many as fit into one message; beyond that somebody is playing with a button."""

LONGEST_MESSAGE: Final = 65_536

Press = Pressed | Released | Held

_KINDS: Final[dict[str, type[Press]]] = {kind.__name__: kind for kind in (Pressed, Released, Held)}


class SupervisorLine:
    """The program's line to its supervisor. Without a supervisor, requests do nothing, and no presses were kept."""

    def __init__(self) -> None:
        number = os.environ.pop(LINE, "")
        self._line = socket.socket(fileno=int(number)) if number else None
        if self._line is not None:
            self._line.settimeout(5.0)

    def take_screen(self) -> None:
        """Wait until the supervisor has released the screen."""
        self._ask(b"screen")

    def take_buttons(self) -> list[Press]:
        """Take over the pins; return the presses that the supervisor has kept."""
        presses = msgspec.json.decode(self._ask(b"buttons") or b"[]", type=list[tuple[str, Seat, int]])
        return [_KINDS[kind](seat, at) for kind, seat, at in presses]

    def confirm_presses(self) -> None:
        """Confirm that the kept presses are in the journal."""
        self._ask(b"kept")

    def failed(self, code: str) -> None:
        """Report why the program is ending, so that it is restarted."""
        self._ask(f"failed {code}".encode())

    def _ask(self, request: bytes) -> bytes:
        if self._line is None:
            return b""
        try:
            self._line.send(request)
            return self._line.recv(LONGEST_MESSAGE)
        except OSError as error:  # without a supervisor, nobody else holds the screen or pins
            log.warning("supervisor_silent", why=str(error))
            return b""


class _Program:
    """One run of the program."""

    def __init__(self, command: Sequence[str], failures: int) -> None:
        self.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pulse = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        address = f"homologue-kiosk-{os.getpid()}-{id(self)}"
        self.pulse.bind("\0" + address)
        environment = {LINE: str(theirs.fileno()), "NOTIFY_SOCKET": "@" + address, FAILURES_ENV: str(failures)}
        with theirs:
            self.process = subprocess.Popen(command, env=os.environ | environment, pass_fds=[theirs.fileno()])
        self.began = time.monotonic()
        self._heard_by = self.began + START_S

    def read_request(self) -> bytes:
        """Return the program's request, or b"" if none arrives within a short wait."""
        ready, _, _ = select.select([self.line, self.pulse], [], [], ROUND_S)
        if self.pulse in ready:
            self.pulse.recv(64)
            self._heard_by = time.monotonic() + SILENT_S
        request = self.line.recv(256) if self.line in ready else b""
        if self.line in ready and not request:  # the program is ending: its end of the line is closed
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(ROUND_S)
        return request

    @property
    def hangs(self) -> bool:
        """Whether the program's loop has been silent for too long."""
        return time.monotonic() > self._heard_by

    def end(self, number: int, patience_s: float) -> None:
        """Send the program a signal, and kill it if it does not end."""
        self.process.send_signal(number)
        try:
            self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def close(self) -> None:
        """Close the sockets."""
        self.line.close()
        self.pulse.close()


class Supervisor:
    """Keeps the program of one configuration running."""

    def __init__(
        self,
        config: Path,
        command: Sequence[str],
        stop: threading.Event,
        picture: Path | None = None,
        open_pins: "Callable[[str, Callable[[Report], None]], OpenedButtons] | None" = None,
    ) -> None:
        self._config, self._command, self._stop, self._picture = config, command, stop, picture
        self._open_pins = open_pins or _open_pins
        self._presses: list[Press] = []
        self._pins: OpenedButtons | None = None
        self._window: ScreenWindow | None = None
        self._why, self._failures = ENDED, 0
        self._service = ServiceNotifier()

    def run(self) -> None:
        """Run until told to stop, or until somebody closes the program's window."""
        try:
            while not self._stop.is_set() and not self._run_once():
                self._failures += 1
                log.error(self._why, failures=self._failures)
                self._stand_in()
                until = time.monotonic() + min(PAUSE_S * 2.0 ** min(self._failures - 1, 10), LONGEST_PAUSE_S)
                while not self._stop.is_set() and time.monotonic() < until:
                    self._stop.wait(ROUND_S)
                    self._keep_alive()
        finally:
            self._release_screen()
            self._release_pins()

    def _run_once(self) -> bool:
        """Run the program until it ends; return whether that was intended."""
        program, self._why = _Program(self._command, self._failures), ENDED
        try:
            while program.process.poll() is None:
                if request := program.read_request():
                    program.line.send(self._answer(request.decode()))
                if self._stop.is_set():
                    program.end(signal.SIGTERM, 12.0)
                elif program.hangs:
                    self._why = HANGS
                    program.end(signal.SIGABRT, 5.0)  # makes it log where it hangs
                self._keep_alive()
            while program.line in select.select([program.line], [], [], 0)[0] and (last := program.line.recv(256)):
                self._answer(last.decode())
        except (BrokenPipeError, ConnectionResetError):
            program.process.wait()
        finally:
            program.close()
        if time.monotonic() > program.began + LONGEST_PAUSE_S:
            self._failures = 0
        return self._stop.is_set() or (program.process.returncode == 0 and self._why == ENDED)

    def _answer(self, request: str) -> bytes:
        what, _, code = request.partition(" ")
        match what:
            case "screen":
                self._release_screen()
            case "buttons":
                self._release_pins()
                return msgspec.json.encode([(type(one).__name__, one.seat, one.at) for one in self._presses])
            case "kept":
                self._presses.clear()
            case "failed":
                self._why = code
        return b"-"

    def _keep_alive(self) -> None:
        """Notify systemd; stop if somebody has closed the window."""
        self._service.alive()
        if self._window is not None and "quit" in {*self._window.pressed()}:
            self._stop.set()

    # ---- standing in for the program --------------------------------------------------------------

    def _stand_in(self) -> None:
        """Open the pins and the screen, as far as possible. The message on the console is written in any case."""
        _write_on_console()
        basics = device_basics(self._config)
        buttons = basics.devices.buttons
        if self._pins is None and buttons.startswith("gpio:"):
            try:
                self._pins = self._open_pins(buttons, self._keep_press)
            except Exception as error:  # noqa: BLE001 - whatever the error, the screen must come
                log.warning("pins_not_kept", why=str(error))
        try:
            from kiosk.screens import ScreenWindow, stopped_view, translator  # noqa: PLC0415 - its libraries load slowly

            if self._window is None:
                self._window = ScreenWindow(basics.screen, translator(basics.language))
            presses_kept = self._pins is not None or buttons.startswith("box:")
            self._window.show(stopped_view(basics.table, self._why, self._failures, presses_kept=presses_kept))
            if self._picture:
                self._window.picture(str(self._picture))
        except Exception as error:  # noqa: BLE001 - the console, the log and a restart remain
            log.warning("words_not_shown", why=str(error))

    def _keep_press(self, report: Report) -> None:
        if isinstance(report, Press) and len(self._presses) < MOST_PRESSES:
            self._presses.append(report)

    def _release_pins(self) -> None:
        if self._pins is not None:
            self._pins.buttons.close()
            self._pins = None

    def _release_screen(self) -> None:
        if self._window is not None:
            self._window.close()
            self._window = None


def _open_pins(address: str, tell: Callable[[Report], None]) -> "OpenedButtons":
    from firmware.button_addresses import open_buttons  # noqa: PLC0415 - only while the program is down

    return open_buttons(address, tell)


def run_supervised(config: Path, picture: Path | None = None) -> None:
    """Keep the program of a configuration running until this process is told to end."""
    stop = stop_on_signals()
    shown = ["--picture", str(picture)] if picture else []
    command = [sys.executable, "-I", "-m", "broker.upgrade.start", "kiosk", str(config), *shown]
    Supervisor(config, command, stop, picture).run()


def _write_on_console() -> None:
    """Write the message that shows while no window is open, if the screen is a console."""
    with suppress(OSError):
        if os.isatty(0):
            os.write(0, b"\033[2J\033[H\r\n\r\n  Homologue starts again. Stay seated: nothing is lost.\r\n")
