"""Some tables in one process that may be killed: `python -m tests.chaos.tables ORIGIN SPEED CONFIG...`.

All of a table's program is real except screen and devices: the state machine, the journal file, the keyboard, and the
uplink with its own MQTT connection. The players are those of the simulated kiosk. Their clock, and the table's, runs
SPEED times as fast as the machine's, starting at ORIGIN (ns); another ORIGIN stands for another boot, between which
monotonic clocks cannot be compared.
"""

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from unittest.mock import patch

from broker.daemon import examine_structs
from broker.protocol import Seat
from firmware.reports import Pressed, Released
from kiosk import journal_file, server, uplink
from kiosk.config import KioskSettings
from kiosk.journal import TableJournal
from kiosk.journal_file import JournalOwner
from kiosk.loop import StateLog
from kiosk.program import TableProgram
from kiosk.sim import People, read_script
from kiosk.table import DOUBTFUL_NS, Phase, Table
from tests.chaos.ledger import Ledger
from tests.kiosk.tables import MS, S, right, swapped
from vision.sim.table import SimulatedTable, SimulatedTile

POWER_ON: Final = 100 * S
"""The clock at the machine's start."""

REACTION: Final = 1300 * MS
"""A press counts only after the screen has been unchanged for a second."""

AGAIN: Final = 2500 * MS
"""Seconds after which players repeat an action that had no effect."""

STEP_S: Final = 0.05


class Pace:
    """When the players act next, by their table's clock.

    Once a round they press as soon as the play begins, and are asked whether they mean it. They have some seconds of
    that clock to answer, which may pass on a busy machine before the thread runs; so they do this only once.
    """

    def __init__(self) -> None:
        self._hurried: int | None = None

    def next(self, state: Table, now: int) -> int:
        """Return when to look at a table that has changed its state."""
        if state.phase is not Phase.PLAYING or state.play is None:
            return now + REACTION
        if self._hurried != state.play.round:
            self._hurried = state.play.round
            return now + REACTION
        return max(now + REACTION, state.since + DOUBTFUL_NS)


class Room:
    """One table and its players, in one thread."""

    def __init__(self, config: Path, ledger: Ledger, origin: int, speed: int) -> None:
        self._origin, self._speed, self._ledger = origin, speed, ledger
        settings = KioskSettings(config)
        self.table = settings.config.table
        whose = JournalOwner(settings.config.event, self.table)
        journal = TableJournal(settings.folder / "table.sqlite", whose, settings.device_key(), settings.spares)
        self.program = TableProgram(settings, journal, self.clock, board=tuple)
        journal.allocate_log()
        assert settings.config.devices.people is not None
        self._script = settings.path_of(settings.config.devices.people)
        self._trays = _Trays(self)
        self._read_script()
        self._log, self._pace = StateLog(), Pace()
        self._acts_at = 0
        """When the players act next. They do everything due at once, however late the thread runs."""

    def status(self) -> str:
        """Return the table's state and what it is waiting for, to find out why it is stuck."""
        state, facts = self.program.state, self.program._server.facts
        stands_s = (self.clock() - state.since) / S
        return (
            f"table {self.table}: {state.public}, round {state.play.round if state.play else None}, "
            f"for {stands_s:.0f} s of its clock, connected {self.program._server.connected}, "
            f"link {self.program._server.link.up}, unsent {facts.unsent} from {facts._first}, "
            f"sent up to {facts._sent_upto}, answered {facts._answered}, last receipt at {facts._scorer_time}"
        )

    def _read_script(self) -> None:
        self._written = self._script.stat().st_mtime_ns
        self._people = People(read_script(self._script), self, self._trays, self.program.key, f"table {self.table}")

    def clock(self) -> int:
        """Return the monotonic clock of this boot, ns."""
        return POWER_ON + (time.monotonic_ns() - self._origin) * self._speed

    def press(self, seat: Seat) -> None:
        """Press a button and release it."""
        state, now = self.program.state, self._acts_at
        self._acts_at += MS
        if state.phase is Phase.ACCEPTING and state.play is not None:
            self._ledger.note(self.table, state.play.round, "accepting")
        self.program.report(Pressed(seat, now))
        self.program.report(Released(seat, now + 1))

    def live(self, stop: threading.Event) -> None:
        """Play until the thread is stopped."""
        self.program.start()
        seen: Table | None = None
        due = 0
        while not stop.is_set():
            self.program.step(timeout=STEP_S)
            state, now = self.program.state, self.clock()
            if state != seen:
                seen, due = state, self._pace.next(state, now)
                self._people.see(state)
                self._note(state)
            elif now >= due:
                if self._script.stat().st_mtime_ns != self._written:
                    self._read_script()  # the break is over
                    self._people.see(state)
                if self.program._server.served_elsewhere:
                    self.program.key("enter")  # the screen asks whoever wants to play to press here
                else:
                    self._trays.look()
                    self._acts_at = now
                    self._people.step(state)
                due = self.clock() + AGAIN  # on a busy machine, the action itself took long
        self.program.stop()

    def _note(self, state: Table) -> None:
        self._log.follow(self.program.view())
        if state.phase is Phase.RECORDED and state.play is not None:
            self._ledger.note(self.table, state.play.round, "recorded")


class _Trays(SimulatedTable):
    """A place where staff lay trays. The camera sees them at once, and again as long as nothing happens."""

    def __init__(self, room: Room) -> None:
        self._room: Room | None = None
        self._seen: Callable[[], None] = lambda: None
        super().__init__()
        self._room = room

    def look(self) -> None:
        """Report the tray again: a table that cannot write to its disk has refused it."""
        self._seen()

    def lay(self, rows: Sequence[Sequence[SimulatedTile | None]]) -> None:
        """Lay a tray."""
        room = self._room
        if room is None:
            return
        state = room.program.state
        if state.play is None or not state.unverified:
            return
        seat = state.unverified[0]
        lies = tuple(tuple(tile.serial for tile in row if tile) for row in rows)
        look, play = right if lies == tuple(map(tuple, state.play.order[seat])) else swapped, state.play

        def seen() -> None:
            now = room.program.state
            if now.play is not None and now.play.round == play.round and now.unverified[:1] == (seat,):
                room.program.observe(look(now.play, seat, room.clock()))

        self._seen = seen
        seen()


def live(config: str, ledger: Ledger, clock: tuple[int, int], stop: threading.Event, rooms: list[Room]) -> None:
    """Play at one table. An error that ends a table's program ends the process."""
    try:
        room = Room(Path(config), ledger, *clock)
        rooms.append(room)
        room.live(stop)
    except BaseException:  # noqa: BLE001 - any error ends a table's program
        traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
        os._exit(1)


def name_run(folder: Path, origin: int) -> Path:
    """Return the file with this boot's id, which Linux provides even if no disk is writable."""
    boot = folder / f"boot-{origin}"
    if not boot.exists():
        boot.write_text(f"run {origin}", encoding="ascii")
    return boot


def main(origin: str, speed: str, *configs: str) -> None:
    """Play at these tables until the process is stopped; SIGUSR1 makes them log their states."""
    stop, rooms = threading.Event(), list[Room]()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    signal.signal(signal.SIGUSR1, lambda *_: print("\n".join(room.status() for room in rooms), flush=True))
    os.umask(0o077)
    examine_structs()
    # This process represents the whole machine.
    patch.object(journal_file, "BOOT", name_run(Path(configs[0]).parent.parent, int(origin))).start()
    # Players are fast, but timers of the network keep their pace.
    for module, name in ((uplink, "RESEND_NS"), (server, "BEAT_S"), (server, "SILENT_S")):
        patch.object(module, name, getattr(module, name) * int(speed)).start()
    uplink.GONE_NS *= int(speed)  # type: ignore[misc]  # a constant, scaled to the speed of the tests
    ledger = Ledger()
    told = ledger, (int(origin), int(speed)), stop, rooms
    threads = [threading.Thread(target=live, args=(config, *told)) for config in configs]
    print("ready", flush=True)
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        for thread in threads:
            thread.join(0.5)


if __name__ == "__main__":
    main(*sys.argv[1:])
