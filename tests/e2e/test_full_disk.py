"""A real scorer survives a full disk, and waits for space if it is started on one."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.sim.demo_event import NAME
from broker.sim.processes import DemoProcess
from tests.broker.mqtt.brokers import make_broker
from tests.demo_event import MakeEvent
from tests.encryption import trusting
from tests.patience import PATIENCE_S
from tests.small_disk import Ballast, small_disk

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path, demo_event: MakeEvent) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", 32) as disk:
        demo_event(disk / "event", 1)
        yield disk / "event"


def test_the_scorer_survives_a_full_disk_and_starts_once_there_is_space(folder: Path, tmp_path: Path) -> None:
    known, ballast, trust = (
        Credentials.load(folder / "credentials.json"),
        Ballast(folder),
        Certificates.of_event(folder),
    )
    with make_broker("embedded", tmp_path / "broker", NAME, known, tables=1, certificates=trust) as broker:
        command = ["scorer", str(folder), "--broker", f"127.0.0.1:{broker.port}", "--desk-port", "0"]
        scorer = DemoProcess("scorer", command, lambda *_: None)
        try:
            url = scorer.wait_for(r"^Desk: (\S+)", PATIENCE_S)
            while level(folder, url) != "full":
                ballast.fill()
            ballast.remove()
            while level(folder, url) != "ample":
                assert scorer.exit_code is None
            scorer.kill()
            scorer.stop()
            (folder / "disk-reserve").unlink()
            ballast.fill()
            scorer = DemoProcess("scorer", command, lambda *_: None)
            scorer.wait_for(r"^scorer_disk_full: ", PATIENCE_S)
            ballast.remove()
            url = scorer.wait_for(r"^Desk: (\S+)", PATIENCE_S)
            while level(folder, url) != "ample":
                assert scorer.exit_code is None
        finally:
            scorer.stop()


def level(folder: Path, url: str) -> str:
    """Return the level of the disk that the desk reports, which it updates after a while."""
    return str(httpx.get(f"{url}view.json", timeout=PATIENCE_S, verify=trusting(folder)).json()["disk"])
