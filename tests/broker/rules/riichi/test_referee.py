"""The riichi referee: turns, calls, kans, declarations and properties."""

import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import SEATS
from broker.rules import FULL_SET, KINDS, RuleError
from broker.rules.riichi import RiichiProfile
from broker.rules.riichi.board import ACTION_KINDS, LIVE_WALL, Board, RiichiAction, nagashi_seats
from broker.rules.riichi.calls import TimedCall, settle_calls
from broker.rules.riichi.referee import apply_riichi_action
from tests.broker.rules.riichi.referee_steps import BASIC, MONTREAL, OPEN, TENHOU, holding, play, refusal, turn

DISCARDED = play(OPEN, "draw east", "discard east 3m")
LAST = replace(DISCARDED, live=0, no_calls_yet=False)


def test_the_turn_goes_from_east_to_south_to_west_to_north() -> None:
    board, turns = OPEN, []
    for seat in ("east", "south", "west", "north", "east"):
        turns.append(board.turn)
        board = play(board, *turn(seat, "9p"))
    assert turns == ["east", "south", "west", "north", "east"]


def test_after_70_tiles_of_the_live_wall_the_hand_is_an_exhaustive_draw() -> None:
    board = OPEN
    for drawn in range(LIVE_WALL):
        board = play(board, f"draw {board.turn}", f"discard {board.turn} {1 + drawn % 9}m", "no_call")
    assert (LIVE_WALL, board.live, board.over) == (70, 0, "exhaustive_draw")


def test_a_pon_takes_the_turn_and_players_between_miss_theirs() -> None:
    board = play(DISCARDED, "pon west")
    assert (board.turn, board.phase) == ("west", "hold")
    assert play(board, "discard west 9p", "no_call").turn == "north"


def test_only_the_player_after_the_discarder_can_call_a_chii() -> None:
    assert refusal(DISCARDED, "chii west 1m2m") == "chow_not_next"
    assert play(DISCARDED, "chii south 1m2m").player("south").melds[0].tiles == ("1m", "2m", "3m")


@pytest.mark.parametrize("used", ["1m1m", "2m5m", "1p2p", "1z2z", "2m"])
def test_a_chii_must_be_a_sequence_of_one_suit(used: str) -> None:
    assert refusal(DISCARDED, f"chii south {used}") == "not_a_meld"


def test_calling_the_own_discard_and_discarding_out_of_turn_are_refused() -> None:
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


def test_a_drawn_tile_but_no_discard_can_be_added_to_an_open_pon() -> None:
    board = play(DISCARDED, "pon west", "discard west 9p", "no_call", "draw north", "discard north 3m")
    assert refusal(board, "daiminkan west") == "kan_of_open_pon"
    board = play(board, "no_call", *turn("east", "9p"), *turn("south", "9p"), "draw west", "shouminkan west 3m")
    assert board.player("west").melds[0].tiles == ("3m",) * 4


def test_a_kan_needs_a_replacement_tile_and_a_fifth_kan_is_refused() -> None:
    assert refusal(replace(play(OPEN, "draw east"), live=0), "ankan east 1m") == "kan_without_wall"
    four = replace(play(OPEN, "draw east"), kans=("east",) * 4)
    assert refusal(four, "ankan east 1m") == "fifth_kan"
    assert refusal(replace(DISCARDED, kans=("west",) * 4), "daiminkan south") == "fifth_kan"


def test_after_a_pon_a_kan_or_a_win_before_the_discard_is_refused() -> None:
    board = play(DISCARDED, "pon west")
    assert refusal(board, "ankan west 1m") == "kong_after_claim"
    assert refusal(board, "tsumo west") == "hu_on_claimed_tile"


def test_the_indicator_of_a_concealed_kan_is_turned_at_once_and_others_at_the_discard() -> None:
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


def test_a_second_kan_also_turns_the_indicator_of_the_first() -> None:
    board = play(DISCARDED, "daiminkan west", "draw west", "ankan west 1p", "draw west")
    assert (board.indicators, board.indicators_due) == (3, 0)


def test_only_thirteen_orphans_rob_a_concealed_kan() -> None:
    board = play(holding(OPEN, "north", "19m19p19s1123456z"), "draw east", "ankan east 7z")
    assert play(board, "ron north").over == "win"
    assert refusal(board, "ron north", BASIC) == "concealed_kan_robbed"
    board = play(holding(OPEN, "north", "123m456p789s1177z"), "draw east", "ankan east 7z")
    assert refusal(board, "ron north") == "concealed_kan_robbed"


def test_a_player_with_four_melds_cannot_call() -> None:
    melds = play(DISCARDED, "pon west").player("west").melds * 4
    players = tuple(replace(player, melds=melds) if at == 2 else player for at, player in enumerate(DISCARDED.players))
    assert refusal(replace(DISCARDED, players=players), "pon west") == "tiles_missing"


def test_a_known_hand_cannot_discard_or_call_with_tiles_that_it_lacks() -> None:
    known = holding(OPEN, "west", "3m123456p789s111z")
    board = play(known, "draw east", "discard east 3m")
    assert refusal(board, "pon west") == "tiles_missing"
    board = play(board, "no_call", *turn("south", "9p"), "draw west 9p")
    assert refusal(board, "discard west 8p") == "tiles_missing"
    assert play(board, "discard west 3m").player("west").concealed == board.player("west").concealed[1:]  # type: ignore[index]  # the rest of a known hand


def test_the_profile_decides_whether_swap_calling_is_allowed() -> None:
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


def test_nothing_is_legal_after_the_end() -> None:
    assert refusal(play(LAST, "no_call"), "draw south") == "play_over"


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


def test_in_riichi_only_the_drawn_tile_is_discarded_and_calls_are_refused() -> None:
    board = play(READY, "riichi east 9m", "no_call", *turn("south", "9p"), "draw west", "discard west 1z")
    assert refusal(board, "pon east") == "call_in_riichi"
    board = play(board, "no_call", *turn("north", "9p"), "draw east 2p")
    assert [refusal(board, f"discard east {tile}") for tile in ("1m", "2p")] == ["drawn_tile_only", ""]
    assert refusal(board, "riichi east 2p") == "riichi_twice"


def test_a_riichi_costs_its_deposit_unless_its_own_discard_is_won_on() -> None:
    declared = play(READY, "riichi east 9m")
    assert declared.player("east").points == 0
    won = play(declared, "ron south")
    assert (won.player("east").points, won.player("east").riichi) == (1000, "")


def test_in_riichi_a_kan_must_keep_the_waits() -> None:
    board = holding(OPEN, "east", "111m234567p99s11z")
    board = play(board, "draw east 9m", "riichi east 9m", "no_call")
    board = play(board, *turn("south", "2z"), *turn("west", "2z"), *turn("north", "3z"), "draw east 1m")
    assert refusal(board, "ankan east 1m") == ""
    board = holding(OPEN, "east", "111m23m234567p99s")
    board = play(board, "draw east 9m", "riichi east 9m", "no_call")
    board = play(board, *turn("south", "2z"), *turn("west", "2z"), *turn("north", "3z"), "draw east 1m")
    assert refusal(board, "ankan east 1m") == "kan_changes_waits"


def test_riichi_with_the_first_discard_is_a_double_riichi() -> None:
    assert play(READY, "riichi east 9m").player("east").riichi == "double_riichi"
    assert play(LATER, "draw east 9m", "riichi east 9m").player("east").riichi == "riichi"


def test_ippatsu_lasts_until_the_player_s_next_discard_or_any_call() -> None:
    declared = play(LATER, "draw east 9m", "riichi east 9m", "no_call", "draw south", "discard south 1z")
    assert play(declared, "ron east").situation == {"east": ("riichi", "ippatsu")}
    passed = play(LATER, "draw east 9m", "riichi east 9m", "no_call", "draw south", "discard south 2z")
    called = play(passed, "pon west", "discard west 5z")
    assert play(called, "ron east").situation == {"east": ("riichi",)}
    late = play(declared, "no_call", *turn("west", "9p"), *turn("north", "9p"), *turn("east", "9p"), "draw south")
    assert play(late, "discard south 5z").player("east").ippatsu is False


def test_a_furiten_player_wins_only_by_drawing() -> None:
    board = play(READY, "discard east 9m", "no_call", "draw south", "discard south 1z")
    assert refusal(board, "ron east") == ""
    passed = play(board, "no_call", "draw west", "discard west 5z")
    assert refusal(passed, "ron east") == "furiten"
    mine = play(passed, "no_call", *turn("north", "9p"), "draw east 1z")
    assert refusal(mine, "tsumo east") == ""
    assert refusal(play(mine, "discard east 1z", "no_call", "draw south", "discard south 5z"), "ron east") == "furiten"


def test_a_win_with_a_tile_that_does_not_complete_the_hand_is_refused() -> None:
    board = play(READY, "discard east 9m", "no_call", "draw south", "discard south 2z")
    assert refusal(board, "ron east") == "not_winning"
    assert refusal(READY, "tsumo east") == "not_winning"


@pytest.mark.parametrize(
    ("seats", "code"), [("", "winner_missing"), ("east", "discarder_wins"), ("east south", "discarder_wins")]
)
def test_a_ron_must_name_winners_other_than_the_discarder(seats: str, code: str) -> None:
    board = play(OPEN, "draw east", "discard east 3m")
    assert refusal(board, f"ron {seats}") == code


def test_a_win_in_the_first_turn_is_tenhou_chiihou_or_renhou() -> None:
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


def test_four_equal_winds_abort_the_hand() -> None:
    board = play(OPEN, *turn("east", "1z"), *turn("south", "1z"), *turn("west", "1z"))
    assert play(board, *turn("north", "1z")).over == "four_winds"
    assert play(board, *turn("north", "2z")).over is None
    assert play(board, "draw north", "discard north 1z", "ron east").over == "win"


def test_four_riichi_abort_the_hand_once_nobody_calls_the_last_discard() -> None:
    board = OPEN
    for seat in ("east", "south", "west", "north"):
        board = play(board, f"draw {seat}", f"riichi {seat} 9p", "no_call")
    assert board.over == "four_riichi"


@pytest.mark.parametrize(("others", "over"), [("south", "four_kans"), ("east", None)])
def test_four_kans_of_several_players_abort_the_hand(others: str, over: str | None) -> None:
    board = play(replace(OPEN, kans=("east", "east", others)), "draw east", "ankan east 1m", "draw east")  # type: ignore[arg-type]  # a seat's name as text
    assert play(board, "discard east 9p", "no_call").over == over


def test_nine_terminals_must_be_different_and_in_a_first_turn_without_calls() -> None:
    nine = holding(OPEN, "east", "19m19p19s123z2345m")
    assert play(nine, "draw east 5p", "nine_terminals east").over == "nine_terminals"
    eight = holding(OPEN, "east", "1199m1199p19s11z5m")
    assert refusal(play(eight, "draw east 2z"), "nine_terminals east") == "not_nine_terminals"
    assert refusal(play(LATER, "draw east 9m"), "nine_terminals east") == "first_turn_over"
    called = play(OPEN, "draw east", "discard east 3m", "pon south", "discard south 9p", "no_call", "draw west")
    assert refusal(called, "nine_terminals west") == "first_turn_over"


def test_nagashi_needs_uncalled_terminals_and_honours_and_no_call_or_kan_of_the_player() -> None:
    board = play(OPEN, *turn("east", "9p"), *turn("south", "5p"), *turn("west", "1z"), "draw north", "discard north 9m")
    assert nagashi_seats(board) == ("east", "west", "north")
    assert nagashi_seats(play(board, "pon west")) == ("east",)
    assert nagashi_seats(play(board, "no_call", "draw east", "ankan east 1m")) == ("west", "north")


def test_after_four_kans_of_several_players_the_discard_can_only_be_won_on() -> None:
    board = play(replace(OPEN, kans=("east", "east", "south")), "draw east", "ankan east 1m", "draw east")
    board = play(board, "discard east 3m")
    calls = ("pon west", "chii south 1m2m", "daiminkan north")
    assert [refusal(board, step) for step in calls] == ["last_discard"] * 3
    assert play(board, "ron west").over == "win"


@pytest.mark.parametrize(
    ("rules", "over", "winners"), [(MONTREAL, "triple_ron", []), (TENHOU, "triple_ron", []), (BASIC, "win", ["south"])]
)
def test_a_triple_ron_aborts_the_hand_or_the_nearest_wins(rules: RiichiProfile, over: str, winners: list[str]) -> None:
    board = play(OPEN, "draw east", "riichi east 3m", "ron south west north", rules=rules)
    assert (board.over, [*board.situation]) == (over, winners)
    assert board.player("east").riichi == ""
    double = play(OPEN, "draw east", "discard east 3m", "ron south west", rules=rules)
    assert (double.over, len(double.situation)) == ("win", 1 if rules is BASIC else 2)


CODES: Final = (Path(__file__).parents[4] / "docs" / "codes.md").read_text(encoding="utf-8")
SECTION: Final = CODES.split("## broker/rules\n")[1].split("\n## ")[0]
DOCUMENTED: Final = frozenset(re.findall(r"^\| `(\w+)` \|", SECTION, re.MULTILINE))

SEAT = st.sampled_from(SEATS)
TILE = st.sampled_from(["1m", "2m", "3m", "5z", "1z"])
ACTIONS = st.builds(
    RiichiAction,
    st.sampled_from(ACTION_KINDS),
    st.none() | SEAT,
    st.none() | TILE,
    st.lists(TILE, max_size=2).map(tuple),
    st.lists(SEAT, max_size=3).map(tuple),
)
LIKELY = st.builds(
    RiichiAction, st.sampled_from(["draw", "discard", "no_call", "pon", "daiminkan", "ankan"]), SEAT, TILE
)
ACTION_LISTS = st.lists(ACTIONS | LIKELY, max_size=80)
RULES = st.sampled_from([MONTREAL, TENHOU, BASIC])


@given(ACTION_LISTS, RULES)
def test_walls_and_indicators_stay_consistent_and_refusals_are_documented(
    actions: list[RiichiAction], rules: RiichiProfile
) -> None:
    board, draws = OPEN, 0
    for action in actions:
        try:
            result = apply_riichi_action(board, action, rules)
        except RuleError as refused:
            assert refused.code in DOCUMENTED  # noqa: PT017 - which code it is matters only here
            continue
        draws += action.do == "draw"
        assert result.live == LIVE_WALL - draws
        if result.over is None:
            assert result.indicators + result.indicators_due == 1 + len(result.kans) <= 5
        board = result


def first_legal(board: Board, rng: Random, wall: list[str]) -> Board:
    """Return the board after the first legal action of the candidates."""
    return next(result for action in candidates(board, rng, wall) if (result := after(board, action)) is not None)


def candidates(board: Board, rng: Random, wall: list[str]) -> list[RiichiAction]:
    if board.phase == "draw":
        return [RiichiAction("draw", board.turn, wall[-1])]
    held = list(board.player(board.turn).concealed or ())
    rng.shuffle(held)
    if board.phase == "hold":
        own_actions = [
            RiichiAction(do, board.turn, tile) for tile in held for do in ("ankan", "shouminkan", "riichi", "discard")
        ]
        return [RiichiAction("tsumo", board.turn), *own_actions]
    others = [seat for seat in SEATS if seat != board.turn]
    calls = [RiichiAction(do, seat) for seat in others for do in ("daiminkan", "pon")]
    wanted = calls if rng.random() < 0.3 else []
    return [*(RiichiAction("ron", seats=(seat,)) for seat in others), *wanted, RiichiAction("no_call")]


def after(board: Board, action: RiichiAction) -> Board | None:
    try:
        return apply_riichi_action(board, action, TENHOU)
    except RuleError:
        return None


@pytest.mark.parametrize("seed", range(12))
def test_no_tile_is_lost_or_duplicated_in_a_random_hand(seed: int) -> None:
    rng = Random(seed)
    mixed = list(FULL_SET)
    rng.shuffle(mixed)
    board = OPEN
    for seat in SEATS:
        board = holding(board, seat, "".join(mixed.pop() for _ in range(13)), points=25000)
    while board.over is None:
        live_before = board.live
        board = first_legal(board, rng, mixed)
        if board.live < live_before:
            mixed.pop()
    assert len(mixed) == 14 + board.live
    held = [tile for player in board.players for tile in player.concealed or ()]
    held += [tile for player in board.players for meld in player.melds for tile in meld.tiles]
    called = [meld for player in board.players for meld in player.melds if meld.open]
    rivers = [tile for seat in SEATS for tile in board.river(seat)]
    # A called tile is in the caller's meld and is also counted in the discarder's river.
    assert len(held) + len(rivers) + len(mixed) == len(FULL_SET) + len(called)
    assert {*held} <= {*KINDS}


@given(st.integers(0, 60_000), st.integers(0, 60_000))
def test_equal_calls_go_to_the_nearest_within_the_window_and_to_the_first_after_it(first: int, second: int) -> None:
    near, far = TimedCall(RiichiAction("pon", "south"), first), TimedCall(RiichiAction("pon", "north"), second)
    caller = settle_calls("east", [far, near], MONTREAL).action.seat
    in_time = max(first, second) <= MONTREAL.play.priority_ms.value
    assert caller == ("south" if in_time or first <= second else "north")
