"""How likely a discard is what an opponent waits for, read from what lies open.

A logistic model of whether a tile would complete an opponent's hand of 8 fan, fitted to 530,000 discards that simulated
players could have made (McFadden's R² 0.19). It says what a club player would: who has melds and has drawn often is
near; what is in that player's river or has just passed is safe; honours and terminals are safer; so is a tile of which
few copies are left.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from math import exp
from typing import Final

import numpy as np

from broker.rules import KINDS
from broker.rules.mcr import WALL
from broker.sim.plans import CHOWS, NONE, SUITED, Whole
from broker.sim.view import OpenSeat, PlayerView, stacked

ALONE: Final = -8.77
MELDS: Final = (0.0, 0.62, 1.24, 1.76, 1.76)
TURN, TURN_SQUARED = 6.25, -1.65
"""For each ten tiles drawn, and for its square."""

BY_LEFT: Final = np.array([-1.73, -0.78, -0.37, 0.0])
"""By how many more of the tile the player has not seen."""

IN_RIVER: Final = -2.83
PASSED: Final = -1.62
"""It was somebody's last discard, and nobody won on it."""

SHARE: Final = -0.43
"""For an opponent's river that is all of the tile's suit."""

FLUSH: Final = 0.35, -0.42
"""Two melds and more are of one suit: of this one, of another."""

FLUSH_MELDS: Final = 2


def _by_kind() -> Whole:
    logit = np.zeros(len(KINDS))
    for suit in range(0, SUITED, 9):
        logit[[suit, suit + 8]], logit[[suit + 1, suit + 7]] = -0.61, -0.32
    logit[SUITED:] = -0.78
    return logit


BY_KIND: Final = _by_kind()
HONOURS: Final = 3
"""Their place among the suits."""

SUIT_OF: Final = np.arange(len(KINDS)) // 9
"""Of each column."""


ODDS: Final = np.exp(ALONE + BY_KIND[:, None] + BY_LEFT.take([3, 3, 2, 1, 0]))
"""34 x 5: that somebody wins on a kind, by how many of it the player sees, but for what makes opponents differ."""

_ROWS: Final = np.arange(0, ODDS.size, ODDS.shape[1])
OPPONENTS: Final = 3
_JUST_PASSED: Final = exp(PASSED)


def deal_in(views: Sequence[PlayerView]) -> Whole:
    """Return for each view the probability that some opponent wins on a kind: views x 34."""
    seen = stacked([view.shown for view in views]) + stacked([view.held for view in views])
    odds: Whole = ODDS.take(_ROWS + seen)
    passed = [(row, one.river[-1]) for row, view in enumerate(views) for one in view.before if one.river]
    just_passed = np.zeros(odds.shape, dtype=np.bool_)
    if passed:
        just_passed[tuple(np.array(passed).T)] = True
    odds[just_passed] *= _JUST_PASSED
    opponents = [one for view in views for seat, one in enumerate(view.before) if seat != view.seat]
    no: Whole = 1 + odds[:, None] * _of_opponents(opponents).reshape(len(views), OPPONENTS, len(KINDS))
    some: Whole = 1 - 1 / no.prod(axis=1)
    return some


def _of_opponents(opponents: Sequence[OpenSeat]) -> Whole:
    """Return by what the odds of each kind are multiplied, from what lies before each opponent."""
    turn = (WALL - np.array([one.wall for one in opponents])) / 10
    alone = np.array([MELDS[len(one.sets)] for one in opponents]) + TURN * turn + TURN_SQUARED * turn**2
    lengths = [len(one.river) for one in opponents]
    row = np.arange(len(opponents)).repeat(lengths)
    tile = np.fromiter(chain.from_iterable(one.river for one in opponents), dtype=np.intp, count=len(row))
    suits = np.bincount(row * 4 + SUIT_OF[tile], minlength=4 * len(opponents)).reshape(-1, 4)
    shares = suits / np.maximum(lengths, 1)[:, None]
    shares[:, HONOURS] = 0
    logit: Whole = alone[:, None] + (SHARE * shares).take(SUIT_OF, axis=1)
    in_river = np.zeros(logit.shape, dtype=np.bool_)
    in_river[row, tile] = True
    logit[in_river] += IN_RIVER
    for at, one in enumerate(opponents):
        if len(one.sets) >= FLUSH_MELDS and (suit := _flush(one.sets)) is not None:
            same, other = FLUSH
            logit[at, :SUITED] += np.where(SUIT_OF[:SUITED] == suit, same, other)
    odds: Whole = np.exp(logit)
    return odds


@lru_cache(maxsize=4096)
def _flush(sets: tuple[int, ...]) -> int | None:
    """Return the suit of which all melds are that can be seen."""
    suits = {_suit(number) for number in sets if number != NONE}
    return suits.pop() if len(suits) == 1 and HONOURS not in suits else None


def _suit(number: int) -> int:
    return number // 7 if number < CHOWS else int(SUIT_OF[number - CHOWS])
