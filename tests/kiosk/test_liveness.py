"""The table sends a beat every ten seconds, and tells its players when the scorer is silent."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

import pytest

from broker.protocol import BEAT_S, DISK_STEP_MIB, SILENT_S, Beat, ScorerState, Served, decode_on_topic, encode, topics
from broker.protocol.link import Incoming, LinkChanged
from kiosk.config import KioskSettings
from kiosk.journal import TableJournal
from kiosk.program import TableProgram
from kiosk.screens import ScreenView
from kiosk.server import ScorerWatch
from tests.kiosk.journals import OURS
from tests.kiosk.standing import CONFIG, Time
from tests.kiosk.tables import EVENT, TABLE, S


class Wire:
    """Replaces the link; up or not, as set."""

    def __init__(self, tell: Callable[[Incoming | LinkChanged], None]) -> None:
        self.tell, self.up, self.beats = tell, False, list[Beat]()

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Record a message of the table."""
        _, message = decode_on_topic(topic, payload)
        if isinstance(message, Beat):
            assert not retain
            self.beats.append(message)

    def start(self) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing."""

    def flush(self, timeout_s: float) -> None:
        """Do nothing, as nothing is in flight."""


class Seated:
    """A program on such a link."""

    def __init__(self, folder: Path, journal: TableJournal) -> None:
        self.time, self._wires = Time(), list[Wire]()

        def link(tell: Callable[[Incoming | LinkChanged], None]) -> Wire:
            self._wires.append(Wire(tell))
            return self._wires[0]

        (folder / "password").write_text("secret", encoding="utf-8")
        (folder / "password").chmod(0o600)
        (folder / "table.toml").write_text(CONFIG, encoding="utf-8")
        settings = KioskSettings(folder / "table.toml")
        self.program = TableProgram(settings, journal, self.time, self.time.of_day, link, tuple)
        self.wire = self._wires[0]

    def connect(self, *, up: bool) -> None:
        self.wire.up = up
        self.wire.tell(LinkChanged(up=up))
        self.program.step(timeout=0)

    def hear(self, message: ScorerState | Served) -> None:
        topic = topics.SCORER.at(EVENT) if isinstance(message, ScorerState) else topics.SERVED.at(EVENT, table=TABLE)
        self.wire.tell(Incoming(topic, encode(message), lambda: None))
        self.program.step(timeout=0)

    def wait(self, seconds: int) -> ScreenView:
        """Let time pass, and return the view."""
        for _ in range(seconds):
            self.time.wait(S)
            self.program.step(timeout=0)
        return self.program.view()


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Seated]:
    with closing(TableJournal(tmp_path / "table.sqlite", OURS)) as journal:
        made = Seated(tmp_path, journal)
        made.connect(up=True)
        yield made


def scorer(lifecycle: Literal["active", "gone"] = "active") -> ScorerState:
    return ScorerState(
        id="scorer-00000001", event=EVENT, seq=1, run="run-00000001", term=1, store="store-00000001",
        lifecycle=lifecycle, version="0.1.0",
    )  # fmt: skip


def test_a_connected_table_beats_every_ten_seconds_and_names_its_device(table: Seated) -> None:
    table.wait(3 * BEAT_S)
    assert len(table.wire.beats) == 4
    journal = table.program._server._journal
    assert {(one.table, one.device, one.start) for one in table.wire.beats} == {(TABLE, journal.device, journal.start)}
    assert len({one.id for one in table.wire.beats}) == 4


def test_a_table_without_a_connection_does_not_beat(table: Seated) -> None:
    table.connect(up=False)
    table.wire.beats.clear()
    table.wait(3 * BEAT_S)
    assert table.wire.beats == []


def test_a_device_that_does_not_serve_the_table_does_not_beat(table: Seated) -> None:
    table.hear(Served(id="served-00000001", event=EVENT, seq=1, table=TABLE, device="kiosk-other-1"))
    table.wire.beats.clear()
    table.wait(3 * BEAT_S)
    assert table.wire.beats == []


def test_a_scorer_silent_for_three_beats_is_shown_and_the_play_goes_on(table: Seated) -> None:
    table.hear(scorer())
    assert not table.wait(SILENT_S - 1).line.scorer_silent
    assert table.wait(1).line.scorer_silent
    table.hear(scorer())
    assert not table.program.view().line.scorer_silent


def test_a_last_will_neither_ends_nor_begins_silence(table: Seated) -> None:
    table.hear(scorer())
    table.wait(SILENT_S - 1)
    table.hear(scorer("gone"))
    assert not table.program.view().line.scorer_silent
    assert table.wait(1).line.scorer_silent


def test_a_scorer_of_which_the_broker_delivers_nothing_is_silent_too(table: Seated) -> None:
    """A broker may keep its last will without delivering it to a table that has just started."""
    assert not table.wait(SILENT_S - 1).line.scorer_silent
    assert table.wait(1).line.scorer_silent


def test_offline_is_shown_and_after_it_the_scorer_has_its_full_time_again(table: Seated) -> None:
    table.hear(scorer())
    table.connect(up=False)
    table.wait(2 * SILENT_S)
    table.connect(up=True)
    assert not table.wait(SILENT_S - 1).line.scorer_silent


def test_a_gone_scorer_is_waited_for_from_the_connection_on() -> None:
    watch = ScorerWatch()
    assert not watch.silent(SILENT_S * S)
    watch.connected(5 * S)
    watch.take(scorer("gone"), 6 * S)
    assert [watch.silent(at * S) for at in (4 + SILENT_S, 5 + SILENT_S)] == [False, True]


def test_a_beat_reveals_nothing_of_the_play(table: Seated) -> None:
    table.wait(1)
    said = json.loads(encode(table.wire.beats[0]))
    assert set(said) == {"schema", "id", "event", "table", "device", "start", "at", "disk_mib", "celsius"}
    assert said["disk_mib"] % DISK_STEP_MIB == 0
