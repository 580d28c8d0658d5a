"""Count the fan of an MCR hand.

This module has the 81 fan, lets PyMahjongGB count them, and corrects its count to the Green Book (docs/rules.md).

PyMahjongGB is only given hands that are possible. It is a compiled module without wheels, so it is imported only when a
hand is counted. It writes past its arrays for more than four melds, returns values for tiles that no set has, and
ignores situations that contradict the hand; `broker.rules.mcr.hand` refuses all of these first.

The Green Book has other values for kongs (fan.toml). It also counts *Fully Concealed Hand* for a self-drawn hand of a
kind that is concealed by nature, where the library counts *Self-Drawn* or, beside *Last Tile Draw* and *Out with
Replacement Tile*, nothing. By then the library has chosen the division of the hand that is worth most by *its* values.
Another division might be worth more by the Green Book's, so each difference has been examined:

* Kongs are melds and therefore the same in every division.
* Nine Gates, Seven Shifted Pairs and Thirteen Orphans are recognised before any division, as in the book.
* Four Concealed Pungs: only three consecutive pungs of a suit can be divided otherwise (into chows), and the pungs are
  then worth Pure Shifted Pungs 24 as well, so the library has already chosen them.
* Seven Pairs gain up to 4. In seven pairs that are also four sets and a pair, every tile occurs an even number of
  times, which no sum of different chows does. So either its chows are a, a, b, b or all alike, or pungs make up the
  difference: pungs of n and n + 3 beside two chows, or of n, n + 1 and n + 2 beside one. The last case is all alike
  too, and all alike is Quadruple Chow 48. Of the other cases, Pure Terminal Chows 64 stay ahead, and only All Fives
  comes near the 24 of Seven Pairs and may be overtaken. So where the library counts All Fives with Pure Double Chow,
  both values are compared.

Tests go through all these hands.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from broker.errors import RuleError
from broker.i18n import N_
from broker.protocol import SEATS
from broker.rules.deal import COPIES, KINDS
from broker.rules.mcr.hand import (
    STARTING_TILES,
    McrHand,
    McrMeld,
    McrSituation,
    check_situation,
    check_tiles,
    held_of_each,
    is_seven_pairs,
    is_winning,
    kind_counts,
)
from broker.rules.mcr.referee import Hu, Judge, TableMeld
from broker.rules.profile import McrPaymentRules

Ruleset = Literal["green-book", "1998"]
"""The book: the Green Book of 2006 (international events), or the Chinese text of 1998 as PyMahjongGB counts it."""

RULESETS: Final[tuple[Ruleset, ...]] = get_args(Ruleset)

Language = Literal["en", "fr", "zh"]

LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)

Value = Annotated[int, Meta(ge=1, le=88)]


class Fan(Struct, frozen=True, forbid_unknown_fields=True):
    """One fan; fan.toml explains the fields."""

    fan: Value
    en: str
    fr: str
    zh: str
    fan_1998: Value | None = None
    library: str | None = None


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    fan: dict[str, Fan]
    beside: dict[str, Fan]


@cache
def _file() -> _File:
    text = (files("broker.rules.mcr") / "fan.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=_File)


def fan_81() -> Mapping[str, Fan]:
    """Return the 81 fan by id, in the order of the book."""
    return _file().fan


@cache
def fan_entries() -> Mapping[str, Fan]:
    """Return by id everything that a count can contain: the 81 fan and the entries besides them."""
    return _file().fan | _file().beside


@cache
def ids_by_library_name() -> Mapping[str, str]:
    """Return our id for each English name that PyMahjongGB uses."""
    return {fan.library or fan.en: fan_id for fan_id, fan in fan_entries().items()}


@cache
def fan_index(fan_id: str) -> int:
    """Return a fan's index in the order of the book, from 0."""
    return list(fan_entries()).index(fan_id)


def fan_value(fan_id: str, ruleset: Ruleset) -> int:
    """Return what a fan is worth in a book. Raises RuleError `unknown_ruleset`."""
    if ruleset not in RULESETS:
        raise RuleError("unknown_ruleset", f"no ruleset {ruleset!r}; there are: {', '.join(RULESETS)}")
    fan = fan_entries()[fan_id]
    return fan.fan_1998 if ruleset == "1998" and fan.fan_1998 is not None else fan.fan


def fan_name(fan_id: str, language: Language = "en") -> str:
    """Return the name of a fan in a language."""
    fan = fan_entries()[fan_id]
    return {"en": fan.en, "fr": fan.fr, "zh": fan.zh}[language]


SUITS: Final = {"m": "W", "p": "B", "s": "T"}
HONORS: Final = {"1z": "F1", "2z": "F2", "3z": "F3", "4z": "F4", "5z": "J3", "6z": "J2", "7z": "J1"}
"""East to north, then white, green and red, whose numbers run the other way in the library."""

MELDS: Final = {"chow": "CHI", "pung": "PENG", "kong": "GANG"}

CONCEALED, CLAIMED = 0, 1
"""The library's number for where a meld came from: nobody, or some player. Which player does not change the value."""


@cache
def mahjong_gb() -> Any:  # noqa: ANN401 - the library ships no types
    """Import PyMahjongGB. Raises RuleError `fan_counter_missing`."""
    try:
        import MahjongGB  # noqa: PLC0415 - most commands do not need this module, which has to be compiled
    except ImportError as error:
        raise RuleError("fan_counter_missing", f"PyMahjongGB is not installed here: {error}") from None
    return MahjongGB


def code_from_tile(tile: str) -> str:
    """Return the library's code for a tile."""
    return HONORS.get(tile) or f"{SUITS[tile[1]]}{tile[0]}"


@cache
def tile_from_code(code: str) -> str:
    """Return our name for a tile code of the library's."""
    return next(tile for tile in KINDS if code_from_tile(tile) == code)


def pack_from_meld(meld: McrMeld) -> tuple[str, str, int]:
    """Return a meld in the library's form, in which a chow is named by its middle tile."""
    return MELDS[meld.kind], code_from_tile(sorted(meld.tiles)[1]), CONCEALED if meld.concealed else CLAIMED


def fan_ids(hand: McrHand, situation: McrSituation) -> list[str]:
    """Return the ids of the fan that the library counts, repeated as often as each counts, for its best division.

    The library adds Last Tile by itself where the winner's own melds show the three others. Raises RuleError
    `fan_counter_missing` or `fan_counter_failed`.
    """
    try:
        counted = mahjong_gb().MahjongFanCalculator(
            pack=tuple(pack_from_meld(meld) for meld in hand.melds),
            hand=tuple(code_from_tile(tile) for tile in hand.concealed),
            winTile=code_from_tile(hand.winning_tile),
            flowerCount=0,  # played without flowers (MIL)
            isSelfDrawn=situation.self_drawn,
            is4thTile=situation.last_of_kind,
            isAboutKong=situation.kong,
            isWallLast=situation.last_tile,
            seatWind=SEATS.index(situation.seat_wind),
            prevalentWind=SEATS.index(situation.prevalent_wind),
            verbose=True,
        )
        return [ids_by_library_name()[english] for _, times, _, english in counted for _ in range(times)]
    except (TypeError, KeyError) as error:  # the library's errors, and a fan name of another version
        raise RuleError("fan_counter_failed", f"PyMahjongGB does not count this hand: {error}") from None


CONCEALED_BY_NATURE: Final = frozenset(
    ["seven_pairs", "seven_shifted_pairs", "thirteen_orphans", "nine_gates", "four_concealed_pungs"]
)
OF_THE_DIVISION: Final = frozenset(
    [
        "all_fives",
        "all_chows",
        "pure_double_chow",
        "mixed_double_chow",
        "short_straight",
        "edge_wait",
        "closed_wait",
        "single_wait",
    ]
)
"""Fan that four chows a, a, b, b and a pair, each with a five, can have and that seven pairs do not."""


def by_green_book(fan_ids: Sequence[str], hand: McrHand, situation: McrSituation) -> list[str]:
    """Return the fan that the Green Book counts, given those that the library counts."""
    if not situation.self_drawn:
        return list(fan_ids)
    counts = [_fully_concealed(fan_ids)]
    if {"all_fives", "pure_double_chow"} <= set(fan_ids) and is_seven_pairs(kind_counts(hand.standing)):
        counts.append(_as_seven_pairs(fan_ids))
    return max(counts, key=lambda ids: sum(fan_value(fan_id, "green-book") for fan_id in ids))


def _fully_concealed(fan_ids: Sequence[str]) -> list[str]:
    if CONCEALED_BY_NATURE.isdisjoint(fan_ids):
        return list(fan_ids)
    return [*(fan_id for fan_id in fan_ids if fan_id != "self_drawn"), "fully_concealed_hand"]


def _as_seven_pairs(fan_ids: Sequence[str]) -> list[str]:
    """Recount All Fives as Seven Pairs: drop the division's fan, and restore All Simples, which All Fives implied."""
    kept = [fan_id for fan_id in fan_ids if fan_id not in OF_THE_DIVISION]
    simples = [] if "middle_tiles" in fan_ids else ["all_simples"]
    return ["seven_pairs", *kept, *simples]


@dataclass(frozen=True, slots=True)
class FanElement:
    """One fan of a hand: its id in fan.toml, and its value in the book used for the count."""

    id: str
    fan: int


@dataclass(frozen=True, slots=True)
class FanCount:
    """A hand's value: the sum of its elements, which are in order of value, one for each time a fan counts."""

    fan: int
    elements: tuple[FanElement, ...]


def count_fan(hand: McrHand, situation: McrSituation, ruleset: Ruleset = "green-book") -> FanCount:
    """Count a hand. It may be worth less than a profile's minimum, which `check_minimum` tests.

    Raises RuleError with the codes of `check_situation`, `not_winning`, `unknown_ruleset`, `fan_counter_missing` or
    `fan_counter_failed`.
    """
    check_situation(hand, situation)
    if not is_winning(hand.standing):
        raise RuleError("not_winning", "these tiles are not a winning hand")
    ids = fan_ids(hand, situation)
    if ruleset == "green-book":
        ids = by_green_book(ids, hand, situation)
    elements = [FanElement(fan_id, fan_value(fan_id, ruleset)) for fan_id in ids]
    elements.sort(key=lambda element: (-element.fan, fan_index(element.id)))
    return FanCount(sum(element.fan for element in elements), tuple(elements))


def check_minimum(minimum: int, counted: FanCount) -> None:
    """Raise RuleError `below_minimum` if a hand is not worth enough to win."""
    if counted.fan < minimum:
        raise RuleError(
            "below_minimum", N_("the hand is worth {fan}, under the minimum of {least}", fan=counted.fan, least=minimum)
        )


def count_hu(hu: Hu, ruleset: Ruleset = "green-book") -> FanCount:
    """Count a declared hu, without testing the minimum. Raises as `McrHand`, `McrSituation` and `count_fan` do."""
    hand = McrHand(hu.concealed, hu.winning_tile, tuple(meld_from_table(meld) for meld in hu.melds))
    how = McrSituation(hu.self_drawn, hu.seat_wind, hu.prevalent_wind, hu.last_of_kind, hu.last_tile, hu.kong)
    return count_fan(hand, how, ruleset)


@cache
def meld_from_table(meld: TableMeld) -> McrMeld:
    """Return a meld on the table as one that can be counted."""
    return McrMeld(meld.kind, meld.tiles, concealed=meld.concealed)


def fan_judge(payments: McrPaymentRules) -> Judge:
    """Return a profile's judge, which returns the value of a hu and refuses one under the profile's minimum.

    The judge raises RuleError with the codes of `count_hu`, or `below_minimum`.
    """
    minimum = payments.minimum.value

    def judge(hu: Hu) -> int:
        counted = count_hu(hu)
        check_minimum(minimum, counted)
        return counted.fan

    return judge


FORMS: Final = {
    STARTING_TILES: (
        "RegularShanten",
        "SevenPairsShanten",
        "KnittedStraightShanten",
        "HonorsAndKnittedTilesShanten",
        "ThirteenOrphansShanten",
    ),
    STARTING_TILES - 3: ("RegularShanten", "KnittedStraightShanten"),
}
"""The library's shanten functions by number of concealed tiles; with two melds or more only the regular one."""


def shanten_and_useful(concealed: Sequence[str], melds: Sequence[McrMeld] = ()) -> tuple[int, tuple[str, ...]]:
    """Return the shanten of a hand and the tiles that reduce it, over all the winning shapes to which it is nearest.

    Shanten is the number of tiles still missing until the hand waits: 0 if it waits, and then `mcr_waits` is not empty.
    Tiles of which the hand has all four are left out. `concealed`: the tiles after a discard, 13 and three less for
    each meld. Raises RuleError `unknown_tile`, `wrong_tile_count`, `five_of_a_tile`, `fan_counter_missing` or
    `fan_counter_failed`.
    """
    check_tiles(concealed, melds)
    hand = tuple(code_from_tile(tile) for tile in concealed)
    try:
        results = [getattr(mahjong_gb(), form)(hand=hand) for form in FORMS.get(len(hand), ("RegularShanten",))]
    except TypeError as error:
        raise RuleError("fan_counter_failed", f"PyMahjongGB does not take this hand: {error}") from None
    least = min(missing for missing, _ in results)
    useful = {tile_from_code(code) for missing, codes in results if missing == least for code in codes}
    obtainable = _obtainable(concealed, melds)
    tiles = tuple(tile for tile in obtainable if tile in useful)
    return (least, tiles) if least or mcr_waits(concealed, melds) else (1, obtainable)


def mcr_waits(concealed: Sequence[str], melds: Sequence[McrMeld] = ()) -> tuple[str, ...]:
    """Return the tiles that would complete the hand, without those of which it has all four.

    Arguments as for `shanten_and_useful`. Raises RuleError `unknown_tile`, `wrong_tile_count` or `five_of_a_tile`.
    """
    check_tiles(concealed, melds)
    return tuple(tile for tile in _obtainable(concealed, melds) if is_winning((*concealed, tile)))


def _obtainable(concealed: Sequence[str], melds: Sequence[McrMeld]) -> tuple[str, ...]:
    held = held_of_each(concealed, melds)
    return tuple(tile for tile in KINDS if held[tile] < COPIES)
