"""Entering a win at the keyboard: every way through the forms, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import SEATS, RiichiEvent, RiichiWin, Seat
from kiosk.input import Form, WinForm
from kiosk.input.forms import MOST_VALUE, WinEntered, Won, press_form_key, press_win_key


def typed(form: Form, *keys: str) -> Form | Won:
    """Press keys until the form is complete."""
    for at, key in enumerate(keys):
        after = press_form_key(form, key)
        assert not isinstance(after, str)
        if not isinstance(after, Form):
            assert at == len(keys) - 1
            return after
        form = after
    return form


def typed_form(*keys: str) -> Form:
    """Press keys at the form of one hand; a refusal leaves it as it was."""
    now = form("east")
    for key in keys:
        after = press_form_key(now, key)
        now = after if isinstance(after, Form) else now
    return now


def form(*declared: Seat) -> Form:
    return Form(declared)


def test_one_hand_is_valued_and_its_discarder_named() -> None:
    assert typed(form("east"), "1", "8", "enter", "n") == Won({"east": 18}, "north")


def test_one_hand_can_be_self_drawn() -> None:
    assert typed(form("east"), "9", "enter", "d") == Won({"east": 9}, None)


def test_several_hands_are_valued_in_the_order_of_declaration() -> None:
    won = typed(form("north", "south", "west"), "e", "e", "e", "8", "enter", "1", "0", "enter", "1", "2", "enter")
    tiles: dict[Seat, Seat] = {"north": "east", "south": "east", "west": "east"}
    assert won == Won({"north": 8, "south": 10, "west": 12}, "east", tiles)


@pytest.mark.parametrize(
    ("tiles", "discarder", "winners"),
    [
        ({"west": "east", "south": "south"}, "east", ["west"]),  # nothing showed, so south went on and drew
        ({"south": "south", "west": "east"}, "east", ["west"]),  # the discard came first, whoever pressed first
        ({"west": "east", "south": "south", "north": "east"}, "east", ["west", "north"]),
        ({"west": "east", "north": "south"}, "east", ["west"]),  # of two discards, the one of the first press
        ({"north": "south", "west": "east"}, "south", ["north"]),
        ({"north": "south", "south": "south"}, "south", ["north"]),  # a kong robbed, and its replacement tile
        ({"west": "east", "north": "east"}, "east", ["west", "north"]),
    ],
)
def test_only_declarations_on_the_earliest_tile_are_valued(
    tiles: dict[Seat, Seat], discarder: Seat, winners: list[Seat]
) -> None:
    keys = ["d" if seat == owner else owner[0] for seat, owner in tiles.items()]
    asked = typed(form(*tiles), *keys)
    assert isinstance(asked, Form)
    assert (asked.valued, asked.seat) == (tuple(winners), winners[0])
    assert set(asked.overtaken) == set(tiles) - set(winners)
    won = typed(asked, *["9", "enter"] * len(winners))
    assert won == Won(dict.fromkeys(winners, 9), discarder, tiles)


def test_each_declarer_is_asked_in_order_whose_tile_it_was_and_cannot_name_their_own_discard() -> None:
    asked = form("west", "south")
    assert (asked.whose_tile, asked.seat) == ("west", None)
    assert press_form_key(asked, "w") == asked
    after = typed(asked, "e")
    assert isinstance(after, Form)
    assert after.whose_tile == "south"


@pytest.mark.parametrize(("key", "seat"), [("e", "east"), ("s", "south"), ("w", "west"), ("n", "north")])
def test_a_discarder_is_named_by_first_letter_and_cannot_be_a_winner(key: str, seat: Seat) -> None:
    for winner in SEATS:
        done = typed(form(winner), "8", "enter", key)
        assert done == (Form((winner,), (8,)) if seat == winner else Won({winner: 8}, seat))


def test_several_hands_cannot_be_self_drawn() -> None:
    assert press_form_key(Form(("east", "west"), tiles=("east",)), "d") == "several_self_drawn"


def test_back_removes_a_digit_then_a_value_then_the_owner_of_the_tile() -> None:
    tiles: tuple[Seat, ...] = ("north", "north")
    at = Form(("east", "west"), (8,), "12", tiles=tiles)
    assert press_form_key(at, "back") == Form(("east", "west"), (8,), "1", tiles=tiles)
    assert typed(at, "back", "back", "back") == Form(("east", "west"), tiles=tiles)
    assert typed(at, *["back"] * 5) == form("east", "west")
    assert typed(at, *["back"] * 6) == form("east", "west")


def test_back_from_the_discarder_returns_to_the_last_value() -> None:
    assert typed(form("east"), "8", "enter", "back", "9", "enter", "s") == Won({"east": 9}, "south")


def test_leading_zeros_of_a_value_are_dropped() -> None:
    assert typed(form("east"), "0", "0", "8", "8", "enter", "d") == Won({"east": 88}, None)


def test_a_digit_that_makes_the_value_impossible_is_refused() -> None:
    assert press_form_key(typed_form("9", "9"), "9") == "above_maximum"
    assert typed_form("9", "9", "9") == typed_form("9", "9")
    assert typed_form(*str(MOST_VALUE)).digits == str(MOST_VALUE)


def test_a_value_below_the_minimum_is_refused_and_its_digits_stay() -> None:
    asked = Form(("east",), least=8, digits="7")
    assert press_form_key(asked, "enter") == "below_minimum"
    assert press_form_key(asked, "0") == Form(("east",), least=8, digits="70")
    assert press_form_key(Form(("east",), least=8, digits="8"), "enter") == Form(("east",), (8,), least=8)


@pytest.mark.parametrize("key", ["enter", "e", "q", "x", "", "12", "²", "٣", "quit"])
def test_a_key_without_meaning_leaves_the_form_as_it_is(key: str) -> None:
    assert press_form_key(form("east"), key) == form("east")


KEYS = st.one_of(st.sampled_from([*"0123456789eswndxrc", "enter", "back", "quit"]), st.text(max_size=2))


@given(st.permutations(SEATS), st.integers(1, 4), st.lists(KEYS, max_size=40))
def test_no_keys_break_the_form_or_make_others_win(seats: list[Seat], count: int, keys: list[str]) -> None:
    declared = tuple(seats[:count])
    now: Form | Won = Form(declared)
    for key in keys:
        if not isinstance(now, Form):
            break
        filled = press_form_key(now, key)
        now = now if isinstance(filled, str) else filled
    match now:
        case Form():
            assert now.declared == declared
            assert len(now.values) <= len(declared)
        case Won():
            assert set(now.winners) <= set(declared)
            assert now.winners
            assert all(1 <= value <= MOST_VALUE for value in now.winners.values())
            assert now.discarder not in now.winners
            assert now.discarder is not None or len(now.winners) == 1


EAST = RiichiWin(han=3, fu=30)


def typed_win(form: WinForm, *keys: str) -> WinForm | WinEntered:
    """Type keys one after the other."""
    filled: WinForm | WinEntered = form
    for key in keys:
        assert isinstance(filled, WinForm)
        pressed = press_win_key(filled, key)
        assert not isinstance(pressed, str)
        filled = pressed
    return filled


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (["3", "enter", "3", "0", "enter", "w"], RiichiEvent(kind="ron", wins={"east": EAST}, loser="west")),
        (["3", "enter", "3", "0", "enter", "d"], RiichiEvent(kind="tsumo", wins={"east": EAST})),
        (["5", "enter", "d"], RiichiEvent(kind="tsumo", wins={"east": RiichiWin(han=5)})),
        (["1", "3", "enter", "n"], RiichiEvent(kind="ron", wins={"east": RiichiWin(han=13)}, loser="north")),
        (["y", "enter", "enter", "d"], RiichiEvent(kind="tsumo", wins={"east": RiichiWin(yakuman=1)})),
        (
            ["y", "clear", "2", "enter", "s", "w"],
            RiichiEvent(kind="ron", wins={"east": RiichiWin(yakuman=2, responsible="south")}, loser="west"),
        ),
    ],
)
def test_a_win_is_complete_once_everything_is_known(keys: list[str], told: RiichiEvent) -> None:
    assert typed_win(WinForm(("east",)), *keys) == WinEntered(told)


def test_with_several_declarations_each_tile_is_asked_for_before_the_values() -> None:
    filled = typed_win(WinForm(("south", "north")), "w", "w", "1", "enter", "3", "0", "enter", "6", "enter")
    wins: dict[Seat, RiichiWin] = {"south": RiichiWin(han=1, fu=30), "north": RiichiWin(han=6)}
    told = RiichiEvent(kind="ron", wins=wins, loser="west")
    assert filled == WinEntered(told, declared_on={"south": "west", "north": "west"})


def test_a_riichi_hand_declared_on_a_later_tile_is_not_valued() -> None:
    form = typed_win(WinForm(("south", "north"), riichi=("west",)), "d", "w")
    assert isinstance(form, WinForm)
    assert (form.seat, form.overtaken) == ("north", ("south",))
    filled = typed_win(form, "6", "enter", "n")
    told = RiichiEvent(kind="ron", wins={"north": RiichiWin(han=6)}, loser="west")
    assert filled == WinEntered(told, declared_on={"south": "south", "north": "west"})
    assert press_win_key(typed_win(WinForm(("south", "north")), "d"), "d") == "several_self_drawn"  # type: ignore[arg-type]  # a form


@pytest.mark.parametrize(
    "keys", [["w"], ["w", "w"], ["d", "e"], ["w", "w", "6", "enter"], ["w", "w", "6", "enter", "6"]]
)
def test_the_owners_of_the_tiles_can_be_taken_back(keys: list[str]) -> None:
    form = WinForm(("south", "north"), riichi=("west",))
    assert typed_win(form, *keys, *["back"] * 6) == form


@pytest.mark.parametrize(("answer", "none"), [("y", True), ("n", False)])
def test_a_discarder_in_riichi_is_asked_about_the_declaration_tile(*, answer: str, none: bool) -> None:
    filled = typed_win(WinForm(("east",), riichi=("west",)), "6", "enter", "w", answer)
    assert filled == WinEntered(RiichiEvent(kind="ron", wins={"east": RiichiWin(han=6)}, loser="west"), none)


@pytest.mark.parametrize(
    "keys",
    [
        ["1", "back"],
        ["3", "enter", "back"],
        ["3", "enter", "2", "back", "back"],
        ["y", "back"],
        ["y", "enter", "back"],
        ["6", "enter", "back"],
        ["enter"],
        ["0", "enter"],
        ["2", "2", "2", "clear"],
        ["quit"],
    ],
)
def test_every_step_can_be_taken_back_and_keys_without_meaning_do_nothing(keys: list[str]) -> None:
    form = WinForm(("east",))
    assert typed_win(form, *keys) == form


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        (["y", "clear", "7"], "impossible_value"),
        (["1", "0", "0"], "impossible_value"),
        (["3", "enter", "3", "5"], "impossible_fu"),
        (["3", "enter", "1", "0"], "impossible_fu"),
    ],
)
def test_impossible_values_are_refused_as_they_are_typed(keys: list[str], code: str) -> None:
    form = typed_win(WinForm(("east",)), *keys)
    assert isinstance(form, WinForm)
    assert press_win_key(form, "enter") == code
