"""The plans that a hand is near: at most some hundreds of 350,000.

Copies of tiles are bits, so the number of tiles that a plan lacks is counted by two operations on three words. One tile
more or less changes it by one at most, so the plans near a hand are among those that were not far from a similar hand.
Pools keep these. The hands of a deal recur from play to play, so the results for each hand are cached as well.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial, reduce
from itertools import islice
from sys import byteorder
from typing import Final, NamedTuple

import numpy as np

from broker.rules import KINDS
from broker.sim.plans import (
    ENOUGH_FAN,
    FEWEST_PAIRS,
    PAIRS_OF_HAND,
    TILES_OF,
    TILES_OF_HAND,
    WORDS,
    Whole,
    all_pungs,
    bits_of,
    plans,
    seven_pairs,
)

EXTRA_LACKING: Final = 1
"""Plans that lack up to this many tiles more than the nearest are considered."""

SHELVES: Final = (1, 64), (2, 64)
"""For each shelf of pools: how many more tiles than near ones its plans lack, and its size (15 and 150 kB a pool)."""

SEARCHED_WORDS: Final = 16
"""The number of words for which their tiles in common with all plans are cached, up to 360 kB each."""

KINDS_OF_POOLS: Final = 256
"""The number of combinations of melds for which pools are kept."""

HANDS: Final = 32_768
"""The number of hands whose near plans are cached, 4 kB each."""

NOTHING: Final = len(KINDS)
"""The column of a tile that is always there. Every plan asks for it, so that no plan's list of tiles is empty."""

COLUMNS: Final = NOTHING + 1

OPEN: Final = np.array([0.0] * 6 + [0.05, 0.35] + [1.0] * 200)
"""The weight of a plan by its hand value: 8 is enough, and what is missing may come from the way of winning."""

CLOSED: Final = np.array([0.0] * 6 + [0.6, 0.8] + [1.0] * 200)
"""The same without a claimed meld: a concealed hand is worth 2 more, or 4 if self-drawn."""

COUNTS: Final = np.stack([CLOSED, OPEN])

BASES: Final = 24
"""What the three others pay a winner besides the hand value."""

PAIRS_FAN: Final = 24

DIRECT_SEARCH_LIMIT: Final = 6000
"""Up to this many plans are searched without a pool."""

NO_PLAN: Final = 99
"""The number of missing tiles where no plan is left."""

Sets = tuple[int, ...]
Winds = tuple[int, int]


class PlanKind(NamedTuple):
    """What determines which plans exist and their weights."""

    melds: tuple[tuple[int, bool], ...]
    """The number of each of the player's sets, sorted, and whether it is concealed."""
    winds: Winds
    value_exponent: float

    @property
    def sets(self) -> Sets:
        """The sets alone."""
        return tuple(one for one, _ in self.melds)

    @property
    def claimed(self) -> bool:
        """Whether one of the sets was claimed."""
        return not all(concealed for _, concealed in self.melds)


Hand = tuple[bytes, PlanKind]
"""The counts of each kind held, and the kind of plans."""


class NearPlans(NamedTuple):
    """The plans near some concealed tiles: n of them."""

    lacked: Whole
    """The tiles that each plan lacks, plan after plan, by column; a second copy of a kind is 35 further on."""
    lengths: Whole
    """n: how many entries of `lacked` belong to each plan, including NOTHING."""
    spare: Whole
    """Kinds of which each plan needs fewer than are held, so that one is free to be discarded; plan after plan."""
    spare_lengths: Whole
    """n: how many entries of `spare` belong to each plan."""
    counts_for: Whole
    """n: the weight of each plan."""
    close: Whole
    """n: whether it lacks at most one tile."""
    missing: int
    """The number of tiles that the nearest plan lacks, including the winning tile; NO_PLAN if there is none."""


_found: dict[Hand, NearPlans] = {}


def near_plans(hands: Sequence[Hand]) -> list[NearPlans]:
    """Return for each hand the plans that lack at most FURTHER tiles more than the nearest."""
    new = [hand for hand in dict.fromkeys(hands) if hand not in _found]
    if new:
        for old in [*islice(_found, max(len(_found) + len(new) - HANDS, 0))]:
            if old not in hands:
                del _found[old]
        _found.update(zip(new, _listed(new), strict=True))
    return [_found[hand] for hand in hands]


class _Near(NamedTuple):
    """The plans near some hands, grouped by hand: n of them."""

    hand: Whole
    """n: the index of the hand."""
    delta: Whole
    """n x 34: the plan's tiles minus those held."""
    lacks: Whole
    """n: the number of tiles lacking."""
    counts_for: Whole
    """n: the weight of the plan."""


def _search(hands: Sequence[Hand], held: Whole) -> _Near:
    kinds = [kind for _, kind in hands]
    whole = held + np.array([_tiles_of(kind.sets) for kind in kinds])
    found, others = list[tuple[Whole, Whole]](), list[_Near]()
    for at, ((tiles, kind), bits) in enumerate(zip(hands, bits_of(whole).T, strict=True)):
        numbers, lacks = _pools_of(kind.sets).nearest(bits)
        within = int(lacks.min(initial=NO_PLAN)) + EXTRA_LACKING
        generated = _generated_plans(at, tiles, kind, within)
        for one in generated:
            within = min(within, int(one.lacks.min(initial=NO_PLAN)) + EXTRA_LACKING)
        kept = (lacks <= within).nonzero()[0]
        found.append((numbers.take(kept), lacks.take(kept)))
        others += (_Near(*(column[one.lacks <= within] for column in one)) for one in generated)
    hand = np.arange(len(hands)).repeat([numbers.size for numbers, _ in found])
    numbers, lacks = (np.concatenate(column) for column in zip(*found, strict=True))
    delta = plans().tiles.take(numbers, axis=0) - whole.take(hand, axis=0)
    near = _Near(hand, delta, lacks, _counts_for(kinds, hand, numbers))
    if not others:
        return near
    near = _Near(*(np.concatenate(columns) for columns in zip(near, *others, strict=True)))
    order = near.hand.argsort(kind="stable")
    return _Near(*(column[order] for column in near))


def _counts_for(kinds: Sequence[PlanKind], hand: Whole, numbers: Whole) -> Whole:
    """Return the weights of plans, including the value of pungs of the seat's and the round's wind."""
    every = plans()
    own, of_round = np.array([kind.winds for kind in kinds]).T.take(hand, axis=1)
    value, winds = every.value.take(numbers), every.winds.take(numbers)
    value = value + ((winds >> own) & 1) * (1 + (own == of_round)) + ((winds >> of_round) & 1)
    claimed = np.array([kind.claimed for kind in kinds], dtype=np.intp).take(hand)
    counts_for: Whole = COUNTS[claimed, value]
    exponents = np.array([kind.value_exponent for kind in kinds])
    return counts_for * _pays(value, exponents.take(hand)) if exponents.any() else counts_for


def _pays(value: Whole, exponent: Whole) -> Whole:
    """Return what a hand pays when won on a discard, relative to one of 8 fan, raised to `exponent`."""
    paid: Whole = ((BASES + np.maximum(value, ENOUGH_FAN)) / (BASES + ENOUGH_FAN)) ** exponent
    return paid


def _generated_plans(hand: int, tiles: bytes, kind: PlanKind, within: int) -> list[_Near]:
    """Return All Pungs and Seven Pairs plans, if they lack few enough tiles."""
    pairs = len(KINDS) - tiles.count(0) - tiles.count(1)
    if pairs + len(kind.melds) < FEWEST_PAIRS:
        return []
    found = [all_pungs(tiles, kind.sets, within)]
    if not kind.melds and PAIRS_OF_HAND - pairs <= within:
        wanted, counts = seven_pairs(tiles)
        found.append((wanted, counts * _pays(np.array(PAIRS_FAN), np.array(kind.value_exponent))))
    held = np.frombuffer(tiles, dtype=np.int8)
    rows = [(wanted - held, counts_for) for wanted, counts_for in found if len(wanted)]
    return [
        _Near(np.full(len(delta), hand), delta, np.maximum(delta, 0).sum(axis=1, dtype=np.int8), counts_for)
        for delta, counts_for in rows
    ]


def _listed(hands: Sequence[Hand]) -> list[NearPlans]:
    """List what the plans near each hand lack, and what they have no use for."""
    each = np.frombuffer(b"".join(tiles for tiles, _ in hands), dtype=np.int8).reshape(-1, len(KINDS))
    near = _search(hands, each)
    delta = np.ones((len(near.lacks), COLUMNS), dtype=np.int8)
    delta[:, :NOTHING] = near.delta
    lacking = np.flatnonzero(delta > 0)
    copies = delta.ravel()[lacking]
    ends = np.cumsum(copies, dtype=np.intp)
    copy = np.arange(int(ends[-1]) if ends.size else 0) - (ends - copies).repeat(copies)
    lacked = ((lacking % COLUMNS).repeat(copies) + COLUMNS * copy).astype(np.int16)
    lengths = near.lacks.astype(np.intp) + 1
    of_plan, spare = np.divmod(np.flatnonzero(near.delta < 0).astype(np.int32), NOTHING)
    spare, spare_lengths = spare.astype(np.int16), np.bincount(of_plan, minlength=len(lengths))
    close, plan_ends = near.lacks <= 1, np.bincount(near.hand, minlength=len(hands)).cumsum()
    entry_ends, spare_ends = (np.append(0, one.cumsum()).take(plan_ends).tolist() for one in (lengths, spare_lengths))
    found, plan, entry, more = [], 0, 0, 0
    for plan_end, entry_end, spare_end in zip(plan_ends.tolist(), entry_ends, spare_ends, strict=True):
        found.append(
            NearPlans(
                lacked[entry:entry_end],
                lengths[plan:plan_end],
                spare[more:spare_end],
                spare_lengths[plan:plan_end],
                near.counts_for[plan:plan_end],
                close[plan:plan_end],
                int(near.lacks[plan:plan_end].min(initial=NO_PLAN)),
            )
        )
        plan, entry, more = plan_end, entry_end, spare_end
    return found


class _Pool(NamedTuple):
    """All plans that lack at most `most` tiles for a given hand."""

    most: int
    at: Whole
    """The numbers of the plans."""
    bits: Whole
    """3 x n."""


class _Pools:
    """The plans that contain certain sets, and their pools."""

    def __init__(self, sets: Sets) -> None:
        at, bits = _plans_with(sets), plans().bits
        self._every = _Pool(NO_PLAN, at, bits if at.size == bits.shape[1] else bits.take(at, axis=1))
        self._shelves = [_Shelf(beyond, pools) for beyond, pools in SHELVES]
        self._common_word = lru_cache(maxsize=SEARCHED_WORDS)(partial(_common_word, self._every.bits))

    def nearest(self, held: Whole) -> tuple[Whole, Whole]:
        """Return the numbers of plans that include all near ones, and how many tiles each lacks."""
        every = self._every
        if every.at.size <= DIRECT_SEARCH_LIMIT:
            return every.at, TILES_OF_HAND - _common(every.bits, held)
        hand = int.from_bytes(held.tobytes(), byteorder)
        for shelf in self._shelves:
            for pool, extra in shelf.similar(hand):
                lacks = TILES_OF_HAND - _common(pool.bits, held)
                if int(lacks.min()) + EXTRA_LACKING + extra <= pool.most:
                    return self._keep(hand, pool, lacks, pool.most - extra)
        words = map(self._common_word, range(WORDS), held.tolist())
        return self._keep(hand, every, TILES_OF_HAND - reduce(np.add, words), NO_PLAN)

    def _keep(self, held: int, pool: _Pool, lacks: Whole, most: int) -> tuple[Whole, Whole]:
        """Create smaller pools from one that contains all plans lacking at most `most` tiles."""
        least = int(lacks.min(initial=NO_PLAN))
        for shelf in reversed(self._shelves):
            upto = least + EXTRA_LACKING + shelf.beyond
            if upto <= most:
                near = (lacks <= upto).nonzero()[0]
                if 2 * near.size < pool.at.size:
                    pool, lacks = _Pool(upto, pool.at.take(near), pool.bits.take(near, axis=1)), lacks.take(near)
                    shelf.add(held, pool)
        return pool.at, lacks


class _Shelf:
    """Pools of plans that lack up to `beyond` tiles more than the near ones. The oldest pool is replaced."""

    def __init__(self, beyond: int, most: int) -> None:
        self.beyond = beyond
        self._pools: list[tuple[int, _Pool]] = []
        """Each with the bits of the hand for which it was created."""
        self._next, self._most = 0, most

    def similar(self, held: int) -> Iterator[tuple[_Pool, int]]:
        """Return the pools whose hands lack few of the tiles held, with how many, the most similar first."""
        found = [
            ((held ^ other).bit_count(), at, extra)
            for at, (other, _) in enumerate(self._pools)
            if (extra := (held & ~other).bit_count()) <= self.beyond
        ]
        return ((self._pools[at][1], extra) for _, at, extra in sorted(found))

    def add(self, held: int, pool: _Pool) -> None:
        """Add a pool."""
        if len(self._pools) < self._most:
            self._pools.append((held, pool))
        else:
            self._pools[self._next] = held, pool
            self._next = (self._next + 1) % self._most


def _common_word(bits: Whole, at: int, word: int) -> Whole:
    """Count the tiles that hands have in common with one hand, among the kinds of one word."""
    common: Whole = np.bitwise_count(bits[at] & np.uint64(word)).view(np.int8)
    return common


def _common(bits: Whole, held: Whole) -> Whole:
    """Count the tiles that hands (3 x n) have in common with one hand, word by word, which is faster in numpy."""
    common = np.bitwise_count(bits[0] & held[0])
    for at in range(1, WORDS):
        common += np.bitwise_count(bits[at] & held[at])
    counted: Whole = common.view(np.int8)
    return counted


_pools_of = lru_cache(maxsize=KINDS_OF_POOLS)(_Pools)


@lru_cache(maxsize=1024)
def _tiles_of(sets: Sets) -> Whole:
    tiles: Whole = TILES_OF[[*sets]].sum(axis=0, dtype=np.int8)
    return tiles


@lru_cache(maxsize=1024)
def _plans_with(sets: Sets) -> Whole:
    """Return the numbers of the plans that contain these sets."""
    every = plans().sets
    if not sets:
        return np.arange(every.shape[1])
    at = _plans_with(sets[:-1])
    rows = [row if len(sets) == 1 else row.take(at) for row in every]
    numbers: Whole = at[np.count_nonzero(np.stack(rows) == sets[-1], axis=0) >= sets.count(sets[-1])]
    return numbers
