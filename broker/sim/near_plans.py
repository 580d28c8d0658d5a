"""The plans that a hand is near: of 350,000 some hundreds at most.

A tile more or less changes what a plan lacks by one at most. So the plans near a hand are among those that were not far
from one like it: pools keep these. The hands of a deal come again from play to play: what was found for a hand is kept
as well.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from broker.rules import KINDS
from broker.sim.plans import ENOUGH_FAN, FEWEST_PAIRS, NONE, TILES_OF, Plans, Whole, all_pungs, plans, seven_pairs

FURTHER: Final = 1
"""Plans that lack so many tiles more than the nearest are looked at."""

BEYOND: Final = 2
"""A pool holds plans that lack so many tiles more than these."""

POOLS: Final = 64
"""Pools kept for the same melds, some 50 kB each."""

WHOLE_POOLS: Final = 16
"""Pools kept that hold all plans, to make others from: up to 360 kB each."""

FEW: Final = 4000
"""So many plans are looked through without a pool."""

KINDS_OF_POOLS: Final = 128
"""For how many melds they are kept."""

HANDS: Final = 32_768
"""Hands whose near plans are kept, 4 kB each."""

NOTHING: Final = len(KINDS)
"""The column of a tile that is always there: every plan asks for it, so that none lacks nothing."""

COLUMNS: Final = NOTHING + 1

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


class PlanKind(NamedTuple):
    """What decides which plans there are, and what they count for."""

    melds: tuple[tuple[int, bool], ...]
    """The number of each own set, sorted, and whether it is concealed."""
    winds: Winds
    appetite: float

    @property
    def sets(self) -> Sets:
        """Return the sets alone."""
        return tuple(one for one, _ in self.melds)

    @property
    def claimed(self) -> bool:
        """Return whether one of them was claimed."""
        return not all(concealed for _, concealed in self.melds)


Hand = tuple[bytes, PlanKind]
"""How many of each kind are held, and what is aimed at."""


class NearPlans(NamedTuple):
    """The plans near some concealed tiles: n of them."""

    lacked: Whole
    """What each lacks, one plan after the other: column by column, a second copy of a kind is 35 further on."""
    lengths: Whole
    """n: how many entries of `lacked` are of each plan, NOTHING among them."""
    used: Whole
    """The kinds of which each asks for all that is held, so that a discard of one is lacked; plan after plan."""
    used_lengths: Whole
    """n: how many entries of `used` are of each plan."""
    counts_for: Whole
    """n."""
    close: Whole
    """n: whether it lacks one tile at most."""
    missing: int
    """What the nearest lacks, a winning tile included; NO_PLAN if there is none."""


_found: dict[Hand, NearPlans] = {}


def near_plans(hands: Sequence[Hand]) -> list[NearPlans]:
    """Return for each hand the plans that lack at most FURTHER tiles more than the nearest."""
    new = [hand for hand in dict.fromkeys(hands) if hand not in _found]
    if new:
        for old in [*_found][: max(len(_found) + len(new) - HANDS, 0)]:
            if old not in hands:
                del _found[old]
        _found.update(zip(new, _listed([_search(*hand) for hand in new]), strict=True))
    return [_found[hand] for hand in hands]


class _Near(NamedTuple):
    """The plans near a hand, as rows."""

    held: Whole
    wanted: Whole
    counts_for: Whole
    lacks: Whole


def _search(tiles: bytes, kind: PlanKind) -> _Near:
    held, sets, pools = np.frombuffer(tiles, dtype=np.int8), kind.sets, _pools_of(kind)
    at, lacks = pools.nearest(tiles)
    others = list[tuple[Whole, Whole]]()
    if len(tiles) - tiles.count(0) - tiles.count(1) + len(sets) >= FEWEST_PAIRS:
        others.append(all_pungs(held, sets))
        if not sets:
            tiles_of_pairs, counts = seven_pairs(held)
            others.append((tiles_of_pairs, counts * _pays(np.array(PAIRS_FAN), kind.appetite)))
    rows = [wanted.T for wanted, _ in others]
    lacked = [np.maximum(wanted - held, 0).sum(axis=1, dtype=np.int8) for wanted in rows]
    within = min(int(one.min(initial=NO_PLAN)) for one in (lacks, *lacked)) + FURTHER
    near = (lacks <= within).nonzero()[0]
    at = at[near]
    found = _Near(held, pools.rows.take(at, axis=0), pools.counts_for[at], lacks[near])
    for wanted, (_, counts), less in zip(rows, others, lacked, strict=True):
        near = (less <= within).nonzero()[0]
        found = _Near(
            held,
            np.concatenate([found.wanted, wanted[near]]),
            np.concatenate([found.counts_for, counts[near]]),
            np.concatenate([found.lacks, less[near]]),
        )
    return found


def _listed(several: Sequence[_Near]) -> list[NearPlans]:
    """List what the plans near each of some hands lack, and what they use."""
    sizes = [one.lacks.size for one in several]
    wanted = np.concatenate([one.wanted for one in several])
    held = np.repeat(np.stack([one.held for one in several]), sizes, axis=0)
    lacks = np.concatenate([one.lacks for one in several])
    less = np.ones((len(lacks), COLUMNS), dtype=np.int8)
    np.subtract(wanted, held, out=less[:, :NOTHING])
    there = np.flatnonzero(less > 0)
    copies = less.ravel()[there]
    ends = np.cumsum(copies, dtype=np.intp)
    copy = np.arange(int(ends[-1]) if ends.size else 0) - (ends - copies).repeat(copies)
    lacked = ((there % COLUMNS).repeat(copies) + COLUMNS * copy).astype(np.int16)
    lengths = lacks.astype(np.intp) + 1
    uses = (less[:, :NOTHING] >= 0) & (held > 0)
    used, used_lengths = (np.flatnonzero(uses) % NOTHING).astype(np.int16), uses.sum(axis=1)
    counts_for = np.concatenate([one.counts_for for one in several])
    found, plan, entry, use = [], 0, 0, 0
    for one, size in zip(several, sizes, strict=True):
        of = slice(plan, plan + size)
        plan += size
        entries, uses_here = int(lengths[of].sum()), int(used_lengths[of].sum())
        found.append(
            NearPlans(
                lacked[entry : entry + entries],
                lengths[of],
                used[use : use + uses_here],
                used_lengths[of],
                counts_for[of],
                one.lacks <= 1,
                int(one.lacks.min(initial=NO_PLAN)),
            )
        )
        entry, use = entry + entries, use + uses_here
    return found


class _Pool(NamedTuple):
    """All plans that lack at most `most` tiles beside some that were held."""

    held: bytes
    most: int
    at: Whole
    """Their numbers among those of the kind."""
    lacks: Whole


class _Pools:
    """The plans of one kind, and its pools, the newest first."""

    def __init__(self, kind: PlanKind) -> None:
        there = _plans_with(kind.sets)
        self.rows, self.counts_for = _rows_of(kind.sets), _counts_for(kind)
        self._tiles, self._every = there.tiles, np.arange(self.counts_for.size)
        none = _Pool(bytes(len(KINDS)), NO_PLAN, self._every, self.rows.sum(axis=1, dtype=np.int8))
        self._whole = _Shelf([none], WHOLE_POOLS)
        self._narrow = _Shelf([], POOLS)

    def nearest(self, held: bytes) -> tuple[Whole, Whole]:
        """Return the numbers of plans among which are all near ones, and how much each lacks."""
        few = self._every.size <= FEW
        for apart, pool in () if few else self._narrow.like(held, BEYOND):
            lacks = count_lacking(self._tiles, held, pool.held, pool.lacks, pool.at)
            if int(lacks.min()) + FURTHER + apart <= pool.most:
                return pool.at, lacks
        _, like = next(self._whole.like(held, NO_PLAN))
        whole = _Pool(held, NO_PLAN, self._every, count_lacking(self._tiles, held, like.held, like.lacks))
        self._whole.add(whole)
        if few or not whole.lacks.size:
            return whole.at, whole.lacks
        most = int(whole.lacks.min()) + FURTHER + BEYOND
        near = (whole.lacks <= most).nonzero()[0]
        self._narrow.add(_Pool(held, most, near, whole.lacks[near]))
        return near, whole.lacks[near]


class _Shelf:
    """Pools, the newest first; the oldest goes."""

    def __init__(self, pools: list[_Pool], most: int) -> None:
        self._pools, self._most = pools, most
        self._held = np.array([list(one.held) for one in pools], dtype=np.int8).reshape(-1, len(KINDS))

    def like(self, held: bytes, beyond: int) -> Iterator[tuple[int, _Pool]]:
        """Return those beside which few tiles are new, and how many are, from the one that differs least."""
        apart = np.frombuffer(held, dtype=np.int8) - self._held
        new = np.maximum(apart, 0).sum(axis=1)
        near = (new <= beyond).nonzero()[0]
        order = near[np.abs(apart[near]).sum(axis=1).argsort(kind="stable")]
        return ((int(new[at]), self._pools[at]) for at in order.tolist())

    def add(self, pool: _Pool) -> None:
        """Put a pool on it."""
        self._pools = [pool, *self._pools[: self._most - 1]]
        self._held = np.concatenate([np.frombuffer(pool.held, dtype=np.int8)[None], self._held[: self._most - 1]])


@lru_cache(maxsize=KINDS_OF_POOLS)
def _rows_of(sets: Sets) -> Whole:
    """Return the tiles of these plans, a row a plan."""
    return np.ascontiguousarray(_plans_with(sets).tiles.T)


_pools_of = lru_cache(maxsize=KINDS_OF_POOLS)(_Pools)


def count_lacking(tiles: Whole, held: bytes, before: bytes, lacked: Whole, at: Whole | None = None) -> Whole:
    """Count the tiles that some plans lack, copy by copy, from what they lacked beside those held before."""
    lacks, asked = lacked.copy(), np.empty(lacked.shape, dtype=np.bool_)
    as_number = asked.view(np.int8)
    for kind, (now, then) in enumerate(zip(held, before, strict=True)):
        if now != then:
            wanted = tiles[kind] if at is None else tiles[kind].take(at)
            change = np.subtract if now > then else np.add
            for copy in range(min(now, then), max(now, then)):
                np.greater(wanted, copy, out=asked)
                change(lacks, as_number, out=lacks)
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


def _counts_for(kind: PlanKind) -> Whole:
    """Return what each of these plans counts for, with what pungs of the seat's and the round's wind are worth."""
    own, of_round = kind.winds
    there = _plans_with(kind.sets)
    pung_of_own, pung_of_round = (there.winds >> own) & 1, (there.winds >> of_round) & 1
    beyond = pung_of_own + pung_of_round + (pung_of_own if own == of_round else 0)
    value = there.value + beyond
    counts_for: Whole = (OPEN if kind.claimed else CLOSED)[value] * _pays(value, kind.appetite)
    return counts_for


def _pays(value: Whole, appetite: float) -> Whole:
    """Return what a hand pays when won on a discard, beside one of 8 fan."""
    paid: Whole = ((BASES + np.maximum(value, ENOUGH_FAN)) / (BASES + ENOUGH_FAN)) ** appetite
    return paid
