"""Turn order, calls and kans of riichi (RIICHI-PLAY, MONTREAL)."""

from dataclasses import replace

import pytest

from broker.rules.riichi.referee.board import LIVE_WALL
from tests.broker.rules.riichi.referee.playing import BASIC, MONTREAL, OPEN, TENHOU, holding, play, refusal, turn

DISCARDED = play(OPEN, "draw east", "discard east 3m")
LAST = replace(DISCARDED, live=0, unbroken=False)


def test_the_turn_goes_from_east_to_south_to_west_to_north() -> None:
    board, turns = OPEN, []
    for seat in ("east", "south", "west", "north", "east"):
        turns.append(board.turn)
        board = play(board, *turn(seat, "9p"))
    assert turns == ["east", "south", "west", "north", "east"]


def test_the_live_wall_has_70_tiles_and_the_dead_wall_is_left_to_a_draw() -> None:
    board = OPEN
    for drawn in range(LIVE_WALL):
        board = play(board, f"draw {board.turn}", f"discard {board.turn} {1 + drawn % 9}m", "no_call")
    assert (LIVE_WALL, board.live, board.over) == (70, 0, "exhaustive_draw")


def test_a_pon_takes_the_turn_and_who_was_between_misses_theirs() -> None:
    board = play(DISCARDED, "pon west")
    assert (board.turn, board.phase) == ("west", "hold")
    assert play(board, "discard west 9p", "no_call").turn == "north"


def test_only_the_player_after_the_discarder_claims_a_chii() -> None:
    assert refusal(DISCARDED, "chii west 1m2m") == "chow_not_next"
    assert play(DISCARDED, "chii south 1m2m").own("south").melds[0].tiles == ("1m", "2m", "3m")


@pytest.mark.parametrize("used", ["1m1m", "2m5m", "1p2p", "1z2z", "2m"])
def test_a_chii_is_a_run_of_one_suit(used: str) -> None:
    assert refusal(DISCARDED, f"chii south {used}") == "not_a_meld"


def test_nobody_calls_the_own_discard_and_nobody_discards_out_of_turn() -> None:
    assert refusal(DISCARDED, "pon east") == "own_discard"
    assert refusal(DISCARDED, "discard south 3m") == "wrong_phase"
    assert refusal(play(OPEN, "draw east"), "discard south 3m") == "not_your_turn"


def test_the_last_discard_can_only_be_won_on() -> None:
    assert [refusal(LAST, step) for step in ("pon west", "chii south 1m2m", "daiminkan north")] == ["last_discard"] * 3
    assert play(LAST, "ron west").situation == {"west": ("houtei",)}


def test_a_kan_of_a_discard_is_followed_by_its_replacement() -> None:
    board = play(DISCARDED, "daiminkan west")
    assert (board.turn, board.phase, board.live) == ("west", "draw", 69)
    drawn = play(board, "draw west")
    assert (drawn.live, drawn.extra) == (68, "replacement")
    assert play(drawn, "tsumo west").situation == {"west": ("rinshan",)}


def test_a_discard_never_completes_an_open_pon_but_a_drawn_tile_does() -> None:
    board = play(DISCARDED, "pon west", "discard west 9p", "no_call", "draw north", "discard north 3m")
    assert refusal(board, "daiminkan west") == "kan_of_open_pon"
    board = play(board, "no_call", *turn("east", "9p"), *turn("south", "9p"), "draw west", "shouminkan west 3m")
    assert board.own("west").melds[0].tiles == ("3m",) * 4


def test_a_kan_needs_a_tile_that_replaces_it_and_there_is_no_fifth() -> None:
    assert refusal(replace(play(OPEN, "draw east"), live=0), "ankan east 1m") == "kan_without_wall"
    four = replace(play(OPEN, "draw east"), kans=("east",) * 4)
    assert refusal(four, "ankan east 1m") == "fifth_kan"
    assert refusal(replace(DISCARDED, kans=("west",) * 4), "daiminkan south") == "fifth_kan"


def test_after_a_pon_neither_a_kan_nor_a_win_comes_before_the_discard() -> None:
    board = play(DISCARDED, "pon west")
    assert refusal(board, "ankan west 1m") == "kong_after_claim"
    assert refusal(board, "tsumo west") == "hu_on_claimed_tile"


def test_the_indicator_of_a_concealed_kan_is_turned_at_once_and_others_with_the_discard() -> None:
    closed = play(OPEN, "draw east", "ankan east 1m")
    assert [closed.indicators, play(closed, "draw east").indicators] == [1, 2]
    late = play(DISCARDED, "daiminkan west", "draw west")
    assert [late.indicators, play(late, "discard west 9p").indicators] == [1, 2]
    assert play(DISCARDED, "daiminkan west", rules=BASIC).indicators == 2


def test_a_win_on_the_replacement_tile_counts_the_new_dora_and_a_robbed_kan_has_none() -> None:
    late = play(DISCARDED, "daiminkan west", "draw west")
    assert play(late, "tsumo west").indicators == 2
    assert play(late, "tsumo west", rules=TENHOU).indicators == 1
    added = play(DISCARDED, "pon west", "discard west 9p", "no_call", *turn("north", "9p"))
    added = play(added, *turn("east", "9p"), *turn("south", "9p"), "draw west", "shouminkan west 3m")
    robbed = play(added, "ron north")
    assert (robbed.indicators, robbed.kans, robbed.situation) == (1, (), {"north": ("chankan",)})


def test_a_second_kan_turns_the_indicator_of_the_first() -> None:
    board = play(DISCARDED, "daiminkan west", "draw west", "ankan west 1p", "draw west")
    assert (board.indicators, board.to_turn) == (3, 0)


def test_only_thirteen_orphans_rob_a_concealed_kan() -> None:
    board = play(holding(OPEN, "north", "19m19p19s1123456z"), "draw east", "ankan east 7z")
    assert play(board, "ron north").over == "win"
    assert refusal(board, "ron north", BASIC) == "concealed_kan_robbed"
    board = play(holding(OPEN, "north", "123m456p789s1177z"), "draw east", "ankan east 7z")
    assert refusal(board, "ron north") == "concealed_kan_robbed"


def test_a_player_may_not_call_for_a_fifth_set() -> None:
    melds = play(DISCARDED, "pon west").own("west").melds * 4
    owns = tuple(replace(own, melds=melds) if at == 2 else own for at, own in enumerate(DISCARDED.owns))
    assert refusal(replace(DISCARDED, owns=owns), "pon west") == "tiles_missing"


def test_what_a_known_hand_does_not_hold_cannot_be_discarded_or_called_with() -> None:
    known = holding(OPEN, "west", "3m123456p789s111z")
    board = play(known, "draw east", "discard east 3m")
    assert refusal(board, "pon west") == "tiles_missing"
    board = play(board, "no_call", *turn("south", "9p"), "draw west 9p")
    assert refusal(board, "discard west 8p") == "tiles_missing"
    assert play(board, "discard west 3m").own("west").concealed == board.own("west").concealed[1:]  # type: ignore[index]  # the rest of a known hand


def test_swap_calling_is_allowed_or_not_as_the_rules_say() -> None:
    called = {rules.id: play(DISCARDED, "chii south 4m5m", rules=rules) for rules in (MONTREAL, TENHOU)}
    assert [refusal(called[MONTREAL.id], f"discard south {tile}") for tile in ("3m", "6m")] == ["", ""]
    assert [refusal(called[TENHOU.id], f"discard south {tile}", TENHOU) for tile in ("3m", "6m", "7m")] == [
        "kuikae",
        "kuikae",
        "",
    ]
    middle = play(DISCARDED, "chii south 2m4m", rules=TENHOU)
    assert [refusal(middle, f"discard south {tile}", TENHOU) for tile in ("3m", "0m", "6m")] == ["kuikae", "", ""]
    pon = play(DISCARDED, "pon south", rules=TENHOU)
    assert refusal(pon, "discard south 3m", TENHOU) == "kuikae"
    later = play(called[TENHOU.id], "discard south 9p", "no_call", *turn("west", "9p"), *turn("north", "9p"))
    assert refusal(play(later, *turn("east", "9p"), "draw south"), "discard south 3m", TENHOU) == ""


def test_after_the_end_nothing_is_done() -> None:
    assert refusal(play(LAST, "no_call"), "draw south") == "play_over"
