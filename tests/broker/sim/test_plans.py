"""Plans are complete hands, worth at least their stated value by the fan counter."""

from random import Random
from typing import Final

import numpy as np
import pytest

from broker.protocol import SEATS
from broker.rules import KINDS
from broker.rules.mcr import McrHand, McrMeld, McrSituation, count_fan
from broker.rules.mcr.hand import is_winning
from broker.sim.plans import CHOWS, LEAST, NONE, TILES_OF, plans

SAMPLE_SIZE: Final = 400


def tiles(counts: np.ndarray) -> tuple[str, ...]:
    return tuple(kind for kind, number in zip(KINDS, counts.tolist(), strict=True) for _ in range(number))


def sampled_plans() -> list[int]:
    return Random(1).sample(range(plans().value.size), SAMPLE_SIZE)


@pytest.mark.parametrize("part", range(4))
def test_a_plan_is_a_winning_hand_of_14_tiles(part: int) -> None:
    for at in sampled_plans()[part::4]:
        standing = tiles(plans().tiles[at])
        assert (len(standing), is_winning(standing)) == (14, True), standing


def test_a_plan_is_worth_its_stated_value_even_with_a_claim_and_a_win_on_a_discard() -> None:
    rng = Random(2)
    for at in sampled_plans():
        column = plans().tiles[at].copy()
        sets = [one for one in plans().sets[:, at].tolist() if one != NONE]
        melds: tuple[McrMeld, ...] = ()
        if sets:
            claimed = rng.choice(sets)
            column -= TILES_OF[claimed]
            melds = (McrMeld("chow" if claimed < CHOWS else "pung", tiles(TILES_OF[claimed])),)
        standing = list(tiles(column))
        winning = standing.pop(rng.randrange(len(standing)))
        situation = McrSituation(self_drawn=False, seat_wind=rng.choice(SEATS), prevalent_wind=rng.choice(SEATS))
        counted = count_fan(McrHand(tuple(standing), winning, melds), situation)
        assert counted.fan >= plans().value[at] >= LEAST, (standing, winning, melds, counted)


def test_no_plan_is_listed_twice() -> None:
    listed = np.ascontiguousarray(np.concatenate([plans().tiles, plans().sets.T], axis=1))
    assert len({row.tobytes() for row in listed}) == len(listed)


def test_wind_bits_mark_pungs_of_winds() -> None:
    for at in sampled_plans():
        pungs = [wind for wind in range(4) if plans().tiles[at, 27 + wind] >= 3]
        assert plans().winds[at] == sum(1 << wind for wind in pungs)
