"""Which readings of a hand have the yaku that were counted for it, so that fu are counted for the same reading."""

from collections.abc import Callable, Collection, Mapping
from typing import Final

from broker.rules.riichi.fu import is_pinfu
from broker.rules.riichi.hand import Situation
from broker.rules.riichi.reading import Reading, SevenPairs, is_orphan

CONCEALED_TRIPLETS: Final = 3

Test = Callable[[Reading], bool]


def _has_two_alike(reading: Reading) -> bool:
    return _alike(reading) == 1


def _alike(reading: Reading) -> int:
    chii = [group.tile for group in reading.sets if group.kind == "chii"]
    return sum(chii.count(tile) // 2 for tile in set(chii))


def _closed_triplets(reading: Reading) -> int:
    return sum(group.kind != "chii" and not group.open for group in reading.sets)


def _is_outside(reading: Reading) -> bool:
    parts = [group.tiles for group in reading.sets] + [(reading.pair,)]
    return all(any(is_orphan(tile) for tile in part) for part in parts)


def _has_straight(reading: Reading) -> bool:
    low = {group.tile for group in reading.sets if group.kind == "chii"}
    return any({f"{rank}{suit}" for rank in (1, 4, 7)} <= low for suit in "mps")


def _has_three_suits(reading: Reading, *, chii: bool) -> bool:
    low = {group.tile for group in reading.sets if (group.kind == "chii") == chii}
    return any({f"{rank}{suit}" for suit in "mps"} <= low for rank in range(1, 10))


FORMS: Final[Mapping[str, Test]] = {
    "iipeikou": _has_two_alike,
    "ryanpeikou": lambda reading: _alike(reading) > 1,
    "sanankou": lambda reading: _closed_triplets(reading) == CONCEALED_TRIPLETS,
    "toitoi": lambda reading: all(group.kind != "chii" for group in reading.sets),
    "chanta": _is_outside,
    "junchan": _is_outside,
    "ittsu": _has_straight,
    "sanshoku_doujun": lambda reading: _has_three_suits(reading, chii=True),
    "sanshoku_doukou": lambda reading: _has_three_suits(reading, chii=False),
}
"""What a reading must have for each yaku that only some readings of the same tiles have."""


def fits(reading: Reading | SevenPairs, yaku: Collection[str], said: Situation) -> bool:
    """Say whether a reading is one in which these yaku were counted."""
    if isinstance(reading, SevenPairs):
        return "chiitoitsu" in yaku
    if "chiitoitsu" in yaku or ("pinfu" in yaku) != is_pinfu(reading, said):
        return False
    return all(test(reading) for yaku_id, test in FORMS.items() if yaku_id in yaku)
