"""The kiosk's main loop: keys in; out to screen, lamps, log, camera and simulated people."""

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from broker.i18n import Translator
from firmware.reports import SEATS, Lamp, Seat
from kiosk.camera.observations import CameraTarget
from kiosk.camera.thread import CameraThread
from kiosk.errors import PairingAsked
from kiosk.program import TableProgram
from kiosk.screens import QUIT, ScreenView, ScreenWindow, cannot_serve, fault_sentences, tray_verdict
from kiosk.table import Table, TrayProblem

if TYPE_CHECKING:
    from kiosk.sim import People


def run_program(program: TableProgram, stop: threading.Event, each_round: Callable[[], float]) -> None:
    """Work until told to stop: a round when a device or the network has something, or when the last one wished it."""
    program.start()
    try:
        pause = 0.0
        while not stop.is_set():
            program.step(timeout=pause)
            pause = each_round()
    finally:
        program.stop()


log = logging.getLogger("homologue.kiosk")

PAIR_KEY: Final = "p"
"""The key that asks for another pairing."""

ENGLISH: Final = Translator("en")


class LoopRound:
    """One table's rounds."""

    def __init__(
        self,
        program: TableProgram,
        window: ScreenWindow,
        eyes: CameraThread,
        show_lamp: Callable[[Seat, Lamp], None],
        stop: threading.Event,
        people: "People | None" = None,
        picture: Path | None = None,
    ) -> None:
        self._program, self._window, self._eyes, self._people = program, window, eyes, people
        self._show_lamp, self._stop, self._picture = show_lamp, stop, picture
        self.pairs = False
        """The device was paired by the desk, and may be paired anew where it can do nothing as it is."""
        self._seen: Table | None = None
        self._wanted: CameraTarget | None = None
        self._shown: ScreenView | None = None
        self._log = StateLog()

    def __call__(self) -> float:
        """Do one round, and give the seconds until the next at the latest. Raises PairingAsked."""
        for key in self._window.pressed():
            if key == QUIT:
                self._stop.set()
            elif key == PAIR_KEY and self._shown is not None and self._shown.may_pair:
                raise PairingAsked("the screen asks for another pairing")
            else:
                self._program.key(key)
        self._look(self._program.state)
        shown = self._program.shown()
        if self.pairs and cannot_serve(shown):
            shown = replace(shown, may_pair=True)
        self._window.show(shown)
        if shown != self._shown:
            self._shown = shown
            self._show(shown)
        return self._window.pause

    def _look(self, state: Table) -> None:
        """Let the eyes and the people see the table."""
        if (wanted := self._program.looked_for) != self._wanted:
            self._wanted = wanted
            self._eyes.look_for(wanted)
        if state != self._seen:
            self._seen = state
            if self._people:
                self._people.see(state)
        if self._people and self._people.failed:
            raise self._people.failed

    def _show(self, shown: ScreenView) -> None:
        """Show what is new on the screen elsewhere too."""
        for seat, lamp in lamps_shown(shown).items():
            self._show_lamp(seat, lamp)
        self._log.tell(shown)
        if self._picture:
            self._window.picture(str(self._picture))


class StateLog:
    """Tells the log what the screen tells the room, and nothing more: a press shows nowhere."""

    def __init__(self) -> None:
        self._told: tuple[str, int | None] | None = None
        self._checked: TrayProblem | None = None
        self._health: tuple[str, ...] = ()

    def tell(self, shown: ScreenView) -> None:
        """Tell what is new."""
        if (shown.state, shown.round) != self._told:
            self._told = shown.state, shown.round
            log.info("%s%s", shown.state, f", deal {shown.deal}" if shown.deal else "")
        if shown.check and shown.check != self._checked:
            for sentence in (tray_verdict(ENGLISH, shown.check), *fault_sentences(ENGLISH, shown.check)):
                log.info("%s", sentence)
        self._checked = shown.check
        if shown.line.health != self._health:
            self._health = shown.line.health
            log.info("health: %s", ", ".join(self._health) or "all well")


ASKING = ("seating", "confirming", "accepting")


def lamps_shown(shown: ScreenView) -> dict[Seat, Lamp]:
    """Blink where a press is waited for, shine where it was given or a hu is told, else be dark: in a play all are."""
    return {seat: _lamp(shown, seat) for seat in SEATS}


def _lamp(shown: ScreenView, seat: Seat) -> Lamp:
    if shown.self_test is not None:
        return "on" if seat in shown.self_test.right else "blink" if seat == shown.self_test.asked else "off"
    if shown.paused:
        return "off"
    if shown.state in ASKING:
        return "on" if seat in shown.marked else "blink"
    return "on" if seat in shown.declared else "off"
