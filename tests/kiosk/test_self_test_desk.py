"""The self-test at a table: when it starts by itself, by touch, and with devices on real lines."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final

import pytest

from broker.i18n import Translator
from broker.protocol import AT_THE_TABLE, SEATS, Seat
from firmware.button_addresses import OpenedButtons, open_buttons
from firmware.hardware.inventory import HardwareTrouble
from firmware.reports import Pressed, Scanned
from firmware.scanners import Scanner, open_scanner
from firmware.sim.buttons import ButtonFingers
from kiosk.camera.observations import CameraHealth
from kiosk.camera.thread import CameraThread
from kiosk.config import KioskSettings, ScreenSettings
from kiosk.input.panel import Act
from kiosk.journal import TableJournal
from kiosk.loop import lamps_shown
from kiosk.program import TableProgram
from kiosk.screens import ScreenWindow
from kiosk.screens.drawing import Hand
from kiosk.self_test import NIGHT_MS, SelfTestView, begins_a_day
from kiosk.table import BEFORE_PLAY, Phase
from kiosk.table.events import ArbiterAdmitted
from tests.kiosk.journals import OURS
from tests.kiosk.standing import CONFIG, Standing, Time, standing, unconnected
from tests.kiosk.tables import MS, sitting_in
from tests.kiosk.test_by_mouse import Hands
from tests.patience import PATIENCE_S
from vision.cameras.addresses import open_camera
from vision.sim.table import SimulatedTable

DAILY: Final = CONFIG.replace("[broker]", 'self_test = "day"\n[broker]').replace(
    'camera = "sim://tray"', 'camera = "sim://tray"\nscanner = "sim://scanner"'
)


def seen(table: Standing) -> SelfTestView:
    """Return the screen's view of the test; there must be one."""
    table.program.step(timeout=0)
    shown = table.program.view().self_test
    assert shown is not None
    return shown


def pressed(table: Standing, *seats: Seat) -> None:
    for seat in seats:
        table.program.report(Pressed(seat, table.time.wait(10 * MS)))
        table.program.step(timeout=0)


# ---- when it starts -------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", Phase)
def test_it_starts_after_a_night_and_never_in_a_play(phase: Phase) -> None:
    state, now = sitting_in(phase).table, 1_000 * NIGHT_MS
    starts = {"first": None, "after a night": now - NIGHT_MS, "after a break": now - NIGHT_MS + 1}
    begun = [name for name, last in starts.items() if begins_a_day(state, last, now)]
    assert begun == (["first", "after a night"] if phase in BEFORE_PLAY else [])


def test_a_table_with_simulated_buttons_is_tested_only_on_request(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        assert table.program.view().self_test is None
        table.type("t")
        assert seen(table).step == "buttons"


def test_after_a_power_cut_it_starts_again_and_once_done_it_does_not(tmp_path: Path) -> None:
    clock = Time()
    with standing(tmp_path, clock, DAILY) as table:
        pressed(table, "east", "south")
        assert seen(table).awaited == "west"
    with standing(tmp_path, clock, DAILY) as table:
        assert seen(table).awaited == "east"
        table.type("q")
        assert table.program.view().self_test is None
    with standing(tmp_path, clock, DAILY) as table:
        assert table.program.state.self_test == "skipped"
        assert table.program.view().self_test is None


def test_in_a_play_the_arbiter_can_start_it_in_a_pause_and_no_press_declares(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.PLAYING)
        table.type("t")
        assert table.program.view().self_test is None
        table.program._apply(ArbiterAdmitted(at=table.time.wait(), by=AT_THE_TABLE))
        rule(table, "pause")
        table.type("3")
        rule(table, "self_test")
        table.program.step(timeout=0)
        pressed(table, *SEATS)
        table.type("enter", "enter")
        state = table.program.state
        assert (state.self_test, state.phase, state.window) == ("passed", Phase.PLAYING, None)


def rule(table: Standing, act: Act) -> None:
    """Choose a ruling on the arbiter's panel."""
    table.type("a")
    panel = table.program.view().panel
    assert panel is not None
    table.type(str(panel.acts.index(act) + 1))


# ---- by touch -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "hand"), [("en", "right"), ("fr", "left"), ("zh", "right")])
def test_it_can_be_done_by_touch_and_faults_are_reported(tmp_path: Path, language: str, hand: Hand) -> None:
    _ = Translator(language)
    screen = ScreenSettings(driver="dummy", hand=hand)
    with standing(tmp_path, config=DAILY) as table, ScreenWindow(screen, _, table.time) as window:
        hands = Hands(table, window, _)
        table.program.observe(CameraHealth("camera_unplugged"))
        pressed(table, "east")
        assert lamps_shown(table.program.view()) == {"east": "on", "south": "blink", "west": "off", "north": "off"}
        hands.touch("No signal")
        pressed(table, "west", "north")
        table.program.report(Scanned(7, None, table.time.now))
        table.program.step(timeout=0)
        hands.touch("Yes", "Wrong", "Test again")
        pressed(table, *SEATS)
        hands.touch("Nothing is read", "Wrong")
        assert [(one.part, one.code) for one in seen(table).found] == [
            *(("scanner", "scanner_silent"), ("camera", "picture_wrong"), ("camera", "camera_unplugged")),
        ]
        hands.touch("Continue")
        assert (table.phase, table.program.state.self_test) == (Phase.WAITING, "failed")
        said = table.program._server.state_message()
        assert (said.lifecycle, said.health) == (
            "alert",
            {"camera": "camera_unplugged", "self_test": "self_test_failed"},
        )


def test_a_skipped_test_is_reported_without_an_alert(tmp_path: Path) -> None:
    with standing(tmp_path, config=DAILY) as table:
        table.type("q")
        said = table.program._server.state_message()
        assert (said.lifecycle, said.health) == ("ready", {"self_test": "self_test_skipped"})


# ---- with devices ---------------------------------------------------------------------------------


class Devices:
    """A table with simulated devices on real lines, on the machine's own clock."""

    def __init__(self, folder: Path, opened: ExitStack, buttons: str) -> None:
        self.trays = SimulatedTable()
        (folder / "password").write_text("secret", encoding="utf-8")
        (folder / "password").chmod(0o600)
        (folder / "table.toml").write_text(DAILY, encoding="utf-8")
        journal = opened.enter_context(closing(TableJournal(folder / "table.sqlite", OURS)))
        self.program = TableProgram(
            KioskSettings(folder / "table.toml"), journal, board=lambda: [HardwareTrouble("too_hot", "90")]
        )
        opened.callback(unconnected, self.program)
        self._buttons: OpenedButtons = open_buttons(buttons, self.program.report, self.program.report)
        opened.enter_context(self._buttons.buttons)
        self.scanner: Scanner = opened.enter_context(open_scanner("sim://scanner", self.program.report))
        self._eyes = CameraThread(
            lambda: open_camera("sim://tray?fps=20", world=self.trays), self.program.observe, time.monotonic_ns
        )
        opened.callback(self._eyes.stop)
        self._eyes.start()

    @property
    def fingers(self) -> ButtonFingers:
        assert isinstance(self._buttons.fingers, ButtonFingers)
        return self._buttons.fingers

    @property
    def seen(self) -> SelfTestView:
        shown = self.program.view().self_test
        assert shown is not None
        return shown

    def until(self, holds: Callable[[SelfTestView], bool]) -> None:
        """Run the program until a condition of the test holds."""
        end = time.monotonic() + PATIENCE_S
        while not holds(self.seen):
            assert time.monotonic() < end, self.seen
            self.program.step(timeout=0.02)
            self._eyes.look_for(self.program.camera_target)


@contextmanager
def devices(folder: Path, buttons: str) -> Iterator[Devices]:
    with ExitStack() as opened:
        yield Devices(folder, opened, buttons)


def test_presses_a_scan_and_a_camera_without_tiles_come_through_the_real_lines(tmp_path: Path) -> None:
    """West's plug is in North's socket, and the other way round."""
    with devices(tmp_path, "sim://buttons?swap=west,north&hold_ms=20") as table:
        table.until(lambda seen: seen.awaited == "east")
        table.fingers.press("east")
        table.until(lambda seen: seen.awaited == "south")
        table.fingers.press("south")
        table.until(lambda seen: seen.awaited == "west")
        table.fingers.press("west")
        table.until(lambda seen: seen.remark is not None and seen.remark.said == "wrong_seat")
        table.program.key("x")
        table.program.key("x")
        assert table.scanner.simulated is not None
        table.scanner.simulated.scan("HM1-02-117")
        table.until(lambda seen: seen.scan is not None)
        table.program.key("n")
        table.until(lambda seen: seen.picture.view is not None and seen.picture.wrong != ())
        assert table.seen.picture.wrong == ("camera_no_tiles",)
        table.program.key("x")
        table.until(lambda seen: seen.found != ())
        assert [(one.part, one.code) for one in table.seen.found] == [
            *(("button-west", "button_exchanged"), ("button-north", "button_silent")),
            *(("camera", "picture_wrong"), ("board", "too_hot")),
        ]
