"""Waits agree with those of the rules."""

from random import Random

import numpy as np
import pytest

from broker.rules import KINDS
from broker.rules.mcr.fan import mcr_waits
from broker.sim.plans import count_columns, plans
from broker.sim.waits import waits
from tests.broker.rules.mcr.playing import tiles

ALL_TILES = [tile for tile in range(34) for _ in range(4)]


def agrees(counts: np.ndarray) -> bool:
    held = tuple(KINDS[tile] for tile in range(34) for _ in range(counts[tile]))
    return {KINDS[tile] for tile in waits(counts.astype(np.int8).tobytes())} == set(mcr_waits(held))


@pytest.mark.parametrize("part", range(4))
def test_waits_of_plans_without_one_tile_agree_with_the_rules(part: int) -> None:
    rng = Random(part)
    for at in rng.sample(range(plans().value.size), 150):
        counts = plans().tiles[at].copy()
        counts[rng.choice(np.flatnonzero(counts).tolist())] -= 1
        assert agrees(counts), counts


@pytest.mark.parametrize("kinds", [34, 18, 9])
def test_waits_of_random_tiles_agree_with_the_rules(kinds: int) -> None:
    rng = Random(kinds)
    for _ in range(150):
        assert agrees(np.bincount(rng.sample(ALL_TILES[: 4 * kinds], 13), minlength=34))


@pytest.mark.parametrize(
    "held", ["1122334455667m", "19m 19p 19s 1234567z", "147m 258p 369s 1234z", "1119m 19p 19s 12345z"]
)
def test_waits_of_special_hands_agree_with_the_rules(held: str) -> None:
    assert agrees(count_columns(tiles(held)))
