"""What is said of a win must be possible for the hand; what the library would infer or drop silently is told apart."""

import pytest

from broker.rules.errors import RuleError
from broker.rules.fan.count import at_least, count
from broker.rules.fan.hand import Hand
from tests.broker.rules.fan.hands import hand, situation, worth

BARE = hand("345p 67s 33z", "8s", "123m", "888p")
"""A hand without any fan."""

WITH_KONG = hand("345p 67s 33z", "8s", "123m", "8888p")


def refusal(held: Hand, said: str) -> str:
    """Give the code with which a win is refused."""
    with pytest.raises(RuleError) as refused:
        count(held, situation(said))
    return refused.value.code


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("", "8 Chicken Hand"),
        ("last_of_kind", "4 Last Tile"),
        ("drawn", "1 Self-Drawn"),
        ("drawn last_of_kind", "4 Last Tile + 1 Self-Drawn"),
        ("last_tile", "8 Last Tile Claim"),
        ("drawn last_tile", "8 Last Tile Draw"),
        ("drawn last_tile last_of_kind", "8 Last Tile Draw + 4 Last Tile"),
        ("kong", "8 Robbing the Kong"),
        # The three others lie in the pung to which the fourth is added: it is implied.
        ("kong last_of_kind", "8 Robbing the Kong"),
    ],
)
def test_a_situation_adds_its_fan_to_a_hand_without_any(said: str, expected: str) -> None:
    assert worth(BARE, situation(said)) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("drawn", "1 Melded Kong + 1 Self-Drawn"),
        ("drawn kong", "8 Out with Replacement Tile + 1 Melded Kong"),
        # The turn in which the last tile of the wall is reached may come by claiming a kong (OEDMC, LTW).
        ("drawn kong last_tile", "8 Last Tile Draw + 8 Out with Replacement Tile + 1 Melded Kong"),
        # A kong of other tiles is no hindrance to robbing one.
        ("kong", "8 Robbing the Kong + 1 Melded Kong"),
    ],
)
def test_a_situation_adds_its_fan_to_a_hand_with_a_kong(said: str, expected: str) -> None:
    assert worth(WITH_KONG, situation(said)) == expected


def test_concealed_hands_won_by_drawing_are_fully_concealed_whatever_tile_it_was() -> None:
    held = hand("345p 123m 67s 33z", "8s", "(8888p)")
    assert (
        worth(held, situation("drawn kong"))
        == "8 Out with Replacement Tile + 4 Fully Concealed Hand + 2 Concealed Kong"
    )
    assert worth(held, situation("drawn last_tile")) == "8 Last Tile Draw + 4 Fully Concealed Hand + 2 Concealed Kong"
    assert worth(held) == "2 Concealed Hand + 2 Concealed Kong"


@pytest.mark.parametrize("melds", [("123m", "888p"), ("678p", "678p", "678p")])
def test_last_tile_is_seen_by_itself_where_the_winner_s_melds_show_the_three_others(melds: tuple[str, ...]) -> None:
    concealed = {2: "67p 345s 33z", 3: "67p 33z"}[len(melds)]
    assert "4 Last Tile" in worth(hand(concealed, "8p", *melds))


def test_last_tile_is_not_seen_by_itself_where_the_melds_show_two_of_them() -> None:
    held = hand("67p 33z", "8p", "678p", "678p", "123m")
    assert "Last Tile" not in worth(held)
    assert "4 Last Tile" in worth(held, situation("last_of_kind"))


@pytest.mark.parametrize("said", ["last_of_kind", "drawn last_of_kind", "kong last_of_kind"])
def test_the_last_of_its_kind_has_no_other_in_the_concealed_hand(said: str) -> None:
    assert refusal(hand("345p 678s 3z", "3z", "123m", "888p"), said) == "not_last_of_kind"
    assert refusal(hand("678s 67s 33z", "8s", "123m", "888p"), said) == "not_last_of_kind"


@pytest.mark.parametrize("said", ["drawn kong", "drawn kong last_tile"])
def test_a_replacement_tile_needs_a_kong(said: str) -> None:
    assert refusal(BARE, said) == "replacement_without_kong"


@pytest.mark.parametrize("held", [BARE, WITH_KONG])
def test_no_kong_is_robbed_in_the_last_tile_of_the_wall(held: Hand) -> None:
    assert refusal(held, "kong last_tile") == "robbed_on_last_tile"


@pytest.mark.parametrize(
    "held",
    [
        hand("345p 678s 3z", "3z", "123m", "888p"),
        hand("678s 67s 33z", "8s", "123m", "888p"),
        hand("345p 67s 33z", "8s", "123m", "678s"),
    ],
)
def test_nobody_makes_a_kong_of_a_tile_that_the_winner_has(held: Hand) -> None:
    assert refusal(held, "kong") == "kong_not_robbed"


def test_the_seat_s_and_the_prevalent_wind_are_counted_once_each_also_when_they_are_one() -> None:
    held = hand("345p 67s 99p", "8s", "123m", "444z")
    assert worth(held, situation(seat="north", prevalent="north")) == "2 Prevalent Wind + 2 Seat Wind"
    assert worth(held, situation(seat="north", prevalent="west")) == "2 Seat Wind"
    assert worth(held, situation(seat="west", prevalent="north")) == "2 Prevalent Wind"
    assert worth(held, situation(seat="west", prevalent="south")) == "1 Pung of Terminals or Honors"


@pytest.mark.parametrize(("dragon", "green"), [("555z", False), ("666z", True), ("777z", False)])
def test_the_green_dragon_is_the_green_one(dragon: str, green: bool) -> None:  # noqa: FBT001 - a case of the test
    held = hand("23s 88s 666s", "4s", "234s", dragon)
    assert ("88 All Green" in worth(held)) is green


def test_the_white_dragon_is_the_reversible_one() -> None:
    held = {pair: hand(f"45s {pair}", "6s", "123p", "888s", "999p") for pair in ("55z", "66z", "77z")}
    assert [pair for pair in held if "Reversible Tiles" in worth(held[pair])] == ["55z"]


def test_a_pung_completed_by_a_discard_is_not_concealed() -> None:
    shanpon = hand("888p 55m 678s 33z", "5m", "123m")
    assert worth(shanpon) == "8 Chicken Hand"
    assert worth(shanpon, situation("drawn")) == "2 Two Concealed Pungs + 1 Self-Drawn"


def test_a_discard_goes_to_the_chow_where_it_can_so_that_the_pung_stays_concealed() -> None:
    assert worth(hand("888p 555m 67m 33z", "5m", "123s")) == "2 Tile Hog + 2 Two Concealed Pungs"


def test_a_hand_below_the_minimum_is_told_its_worth() -> None:
    counted = count(BARE, situation("drawn"))
    at_least(1, counted)
    with pytest.raises(RuleError) as refused:
        at_least(8, counted)
    assert (refused.value.code, refused.value.text) == (
        "below_minimum",
        "the hand is worth 1, under the minimum of 8",
    )


def test_tiles_that_do_not_win_are_refused() -> None:
    assert refusal(hand("345p 67s 33z", "9s", "123m", "888p"), "") == "not_winning"
