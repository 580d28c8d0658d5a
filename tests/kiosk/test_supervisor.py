"""While a table's program cannot run, the screen says so and presses are kept; then it goes on where it was."""

import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

os.environ["SDL_VIDEODRIVER"] = "dummy"

import msgspec
import pygame

from firmware.button_addresses import OpenedButtons, open_buttons
from firmware.reports import Health, Held, Pressed, Released, Report
from kiosk import supervisor
from kiosk.config import ScreenSettings
from kiosk.journal import TableJournal
from kiosk.screens import ScreenWindow, stopped_view
from kiosk.screens.texts import translator
from kiosk.supervisor import CHANGES, ENDED, HANGS, Supervisor, SupervisorLine
from kiosk.table import Phase
from kiosk.table.events import ButtonPressed
from tests.kiosk.at_the_box import played
from tests.kiosk.journals import OURS
from tests.kiosk.standing import CONFIG
from tests.kiosk.tables import TABLE
from tests.patience import PATIENCE_S

PINS: Final = CONFIG.replace('"sim://buttons"', '"gpio:east=5,south=6,west=13,north=19"')
SHOWN: Final = '[screen]\ndriver = "dummy"\n'

FAILS_ONCE: Final = """
import sys, pathlib
runs = pathlib.Path({runs!r})
runs.write_text(runs.read_text() + "x" if runs.exists() else "x")
if len(runs.read_text()) <= {failures}:
    {fail}
{then}
"""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "PAUSE_S", 0.0)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "table.toml"
    path.write_text(PINS + SHOWN, encoding="utf-8")
    return path


def pressing(*reports: Report) -> Callable[[str, Callable[[Report], None]], OpenedButtons]:
    """Return a function that opens pins at which these presses are reported."""

    def opened(_: str, tell: Callable[[Report], None]) -> OpenedButtons:
        for report in reports:
            tell(report)
        return open_buttons("sim://buttons", tell)

    return opened


def supervised(
    config: Path, *reports: Report, failures: int = 1, fail: str = "raise SystemExit(3)", then: str = ""
) -> Path:
    """Run a program that fails a few times under a supervisor; return the last picture shown."""
    script = FAILS_ONCE.format(runs=str(config.with_name("runs")), failures=failures, fail=fail, then=then)
    picture = config.with_name("screen.png")
    Supervisor(config, [sys.executable, "-c", script], threading.Event(), picture, pressing(*reports)).run()
    return picture


def words(why: str, failures: int, path: Path) -> bytes:
    """Return the picture of a table whose program has ended."""
    with ScreenWindow(ScreenSettings(driver="dummy"), translator("en")) as window:
        window.show(stopped_view(TABLE, why, failures, presses_kept=True))
        window.picture(str(path))
    return path.read_bytes()


def test_a_message_is_on_the_screen_while_the_program_does_not_run(config: Path) -> None:
    assert supervised(config).read_bytes() == words(ENDED, 1, config.with_name("due.png"))


def test_repeated_failures_ask_for_somebody(config: Path) -> None:
    assert supervised(config, failures=3).read_bytes() == words(ENDED, 3, config.with_name("due.png"))
    assert words(ENDED, 3, config.with_name("3.png")) != words(ENDED, 1, config.with_name("1.png"))


@pytest.mark.slow
def test_a_program_that_hangs_is_ended_and_restarted(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "START_S", 0.5)
    end = supervisor._Program.end

    def end_and_be_patient(program: supervisor._Program, number: int, seconds: float) -> None:
        monkeypatch.setattr(supervisor, "START_S", PATIENCE_S)
        end(program, number, seconds)

    monkeypatch.setattr(supervisor._Program, "end", end_and_be_patient)
    hangs = "import os, signal; os.environ['HOMOLOGUE_FAILURES'] == '0' and signal.pause()"
    picture = supervised(config, failures=0, then=hangs)
    assert picture.read_bytes() == words(HANGS, 1, config.with_name("due.png"))


def test_the_reason_that_the_program_gives_is_on_the_screen(config: Path) -> None:
    fail = "from kiosk.supervisor import SupervisorLine as Line; Line().failed('journal_broken'); sys.exit(1)"
    assert supervised(config, fail=fail).read_bytes() == words("journal_broken", 1, config.with_name("due.png"))


def test_a_program_that_leaves_for_another_version_is_restarted(config: Path) -> None:
    leaves = f"from kiosk.supervisor import SupervisorLine as Line; Line().failed({CHANGES!r}); sys.exit(0)"
    assert supervised(config, fail=leaves).read_bytes() == words(CHANGES, 1, config.with_name("due.png"))
    assert config.with_name("runs").read_text(encoding="utf-8") == "xx"


def test_the_program_is_told_how_often_it_has_failed(config: Path) -> None:
    """So that another version is started if the confirmed one no longer starts."""
    told = config.with_name("told")
    tell = f"import os; open({str(told)!r}, 'a').write(os.environ['HOMOLOGUE_FAILURES'])"
    supervised(config, failures=3, fail=f"{tell}; sys.exit(1)", then=tell)
    assert told.read_text(encoding="utf-8") == "0123"


def test_no_press_shows_while_the_program_does_not_run(config: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / config.name
    other.parent.mkdir()
    other.write_bytes(config.read_bytes())
    pressed = supervised(config, Pressed("west", 5), Pressed("east", 7), Held("east", 7))
    assert pressed.read_bytes() == supervised(other).read_bytes()


TAKES: Final = """
from kiosk.supervisor import SupervisorLine
line = SupervisorLine()
line.take_screen()
open({told!r}, "a").write(repr(line.take_buttons()))
{kept}
"""


def test_presses_on_pins_go_to_the_next_program_and_are_kept_until_it_has_them(config: Path) -> None:
    told = config.with_name("told")
    reports = Pressed("west", 5), Health("button-east", "button_stuck"), Released("west", 9)
    takes = TAKES.format(told=str(told), kept="{kept}")
    dies = takes.format(kept="raise SystemExit(3)").replace("\n", "\n    ")
    supervised(
        config, *reports, fail=dies, then=takes.format(kept="line.confirm_presses(); print(line.take_buttons())")
    )
    once = repr([Pressed("west", 5), Released("west", 9)])
    assert told.read_text(encoding="utf-8") == "[]" + once  # before it had died, nobody had kept any


def test_as_many_presses_of_a_restless_button_are_kept_as_the_program_can_take(config: Path) -> None:
    told = config.with_name("told")
    reports = [kind("south", 2**62 + at) for at in range(2000) for kind in (Pressed, Released)]
    supervised(config, *reports, then=TAKES.format(told=str(told), kept="line.confirm_presses()"))
    assert told.read_text(encoding="utf-8") == repr(reports[: supervisor.MOST_PRESSES])


def test_a_program_without_a_supervisor_has_screen_and_pins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(supervisor.LINE, raising=False)
    line = SupervisorLine()
    line.take_screen()
    assert line.take_buttons() == []


@pytest.mark.slow
def test_unreadable_settings_are_reported_on_the_screen(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text("no settings", encoding="utf-8")
    command = [str(Path(sys.executable).with_name("homologue")), "kiosk", str(config)]
    shown: list[str] = []
    stop = threading.Event()
    watched = Supervisor(config, command, stop, config.with_name("screen.png"))
    stand_in = watched._stand_in

    def look() -> None:
        shown.append(watched._why)
        stand_in()
        stop.set()

    monkeypatch.setattr(watched, "_stand_in", look)
    watched.run()
    assert shown == ["bad_configuration"]
    assert len({*pygame.image.tobytes(pygame.image.load(config.with_name("screen.png")), "RGB")}) > 2  # a message


def presses(journal: Path) -> list[tuple[str, int]]:
    """Return the presses in a journal, while a program has it open."""
    with closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as store:
        rows = store.execute("SELECT event FROM happened ORDER BY number").fetchall()
    events = [msgspec.json.decode(row[0]) for row in rows]
    kind = ButtonPressed.__struct_config__.tag
    return [(one["seat"], one["at"]) for one in events if one["type"] == kind]


@pytest.mark.slow
def test_a_press_while_the_program_is_killed_counts_when_it_is_back(config: Path) -> None:
    (config.parent / "password").write_text("secret", encoding="utf-8")
    (config.parent / "password").chmod(0o600)
    with closing(TableJournal(config.parent / "table.sqlite", OURS)) as journal:
        played(journal, Phase.PLAYING)
    before, stop = len(presses(config.parent / "table.sqlite")), threading.Event()
    at = time.monotonic_ns()
    command = [sys.executable, "-m", "tests.kiosk.dying", str(config)]
    watched = Supervisor(config, command, stop, None, pressing(Pressed("west", at), Released("west", at + 10**8)))
    thread = threading.Thread(target=watched.run)
    thread.start()
    try:
        while len(presses(config.parent / "table.sqlite")) == before and thread.is_alive():
            thread.join(0.05)
    finally:
        stop.set()
        thread.join()
    assert presses(config.parent / "table.sqlite")[before:] == [("west", at)]
