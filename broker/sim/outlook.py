"""How good a hand is: the plans that it is near, each weighed by the chance that it still comes about.

A plan's weight is what it counts for times the product, over the tiles that it lacks, of the chance to get one: the
copies unseen times `reach`, about the share of all unseen tiles that the player will still meet in time. The sum over
plans measures a hand; it is no probability, but it grows with every way to win and with how near it is.

Of the 350,000 plans a hand is near to some hundreds. A tile more or less changes what a plan lacks by one at most, so
of the hand that follows the near plans are among those that were not far from the one before: `_Pool` keeps these.
"""

from collections import defaultdict, deque
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct

from broker.rules.mcr import TableMeld
from broker.sim.plans import ENOUGH_FAN, NONE, TILES_OF, Plans, Whole, all_pungs, plans, set_of, seven_pairs
from broker.sim.view import PlayerView

FURTHER: Final = 1
"""Plans that lack so many tiles more than the nearest are looked at."""

BEYOND: Final = 2
"""A pool holds plans that lack so many tiles more than these."""

POOLS: Final = 4
"""Pools kept for the same melds."""

IN_TIME: Final = 0.25
"""The part of the tiles still to come that comes in time. Found by play: 0.12 to 0.4 won more than 0.8, 1.6 and 2.5."""

PAIR: Final = 2


class Style(Struct, frozen=True):
    """How a player thinks."""

    reads: bool = True
    """Reads what opponents may wait for, and weighs it."""
    appetite: float = 0.0
    """How much a dear hand draws: the power to which what it pays counts."""
    whim: float = 0.3
    """Points by which the worth of a discard is misjudged, so that people differ: the scale of Gumbel's noise."""
    pung: float = 2.0
    """How much likelier the third of a pair comes: anybody may discard it."""
    ready: float = 3.0
    """How much likelier the last tile comes: anybody may discard it, whatever it completes."""


PLAIN: Final = Style(reads=False, whim=0.0, pung=1.0, ready=1.0)
"""Takes the likeliest hand of 8 fan, and discards what is safe among equals alone."""

LIKELY: Final = 0.9
"""No tile is surer than this."""

NEVER: Final = 1e-9

OPEN: Final = np.array([0.0] * 6 + [0.05, 0.35] + [1.0] * 200)
"""What a plan of a hand value counts for: 8 is enough, and what is missing may come by the way of winning."""

CLOSED: Final = np.array([0.0] * 6 + [0.6, 0.8] + [1.0] * 200)
"""The same without a claimed meld: a concealed hand is worth 2 more, or 4 if self-drawn."""

BASES: Final = 24
"""What the three others pay a winner beside the hand value."""

PAIRS_FAN: Final = 24

NO_PLAN: Final = 99
"""Tiles missing where no plan is left."""

Sets = tuple[int, ...]
Winds = tuple[int, int]


class NearPlans(NamedTuple):
    """The plans near some concealed tiles."""

    wanted: Whole
    """n x 34: what each asks of the concealed tiles."""
    lacked: Whole
    """n x 34: what of it is not there."""
    counts_for: Whole
    missing: int
    """What the nearest lacks, a winning tile included; NO_PLAN where there is none."""


class Outlook(NamedTuple):
    """The plans near a hand, weighed."""

    near: NearPlans
    weight: Whole
    chance: Whole
    """34: the chance to get one more of each kind."""
    sum: float
    """How good the hand is."""

    def after_each_discard(self, held: Whole) -> Whole:
        """Return for each kind how good the hand is without one of it; what is not held changes nothing."""
        lost = self.weight @ (self.near.wanted >= held)
        kept: Whole = self.sum - np.where(held > 0, lost, 0) * (1 - self.chance)
        return kept


def outlook(view: PlayerView, held: Whole, melds: tuple[TableMeld, ...], style: Style) -> Outlook:
    """Weigh the plans near some tiles of the player's."""
    near = near_plans(held.tobytes(), _sets(melds), view.winds, style.appetite)
    unseen = view.unseen
    reach = IN_TIME * (view.own.wall + 0.5) / max(int(unseen.sum()), 1)
    chance = np.minimum(LIKELY, unseen * reach * np.where(held == PAIR, style.pung, 1))
    weight = np.exp(near.lacked @ np.log(np.maximum(chance, NEVER))) * near.counts_for
    weight[near.lacked.sum(axis=1) <= 1] *= style.ready
    weight[(near.lacked > unseen).any(axis=1)] = 0
    return Outlook(near, weight, chance, float(weight.sum()))


@lru_cache(maxsize=4096)
def _sets(melds: tuple[TableMeld, ...]) -> tuple[tuple[int, bool], ...]:
    return tuple(sorted((set_of(meld), meld.concealed) for meld in melds))


@lru_cache(maxsize=1024)
def near_plans(tiles: bytes, melds: tuple[tuple[int, bool], ...], winds: Winds, appetite: float) -> NearPlans:
    """Return the plans that lack at most FURTHER tiles more than the nearest; melds are set numbers and concealed."""
    held = np.frombuffer(tiles, dtype=np.int8)
    sets, claimed = tuple(one for one, _ in melds), not all(concealed for _, concealed in melds)
    found = [_known(held, Kept(sets, winds, claimed, appetite)), _with_lacks(held, *all_pungs(held, sets))]
    if not melds:
        tiles_of_pairs, counts = seven_pairs(held)
        found.append(_with_lacks(held, tiles_of_pairs, counts * _pays(np.array(PAIRS_FAN), appetite)))
    missing = min((int(lacks.min()) for _, _, lacks in found if lacks.size), default=NO_PLAN)
    wanted, counts_for = [], []
    for columns, counts, lacks in found:
        at = np.flatnonzero(lacks <= missing + FURTHER)
        wanted.append(columns[:, at].T)
        counts_for.append(counts[at])
    rows = np.concatenate(wanted)
    return NearPlans(rows, np.maximum(rows - held, 0).astype(np.float64), np.concatenate(counts_for), missing)


def _with_lacks(held: Whole, columns: Whole, counts_for: Whole) -> tuple[Whole, Whole, Whole]:
    return columns, counts_for, count_lacking(columns, held)


class _Pool(NamedTuple):
    """All plans that lack at most `most` tiles beside some that were held."""

    held: Whole
    most: int
    tiles: Whole
    counts_for: Whole


class Kept(NamedTuple):
    """For what pools are kept."""

    sets: Sets
    winds: Winds
    claimed: bool
    appetite: float


_pools: defaultdict[Kept, deque[_Pool]] = defaultdict(lambda: deque(maxlen=POOLS))
_MOST_POOLS: Final = 512


def _known(held: Whole, kept: Kept) -> tuple[Whole, Whole, Whole]:
    """Return plans of the books among which are all near ones, what they count for, and how much each lacks."""
    if len(_pools) > _MOST_POOLS:
        _pools.clear()
    pools = _pools[kept]
    for pool in pools:
        new = int(np.maximum(held - pool.held, 0).sum())
        if pool.tiles.size and new <= BEYOND:
            lacks = count_lacking(pool.tiles, held)
            if int(lacks.min()) + FURTHER + new <= pool.most:
                return pool.tiles, pool.counts_for, lacks
    every = _plans_with(kept.sets)
    lacks = count_lacking(every.tiles, held)
    if not lacks.size:
        return every.tiles, np.zeros(0), lacks
    most = int(lacks.min()) + FURTHER + BEYOND
    at = np.flatnonzero(lacks <= most)
    counts_for = _counts_for(kept)[at]
    pool = _Pool(held, most, np.ascontiguousarray(every.tiles[:, at]), counts_for)
    pools.appendleft(pool)
    return pool.tiles, counts_for, lacks[at]


def count_lacking(tiles: Whole, held: Whole) -> Whole:
    """Count the tiles that each plan lacks, copy by copy: comparing is what a processor does with many at once."""
    count = tiles.shape[1]
    if not count:
        return np.zeros(0, dtype=np.int8)
    lacks = np.full(count, int(tiles[:, 0].sum()), dtype=np.int8)
    asked = np.empty(count, dtype=np.bool_)
    for at in np.flatnonzero(held):
        for copy in range(held[at]):
            lacks -= np.greater(tiles[at], np.int8(copy), out=asked).view(np.int8)
    return lacks


@lru_cache(maxsize=1024)
def _plans_with(sets: Sets) -> Plans:
    """Return the plans that have these melds: what they still ask of the concealed tiles, and their other sets."""
    if not sets:
        return plans()
    tiles, others, value, winds = _plans_with(sets[:-1])
    at = np.flatnonzero((others == sets[-1]).any(axis=0))
    place = (others[:, at] == sets[-1]).argmax(axis=0)
    left = others[:, at]
    left[place, np.arange(len(at))] = NONE
    return Plans(tiles[:, at] - TILES_OF[sets[-1]][:, None], left, value[at], winds[at])


@lru_cache(maxsize=1024)
def _counts_for(kept: Kept) -> Whole:
    """Return what each of these plans counts for, with what pungs of the seat's and the round's wind are worth."""
    own, of_round = kept.winds
    there = _plans_with(kept.sets)
    pung_of_own, pung_of_round = (there.winds >> own) & 1, (there.winds >> of_round) & 1
    beyond = pung_of_own + pung_of_round + (pung_of_own if own == of_round else 0)
    value = there.value + beyond
    counts_for: Whole = (OPEN if kept.claimed else CLOSED)[value] * _pays(value, kept.appetite)
    return counts_for


def _pays(value: Whole, appetite: float) -> Whole:
    """Return what a hand pays when won on a discard, beside one of 8 fan."""
    paid: Whole = ((BASES + np.maximum(value, ENOUGH_FAN)) / (BASES + ENOUGH_FAN)) ** appetite
    return paid
