"""A practice session: the real program in a temporary folder, with a simulated scorer.

A strip below the table's window replaces the hardware of a real table: buttons, trays and scanner.
"""

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pygame

from broker.i18n import N_, NP_, SEAT_NAMES, Translator
from firmware.buttons import SeatButtons
from firmware.scanners import open_scanner
from firmware.sim.buttons import ButtonFingers
from kiosk.camera import observations, thread
from kiosk.config import KioskSettings, ScreenSettings
from kiosk.journal import TableJournal
from kiosk.loop import LoopRound, run_program
from kiosk.practice.deals import EVENT, TABLE, Practised, practice_plan
from kiosk.practice.hands import KEYS, LAY, LAY_WRONG, SCAN, SCAN_NEXT, TIP_OUT, PracticeHands, Strip, strip
from kiosk.practice.scorer import PracticeScorer
from kiosk.practice.tutorial import LESSON_KEYS, Lesson, Role
from kiosk.program import TableProgram
from kiosk.screens import (
    FINGER,
    TOUCHES,
    ScreenView,
    ScreenWindow,
    TargetPainter,
    TextLine,
    TextPen,
    TouchTarget,
    drawing,
    translator,
)
from vision.cameras.addresses import check_camera_address, open_camera
from vision.sim.table import SimulatedTable

SIMULATED: Final = "sim://tray"
SIMULATED_SCANNER: Final = "sim://scanner"

CONFIG: Final = f"""
event = "{EVENT}"
table = {TABLE}
folder = "."
language = "{{language}}"
[broker]
host = "127.0.0.1"
port = 1
[devices]
buttons = "sim://buttons"
camera = "{SIMULATED}"
[screen]
width = {{width}}
height = {{height}}
hand = "{{hand}}"
text = "{{text}}"
light = "{{light}}"
dim_after_s = 0
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeTable:
    """The set-up of a practice table."""

    language: str = "en"
    camera: str = SIMULATED
    scanner: str = SIMULATED_SCANNER
    size: str = "800x480"
    hand: str = "right"
    text: str = "normal"
    light: str = "normal"
    rules: Practised = "mcr"
    tutorial: Role | None = None

    def settings(self, folder: Path) -> KioskSettings:
        """Write the configuration, and read it as a table does. Raises KioskError."""
        width, _, height = self.size.partition("x")
        look = {"language": self.language, "hand": self.hand, "text": self.text, "light": self.light}
        (folder / "table.toml").write_text(CONFIG.format(width=width, height=height, **look), encoding="utf-8")
        return KioskSettings(folder / "table.toml")

    @property
    def strip(self) -> Strip:
        """The keys that replace hardware. A riichi session has nothing to scan."""
        return strip(
            camera=self.camera == SIMULATED, scanner=self.scanner == SIMULATED_SCANNER and self.rules != "riichi"
        )


def practise(stop: threading.Event, table: PracticeTable, picture: Path | None = None) -> None:
    """Run until told to stop. Raises KioskError, FirmwareError, VisionError."""
    check_camera_address(table.camera)
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="homologue-practice-")))
        settings = table.settings(folder)
        journal = TableJournal.of(settings)
        opened.callback(journal.close)
        lesson = Lesson(table.tutorial) if table.tutorial else None
        window = PracticeWindow(
            settings.config.screen, translator(table.language), time.monotonic_ns, table.strip, lesson
        )
        opened.enter_context(window)
        program = TableProgram(settings, journal, link=lambda tell: PracticeScorer(practice_plan(table.rules), tell))
        trays, fingers = SimulatedTable(), ButtonFingers()
        buttons = opened.enter_context(SeatButtons(fingers.wiring, program.report, factory=fingers.factory))
        scans = opened.enter_context(open_scanner(table.scanner, program.report)).simulated
        tiles = trays if table.camera == SIMULATED else None
        window.attach(PracticeHands(fingers, tiles, scans, lambda: program.state, program.view))
        view = observations.picture_room((settings.config.screen.width, settings.config.screen.height))
        camera_thread = thread.CameraThread(
            lambda: open_camera(table.camera, world=trays), program.observe, time.monotonic_ns, view
        )
        opened.callback(camera_thread.stop)
        camera_thread.start()
        run_program(program, stop, LoopRound(program, window, camera_thread, buttons.show, stop, picture=picture))


LABELS: Final = {
    LAY: N_("Lay tray or hand"),
    LAY_WRONG: N_("Add a mistake"),
    TIP_OUT: N_("Tip out tiles"),
    SCAN: NP_("button", "Scan any tile"),
    SCAN_NEXT: N_("Scan in order"),
}

LESSON_ROWS: Final = 2
LESSON_BUTTON: Final = 2
"""Height of the tutorial and preferred width of its buttons, in rows of the strip."""

CODES: Final = {getattr(pygame, f"K_{key.upper()}"): key for key in (*KEYS, *LABELS, *LESSON_KEYS)}


class PracticeWindow(ScreenWindow):
    """A table's window with the strip. `hands` act on simulated devices, so the program sees real presses."""

    def __init__(
        self,
        settings: ScreenSettings,
        _: Translator,
        clock: Callable[[], int],
        rows: Strip = ((*KEYS,),),
        lesson: Lesson | None = None,
    ) -> None:
        """Take the keys on the strip, and the tutorial above it.

        Raise ScreenMissing, or BadConfiguration if there is no font for the language.
        """
        self._rows, self._row_height = rows, round(min(settings.width, settings.height) * (FINGER + 0.03))
        self._lesson, self._lesson_height = lesson, LESSON_ROWS * self._row_height if lesson else 0
        super().__init__(settings, _, clock, below=len(rows) * self._row_height + self._lesson_height)
        self._hands: PracticeHands | None = None
        self._strip: tuple[TouchTarget, ...] = ()
        self._ = _
        self._pen = TextPen(_.language, (settings.width, settings.height))
        self._buttons = TargetPainter(_, self._pen)
        self._held: str | None = None
        self._shown: object = None
        """The step of the tutorial that is on the screen."""

    def attach(self, hands: PracticeHands) -> None:
        """Show the strip for these hands."""
        self._hands = hands
        self._strip = (*self._targets(),)
        self._whole.fill(drawing.GROUND, (0, self._surface.get_height(), *self._whole.get_size()))
        self._buttons.draw(self._whole, self._strip)
        pygame.display.flip()

    def show(self, view: ScreenView) -> bool:
        """Draw the table's screen, and the tutorial's step if it is new."""
        new = super().show(view)
        if self._lesson is not None and self._hands is not None:
            self._lesson.follow(view, self._hands, self._clock())
            if self._lesson.shown != self._shown:
                self._shown = self._lesson.shown
                self._draw_lesson(self._lesson)
                pygame.display.flip()
        return new

    def _draw_lesson(self, lesson: Lesson) -> None:
        """Draw the step with its buttons."""
        room, pen = self.lesson_room, self._pen
        self._whole.fill(drawing.GROUND, room.inflate(0, 2 * self._gap))
        width = min((one.box.left for one in self._lesson_targets()), default=room.right) - room.left - self._gap
        head, text = lesson.text(self._)
        lines = [TextLine(head, drawing.SMALL, drawing.QUIET)]
        lines += pen.wrapped(TextLine(text, drawing.BODY, drawing.TEXT), width)
        pen.write_lines(self._whole, pen.fit(lines, width, room.height), room.topleft, width, "left")
        self._buttons.draw(self._whole, (*self._lesson_targets(),))

    @property
    def _gap(self) -> int:
        return self._row_height // 8

    @property
    def lesson_room(self) -> pygame.Rect:
        """The room for the step and its buttons."""
        width, height = self._whole.get_size()
        top = height - len(self._rows) * self._row_height - self._lesson_height
        return pygame.Rect(0, top, width, self._lesson_height).inflate(-2 * self._gap, -2 * self._gap)

    def _lesson_targets(self) -> Iterator[TouchTarget]:
        if self._lesson is None:
            return
        room = self.lesson_room
        wide = min(LESSON_BUTTON * self._row_height, room.width // 6)
        for at, (key, label) in enumerate(zip(LESSON_KEYS, self._lesson.buttons(self._), strict=True)):
            left = room.right - (len(LESSON_KEYS) - at) * wide
            if label:
                yield TouchTarget(key, label, pygame.Rect(left, room.top, wide - self._gap, room.height))

    def _targets(self) -> Iterator[TouchTarget]:
        width, height = self._whole.get_size()
        gap = self._row_height // 6
        for number, row in enumerate(self._rows):
            top, wide = height - (len(self._rows) - number) * self._row_height + gap, (width - gap) // len(row)
            for at, key in enumerate(row):
                label = self._(SEAT_NAMES[KEYS[key]]) if key in KEYS else self._(LABELS[key])
                box = pygame.Rect(gap + at * wide, top, wide - gap, self._row_height - gap)
                yield TouchTarget(key, label, box)

    def _key(self, event: pygame.event.Event) -> str | None:
        """Pass the strip's keys to the hands, and all others to the table."""
        if self._hands is None:
            return super()._key(event)
        if event.type in (pygame.KEYDOWN, pygame.KEYUP) and event.key in CODES:
            self._move(CODES[event.key], down=event.type == pygame.KEYDOWN)
            return None
        if event.type in TOUCHES and event.button == pygame.BUTTON_LEFT and self._on_strip(event):
            return None
        return super()._key(event)

    def _on_strip(self, event: pygame.event.Event) -> bool:
        """Press or release the strip's button under the mouse; return whether there was one."""
        if event.type == pygame.MOUSEBUTTONDOWN:
            targets = (*self._strip, *self._lesson_targets())
            self._held = next((one.key for one in targets if one.box.collidepoint(event.pos)), None)
            if self._held:
                self._move(self._held, down=True)
            return self._held is not None
        held, self._held = self._held, None
        if held:
            self._move(held, down=False)
        return held is not None

    def _move(self, key: str, *, down: bool) -> None:
        if self._hands is None:
            return
        if self._lesson is not None and key in LESSON_KEYS:
            if down:
                self._lesson.press(key)
            return
        (self._hands.down if down else self._hands.up)(key)
