"""A service's loop notifies systemd."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from broker.daemon import ServiceNotifier
from broker.sim.demo_event import write_kiosk
from kiosk.loop import run_program
from tests.demo_event import MakeEvent
from tests.patience import PATIENCE_S
from tests.systemd.units import HERE, unit, values

SECOND: Final = 1.0


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[socket.socket]:
    """A socket that stands for systemd's notification socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(PATIENCE_S)
        yield listening


def heard(listening: socket.socket) -> list[bytes]:
    """Return the notifications received so far, without waiting for more."""
    found = []
    listening.setblocking(False)  # noqa: FBT003 - Python's own
    while True:
        try:
            found.append(listening.recv(100))
        except BlockingIOError:
            return found


def test_a_service_is_ready_with_the_first_round_of_its_loop(systemd: socket.socket) -> None:
    notifier = ServiceNotifier(lambda: 5.0, systemd.getsockname())
    assert heard(systemd) == []
    notifier.alive()
    assert heard(systemd) == [b"READY=1\nWATCHDOG=1"]


def test_a_running_loop_notifies_the_watchdog_once_a_second(systemd: socket.socket) -> None:
    now = [0.0]
    notifier = ServiceNotifier(lambda: now[0], systemd.getsockname())
    for now[0] in (0.0, SECOND / 2, SECOND, SECOND * 1.9, SECOND * 2):
        notifier.alive()
    assert heard(systemd) == [b"READY=1\nWATCHDOG=1", b"WATCHDOG=1", b"WATCHDOG=1"]


def test_a_notification_that_systemd_misses_is_sent_again_later(systemd: socket.socket, tmp_path: Path) -> None:
    now = [0.0]
    place = Path(systemd.getsockname())
    notifier = ServiceNotifier(lambda: now[0], str(place))
    place.rename(tmp_path / "elsewhere")
    notifier.alive()
    (tmp_path / "elsewhere").rename(place)
    now[0] = SECOND
    notifier.alive()
    assert heard(systemd) == [b"READY=1\nWATCHDOG=1"]


def test_without_systemd_nothing_is_sent() -> None:
    ServiceNotifier(lambda: 0.0, "").alive()


def test_a_kiosk_reports_ready_and_keeps_notifying_the_watchdog(
    systemd: socket.socket, tmp_path: Path, demo_event: MakeEvent
) -> None:

    demo_event(tmp_path, 1)
    listening = {"NOTIFY_SOCKET": systemd.getsockname()}
    with subprocess.Popen(
        [HERE / "homologue", "kiosk", write_kiosk(tmp_path, 1, 1)],
        env=os.environ | listening,
        stdout=subprocess.DEVNULL,
    ) as kiosk:
        try:
            assert [systemd.recv(100) for _ in range(3)] == [b"READY=1\nWATCHDOG=1", b"WATCHDOG=1", b"WATCHDOG=1"]
        finally:
            kiosk.terminate()


def test_a_loop_that_hangs_sends_no_notification(systemd: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", systemd.getsockname())
    stop, hung, freed = threading.Event(), threading.Event(), threading.Event()

    class Hanging:
        start = stop = staticmethod(lambda: None)
        leaves = False

        def step(self, timeout: float) -> None:
            del timeout
            hung.set()
            freed.wait(PATIENCE_S)
            stop.set()

    loop = threading.Thread(target=run_program, args=(Hanging(), stop, lambda: 0.0))
    loop.start()
    hung.wait(PATIENCE_S)
    assert heard(systemd) == []
    freed.set()
    loop.join(PATIENCE_S)
    assert heard(systemd) == [b"READY=1\nWATCHDOG=1"]


@pytest.mark.parametrize("name", ["homologue-kiosk@.service", "homologue-scorer@.service"])
def test_the_units_wait_for_readiness_and_set_a_watchdog(name: str) -> None:
    assert values(unit(name), "Type") == ["notify"]
    (patience,) = values(unit(name), "WatchdogSec")
    assert int(patience) >= 30 * SECOND


PROCESSES: Final = 40
"""Without `examine_structs` one process in ten crashes, so some of these would."""

TABLES_IN_THREADS: Final = """
import sys, threading
import msgspec
from broker.rules.profiles import load_rules
from broker.daemon import examine_structs
from kiosk.config import Config
from kiosk.sim import Script

examine_structs()
together = threading.Barrier(5)
sys.setswitchinterval(1e-5)

def read():
    together.wait()
    for kind, decode in ((Script, msgspec.json.decode), (Config, msgspec.toml.decode)):
        try:
            decode(b"1 = 1" if kind is Config else b"{}", type=kind)
        except msgspec.ValidationError:
            pass
    load_rules("mcr")

threads = [threading.Thread(target=read) for _ in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.slow
def test_threads_may_decode_the_same_structs_for_the_first_time_together() -> None:
    ends = [
        subprocess.run([sys.executable, "-c", TABLES_IN_THREADS], check=False, capture_output=True).returncode
        for _ in range(PROCESSES)
    ]
    assert ends == [0] * PROCESSES
