"""The referee of a play with its tiles: actions, hu, replays of recorded plays, and properties."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import SEATS, Seat
from broker.rules import FULL_SET, KINDS, Deal, RuleError
from broker.rules.deal import NEXT_SEAT
from broker.rules.mcr import (
    Action,
    Hu,
    PlayState,
    StepRefused,
    TableMeld,
    apply_action,
    open_play,
    replay_actions,
)
from broker.rules.mcr.turns import ACTION_KINDS
from tests.broker.rules.mcr.playing import (
    after,
    all_tiles,
    arranged,
    at_random,
    everybody,
    legal_actions,
    nobody,
    seldom,
    tiles,
)
from tests.broker.rules.mcr.turning import awaited_seats
from tests.broker.rules.variants import MCR, OEDMC

EAST_DRAWS = Action("draw", "east")


def refusal(play: PlayState, action: Action) -> str:
    """Return the code with which an action is refused, although the judge accepts every hu."""
    with pytest.raises(RuleError) as refused:
        apply_action(play, action, everybody)
    return refused.value.code


@pytest.mark.parametrize("dealer", SEATS)
def test_everybody_starts_with_13_tiles_and_a_full_wall_and_the_dealer_draws_first(dealer: Seat) -> None:
    deal = arranged({}, dealer=dealer)
    play = open_play(deal, OEDMC)
    assert {seat: (play.hand(seat).concealed, play.wall(seat)) for seat in SEATS} == {
        seat: (deal.faces[seat][:13], deal.faces[seat][13:]) for seat in SEATS
    }
    drawn = apply_action(play, Action("draw", dealer), nobody)
    assert drawn.hand(dealer).concealed == deal.faces[dealer][:14]
    assert drawn.wall(dealer) == deal.faces[dealer][14:]


def test_a_discard_is_in_the_river_and_on_offer_until_nobody_claims_it() -> None:
    play = after(arranged({"east": "5m"}, {"east": "9s"}), EAST_DRAWS, Action("discard", "east", "5m"))
    assert (play.hand("east").river, play.offered, play.hand("east").concealed[-1]) == (("5m",), "5m", "9s")
    assert len(play.hand("east").concealed) == 13
    assert apply_action(play, Action("no_claim"), nobody).offered == ""


def test_a_chow_takes_the_discard_from_the_river_and_the_two_others_from_the_hand() -> None:
    deal = arranged({"east": "5m", "south": "3467m"})
    play = after(deal, EAST_DRAWS, Action("discard", "east", "5m"), Action("chow", "south", "4m"))
    assert play.hand("south").melds == (TableMeld("chow", tiles("456m"), "east", "5m"),)
    assert play.hand("south").concealed == tiles("37m") + deal.faces["south"][4:13]
    assert (play.hand("east").river, play.offered, play.turns.turn) == ((), "", "south")


@pytest.mark.parametrize(
    ("discard", "held", "lowest", "possible"),
    [
        ("5m", "34m", "3m", True),
        ("5m", "46m", "4m", True),
        ("5m", "67m", "5m", True),
        ("1m", "23m", "1m", True),
        ("9m", "78m", "7m", True),
        ("5m", "34m", "4m", False),
        ("5m", "34p", "3m", False),
        ("5m", "67m", "6m", False),
        ("1m", "89m", "8m", False),
        ("3z", "12z", "1z", False),
        ("5m", "34m", None, False),
        ("5m", "34m", "10m", False),
    ],
)
def test_a_chow_is_three_consecutive_tiles_of_a_suit_named_by_the_lowest(
    discard: str,
    held: str,
    lowest: str | None,
    possible: bool,  # noqa: FBT001 - a case of the test
) -> None:
    deal = arranged({"east": discard, "south": f"{held} 11122233344z"})
    play = after(deal, EAST_DRAWS, Action("discard", "east", discard))
    action = Action("chow", "south", lowest)
    code = None if possible else "tiles_missing"
    assert (refusal(play, action) if code else apply_action(play, action, nobody).turns.turn) == (code or "south")


@pytest.mark.parametrize("named", [None, "5m"])
def test_a_pung_takes_two_tiles_and_a_melded_kong_takes_three_and_a_replacement(named: str | None) -> None:
    deal = arranged({"east": "5m", "west": "555m"}, {"west": "9s"})
    offered = after(deal, EAST_DRAWS, Action("discard", "east", "5m"))
    pung = apply_action(offered, Action("pung", "west", named), nobody)
    assert pung.hand("west").melds == (TableMeld("pung", tiles("555m"), "east", "5m"),)
    assert pung.hand("west").concealed == ("5m", *deal.faces["west"][3:13])
    kong = apply_action(offered, Action("melded_kong", "west", named), nobody)
    assert kong.hand("west").melds == (TableMeld("kong", tiles("5555m"), "east", "5m"),)
    assert apply_action(kong, Action("draw", "west"), nobody).hand("west").concealed == (
        *deal.faces["west"][3:13],
        "9s",
    )


def test_a_concealed_kong_takes_four_tiles_of_the_hand_and_is_concealed() -> None:
    deal = arranged({"east": "555m"}, {"east": "59m"})
    play = after(deal, EAST_DRAWS, Action("concealed_kong", "east", "5m"), EAST_DRAWS)
    (kong,) = play.hand("east").melds
    assert (kong, kong.concealed) == (TableMeld("kong", tiles("5555m")), True)
    assert play.hand("east").concealed == (*deal.faces["east"][3:13], "9m")


def to_added_kong() -> PlayState:
    """Return a play in which South has a pung with North's 5m and has drawn the fourth."""
    deal = arranged({"north": "5m", "south": "55m", "west": "46m 5p"}, {"south": "5m"}, dealer="north")
    return after(
        deal,
        Action("draw", "north"),
        Action("discard", "north", "5m"),
        Action("pung", "south"),
        Action("discard", "south", deal.faces["south"][2]),
        Action("no_claim"),
        Action("draw", "west"),
        Action("discard", "west", "5p"),
        Action("no_claim"),
        Action("draw", "north"),
        Action("discard", "north", deal.faces["north"][1]),
        Action("no_claim"),
        Action("draw", "east"),
        Action("discard", "east", deal.faces["east"][0]),
        Action("no_claim"),
        Action("draw", "south"),
    )


def test_an_added_kong_keeps_the_source_of_its_pung_and_offers_the_fourth_tile() -> None:
    play = apply_action(to_added_kong(), Action("added_kong", "south", "5m"), nobody)
    (kong,) = play.hand("south").melds
    assert (kong, kong.concealed, play.offered) == (TableMeld("kong", tiles("5555m"), "north", "5m"), False, "5m")
    assert len(play.hand("south").concealed) == 10
    replaced = apply_action(play, Action("draw", "south"), nobody)
    assert (len(replaced.hand("south").concealed), replaced.offered) == (11, "")


@pytest.mark.parametrize(
    "action",
    [
        Action("discard", "east", "9p"),
        Action("discard", "east"),
        Action("discard", "east", ""),
        Action("concealed_kong", "east", "5m"),
        Action("concealed_kong", "east"),
        Action("added_kong", "east", "5m"),
    ],
)
def test_an_action_with_tiles_that_the_hand_lacks_is_refused(action: Action) -> None:
    play = after(arranged({"east": "555m 1112223334z"}, {"east": "1s"}), EAST_DRAWS)
    assert refusal(play, action) == "tiles_missing"


@pytest.mark.parametrize(
    ("action", "held"),
    [
        (Action("pung", "west"), "5m"),
        (Action("melded_kong", "west"), "55m"),
        (Action("pung", "west", "6m"), "55m"),
        (Action("melded_kong", "west", "6m"), "555m"),
    ],
)
def test_a_claim_needs_its_tiles_in_hand_and_may_name_only_the_discard(action: Action, held: str) -> None:
    deal = arranged({"east": "5m", "west": f"{held} 1112223334z", "south": "666m"})
    assert refusal(after(deal, EAST_DRAWS, Action("discard", "east", "5m")), action) == "tiles_missing"


def test_a_tile_named_as_drawn_must_be_the_next_of_the_wall() -> None:
    play = open_play(arranged({}, {"east": "19m"}), OEDMC)
    assert refusal(play, Action("draw", "east", "9m")) == "wall_differs"
    assert apply_action(play, Action("draw", "east", "1m"), nobody) == apply_action(play, EAST_DRAWS, nobody)


def test_turns_are_checked_before_tiles() -> None:
    play = open_play(arranged({}), OEDMC)
    assert refusal(play, Action("discard", "east", play.hand("east").concealed[0])) == "wrong_phase"
    assert refusal(play, Action("draw", "south")) == "not_your_turn"


def test_two_cannot_win_on_one_discard_where_only_the_nearest_wins() -> None:
    play = apply_action(open_play(arranged({"east": "5m"}), MCR), EAST_DRAWS, nobody)
    play = apply_action(play, Action("discard", "east", "5m"), nobody)
    assert refusal(play, Action("hu_on_discard", seats=("south", "west"))) == "several_winners"


WEST_DRAWS = Action("draw", "west")
NO_CLAIM = Action("no_claim")


def by_seat(hu: Hu) -> int:
    """Return a value that depends on the seat, and refuse north."""
    return nobody(hu) if hu.seat == "north" else {"east": 8, "south": 12, "west": 24}[hu.seat]


def discarded(discard: str) -> PlayState:
    """Return a play in which West, the dealer, has drawn and discarded a tile."""
    return after(arranged({"west": discard}, dealer="west"), WEST_DRAWS, Action("discard", "west", discard))


def turn(play: PlayState, discard: str | None = None, then: Action = NO_CLAIM) -> PlayState:
    """Return the play after the seat in turn draws and discards, by default the drawn tile, and `then`."""
    seat = play.turns.turn
    play = apply_action(play, Action("draw", seat), nobody)
    play = apply_action(play, Action("discard", seat, discard or play.hand(seat).concealed[-1]), nobody)
    return apply_action(play, then, everybody)


def test_the_judge_sees_the_drawn_tile_of_a_self_drawn_hu_apart() -> None:
    deal = arranged({}, {"west": "9s"}, dealer="west")
    play = after(deal, WEST_DRAWS, Action("self_hu", "west"), judge=everybody)
    ((win,), west) = (play.wins, deal.faces["west"])
    assert win.hu == Hu("west", west[:13], (), "9s", True, "east", "south", False, ())  # noqa: FBT003 - as it is called
    assert (win.hand_value, play.turns.over, awaited_seats(play.turns)) == (8, "win", ())


def test_the_judge_sees_the_winner_s_wind_and_the_prevalent_wind() -> None:
    play = discarded("5m")
    (win,) = apply_action(play, Action("hu_on_discard", seats=("east",)), by_seat).wins
    assert (win.hu.winning_tile, win.hu.self_drawn, win.hu.concealed) == ("5m", False, play.hand("east").concealed)
    assert (win.hu.seat_wind, win.hu.prevalent_wind, win.hand_value) == ("west", "south", 8)


def test_each_hu_on_one_discard_is_judged_separately() -> None:
    end = apply_action(discarded("5m"), Action("hu_on_discard", seats=("east", "south")), by_seat)
    assert {win.hu.seat: win.hand_value for win in end.wins} == {"east": 8, "south": 12}


@pytest.mark.parametrize("declared", [("north",), ("east", "north")])
def test_a_hu_that_the_judge_refuses_is_refused(declared: tuple[Seat, ...]) -> None:
    with pytest.raises(RuleError) as refused:
        apply_action(discarded("5m"), Action("hu_on_discard", seats=declared), by_seat)
    assert (refused.value.code, refused.value.text) == ("no_win_here", "north has no win")


def test_a_self_drawn_hu_is_won_by_the_acting_seat_alone() -> None:
    deal = arranged({}, dealer="west")
    play = after(deal, WEST_DRAWS, Action("self_hu", "west", seats=("east", "south")), judge=everybody)
    assert [win.hu.seat for win in play.wins] == ["west"]


@pytest.mark.parametrize(("seen", "last"), [(1, False), (2, False), (3, True)])
def test_a_discard_is_the_last_of_its_kind_once_the_three_others_are_visible(*, seen: int, last: bool) -> None:
    play = after(arranged({"west": "5m", "north": "5m", "east": "5m", "south": "5m 4p"}, dealer="west"))
    for _ in range(seen):
        play = turn(play, "5m")
    play = turn(play, "5m", Action("hu_on_discard", NEXT_SEAT[NEXT_SEAT[play.turns.turn]]))
    (win,) = play.wins
    assert win.hu.last_of_kind == last


def with_pung_of_5m(walls: Mapping[Seat, str]) -> PlayState:
    """Return a play in which South has claimed West's first discard for a pung and has discarded."""
    deal = arranged({"west": "5m", "south": "55m"}, walls, dealer="west")
    play = turn(open_play(deal, OEDMC), "5m", Action("pung", "south"))
    play = apply_action(play, Action("discard", "south", deal.faces["south"][5]), nobody)
    return apply_action(play, NO_CLAIM, nobody)


def test_a_drawn_tile_is_the_last_of_its_kind_if_the_three_others_are_in_a_meld() -> None:
    play = turn(with_pung_of_5m({"north": "5m"}))
    (win,) = apply_action(
        apply_action(play, Action("draw", "north"), nobody), Action("self_hu", "north"), everybody
    ).wins
    assert (win.hu.winning_tile, win.hu.last_of_kind) == ("5m", True)


def test_a_drawn_tile_is_not_the_last_of_its_kind_if_another_is_concealed() -> None:
    play = turn(open_play(arranged({"west": "5m", "south": "55m"}, {"north": "5m"}, dealer="west"), OEDMC), "5m")
    (win,) = apply_action(
        apply_action(play, Action("draw", "north"), nobody), Action("self_hu", "north"), everybody
    ).wins
    assert (win.hu.winning_tile, win.hu.last_of_kind) == ("5m", False)


def test_a_robbed_kong_offers_its_fourth_tile() -> None:
    play = turn(turn(turn(with_pung_of_5m({"south": "5m"}))))
    for action in (Action("draw", "south"), Action("added_kong", "south", "5m")):
        play = apply_action(play, action, nobody)
    end = apply_action(play, Action("hu_on_discard", seats=("west",)), everybody)
    (win,) = end.wins
    assert (win.hu.winning_tile, win.hu.situation_fans, win.hu.kong) == ("5m", ("Robbing the Kong",), True)
    assert end.hand("south").melds == (TableMeld("kong", tiles("5555m"), "west", "5m"),)


def test_a_hu_derives_the_last_tile_and_the_kong_from_its_situation_fans() -> None:
    declarations = [
        Hu("west", (), (), "5m", True, "east", "south", False, fans)  # noqa: FBT003 - as it is called
        for fans in ((), ("Last Tile Draw", "Out with Replacement Tile"), ("Last Tile Claim",), ("Robbing the Kong",))
    ]
    assert [(hu.last_tile, hu.kong) for hu in declarations] == [
        (False, False),
        (True, True),
        (True, False),
        (False, True),
    ]


SEED = st.integers(0, 2**32)


@given(SEED)
def test_a_replay_ends_in_the_same_state_as_the_play(seed: int) -> None:
    plays = list(at_random(seed))
    last, action = plays[-1]
    replayed = replay_actions(last.deal, (action for _, action in plays), OEDMC, seldom)
    assert replayed == apply_action(last, action, seldom)


def refused_at(deal: Deal, actions: list[Action]) -> int | None:
    """Return the step at which a replay is refused, or None."""
    try:
        replay_actions(deal, actions, OEDMC, seldom)
    except StepRefused as refused:
        return refused.step
    return None


@given(SEED, st.integers(0, 10_000))
def test_a_record_with_a_missing_action_is_refused_at_or_after_the_gap(seed: int, at: int) -> None:
    plays = list(at_random(seed))
    actions = [action for _, action in plays]
    missing = at % (len(plays) - 1)
    step = refused_at(plays[0][0].deal, actions[:missing] + actions[missing + 1 :])
    if plays[missing][0].turns.phase == "kong" and actions[missing].do == "no_claim":
        assert step is None  # drawing the replacement implies that nobody robbed the kong
    else:
        assert step is not None
        assert step > missing


def test_a_refused_replay_reports_the_step_and_the_state_before_it() -> None:
    deal = arranged({"east": "5m 1112223334z"}, {"east": "9s"})
    actions = [Action("draw", "east"), Action("discard", "east", "9p"), Action("no_claim")]
    with pytest.raises(StepRefused) as refused:
        replay_actions(deal, actions, OEDMC, nobody)
    assert (refused.value.code, refused.value.step) == ("tiles_missing", 2)
    assert refused.value.text == "step 2: east has not the tiles for discard of 9p"
    assert refused.value.play == apply_action(open_play(deal, OEDMC), actions[0], nobody)


def test_an_incomplete_record_is_replayed_to_its_end() -> None:
    deal = arranged({})
    assert replay_actions(deal, [], OEDMC, nobody) == open_play(deal, OEDMC)


TILES: Final = tuple(sorted(FULL_SET))

DRAWS: Final = 84
MELDS: Final = 16
LONGEST: Final = DRAWS + 2 * (DRAWS + MELDS) + 2 * MELDS
"""Most actions of a play: draws, a discard and its claims for each draw or meld, and the same for kongs."""


@given(SEED)
def test_no_tile_is_lost_or_duplicated(seed: int) -> None:
    assert {tuple(all_tiles(play)) == TILES for play, _ in at_random(seed)} == {True}


@given(SEED)
def test_everybody_holds_13_tiles_and_the_player_in_turn_14_counting_a_kong_as_three(seed: int) -> None:
    for play, _ in at_random(seed):
        held = [len(hand.concealed) + 3 * len(hand.melds) for hand in play.hands]
        assert held == [13 + (play.turns.phase == "hold" and seat == play.turns.turn) for seat in SEATS]


@given(SEED)
def test_a_wall_is_drawn_in_order(seed: int) -> None:
    plays = list(at_random(seed))
    for (before, action), (later, _) in pairwise(plays):
        if action.do == "draw":
            seat = before.turns.turn
            assert (before.wall(seat)[0], before.wall(seat)[1:]) == (later.hand(seat).concealed[-1], later.wall(seat))


@given(SEED)
def test_every_play_ends_within_the_longest_possible_length(seed: int) -> None:
    plays = list(at_random(seed))
    last, action = plays[-1]
    assert apply_action(last, action, seldom).turns.over in ("win", "exhausted draw")
    assert len(plays) <= LONGEST


def accepted(play: PlayState, action: Action) -> bool:
    try:
        apply_action(play, action, seldom)
    except RuleError:
        return False
    return True


def named(action: Action) -> bool:
    """Whether an action names its tile as in `legal_actions`: draws and hu do not, all others do."""
    return (action.tile is None) == (action.do in ("draw", "self_hu", "hu_on_discard"))


@given(SEED, st.integers(0, 200))
def test_legal_actions_are_exactly_the_accepted_ones(seed: int, at: int) -> None:
    plays = list(at_random(seed))
    play, _ = plays[at % len(plays)]
    every = [
        Action(do, seat, tile) for do in ACTION_KINDS if do != "no_claim" for seat in SEATS for tile in (None, *KINDS)
    ]
    offered = {action for seat in SEATS for action in legal_actions(play, seat, seldom)}
    named_actions = {Action(action.do, action.actors[0], action.tile) for action in offered}
    assert named_actions == {action for action in every if named(action) and accepted(play, action)}


@given(SEED)
def test_a_seat_that_is_not_awaited_has_no_legal_action(seed: int) -> None:
    for play, _ in at_random(seed):
        waiting = [seat for seat in SEATS if seat not in awaited_seats(play.turns)]
        acting = [seat for seat in waiting if legal_actions(play, seat, seldom)]
        assert acting == ([play.turns.turn] if play.turns.phase == "kong" else [])
