"""The laws of a button with two contacts: exactly one is closed, or something is wrong with the cable."""

from hypothesis import given
from hypothesis import strategies as st

from firmware.changeover import WRONG_NS, Changeover
from firmware.reports import Health

OFF = Health("button-east", "button_disconnected", "both contacts are open")
TOUCH = Health("button-east", "button_shorted", "both contacts are closed")
WELL = Health("button-east", None)


def at_rest() -> Changeover:
    return Changeover("east", closes=False, opens=True, since=0)


def test_at_rest_and_pressed_nothing_is_due() -> None:
    button = at_rest()
    assert button.due() is None
    assert button.edge(opens=False, at=5) == []
    assert button.due() == 5 + WRONG_NS
    assert button.edge(closes=True, at=10) == []
    assert button.due() is None


def test_both_open_for_long_is_a_cable_that_is_off_told_once() -> None:
    button = at_rest()
    button.edge(opens=False, at=5)
    assert button.pass_time(4 + WRONG_NS) == []
    assert button.pass_time(5 + WRONG_NS) == [OFF]
    assert (button.pass_time(9 * WRONG_NS), button.due()) == ([], None)
    assert button.edge(opens=True, at=10 * WRONG_NS) == [WELL]


def test_both_closed_for_long_is_wires_that_touch() -> None:
    button = at_rest()
    assert [*button.edge(closes=True, at=5), *button.pass_time(5 + WRONG_NS)] == [TOUCH]


def test_an_edge_that_comes_after_it_was_due_tells_first_what_was() -> None:
    button = at_rest()
    button.edge(opens=False, at=0)
    assert button.edge(opens=True, at=2 * WRONG_NS) == [OFF, WELL]


@given(st.lists(st.tuples(st.integers(1, 3 * WRONG_NS), st.booleans(), st.booleans()), max_size=12))
def test_ill_and_well_alternate_and_the_last_is_what_is(steps: list[tuple[int, bool, bool]]) -> None:
    button, told, at = at_rest(), list[Health](), 0
    for after, first, level in steps:
        at += after
        told += button.edge(closes=level, at=at) if first else button.edge(opens=level, at=at)
    told += button.pass_time(at + WRONG_NS)
    assert [one.code is None for one in told] == [index % 2 == 1 for index in range(len(told))]
    assert bool(told and told[-1].code) == (button.closes == button.opens)
