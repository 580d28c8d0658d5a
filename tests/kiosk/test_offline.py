"""A session without any broker, the device started anew in the middle of it: everything arrives later, once, in order.

That a network is cut or swallows everything while tables play is in `tests/e2e/test_faults.py`.
"""

from pathlib import Path

from broker.contract.messages import LogMessage
from broker.contract.wire import decode_at
from broker.contract.words import SEATS
from kiosk.table.state import Phase
from tests.kiosk.connected import Table, connected
from tests.kiosk.journals import receipt
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


def arrived(table: Table) -> list[LogMessage]:
    """Let the table connect, and give the facts that it then sends."""
    while not table.program._link.up:
        table.program.step(timeout=0.01)
    table.program.step(timeout=0.01)
    messages = (decode_at(one.topic, one.payload)[1] for one in table.hear_until_marked())
    return [one for one in messages if isinstance(one, LogMessage)]


def test_a_session_without_the_broker_arrives_later_once_and_in_order(tmp_path: Path) -> None:
    time = Time()
    with standing(tmp_path, time) as table:
        table.come_to(Phase.RECORDED)
    time.wait(AN_HOUR)
    with standing(tmp_path, time) as table:
        second_play(table)
        assert table.phase is Phase.RECORDED
        kept = table.journal.unsent()
    with connected(tmp_path) as table:
        facts = arrived(table)
        assert [(one.id, one.fact) for one in facts] == [(one.id, one.fact) for one in kept]
        assert [one.seq for one in facts] == [*range(1, len(kept) + 1)]
        assert [type(one.fact).__name__ for one in facts].count("Result") == 2
        table.tell(receipt(taken={one.seq: one.id for one in kept}, upto=len(kept)))
        while table.program.shown().line.unsent:
            table.program.step(timeout=0.01)
        table.program._uplink.reconnected(table.time.wait())
        assert arrived(table) == []
