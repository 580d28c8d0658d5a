"""One machine of the laboratory: qemu without KVM, its screen, keys and power, and a way to run commands in it."""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import cv2
import numpy as np

from broker.mqtt.process import find_setpriv
from vision.geometry import Picture

COMES_UP_S: Final = 3600.0
"""Generous, for an emulator on two shared cores."""

COMMAND_S: Final = 900.0
LOOK_S: Final = 1.0
"""Seconds between two checks of a machine, so that they do not slow it down."""

MEMORY_MB: Final = 1024
PROCESSOR: Final = "max,avx2=off"
"""qemu 7.2 emulates AVX2 wrongly: numpy's argpartition crashes, as on no real processor."""

TIME: Final = ("-icount", "shift=1,sleep=on")
"""One instruction takes two nanoseconds of the machine's time, however slow the emulator is: seen from inside, the
machine is as fast as a small Pi and never pauses. While it is idle, its time is real time."""

CONSOLE_TAIL: Final = 60

KEY_NAMES: Final = {".": "dot", "-": "minus", ":": "shift-semicolon", "enter": "ret", "back": "backspace"}
"""qemu's names for the keys of an American keyboard."""


class MachineError(AssertionError):
    """A machine failed a check; the message ends with the end of its console."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A command's exit status and output."""

    status: int
    output: str


class JsonLines:
    """Exchanges JSON, one value per line, over a UNIX socket."""

    def __init__(self, path: Path, patience_s: float) -> None:
        """Connect as soon as a server listens there."""
        deadline = time.monotonic() + patience_s
        pause = threading.Event()
        while True:
            self._socket = socket.socket(socket.AF_UNIX)
            try:
                self._socket.connect(str(path))
            except (FileNotFoundError, ConnectionRefusedError):
                self._socket.close()
                if time.monotonic() > deadline:
                    raise
                pause.wait(0.05)
            else:
                break
        self._pending = b""

    def send(self, value: object) -> None:
        """Send one value."""
        self._socket.settimeout(COMMAND_S)
        self._socket.sendall(json.dumps(value).encode() + b"\n")

    def receive(self, patience_s: float) -> dict[str, Any]:
        """Return the next value. Raises TimeoutError, EOFError."""
        deadline = time.monotonic() + patience_s
        while b"\n" not in self._pending:
            self._socket.settimeout(max(0.01, deadline - time.monotonic()))
            piece = self._socket.recv(1 << 20)
            if not piece:
                raise EOFError
            self._pending += piece
        line, _, self._pending = self._pending.partition(b"\n")
        value: dict[str, Any] = json.loads(line)
        return value

    def close(self) -> None:
        """Close the connection; may be called twice."""
        self._socket.close()


class Monitor:
    """qemu's interface for controlling a machine from outside (QMP)."""

    def __init__(self, lines: JsonLines) -> None:
        """Connect, and skip events that qemu sends meanwhile."""
        self._lines = lines
        lines.receive(COMMAND_S)
        self.execute("qmp_capabilities")

    def execute(self, command: str, **arguments: object) -> Any:  # noqa: ANN401 - each command has its own result
        """Execute one command and return its result. Raises MachineError."""
        self._lines.send({"execute": command, "arguments": arguments})
        while "return" not in (told := self._lines.receive(COMMAND_S)):
            if "error" in told:
                raise MachineError(f"{command}: {told['error']['desc']}")
        return told["return"]

    def human(self, line: str) -> str:
        """Execute a line of qemu's older monitor, for which the newer one has no command."""
        return str(self.execute("human-monitor-command", **{"command-line": line}))

    def close(self) -> None:
        """Close the connection."""
        self._lines.close()


class Machine:
    """One machine. Its disk is a layer over an image, and all that it writes stays in its own folder.

    `start` and `cut` may be called repeatedly; the disk keeps its content.
    """

    def __init__(self, folder: Path, disk: Path, kernel: Path, initrd: Path) -> None:
        """`folder`: for its disk and console. `disk`: the image below, which is never written."""
        self.folder, self._kernel, self._initrd = folder, kernel, initrd
        folder.mkdir(parents=True, exist_ok=True)
        self._disk, self._console = folder / "disk.qcow2", folder / "console.log"
        if not self._disk.exists():
            layer = ["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", str(disk.resolve()), str(self._disk)]
            subprocess.run(layer, check=True)
        self._sockets = Path(tempfile.mkdtemp(prefix="lab-"))  # a socket's path has at most 108 characters
        self._process: subprocess.Popen[bytes] | None = None
        self._monitor: Monitor | None = None
        self._agent: JsonLines | None = None
        self._asked = 0

    def start(self) -> None:
        """Switch it on."""
        arguments = [
            "qemu-system-x86_64", "-accel", "tcg,thread=single", *TIME, "-cpu", PROCESSOR, "-smp", "1",
            "-m", str(MEMORY_MB), "-display", "none", "-vga", "none", "-device", "virtio-gpu-pci,xres=800,yres=480",
            "-device", "virtio-keyboard-pci", "-chardev", f"file,id=console,path={self._console},append=on",
            "-serial", "chardev:console", "-qmp", f"unix:{self._sockets}/monitor,server=on,wait=off",
            "-device", "virtio-serial-pci,id=serial",
            "-chardev", f"socket,id=agent,path={self._sockets}/agent,server=on,wait=off",
            "-device", "virtserialport,bus=serial.0,chardev=agent,name=lab.agent",
            "-device", "i6300esb", "-action", "watchdog=reset",
            "-netdev", "user,id=net0", "-device", "virtio-net-pci,netdev=net0,romfile=",
            "-drive", f"file={self._disk},format=qcow2,if=virtio,cache=writeback",
            "-kernel", str(self._kernel), "-initrd", str(self._initrd),
            "-append", "root=/dev/vda rw console=tty0 console=ttyS0 quiet loglevel=4 vt.global_cursor_default=0",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            [find_setpriv(), "--pdeathsig", "TERM", "nice", "-n", "10", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "qemu.log").open("ab"),
        )
        self._monitor = Monitor(JsonLines(self._sockets / "monitor", COMMAND_S))
        self._agent = JsonLines(self._sockets / "agent", COMMAND_S)

    def wait_until_up(self) -> None:
        """Wait until commands can be run in it. Raises MachineError."""
        self.run("true", limit_s=COMES_UP_S)

    def cut(self) -> None:
        """Cut the power; what has not reached the disk is lost. May be called twice."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        for end in (self._agent, self._monitor):
            if end is not None:
                end.close()
        self._agent = self._monitor = None
        for file in self._sockets.iterdir():
            file.unlink()

    def restart(self) -> None:
        """Let the machine restart by itself, as after `reboot`, and wait until it has started."""
        self._restarts_after("systemctl reboot --no-block")

    def hang(self) -> None:
        """Hang its kernel, and wait until its watchdog has restarted it."""
        self.must("test -c /dev/watchdog0 && sysctl -qw kernel.panic=0")
        self._restarts_after("(sleep 2; echo c >/proc/sysrq-trigger) >/dev/null 2>&1 &")

    def _restarts_after(self, command: str) -> None:
        before = self._boot_id()
        self.run(command)
        self.wait_for("the machine to restart", lambda: self._boot_id() not in ("", before), COMES_UP_S)

    def _boot_id(self) -> str:
        """Return the boot's id; "" while the machine restarts."""
        try:
            return self.run("cat /proc/sys/kernel/random/boot_id", limit_s=20).output.strip()
        except MachineError:
            return ""

    @property
    def monitor(self) -> Monitor:
        """Interface for controlling it from outside. Raises MachineError."""
        if self._monitor is None:
            raise self.failure("the machine is switched off")
        return self._monitor

    def run(self, command: str, given: bytes = b"", limit_s: float = COMMAND_S) -> Answer:
        """Run a command in it, as root. Raises MachineError if no answer comes."""
        return self._ask({"command": command, "input": base64.b64encode(given).decode()}, limit_s)

    def journal(self, folder: str) -> dict[str, Any]:
        """Return the content of the table's journal in it. Raises MachineError."""
        answer = self._ask({"journal": folder}, COMMAND_S)
        if answer.status:
            raise self.failure(f"its journal cannot be read: {answer.output}")
        held: dict[str, Any] = json.loads(answer.output)
        return held

    def _ask(self, asked: dict[str, str], limit_s: float) -> Answer:
        if (agent := self._agent) is None:
            raise self.failure("the machine is switched off")
        self._asked += 1
        agent.send({"id": self._asked, **asked})
        try:
            while (told := agent.receive(limit_s))["id"] != self._asked:
                pass  # the answer to an earlier command that timed out
        except (TimeoutError, EOFError, OSError):
            raise self.failure(f"no answer within {limit_s:.0f} s: {asked}") from None
        return Answer(told["status"], base64.b64decode(told["output"]).decode(errors="replace"))

    def must(self, command: str, given: bytes = b"", limit_s: float = COMMAND_S) -> str:
        """Run a command that must succeed; return its output without the final newline."""
        answer = self.run(command, given, limit_s)
        if answer.status:
            raise self.failure(f"exit status {answer.status}: {command}\n{answer.output}")
        return answer.output.rstrip("\n")

    def put(self, path: str, content: bytes) -> None:
        """Write a file in it atomically."""
        self.must(f"mkdir -p $(dirname {path}) && cat > {path}.new && mv {path}.new {path}", content)

    def screen(self) -> Picture:
        """Return its screen, BGR."""
        file = self.folder / "screen.png"
        self.monitor.execute("screendump", filename=str(file), format="png")
        picture = cv2.imread(str(file))
        if picture is None:
            raise self.failure("its screen gives no picture")
        return np.asarray(picture, dtype=np.uint8)

    def type(self, keys: Sequence[str]) -> None:
        """Type keys on its keyboard; `enter` and `back` are one key each."""
        for key in keys:
            chord = [{"type": "qcode", "data": one} for one in KEY_NAMES.get(key, key).split("-")]
            self.monitor.execute("send-key", keys=chord, **{"hold-time": 120})
            threading.Event().wait(0.4)  # at a person's pace: the kiosk ignores keys just after a screen has changed

    def wait_for(self, what: str, holds: Any, limit_s: float = COMMAND_S) -> None:  # noqa: ANN401 - anything that can be asked
        """Wait until a condition holds. Raises MachineError with its name."""
        deadline, pause = time.monotonic() + limit_s, threading.Event()
        while not holds():
            if time.monotonic() > deadline:
                raise self.failure(f"not within {limit_s:.0f} s: {what}")
            pause.wait(LOOK_S)

    def failure(self, what: str) -> MachineError:
        """Return an error with the end of the console's output."""
        said = self._console.read_text(encoding="utf-8", errors="replace") if self._console.exists() else ""
        log = self.folder / "qemu.log"
        qemu = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        tail = "\n".join(said.splitlines()[-CONSOLE_TAIL:])
        return MachineError(f"{what}\n--- the console of {self.folder.name}:\n{tail}\n--- qemu:\n{qemu[-1000:]}")

    def close(self) -> None:
        """Switch it off and close its sockets; may be called twice."""
        self.cut()
        shutil.rmtree(self._sockets, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def is_picture(picture: Picture) -> bool:
    """Whether a screen shows a picture, rather than black or a single colour."""
    return bool(picture.max() > 64 and len(np.unique(picture.reshape(-1, 3), axis=0)) > 8)
