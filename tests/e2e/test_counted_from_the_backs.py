"""A hand is counted from the backs of its tiles: real broker, scorer, table and reader, and a simulated camera."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from broker.event import ListedDevice, write_devices
from broker.mqtt.access import Credentials
from broker.protocol import SEATS, McrValue, Seat
from broker.protocol.link import Address
from broker.protocol.signing import open_key
from broker.rules import KINDS
from broker.scorer.service import Scorer
from firmware.reports import Pressed, Released
from kiosk.camera.thread import CameraThread
from kiosk.config import KioskSettings
from kiosk.journal import TableJournal
from kiosk.journal_file import JournalOwner
from kiosk.program import TableProgram
from kiosk.screens import DeclaredView
from kiosk.table import DOUBTFUL_NS, Phase
from tests.broker.mqtt.brokers import make_broker
from tests.broker.scorer.hall import open_journal
from tests.broker.scorer.small import NAME
from tests.broker.scorer.test_counting import EVENT, TABLE, dealt
from tests.kiosk.standing import CONFIG, Time
from tests.kiosk.tables import MS, S, right
from tests.patience import PATIENCE_S
from vision.cameras.addresses import open_camera
from vision.sim.scene import lay_hand
from vision.sim.table import SimulatedTable, SimulatedTile

SET = 1


class Playing:
    """A table with its camera and the mat in view."""

    def __init__(self, program: TableProgram, eyes: CameraThread, mat: SimulatedTable, clock: Time) -> None:
        self.program, self.eyes, self.mat, self.clock = program, eyes, mat, clock

    def until(self, what: Callable[[], bool]) -> None:
        """Run the program until a condition holds."""
        deadline = time.monotonic() + PATIENCE_S
        while not what():
            assert time.monotonic() < deadline, self.program.view()
            self.program.step(timeout=0.02)
            self.eyes.look_for(self.program.camera_target)

    def until_in(self, phase: Phase) -> None:
        self.until(lambda: self.program.state.phase is phase)

    def press(self, *seats: Seat) -> None:
        for seat in seats:
            self.clock.wait(2 * S)
            self.program.report(Pressed(seat, self.clock.now))
            self.program.report(Released(seat, self.clock.wait(5 * MS)))
        self.program.step(timeout=0)

    def declare(self) -> None:
        """Play until East has declared hu and the claim window has closed."""
        self.until_in(Phase.RESTORING)
        play = self.program.state.play
        assert play is not None
        for seat in SEATS:
            self.program.observe(right(play, seat, self.clock.wait()))
        self.until_in(Phase.SEATING)
        self.press(*SEATS)
        self.press(*SEATS)
        self.clock.wait(DOUBTFUL_NS)
        self.press("east")
        self.clock.wait(9 * S)
        self.until_in(Phase.DECLARED)

    def lay(self, *groups: tuple[int, ...]) -> None:
        self.mat.spread(lay_hand([[SimulatedTile(SET, serial) for serial in group] for group in groups]))


@contextmanager
def playing(folder: Path) -> Iterator[tuple[Playing, Scorer]]:
    """Open an event with one seated table."""
    credentials = Credentials.create(max(EVENT.tables))
    write_devices(folder, [ListedDevice(TABLE, open_key(folder / "device.key").public)])
    with (
        make_broker("embedded", folder / "broker", NAME, credentials, tables=max(EVENT.tables)) as broker,
        open_journal(folder) as stored,
        _scoring(Scorer(EVENT, stored, folder, lambda: 1_800_000_000_000), broker.port, credentials) as scorer,
        closing(TableJournal(folder / "table.sqlite", JournalOwner(NAME, TABLE))) as journal,
    ):
        (folder / "password").write_text(credentials.table(TABLE)[1], encoding="utf-8")
        (folder / "password").chmod(0o600)
        text = CONFIG.replace('event = "cup-2026"', f'event = "{NAME}"').replace("table = 3", f"table = {TABLE}")
        (folder / "table.toml").write_text(text.replace("port = 1", f"port = {broker.port}"), encoding="utf-8")
        clock, mat = Time(), SimulatedTable()
        program = TableProgram(KioskSettings(folder / "table.toml"), journal, clock)
        eyes = CameraThread(lambda: open_camera("sim://tray?fps=20&seed=3", world=mat), program.observe, clock)
        eyes.start()
        program.start()
        try:
            yield Playing(program, eyes, mat, clock), scorer
        finally:
            eyes.stop()
            program.stop()


@contextmanager
def _scoring(scorer: Scorer, port: int, credentials: Credentials) -> Iterator[Scorer]:
    stop = threading.Event()
    scorer.connect(Address("127.0.0.1", port, "scorer", credentials.password("scorer")))
    thread = threading.Thread(target=scorer.run, args=[stop])
    thread.start()
    try:
        yield scorer
    finally:
        stop.set()
        thread.join(timeout=PATIENCE_S)


def _declared(program: TableProgram) -> DeclaredView:
    phase = program.view().phase
    assert isinstance(phase, DeclaredView)
    return phase


def test_a_hand_is_read_from_its_backs_counted_and_accepted(tmp_path: Path) -> None:
    with playing(tmp_path) as (table, scorer):
        program = table.program
        table.lay(dealt("east")[:13], dealt("east")[13:14])  # on the mat before the camera looks at it
        table.declare()
        assert program.camera_target is None

        program.key("b")
        table.until(lambda: (one := _declared(program).count) is not None and one.counting.observation.still)
        program.key("enter")
        table.until(lambda: (one := _declared(program).count) is not None and one.counting.answer is not None)
        count = _declared(program).count
        assert count is not None
        assert isinstance(count.counting.accepted, McrValue)
        assert count.counting.accepted.fan == 23
        assert set(str(count.counting.answer).split("'")).isdisjoint(KINDS)

        program.key("enter")
        assert (_declared(program).count, _declared(program).discarder_key) == (None, "d")
        program.key("d")
        assert program.state.phase is Phase.ACCEPTING
        table.press(*SEATS)
        table.until(lambda: (TABLE, 1) in scorer.state.results)
        result = scorer.state.results[TABLE, 1].fact
        assert (result.win, result.winners) == ("self_drawn", {"east": 23})  # type: ignore[union-attr]  # a result
