"""The kiosk's main loop: reads keys; updates the screen, lamps, log, camera and simulated people."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from broker.daemon import ServiceNotifier
from broker.i18n import Translator
from broker.logs import follow_play, get_logger
from firmware.reports import SEATS, Health, Lamp, Seat
from kiosk.camera import observations, thread
from kiosk.errors import PairingAsked
from kiosk.keeping import Keeping
from kiosk.program import TableProgram
from kiosk.screens import (
    QUIT,
    RestoringView,
    ScreenView,
    ScreenWindow,
    fault_sentences,
    may_pair,
    tray_verdict,
    with_pairing,
)
from kiosk.status import SCREEN
from kiosk.table import Table, TrayProblem

if TYPE_CHECKING:
    from kiosk.sim import People


def run_program(program: TableProgram, stop: threading.Event, each_round: Callable[[], float]) -> None:
    """Run rounds until told to stop: one on any input from a device or the network, or after the last round's pause."""
    program.start()
    service = ServiceNotifier()
    try:
        pause = 0.0
        while not stop.is_set() and not program.leaves:
            program.step(timeout=pause)
            pause = each_round()
            service.alive()
    finally:
        program.stop()


log = get_logger("homologue.kiosk")

PAIR_KEY: Final = "p"
"""The key that asks to pair the device again."""

ENGLISH: Final = Translator("en")


class LoopRound:
    """One round of a table's loop, as a callable."""

    def __init__(
        self,
        program: TableProgram,
        window: ScreenWindow,
        camera: thread.CameraThread,
        show_lamp: Callable[[Seat, Lamp], None],
        stop: threading.Event,
        people: "People | None" = None,
        picture: Path | None = None,
    ) -> None:
        self._program, self._window, self._camera, self._people = program, window, camera, people
        self._show_lamp, self._stop, self._picture = show_lamp, stop, picture
        self.paired = False
        """Whether the desk paired this device, so that it may be paired again when it cannot work as it is."""
        self._seen: tuple[Table, Keeping | None] | None = None
        self._target: observations.CameraTarget | None = None
        self._view: ScreenView | None = None
        self._fault: str | None = None
        self._log = StateLog()

    def __call__(self) -> float:
        """Do one round, and return the longest wait before the next, in seconds. Raises PairingAsked."""
        for key in self._window.pressed():
            if key == QUIT:
                self._stop.set()
            elif key == PAIR_KEY and self._view is not None and may_pair(self._view):
                raise PairingAsked("the screen asks for another pairing")
            else:
                self._program.key(key)
        self._look(self._program.state)
        view = self._program.view()
        if self.paired:
            view = with_pairing(view)
        self._window.show(view)
        self._check_screen()
        if view != self._view:
            self._view = view
            self._show(view)
        return self._window.pause

    def _check_screen(self) -> None:
        """Report a fault of the display."""
        if (fault := self._window.fault) != self._fault:
            self._fault = fault
            self._program.report(Health(SCREEN, fault))

    def _look(self, state: Table) -> None:
        """Set the camera's target, and show simulated people the table's state."""
        if (target := self._program.camera_target) != self._target:
            self._target = target
            self._camera.look_for(target)
        seen = state, self._program.keeping
        if seen != self._seen:
            self._seen = seen
            if self._people:
                self._people.see(*seen)
        if self._people and self._people.failed:
            raise self._people.failed

    def _show(self, view: ScreenView) -> None:
        """Pass a new view on to the lamps, the log and the picture file."""
        for seat, lamp in lamps_shown(view).items():
            self._show_lamp(seat, lamp)
        self._log.follow(view)
        if self._picture:
            self._window.picture(str(self._picture))


class StateLog:
    """Logs only what the screen shows, so that no press can be seen in the log."""

    def __init__(self) -> None:
        self._state: tuple[str, int | None] | None = None
        self._checked: TrayProblem | None = None
        self._health: tuple[str, ...] = ()

    def follow(self, view: ScreenView) -> None:
        """Log what has changed."""
        if (now := (view.state, view.play.round if view.play else None)) != self._state:
            self._state = now
            follow_play(now[1], view.table, view.deal)
            log.info("state", state=view.state, deal=view.deal)
        check = view.phase.check if isinstance(view.phase, RestoringView) else None
        if check and check != self._checked:
            for sentence in (tray_verdict(ENGLISH, check), *fault_sentences(ENGLISH, check)):
                log.info("tray", says=sentence)
        self._checked = check
        if view.line.health != self._health:
            self._health = view.line.health
            log.info("health", wrong=list(self._health))


AWAITING_PRESS = ("seating", "confirming", "accepting")


def lamps_shown(view: ScreenView) -> dict[Seat, Lamp]:
    """Return each seat's lamp: blinking while a press is awaited, on if given or if a hu is shown, else off."""
    return {seat: _lamp(view, seat) for seat in SEATS}


def _lamp(view: ScreenView, seat: Seat) -> Lamp:
    if view.self_test is not None:
        return "on" if seat in view.self_test.right else "blink" if seat == view.self_test.awaited else "off"
    if view.paused:
        return "off"
    if view.state in AWAITING_PRESS:
        return "on" if seat in view.marked else "blink"
    if isinstance(view.phase, RestoringView):
        return "on" if seat in view.phase.arrived else "off"
    return "on" if seat in view.declared else "off"
