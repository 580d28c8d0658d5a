"""In which ways a winning hand can be read: its sets, its pair, and which of them the winning tile completes.

A set that the winning tile completes on a discard is open where fu are counted ("réalisé sans voler", RIICHI-POINTS).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from broker.rules.fan.shape import ORPHANS, SUITED, Counts, counted, is_seven_pairs
from broker.rules.riichi.hand import Hand, plain
from broker.rules.tiles import KINDS

Kind = Literal["chii", "pon", "kan"]

Wait = Literal["two_sided", "edge", "closed", "pair", "two_pairs"]
"""What the hand waited with; `two_pairs`: for the third tile of either."""

FIRST_OF_LAST_CHII: Final = 6
"""Place in a suit, from 0, of the lowest tile of 789."""


@dataclass(frozen=True, slots=True)
class Group:
    """A set: its kind, its lowest tile, and whether fu are counted for it as for an open one."""

    kind: Kind
    tile: str
    open: bool

    @property
    def tiles(self) -> tuple[str, ...]:
        """The tiles of the set."""
        if self.kind == "chii":
            low = KINDS.index(self.tile)
            return KINDS[low : low + 3]
        return (self.tile,) * (4 if self.kind == "kan" else 3)


@dataclass(frozen=True, slots=True)
class Reading:
    """Four sets and a pair. `open`: a set was called before the win, so the hand is an open one."""

    sets: tuple[Group, ...]
    pair: str
    wait: Wait
    open: bool


@dataclass(frozen=True, slots=True)
class SevenPairs:
    """Seven different pairs."""


def is_orphan(tile: str) -> bool:
    """Say whether a tile is a terminal or an honour."""
    return KINDS.index(tile) in ORPHANS


def is_thirteen_orphans(hand: Hand) -> bool:
    """Say whether the hand is one of each terminal and honour, and another of one of them."""
    counts = counted(hand.standing)
    return not hand.melds and {index for index, number in enumerate(counts) if number} == ORPHANS


def readings(hand: Hand, *, self_drawn: bool) -> tuple[Reading | SevenPairs, ...]:
    """Give each way to read a hand; none where it does not win or is thirteen orphans."""
    counts = counted(hand.standing)
    pairs = is_seven_pairs(counts) and max(counts) == 2  # noqa: PLR2004 - seven pairs are different ones
    called = tuple(Group(_kind(meld.kind), min(plain(meld.tiles)), meld.open) for meld in hand.melds)
    regular = (
        reading
        for pair, groups in divisions(tuple(counts))
        for reading in _completed(called, groups, pair, plain((hand.winning_tile,))[0], self_drawn=self_drawn)
    )
    return (*([SevenPairs()] if pairs else []), *dict.fromkeys(regular))


@lru_cache(maxsize=4096)
def divisions(counts: tuple[int, ...]) -> tuple[tuple[str, tuple[Group, ...]], ...]:
    """Give each way to divide standing tiles into a pair and closed sets."""
    found = []
    for index, number in enumerate(counts):
        if number > 1:
            rest = list(counts)
            rest[index] -= 2
            found += [(KINDS[index], groups) for groups in _sets(rest)]
    return tuple(found)


def _sets(counts: Counts) -> Iterator[tuple[Group, ...]]:
    """Divide tiles into pon and chii: the lowest tile is in one or the other."""
    low = next((index for index, number in enumerate(counts) if number), None)
    if low is None:
        yield ()
        return
    for kind, tiles in (("pon", [low] * 3), ("chii", [low, low + 1, low + 2])):
        if kind == "chii" and (low >= SUITED or low % 9 > FIRST_OF_LAST_CHII):
            continue
        rest = counts.copy()
        for tile in tiles:
            rest[tile] -= 1
        if min(rest) >= 0:
            yield from ((Group(_kind(kind), KINDS[low], open=False), *more) for more in _sets(rest))


def _completed(
    called: tuple[Group, ...], own: tuple[Group, ...], pair: str, tile: str, *, self_drawn: bool
) -> Iterator[Reading]:
    """Give a reading for each closed part of a division that the winning tile can have completed."""
    is_open = any(group.open for group in called)
    if pair == tile:
        yield Reading((*called, *own), pair, "pair", is_open)
    for at, group in enumerate(own):
        if tile in group.tiles:
            won = replace(group, open=not self_drawn)
            yield Reading((*called, *own[:at], won, *own[at + 1 :]), pair, _wait(group, tile), is_open)


def _wait(group: Group, tile: str) -> Wait:
    if group.kind != "chii":
        return "two_pairs"
    place = group.tiles.index(tile)
    if place == 1:
        return "closed"
    low = KINDS.index(group.tile) % 9
    return "edge" if (low == 0 and place == 2) or (low == FIRST_OF_LAST_CHII and place == 0) else "two_sided"  # noqa: PLR2004 - the third tile of 123


def _kind(said: str) -> Kind:
    kinds: dict[str, Kind] = {"chii": "chii", "pon": "pon", "kan": "kan"}
    return kinds[said]
