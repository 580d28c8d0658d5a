"""How good hands are: the plans that each is near, weighted by the chance that they are completed.

A plan's weight is its value times the product, over the tiles that it lacks, of the chance to get each: the number of
unseen copies times `reach`, roughly the share of all unseen tiles that the player will still meet in time. The sum over
plans measures a hand. It is not a probability, but it grows with every way to win and with how near the hand is to it.

Hands of many plays are weighed at once, because numpy's overhead for one hand exceeds the time of the calculation.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct

from broker.rules import COPIES, KINDS
from broker.rules.mcr import TableMeld
from broker.sim.near_plans import COLUMNS, NOTHING, Hand, NearPlans, PlanKind, Winds, near_plans
from broker.sim.plans import Whole, set_of
from broker.sim.view import PlayerView, stacked, unseen

IN_TIME: Final = 0.25
"""The share of tiles still to come that comes in time. By experiment: 0.12 to 0.4 won more than 0.8, 1.6 and 2.5."""

PAIR: Final = 2


class Style(Struct, frozen=True):
    """How a player thinks."""

    reads: bool = True
    """Whether the player estimates what opponents wait for and takes it into account."""
    value_exponent: float = 0.0
    """How much expensive hands attract: the exponent applied to what a hand pays."""
    misjudgement: float = 0.3
    """The misjudgement of discards, in points, so that people differ: the scale of Gumbel noise."""
    pung: float = 2.0
    """How much more likely the third tile of a pair comes, since any player may discard it."""
    ready: float = 3.0
    """How much more likely the last tile comes, since any player may discard it, whatever it completes."""


PLAIN: Final = Style(reads=False, misjudgement=0.0, pung=1.0, ready=1.0)
"""Aims at the most likely hand of 8 fan, and considers safety only among equal discards."""

LIKELY: Final = 0.9
"""The upper limit of the chance to get a tile."""

EPSILON: Final = 1e-9


class Considered(NamedTuple):
    """Tiles that a player might hold, besides what lies open."""

    view: PlayerView
    held: Whole
    """34: the concealed tiles."""
    melds: tuple[TableMeld, ...]
    style: Style

    @property
    def hand(self) -> Hand:
        """The key that determines which plans are near."""
        return self.held.tobytes(), _plan_kind(self.melds, self.view.winds, self.style.value_exponent)


class Outlooks(NamedTuple):
    """The evaluation of some hands."""

    held: Whole
    """hands x 34."""
    sums: Whole
    """The value of each hand."""
    missing: list[int]
    """The number of tiles that each hand's nearest plan lacks."""
    after: Whole
    """hands x 34: the value of each hand after discarding a tile of that kind, if it holds one."""

    def best_after(self) -> Whole:
        """Return the value of each hand after its best discard."""
        best: Whole = np.where(self.held > 0, self.after, -np.inf).max(axis=1)
        return best


def outlooks(hands: Sequence[Considered]) -> Outlooks:
    """Evaluate hands by the plans near each."""
    near = near_plans([one.hand for one in hands])
    held = stacked([one.held for one in hands])
    chance = _chances(hands, held)
    weights, of_hand, spare = _weights(near, chance, np.array([one.style.ready for one in hands]))
    sums = np.bincount(of_hand, weights, len(hands))
    kept = np.bincount(spare, weights.repeat(np.concatenate([one.spare_lengths for one in near])), held.size)
    kept = kept.reshape(held.shape)
    after = kept + (sums[:, None] - kept) * chance[:, 0, :NOTHING]
    return Outlooks(held, sums, [one.missing for one in near], after)


def _weights(near: Sequence[NearPlans], chance: Whole, ready: Whole) -> tuple[Whole, Whole, Whole]:
    """Return the weight of each plan, its hand, and the cells (hand x 34) of tiles that plans do not use."""
    hands = np.arange(len(near))
    lengths = np.concatenate([one.lengths for one in near])
    if not lengths.size:
        return np.zeros(0), np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    lacked = np.concatenate([one.lacked for one in near])
    row = hands.repeat([one.lacked.size for one in near])
    products = np.multiply.reduceat(chance.ravel().take(lacked + row * (COPIES * COLUMNS)), lengths.cumsum() - lengths)
    of_hand = hands.repeat([one.lengths.size for one in near])
    close = np.concatenate([one.close for one in near])
    weights = products * np.concatenate([one.counts_for for one in near])
    weights[close] *= ready[of_hand[close]]
    spare = np.concatenate([one.spare for one in near])
    return weights, of_hand, spare + hands.repeat([one.spare.size for one in near]) * len(KINDS)


def _chances(hands: Sequence[Considered], held: Whole) -> Whole:
    """Return the chance to get each lacked copy of a kind, hands x 4 x 35; it is 1 for NOTHING."""
    left = unseen([one.view for one in hands])
    wall = np.array([one.view.own.wall for one in hands])
    reach = IN_TIME * (wall + 0.5) / np.maximum(left.sum(axis=1), 1)
    likelier = np.where(held == PAIR, np.array([one.style.pung for one in hands])[:, None], 1.0)
    each = np.minimum(LIKELY, left * reach[:, None] * likelier)
    chance = np.ones((len(hands), COPIES, COLUMNS))
    np.multiply(each[:, None], left[:, None] > np.arange(COPIES)[:, None], out=chance[:, :, :NOTHING])
    return chance


@lru_cache(maxsize=4096)
def _plan_kind(melds: tuple[TableMeld, ...], winds: Winds, value_exponent: float) -> PlanKind:
    return PlanKind(tuple(sorted((set_of(meld), meld.concealed) for meld in melds)), winds, value_exponent)
