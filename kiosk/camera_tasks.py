"""What people do with a table's camera and keys beside the play: test its parts, restore, count hands, keep plays."""

from collections.abc import Callable, Iterable
from functools import partial

from broker.protocol import Counted, LogMessage
from firmware.hardware.inventory import HardwareTrouble
from firmware.reports import NotScanned, Scanned
from kiosk.camera.observations import (
    CameraReport,
    CameraTarget,
    HandObservation,
    LaidObservation,
    PictureObservation,
    TableObservation,
)
from kiosk.config import Config
from kiosk.counting.desk import AnyForm, CountDesk
from kiosk.journal import TableJournal
from kiosk.keeping import KeepDesk
from kiosk.restoring import RestoringDesk
from kiosk.self_test import SelfTestDesk
from kiosk.table import Event, Phase, Table, TrayChecked
from kiosk.uplink import CAMERA, DeviceHealth, TableConnection, send_count_request


class CameraTasks:
    """The tasks of one table. Each has its keys, and follows the table's state; one at a time has the camera.

    `apply` takes an event in, and returns why not, if it was refused; `board` looks at the board.
    """

    def __init__(
        self,
        config: Config,
        journal: TableJournal,
        state: Table,
        connection: TableConnection,
        health: DeviceHealth,
        apply: Callable[[Event], str | None],
        board: Callable[[], Iterable[HardwareTrouble]],
    ) -> None:
        self._health, self._apply = health, apply
        self.self_test = SelfTestDesk(scanner=config.devices.scanner is not None, board=board)
        self.restoring = RestoringDesk(journal, config.event, state.play)
        self.counting = CountDesk(config.event, config.table, partial(send_count_request, connection))
        self.keeping = KeepDesk(apply, lambda: CAMERA not in health.codes)

    def observed(self, item: CameraReport) -> None:
        """Take in what the camera sees."""
        match item:
            case TrayChecked():
                self.restoring.observed(item)
                self._apply(item)
            case TableObservation():
                self.restoring.observed(item)
            case HandObservation():
                self.counting.saw(item)
            case LaidObservation():
                self.keeping.saw(item)
            case PictureObservation():
                self.self_test.saw(item)

    def scanned(self, report: Scanned | NotScanned, state: Table, now: int) -> None:
        """Take in what was scanned; while no walls are restored it means nothing."""
        play = state.play if state.phase is Phase.RESTORING else None
        if play is not None and (look := self.restoring.scanned(report, play, now)):
            self._apply(look)

    def answered(self, message: Counted) -> None:
        """Take in what the scorer answers about a hand, or about a play that is kept."""
        self.counting.take(message)
        self.keeping.take(message)

    def sent(self, state: Table, facts: Iterable[LogMessage]) -> None:
        """Follow an event that was taken in, and the facts that came of it."""
        self.restoring.follow(state)
        self.keeping.sent(facts)

    def follow(self, state: Table, form: AnyForm | None, now: int) -> None:
        """Follow the table, and the form that is filled in; write down what has to last."""
        if state.self_test == "running" or self.self_test.test is not None:
            self.self_test.follow(state, self._health.codes, now)
        self.keeping.follow(state)
        if self.counting.open:
            self.counting.follow(state, form)
        self.restoring.write()

    def key(self, key: str, state: Table, now: int) -> Event | str | bool:
        """Return the event that a key makes in the self-test or while walls are restored, or why it is refused.

        True: it was for one of them; False: it was not.
        """
        tested = self.self_test.key(key, state, now)
        if tested is not False or state.phase is not Phase.RESTORING:
            return tested
        return self.restoring.key(key, state, self._health.codes.get(CAMERA), now)

    def form_keys(self, key: str, state: Table, form: AnyForm | None, now: int) -> tuple[str, ...]:
        """Return what the form gets for a key: none where a play is kept by it, more where a hand was counted."""
        if self.keeping.key(key, state, now):
            return ()
        typed = self.counting.key(key, state, form, now)
        return (key,) if typed is None else typed

    def target(self, state: Table) -> CameraTarget | None:
        """Return what the camera is to look at: nothing while tiles are played with."""
        if self.self_test.view is not None:
            return self.self_test.camera_target
        if state.phase is Phase.RESTORING:
            return state.play
        return self.counting.camera_target or self.keeping.camera_target
