"""Measure from a press to the disk: `python -m tests.benchmarks.hands.journal [PRESSES]`.

A complete table's program with its window and loop, in the middle of a play: how long after its edge each press is
committed and synced in the journal, over mock pins and over a simulated box on a pseudo-terminal; and how much of that
had passed when the loop began to write. A press is reported 3 ms after its first edge, once it is not a bounce, which
is included. After each press, the unavoidable parts are measured on the same disk (`bare.py`): the commit of the same
row by bare SQLite with the same settings, in a log laid out like the journal's and in one that grows, and one frame
through a pseudo-terminal. With `chrt --fifo 20` (as root), other programs do not delay it; the kernel's threads still
do. Finally, the time to notice a box that is unplugged or plugged in again. Delays of lgpio, the kernel and a Pi's card
are not included.
"""

import os
import queue
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from broker.i18n import Translator

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

from firmware.button_addresses import open_buttons
from firmware.reports import SEATS, Pressed, Released, Report, Seat
from firmware.sim.box import BoxFingers
from kiosk.camera.thread import CameraThread
from kiosk.config import KioskSettings, ScreenSettings
from kiosk.journal import TableJournal
from kiosk.loop import LoopRound
from kiosk.program import TableProgram
from kiosk.screens import ScreenWindow
from kiosk.table import Phase
from kiosk.table.events import ButtonPressed
from tests.benchmarks.hands.bare import LAID_OUT, Bare
from tests.benchmarks.hands.pins import percentile
from tests.kiosk.at_the_box import played
from tests.kiosk.journals import OURS
from tests.kiosk.standing import CONFIG, unconnected
from vision.cameras.addresses import open_camera

MS: Final = 1_000_000
PULLS: Final = 10
PATIENCE_S: Final = 10


class Timed(TableJournal):
    """A journal that records when each press was on the disk."""

    durable: queue.SimpleQueue[tuple[int, int]]
    """When writing a press began, and when it was committed."""

    def record(self, event: Any, facts: Any, *, wall: int) -> Any:  # noqa: ANN401 - passed on unchanged
        """Record events, and note when a press was committed."""
        began = time.monotonic_ns()
        messages = super().record(event, facts, wall=wall)
        if isinstance(event, ButtonPressed):
            self.durable.put((began, time.monotonic_ns()))
        return messages


class Bench:
    """A table's program on its own thread, in a play that never progresses."""

    def __init__(self, folder: Path, address: str) -> None:
        (folder / "password").write_text("secret", encoding="utf-8")
        (folder / "password").chmod(0o600)
        (folder / "table.toml").write_text(CONFIG, encoding="utf-8")
        self._folder, self._address = folder, address
        self.durable: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()
        self.reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self.health: queue.SimpleQueue[tuple[int, str]] = queue.SimpleQueue()
        """When the screen showed a changed health, and which."""
        self._stop, self._ready, self._at_rest = threading.Event(), threading.Event(), threading.Event()
        self.fingers: Any = None
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        with ExitStack() as opened:
            journal = Timed(self._folder / "table.sqlite", OURS)
            journal.durable = self.durable
            opened.callback(journal.close)
            journal.allocate_log()
            played(journal, Phase.PLAYING)
            program = TableProgram(KioskSettings(self._folder / "table.toml"), journal)
            opened.callback(unconnected, program)
            window = opened.enter_context(ScreenWindow(ScreenSettings(driver="dummy"), Translator("en")))
            buttons = open_buttons(self._address, self._told(program))
            opened.enter_context(buttons.buttons)
            self.fingers = buttons.fingers
            camera = CameraThread(lambda: open_camera("sim://tray"), program.observe, time.monotonic_ns)
            round_ = LoopRound(program, window, camera, buttons.buttons.show, self._stop)
            self._loop(program, round_)

    def _told(self, program: TableProgram) -> Callable[[Report], None]:
        def tell(report: Report) -> None:
            program.report(report)
            self.reports.put(report)

        return tell

    def _loop(self, program: TableProgram, round_: LoopRound) -> None:
        """Do what `kiosk.loop.run_program` does, and cancel every press when its button is released."""
        playing, shown = program.state, ""
        while self.durable.qsize():
            self.durable.get()
        self._ready.set()
        while not self._stop.is_set():
            program.step(timeout=1 / 30)
            round_()
            if (now := " ".join(program.view().line.health)) != shown:
                shown = now
                self.health.put((time.monotonic_ns(), shown))
            window = program.state.window
            if window and not any(one.down for one in window.presses):
                program._table.state = playing
                self._at_rest.set()

    def __enter__(self) -> "Bench":
        self._thread.start()
        self._ready.wait(PATIENCE_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(PATIENCE_S)

    def until_at_rest(self) -> None:
        """Wait until the last press is cancelled."""
        self._at_rest.wait(PATIENCE_S)
        self._at_rest.clear()

    def until_told(self, kind: type[Report]) -> Report:
        """Wait for a report of one type. Raises RuntimeError if none comes."""
        while True:
            try:
                report = self.reports.get(timeout=PATIENCE_S)
            except queue.Empty:
                raise RuntimeError(f"no {kind.__name__}; the program runs: {self._thread.is_alive()}") from None
            if isinstance(report, kind):
                return report


def pressed(address: str, presses: int) -> dict[str, list[float]]:
    """Return for each press the ms from its edge to the start of writing and to its commit; and `Bare`."""
    taken: dict[str, list[float]] = {"edge to the loop": [], "edge to durable": []}
    with tempfile.TemporaryDirectory() as folder, Bench(Path(folder), address) as bench, Bare(Path(folder)) as bare:
        for number in range(presses + 1):
            seat: Seat = SEATS[number % 4]
            bench.fingers.press(seat)
            edge = bench.until_told(Pressed)
            assert isinstance(edge, Pressed)
            began, committed = bench.durable.get(timeout=PATIENCE_S)
            bench.until_told(Released)
            bench.until_at_rest()
            bare.measure()
            if number:  # the first press waits for the box and for lazy initialisation
                taken["edge to the loop"].append((began - edge.at) / MS)
                taken["edge to durable"].append((committed - edge.at) / MS)
    return taken | bare.taken


def noticed() -> tuple[list[float], list[float]]:
    """Return the ms until the screen showed the unplugged cable, and until it showed that all is well again."""
    out, back = list[float](), list[float]()
    with tempfile.TemporaryDirectory() as folder, Bench(Path(folder), "sim://box") as bench:
        assert isinstance(bench.fingers, BoxFingers)
        box = bench.fingers.box
        bench.fingers.press("east")
        bench.until_told(Pressed)
        for _ in range(PULLS):
            for act, taken in ((box.unplug, out), (box.plug, back)):
                at = time.monotonic_ns()
                act()
                shown_at, _ = bench.health.get(timeout=PATIENCE_S)
                taken.append((shown_at - at) / MS)
    return out, back


def line(name: str, taken: list[float], beside: float) -> str:
    """Print a row of figures."""
    p50, p90, p99 = (percentile(taken, share) for share in (0.5, 0.9, 0.99))
    return f"  {name:<32} {p50:8.2f} {p90:8.2f} {p99:8.2f} {max(taken):8.2f} {p99 / beside:8.1f}"


PLACES: Final = (
    ("mock pins, no bounce", "sim://buttons?bounces=0&hold_ms=50"),
    ("mock pins", "sim://buttons?bounces=2&hold_ms=50"),
    ("box on a pty, no bounce", "sim://box?bounces=0&hold_ms=50"),
    ("box on a pty", "sim://box?bounces=2&hold_ms=50"),
)
"""Also without bouncing: a contact that bounces for 4 ms is certain only 7 ms after its first edge."""


def main(presses: int = 500) -> None:
    """Measure and print."""
    print(f"{f'{presses} presses, ms':<34}      p50      p90      p99  longest  p99 to a bare commit's")
    for name, address in PLACES:
        print(name)
        taken = pressed(address, presses)
        beside = percentile(taken[LAID_OUT], 0.99)
        for what, values in taken.items():
            print(line(what, values, beside), flush=True)
    out, back = noticed()
    print(f"box pulled out {PULLS} times: shown after {max(out):.0f} ms at most, well again after {max(back):.0f} ms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
