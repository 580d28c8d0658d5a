"""The shanten of a hand and its useful tiles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.rules import FULL_SET, KINDS, RuleError
from broker.rules.mcr import McrHand, shanten_and_useful
from broker.rules.mcr.fan import mcr_waits
from broker.rules.mcr.hand import is_winning
from tests.broker.rules.mcr.hands import meld, tiles, without
from tests.broker.rules.mcr.strategies import pairs, regular_hands
from tests.examples import COSTLY


@pytest.mark.parametrize(
    ("concealed", "melds", "expected"),
    [
        ("123m 888p 345p 67s 33z", [], "5s 8s"),
        ("345p 67s 33z", ["123m", "8888p"], "5s 8s"),
        ("1112345678999m", [], "1m 2m 3m 4m 5m 6m 7m 8m 9m"),
        ("1133m 5577p 2299s 4z", [], "4z"),
        ("19m 19p 19s 1234567z", [], "1m 9m 1p 9p 1s 9s 1z 2z 3z 4z 5z 6z 7z"),
        ("147m 258p 36s 88m", ["567p"], "9s"),
        ("1234567z 147m 25p 3s", [], "8p 6s 9s"),
        ("3z", ["123m", "888p", "345p", "678s"], "3z"),
    ],
)
def test_a_waiting_hand_has_shanten_0_and_its_waits(concealed: str, melds: list[str], expected: str) -> None:
    held = tiles(concealed), [meld(text) for text in melds]
    assert mcr_waits(*held) == tuple(expected.split())
    assert shanten_and_useful(*held) == (0, mcr_waits(*held))


@pytest.mark.parametrize(
    ("concealed", "melds", "expected"),
    [
        ("123m 888p 345p 6s 9s 33z", [], 1),
        ("345p 6s 9s 33z", ["123m", "888p"], 1),
        ("1133m 5577p 229s 14z", [], 1),
        ("19m 19p 19s 123456z 5m", [], 1),
        ("19m 19p 19s 12345z 55m", [], 2),
        ("147m 258p 3s 88m 4z", ["567p"], 1),
        # With the knitted straight complete, the four other tiles must become a set and a pair.
        ("1258m 1369p 1479s 1z", [], 2),
    ],
)
def test_a_hand_that_is_not_waiting_has_the_expected_shanten(concealed: str, melds: list[str], expected: int) -> None:
    held = tiles(concealed), [meld(text) for text in melds]
    assert shanten_and_useful(*held)[0] == expected
    assert (mcr_waits(*held) == ()) is (expected > 0)


@pytest.mark.parametrize(
    ("concealed", "melds"), [("5m", ["555m", "123p", "456p", "678s"]), ("12s 33z", ["333s", "345s", "888p"])]
)
def test_a_hand_that_needs_a_fifth_tile_of_a_kind_is_not_waiting(concealed: str, melds: list[str]) -> None:
    held = tiles(concealed), [meld(text) for text in melds]
    assert mcr_waits(*held) == ()
    missing, useful = shanten_and_useful(*held)
    assert missing == 1
    drawn_and_discarded = [(*without(held[0], other), tile) for tile in useful for other in held[0]]
    assert any(mcr_waits(concealed_then, held[1]) for concealed_then in drawn_and_discarded)


@given(regular_hands(), st.data())
def test_a_winning_hand_without_one_tile_waits_for_that_tile(hand: McrHand, data: st.DataObject) -> None:
    lacking = data.draw(st.sampled_from(hand.standing))
    concealed = without(hand.standing, lacking)
    assert lacking in mcr_waits(concealed, hand.melds)
    assert shanten_and_useful(concealed, hand.melds)[0] == 0


@given(pairs())
def test_seven_pairs_without_one_tile_wait_for_it(hand: McrHand) -> None:
    assert hand.winning_tile in mcr_waits(hand.concealed)


@given(st.permutations(FULL_SET))
@COSTLY
def test_a_tile_is_useful_exactly_if_it_reduces_the_shanten(wall: list[str]) -> None:
    concealed = tuple(wall[:13])
    missing, useful = shanten_and_useful(concealed)
    assert missing > 0 or useful == mcr_waits(concealed)
    for tile in (tile for tile in KINDS if concealed.count(tile) < 4):
        drawn = (*concealed, tile)
        least = -1 if is_winning(drawn) else min(shanten_and_useful(without(drawn, other))[0] for other in set(drawn))
        assert (least < missing) is (tile in useful)


@pytest.mark.parametrize(
    ("concealed", "melds", "code"),
    [
        ("123m 888p 345p 678s 33z", [], "wrong_tile_count"),
        ("", [], "wrong_tile_count"),
        ("123m 888p 345p 67s 33z", ["123m"], "wrong_tile_count"),
        ("11111m 888p 345p 67s", [], "five_of_a_tile"),
        ("123m 888p 345p 67s 3z 8z", [], "unknown_tile"),
    ],
)
def test_tiles_that_are_not_a_possible_hand_are_refused(concealed: str, melds: list[str], code: str) -> None:
    for ask in (mcr_waits, shanten_and_useful):
        with pytest.raises(RuleError) as refused:
            ask(tiles(concealed), [meld(text) for text in melds])
        assert refused.value.code == code
