"""How likely a discard is what an opponent waits for, read from what lies open.

A logistic model of whether a tile would complete an opponent's hand of 8 fan, fitted to 530,000 discards that simulated
players could have made (McFadden's R² 0.19). It says what a club player would: who has melds and has drawn often is
near; what is in that player's river or has just passed is safe; honours and terminals are safer; so is a tile of which
few copies are left.
"""

from functools import lru_cache
from math import exp
from typing import Final

import numpy as np

from broker.rules import KINDS
from broker.rules.mcr import WALL
from broker.sim.plans import CHOWS, NONE, SUITED, Whole
from broker.sim.view import PlayerView

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
_JUST_PASSED: Final = exp(PASSED)


def deal_in(view: PlayerView) -> Whole:
    """Return for each kind the probability that some opponent wins on it."""
    odds: Whole = ODDS.take(_ROWS + view.shown + view.held)
    for passed in {one.river[-1] for one in view.before if one.river}:
        odds[passed] *= _JUST_PASSED
    no: Whole = np.ones(len(KINDS))
    for seat, one in enumerate(view.before):
        if seat != view.seat:
            no = no * (1 + odds * _of_opponent(one.wall, one.sets, tuple(one.river)))
    return 1 - 1 / no


@lru_cache(maxsize=1024)
def _of_opponent(wall: int, sets: tuple[int, ...], river: tuple[int, ...]) -> Whole:
    """Return by what the odds of each kind are multiplied, from what lies before an opponent."""
    turn = (WALL - wall) / 10
    logit = np.full(len(KINDS), MELDS[len(sets)] + TURN * turn + TURN_SQUARED * turn**2)
    if river:
        there = np.array(river)
        shares = np.bincount(SUIT_OF.take(there), minlength=4) / len(river)
        shares[HONOURS] = 0
        logit += (SHARE * shares).take(SUIT_OF)
        logit[there] += IN_RIVER
    suits = {_suit(number) for number in sets if number != NONE}
    if len(sets) >= FLUSH_MELDS and len(suits) == 1 and HONOURS not in suits:
        same, other = FLUSH
        logit[:SUITED] += np.where(SUIT_OF[:SUITED] == suits.pop(), same, other)
    odds: Whole = np.exp(logit)
    return odds


def _suit(number: int) -> int:
    return number // 7 if number < CHOWS else int(SUIT_OF[number - CHOWS])
