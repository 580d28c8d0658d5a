"""The common wall of a planned deal, with each tile in one place in the documented order."""

from random import Random

import pytest

from broker.protocol import SEATS, Seat
from broker.rules import FULL_SET, new_deal
from broker.rules.deal import DEAD_WALL
from broker.rules.riichi import common_wall, wall_of
from broker.rules.riichi.board import LIVE_WALL


@pytest.mark.parametrize("dealer", SEATS)
def test_each_tile_is_in_one_place_and_the_dead_wall_ends_the_wall_before_the_dealer(
    dealer: Seat,
) -> None:
    deal = new_deal(7, "east", dealer, Random(7))
    wall = common_wall(deal)
    hands = [tile for seat in SEATS for tile in wall.hands[seat]]
    dead = (*wall.replacements, *wall.indicators, *wall.under)
    assert sorted([*hands, *wall.live, *dead]) == sorted(FULL_SET)
    assert (len(wall.live), len(dead)) == (LIVE_WALL, DEAD_WALL)
    last = wall_of(dealer)[-1]
    assert SEATS[(SEATS.index(last) + 1) % 4] == dealer
    assert deal.faces[last][-DEAD_WALL:] == dead


def test_the_live_wall_starts_with_the_dealer_s_tiles_and_the_indicators_are_the_last_ten() -> None:
    deal = new_deal(7, "east", "west", Random(7))
    wall = common_wall(deal)
    assert wall.live[:21] == deal.faces["west"][13:]
    assert wall.live[21:42] == deal.faces["north"][13:]
    assert wall.live[63:] == deal.faces["south"][13:20]
    assert wall.replacements == deal.faces["south"][20:24]
    assert (wall.indicators, wall.under) == (deal.faces["south"][24:29], deal.faces["south"][29:])
