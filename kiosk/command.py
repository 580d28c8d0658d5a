"""`homologue kiosk`: the program of one table, with the devices that its configuration names."""

import logging
import os
import sqlite3
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from broker.console import EXISTING_FILE, FILE, problems_of
from broker.daemon import examine_structs, stop_on_signals
from broker.logs import get_logger, set_up_logs
from firmware.button_addresses import OpenedButtons, open_buttons
from firmware.scanners import open_scanner
from kiosk.camera import observations, thread
from kiosk.config import KioskSettings, unpaired_settings
from kiosk.errors import JournalBroken, NotPaired, PairingAsked
from kiosk.journal import TableJournal
from kiosk.loop import LoopRound, run_program
from kiosk.program import TableProgram
from kiosk.screens import ScreenWindow, open_keyboards, translator, type_key
from kiosk.status import serve_metrics
from kiosk.supervisor import CHANGES, ENDED, SupervisorLine

if TYPE_CHECKING:
    from kiosk.sim import People
    from vision.sim.table import SimulatedTable


log = get_logger("homologue.kiosk")

SIZES: Final = ("800x480", "1024x600", "1280x720", "1920x1080", "720x1280")


@click.command(short_help="Run one table.")
@click.argument("config", type=EXISTING_FILE, required=False)
@click.option("--picture", type=FILE, help="Keep a PNG picture of the current screen in this file.")
@click.option("--pair", is_flag=True, help="Pair the device again before starting.")
@click.option("--practice", is_flag=True, help="Run a practice table: no CONFIG, hardware or broker needed.")
@click.option("--language", help="Practice: en, fr, zh, or another language that has a catalogue.")
@click.option("--camera", help="Practice: v4l2:/dev/video0 or pictures:FOLDER [default: simulated].")
@click.option("--scanner", help="Practice: serial:/dev/serial/by-id/... [default: simulated].")
@click.option("--size", type=click.Choice(SIZES), help="Practice: size of the screen.")
@click.option("--hand", type=click.Choice(["right", "left"]), help="Practice: side of the buttons on the screen.")
@click.option("--text", type=click.Choice(["normal", "large", "largest"]), help="Practice: text size.")
@click.option("--light", type=click.Choice(["normal", "quiet"]), help="Practice: quiet light for dark halls.")
@click.option("--rules", type=click.Choice(["mcr", "riichi", "riichi-deals"]), help="Practice: rules to play by.")
@click.option(
    "--tutorial",
    type=click.Choice(["staff", "players", "arbiters"]),
    help="Practice: start with a three-minute tutorial.",
)
def kiosk(config: Path | None, picture: Path | None, *, pair: bool, practice: bool, **chosen: Any) -> None:  # noqa: ANN401 - click's
    """Run one table. CONFIG is its TOML file; without it, use --practice.

    See docs/installer.md and docs/practice.md.

    If CONFIG has `paired`, it names no event or table: the screen asks for the desk's pairing code until the device is
    paired.
    """
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if practice == (config is not None):
        raise click.UsageError("give either CONFIG or --practice")
    if pair and practice:
        raise click.UsageError("--pair needs CONFIG: a practice table is paired with no desk")
    if chosen and not practice:
        raise click.UsageError(f"--{min(chosen)} needs --practice: CONFIG says how a real table is set up")
    os.umask(0o077)  # the journal holds presses while a claim window is open
    set_up_logs(logging.INFO)
    stop = stop_on_signals()
    try:
        if config is not None:
            line = SupervisorLine()
            try:
                _run_table(config, stop, picture, line, pair=pair)
            except Exception as error:
                line.failed(next((code for code, _ in problems_of(error)), ENDED))
                raise
        else:
            from kiosk.practice.session import PracticeTable, practise  # noqa: PLC0415 - not needed in an event

            practise(stop, PracticeTable(**chosen), picture)
    except sqlite3.Error as error:
        raise JournalBroken(str(error)) from error


def _run_table(config: Path, stop: threading.Event, picture: Path | None, line: SupervisorLine, *, pair: bool) -> None:
    """Run one table until told to stop, pairing it again whenever its screen asks for that.

    Each event and table has its own journal, so facts left unsent by an earlier pairing stay where they are.
    """
    while (settings := _with_table(config, stop, picture, line, pair=pair)) is not None:
        try:
            serve(settings, stop, picture, line)
        except PairingAsked:
            pair = True
        else:
            return


def _with_table(
    config: Path, stop: threading.Event, picture: Path | None, line: SupervisorLine, *, pair: bool
) -> KioskSettings | None:
    """Return the settings of this device's table, pairing the device first if necessary.

    Return None if the program was stopped meanwhile.
    """
    if not pair:
        with suppress(NotPaired):
            return KioskSettings(config)
    from kiosk.pairing.session import pair_at_the_table  # noqa: PLC0415 - not needed by a device that is paired

    line.take_screen()
    return KioskSettings(config) if pair_at_the_table(unpaired_settings(config), stop, picture) else None


def serve(
    settings: KioskSettings, stop: threading.Event, picture: Path | None = None, line: SupervisorLine | None = None
) -> None:
    """Open a table's devices and run its program; everything opened is closed again in reverse order."""
    config, line = settings.config, line or SupervisorLine()
    examine_structs()
    with ExitStack() as opened:
        journal = TableJournal.of(settings)
        if config.broker.plain:
            log.warning("connection_plain")
        opened.callback(journal.close)
        line.take_screen()
        window = opened.enter_context(ScreenWindow(config.screen, translator(config.language)))
        program = TableProgram(settings, journal)
        window.show(program.view())  # before the slow imports, as somebody has just switched this table on
        journal.allocate_log()
        take_kept_presses(program, line)
        buttons = open_buttons(config.devices.buttons, program.report, program.report)
        opened.enter_context(buttons.buttons)
        opened.enter_context(open_keyboards(config.devices, window, program.report))
        if config.devices.scanner:
            opened.enter_context(open_scanner(config.devices.scanner, program.report))
        from vision.cameras.addresses import check_camera_address, open_camera  # noqa: PLC0415 - numpy: after the first picture
        from vision.sim.table import SimulatedTable  # noqa: PLC0415 - numpy: after the first picture

        trays = SimulatedTable()
        check_camera_address(settings.camera)  # a camera may be plugged in later, but a wrong address stays wrong
        camera_thread = thread.CameraThread(
            lambda: open_camera(settings.camera, world=trays),
            program.observe,
            time.monotonic_ns,
            observations.picture_room((config.screen.width, config.screen.height)),
            settings.enrolled,
        )
        opened.callback(camera_thread.stop)
        people = _people(settings, buttons, trays, opened)
        camera_thread.start()
        each_round = LoopRound(program, window, camera_thread, buttons.buttons.show, stop, people, picture)
        each_round.paired = settings.paired
        if config.metrics_port is not None:
            opened.enter_context(serve_metrics(program.metrics, config.metrics_port))
        run_program(program, stop, each_round)
        if program.leaves:
            line.failed(CHANGES)


def take_kept_presses(program: TableProgram, line: SupervisorLine) -> None:
    """Handle the presses made while no program was running, in their order and before any newer one."""
    presses = line.take_buttons()
    for press in presses:
        program.report(press)
    if presses:
        program.step(timeout=0)
        line.confirm_presses()


def _people(
    settings: KioskSettings, buttons: OpenedButtons, trays: "SimulatedTable", opened: ExitStack
) -> "People | None":
    devices = settings.config.devices
    if devices.people is None or buttons.fingers is None:
        return None
    from kiosk.sim import People, RiichiPeople, read_script  # noqa: PLC0415 - simulated tables only

    script = read_script(settings.path_of(devices.people))
    players = RiichiPeople if script.hands else People
    people = players(script, buttons.fingers, trays, type_key, f"table {settings.config.table}")
    opened.callback(people.stop)
    people.start()
    return people
