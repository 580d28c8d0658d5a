"""The tiles that complete a hand, from counts of its 34 kinds: a fast equivalent of `broker.rules.mcr.mcr_waits`."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from broker.rules import COPIES, KINDS
from broker.rules.mcr import KNITTED, ORPHANS, SUITED

Counts = tuple[int, ...]

_BITS: Final = tuple(1 << at for at in range(len(KINDS)))

SUIT_STARTS: Final = (0, 9, 18, SUITED)
KNITTED_TILES: Final = tuple((tuple(sorted(nine)), sum(1 << at for at in nine)) for nine in KNITTED)
"""The nine tiles of each knitted straight, and the bits of their kinds."""
FEWEST_KNITTED: Final = 8
"""The least number of the nine in a knitted straight that lacks at most one tile."""

PAIR: Final = 2
"""The number of tiles in a suit modulo 3, if the pair is in it."""

WAITING: Final = 13


@lru_cache(maxsize=20_000)
def waits(held: bytes) -> frozenset[int]:
    """Return the kinds that complete concealed tiles: 13, or three less for each meld. A fifth copy does not count."""
    counts = tuple(held)
    found = set(_regular(counts))
    present = sum(_BITS[at] for at, count in enumerate(counts) if count)
    for nine, bits in KNITTED_TILES:
        if (present & bits).bit_count() >= FEWEST_KNITTED:
            found.update(_knitted_straight(list(counts), nine))
    if sum(counts) == WAITING:
        found.update(_special(counts))
    return frozenset(kind for kind in found if counts[kind] < COPIES)


def _regular(counts: Sequence[int]) -> set[int]:
    """Return the tiles that complete sets and a pair. All suits but one or two must already consist of sets."""
    parts = [tuple(counts[low:high]) for low, high in zip(SUIT_STARTS, (*SUIT_STARTS[1:], 34), strict=True)]
    sums = [sum(part) % 3 for part in parts]
    found = set[int]()
    for at, part in enumerate(parts):
        others = [other for place, other in enumerate(parts) if place != at]
        rests = sums[:at] + sums[at + 1 :]
        to_pair = sums[at] == 1 and not any(rests)
        if not to_pair and (sums[at] != PAIR or sorted(rests) != [0, 0, PAIR]):
            continue
        if all(_divides(other, honors=_honors(other), pair=sum(other) % 3 == PAIR) for other in others):
            found.update(_completing(part, SUIT_STARTS[at], pair=to_pair))
    return found


def _honors(part: Sequence[int]) -> bool:
    return len(part) < 9  # noqa: PLR2004 - ranks of a suit


def _completing(part: Counts, low: int, *, pair: bool) -> set[int]:
    found = set[int]()
    for at in range(len(part)):
        more = (*part[:at], part[at] + 1, *part[at + 1 :])
        if _divides(more, honors=_honors(part), pair=pair):
            found.add(low + at)
    return found


@lru_cache(maxsize=100_000)
def _divides(part: Counts, *, honors: bool, pair: bool) -> bool:
    """Return whether the tiles of one suit divide into sets, with a pair if requested."""
    if pair:
        return any(
            _divides((*part[:at], count - 2, *part[at + 1 :]), honors=honors, pair=False)
            for at, count in enumerate(part)
            if count > 1
        )
    low = next((at for at, count in enumerate(part) if count), None)
    if low is None:
        return True
    if part[low] >= 3 and _divides((*part[:low], part[low] - 3, *part[low + 1 :]), honors=honors, pair=False):  # noqa: PLR2004 - a pung
        return True
    if honors or low + 2 >= len(part) or not part[low + 1] or not part[low + 2]:
        return False
    less = (*part[:low], part[low] - 1, part[low + 1] - 1, part[low + 2] - 1, *part[low + 3 :])
    return _divides(less, honors=False, pair=False)


def _knitted_straight(counts: list[int], nine: tuple[int, ...]) -> set[int]:
    missing = [at for at in nine if not counts[at]]
    for at in nine:
        counts[at] -= counts[at] > 0
    if not missing:
        found = _regular(counts)
    else:
        sums = [tuple(counts[low:high]) for low, high in zip(SUIT_STARTS, (*SUIT_STARTS[1:], 34), strict=True)]
        twos = [part for part in sums if sum(part) % 3 == PAIR]
        whole = len(twos) == 1 and all(_divides(part, honors=_honors(part), pair=part in twos) for part in sums)
        found = set(missing) if whole else set()
    return found


def _special(counts: Counts) -> set[int]:
    singles = [at for at, count in enumerate(counts) if count % 2]
    found = set(singles) if len(singles) == 1 else set()
    present = {at for at, count in enumerate(counts) if count}
    if present <= ORPHANS and len(present) >= len(ORPHANS) - 1:
        found |= (ORPHANS - present) if len(present) < len(ORPHANS) else ORPHANS
    if max(counts) == 1:
        suited = {at for at in present if at < SUITED}
        for nine in KNITTED:
            if suited <= nine:
                found |= (nine | set(range(SUITED, 34))) - present
    return found
