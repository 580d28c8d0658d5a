"""The demo's processes: scorer and kiosks, started like on a real system, and stopped by process id."""

import re
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from broker.mqtt import find_setpriv

COMMAND: Final = Path(sys.executable).with_name("homologue")

STOP_S: Final = 8.0

Echo = Callable[[str, str], None]
"""Called with the process's name and a line of its output."""


class DemoProcess:
    """One process whose output is read line by line."""

    def __init__(self, name: str, arguments: list[str], echo: Echo, program: Sequence[str] = (str(COMMAND),)) -> None:
        """Start the process. `program`: run instead of the command, for callers that wrap it."""
        self.name, self._echo = name, echo
        self._seen: list[str] = []
        self._all_seen = False
        self._changed = threading.Condition()
        self._process = subprocess.Popen(
            # It ends with us, even if we are killed. (The signal is sent when the thread that started it ends: our
            # first.)
            [find_setpriv(), "--pdeathsig", "TERM", *program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self._reader = threading.Thread(target=self._read, daemon=True, name=f"lines of {name}")
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            with self._changed:
                self._seen.append(line.rstrip())
                self._changed.notify_all()
            self._echo(self.name, line.rstrip())
        with self._changed:
            self._all_seen = True
            self._changed.notify_all()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code; None while the process runs."""
        return self._process.poll()

    def wait_for(self, pattern: str, timeout: float) -> str:
        """Wait for a line that matches, and return the first group or the whole match. Raises TimeoutError."""

        def found() -> re.Match[str] | None:
            return next((match for line in self._seen if (match := re.search(pattern, line))), None)

        with self._changed:
            self._changed.wait_for(lambda: found() or self._all_seen, timeout)
            match = found()
        if match is None:
            raise TimeoutError(f"{self.name} did not say {pattern!r}: {self._seen[-5:]}")
        return match[1] if match.lastindex else match[0]

    def wait(self, timeout: float) -> int:
        """Wait for the process to end and return its exit code. Raises TimeoutExpired."""
        code = self._process.wait(timeout)
        self._reader.join(timeout)
        return code

    def kill(self) -> None:
        """Kill the process with SIGKILL, as a power cut would."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """Stop the process in an orderly way. May be called twice."""
        if self.exit_code is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self.kill()
        self._reader.join(STOP_S)
        if self._process.stdout:
            self._process.stdout.close()
