"""The readings of a winning hand, and the fu of each, item by item (RIICHI-POINTS, "Compter les fus").

A reading consists of sets, a pair, and which of them the winning tile completes. A set completed by the winning tile on
a discard counts as open for fu ("réalisé sans voler", RIICHI-POINTS). Fu are counted for a reading that has the yaku of
the hand.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from broker.rules.deal import KINDS
from broker.rules.mcr import SUITED, Counts, is_seven_pairs, kind_counts
from broker.rules.riichi.hand import RiichiHand, RiichiSituation, without_red
from broker.rules.riichi.profile import FuRules
from broker.rules.riichi.waits import ORPHANS

SetKind = Literal["chii", "pon", "kan"]

Wait = Literal["two_sided", "edge", "closed", "pair", "two_pairs"]
"""The shape of the hand's wait. `two_pairs`: waiting for the third tile of either pair."""

FIRST_OF_LAST_CHII: Final = 6
"""The index within a suit, from 0, of the lowest tile of 789."""


@dataclass(frozen=True, slots=True)
class TileSet:
    """A set: its kind, its lowest tile, and whether its fu are those of an open set."""

    kind: SetKind
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
class HandReading:
    """Four sets and a pair. `open`: whether a set was called before the win, so that the hand is an open one."""

    sets: tuple[TileSet, ...]
    pair: str
    wait: Wait
    open: bool


@dataclass(frozen=True, slots=True)
class SevenPairs:
    """Seven different pairs."""


AnyReading = HandReading | SevenPairs


def hand_readings(hand: RiichiHand, *, self_drawn: bool) -> tuple[AnyReading, ...]:
    """Return all readings of a hand; none if it does not win or is thirteen orphans."""
    counts = kind_counts(hand.standing)
    pairs = is_seven_pairs(counts) and max(counts) == 2  # noqa: PLR2004 - in riichi the seven pairs must be different
    called = tuple(TileSet(_kind(meld.kind), min(without_red(meld.tiles)), meld.open) for meld in hand.melds)
    regular = (
        reading
        for pair, groups in divisions(tuple(counts))
        for reading in _completed(called, groups, pair, without_red((hand.winning_tile,))[0], self_drawn=self_drawn)
    )
    return (*([SevenPairs()] if pairs else []), *dict.fromkeys(regular))


@lru_cache(maxsize=4096)
def divisions(counts: tuple[int, ...]) -> tuple[tuple[str, tuple[TileSet, ...]], ...]:
    """Return all divisions of standing tiles into a pair and closed sets."""
    found = []
    for index, number in enumerate(counts):
        if number > 1:
            rest = list(counts)
            rest[index] -= 2
            found += [(KINDS[index], groups) for groups in _sets(rest)]
    return tuple(found)


def _sets(counts: Counts) -> Iterator[tuple[TileSet, ...]]:
    """Yield all divisions of tiles into pon and chii, trying both for the lowest tile."""
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
            yield from ((TileSet(_kind(kind), KINDS[low], open=False), *more) for more in _sets(rest))


def _completed(
    called: tuple[TileSet, ...], own: tuple[TileSet, ...], pair: str, tile: str, *, self_drawn: bool
) -> Iterator[HandReading]:
    """Yield a reading for each closed part of a division that the winning tile can have completed."""
    is_open = any(group.open for group in called)
    if pair == tile:
        yield HandReading((*called, *own), pair, "pair", is_open)
    for at, group in enumerate(own):
        if tile in group.tiles:
            won = replace(group, open=not self_drawn)
            yield HandReading((*called, *own[:at], won, *own[at + 1 :]), pair, _wait(group, tile), is_open)


def _wait(group: TileSet, tile: str) -> Wait:
    if group.kind != "chii":
        return "two_pairs"
    place = group.tiles.index(tile)
    if place == 1:
        return "closed"
    low = KINDS.index(group.tile) % 9
    return "edge" if (low == 0 and place == 2) or (low == FIRST_OF_LAST_CHII and place == 0) else "two_sided"  # noqa: PLR2004 - the third tile of 123


def _kind(kind: str) -> SetKind:
    kinds: dict[str, SetKind] = {"chii": "chii", "pon": "pon", "kan": "kan"}
    return kinds[kind]


WINNING: Final = 20
CONCEALED_RON: Final = 10
"""Fu for winning on a discard with a closed hand, on top of the 20: 30 in all."""

SEVEN_PAIRS: Final = 25
PLAIN_PON: Final = 2
"""Fu for an open pon of 2 to 8. Terminals and honours double it, a closed set doubles it, a kan quadruples it."""

SINGLE_WAIT: Final = 2
TSUMO: Final = 2
VALUED_PAIR: Final = 2

DRAGONS: Final = ("5z", "6z", "7z")
WIND_TILES: Final = {"east": "1z", "south": "2z", "west": "3z", "north": "4z"}


@dataclass(frozen=True, slots=True)
class FuItem:
    """One item of fu: its id in names.toml, the fu, and the tiles that give them, if any."""

    id: str
    fu: int
    tiles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fu:
    """All items of a hand, their sum, and the sum rounded up to the next 10 (never for seven pairs)."""

    items: tuple[FuItem, ...]
    sum: int
    rounded: int


def fu_of(reading: AnyReading, situation: RiichiSituation, rules: FuRules) -> Fu:
    """Count the fu of one reading of a hand."""
    if isinstance(reading, SevenPairs):
        return Fu((FuItem("seven_pairs", SEVEN_PAIRS),), SEVEN_PAIRS, SEVEN_PAIRS)
    items = tuple(_items(reading, situation, rules))
    total = sum(item.fu for item in items)
    return Fu(items, total, -(-total // 10) * 10)


def is_pinfu(reading: AnyReading, situation: RiichiSituation) -> bool:
    """Return whether a closed hand has no extra fu: chii only, a pair without value, a two-sided wait."""
    if isinstance(reading, SevenPairs) or reading.open:
        return False
    return _is_without_fu(reading, situation)


def _is_without_fu(reading: HandReading, situation: RiichiSituation) -> bool:
    all_chii = all(group.kind == "chii" for group in reading.sets)
    return all_chii and reading.wait == "two_sided" and not any(_pair_values(reading.pair, situation))


def _items(reading: HandReading, situation: RiichiSituation, rules: FuRules) -> Iterator[FuItem]:
    yield FuItem("winning", WINNING)
    if not situation.self_drawn and not reading.open:
        yield FuItem("concealed_ron", CONCEALED_RON)
    for group in reading.sets:
        if group.kind != "chii":
            yield _set_fu(group)
    yield from _pair_fu(reading.pair, situation, rules)
    if reading.wait in ("edge", "closed", "pair"):
        yield FuItem(f"{reading.wait}_wait", SINGLE_WAIT)
    yield from _draw_fu(reading, situation, rules)


def _set_fu(group: TileSet) -> FuItem:
    orphan = group.tile in ORPHANS
    fu = PLAIN_PON * (2 if orphan else 1) * (1 if group.open else 2) * (4 if group.kind == "kan" else 1)
    side = "open" if group.open else "closed"
    return FuItem(f"{side}_{group.kind}{'_of_orphans' if orphan else ''}", fu, group.tiles)


def _pair_values(pair: str, situation: RiichiSituation) -> tuple[bool, bool, bool]:
    """Return whether a pair is of dragons, of the seat wind, and of the round wind."""
    return pair in DRAGONS, pair == WIND_TILES[situation.seat_wind], pair == WIND_TILES[situation.round_wind]


def _pair_fu(pair: str, situation: RiichiSituation, rules: FuRules) -> Iterator[FuItem]:
    tiles = (pair, pair)
    dragon, seat, prevalent = _pair_values(pair, situation)
    if dragon:
        yield FuItem("dragon_pair", VALUED_PAIR, tiles)
    elif seat and prevalent:
        yield FuItem("double_wind_pair", rules.double_wind_pair.value, tiles)
    elif seat:
        yield FuItem("seat_wind_pair", VALUED_PAIR, tiles)
    elif prevalent:
        yield FuItem("round_wind_pair", VALUED_PAIR, tiles)


def _draw_fu(reading: HandReading, situation: RiichiSituation, rules: FuRules) -> Iterator[FuItem]:
    if situation.self_drawn and situation.rinshan:
        yield FuItem("replacement_tile", rules.replacement_tile.value)
    elif situation.self_drawn and not is_pinfu(reading, situation):
        yield FuItem("tsumo", TSUMO)
    elif not situation.self_drawn and reading.open and _is_without_fu(reading, situation):
        least = rules.open_pinfu.value - WINNING
        if least:
            yield FuItem("open_pinfu", least)


CONCEALED_TRIPLETS: Final = 3

Test = Callable[[HandReading], bool]


def _identical_chii_pairs(reading: HandReading) -> int:
    chii = [group.tile for group in reading.sets if group.kind == "chii"]
    return sum(chii.count(tile) // 2 for tile in set(chii))


def _closed_triplets(reading: HandReading) -> int:
    return sum(group.kind != "chii" and not group.open for group in reading.sets)


def _is_outside(reading: HandReading) -> bool:
    return all(not ORPHANS.isdisjoint(part) for part in (*(group.tiles for group in reading.sets), (reading.pair,)))


def _has_straight(reading: HandReading) -> bool:
    low = {group.tile for group in reading.sets if group.kind == "chii"}
    return any({f"{rank}{suit}" for rank in (1, 4, 7)} <= low for suit in "mps")


def _has_three_suits(reading: HandReading, *, chii: bool) -> bool:
    low = {group.tile for group in reading.sets if (group.kind == "chii") == chii}
    return any({f"{rank}{suit}" for suit in "mps"} <= low for rank in range(1, 10))


YAKU_TESTS: Final[Mapping[str, Test]] = {
    "iipeikou": lambda reading: _identical_chii_pairs(reading) == 1,
    "ryanpeikou": lambda reading: _identical_chii_pairs(reading) > 1,
    "sanankou": lambda reading: _closed_triplets(reading) == CONCEALED_TRIPLETS,
    "toitoi": lambda reading: all(group.kind != "chii" for group in reading.sets),
    "chanta": _is_outside,
    "junchan": _is_outside,
    "ittsu": _has_straight,
    "sanshoku_doujun": lambda reading: _has_three_suits(reading, chii=True),
    "sanshoku_doukou": lambda reading: _has_three_suits(reading, chii=False),
}
"""The test that a reading must pass for each yaku that only some readings of the same tiles have."""


def has_yaku(reading: AnyReading, yaku: Collection[str], situation: RiichiSituation) -> bool:
    """Return whether a reading is one for which these yaku were counted."""
    if isinstance(reading, SevenPairs):
        return "chiitoitsu" in yaku
    if "chiitoitsu" in yaku or ("pinfu" in yaku) != is_pinfu(reading, situation):
        return False
    return all(test(reading) for yaku_id, test in YAKU_TESTS.items() if yaku_id in yaku)
