"""Impossible hands and ways of winning are refused, and winning shapes are recognised."""

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Final

import pytest
from hypothesis import given

from broker.rules import KINDS, RuleError
from broker.rules.mcr import (
    KNITTED,
    McrHand,
    McrMeld,
    McrSituation,
    check_minimum,
    count_fan,
    is_seven_pairs,
    kind_counts,
)
from broker.rules.mcr.fan import code_from_tile, mahjong_gb
from broker.rules.mcr.hand import is_winning
from tests.broker.rules.mcr.hands import hand, meld, situation, tiles, worth
from tests.broker.rules.mcr.oracle import regular_shapes
from tests.broker.rules.mcr.strategies import any_tiles


def meld_refusal(kind: str, held: str, *, concealed: bool = False) -> tuple[str, str]:
    """Return the code and the message with which a meld is refused."""
    with pytest.raises(RuleError) as refused:
        McrMeld(kind, tiles(held), concealed=concealed)
    return refused.value.code, refused.value.text


@pytest.mark.parametrize("held", ["123m", "312p", "789s", "879s"])
def test_three_consecutive_tiles_of_a_suit_are_a_chow_in_any_order(held: str) -> None:
    assert McrMeld("chow", tiles(held)).tiles == tiles(held)


@pytest.mark.parametrize("held", ["124m", "122m", "111m", "12m 3p", "8m 9m 1p", "123z", "567z", "9m 1p 2p", "9s 1z 2z"])
def test_three_tiles_not_in_sequence_are_not_a_chow(held: str) -> None:
    assert meld_refusal("chow", held) == (
        "not_a_meld",
        f"not three consecutive tiles of a suit: {' '.join(tiles(held))}",
    )


@pytest.mark.parametrize(
    ("kind", "held"), [("pung", "112m"), ("pung", "1m 1p 1s"), ("kong", "1112z"), ("pung", "123m")]
)
def test_a_pung_or_kong_of_different_tiles_is_refused(kind: str, held: str) -> None:
    assert meld_refusal(kind, held) == ("not_a_meld", f"the tiles of a {kind} are alike: {' '.join(tiles(held))}")


@pytest.mark.parametrize(
    ("kind", "held"),
    [
        ("pung", "1111m"),
        ("pung", "11m"),
        ("kong", "111m"),
        ("kong", "11111m"),
        ("chow", "1234m"),
        ("chow", ""),
        ("chii", "123m"),
        ("", "111m"),
        ("Pung", "111m"),
        ("pair", "11m"),
    ],
)
def test_each_kind_of_meld_has_a_fixed_number_of_tiles(kind: str, held: str) -> None:
    shown = " ".join(tiles(held)[:5])
    assert meld_refusal(kind, held) == ("not_a_meld", f"{len(tiles(held))} tiles are no {kind!r}: {shown}")


@pytest.mark.parametrize(("kind", "held"), [("chow", "123m"), ("pung", "111m")])
def test_only_a_kong_is_laid_down_concealed(kind: str, held: str) -> None:
    code, text = meld_refusal(kind, held, concealed=True)
    assert (code, text) == ("concealed_meld", f"a concealed {kind} is not laid down: {' '.join(tiles(held))}")
    assert McrMeld("kong", tiles("1111m"), concealed=True).concealed


@pytest.mark.parametrize(
    "tile", ["0m", "10m", "8z", "0z", "1f", "E", "", "1M", "m1", "1m ", " 1m", "1", "m", "一万", "1m1m"]
)
def test_an_unknown_tile_is_refused_anywhere_in_a_hand(tile: str) -> None:
    held = tiles("123m 888p 345p 67s 33z")
    for make in (
        lambda: McrHand((*held[1:], tile), "8s"),
        lambda: McrHand(held, tile),
        lambda: McrMeld("pung", (tile,) * 3),
        lambda: McrMeld("chow", ("1m", "2m", tile)),
    ):
        with pytest.raises(RuleError) as refused:
            make()
        assert refused.value.code == "unknown_tile"
        assert refused.value.text == f"{tile!r} is no tile: 1m..9m, 1p..9p, 1s..9s, 1z..7z"


@pytest.mark.parametrize(
    ("concealed", "melds"),
    [
        ("123m 888p 345p 678s 33z", []),
        ("123m 888p 345p 67s 3z", []),
        ("123m 888p 345p 67s 33z", ["999m"]),
        ("123m 888p 345p 67s 33z", ["9999m"]),
        ("345p 67s 33z", ["9999m"]),
        ("", ["123m", "888p", "345p", "678s"]),
        ("33z", ["123m", "888p", "345p", "678s"]),
        ("3z", ["123m", "888p", "345p", "678s", "999m"]),
        ("", []),
        ("123m" * 50, []),
    ],
)
def test_a_hand_has_13_concealed_tiles_less_three_for_each_meld(concealed: str, melds: list[str]) -> None:
    with pytest.raises(RuleError) as refused:
        McrHand(tiles(concealed), "3z", tuple(meld(text) for text in melds))
    assert refused.value.code == "wrong_tile_count"
    assert refused.value.text.startswith(f"{len(tiles(concealed))} concealed tiles and {len(melds)} melds: ")


@pytest.mark.parametrize(
    ("concealed", "winning_tile", "melds"),
    [
        ("11111m 888p 345p 67s", "8s", []),
        ("1111m 888p 345p 67s 3z", "1m", []),
        ("345p 67s 33z", "8p", ["123m", "8888p"]),
        ("456p 67s 33z", "7p", ["777p", "678p"]),
    ],
)
def test_a_fifth_tile_of_a_kind_is_refused(concealed: str, winning_tile: str, melds: list[str]) -> None:
    with pytest.raises(RuleError) as refused:
        McrHand(tiles(concealed), winning_tile, tuple(meld(text) for text in melds))
    assert refused.value.code == "five_of_a_tile"
    assert refused.value.text.endswith(" is there 5 times; a set has 4")


@pytest.mark.parametrize(
    ("seat", "prevalent", "which"), [("up", "east", "seat"), ("east", "E", "prevalent"), ("", "", "seat")]
)
def test_an_unknown_wind_is_refused(seat: str, prevalent: str, which: str) -> None:
    with pytest.raises(RuleError) as refused:
        McrSituation(self_drawn=True, seat_wind=seat, prevalent_wind=prevalent)
    wrong = seat if which == "seat" else prevalent
    assert (refused.value.code, refused.value.text) == (
        "unknown_wind",
        f"{wrong!r} is no {which} wind; there are: east, south, west, north",
    )


BARE = hand("345p 67s 33z", "8s", "123m", "888p")
"""A hand without any fan."""

WITH_KONG = hand("345p 67s 33z", "8s", "123m", "8888p")


def win_refusal(held: McrHand, how: str) -> str:
    """Return the code with which a win is refused."""
    with pytest.raises(RuleError) as refused:
        count_fan(held, situation(how))
    return refused.value.code


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("", "8 Chicken Hand"),
        ("last_of_kind", "4 Last Tile"),
        ("drawn", "1 Self-Drawn"),
        ("drawn last_of_kind", "4 Last Tile + 1 Self-Drawn"),
        ("last_tile", "8 Last Tile Claim"),
        ("drawn last_tile", "8 Last Tile Draw"),
        ("drawn last_tile last_of_kind", "8 Last Tile Draw + 4 Last Tile"),
        ("kong", "8 Robbing the Kong"),
        # Last Tile is implied: the three others are in the pung to which the fourth is added.
        ("kong last_of_kind", "8 Robbing the Kong"),
    ],
)
def test_a_situation_adds_its_fan_to_a_hand_without_fan(how: str, expected: str) -> None:
    assert worth(BARE, situation(how)) == expected


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("drawn", "1 Melded Kong + 1 Self-Drawn"),
        ("drawn kong", "8 Out with Replacement Tile + 1 Melded Kong"),
        # The turn of the last tile of the wall may start with a claimed kong (OEDMC, LTW).
        ("drawn kong last_tile", "8 Last Tile Draw + 8 Out with Replacement Tile + 1 Melded Kong"),
        # The winner's own kong does not prevent robbing one.
        ("kong", "8 Robbing the Kong + 1 Melded Kong"),
    ],
)
def test_a_situation_adds_its_fan_to_a_hand_with_a_kong(how: str, expected: str) -> None:
    assert worth(WITH_KONG, situation(how)) == expected


def test_a_self_drawn_concealed_hand_is_fully_concealed_on_special_tiles_too() -> None:
    held = hand("345p 123m 67s 33z", "8s", "(8888p)")
    assert (
        worth(held, situation("drawn kong"))
        == "8 Out with Replacement Tile + 4 Fully Concealed Hand + 2 Concealed Kong"
    )
    assert worth(held, situation("drawn last_tile")) == "8 Last Tile Draw + 4 Fully Concealed Hand + 2 Concealed Kong"
    assert worth(held) == "2 Concealed Hand + 2 Concealed Kong"


@pytest.mark.parametrize("melds", [("123m", "888p"), ("678p", "678p", "678p")])
def test_last_tile_is_counted_automatically_if_the_winner_s_melds_show_the_three_others(melds: tuple[str, ...]) -> None:
    concealed = {2: "67p 345s 33z", 3: "67p 33z"}[len(melds)]
    assert "4 Last Tile" in worth(hand(concealed, "8p", *melds))


def test_last_tile_is_not_counted_automatically_if_the_melds_show_only_two() -> None:
    held = hand("67p 33z", "8p", "678p", "678p", "123m")
    assert "Last Tile" not in worth(held)
    assert "4 Last Tile" in worth(held, situation("last_of_kind"))


@pytest.mark.parametrize("how", ["last_of_kind", "drawn last_of_kind", "kong last_of_kind"])
def test_a_last_of_its_kind_with_another_in_the_concealed_hand_is_refused(how: str) -> None:
    assert win_refusal(hand("345p 678s 3z", "3z", "123m", "888p"), how) == "not_last_of_kind"
    assert win_refusal(hand("678s 67s 33z", "8s", "123m", "888p"), how) == "not_last_of_kind"


@pytest.mark.parametrize("how", ["drawn kong", "drawn kong last_tile"])
def test_a_replacement_tile_needs_a_kong(how: str) -> None:
    assert win_refusal(BARE, how) == "replacement_without_kong"


@pytest.mark.parametrize("held", [BARE, WITH_KONG])
def test_robbing_a_kong_on_the_last_tile_of_the_wall_is_refused(held: McrHand) -> None:
    assert win_refusal(held, "kong last_tile") == "robbed_on_last_tile"


@pytest.mark.parametrize(
    "held",
    [
        hand("345p 678s 3z", "3z", "123m", "888p"),
        hand("678s 67s 33z", "8s", "123m", "888p"),
        hand("345p 67s 33z", "8s", "123m", "678s"),
    ],
)
def test_robbing_a_kong_of_a_tile_that_the_winner_holds_is_refused(held: McrHand) -> None:
    assert win_refusal(held, "kong") == "kong_not_robbed"


def test_seat_and_prevalent_wind_are_both_counted_even_if_they_are_the_same() -> None:
    held = hand("345p 67s 99p", "8s", "123m", "444z")
    assert worth(held, situation(seat="north", prevalent="north")) == "2 Prevalent Wind + 2 Seat Wind"
    assert worth(held, situation(seat="north", prevalent="west")) == "2 Seat Wind"
    assert worth(held, situation(seat="west", prevalent="north")) == "2 Prevalent Wind"
    assert worth(held, situation(seat="west", prevalent="south")) == "1 Pung of Terminals or Honors"


@pytest.mark.parametrize(("dragon", "green"), [("555z", False), ("666z", True), ("777z", False)])
def test_only_the_green_dragon_is_a_green_tile(*, dragon: str, green: bool) -> None:
    held = hand("23s 88s 666s", "4s", "234s", dragon)
    assert ("88 All Green" in worth(held)) is green


def test_only_the_white_dragon_is_a_reversible_dragon() -> None:
    held = {pair: hand(f"45s {pair}", "6s", "123p", "888s", "999p") for pair in ("55z", "66z", "77z")}
    assert [pair for pair in held if "Reversible Tiles" in worth(held[pair])] == ["55z"]


def test_a_pung_completed_by_a_discard_is_not_concealed() -> None:
    shanpon = hand("888p 55m 678s 33z", "5m", "123m")
    assert worth(shanpon) == "8 Chicken Hand"
    assert worth(shanpon, situation("drawn")) == "2 Two Concealed Pungs + 1 Self-Drawn"


def test_a_discard_is_counted_in_a_chow_if_that_keeps_the_pung_concealed() -> None:
    assert worth(hand("888p 555m 67m 33z", "5m", "123s")) == "2 Tile Hog + 2 Two Concealed Pungs"


def test_the_refusal_of_a_hand_below_the_minimum_states_its_value() -> None:
    counted = count_fan(BARE, situation("drawn"))
    check_minimum(1, counted)
    with pytest.raises(RuleError) as refused:
        check_minimum(8, counted)
    assert (refused.value.code, refused.value.text) == (
        "below_minimum",
        "the hand is worth 1, under the minimum of 8",
    )


def test_a_hand_that_does_not_win_is_refused() -> None:
    assert win_refusal(hand("345p 67s 33z", "9s", "123m", "888p"), "") == "not_winning"


KNITTED_STRAIGHT: Final = "147m 258p 369s "


@pytest.mark.parametrize(
    "held",
    [
        "11m",
        "123m 11z",
        "111m 11z",
        "11122233344455m",
        "11122233344466z",
        "123m 456m 789m 123p 99s",
        "22223333444455s",
        "1112345678999m 5m",
        "11335577m 224466p",
        "11112222m 333344p",
        "1122334455667z 7z",
        "19m 19p 19s 1234567z 7z",
        "19m 19p 19s 1234567z 1m",
        KNITTED_STRAIGHT + "11z",
        KNITTED_STRAIGHT + "11m",
        KNITTED_STRAIGHT + "123m 99s",
        KNITTED_STRAIGHT + "777z 11z",
        "147s 258m 369p 234s 44p",
        KNITTED_STRAIGHT + "12345z",
        "147m 258p 3s 1234567z",
        "17m 28p 369s 1234567z",
    ],
)
def test_these_tiles_win(held: str) -> None:
    assert is_winning(tiles(held))


@pytest.mark.parametrize(
    "held",
    [
        "12m",
        "124m 11z",
        "123z 11z",
        "567z 55z",
        "89m 1p 11z",
        "891m 22m",
        "123m 456m 789m 123p 98s",
        "11335577m 22446p 7p",
        "19m 19p 19s 1234567z 2m",
        "9m 19p 19s 1234567z 77z",
        "19m 19p 19s 123456z 66z",
        KNITTED_STRAIGHT + "12z",
        KNITTED_STRAIGHT + "11223z",
        "147m 258p 368s 11z",
        "147m 147p 369s 12345z",
        "147m 258p 3s 123456z 6z",
        "147m 258p 38s 123456z",
        "1233m 258p 369s 1234z",
    ],
)
def test_these_tiles_do_not_win(held: str) -> None:
    assert not is_winning(tiles(held))


def test_there_are_six_knitted_straights_of_nine_tiles() -> None:
    assert len(set(KNITTED)) == 6
    assert {len(knitted) for knitted in KNITTED} == {9}
    assert [KINDS[index] for index in sorted(KNITTED[0])] == list(tiles(KNITTED_STRAIGHT))


@pytest.mark.parametrize("sets", [0, 1, 2])
def test_tiles_of_one_suit_win_exactly_if_they_are_sets_and_a_pair(sets: int) -> None:
    made = regular_shapes("p", sets)
    drawn = {
        held for held in combinations_with_replacement(KINDS[9:18], 3 * sets + 2) if max(map(held.count, held)) <= 4
    }
    assert {held for held in drawn if is_winning(held)} == made


def test_four_sets_of_one_suit_and_a_pair_win() -> None:
    assert [held for held in sorted(regular_shapes("m", 4))[::7] if not is_winning(held)] == []


def test_four_of_a_kind_are_two_pairs_and_twelve_tiles_are_not_seven_pairs() -> None:
    assert is_seven_pairs(kind_counts(tiles("11112222m 333344p")))
    assert not is_seven_pairs(kind_counts(tiles("11112222m 3333p")))


def library_counts(standing: Sequence[str]) -> bool:
    """Whether the library accepts 14 tiles as a winning hand."""
    codes = [code_from_tile(tile) for tile in standing]
    try:
        mahjong_gb().MahjongFanCalculator((), tuple(codes[1:]), codes[0], 0, False, False, False, False, 0, 0)  # noqa: FBT003 - as it is called
    except TypeError:
        return False
    return True


@given(any_tiles())
def test_the_library_agrees_on_whether_any_fourteen_tiles_win(hand: McrHand) -> None:
    assert is_winning(hand.standing) == library_counts(hand.standing)
