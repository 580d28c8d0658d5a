"""A session without any broker, the device restarted in the middle of it: everything arrives later, once, in order.

That a network is cut or swallows everything while tables play is in `tests/e2e/test_faults.py`.
"""

from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest

from broker.protocol import SEATS, LogMessage, decode_on_topic
from broker.protocol.link import Incoming, LinkChanged
from kiosk.config import KioskSettings
from kiosk.journal import TableJournal
from kiosk.program import TableProgram
from kiosk.table import Phase
from tests.kiosk.connected import Table, connected
from tests.kiosk.journals import OURS, receipt
from tests.kiosk.standing import Standing, Time, standing
from tests.kiosk.tables import S

AN_HOUR = 3600 * S


def second_play(table: Standing) -> None:
    """Play what the plan has after the first: nobody wins."""
    table.type("enter")
    table._restore()
    table.press(*SEATS)
    assert table.phase is Phase.PLAYING
    table.time.wait()
    table.type("d")
    table.pass_time(9 * S)
    table.press(*SEATS)


def until_connected(table: Table) -> None:
    """Let the table connect, and send what it has to."""
    while not table.program._server.connected:
        table.program.step(timeout=0.01)


def log_messages(heard: Iterable[tuple[str, bytes]]) -> list[LogMessage]:
    messages = (decode_on_topic(topic, payload)[1] for topic, payload in heard)
    return [one for one in messages if isinstance(one, LogMessage)]


def test_a_session_without_the_broker_arrives_later_once_and_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = Time()
    with standing(tmp_path, time) as table:
        table.come_to(Phase.RECORDED)
    time.wait(AN_HOUR)
    with standing(tmp_path, time) as table:
        second_play(table)
        assert table.phase is Phase.RECORDED
        kept = table.journal.unsent()
    with connected(tmp_path) as online:
        published = list[tuple[str, bytes]]()
        publish = online.program._server.link.publish

        def publish_and_record(topic: str, payload: bytes, *, retain: bool) -> None:
            published.append((topic, payload))
            publish(topic, payload, retain=retain)

        monkeypatch.setattr(online.program._server.link, "publish", publish_and_record)
        until_connected(online)
        sent = log_messages(published)
        assert [(one.id, one.fact) for one in sent] == [(one.id, one.fact) for one in kept]
        assert [one.seq for one in sent] == [*range(1, len(kept) + 1)]
        assert [type(one.fact).__name__ for one in sent].count("Result") == 2
        # With QoS 1 the broker may deliver a message twice.
        arrived = log_messages((one.topic, one.payload) for one in online.hear_until_marked())
        assert list({one.id: one for one in arrived}.values()) == sent
        online.tell(receipt(taken={one.seq: one.id for one in kept}, upto=len(kept)))
        while online.program.view().line.unsent:
            online.program.step(timeout=0.01)
        published.clear()
        online.program._server.facts.reconnected(online.time.wait())
        assert log_messages(published) == []


class EarlyLink:
    """A link that is up before the program has been told so."""

    def __init__(self, tell: Callable[[Incoming | LinkChanged], None]) -> None:
        self.tell, self.up, self.published = tell, True, list[tuple[str, bytes]]()

    def start(self) -> None:
        pass

    def stop(self) -> None:
        self.up = False

    def flush(self, timeout_s: float) -> None:
        pass

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        assert retain is (not topic.endswith(("/log", "/beat")))
        self.published.append((topic, payload))


def test_what_waited_for_a_connection_is_sent_once_when_the_program_learns_of_it(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.RECORDED)
        kept = table.journal.unsent()
    with closing(TableJournal(tmp_path / "table.sqlite", OURS)) as journal:
        made, time = list[EarlyLink](), Time()

        def link(tell: Callable[[Incoming | LinkChanged], None]) -> EarlyLink:
            made.append(EarlyLink(tell))
            return made[0]

        program = TableProgram(KioskSettings(tmp_path / "table.toml"), journal, time, time.of_day, link, board=tuple)
        program.step(timeout=0)
        made[0].tell(LinkChanged(up=True))
        program.step(timeout=0)
        assert [one.id for one in log_messages(made[0].published)] == [one.id for one in kept]
        assert len(made[0].published) == len(kept) + 2  # and how the table stands, and that it is there
