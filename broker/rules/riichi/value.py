"""The value of a riichi hand: the one function through which all hands are counted.

The `mahjong` library counts the yaku of possible, winning hands. We count first turns, paarenchan, the disjoint hand
and fu ourselves, since the library adds renhou to other yaku, does not know the disjoint hand, and gives fu for every
replacement tile.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from mahjong.hand_calculating.hand import HandCalculator
from mahjong.hand_calculating.hand_config import HandConfig, OptionalRules
from mahjong.meld import Meld as LibraryMeld

from broker.errors import RuleError
from broker.rules.deal import COPIES, RED
from broker.rules.mcr import SUITED, is_thirteen_orphans, kind_counts
from broker.rules.riichi.fu import (
    WIND_TILES,
    AnyReading,
    Fu,
    HandReading,
    fu_of,
    hand_readings,
    has_yaku,
)
from broker.rules.riichi.hand import RiichiHand, RiichiSituation, check_riichi_situation, without_red
from broker.rules.riichi.names import ids_by_number, yaku_index
from broker.rules.riichi.points import COUNTED, MANGAN, PaidWin, RiichiPayments, base_of, riichi_payments
from broker.rules.riichi.profile import HandRules, RiichiProfile
from broker.rules.riichi.waits import INDEX

MELDS: Final[Mapping[str, str]] = {"chii": LibraryMeld.CHI, "pon": LibraryMeld.PON, "kan": LibraryMeld.KAN}


@dataclass(frozen=True, slots=True)
class _LibrarySet:
    """A set in the form that is passed to the library."""

    kind: str
    tiles: tuple[str, ...]
    open: bool


@dataclass(frozen=True, slots=True)
class LibraryCount:
    """The library's count: han by yaku, and its own fu."""

    yaku: Mapping[str, int]
    fu: int


def count_by_library(
    hand: RiichiHand,
    situation: RiichiSituation,
    profile: RiichiProfile,
    closed_sets: Sequence[tuple[str, tuple[str, ...]]] = (),
) -> LibraryCount:
    """Let the library count the most valuable reading, or with `closed_sets` (kind and tiles) that one reading.

    A hand that wins without any yaku gets none here. Raises RuleError `yaku_counter_failed`.
    """
    sets = [_LibrarySet(meld.kind, meld.tiles, meld.open) for meld in hand.melds]
    sets += [_LibrarySet(kind, tiles, open=False) for kind, tiles in closed_sets]
    numbers = _numbers([tile for laid in sets for tile in laid.tiles], hand, red=profile.hand.red_fives.value)
    answer = HandCalculator.estimate_hand_value(
        numbers.all,
        numbers.winning,
        [_meld(laid, tiles) for laid, tiles in zip(sets, numbers.by_set(sets), strict=True)],
        [_number(tile) for tile in without_red(situation.dora_indicators)],
        _config(hand, situation, profile),
        ura_dora_indicators=[_number(tile) for tile in without_red(situation.ura_indicators)],
    )
    if answer.error == HandCalculator.ERR_NO_YAKU:
        return LibraryCount({}, 0)
    if answer.error or answer.yaku is None:
        raise RuleError("yaku_counter_failed", f"the library does not count this hand: {answer.error}")
    return LibraryCount(
        {
            ids_by_number("library")[yaku.yaku_id]: (hand.open and yaku.han_open) or yaku.han_closed
            for yaku in answer.yaku
        },
        answer.fu or 0,
    )


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The library's numbers of all tiles, 0 to 135, those of the sets first; and of the winning tile or one like it."""

    all: tuple[int, ...]
    winning: int

    def by_set(self, sets: Iterable[_LibrarySet]) -> list[tuple[int, ...]]:
        """Return the numbers of each set."""
        parts, at = [], 0
        for laid in sets:
            parts.append(self.all[at : at + len(laid.tiles)])
            at += len(laid.tiles)
        return parts


def _numbers(in_sets: list[str], hand: RiichiHand, *, red: bool) -> _Numbers:
    """Number the tiles. Where red fives count, the first five of each suit is the red one."""
    left = list(hand.all_tiles)
    first = [_take(left, tile) for tile in in_sets]
    used: dict[str, int] = {}
    numbers = []
    for tile in (*first, *left):
        face = RED.get(tile, tile)
        if red and tile in RED:
            numbers.append(_number(face))
            continue
        copy = used.get(face, int(red and face in RED.values()))
        used[face] = copy + 1
        numbers.append(_number(face) + copy)
    won = _number(RED.get(hand.winning_tile, hand.winning_tile)) // COPIES
    return _Numbers(tuple(numbers), next(number for number in numbers if number // COPIES == won))


def _take(left: list[str], tile: str) -> str:
    """Remove a tile from those left, or the red five of its face if there is no other, and return it."""
    found = tile if tile in left else next(red for red, face in RED.items() if face == tile)
    left.remove(found)
    return found


def _number(tile: str) -> int:
    return INDEX[tile] * COPIES


def _meld(laid: _LibrarySet, numbers: tuple[int, ...]) -> LibraryMeld:
    return LibraryMeld(MELDS[laid.kind], sorted(numbers), opened=laid.open)


def _config(hand: RiichiHand, situation: RiichiSituation, profile: RiichiProfile) -> HandConfig:
    seat, prevalent = WIND_TILES[situation.seat_wind], WIND_TILES[situation.round_wind]
    # The library gives 4 fu for a pair of the double wind. A pair gives no yaku, so one of the winds may be left out.
    once = seat == prevalent and profile.fu.double_wind_pair.value == 2 and hand.standing.count(seat) == 2  # noqa: PLR2004 - a pair
    return HandConfig(
        is_tsumo=situation.self_drawn,
        is_riichi=situation.riichi == 1,
        is_daburu_riichi=situation.riichi == 2,  # noqa: PLR2004 - double
        is_open_riichi=situation.open_riichi,
        is_ippatsu=situation.ippatsu,
        is_rinshan=situation.rinshan,
        is_chankan=situation.chankan,
        is_haitei=situation.haitei,
        is_houtei=situation.houtei,
        player_wind=INDEX[seat],
        round_wind=None if once else INDEX[prevalent],
        options=_options(profile),
    )


def _options(profile: RiichiProfile) -> OptionalRules:
    counted_yakuman = profile.points.counted_yakuman.value
    return OptionalRules(
        has_open_tanyao=profile.hand.open_tanyao.value,
        has_aka_dora=profile.hand.red_fives.value,
        has_double_yakuman=True,  # which ones are double is decided here
        kazoe_limit=HandConfig.KAZOE_LIMITED if counted_yakuman == "yakuman" else HandConfig.KAZOE_SANBAIMAN,
        kiriage=profile.points.kiriage.value,
        fu_for_open_pinfu=profile.fu.open_pinfu.value == 30,  # noqa: PLR2004 - as the setting says
        has_daisharin=profile.hand.daisharin.value != "none",
        has_daisharin_other_suits=profile.hand.daisharin.value == "any_suit",
    )


DISJOINT_KINDS: Final = 13
"""The number of kinds in the disjoint hand, one of which occurs twice."""

CHII_SPAN: Final = 2
"""The greatest distance between two tiles of a suit that can be in one chii."""


def is_disjoint(hand: RiichiHand, situation: RiichiSituation, rules: HandRules) -> bool:
    """Return whether the first 14 tiles are a pair and twelve singles, no two of which fit together (shiisanputa)."""
    if rules.shiisanputa.value == "none" or not (situation.first_turn and situation.self_drawn):
        return False
    counts = kind_counts(hand.standing)
    kinds = [index for index, number in enumerate(counts) if number]
    suited = [index for index in kinds if index < SUITED]
    connected = any(high - low <= CHII_SPAN and high // 9 == low // 9 for low, high in pairwise(suited))
    return len(kinds) == DISJOINT_KINDS and not connected


def yakuman_by_timing(situation: RiichiSituation, rules: HandRules, yaku: Collection[str]) -> Iterator[str]:
    """Yield the yakuman that a win has by its timing, whatever its tiles."""
    if situation.first_turn and situation.self_drawn:
        yield "tenhou" if situation.dealer else "chiihou"
    elif situation.first_turn and rules.renhou.value == "yakuman":
        yield "renhou"
    if situation.after_eight_counters and _is_paarenchan(situation, rules, yaku):
        yield "paarenchan"


def _is_paarenchan(situation: RiichiSituation, rules: HandRules, yaku: Collection[str]) -> bool:
    if rules.paarenchan.value == "with_yaku":
        by_timing = situation.first_turn and (situation.self_drawn or rules.renhou.value != "none")
        return bool(yaku) or by_timing
    return rules.paarenchan.value == "any_hand"


MANGAN_HAN: Final = 5

YAKUMAN: Final = frozenset(
    {"tenhou", "chiihou", "kokushi", "kokushi_thirteen_wait", "suuankou", "suuankou_tanki", "daisangen", "shousuushii"}
    | {"daisuushii", "tsuuiisou", "ryuuiisou", "chinroutou", "chuuren", "junsei_chuuren", "suukantsu", "daisharin"}
)
"""Yakuman by tiles that the library counts, and those of the first turn."""


@dataclass(frozen=True, slots=True)
class Yaku:
    """One yaku (or dora) of a hand: its id in names.toml, its han, and how many yakuman it is, at 13 han each."""

    id: str
    han: int
    yakuman: int = 0


@dataclass(frozen=True, slots=True)
class RiichiHandValue:
    """What a hand is worth. `fu` is None for hands without sets, which have no fu."""

    yaku: tuple[Yaku, ...]
    fu: Fu | None

    @property
    def han(self) -> int:
        """The sum of all han; 13 for each yakuman."""
        return sum(one.han for one in self.yaku)

    @property
    def yakuman(self) -> int:
        """The number of yakuman, without counted ones."""
        return sum(one.yakuman for one in self.yaku)

    @property
    def rounded_fu(self) -> int:
        """The fu used for payments; 0 if there are none."""
        return self.fu.rounded if self.fu else 0

    def win(self, situation: RiichiSituation, honba: int = 0, deposits: int = 0) -> PaidWin:
        """Return the win to be paid."""
        return PaidWin(self.han, self.rounded_fu, situation.dealer, situation.self_drawn, self.yakuman, honba, deposits)


def riichi_value(hand: RiichiHand, situation: RiichiSituation, profile: RiichiProfile) -> RiichiHandValue:
    """Count a hand by the reading that is worth most.

    Raises RuleError with the codes of `check_riichi_situation`, `not_winning`, `no_yaku` or `yaku_counter_failed`.
    """
    check_riichi_situation(hand, situation, profile.hand)
    found = hand_readings(hand, self_drawn=situation.self_drawn)
    if not found and not is_thirteen_orphans(kind_counts(hand.standing)):
        if is_disjoint(hand, situation, profile.hand):
            return _disjoint_value(situation, profile)
        raise RuleError("not_winning", "these tiles are not a winning hand")
    best = max(_values(hand, situation, profile, found), key=lambda one: _worth(one, situation, profile))
    if not best.yaku:
        raise RuleError("no_yaku", "the hand is complete and has no yaku, so it cannot win")
    return best


def value_and_payments(
    hand: RiichiHand, situation: RiichiSituation, profile: RiichiProfile, honba: int = 0, deposits: int = 0
) -> tuple[RiichiHandValue, RiichiPayments]:
    """Return a hand's value and its payments. Raises RuleError with the codes of `riichi_value` and `PaidWin`."""
    counted_value = riichi_value(hand, situation, profile)
    return counted_value, riichi_payments(counted_value.win(situation, honba, deposits), profile.points)


def _values(
    hand: RiichiHand, situation: RiichiSituation, profile: RiichiProfile, found: tuple[AnyReading, ...]
) -> Iterable[RiichiHandValue]:
    """Yield the value of the best reading, or of each division if the library's fu could make it prefer another one."""
    by_division = _by_division(found)
    if not (situation.rinshan and profile.fu.replacement_tile.value == 0) or len(by_division) == 1:
        yield _value(situation, profile, found, count_by_library(hand, situation, profile).yaku)
        return
    for same in by_division.values():
        closed = [(one.kind, one.tiles) for one in same[0].sets[len(hand.melds) :]]
        yield _value(situation, profile, same, count_by_library(hand, situation, profile, closed).yaku)


def _by_division(found: Iterable[AnyReading]) -> Mapping[object, tuple[HandReading, ...]]:
    """Group readings by their sets. A hand with a kan, which rinshan requires, is never seven pairs."""
    divided: dict[object, tuple[HandReading, ...]] = {}
    for one in found:
        if isinstance(one, HandReading):
            key = (one.pair, *((group.kind, group.tile) for group in one.sets))
            divided[key] = (*divided.get(key, ()), one)
    return divided


def _value(
    situation: RiichiSituation, profile: RiichiProfile, found: Iterable[AnyReading], yaku: Mapping[str, int]
) -> RiichiHandValue:
    fu = _fu(situation, profile, found, yaku)
    yakuman = [*(one for one in yaku if one in YAKUMAN), *yakuman_by_timing(situation, profile.hand, yaku)]
    if yakuman:
        return RiichiHandValue(_yakuman(yakuman, profile), fu)
    plain = RiichiHandValue(_ordered(Yaku(one, han) for one, han in yaku.items()), fu)
    renhou = situation.first_turn and not situation.self_drawn and profile.hand.renhou.value == "mangan"
    if renhou and _worth(plain, situation, profile)[0] < MANGAN:
        return RiichiHandValue((Yaku("renhou", MANGAN_HAN),), fu)
    return plain


def _fu(
    situation: RiichiSituation, profile: RiichiProfile, found: Iterable[AnyReading], yaku: Mapping[str, int]
) -> Fu | None:
    """Return the highest fu among the readings that have these yaku."""
    same = [one for one in found if has_yaku(one, yaku, situation)] or found
    return max((fu_of(one, situation, profile.fu) for one in same), key=lambda fu: fu.sum, default=None)


def _yakuman(ids: Iterable[str], profile: RiichiProfile) -> tuple[Yaku, ...]:
    times = {one: 2 if one in profile.hand.double_yakuman.value else 1 for one in ids}
    found = _ordered(Yaku(one, COUNTED * many, many) for one, many in times.items())
    if profile.hand.several_yakuman.value == "highest":
        return (max(found, key=lambda one: one.yakuman),)
    return found


def _ordered(yaku: Iterable[Yaku]) -> tuple[Yaku, ...]:
    return tuple(sorted(yaku, key=lambda one: yaku_index(one.id)))


def _worth(one: RiichiHandValue, situation: RiichiSituation, profile: RiichiProfile) -> tuple[int, int, int]:
    """Return the key by which readings are compared: the base of the payments, then han, then fu."""
    base = base_of(one.win(situation), profile.points)[0] if one.yaku else 0
    return base, one.han, one.fu.sum if one.fu else 0


def _disjoint_value(situation: RiichiSituation, profile: RiichiProfile) -> RiichiHandValue:
    """Count the disjoint hand. It has no sets, so neither tenhou nor chiihou, but counts paarenchan as any other."""
    yakuman = ["shiisanputa"] if profile.hand.shiisanputa.value == "yakuman" else []
    if situation.after_eight_counters and profile.hand.paarenchan.value != "none":
        yakuman.append("paarenchan")
    return RiichiHandValue(_yakuman(yakuman, profile) if yakuman else (Yaku("shiisanputa", MANGAN_HAN),), None)
