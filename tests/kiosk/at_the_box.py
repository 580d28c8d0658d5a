"""A table's program with a simulated button box on a pseudo-terminal, in real time."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import msgspec

from broker.rules import DEFAULT_MCR, mcr_folder
from firmware.box.box import ButtonBox
from firmware.reports import Health, Report
from firmware.sim.box import BoxSimulator
from kiosk.config import KioskSettings
from kiosk.journal import TableJournal
from kiosk.program import TableProgram
from kiosk.table import Event, Phase
from kiosk.table.events import Assigned, ButtonPressed
from tests.kiosk.journals import OURS, core
from tests.kiosk.standing import CONFIG, unconnected
from tests.kiosk.tables import S, plan, play, sitting_in
from tests.patience import PATIENCE_S

WINDOW_MS: Final = 900
"""A short window, as these tests wait in real time."""

RULES: Final = (
    (mcr_folder() / f"{DEFAULT_MCR}.toml")
    .read_text(encoding="utf-8")
    .replace(f'id = "{DEFAULT_MCR}"', 'id = "quick"')
    .replace("value = 3000", f"value = {WINDOW_MS}")
)


class AtTheBox:
    """A program and its button box."""

    def __init__(self, program: TableProgram, journal: TableJournal, path: Path) -> None:
        self.program, self._journal = program, journal
        self._is_well = False
        self._before = len([*journal.events()])
        self.buttons = ButtonBox(str(path), self.tell)

    def tell(self, report: Report) -> None:
        """Accept a report from the line's thread."""
        if isinstance(report, Health) and report.part == "buttons":
            self._is_well = report.code is None
        self.program.report(report)

    def until(self, holds: Callable[[], bool]) -> None:
        """Run the program until a condition holds."""
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, f"{self.program.state.phase}, {self.program._health.codes}"
            self.program.step(timeout=0.02)

    def until_in(self, phase: Phase) -> None:
        self.until(lambda: self.program.state.phase is phase)

    def until_well(self) -> None:
        self.until(lambda: self._is_well and self.health is None)

    def until_presses(self, count: int) -> None:
        self.until(lambda: len(self.presses()) >= count)

    @property
    def health(self) -> str | None:
        """What is wrong with the buttons, according to the program."""
        return self.program._health.codes.get("buttons")

    @property
    def clock_slack_ns(self) -> float:
        """Largest error of a press's time, which is large on a busy machine until one answer comes quickly."""
        session = self.buttons._link._session
        return session.clock.slack_ns(session.clock._bounds.us) if session and session.clock._bounds else float("inf")

    def presses(self) -> list[ButtonPressed]:
        """Return the presses in the journal since the program was opened."""
        events = [*self._journal.events()][self._before :]
        return [one for one in events if isinstance(one, ButtonPressed)]


def played(journal: TableJournal, phase: Phase) -> None:
    """Bring a table to a phase, five seconds ago."""
    events = sitting_in(phase).events
    by = time.monotonic_ns() - 5 * S - max((event.at for event in events), default=0)
    table = core(journal)
    for event in events:
        table.apply(_moved(event, by))


def _moved(event: Event, by: int) -> Event:
    if isinstance(event, Assigned):
        quick = plan(play(1), play(2), profile="quick", rules=RULES)
        event = msgspec.structs.replace(event, assignment=quick)
    return msgspec.structs.replace(event, at=event.at + by)


@contextmanager
def at_the_box(folder: Path, box: BoxSimulator, phase: Phase | None = Phase.PLAYING) -> Iterator[AtTheBox]:
    """Open a program at a box, with the table in a phase, or as in its journal if that is None."""
    (folder / "password").write_text("secret", encoding="utf-8")
    (folder / "password").chmod(0o600)
    (folder / "table.toml").write_text(CONFIG, encoding="utf-8")
    with closing(TableJournal(folder / "table.sqlite", OURS)) as journal:
        if phase is not None:
            played(journal, phase)
        program = TableProgram(KioskSettings(folder / "table.toml"), journal, time_of_day=lambda: "14:05")
        made = AtTheBox(program, journal, box.path)
        with made.buttons:
            made.until_well()
            yield made
        unconnected(made.program)
