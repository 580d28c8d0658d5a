"""The hands that a beginner's book teaches to aim at: every complete hand of some families, with its value.

They are generated once, in about a second. Each is four sets and a pair, or 14 single tiles, with a lower bound of its
hand value: its worth when claimed and won on a discard, without anything that luck adds. Tests check the bound against
the fan counter. All Pungs and Seven Pairs are generated for a hand when it comes near them.

Tiles are columns 0 to 33, in the order of `KINDS`. Sets are numbered 0 to 54: the 21 chows by their lowest tile, then
the 34 pungs.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broker.rules import COPIES, KINDS
from broker.rules.mcr import KNITTED, ORPHANS, RUNS, TableMeld

Whole = NDArray[Any]

SETS_OF_HAND: Final = 4
TILES_OF_PUNG: Final = 3
TILES_OF_PAIR: Final = 2
TILES_OF_HAND: Final = 14
PAIRS_OF_HAND: Final = 7

CHOWS: Final = len(RUNS)
SETS: Final = CHOWS + len(KINDS)
SUITED: Final = 27
"""Tiles below this number are of a suit."""
DRAGONS: Final = 31
"""Tiles from this number on are dragons; those between are the four winds."""

COLUMN: Final = {kind: at for at, kind in enumerate(KINDS)}
CHOW_OF: Final = {run: at for at, run in enumerate(RUNS)}


def chow(suit: int, low: int) -> int:
    """Return the number of a chow, by its suit and the rank of its lowest tile, from 0."""
    return 7 * suit + low


def pung(tile: int) -> int:
    """Return the number of a pung."""
    return CHOWS + tile


def set_of(meld: TableMeld) -> int:
    """Return the number of a meld. A kong has that of the pung which it contains."""
    return (
        CHOW_OF[(meld.tiles[0], meld.tiles[1], meld.tiles[2])] if meld.kind == "chow" else pung(COLUMN[meld.tiles[0]])
    )


def count_columns(tiles: Iterable[str]) -> Whole:
    """Count tiles by column."""
    counts = np.zeros(len(KINDS), dtype=np.int8)
    for tile in tiles:
        counts[COLUMN[tile]] += 1
    return counts


WORDS: Final = 3
"""Words of 64 bits, four for each kind: characters and honours, dots, bamboo. One tile more changes one word only."""

_UNARY: Final = np.array([0b0000, 0b0001, 0b0011, 0b0111, 0b1111], dtype=np.uint8)
"""A bit for each copy, by the number of copies."""


def bits_of(counts: Whole) -> Whole:
    """Return hands (n x 34) as bits (3 x n). Tiles common to two hands are the bits common to both."""
    each = np.zeros((len(counts), WORDS, 16), dtype=np.uint8)
    each[:, :, :9] = _UNARY.take(counts[:, :SUITED]).reshape(-1, WORDS, 9)
    each[:, 0, 9:] = _UNARY.take(counts[:, SUITED:])
    packed = each[:, :, ::2] | each[:, :, 1::2] << 4
    return np.ascontiguousarray(packed.view(np.uint64)[:, :, 0].T)


def _vectors() -> Whole:
    vectors = np.zeros((SETS, len(KINDS)), dtype=np.int8)
    for at, run in enumerate(RUNS):
        for tile in run:
            vectors[at, COLUMN[tile]] = 1
    vectors[CHOWS:] = 3 * np.eye(len(KINDS), dtype=np.int8)
    return vectors


TILES_OF: Final = _vectors()
"""The tiles of each set: 55 rows, 34 columns."""


def _related() -> NDArray[np.bool_]:
    """Return which pairs of chows are worth 1 fan: same numbers, a short straight, or both ends of a suit."""
    suit, low = np.divmod(np.arange(CHOWS), 7)
    same_suit = suit[:, None] == suit[None, :]
    apart = np.abs(low[:, None] - low[None, :])
    related = np.zeros((SETS, SETS), dtype=np.bool_)
    related[:CHOWS, :CHOWS] = (apart == 0) | (same_suit & ((apart == 3) | (apart == 6)))  # noqa: PLR2004 - 123 456, 123 789
    return related


RELATED: Final = _related()

NONE: Final = -1
"""The number used for a set that cannot be claimed: knitted tiles."""

LEAST: Final = 7
"""Hands with a lower bound below this are not plans."""

ENOUGH_FAN: Final = 8
"""A family with this value needs nothing in addition."""

ALL: Final = tuple(range(SETS))
PAIRS: Final = tuple(range(len(KINDS)))
WINDS: Final = tuple(range(SUITED, DRAGONS))
DRAGON_TILES: Final = tuple(range(DRAGONS, len(KINDS)))
HONORS: Final = WINDS + DRAGON_TILES
SUITS: Final = (0, 1, 2)


class Plans(NamedTuple):
    """Complete hands as columns: entry k of each belongs to hand k."""

    tiles: Whole
    """n x 34: how many tiles of each kind."""
    bits: Whole
    """3 x n: the same as bits."""
    sets: Whole
    """4 x n: the numbers of the sets, or NONE."""
    value: Whole
    """n: the least hand value, without winds of the seat and the round."""
    winds: Whole
    """n: bit k is set if there is a pung of wind k."""


Listed = tuple[Whole, Whole, Whole]
"""Tiles, sets and values of hands, one row each."""


class Family(NamedTuple):
    """Hands of one kind: rows of four sets, a pair for each, and the value of the kind."""

    name: str
    value: int
    sets: Whole
    pairs: Whole


@cache
def plans() -> Plans:
    """Return all plans, each hand once, in the family in which it is worth most."""
    families = sorted(_families(), key=lambda family: -family.value)
    sets = np.concatenate([np.sort(family.sets, axis=1) for family in families])
    pairs = np.concatenate([family.pairs for family in families])
    base = np.concatenate([np.full(len(family.pairs), family.value) for family in families])
    _, first = np.unique(_code(sets, pairs), return_index=True)
    sets, pairs, base = sets[first], pairs[first], base[first]
    tiles = TILES_OF[sets].sum(axis=1, dtype=np.int8)
    tiles[np.arange(len(pairs)), pairs] += 2
    value = np.where(base < ENOUGH_FAN, base + _extras(sets, pairs, tiles), base)
    kept = (tiles.max(axis=1) <= COPIES) & (value >= LEAST)
    return _joined((tiles[kept], sets[kept], value[kept]), _knitted_straights(), _singles())


def _code(sets: Whole, pairs: Whole) -> Whole:
    code = pairs.astype(np.int64)
    for place in range(4):
        code = code * SETS + sets[:, place]
    return code


def _joined(*several: Listed) -> Plans:
    tiles, sets, value = (np.concatenate(columns) for columns in zip(*several, strict=True))
    winds = ((tiles[:, WINDS] >= TILES_OF_PUNG) << np.arange(len(WINDS))).sum(axis=1)
    return Plans(
        tiles,
        bits_of(tiles),
        np.ascontiguousarray(sets.T.astype(np.int8)),
        value.astype(np.int16),
        winds.astype(np.int8),
    )


def _families() -> Iterator[Family]:
    yield _with_any("Mixed Triple Chow", 8, [[chow(suit, low) for suit in SUITS] for low in range(7)])
    yield _with_any("Mixed Straight", 8, [_in_suits(suits, (0, 3, 6)) for suits in permutations(SUITS)])
    yield _with_any("Pure Straight", 16, [_in_suits((suit,) * 3, (0, 3, 6)) for suit in SUITS])
    yield _with_any("Pure Shifted Chows", 16, list(_pure_shifted()))
    shifted = [_in_suits(suits, (low, low + 1, low + 2)) for suits in permutations(SUITS) for low in range(5)]
    yield _with_any("Mixed Shifted Chows", 6, shifted)
    for suit in SUITS:
        yield _of("Half Flush", 6, _half_flush(suit), (*_tiles_of(suit), *HONORS))
        yield _of("Full Flush", 24, _mostly_chows(suit, 4), _tiles_of(suit))
    yield from _all_types()
    for name, low in (("Upper Four", 5), ("Lower Four", 0)):
        tiles = [9 * suit + rank for suit in SUITS for rank in range(low, low + 4)]
        chows = [chow(suit, rank) for suit in SUITS for rank in (low, low + 1)]
        yield _of(name, 12, _few_pungs(chows, [pung(tile) for tile in tiles], 4), tiles)


def _in_suits(suits: Sequence[int], lows: Sequence[int]) -> list[int]:
    return [chow(suit, low) for suit, low in zip(suits, lows, strict=True)]


def _pure_shifted() -> Iterator[list[int]]:
    for suit, step in product(SUITS, (1, 2)):
        for low in range(7 - 2 * step):
            yield _in_suits((suit,) * 3, (low, low + step, low + 2 * step))


def _tiles_of(suit: int) -> tuple[int, ...]:
    return tuple(range(9 * suit, 9 * suit + 9))


def _few_pungs(chows: Sequence[int], pungs: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
    """Yield combinations of sets with at most one pung; more pungs are left to All Pungs."""
    yield from combinations_with_replacement(chows, count)
    for some in combinations_with_replacement(chows, count - 1):
        yield from ((*some, one) for one in pungs)


def _mostly_chows(suit: int, count: int) -> Iterator[tuple[int, ...]]:
    chows = [chow(suit, low) for low in range(7)]
    return _few_pungs(chows, [pung(tile) for tile in _tiles_of(suit)], count)


def _half_flush(suit: int) -> Iterator[tuple[int, ...]]:
    for honors in (1, 2):
        for some in _mostly_chows(suit, 4 - honors):
            yield from ((*some, *(pung(tile) for tile in those)) for those in combinations(HONORS, honors))


def _all_types() -> Iterator[Family]:
    """Yield hands with three suits, a wind and a dragon, one of the honours as the pair."""
    chows = [[chow(suit, low) for low in range(7)] for suit in SUITS]
    either = [[*chows[suit], *(pung(tile) for tile in _tiles_of(suit))] for suit in SUITS]
    of_suits = {sets for at in SUITS for sets in product(*(either[s] if s == at else chows[s] for s in SUITS))}
    for sets, pairs in ((WINDS, DRAGON_TILES), (DRAGON_TILES, WINDS)):
        yield _of("All Types", 6, [(*some, pung(tile)) for some in sorted(of_suits) for tile in sets], pairs)


def _with_any(name: str, value: int, cores: Sequence[Sequence[int]]) -> Family:
    """Return the family of three given sets with any fourth set and any pair."""
    return _of(name, value, [(*core, one) for core in cores for one in ALL], PAIRS)


def _of(
    name: str, value: int, sets: Iterator[tuple[int, ...]] | Sequence[Sequence[int]], pairs: Sequence[int]
) -> Family:
    rows = np.array(list(sets), dtype=np.int16)
    return Family(name, value, np.repeat(rows, len(pairs), axis=0), np.tile(np.array(pairs), len(rows)))


def _extras(sets: Whole, pairs: Whole, tiles: Whole) -> Whole:
    """Return fan besides Mixed Shifted Chows, Half Flush or All Types, limited to those that none of these implies."""
    chows = (sets < CHOWS).sum(axis=1)
    terminals = np.array([tile in ORPHANS for tile in range(len(KINDS))])
    simples = ~tiles[:, terminals].any(axis=1)
    dragons = (tiles[:, DRAGONS:] >= TILES_OF_PUNG).sum(axis=1)
    terminal_pungs = np.isin(sets - CHOWS, [tile for tile in ORPHANS if tile < SUITED]).sum(axis=1)
    others = (tiles[:, WINDS] >= TILES_OF_PUNG).sum(axis=1) + terminal_pungs
    all_chows = (chows == SETS_OF_HAND) & (pairs < SUITED)
    no_honors = ~tiles[:, SUITED:].any(axis=1) & ~all_chows & ~simples
    value: Whole = 2 * simples + 2 * all_chows + 2 * dragons + others + _chow_pair(sets) + no_honors
    return value


def _chow_pair(sets: Whole) -> NDArray[np.bool_]:
    found = np.zeros(len(sets), dtype=np.bool_)
    for one, other in combinations(range(4), 2):
        found |= RELATED[sets[:, one], sets[:, other]]
    return found


def _knitted_straights() -> Listed:
    """Return 147, 258, 369 in three suits with a set and a pair."""
    knitted = np.array([[tile in nine for tile in PAIRS] for nine in KNITTED], dtype=np.int8)
    way, last, pair = (grid.ravel() for grid in np.meshgrid(range(len(knitted)), ALL, PAIRS, indexing="ij"))
    tiles = knitted[way] + TILES_OF[last]
    tiles[np.arange(len(pair)), pair] += 2
    kept = tiles.max(axis=1) <= COPIES
    sets = np.full((len(pair), 4), NONE)
    sets[:, 3] = last
    return tiles[kept], sets[kept], np.full(kept.sum(), 12)


def _singles() -> Listed:
    """Return Lesser and Greater Honours and Knitted Tiles, and Thirteen Orphans."""
    rows = [nine_and_honors for nine in KNITTED for nine_and_honors in combinations((*sorted(nine), *HONORS), 14)]
    tiles = np.zeros((len(rows) + len(ORPHANS), len(KINDS)), dtype=np.int8)
    for at, row in enumerate(rows):
        tiles[at, list(row)] = 1
    tiles[len(rows) :, sorted(ORPHANS)] = 1
    tiles[np.arange(len(rows), len(tiles)), sorted(ORPHANS)] = 2
    value = np.array([12] * len(rows) + [88] * len(ORPHANS))
    return tiles, np.full((len(tiles), 4), NONE), value


FEWEST_PAIRS: Final = 4
"""The least number of pairs and pungs for All Pungs and Seven Pairs."""

LACKED: Final = 2
"""The fan that All Pungs, worth 6, need in addition."""

NO_PLANS: Final = (np.zeros((0, len(KINDS)), dtype=np.int8), np.zeros(0))


def all_pungs(held: bytes, melds: Sequence[int], most: int) -> tuple[Whole, Whole]:
    """Return All Pungs plans of tiles held twice, with any held tile as the pair, that lack at most `most` tiles.

    One row for each hand, and their weights.
    """
    twice = [tile for tile, count in enumerate(held) if count >= TILES_OF_PAIR]
    if len(twice) + len(melds) < FEWEST_PAIRS or any(meld < CHOWS for meld in melds):
        return NO_PLANS
    melded, hands, counts_for = [meld - CHOWS for meld in melds], list[bytes](), list[float]()
    for those in combinations(twice, SETS_OF_HAND - len(melds)):
        left = most - sum(held[tile] == TILES_OF_PAIR for tile in those)
        if left >= 0:
            hand = bytearray(len(KINDS))
            for tile in those:
                hand[tile] = TILES_OF_PUNG
            for pair, count in enumerate(held):
                if count and not hand[pair] and (left or count > 1):
                    hand[pair] = TILES_OF_PAIR
                    hands.append(bytes(hand))
                    hand[pair] = 0
                    counts_for.append(_all_pungs_counts_for((*melded, *those), pair))
    return np.frombuffer(b"".join(hands), dtype=np.int8).reshape(-1, len(KINDS)), np.array(counts_for)


@lru_cache(maxsize=20_000)
def _all_pungs_counts_for(pungs: tuple[int, ...], pair: int) -> float:
    """Return the weight: 1 with two fan besides the six, less otherwise, since two unclaimed pungs may provide them."""
    extra = sum(2 if tile >= DRAGONS else tile in ORPHANS for tile in pungs)
    ranks = [tile % 9 for tile in pungs if tile < SUITED]
    doubles = len(ranks) - len(set(ranks))
    simples = not ORPHANS.intersection((*pungs, pair))
    return 1.0 if extra + 2 * doubles + 2 * simples >= LACKED else 0.6


def seven_pairs(held: bytes) -> tuple[Whole, Whole]:
    """Return Seven Pairs plans of the pairs held and other tiles held, for a hand without melds.

    One row for each hand, and their weights.
    """
    twice = [tile for tile, count in enumerate(held) if count >= TILES_OF_PAIR]
    if len(twice) < FEWEST_PAIRS:
        return NO_PLANS
    once = [tile for tile, count in enumerate(held) if count == 1]
    others = np.array([*combinations(once, max(PAIRS_OF_HAND - len(twice), 0))], dtype=np.intp)
    tiles = np.zeros((len(others), len(KINDS)), dtype=np.int8)
    tiles[:, twice[:PAIRS_OF_HAND]] = tiles[np.arange(len(others))[:, None], others] = TILES_OF_PAIR
    return tiles, np.ones(len(others))
