"""How good a hand is: the plans that it is near, each weighed by the chance that it still comes about.

A plan's weight is what it counts for times the product, over the tiles that it lacks, of the chance to get one: the
copies unseen times `reach`, about the share of all unseen tiles that the player will still meet in time. The sum over
plans measures a hand; it is no probability, but it grows with every way to win and with how near it is.

Of the 350,000 plans a hand is near to some hundreds. A tile more or less changes what a plan lacks by one at most, so
of the hand that follows the near plans are among those that were not far from the one before: `_Pool` keeps these. The
hands of a deal come again from play to play: `near_plans` keeps theirs.
"""

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct

from broker.rules import COPIES, KINDS
from broker.rules.mcr import TableMeld
from broker.sim.plans import ENOUGH_FAN, NONE, TILES_OF, Plans, Whole, all_pungs, plans, set_of, seven_pairs
from broker.sim.view import PlayerView

FURTHER: Final = 1
"""Plans that lack so many tiles more than the nearest are looked at."""

BEYOND: Final = 2
"""A pool holds plans that lack so many tiles more than these."""

POOLS: Final = 16
"""Pools kept for the same melds, some 200 kB each."""

KINDS_OF_POOLS: Final = 128
"""For how many melds they are kept."""

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

NOTHING: Final = COPIES * len(KINDS)
"""Stands for a tile that is not lacked."""

HANDS: Final = 16_384
"""Hands whose near plans are kept, 4 kB each: those of a deal come again and again."""

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
    """The plans near some concealed tiles: n of them, and of what is held h kinds."""

    lacked: Whole
    """m x n: what each lacks, tile by tile; a second copy of a kind is its column and 34, and NOTHING fills up."""
    uses: Whole
    """h x n: 1 where it asks for all that is held of a kind, so that a discard of it is lacked."""
    kinds: list[int]
    """h: what is held."""
    counts_for: Whole
    missing: int
    """What the nearest lacks, a winning tile included; NO_PLAN where there is none."""


class Outlook(NamedTuple):
    """The plans near a hand, weighed."""

    near: NearPlans
    weight: Whole
    chance: Whole
    """34 and more: the chance to get one of each kind, and one more."""
    sum: float
    """How good the hand is."""

    def after_each_discard(self) -> Whole:
        """Return for each kind that is held how good the hand is without one of it."""
        near = self.near
        kept: Whole = self.sum - near.uses @ self.weight * (1 - self.chance[near.kinds])
        return kept


def outlook(view: PlayerView, held: Whole, melds: tuple[TableMeld, ...], style: Style) -> Outlook:
    """Weigh the plans near some tiles of the player's."""
    near = near_plans(held.tobytes(), _sets(melds), view.winds, style.appetite, style.ready)
    unseen = view.unseen
    reach = IN_TIME * (view.own.wall + 0.5) / max(int(unseen.sum()), 1)
    # Kinds differ by how many are unseen, and whether a pair is held: ten cases.
    cases = _SO_MANY * np.minimum(LIKELY, _UNSEEN * reach * np.where(_PAIR_HELD, style.pung, 1.0))
    chance = np.ones(NOTHING + 1)
    cases.take(unseen + (COPIES + 1) * (held == PAIR), axis=1, out=chance[:NOTHING].reshape(COPIES, -1))
    weight = chance.take(near.lacked).prod(axis=0) * near.counts_for
    return Outlook(near, weight, chance, float(weight.sum()))


_UNSEEN: Final = np.tile(np.arange(COPIES + 1.0), 2)
_PAIR_HELD: Final = np.arange(2 * (COPIES + 1)) > COPIES
_SO_MANY: Final = np.arange(COPIES)[:, None] < _UNSEEN
"""Whether there are so many, for each copy that is lacked."""


@lru_cache(maxsize=4096)
def _sets(melds: tuple[TableMeld, ...]) -> tuple[tuple[int, bool], ...]:
    return tuple(sorted((set_of(meld), meld.concealed) for meld in melds))


@lru_cache(maxsize=HANDS)
def near_plans(
    tiles: bytes, melds: tuple[tuple[int, bool], ...], winds: Winds, appetite: float, ready: float
) -> NearPlans:
    """Return the plans that lack at most FURTHER tiles more than the nearest; melds are set numbers and concealed."""
    held = np.frombuffer(tiles, dtype=np.int8)
    sets, claimed = tuple(one for one, _ in melds), not all(concealed for _, concealed in melds)
    wanted, counts_for, lacks = _pools_of(Kept(sets, winds, claimed, appetite)).nearest(held)
    missing = int(lacks.min(initial=NO_PLAN))
    others = [all_pungs(held, sets)]
    if not melds:
        tiles_of_pairs, counts = seven_pairs(held)
        others.append((tiles_of_pairs, counts * _pays(np.array(PAIRS_FAN), appetite)))
    for columns, counts in others:
        if counts.size:
            lacked = np.maximum(columns - held[:, None], 0).sum(axis=0, dtype=np.int8)
            missing = min(missing, int(lacked.min()))
            # What lacks too many is left out before copying: it may be most of a pool.
            at = np.flatnonzero(lacks <= missing + FURTHER)
            wanted = np.concatenate([wanted[:, at], columns], axis=1)
            counts_for, lacks = np.concatenate([counts_for[at], counts]), np.concatenate([lacks[at], lacked])
    at = np.flatnonzero(lacks <= missing + FURTHER)
    wanted, counts_for, lacks = wanted[:, at], counts_for[at], lacks[at]
    kinds = np.flatnonzero(held)
    return NearPlans(
        _lacked(wanted - held[:, None], lacks),
        (wanted[kinds] >= held[kinds, None]).astype(np.float64),
        kinds.tolist(),
        np.where(lacks <= 1, ready, 1.0) * counts_for,
        missing,
    )


def _lacked(less: Whole, lacks: Whole) -> Whole:
    """List what each plan lacks, from what it asks for less what is held."""
    by_plan = less.T.ravel()
    there = np.flatnonzero(by_plan > 0)
    copies = by_plan[there]
    copy = np.arange(int(copies.sum(dtype=np.intp))) - (np.cumsum(copies, dtype=np.intp) - copies).repeat(copies)
    plan, kind = np.divmod(there.repeat(copies), len(KINDS))
    listed = np.full((int(lacks.max(initial=0)), len(lacks)), NOTHING, dtype=np.int16)
    listed[np.arange(len(plan)) - (np.cumsum(lacks, dtype=np.intp) - lacks)[plan], plan] = kind + len(KINDS) * copy
    return listed


class Kept(NamedTuple):
    """For what pools are kept."""

    sets: Sets
    winds: Winds
    claimed: bool
    appetite: float


class _Pool(NamedTuple):
    """All plans that lack at most `most` tiles beside some that were held."""

    held: Whole
    most: int
    tiles: Whole
    counts_for: Whole
    lacks: Whole

    def lacking(self, held: Whole) -> Whole:
        """Count what each plan lacks beside other tiles, from where they differ."""
        return count_lacking(self.tiles, held, self.held, self.lacks)


class _Pools:
    """The pools of one kind: all its plans, then those of some hands."""

    def __init__(self, kept: Kept) -> None:
        every, none = _plans_with(kept.sets), np.zeros(len(KINDS), dtype=np.int8)
        lacks = every.tiles.sum(axis=0, dtype=np.int8)
        self._pools = [_Pool(none, NO_PLAN, every.tiles, _counts_for(kept), lacks)]
        self._held = none[None]

    def nearest(self, held: Whole) -> tuple[Whole, Whole, Whole]:
        """Return plans among which are all near ones, what they count for, and how much each lacks.

        They are those of the pool that differs least, of all pools that have the plans near.
        """
        apart = held - self._held[1:]
        new = np.maximum(apart, 0).sum(axis=1)
        near = np.flatnonzero(new <= BEYOND)
        for at in near[np.abs(apart[near]).sum(axis=1).argsort(kind="stable")].tolist():
            pool = self._pools[at + 1]
            lacks = pool.lacking(held)
            if int(lacks.min()) + FURTHER + new[at] <= pool.most:
                return pool.tiles, pool.counts_for, lacks
        return self._add(held)

    def _add(self, held: Whole) -> tuple[Whole, Whole, Whole]:
        every = self._pools[0]
        lacks = every.lacking(held)
        if not lacks.size:
            return every.tiles, every.counts_for, lacks
        self._pools[0] = every._replace(held=held, lacks=lacks)  # the next hand is more like this one
        most = int(lacks.min()) + FURTHER + BEYOND
        at = np.flatnonzero(lacks <= most)
        pool = _Pool(held, most, every.tiles[:, at], every.counts_for[at], lacks[at])
        del self._pools[POOLS:]
        self._pools.insert(1, pool)
        self._held = np.stack([one.held for one in self._pools])
        return pool.tiles, pool.counts_for, pool.lacks


_pools_of = lru_cache(maxsize=KINDS_OF_POOLS)(_Pools)


def count_lacking(tiles: Whole, held: Whole, before: Whole, lacked: Whole) -> Whole:
    """Count the tiles that each plan lacks, copy by copy, from what it lacked beside those held before."""
    lacks, asked = lacked.copy(), np.empty(lacked.shape, dtype=np.bool_)
    for at in np.flatnonzero(held != before):
        low, high = sorted((held[at], before[at]))
        change = np.subtract if held[at] == high else np.add
        for copy in range(low, high):
            change(lacks, np.greater(tiles[at], np.int8(copy), out=asked).view(np.int8), out=lacks)
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
