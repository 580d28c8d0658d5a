"""A session without any broker, with the device restarted in the middle: everything arrives later, once, in order.

A network that is cut or swallows everything during play is tested in `tests/e2e/test_faults.py`.
"""

from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.protocol import SEATS, Assignment, LogMessage, Receipt, TableState, decode_on_topic, encode, topics
from broker.protocol.link import Incoming, LinkChanged
from broker.scorer.devices import TableStates
from kiosk.config import KioskSettings
from kiosk.journal import TableJournal
from kiosk.program import TableProgram
from kiosk.table import Phase
from kiosk.uplink import RESEND_NS
from tests.kiosk.connected import Table, connected
from tests.kiosk.journals import OURS, receipt
from tests.kiosk.standing import Standing, Time, standing
from tests.kiosk.tables import EVENT, TABLE, S, plan, play

AN_HOUR = 3600 * S


def second_play(table: Standing) -> None:
    """Play the second play of the plan: nobody wins."""
    table.type("enter")
    table._restore()
    table.press(*SEATS)
    assert table.phase is Phase.PLAYING
    table.time.wait()
    table.type("d")
    table.pass_time(9 * S)
    table.press(*SEATS)


def until_connected(table: Table) -> None:
    """Let the table connect, and send what is waiting."""
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
    """A link that is up before the program has been told."""

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


def test_facts_waiting_for_a_connection_are_sent_once_when_the_program_learns_of_it(tmp_path: Path) -> None:
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
        assert len(made[0].published) == len(kept) + 2  # and its state, and a beat


class Late:
    """A table connected again, to a broker that delivers old messages late, and a scorer that answers hellos.

    nats-server delivers unacknowledged messages two seconds after a connection, and after newer ones.
    """

    def __init__(self, folder: Path, journal: TableJournal, *answer: Receipt | Assignment) -> None:
        """`answer`: the scorer's current messages to the table."""
        links, self._time, self._answer = list[EarlyLink](), Time(), answer

        def link(tell: Callable[[Incoming | LinkChanged], None]) -> EarlyLink:
            links.append(EarlyLink(tell))
            return links[0]

        settings = KioskSettings(folder / "table.toml")
        self.program = TableProgram(settings, journal, self._time, self._time.of_day, link, board=tuple)
        self._link = links[0]
        self._link.tell(LinkChanged(up=True))

    def hear(self, *said: Receipt | Assignment) -> None:
        """Deliver messages of a scorer, current or earlier."""
        for one in said:
            topic = topics.RECEIPT if isinstance(one, Receipt) else topics.ASSIGNMENT
            self._link.tell(Incoming(topic.at(EVENT, table=TABLE), encode(one), lambda: None))
        self.program.step(timeout=0)

    def be_answered(self) -> None:
        """Let some seconds pass; the scorer answers if the table announces itself."""
        before, heard = len(self._link.published), TableStates()
        self._time.wait(RESEND_NS)
        self.program.step(timeout=0)
        for at, (topic, payload) in enumerate(self._link.published):
            said = decode_on_topic(topic, payload)[1]
            if isinstance(said, TableState):
                if at >= before and heard.is_hello(said):
                    self.hear(*self._answer)
                heard.apply(said)


def test_a_late_receipt_of_an_older_store_does_not_keep_facts_from_the_current_one(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.RECORDED)
        kept = {one.seq: one.id for one in table.journal.unsent()}
    with closing(TableJournal(tmp_path / "table.sqlite", OURS)) as journal:
        restored = receipt(upto=0, store="store-restored")
        late = Late(tmp_path, journal, restored)
        late.hear(restored, receipt(taken=kept))
        assert journal.unsent() == ()
        late.be_answered()
        assert {one.seq: one.id for one in journal.unsent()} == kept


def test_a_late_plan_is_played_only_until_the_scorer_has_answered(tmp_path: Path) -> None:
    before = plan(play(1), play(2))
    over = replace(before, settled=(2,), recorded=(1, 2))
    with standing(tmp_path) as table:
        table.come_to(Phase.RECORDED)
    with closing(TableJournal(tmp_path / "table.sqlite", OURS)) as journal:
        late = Late(tmp_path, journal, over)
        late.hear(receipt(), over)
        late.hear(before)
        late.program.key("enter")
        phases = [late.program.state.phase]
        late.be_answered()
        assert [*phases, late.program.state.phase] == [Phase.RESTORING, Phase.FINISHED]
