"""Winning shapes, decided without the library; the library agrees."""

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Final

import pytest
from hypothesis import given

from broker.rules.fan.hand import Hand
from broker.rules.fan.library import code_of, module
from broker.rules.fan.shape import KNITTED, counted, is_seven_pairs, wins
from broker.rules.tiles import KINDS
from tests.broker.rules.fan.hands import tiles
from tests.broker.rules.fan.oracle import regular_shapes
from tests.broker.rules.fan.strategies import any_tiles

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
def test_these_win(held: str) -> None:
    assert wins(tiles(held))


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
def test_these_do_not(held: str) -> None:
    assert not wins(tiles(held))


def test_there_are_six_knitted_straights_of_nine_kinds() -> None:
    assert len(set(KNITTED)) == 6
    assert {len(knitted) for knitted in KNITTED} == {9}
    assert [KINDS[index] for index in sorted(KNITTED[0])] == list(tiles(KNITTED_STRAIGHT))


@pytest.mark.parametrize("sets", [0, 1, 2])
def test_of_one_suit_exactly_those_win_that_are_made_of_sets_and_a_pair(sets: int) -> None:
    made = regular_shapes("p", sets)
    drawn = {
        held for held in combinations_with_replacement(KINDS[9:18], 3 * sets + 2) if max(map(held.count, held)) <= 4
    }
    assert {held for held in drawn if wins(held)} == made


def test_four_sets_of_one_suit_and_a_pair_win() -> None:
    assert [held for held in sorted(regular_shapes("m", 4))[::7] if not wins(held)] == []


def test_four_alike_are_two_pairs_and_twelve_tiles_are_not_seven() -> None:
    assert is_seven_pairs(counted(tiles("11112222m 333344p")))
    assert not is_seven_pairs(counted(tiles("11112222m 3333p")))


def library_counts(standing: Sequence[str]) -> bool:
    """Ask the library whether it takes 14 tiles for a winning hand."""
    codes = [code_of(tile) for tile in standing]
    try:
        module().MahjongFanCalculator((), tuple(codes[1:]), codes[0], 0, False, False, False, False, 0, 0)  # noqa: FBT003 - as it is called
    except TypeError:
        return False
    return True


@given(any_tiles())
def test_the_library_says_the_same_of_any_fourteen_tiles(hand: Hand) -> None:
    assert wins(hand.standing) == library_counts(hand.standing)
