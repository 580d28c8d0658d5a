"""What a table's program does in each round of its loop: keys in; out to screen, lamps, log, eyes and people."""

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware.reports import Lamp, Seat
from kiosk.errors import PairingAsked
from kiosk.eyes import Eyes
from kiosk.lamps import lamps
from kiosk.program import Program
from kiosk.screens.sentences import places, verdict
from kiosk.screens.shown import Shown, useless
from kiosk.screens.window import QUIT, Window
from kiosk.screens.words import Words
from kiosk.sight import Wanted
from kiosk.table.state import Check, Table

if TYPE_CHECKING:
    from kiosk.twins.people import People

log = logging.getLogger("homologue.kiosk")

PAIRS: Final = "p"
"""The key that asks for another pairing."""

ENGLISH: Final = Words("en")


class Round:
    """One table's rounds."""

    def __init__(
        self,
        program: Program,
        window: Window,
        eyes: Eyes,
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
        self._wanted: Wanted | None = None
        self._shown: Shown | None = None
        self._log = Log()

    def __call__(self) -> float:
        """Do one round, and give the seconds until the next at the latest. Raises PairingAsked."""
        for key in self._window.pressed():
            if key == QUIT:
                self._stop.set()
            elif key == PAIRS and self._shown is not None and self._shown.may_pair:
                raise PairingAsked("the screen asks for another pairing")
            else:
                self._program.key(key)
        self._look(self._program.state)
        shown = self._program.shown()
        if self.pairs and useless(shown):
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

    def _show(self, shown: Shown) -> None:
        """Show what is new on the screen elsewhere too."""
        for seat, lamp in lamps(shown).items():
            self._show_lamp(seat, lamp)
        self._log.tell(shown)
        if self._picture:
            self._window.picture(str(self._picture))


class Log:
    """Tells the log what the screen tells the room, and nothing more: a press shows nowhere."""

    def __init__(self) -> None:
        self._told: tuple[str, int | None] | None = None
        self._checked: Check | None = None
        self._health: tuple[str, ...] = ()

    def tell(self, shown: Shown) -> None:
        """Tell what is new."""
        if (shown.state, shown.round) != self._told:
            self._told = shown.state, shown.round
            log.info("%s%s", shown.state, f", deal {shown.deal}" if shown.deal else "")
        if shown.check and shown.check != self._checked:
            for sentence in (verdict(ENGLISH, shown.check), *places(ENGLISH, shown.check)):
                log.info("%s", sentence)
        self._checked = shown.check
        if shown.line.health != self._health:
            self._health = shown.line.health
            log.info("health: %s", ", ".join(self._health) or "all well")
