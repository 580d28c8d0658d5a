"""Tiles, fan and steps, converted to PMN and back."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.export.pmn.event import record_play
from broker.export.pmn.record import (
    OUR_TILE,
    PmnFan,
    counted_fans,
    hand_value,
    in_order,
    read_fans,
    read_tile,
    read_tiles,
    write_fans,
    write_hand,
    write_wall,
)
from broker.rules import KINDS, RuleError, new_deal
from broker.rules.mcr import FanCount
from broker.rules.mcr.fan import FanElement
from tests.broker.export.pmn.plays import RULES
from tests.broker.rules.mcr.playing import nobody


def test_every_tile_has_one_name_in_pmn() -> None:
    assert sorted(OUR_TILE.values()) == sorted(KINDS)
    assert [read_tile(name) for name in ("c1", "d2", "b9", "w1", "w4", "r1", "r2", "r3")] == [
        *("1m", "2p", "9s", "1z", "4z", "7z", "6z", "5z")
    ]


@given(st.lists(st.sampled_from(KINDS), max_size=34))
def test_walls_keep_their_order_and_hands_are_sorted(tiles: list[str]) -> None:
    assert read_tiles(write_wall(tiles)) == tuple(tiles)
    assert read_tiles(write_hand(tiles)) == in_order(tiles)


def test_a_hand_has_all_letters_and_a_wall_only_those_needed() -> None:
    assert write_hand(["3s", "1m", "1m"]) == "c11db3wrf"
    assert write_wall(["3s", "1m", "1m", "4s"]) == "b3c11b4"


def test_fan_have_the_numbers_of_pmn() -> None:
    named = ("big_four_winds", "mixed_straight", "two_concealed_kongs", "concealed_kong_and_melded_kong")
    assert [counted_fans(FanCount(1, (FanElement(name, 1),)))[0].number for name in named] == [1, 39, 48, 82]


def test_a_fan_that_counts_twice_is_written_once() -> None:
    twice = counted_fans(
        FanCount(4, (FanElement("melded_kong", 1), FanElement("dragon_pung", 2), FanElement("melded_kong", 1)))
    )
    assert write_fans(twice) == "59/2/1.74/1/2"
    assert (read_fans("59/2/1.74/1/2"), hand_value(twice)) == (twice, 4)


def test_fan_of_the_first_release_have_the_green_books_values() -> None:
    assert read_fans("48/1.82/1") == (PmnFan(48, 8), PmnFan(82, 6))


def test_an_unfinished_play_is_refused() -> None:
    with pytest.raises(RuleError) as problem:
        record_play(new_deal(1, "east", "east", Random(1)), [], RULES, nobody)
    assert problem.value.code == "play_unfinished"
