"""Entering a win of riichi by keys: han and fu, yakuman, whose tile, what follows."""

import pytest

from broker.contract.riichi import RiichiEvent, RiichiWin
from kiosk.riichi_entry import Told, WinForm, press

EAST = RiichiWin(han=3, fu=30)


def typed(form: WinForm, *keys: str) -> WinForm | Told:
    """Type keys one after the other."""
    filled: WinForm | Told = form
    for key in keys:
        assert isinstance(filled, WinForm)
        filled = press(filled, key)
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
        (["x"], RiichiEvent(kind="chombo", offenders=("east",))),
    ],
)
def test_a_win_is_told_when_all_is_known(keys: list[str], told: RiichiEvent) -> None:
    assert typed(WinForm(("east",)), *keys) == Told(told)


def test_each_winner_is_asked_and_only_one_can_have_drawn() -> None:
    filled = typed(WinForm(("south", "north")), "1", "enter", "3", "0", "enter", "6", "enter", "d", "n", "w")
    wins = {"south": RiichiWin(han=1, fu=30), "north": RiichiWin(han=6)}
    assert filled == Told(RiichiEvent(kind="ron", wins=wins, loser="west"))  # type: ignore[arg-type]  # seats


@pytest.mark.parametrize(("answer", "none"), [("y", True), ("n", False)])
def test_where_the_discarder_is_in_riichi_it_is_asked_whether_it_came_about(answer: str, none: bool) -> None:  # noqa: FBT001 - a parameter
    filled = typed(WinForm(("east",), riichi=("west",)), "6", "enter", "w", answer)
    assert filled == Told(RiichiEvent(kind="ron", wins={"east": RiichiWin(han=6)}, loser="west"), none)


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
def test_every_step_can_be_taken_back_and_what_means_nothing_does_nothing(keys: list[str]) -> None:
    form = WinForm(("east",))
    assert typed(form, *keys) == form


def test_no_more_yakuman_are_taken_than_a_hand_can_have() -> None:
    form = typed(WinForm(("east",)), "y", "clear", "7", "enter")
    assert isinstance(form, WinForm)
    assert (form.asked, form.digits) == ("yakuman", "7")
