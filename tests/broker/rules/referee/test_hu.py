"""How a declared hu is put to the judge, and what the judge's word does."""

from collections.abc import Mapping

import pytest

from broker.contract.words import Seat
from broker.rules.errors import RuleError
from broker.rules.referee.actions import NEXT, Action
from broker.rules.referee.hand import Meld
from broker.rules.referee.judge import Hu
from broker.rules.referee.moves import apply
from broker.rules.referee.play import Play, begin
from broker.rules.referee.turns import asked
from tests.broker.rules.referee.playing import after, arranged, everybody, nobody, tiles
from tests.broker.rules.variants import OEDMC

DRAW = Action("draw", "west")
NO_CLAIM = Action("no_claim")


def by_seat(hu: Hu) -> int:
    """Judge by who asks, and never for north."""
    return nobody(hu) if hu.seat == "north" else {"east": 8, "south": 12, "west": 24}[hu.seat]


def discarded(discard: str) -> Play:
    """West, who deals, has drawn and discarded a tile."""
    return after(arranged({"west": discard}, dealer="west"), DRAW, Action("discard", "west", discard))


def turn(play: Play, discard: str | None = None, then: Action = NO_CLAIM) -> Play:
    """Let whose turn it is draw, and discard a tile or what was drawn."""
    seat = play.turns.turn
    play = apply(play, Action("draw", seat), nobody)
    play = apply(play, Action("discard", seat, discard or play.hand(seat).concealed[-1]), nobody)
    return apply(play, then, everybody)


def test_a_self_drawn_hu_is_told_with_the_drawn_tile_apart() -> None:
    deal = arranged({}, {"west": "9s"}, dealer="west")
    play = after(deal, DRAW, Action("self_hu", "west"), judge=everybody)
    ((win,), west) = (play.wins, deal.faces["west"])
    assert win.hu == Hu("west", west[:13], (), "9s", True, "east", "south", False, ())  # noqa: FBT003 - as it is called
    assert (win.hand_value, play.turns.over, asked(play.turns)) == (8, "win", ())


def test_a_hu_on_a_discard_is_told_with_the_winner_s_wind_and_the_deal_s() -> None:
    play = discarded("5m")
    (win,) = apply(play, Action("hu_on_discard", seats=("east",)), by_seat).wins
    assert (win.hu.winning_tile, win.hu.self_drawn, win.hu.concealed) == ("5m", False, play.hand("east").concealed)
    assert (win.hu.seat_wind, win.hu.prevalent_wind, win.hand_value) == ("west", "south", 8)


def test_all_who_declare_on_a_discard_are_judged_each_for_themselves() -> None:
    end = apply(discarded("5m"), Action("hu_on_discard", seats=("east", "south")), by_seat)
    assert {win.hu.seat: win.hand_value for win in end.wins} == {"east": 8, "south": 12}


@pytest.mark.parametrize("declared", [("north",), ("east", "north")])
def test_a_hu_that_the_judge_refuses_is_no_action(declared: tuple[Seat, ...]) -> None:
    with pytest.raises(RuleError) as refused:
        apply(discarded("5m"), Action("hu_on_discard", seats=declared), by_seat)
    assert (refused.value.code, refused.value.text) == ("no_win_here", "north has no win")


def test_a_self_drawn_hu_is_of_who_acts_whoever_else_is_named() -> None:
    deal = arranged({}, dealer="west")
    play = after(deal, DRAW, Action("self_hu", "west", seats=("east", "south")), judge=everybody)
    assert [win.hu.seat for win in play.wins] == ["west"]


@pytest.mark.parametrize(("seen", "last"), [(1, False), (2, False), (3, True)])
def test_a_discard_is_the_last_of_its_kind_once_the_three_others_were_seen(seen: int, last: bool) -> None:  # noqa: FBT001 - a case of the test
    play = after(arranged({"west": "5m", "north": "5m", "east": "5m", "south": "5m 4p"}, dealer="west"))
    for _ in range(seen):
        play = turn(play, "5m")
    play = turn(play, "5m", Action("hu_on_discard", NEXT[NEXT[play.turns.turn]]))
    (win,) = play.wins
    assert win.hu.last_of_kind == last


def with_pung_of_5m(walls: Mapping[Seat, str]) -> Play:
    """South has punged west's first discard, and discarded a tile."""
    deal = arranged({"west": "5m", "south": "55m"}, walls, dealer="west")
    play = turn(begin(deal, OEDMC), "5m", Action("pung", "south"))
    play = apply(play, Action("discard", "south", deal.faces["south"][5]), nobody)
    return apply(play, NO_CLAIM, nobody)


def test_a_drawn_tile_is_the_last_of_its_kind_if_the_three_others_lie_in_a_meld() -> None:
    play = turn(with_pung_of_5m({"north": "5m"}))
    (win,) = apply(apply(play, Action("draw", "north"), nobody), Action("self_hu", "north"), everybody).wins
    assert (win.hu.winning_tile, win.hu.last_of_kind) == ("5m", True)


def test_a_drawn_tile_is_not_the_last_of_its_kind_if_another_is_concealed() -> None:
    play = turn(begin(arranged({"west": "5m", "south": "55m"}, {"north": "5m"}, dealer="west"), OEDMC), "5m")
    (win,) = apply(apply(play, Action("draw", "north"), nobody), Action("self_hu", "north"), everybody).wins
    assert (win.hu.winning_tile, win.hu.last_of_kind) == ("5m", False)


def test_a_robbed_kong_offers_its_fourth_tile() -> None:
    play = turn(turn(turn(with_pung_of_5m({"south": "5m"}))))
    for action in (Action("draw", "south"), Action("added_kong", "south", "5m")):
        play = apply(play, action, nobody)
    end = apply(play, Action("hu_on_discard", seats=("west",)), everybody)
    (win,) = end.wins
    assert (win.hu.winning_tile, win.hu.situation_fans, win.hu.kong) == ("5m", ("Robbing the Kong",), True)
    assert end.hand("south").melds == (Meld("kong", tiles("5555m"), "west", "5m"),)


def test_the_judge_is_told_of_the_last_tile_and_of_a_replacement() -> None:
    asked_of = [
        Hu("west", (), (), "5m", True, "east", "south", False, fans)  # noqa: FBT003 - as it is called
        for fans in ((), ("Last Tile Draw", "Out with Replacement Tile"), ("Last Tile Claim",), ("Robbing the Kong",))
    ]
    assert [(hu.last_tile, hu.kong) for hu in asked_of] == [(False, False), (True, True), (True, False), (False, True)]
