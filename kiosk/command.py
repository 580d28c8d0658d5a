"""`homologue kiosk`: one table's program, with the devices that its configuration names."""

import logging
import os
import signal
import sqlite3
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import click

from firmware.addresses import OpenedButtons, open_buttons
from firmware.errors import FirmwareError
from firmware.reports import Pressed
from kiosk.config import Settings
from kiosk.errors import JournalBroken, KioskError
from kiosk.eyes import Eyes
from kiosk.journal import Journal, Whose
from kiosk.program import Program, run
from kiosk.screens.sentences import places, verdict
from kiosk.screens.shown import Shown
from kiosk.screens.window import QUIT, Window, type_key
from kiosk.screens.words import Words
from kiosk.table.state import Check, Phase, Table
from kiosk.twins.people import People
from kiosk.twins.script import read_script
from vision.errors import VisionError
from vision.live.cameras import check_address, open_camera
from vision.twins.world import TrayTwin

log = logging.getLogger("homologue.kiosk")

ENGLISH = Words("en")


@click.command(short_help="Run one table.")
@click.argument("config", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--picture", type=click.Path(path_type=Path), help="Keep the present screen as a PNG in this file.")
def kiosk(config: Path, picture: Path | None) -> None:
    """Run one table: CONFIG is its TOML file (see docs/installer.md)."""
    os.umask(0o077)  # the journal holds presses while a claim window is open
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        serve(Settings(config), stop, picture)
    except (KioskError, FirmwareError, VisionError) as error:
        click.echo(f"homologue kiosk: {error.code}: {error}", err=True)
        sys.exit(1)
    except sqlite3.Error as error:
        click.echo(f"homologue kiosk: {JournalBroken.code}: {error}", err=True)
        sys.exit(1)


def serve(settings: Settings, stop: threading.Event, picture: Path | None = None) -> None:
    """Put one table together and run it; whatever was opened is closed again, in the opposite order."""
    config = settings.config
    with ExitStack() as opened:
        journal = Journal(settings.folder / "table.sqlite", Whose(config.event, config.table))
        opened.callback(journal.close)
        window = opened.enter_context(Window(config.screen, Words(config.language)))
        program = Program(settings, journal)
        buttons = open_buttons(
            config.devices.buttons,
            lambda told: program.pressed(told.seat, told.at) if isinstance(told, Pressed) else None,
        )
        opened.enter_context(buttons.buttons)
        trays = TrayTwin()
        check_address(settings.camera)  # what is plugged in later is told at the table; this never gets right
        eyes = Eyes(lambda: open_camera(settings.camera, world=trays), program.seen, time.monotonic_ns)
        opened.callback(eyes.stop)
        people = _people(settings, buttons, trays)
        if people:
            opened.callback(people.stop)
            people.start()
        eyes.start()
        run(program, stop, Round(program, window, eyes, people, stop, picture))


def _people(settings: Settings, buttons: OpenedButtons, trays: TrayTwin) -> People | None:
    devices = settings.config.devices
    if devices.people is None or buttons.fingers is None:
        return None
    script = read_script(settings.beside(devices.people))
    return People(script, buttons.fingers, trays, type_key, f"table {settings.config.table}")


class Round:
    """What is done in each round of the loop: keys in, and out to the screen, the eyes and the people."""

    def __init__(
        self,
        program: Program,
        window: Window,
        eyes: Eyes,
        people: People | None,
        stop: threading.Event,
        picture: Path | None,
    ) -> None:
        self._program, self._window, self._eyes, self._people = program, window, eyes, people
        self._stop, self._picture = stop, picture
        self._seen: Table | None = None
        self._told: tuple[str, int | None] | None = None
        self._checked: Check | None = None

    def __call__(self) -> None:
        """Do one round."""
        for key in self._window.pressed():
            if key == QUIT:
                self._stop.set()
            else:
                self._program.key(key)
        state = self._program.state
        if state != self._seen:
            self._seen = state
            self._eyes.look_for(state.play if state.phase is Phase.RESTORING else None)
            if self._people:
                self._people.see(state)
        if self._people and self._people.failed:
            raise self._people.failed
        shown = self._program.shown()
        if self._window.show(shown):
            self._log(shown)
            if self._picture:
                self._window.picture(str(self._picture))

    def _log(self, shown: Shown) -> None:
        """Tell the log what the screen tells the room, and nothing more: a press shows nowhere."""
        if (shown.state, shown.round) != self._told:
            self._told = shown.state, shown.round
            log.info("%s%s", shown.state, f", deal {shown.deal}" if shown.deal else "")
        if shown.check and shown.check != self._checked:
            for sentence in (verdict(ENGLISH, shown.check), *places(ENGLISH, shown.check)):
                log.info("%s", sentence)
        self._checked = shown.check
