"""Orders are stored with author, time and reason, and never changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.people import Authentication, PeopleStoreBroken
from broker.people.errors import BadOrder
from broker.protocol import LAST_TABLE
from broker.web.tables.orders import COMMANDS, LONGEST_REASON, OrderGiven, Orders, read_order
from tests.broker.people.conftest import NOON, Hand

KNOWN = (1, 2, 3)
PAUSE = OrderGiven((1,), "pause", 0, "fire alarm", "Anne")


def test_an_order_has_tables_a_command_and_a_reason() -> None:
    assert read_order([3, 1, 3], KNOWN, "extra_time", "5", "  late  carrier ", "Anne") == OrderGiven(
        (1, 3), "extra_time", 5, "late carrier", "Anne"
    )


@pytest.mark.parametrize(
    ("tables", "command", "minutes", "reason"),
    [
        ([], "pause", "", "why"),
        ([4], "pause", "", "why"),
        ([1], "close", "", "why"),
        ([1], "pause", "", " "),
        ([1], "pause", "", "x" * (LONGEST_REASON + 1)),
        ([1], "pause", "", "a\u202eb"),
        *(([1], "extra_time", minutes, "why") for minutes in ("", "0", "61", "-1", "5.5", "٥", "999999999999")),
    ],
)
def test_an_invalid_order_is_refused(tables: list[int], command: str, minutes: str, reason: str) -> None:
    with pytest.raises(BadOrder):
        read_order(tables, KNOWN, command, minutes, reason, "Anne")


@given(st.lists(st.integers()), st.sampled_from([*COMMANDS, "x"]), st.text(max_size=5), st.text(max_size=300))
def test_any_input_is_an_order_within_bounds_or_is_refused(
    tables: list[int], command: str, minutes: str, reason: str
) -> None:
    try:
        made = read_order(tables, KNOWN, command, minutes, reason, "Anne")
    except BadOrder:
        return
    assert set(made.tables) <= set(KNOWN)
    assert (0 <= made.minutes <= 60, 1 <= len(made.reason) <= LONGEST_REASON) == (True, True)


def test_order_numbers_grow_even_if_the_clock_is_set_back(auth: Authentication, clock: Hand) -> None:
    orders = Orders(auth.store)
    first = orders.keep("order-0001", PAUSE, "anne", clock.now).seq
    clock.now -= 86_400_000
    second = orders.keep("order-0002", PAUSE, "anne", clock.now).seq
    assert (first, second) == (NOON // 1000, NOON // 1000 + 1)


@pytest.mark.parametrize("off_ms", [-86_400_000, 0, 86_400_000])
def test_an_order_number_is_above_all_that_tables_have_obeyed_whatever_the_clock(
    auth: Authentication, clock: Hand, off_ms: int
) -> None:
    obeyed = NOON // 1000
    clock.now += off_ms
    first = Orders(auth.store).keep("order-0001", PAUSE, "anne", clock.now, above=obeyed).seq
    second = Orders(auth.store).keep("order-0002", PAUSE, "anne", clock.now, above=obeyed).seq
    assert (first, second) == (max(obeyed + 1, clock.now // 1000), first + 1)


def test_an_order_is_stored_unchanged(auth: Authentication) -> None:
    orders = Orders(auth.store)
    kept = orders.keep("order-0001", PAUSE, "anne", NOON)
    assert orders.newest(5) == [kept]


def test_an_order_to_the_maximum_number_of_tables_can_be_stored(auth: Authentication) -> None:
    every = range(1, LAST_TABLE + 1)
    orders = Orders(auth.store)
    kept = orders.keep("order-0001", read_order(every, every, "pause", "", "fire alarm", "Anne"), "anne", NOON)
    assert orders.newest(1) == [kept]


def test_stored_orders_cannot_be_changed_or_deleted(auth: Authentication) -> None:
    Orders(auth.store).keep("order-0001", PAUSE, "anne", NOON)
    for statement in ("UPDATE orders SET who = 'x'", "DELETE FROM orders"):
        with pytest.raises(PeopleStoreBroken, match="append-only"), auth.store.commit() as sql:
            sql.exec_driver_sql(statement)
