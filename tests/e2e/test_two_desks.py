"""Two desks with their own stores and clocks: no order is ignored, and only obeyed ones are shown as done."""

from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.people import Account, Authentication
from broker.protocol import SEATS, Order, decode_on_topic
from broker.scorer import TableView
from broker.web.tables.orders import KeptOrder, OrderDesk, OrderGiven, OrderOutcome, order_outcomes, order_refusals
from kiosk.table import arbiter
from tests.broker.people.conftest import NOON, Hand
from tests.broker.web import sample
from tests.examples import COSTLY
from tests.kiosk.tables import EVENT, TABLE, Sitting, play

DAY: Final = 86_400_000
ANNE: Final = Account("anne", "Anne", "head_arbiter", disabled=False)


class Desk:
    """A desk on its own machine."""

    def __init__(self, folder: Path, off_ms: int) -> None:
        folder.mkdir()
        self.clock, self.up, self.sent = Hand(), True, list[Order]()
        self.clock.now = NOON + off_ms
        self.auth = Authentication(folder, self.clock)
        self.orders = OrderDesk(EVENT, self.auth, self)

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Send an order, which is not retained."""
        message = decode_on_topic(topic, payload)[1]
        assert isinstance(message, Order)
        assert not retain
        self.sent.append(message)

    def give(self, seen: TableView) -> KeptOrder:
        """Order an extra minute for the table."""
        return self.orders.give(OrderGiven((TABLE,), "extra_time", 1, "late", "Anne"), ANNE, "", (seen,))


class Room:
    """A real table and two desks. `seen` is the table as the scorer knows it."""

    def __init__(self, folder: Path, *off_ms: int) -> None:
        self.sitting, self.seen = Sitting(play(1)), sample.table(TABLE)
        self.desks = [Desk(folder / f"desk-{number}", off) for number, off in enumerate(off_ms)]

    def hear(self, desk: Desk) -> None:
        """Deliver the desk's last order to the table."""
        self.sitting.take(arbiter.event_of_order(desk.sent[-1], self.sitting.wait()))

    def look(self) -> None:
        """Update what the scorer knows of the table."""
        table = self.sitting.table
        self.seen = replace(
            self.seen, ordered=table.last_order, obeyed=dict(table.handled_orders), refused=table.refused_orders
        )

    def close(self) -> None:
        """Close the desks' stores."""
        for desk in self.desks:
            desk.auth.close()


def fate_of(kept: KeptOrder, room: Room) -> OrderOutcome:
    """Return the outcome of an order at the table."""
    (fate,) = (fate for fate, tables in order_outcomes(kept, {TABLE: room.seen}).items() if tables)
    return fate


@pytest.mark.parametrize("ahead_ms", [600_000, DAY, -DAY])
def test_a_table_obeys_a_new_desk_whatever_its_clock(tmp_path: Path, ahead_ms: int) -> None:
    room = Room(tmp_path, ahead_ms, 0)
    for desk in room.desks:
        kept = desk.give(room.seen)
        room.hear(desk)
        assert room.sitting.table.last_order == kept.seq
        room.look()
        assert fate_of(kept, room) == "done"
    room.close()
    assert room.sitting.table.extra_min == 2


def test_an_order_that_a_table_cannot_obey_is_refused_and_not_done(tmp_path: Path) -> None:
    room = Room(tmp_path, 0)
    (desk,) = room.desks
    room.sitting = Sitting(play(1), play(2))
    room.sitting.declare("west")
    room.sitting.value("east", west=12)
    room.sitting.press(*SEATS)
    room.sitting.next_deal()
    kept = desk.orders.give(OrderGiven((TABLE,), "reopen", 0, "upside down", "Anne"), ANNE, "", (room.seen,))
    room.hear(desk)
    room.look()
    room.close()
    assert fate_of(kept, room) == "refused"
    assert order_refusals(kept, {TABLE: room.seen}) == {"next_deal_begun": [TABLE]}


@settings(COSTLY, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    offs=st.lists(st.sampled_from([-DAY, -600_000, 0, 1, 600_000, DAY]), min_size=2, max_size=2),
    steps=st.lists(st.tuples(st.integers(0, 1), st.booleans(), st.booleans()), max_size=8),
)
def test_exactly_the_orders_that_the_table_obeyed_are_done(
    tmp_path_factory: pytest.TempPathFactory, offs: list[int], steps: list[tuple[int, bool, bool]]
) -> None:
    room = Room(tmp_path_factory.mktemp("room"), *offs)
    given_, obeyed = list[KeptOrder](), list[str]()
    for which, arrives, heard_of in steps:
        desk, before = room.desks[which], room.sitting.table.last_order
        given_.append(desk.give(room.seen))
        if arrives:
            room.hear(desk)
        if room.sitting.table.last_order != before:
            obeyed.append(given_[-1].id)
        if heard_of:
            room.look()
    room.look()
    room.close()
    assert [kept.id for kept in given_ if fate_of(kept, room) == "done"] == obeyed
