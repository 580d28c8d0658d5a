"""A paired device that may no longer serve its table offers pairing again on its own screen, and only then."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from broker.i18n import Translator
from broker.protocol import Served
from broker.protocol.link import LinkChanged, LinkRefused
from kiosk import command
from kiosk.camera.thread import CameraThread
from kiosk.config import KioskSettings, ScreenSettings
from kiosk.errors import PairingAsked
from kiosk.loop import PAIR_KEY, LoopRound
from kiosk.screens import ElsewhereView, ScreenWindow, type_key
from kiosk.supervisor import SupervisorLine
from kiosk.table import Phase
from tests.kiosk.standing import Standing, standing
from tests.kiosk.tables import EVENT, TABLE
from vision.cameras.addresses import open_camera

ANOTHER = Served(id="served-001", event=EVENT, seq=1, table=TABLE, device="another-device")


@contextmanager
def turning(folder: Path, *, pairs: bool) -> Iterator[tuple[Standing, Callable[[], object]]]:
    """Yield a table, and a function that types the key for pairing and runs the loop around it."""
    with (
        standing(folder) as table,
        ScreenWindow(ScreenSettings(driver="dummy"), Translator("en"), table.time) as window,
    ):
        camera = CameraThread(lambda: open_camera("sim://tray"), table.program.observe, table.time)
        turn = LoopRound(table.program, window, camera, lambda *_: None, threading.Event())
        turn.paired = pairs

        def typed() -> object:
            turn()
            type_key(PAIR_KEY)
            return turn()

        yield table, typed


def test_a_device_replaced_by_another_may_be_paired_again(tmp_path: Path) -> None:
    with turning(tmp_path, pairs=True) as (table, typed):
        typed()  # while it serves its table, the key has no meaning
        table.program._server.take_served(ANOTHER, table.time.now)
        with pytest.raises(PairingAsked):
            typed()


@pytest.mark.parametrize(("phase", "asked"), [(Phase.WAITING, True), (Phase.PLAYING, False)])
def test_a_device_the_broker_refuses_may_be_paired_between_plays(*, tmp_path: Path, phase: Phase, asked: bool) -> None:
    with turning(tmp_path, pairs=True) as (table, typed):
        table.come_to(phase)
        table.program._server.link_changed(LinkChanged(up=False, why=LinkRefused("bad password")), table.time.now)
        raised = False
        try:
            typed()
        except PairingAsked:
            raised = True
        assert raised is asked


def test_a_device_with_its_table_in_the_configuration_may_not_be_paired(tmp_path: Path) -> None:
    with turning(tmp_path, pairs=False) as (table, typed):
        table.program._server.take_served(ANOTHER, table.time.now)
        typed()
        assert isinstance(table.program.view().phase, ElsewhereView)


def test_the_program_opens_the_pairing_screen_and_serves_the_new_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Served, asked, paired, served again: the second time with the new pairing."""
    told: list[object] = []

    def with_table(*_: object, pair: bool) -> KioskSettings | None:
        told.append(pair)
        return None if told.count(True) > 1 else KioskSettings(tmp_path / "table.toml")

    def serve(*_: object) -> None:
        told.append("served")
        if told.count("served") == 1:
            raise PairingAsked

    with standing(tmp_path):
        monkeypatch.setattr(command, "_with_table", with_table)
        monkeypatch.setattr(command, "serve", serve)
        command._run_table(tmp_path / "table.toml", threading.Event(), None, SupervisorLine(), pair=False)
    assert told == [False, "served", True, "served"]
