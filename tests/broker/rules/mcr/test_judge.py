"""The judge counts by the Green Book and refuses hands below the profile's minimum."""

import pytest
from msgspec.structs import replace

from broker.rules.mcr import Hu, SituationFan, TableMeld
from tests.broker.rules.mcr.playing import tiles
from tests.broker.sim.playing import JUDGE, refusal

STRAIGHT = Hu(
    seat="south",
    concealed=tiles("456p 789s 33z 67m"),
    melds=(TableMeld("chow", tiles("123m"), "east", "1m"),),
    winning_tile="5m",
    self_drawn=False,
    seat_wind="south",
    prevalent_wind="east",
    last_of_kind=False,
    situation_fans=(),
)
"""A win with Mixed Straight as its only fan."""


def test_a_hand_of_8_fan_wins_with_its_value() -> None:
    assert JUDGE(STRAIGHT) == 8


def test_a_complete_hand_under_the_minimum_is_refused() -> None:
    assert refusal(replace(STRAIGHT, concealed=tiles("456p 678s 33z 67m"))) == "below_minimum"


def test_a_winning_tile_that_does_not_complete_the_hand_is_refused() -> None:
    assert refusal(replace(STRAIGHT, winning_tile="1m")) == "not_winning"


@pytest.mark.parametrize(
    ("self_drawn", "fans", "value"),
    [
        (True, (), 9),
        (False, ("Last Tile Claim",), 16),
        (True, ("Last Tile Draw",), 16),
        (False, ("Robbing the Kong",), 16),
    ],
)
def test_the_way_of_winning_adds_its_fan(*, self_drawn: bool, fans: tuple[SituationFan, ...], value: int) -> None:
    assert JUDGE(replace(STRAIGHT, self_drawn=self_drawn, situation_fans=fans)) == value


def test_last_of_its_kind_is_counted() -> None:
    assert JUDGE(replace(STRAIGHT, last_of_kind=True)) == 12


@pytest.mark.parametrize(("wind", "value"), [("1z", 10), ("2z", 10), ("3z", 9), ("4z", 9)])
def test_a_pung_of_winds_is_counted_by_seat_and_prevalent_wind(wind: str, value: int) -> None:
    pung = TableMeld("pung", (wind,) * 3, "east", wind)
    assert JUDGE(replace(STRAIGHT, concealed=tiles("123m 456p 78s 55s"), melds=(pung,), winning_tile="9s")) == value
