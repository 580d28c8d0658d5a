"""A table's program without a broker, on a clock set by hand or on the machine's own, brought to a phase."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from broker.protocol import SEATS, Assignment, Seat
from broker.protocol.link import Link
from firmware.reports import Held, Pressed, Released, Report
from kiosk.config import KioskSettings
from kiosk.journal import TableJournal
from kiosk.program import TableProgram
from kiosk.screens import ScreenView
from kiosk.screens.views import PhaseView
from kiosk.table import DOUBTFUL_NS, Event, Phase
from kiosk.table.events import Assigned
from kiosk.uplink import OpenLink
from tests.kiosk.journals import OURS
from tests.kiosk.tables import EVENT, HOLD, MS, TABLE, S, plan, play, right

CONFIG = f"""
event = "{EVENT}"
table = {TABLE}
folder = "."
[broker]
host = "127.0.0.1"
port = 1
password_file = "password"
plain = true
[devices]
buttons = "sim://buttons"
camera = "sim://tray"
"""


class Time:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100 * S

    def __call__(self) -> int:
        return self.now

    def of_day(self) -> str:
        """Return the matching time of day."""
        minutes = self.now // (60 * S)
        return f"{minutes // 60:02}:{minutes % 60:02}"

    def wall(self) -> int:
        """Return the matching wall clock, in ms since 1970."""
        return 1_604_142_000_000 + self.now // MS

    def wait(self, ns: int = 2 * S) -> int:
        """Let time pass."""
        self.now += ns
        return self.now


def since(began: int, report: Report) -> Report:
    """Return a report whose time is given in ns after the beginning."""
    match report:
        case Pressed(seat, at):
            return Pressed(seat, began + at)
        case Held(seat, at):
            return Held(seat, began + at)
        case Released(seat, at):
            return Released(seat, began + at)
        case _:
            return report


V = TypeVar("V", bound=PhaseView)


def phase_view(view: ScreenView, kind: type[V]) -> V:
    """Return the view's phase, after checking that it is of this kind."""
    assert isinstance(view.phase, kind)
    return view.phase


class Standing:
    """A program at a table. It is never started, so it sends nothing."""

    def __init__(self, program: TableProgram, journal: TableJournal, time: Time) -> None:
        self.program, self.journal, self.time = program, journal, time

    @property
    def phase(self) -> Phase:
        return self.program.state.phase

    def is_in(self, phase: Phase) -> bool:
        return self.phase is phase

    def happened(self) -> list[Event]:
        """Return the events in the journal."""
        return [*self.journal.events()]

    def press(self, *seats: Seat, let_go: bool = True) -> None:
        """Press one after the other, once the screen, and in a play the play, is old enough for presses to count."""
        self.time.wait(max(2 * S, self.program.state.since + DOUBTFUL_NS - self.time.now))
        self.press_now(*seats, let_go=let_go)

    def press_now(self, *seats: Seat, let_go: bool = True) -> None:
        """Press one after the other, at once."""
        for seat in seats:
            self.program.report(Pressed(seat, self.time.wait(10 * MS)))
            if let_go:
                self.program.report(Released(seat, self.time.wait(10 * MS)))
        self.program.step(timeout=0)

    def hold(self, seat: Seat) -> None:
        at = self.time.wait()
        self.program.report(Pressed(seat, at))
        self.program.step(timeout=0)
        self.time.wait(HOLD)
        self.program.report(Held(seat, at))
        self.program.report(Released(seat, self.time.wait(10 * MS)))
        self.program.step(timeout=0)

    def type(self, *keys: str) -> None:
        for key in keys:
            self.program.key(key)

    def pass_time(self, ns: int) -> None:
        """Let the program handle all reports, then let time pass."""
        self.program.step(timeout=0)
        self.time.wait(ns)
        self.program.step(timeout=0)

    def come_to(self, phase: Phase, assignment: Assignment | None = None) -> "Standing":
        """Play on until the table is in a phase; a play then has begun some seconds ago."""
        for step in self._day(assignment or plan(play(1), play(2))):
            if self.phase is phase:
                if phase is Phase.PLAYING:
                    self.time.wait(5 * S)
                return self
            step()
        assert self.phase is phase
        return self

    def _day(self, assignment: Assignment) -> Iterator[Callable[[], object]]:
        yield lambda: self.program._apply(Assigned(at=self.time.wait(), assignment=assignment))
        yield self._restore
        yield lambda: self.press(*SEATS)
        yield lambda: self.press(*SEATS)
        yield lambda: self.press("west")
        yield lambda: self.pass_time(9 * S)
        yield lambda: self.type("1", "8", "enter", "n")
        yield lambda: self.press(*SEATS)

    def _restore(self) -> None:
        present = self.program.state.play
        assert present is not None
        for seat in SEATS:
            self.program.observe(right(present, seat, self.time.wait()))
        self.program.step(timeout=0)


@contextmanager
def standing(
    folder: Path,
    time: Time | None = None,
    config: str = CONFIG,
    spares: Sequence[Path] = (),
    link: OpenLink | None = None,
) -> Iterator[Standing]:
    """Open a table's journal in a folder, a new one or an existing one."""
    (folder / "password").write_text("secret", encoding="utf-8")
    (folder / "password").chmod(0o600)
    (folder / "table.toml").write_text(config, encoding="utf-8")
    time = time or Time()
    with closing(TableJournal(folder / "table.sqlite", OURS, spares=spares)) as journal:
        program = TableProgram(KioskSettings(folder / "table.toml"), journal, time, time.of_day, link, tuple, time.wall)
        try:
            yield Standing(program, journal, time)
        finally:
            unconnected(program)


def unconnected(program: TableProgram) -> None:
    """Close what a client that was never started has opened."""
    if isinstance(program._server.link, Link):
        program._server.link._client._reset_sockets()
