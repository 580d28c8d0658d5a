"""A play with its tiles: what each action does to hands, melds, rivers and walls, and what the tiles refuse."""

import pytest

from broker.contract.words import SEATS, Seat
from broker.rules.errors import RuleError
from broker.rules.referee.actions import Action
from broker.rules.referee.hand import Meld
from broker.rules.referee.moves import apply
from broker.rules.referee.play import Play, begin
from tests.broker.rules.referee.playing import after, arranged, everybody, nobody, tiles
from tests.broker.rules.variants import MCR, OEDMC

DRAW = Action("draw", "east")


def refusal(play: Play, action: Action) -> str:
    """Give the code with which an action is refused, whatever hands are worth."""
    with pytest.raises(RuleError) as refused:
        apply(play, action, everybody)
    return refused.value.code


@pytest.mark.parametrize("dealer", SEATS)
def test_everybody_begins_with_13_tiles_and_a_full_wall_and_the_dealer_draws_the_first_of_it(dealer: Seat) -> None:
    deal = arranged({}, dealer=dealer)
    play = begin(deal, OEDMC)
    assert {seat: (play.hand(seat).concealed, play.wall(seat)) for seat in SEATS} == {
        seat: (deal.faces[seat][:13], deal.faces[seat][13:]) for seat in SEATS
    }
    drawn = apply(play, Action("draw", dealer), nobody)
    assert drawn.hand(dealer).concealed == deal.faces[dealer][:14]
    assert drawn.wall(dealer) == deal.faces[dealer][14:]


def test_a_discard_lies_in_the_river_and_is_offered_until_nobody_claims_it() -> None:
    play = after(arranged({"east": "5m"}, {"east": "9s"}), DRAW, Action("discard", "east", "5m"))
    assert (play.hand("east").river, play.offered, play.hand("east").concealed[-1]) == (("5m",), "5m", "9s")
    assert len(play.hand("east").concealed) == 13
    assert apply(play, Action("no_claim"), nobody).offered == ""


def test_a_chow_takes_the_discard_from_the_river_and_the_two_others_from_the_hand() -> None:
    deal = arranged({"east": "5m", "south": "3467m"})
    play = after(deal, DRAW, Action("discard", "east", "5m"), Action("chow", "south", "4m"))
    assert play.hand("south").melds == (Meld("chow", tiles("456m"), "east", "5m"),)
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
def test_a_chow_is_three_in_a_row_of_one_suit_named_by_the_lowest(
    discard: str,
    held: str,
    lowest: str | None,
    possible: bool,  # noqa: FBT001 - a case of the test
) -> None:
    deal = arranged({"east": discard, "south": f"{held} 11122233344z"})
    play = after(deal, DRAW, Action("discard", "east", discard))
    action = Action("chow", "south", lowest)
    code = None if possible else "tiles_missing"
    assert (refusal(play, action) if code else apply(play, action, nobody).turns.turn) == (code or "south")


@pytest.mark.parametrize("named", [None, "5m"])
def test_a_pung_takes_two_tiles_and_a_melded_kong_three_then_its_replacement(named: str | None) -> None:
    deal = arranged({"east": "5m", "west": "555m"}, {"west": "9s"})
    offered = after(deal, DRAW, Action("discard", "east", "5m"))
    pung = apply(offered, Action("pung", "west", named), nobody)
    assert pung.hand("west").melds == (Meld("pung", tiles("555m"), "east", "5m"),)
    assert pung.hand("west").concealed == ("5m", *deal.faces["west"][3:13])
    kong = apply(offered, Action("melded_kong", "west", named), nobody)
    assert kong.hand("west").melds == (Meld("kong", tiles("5555m"), "east", "5m"),)
    assert apply(kong, Action("draw", "west"), nobody).hand("west").concealed == (*deal.faces["west"][3:13], "9s")


def test_a_concealed_kong_takes_four_tiles_of_the_hand_and_is_concealed() -> None:
    deal = arranged({"east": "555m"}, {"east": "59m"})
    play = after(deal, DRAW, Action("concealed_kong", "east", "5m"), DRAW)
    (kong,) = play.hand("east").melds
    assert (kong, kong.concealed) == (Meld("kong", tiles("5555m")), True)
    assert play.hand("east").concealed == (*deal.faces["east"][3:13], "9m")


def to_added_kong() -> Play:
    """South has a pung of North's 5m and has drawn the fourth."""
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


def test_an_added_kong_keeps_whose_tile_its_pung_was_made_with_and_offers_the_fourth() -> None:
    play = apply(to_added_kong(), Action("added_kong", "south", "5m"), nobody)
    (kong,) = play.hand("south").melds
    assert (kong, kong.concealed, play.offered) == (Meld("kong", tiles("5555m"), "north", "5m"), False, "5m")
    assert len(play.hand("south").concealed) == 10
    replaced = apply(play, Action("draw", "south"), nobody)
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
def test_what_the_hand_does_not_hold_is_refused(action: Action) -> None:
    play = after(arranged({"east": "555m 1112223334z"}, {"east": "1s"}), DRAW)
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
def test_a_claim_needs_the_tiles_and_names_no_other(action: Action, held: str) -> None:
    deal = arranged({"east": "5m", "west": f"{held} 1112223334z", "south": "666m"})
    assert refusal(after(deal, DRAW, Action("discard", "east", "5m")), action) == "tiles_missing"


def test_a_tile_named_as_drawn_must_be_the_next_of_the_wall() -> None:
    play = begin(arranged({}, {"east": "19m"}), OEDMC)
    assert refusal(play, Action("draw", "east", "9m")) == "wall_differs"
    assert apply(play, Action("draw", "east", "1m"), nobody) == apply(play, DRAW, nobody)


def test_turns_come_before_tiles() -> None:
    play = begin(arranged({}), OEDMC)
    assert refusal(play, Action("discard", "east", play.hand("east").concealed[0])) == "wrong_phase"
    assert refusal(play, Action("draw", "south")) == "not_your_turn"


def test_under_a_profile_of_the_nearest_two_cannot_win_on_one_discard() -> None:
    play = apply(begin(arranged({"east": "5m"}), MCR), DRAW, nobody)
    play = apply(play, Action("discard", "east", "5m"), nobody)
    assert refusal(play, Action("hu_on_discard", seats=("south", "west"))) == "several_winners"
