"""Messages that a broker delivers late, after newer ones, change nothing at a table."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.protocol import ArbiterPin, Served, TableState, decode_on_topic, encode, topics
from broker.protocol.link import Incoming, LinkChanged
from tests.kiosk.connected import Table, connected
from tests.kiosk.tables import EVENT, TABLE, S

OTHER = "kiosk-other-1"
NEW, OLD = "1" * 16, "2" * 16
"""Marks of two settings of the PIN."""


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with connected(tmp_path) as made:
        made.hello()
        yield made


def deliver(table: Table, message: Served | ArbiterPin) -> None:
    """Deliver a message of the scorer to the table."""
    topic = topics.SERVED if isinstance(message, Served) else topics.PIN
    table.program._message(Incoming(topic.at(EVENT, table=TABLE), encode(message), lambda: None))


def serves(table: Table, term: int, seq: int, device: str = "") -> bool:
    """Deliver which device serves the table, by default its own; return whether its own does then."""
    device = device or table.program._table.journal.device
    deliver(table, Served(id="served-00000001", event=EVENT, term=term, seq=seq, table=TABLE, device=device))
    return not table.program._server.served_elsewhere


def mark_after(table: Table, term: int, seq: int, mark: str | None) -> str | None:
    """Deliver a mark of the PIN; return the table's mark afterwards."""
    deliver(table, ArbiterPin(id="pin-00000001", event=EVENT, term=term, seq=seq, table=TABLE, key="0" * 64, mark=mark))
    return table.program._keyboard.pin


def states(table: Table) -> int:
    """Return how often the table has published its state."""
    said = [decode_on_topic(one.topic, one.payload)[1] for one in table.hear_until_marked()]
    return sum(isinstance(one, TableState) for one in said)


def test_a_late_message_silences_nobody_and_the_scorers_answer_to_a_new_request_counts(table: Table) -> None:
    assert serves(table, 3, 5)
    assert [serves(table, *order, OTHER) for order in ((3, 4), (2, 9))] == [True, True]
    states(table)
    table.time.now += 4 * S
    table.program.step(timeout=0)
    assert states(table) == 2
    assert not serves(table, 3, 4, OTHER)


def test_repeated_and_newer_messages_are_not_late(table: Table) -> None:
    orders = ((3, 4, ""), (3, 4, OTHER), (3, 5, ""), (4, 1, OTHER))
    assert [serves(table, *order) for order in orders] == [True, False, True, False]


def test_a_scorer_without_a_term_is_believed(table: Table) -> None:
    assert [serves(table, 2, 9), serves(table, 0, 1, OTHER)] == [True, False]


def test_a_replaced_or_removed_mark_of_the_pin_does_not_come_back(table: Table) -> None:
    assert mark_after(table, 3, 5, NEW) == NEW
    assert [mark_after(table, *order) for order in ((3, 4, OLD), (3, 3, None), (2, 9, OLD))] == [NEW] * 3
    assert [mark_after(table, 3, 6, None), mark_after(table, 3, 5, NEW)] == [None, None]


def test_a_newer_message_of_one_type_makes_none_of_another_type_late(table: Table) -> None:
    assert serves(table, 3, 9)
    assert mark_after(table, 3, 5, NEW) == NEW


def test_at_a_broker_whose_scorer_has_an_older_store_a_refused_device_may_serve(table: Table) -> None:
    assert not serves(table, 5, 7, OTHER)
    for up in (False, True):
        table.program._server.link_changed(LinkChanged(up=up), table.time.now)
    assert serves(table, 4, 1)
