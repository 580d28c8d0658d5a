"""The `mahjong` library, asked for the yaku of hands that can be, and that win.

First turns, paarenchan, the disjoint hand and fu are counted by us: the library adds renhou to other yaku, does not
know the disjoint hand, and has fu for every replacement tile.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mahjong.hand_calculating.hand import HandCalculator
from mahjong.hand_calculating.hand_config import HandConfig, OptionalRules
from mahjong.meld import Meld as LibraryMeld

from broker.rules.errors import RuleError
from broker.rules.riichi.fu import WIND_TILES
from broker.rules.riichi.hand import Hand, Situation, plain
from broker.rules.riichi.names import ids_by_number
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.tiles import KINDS, RED

COPIES: Final = 4
INDEX: Final[Mapping[str, int]] = {kind: index for index, kind in enumerate(KINDS)}
MELDS: Final[Mapping[str, str]] = {"chii": LibraryMeld.CHI, "pon": LibraryMeld.PON, "kan": LibraryMeld.KAN}


@dataclass(frozen=True, slots=True)
class Laid:
    """A set as the library is told of it."""

    kind: str
    tiles: tuple[str, ...]
    open: bool


@dataclass(frozen=True, slots=True)
class Counted:
    """What the library counts: han by yaku, and its own fu."""

    yaku: Mapping[str, int]
    fu: int


def counted(
    hand: Hand, said: Situation, profile: RiichiProfile, closed_sets: Sequence[tuple[str, tuple[str, ...]]] = ()
) -> Counted:
    """Ask for the most valuable reading; with `closed_sets` (kind and tiles) for that one reading.

    A hand that wins without any yaku has none here. Raises RuleError `yaku_counter_failed`.
    """
    sets = [Laid(meld.kind, meld.tiles, meld.open) for meld in hand.melds]
    sets += [Laid(kind, tiles, open=False) for kind, tiles in closed_sets]
    numbers = _numbers([tile for laid in sets for tile in laid.tiles], hand, red=profile.hand.red_fives.value)
    answer = HandCalculator.estimate_hand_value(
        numbers.all,
        numbers.winning,
        [_meld(laid, tiles) for laid, tiles in zip(sets, numbers.by_set(sets), strict=True)],
        [_number(tile) for tile in plain(said.dora_indicators)],
        _config(hand, said, profile),
        ura_dora_indicators=[_number(tile) for tile in plain(said.ura_indicators)],
    )
    if answer.error == HandCalculator.ERR_NO_YAKU:
        return Counted({}, 0)
    if answer.error or answer.yaku is None:
        raise RuleError("yaku_counter_failed", f"the library does not count this hand: {answer.error}")
    return Counted(
        {
            ids_by_number("library")[yaku.yaku_id]: (hand.open and yaku.han_open) or yaku.han_closed
            for yaku in answer.yaku
        },
        answer.fu or 0,
    )


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The library's number of each tile, 0 to 135, those of the sets first; and of the winning tile or one alike."""

    all: tuple[int, ...]
    winning: int

    def by_set(self, sets: Iterable[Laid]) -> list[tuple[int, ...]]:
        """Give the numbers of each set."""
        parts, at = [], 0
        for laid in sets:
            parts.append(self.all[at : at + len(laid.tiles)])
            at += len(laid.tiles)
        return parts


def _numbers(in_sets: list[str], hand: Hand, *, red: bool) -> _Numbers:
    """Number the tiles; where red fives count, the first five of each suit is the red one."""
    left = list(hand.all_tiles)
    first = [_taken(left, tile) for tile in in_sets]
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


def _taken(left: list[str], tile: str) -> str:
    """Take a tile out of those that are left, or the red one of its face where no other is there."""
    found = tile if tile in left else next(red for red, face in RED.items() if face == tile)
    left.remove(found)
    return found


def _number(tile: str) -> int:
    return INDEX[tile] * COPIES


def _meld(laid: Laid, numbers: tuple[int, ...]) -> LibraryMeld:
    return LibraryMeld(MELDS[laid.kind], sorted(numbers), opened=laid.open)


def _config(hand: Hand, said: Situation, profile: RiichiProfile) -> HandConfig:
    seat, prevalent = WIND_TILES[said.seat_wind], WIND_TILES[said.round_wind]
    # The library gives 4 fu for a pair of the double wind. A pair gives no yaku, so one of the winds may be left out.
    once = seat == prevalent and profile.fu.double_wind_pair.value == 2 and hand.standing.count(seat) == 2  # noqa: PLR2004 - a pair
    return HandConfig(
        is_tsumo=said.self_drawn,
        is_riichi=said.riichi == 1,
        is_daburu_riichi=said.riichi == 2,  # noqa: PLR2004 - double
        is_open_riichi=said.open_riichi,
        is_ippatsu=said.ippatsu,
        is_rinshan=said.rinshan,
        is_chankan=said.chankan,
        is_haitei=said.haitei,
        is_houtei=said.houtei,
        player_wind=INDEX[seat],
        round_wind=None if once else INDEX[prevalent],
        options=_options(profile),
    )


def _options(profile: RiichiProfile) -> OptionalRules:
    counted_yakuman = profile.points.counted_yakuman.value
    return OptionalRules(
        has_open_tanyao=profile.hand.open_tanyao.value,
        has_aka_dora=profile.hand.red_fives.value,
        has_double_yakuman=True,  # we count which are double
        kazoe_limit=HandConfig.KAZOE_LIMITED if counted_yakuman == "yakuman" else HandConfig.KAZOE_SANBAIMAN,
        kiriage=profile.points.kiriage.value,
        fu_for_open_pinfu=profile.fu.open_pinfu.value == 30,  # noqa: PLR2004 - as the setting says
        has_daisharin=profile.hand.daisharin.value != "none",
        has_daisharin_other_suits=profile.hand.daisharin.value == "any_suit",
    )
