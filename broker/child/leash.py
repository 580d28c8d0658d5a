"""A child process that ends when this process does, even by kill -9: no broker is left over to hold a port.

Linux kills the child when the *thread* that started it ends (prctl PR_SET_PDEATHSIG), so each child is started
from a thread of its own that lives exactly as long.
"""

import os
import shutil
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from broker.errors import ProgramMissing

# The signal is armed only after the fork. Had this process died in between, the child's parent is another by now.
STILL_OURS: Final = '[ "$PPID" = "$0" ] || exit 111; exec "$@"'


class Leashed:
    """A running child process. Its output is appended to `log`; it inherits the open files `keep`."""

    def __init__(self, command: Sequence[str], *, log: Path, keep: Sequence[int] = ()) -> None:
        """Start the command. Raises ProgramMissing, and OSError or ValueError where it cannot be run or logged."""
        self._command = [setpriv(), "--pdeathsig", "KILL", "sh", "-c", STILL_OURS, str(os.getpid()), *command]
        self._log = log
        self._keep = tuple(keep)
        self._process: subprocess.Popen[bytes] | None = None
        self._failure: OSError | ValueError | None = None
        self._begun = threading.Event()
        self._ended = threading.Event()
        threading.Thread(target=self._live, name=f"leash of {Path(command[0]).name}", daemon=True).start()
        self._begun.wait()
        if self._failure:
            raise self._failure

    @property
    def pid(self) -> int:
        """Process id, also after the end."""
        return self._running_or_ended().pid

    def running(self) -> bool:
        """Tell whether the process has not ended."""
        return not self._ended.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end; tell whether it came."""
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

    def _live(self) -> None:
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
                # Ctrl-C at the terminal is for us; we then end the child in our own order.
                start_new_session=True,
            )


def setpriv() -> str:
    """Find the program that arms the signal. Raises ProgramMissing."""
    found = shutil.which("setpriv")
    if found is None:
        raise ProgramMissing("setpriv is not installed: it comes with Debian's package util-linux")
    return found
