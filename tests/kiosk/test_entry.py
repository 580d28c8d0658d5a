"""Entering a win at the keyboard: every way through the form, and no way to anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.contract.words import SEATS, Seat
from kiosk.entry import Form, Won, press


def typed(form: Form, *keys: str) -> Form | Won:
    """Press keys until the form is done with."""
    for at, key in enumerate(keys):
        after = press(form, key)
        if not isinstance(after, Form):
            assert at == len(keys) - 1
            return after
        form = after
    return form


def form(*declared: Seat) -> Form:
    return Form(declared)


def test_one_hand_is_valued_and_its_discarder_named() -> None:
    assert typed(form("east"), "1", "8", "enter", "n") == Won({"east": 18}, "north")


def test_one_hand_is_self_drawn() -> None:
    assert typed(form("east"), "9", "enter", "d") == Won({"east": 9}, None)


def test_several_hands_are_valued_in_the_order_of_declaration() -> None:
    won = typed(form("north", "south", "west"), "8", "enter", "1", "0", "enter", "1", "2", "enter", "e")
    assert won == Won({"north": 8, "south": 10, "west": 12}, "east")


@pytest.mark.parametrize(("key", "seat"), [("e", "east"), ("s", "south"), ("w", "west"), ("n", "north")])
def test_a_discarder_is_named_by_the_first_letter_and_is_no_winner(key: str, seat: Seat) -> None:
    for winner in SEATS:
        done = typed(form(winner), "8", "enter", key)
        assert done == (Form((winner,), (8,)) if seat == winner else Won({winner: 8}, seat))


def test_several_hands_cannot_be_self_drawn() -> None:
    asked = typed(form("east", "west"), "8", "enter", "8", "enter")
    assert press(asked, "d") == asked  # type: ignore[arg-type] # it is a form


def test_back_takes_a_digit_then_a_value() -> None:
    at = Form(("east", "west"), (8,), "12")
    assert press(at, "back") == Form(("east", "west"), (8,), "1")
    assert typed(at, "back", "back", "back") == form("east", "west")
    assert typed(at, "back", "back", "back", "back") == form("east", "west")


def test_back_from_the_discarder_asks_the_last_value_again() -> None:
    assert typed(form("east"), "8", "enter", "back", "9", "enter", "s") == Won({"east": 9}, "south")


def test_a_value_has_at_most_three_digits_and_none_before_it_that_says_nothing() -> None:
    assert typed(form("east"), "0", "0", "8", "8", "8", "8", "enter", "d") == Won({"east": 888}, None)


@pytest.mark.parametrize("key", ["enter", "e", "q", "x", "", "12", "²", "٣", "quit"])
def test_a_key_that_means_nothing_leaves_the_form_as_it_is(key: str) -> None:
    assert press(form("east"), key) == form("east")


KEYS = st.one_of(st.sampled_from([*"0123456789eswndxrc", "enter", "back", "quit"]), st.text(max_size=2))


@given(st.permutations(SEATS), st.integers(1, 4), st.lists(KEYS, max_size=40))
def test_no_keys_ever_break_the_form_or_let_others_win(seats: list[Seat], count: int, keys: list[str]) -> None:
    declared = tuple(seats[:count])
    now: Form | Won = Form(declared)
    for key in keys:
        if not isinstance(now, Form):
            break
        now = press(now, key)
    match now:
        case Form():
            assert now.declared == declared
            assert len(now.values) <= len(declared)
        case Won():
            assert tuple(now.winners) == declared
            assert all(1 <= value <= 999 for value in now.winners.values())
            assert now.discarder not in declared
            assert now.discarder is not None or len(declared) == 1
