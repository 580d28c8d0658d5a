"""Fu, counted item by item as a club member would (RIICHI-POINTS, "Compter les fus")."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from broker.rules.riichi.hand import Situation
from broker.rules.riichi.profile import FuRules
from broker.rules.riichi.reading import Group, Reading, SevenPairs, is_orphan

WINNING: Final = 20
CONCEALED_RON: Final = 10
"""What winning on a discard with a closed hand has beside the 20: 30 in all."""

SEVEN_PAIRS: Final = 25
PLAIN_PON: Final = 2
"""An open pon of 2 to 8. Terminals and honours double it, closed doubles it, a kan is worth four pon."""

SINGLE_WAIT: Final = 2
TSUMO: Final = 2
VALUED_PAIR: Final = 2

DRAGONS: Final = ("5z", "6z", "7z")
WIND_TILES: Final = {"east": "1z", "south": "2z", "west": "3z", "north": "4z"}


@dataclass(frozen=True, slots=True)
class Item:
    """One reason for fu: its id in names.toml, the fu, and the tiles where some are meant."""

    id: str
    fu: int
    tiles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fu:
    """All reasons, and what they come to: the sum, and that rounded up to the next 10 (never for seven pairs)."""

    items: tuple[Item, ...]
    sum: int
    rounded: int


def fu_of(reading: Reading | SevenPairs, said: Situation, rules: FuRules) -> Fu:
    """Count the fu of a hand that is read in one way."""
    if isinstance(reading, SevenPairs):
        return Fu((Item("seven_pairs", SEVEN_PAIRS),), SEVEN_PAIRS, SEVEN_PAIRS)
    items = tuple(_items(reading, said, rules))
    total = sum(item.fu for item in items)
    return Fu(items, total, -(-total // 10) * 10)


def is_pinfu(reading: Reading | SevenPairs, said: Situation) -> bool:
    """Say whether a closed hand has nothing that gives fu: chii alone, a pair without value, two sides to wait on."""
    if isinstance(reading, SevenPairs) or reading.open:
        return False
    return _is_without_fu(reading, said)


def _is_without_fu(reading: Reading, said: Situation) -> bool:
    all_chii = all(group.kind == "chii" for group in reading.sets)
    return all_chii and reading.wait == "two_sided" and not any(_pair_values(reading.pair, said))


def _items(reading: Reading, said: Situation, rules: FuRules) -> Iterator[Item]:
    yield Item("winning", WINNING)
    if not said.self_drawn and not reading.open:
        yield Item("concealed_ron", CONCEALED_RON)
    for group in reading.sets:
        if group.kind != "chii":
            yield _of_set(group)
    yield from _of_pair(reading.pair, said, rules)
    if reading.wait in ("edge", "closed", "pair"):
        yield Item(f"{reading.wait}_wait", SINGLE_WAIT)
    yield from _of_the_draw(reading, said, rules)


def _of_set(group: Group) -> Item:
    orphan = is_orphan(group.tile)
    fu = PLAIN_PON * (2 if orphan else 1) * (1 if group.open else 2) * (4 if group.kind == "kan" else 1)
    side = "open" if group.open else "closed"
    return Item(f"{side}_{group.kind}{'_of_orphans' if orphan else ''}", fu, group.tiles)


def _pair_values(pair: str, said: Situation) -> tuple[bool, bool, bool]:
    """Say whether a pair is of dragons, of the seat wind, of the round wind."""
    return pair in DRAGONS, pair == WIND_TILES[said.seat_wind], pair == WIND_TILES[said.round_wind]


def _of_pair(pair: str, said: Situation, rules: FuRules) -> Iterator[Item]:
    tiles = (pair, pair)
    dragon, seat, prevalent = _pair_values(pair, said)
    if dragon:
        yield Item("dragon_pair", VALUED_PAIR, tiles)
    elif seat and prevalent:
        yield Item("double_wind_pair", rules.double_wind_pair.value, tiles)
    elif seat:
        yield Item("seat_wind_pair", VALUED_PAIR, tiles)
    elif prevalent:
        yield Item("round_wind_pair", VALUED_PAIR, tiles)


def _of_the_draw(reading: Reading, said: Situation, rules: FuRules) -> Iterator[Item]:
    if said.self_drawn and said.rinshan:
        yield Item("replacement_tile", rules.replacement_tile.value)
    elif said.self_drawn and not is_pinfu(reading, said):
        yield Item("tsumo", TSUMO)
    elif not said.self_drawn and reading.open and _is_without_fu(reading, said):
        least = rules.open_pinfu.value - WINNING
        if least:
            yield Item("open_pinfu", least)
