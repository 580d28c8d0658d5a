"""Riichi, wins and hands that are broken off."""

from dataclasses import replace

import pytest

from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.referee.aborts import nagashi
from tests.broker.rules.riichi.referee.playing import BASIC, MONTREAL, OPEN, TENHOU, holding, play, refusal, turn

READY = play(holding(OPEN, "east", "123m456p789s1155z", points=1000), "draw east 9m")
LATER = play(READY, *["discard east 9m", "no_call"], *turn("south", "9p"), *turn("west", "9p"), *turn("north", "9p"))


def test_riichi_needs_1000_points_four_tiles_a_closed_hand_and_tenpai() -> None:
    assert refusal(READY, "riichi east 9m") == ""
    assert refusal(READY, "riichi east 1m") == "riichi_not_tenpai"
    assert refusal(replace(READY, live=4), "riichi east 9m") == ""
    assert refusal(replace(READY, live=3), "riichi east 9m") == "riichi_too_late"
    poor = play(holding(OPEN, "east", "123m456p789s1155z", points=900), "draw east 9m")
    assert refusal(poor, "riichi east 9m") == "riichi_without_points"
    called = play(OPEN, "draw east", "discard east 3m", "pon west")
    assert refusal(called, "riichi west 9m") == "riichi_open_hand"


def test_a_concealed_kan_leaves_the_hand_closed() -> None:
    board = play(OPEN, "draw east", "ankan east 1m", "draw east")
    assert refusal(board, "riichi east 9m") == ""


def test_in_riichi_the_drawn_tile_is_discarded_and_nothing_is_called() -> None:
    board = play(READY, "riichi east 9m", "no_call", *turn("south", "9p"), "draw west", "discard west 1z")
    assert refusal(board, "pon east") == "call_in_riichi"
    board = play(board, "no_call", *turn("north", "9p"), "draw east 2p")
    assert [refusal(board, f"discard east {tile}") for tile in ("1m", "2p")] == ["drawn_tile_only", ""]
    assert refusal(board, "riichi east 2p") == "riichi_twice"


def test_a_riichi_costs_its_deposit_unless_its_own_discard_is_won_on() -> None:
    declared = play(READY, "riichi east 9m")
    assert declared.own("east").points == 0
    won = play(declared, "ron south")
    assert (won.own("east").points, won.own("east").riichi) == (1000, "")


def test_in_riichi_a_kan_must_keep_the_waits() -> None:
    board = holding(OPEN, "east", "111m234567p99s11z")
    board = play(board, "draw east 9m", "riichi east 9m", "no_call")
    board = play(board, *turn("south", "2z"), *turn("west", "2z"), *turn("north", "3z"), "draw east 1m")
    assert refusal(board, "ankan east 1m") == ""
    board = holding(OPEN, "east", "111m23m234567p99s")
    board = play(board, "draw east 9m", "riichi east 9m", "no_call")
    board = play(board, *turn("south", "2z"), *turn("west", "2z"), *turn("north", "3z"), "draw east 1m")
    assert refusal(board, "ankan east 1m") == "kan_changes_waits"


def test_riichi_is_double_with_the_first_discard_unless_somebody_has_called() -> None:
    assert play(READY, "riichi east 9m").own("east").riichi == "double_riichi"
    assert play(LATER, "draw east 9m", "riichi east 9m").own("east").riichi == "riichi"


def test_ippatsu_lasts_until_the_own_next_discard_or_any_call() -> None:
    declared = play(LATER, "draw east 9m", "riichi east 9m", "no_call", "draw south", "discard south 1z")
    assert play(declared, "ron east").situation == {"east": ("riichi", "ippatsu")}
    passed = play(LATER, "draw east 9m", "riichi east 9m", "no_call", "draw south", "discard south 2z")
    called = play(passed, "pon west", "discard west 5z")
    assert play(called, "ron east").situation == {"east": ("riichi",)}
    late = play(declared, "no_call", *turn("west", "9p"), *turn("north", "9p"), *turn("east", "9p"), "draw south")
    assert play(late, "discard south 5z").own("east").ippatsu is False


def test_who_is_furiten_wins_only_by_drawing() -> None:
    board = play(READY, "discard east 9m", "no_call", "draw south", "discard south 1z")
    assert refusal(board, "ron east") == ""
    passed = play(board, "no_call", "draw west", "discard west 5z")
    assert refusal(passed, "ron east") == "furiten"
    mine = play(passed, "no_call", *turn("north", "9p"), "draw east 1z")
    assert refusal(mine, "tsumo east") == ""
    assert refusal(play(mine, "discard east 1z", "no_call", "draw south", "discard south 5z"), "ron east") == "furiten"


def test_a_tile_that_completes_nothing_is_no_win() -> None:
    board = play(READY, "discard east 9m", "no_call", "draw south", "discard south 2z")
    assert refusal(board, "ron east") == "not_winning"
    assert refusal(READY, "tsumo east") == "not_winning"


@pytest.mark.parametrize(
    ("seats", "code"), [("", "winner_missing"), ("east", "discarder_wins"), ("east south", "discarder_wins")]
)
def test_a_ron_names_its_winners_and_not_the_discarder(seats: str, code: str) -> None:
    board = play(OPEN, "draw east", "discard east 3m")
    assert refusal(board, f"ron {seats}") == code


def test_the_first_turn_has_yakuman_of_its_own() -> None:
    assert play(OPEN, "draw east", "tsumo east").situation == {"east": ("tenhou",)}
    assert play(OPEN, *turn("east", "9p"), "draw south", "tsumo south").situation == {"south": ("chiihou",)}
    board = play(OPEN, "draw east", "discard east 3m")
    assert play(board, "ron west").situation == {"west": ("renhou",)}
    called = play(board, "pon south", "discard south 9p")
    assert play(called, "ron west").situation == {"west": ()}


def test_a_replacement_is_never_the_last_tile() -> None:
    board = replace(play(OPEN, *turn("east", "9p"), "draw south"), live=1)
    board = play(board, "ankan south 1m", "draw south")
    assert (board.live, play(board, "tsumo south").situation) == (0, {"south": ("rinshan",)})
    plain = replace(play(OPEN, *turn("east", "9p"), "draw south", "discard south 9p", "pon west"), live=1)
    plain = play(plain, "discard west 1m", "no_call", "draw north")
    assert play(plain, "tsumo north").situation == {"north": ("haitei",)}


def test_four_equal_winds_break_the_hand_off() -> None:
    board = play(OPEN, *turn("east", "1z"), *turn("south", "1z"), *turn("west", "1z"))
    assert play(board, *turn("north", "1z")).over == "four_winds"
    assert play(board, *turn("north", "2z")).over is None
    assert play(board, "draw north", "discard north 1z", "ron east").over == "win"


def test_four_riichi_break_the_hand_off_once_the_last_has_passed() -> None:
    board = OPEN
    for seat in ("east", "south", "west", "north"):
        board = play(board, f"draw {seat}", f"riichi {seat} 9p", "no_call")
    assert board.over == "four_riichi"


@pytest.mark.parametrize(("others", "over"), [("south", "four_kans"), ("east", None)])
def test_four_kans_of_several_players_break_the_hand_off(others: str, over: str | None) -> None:
    board = play(replace(OPEN, kans=("east", "east", others)), "draw east", "ankan east 1m", "draw east")  # type: ignore[arg-type]  # a seat's name as text
    assert play(board, "discard east 9p", "no_call").over == over


def test_nine_terminals_are_nine_different_ones_in_an_unbroken_first_turn() -> None:
    nine = holding(OPEN, "east", "19m19p19s123z2345m")
    assert play(nine, "draw east 5p", "nine_terminals east").over == "nine_terminals"
    eight = holding(OPEN, "east", "1199m1199p19s11z5m")
    assert refusal(play(eight, "draw east 2z"), "nine_terminals east") == "not_nine_terminals"
    assert refusal(play(LATER, "draw east 9m"), "nine_terminals east") == "first_turn_over"
    called = play(OPEN, "draw east", "discard east 3m", "pon south", "discard south 9p", "no_call", "draw west")
    assert refusal(called, "nine_terminals west") == "first_turn_over"


def test_nagashi_is_of_terminals_and_honours_that_nobody_called_and_without_a_call_or_kan_of_the_own() -> None:
    board = play(OPEN, *turn("east", "9p"), *turn("south", "5p"), *turn("west", "1z"), "draw north", "discard north 9m")
    assert nagashi(board) == ("east", "west", "north")
    assert nagashi(play(board, "pon west")) == ("east",)
    assert nagashi(play(board, "no_call", "draw east", "ankan east 1m")) == ("west", "north")


def test_once_four_kans_break_the_hand_off_the_discard_can_only_be_won_on() -> None:
    board = play(replace(OPEN, kans=("east", "east", "south")), "draw east", "ankan east 1m", "draw east")
    board = play(board, "discard east 3m")
    calls = ("pon west", "chii south 1m2m", "daiminkan north")
    assert [refusal(board, step) for step in calls] == ["last_discard"] * 3
    assert play(board, "ron west").over == "win"


@pytest.mark.parametrize(
    ("rules", "over", "winners"), [(MONTREAL, "triple_ron", []), (TENHOU, "triple_ron", []), (BASIC, "win", ["south"])]
)
def test_a_triple_ron_breaks_the_hand_off_or_the_nearest_wins(
    rules: RiichiProfile, over: str, winners: list[str]
) -> None:
    board = play(OPEN, "draw east", "riichi east 3m", "ron south west north", rules=rules)
    assert (board.over, [*board.situation]) == (over, winners)
    assert board.own("east").riichi == ""
    double = play(OPEN, "draw east", "discard east 3m", "ron south west", rules=rules)
    assert (double.over, len(double.situation)) == ("win", 1 if rules is BASIC else 2)
