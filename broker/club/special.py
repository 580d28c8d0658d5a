"""Plans that are made for a hand when it comes near them: All Pungs and Seven Pairs."""

from itertools import combinations
from typing import Final

import numpy as np

from broker.club.sets import DRAGONS, SETS_OF_HAND, SUITED, TILES_OF_PAIR, Whole, pung, set_of
from broker.rules.fan.shape import ORPHANS
from broker.rules.referee.hand import Meld
from broker.rules.tiles import KINDS

FEWEST_PAIRS: Final = 4
"""Pairs and pungs that a hand must have."""

LACKED: Final = 2
"""What All Pungs, worth 6, need beside them."""

NOTHING: Final = (np.zeros((len(KINDS), 0), dtype=np.int8), np.zeros(0))


def all_pungs(held: Whole, melds: tuple[Meld, ...]) -> tuple[Whole, Whole]:
    """Give All Pungs of what is there twice, with the pair of anything held; and what each counts for."""
    twice = [int(at) for at in np.flatnonzero(held >= TILES_OF_PAIR)]
    needed = SETS_OF_HAND - len(melds)
    if len(twice) + len(melds) < FEWEST_PAIRS or any(meld.kind == "chow" for meld in melds):
        return NOTHING
    anything = [int(at) for at in np.flatnonzero(held)]
    rows = [(those, pair) for those in combinations(twice, needed) for pair in anything if pair not in those]
    if not rows:
        return NOTHING
    tiles = np.zeros((len(rows), len(KINDS)), dtype=np.int8)
    for at, (those, pair) in enumerate(rows):
        tiles[at, list(those)] = 3
        tiles[at, pair] = 2
    melded = [set_of(meld) - pung(0) for meld in melds]
    counts_for = np.array([_all_pungs_counts_for((*melded, *those), pair) for those, pair in rows])
    return np.ascontiguousarray(tiles.T), counts_for


def _all_pungs_counts_for(pungs: tuple[int, ...], pair: int) -> float:
    """Two fan more than the six are needed; two pungs that are not claimed are worth as much."""
    extra = sum(2 if tile >= DRAGONS else tile in ORPHANS for tile in pungs)
    ranks = [tile % 9 for tile in pungs if tile < SUITED]
    doubles = len(ranks) - len(set(ranks))
    simples = not ORPHANS.intersection((*pungs, pair))
    return 1.0 if extra + 2 * doubles + 2 * simples >= LACKED else 0.6


def seven_pairs(held: Whole, melds: tuple[Meld, ...]) -> tuple[Whole, Whole]:
    """Give Seven Pairs of the pairs that are there and what else is held."""
    twice = [int(at) for at in np.flatnonzero(held >= TILES_OF_PAIR)]
    if melds or len(twice) < FEWEST_PAIRS:
        return NOTHING
    once = [int(at) for at in np.flatnonzero(held == 1)]
    others = list(combinations(once, max(7 - len(twice), 0)))
    tiles = np.zeros((len(others), len(KINDS)), dtype=np.int8)
    for at, some in enumerate(others):
        tiles[at, [*twice[:7], *some]] = 2
    return np.ascontiguousarray(tiles.T), np.ones(len(others))
