"""A table in a container: the built packages and their units under Debian's own systemd, ready within minutes.

It has no kernel of its own, so screen, buttons and camera are simulated.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from tests.lab.image import SUITE, newest_debs
from tests.lab.machine import COMES_UP_S, COMMAND_S, CONSOLE_TAIL, Answer, Machine, MachineError
from tests.lab.outside import LabHall, Outside
from tests.lab.report import Report
from tests.lab.table import UNIT, LabTable

AS_ROOT: Final = [] if os.geteuid() == 0 else ["sudo", "-n"]
INSTALL: Final = "homologue install table --hostname table-3"
CONFIG: Final = "/etc/homologue/table.toml"
LOOPBACK: Final = "127.0.0.1"
"""The scorer's address: the container shares this machine's network."""

SIMULATED: Final = (
    r's#^buttons = .*#buttons = "sim://buttons"#; s#^camera = .*#camera = "sim://tray"#; '
    r"/^\(driver\|fullscreen\|backlight\) /d"
)
NO_CONSOLE: Final = """[Service]
Environment=SDL_VIDEODRIVER=dummy
StandardInput=null
TTYPath=
TTYReset=no
TTYVHangup=no
TTYVTDisallocate=no
"""


@contextmanager
def started(root: Path, console: IO[str] | int = subprocess.PIPE) -> Iterator[subprocess.Popen[str]]:
    """Start the machine with its files in `root`; it is off when the block ends."""
    command = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", f"--directory={root}", "--boot"]
    modern = {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}
    with subprocess.Popen(
        [*AS_ROOT, *command], stdout=console, stderr=subprocess.STDOUT, text=True, env={**os.environ, **modern}
    ) as running:
        try:
            yield running
        finally:
            running.terminate()
            running.communicate()


class Container(Machine):
    """A running container, controlled from outside."""

    def __init__(self, running: subprocess.Popen[str], console: Path) -> None:
        self._running, self._console = running, console

    def run(self, command: str, given: bytes = b"", limit_s: float = COMMAND_S) -> Answer:
        """Run a command in it, as root."""
        enter = ["nsenter", "-t", self._init(), "-m", "-u", "-i", "-p", "-C", "env", "-i", "sh", "-lc", command]
        done = subprocess.run(
            [*AS_ROOT, *enter],
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit_s,
            check=False,
        )
        return Answer(done.returncode, done.stdout.decode(errors="replace"))

    def wait_until_up(self) -> None:
        """Wait until its units have started or failed."""
        up = "systemctl is-system-running | grep -qE 'running|degraded'"
        self.wait_for("the container to come up", lambda: self._init() and not self.run(up).status, COMES_UP_S)

    def failure(self, what: str) -> MachineError:
        """Return an error with the end of the console's output."""
        said = self._console.read_text(encoding="utf-8", errors="replace").splitlines()
        return MachineError("\n".join((what, "--- the console:", *said[-CONSOLE_TAIL:])))

    def _init(self) -> str:
        """Return the process id of its systemd on this machine; None before it has started.

        Raises MachineError if the container has exited.
        """
        if self._running.poll() is not None:
            raise self.failure(f"the container ended ({self._running.returncode})")
        below = [str(self._running.pid)]
        for pid in below:
            below += Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        for pid in below:
            status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
            if "\nNSpid:\t" in status and status.partition("\nNSpid:\t")[2].partition("\n")[0].split()[1:] == ["1"]:
                return pid
        return ""


def make_root(folder: Path) -> Path:
    """Return the root of a machine that was never started, with a table's packages installed as a person would."""
    root, debs = folder / "root", newest_debs()
    install = f"apt-get install -qq -y --no-install-recommends {' '.join(f'/srv/{deb.name}' for deb in debs)}"
    hooks = (f"copy-in {' '.join(map(str, debs))} /srv", f'chroot "$1" {install}')
    debian = ["mmdebstrap", "--mode=root", "--variant=minbase", "--include=systemd-sysv,udev,dbus"]
    hooked = [f"--customize-hook={hook}" for hook in hooks]
    subprocess.run([*AS_ROOT, *debian, *hooked, SUITE, root], check=True, capture_output=True)
    return root


@contextmanager
def contained_table(folder: Path, hall: LabHall, report: Report) -> Iterator[LabTable]:
    """Yield a table of an event whose scorer is at `LOOPBACK`: it is paired, and waits for its first deal."""
    root, said = make_root(folder), folder / "console.log"
    try:
        with said.open("w", encoding="utf-8") as console, started(root, console) as running:
            table = LabTable(Container(running, said), Outside(hall))
            with report.check("the packages install on Debian, and the table's program runs"):
                _set_up(table)
            with report.check("it is paired by a command, and waits for its first deal"):
                code = hall.pairing_code(table.outside.number)
                pair = f"homologue table pair {CONFIG} {hall.desk_address} --code {code}"
                table.machine.must(f"runuser -u homologue-kiosk -- {pair}; systemctl restart {UNIT}")
                table.in_state("restoring")
            yield table
    finally:
        subprocess.run([*AS_ROOT, "rm", "-rf", "--one-file-system", root], check=True)


def _set_up(table: LabTable) -> None:
    """Install the packages, twice, and configure simulated devices."""
    machine = table.machine
    machine.wait_until_up()
    machine.must(INSTALL)
    again = machine.must(INSTALL)
    assert again == "Nothing to do.", again
    machine.put(f"/etc/systemd/system/{UNIT}.d/lab.conf", NO_CONSOLE.encode())
    machine.must(f"sed -i '{SIMULATED}' {CONFIG}; systemctl daemon-reload; systemctl restart {UNIT}")
    table.wait_for_kiosk()
