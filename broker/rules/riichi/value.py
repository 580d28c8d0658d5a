"""The value of a riichi hand: the one function through which all hands are counted."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from broker.rules.errors import RuleError
from broker.rules.riichi.forms import fits
from broker.rules.riichi.fu import Fu, fu_of
from broker.rules.riichi.hand import Hand, Situation
from broker.rules.riichi.library import counted
from broker.rules.riichi.names import place
from broker.rules.riichi.points import COUNTED, MANGAN, Payments, Win, base_of, payments
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.reading import Reading, SevenPairs, is_thirteen_orphans, readings
from broker.rules.riichi.situation import check
from broker.rules.riichi.special import is_disjoint, is_renhou_mangan, yakuman_of_the_moment

MANGAN_HAN: Final = 5

YAKUMAN: Final = frozenset(
    {"tenhou", "chiihou", "kokushi", "kokushi_thirteen_wait", "suuankou", "suuankou_tanki", "daisangen", "shousuushii"}
    | {"daisuushii", "tsuuiisou", "ryuuiisou", "chinroutou", "chuuren", "junsei_chuuren", "suukantsu", "daisharin"}
)
"""Yakuman by tiles that the library counts, and those of the first turn."""


@dataclass(frozen=True, slots=True)
class Yaku:
    """One yaku (or dora) of a hand: its id in names.toml, its han; how many yakuman, with 13 han for each."""

    id: str
    han: int
    yakuman: int = 0


@dataclass(frozen=True, slots=True)
class Value:
    """What a hand is worth. `fu` is None for hands without sets, where none are counted."""

    yaku: tuple[Yaku, ...]
    fu: Fu | None

    @property
    def han(self) -> int:
        """All han; 13 for each yakuman."""
        return sum(one.han for one in self.yaku)

    @property
    def yakuman(self) -> int:
        """How many yakuman; a counted one is none."""
        return sum(one.yakuman for one in self.yaku)

    def win(self, said: Situation, honba: int = 0, deposits: int = 0) -> Win:
        """Give the win that pays."""
        fu = self.fu.rounded if self.fu else 0
        return Win(self.han, fu, said.dealer, said.self_drawn, self.yakuman, honba, deposits)


def value(hand: Hand, said: Situation, profile: RiichiProfile) -> Value:
    """Count a hand for the reading that is worth most.

    Raises RuleError with the codes of `situation.check`, `not_winning`, `no_yaku` or `yaku_counter_failed`.
    """
    check(hand, said, profile.hand)
    found = readings(hand, self_drawn=said.self_drawn)
    if not found and not is_thirteen_orphans(hand):
        if is_disjoint(hand, said, profile.hand):
            return _of_disjoint(said, profile)
        raise RuleError("not_winning", "these tiles are not a winning hand")
    best = max(_values(hand, said, profile, found), key=lambda one: _worth(one, said, profile))
    if not best.yaku:
        raise RuleError("no_yaku", "the hand is complete and has no yaku, so it cannot win")
    return best


def value_and_payments(
    hand: Hand, said: Situation, profile: RiichiProfile, honba: int = 0, deposits: int = 0
) -> tuple[Value, Payments]:
    """Count a hand, and give what it pays. Raises RuleError with the codes of `value` and `Win`."""
    counted_value = value(hand, said, profile)
    return counted_value, payments(counted_value.win(said, honba, deposits), profile.points)


def _values(
    hand: Hand, said: Situation, profile: RiichiProfile, found: tuple[Reading | SevenPairs, ...]
) -> Iterable[Value]:
    """Give the value of the best reading; of each, where the library would weigh their fu otherwise than we do."""
    by_division = _by_division(found)
    if not (said.rinshan and profile.fu.replacement_tile.value == 0) or len(by_division) == 1:
        yield _value(said, profile, found, counted(hand, said, profile).yaku)
        return
    for same in by_division.values():
        closed = [(one.kind, one.tiles) for one in same[0].sets[len(hand.melds) :]]
        yield _value(said, profile, same, counted(hand, said, profile, closed).yaku)


def _by_division(found: Iterable[Reading | SevenPairs]) -> Mapping[object, tuple[Reading, ...]]:
    """Group readings by their sets: a hand with a kan, which rinshan needs, is never seven pairs."""
    divided: dict[object, tuple[Reading, ...]] = {}
    for one in found:
        if isinstance(one, Reading):
            key = (one.pair, *((group.kind, group.tile) for group in one.sets))
            divided[key] = (*divided.get(key, ()), one)
    return divided


def _value(
    said: Situation, profile: RiichiProfile, found: Iterable[Reading | SevenPairs], yaku: Mapping[str, int]
) -> Value:
    fu = _fu(said, profile, found, yaku)
    yakuman = [*(one for one in yaku if one in YAKUMAN), *yakuman_of_the_moment(said, profile.hand, yaku)]
    if yakuman:
        return Value(_yakuman(yakuman, profile), fu)
    plain = Value(_ordered(Yaku(one, han) for one, han in yaku.items()), fu)
    if is_renhou_mangan(said, profile.hand) and _worth(plain, said, profile)[0] < MANGAN:
        return Value((Yaku("renhou", MANGAN_HAN),), fu)
    return plain


def _fu(
    said: Situation, profile: RiichiProfile, found: Iterable[Reading | SevenPairs], yaku: Mapping[str, int]
) -> Fu | None:
    """Count the fu of the reading that has these yaku, of several the most."""
    same = [one for one in found if fits(one, yaku, said)] or found
    return max((fu_of(one, said, profile.fu) for one in same), key=lambda fu: fu.sum, default=None)


def _yakuman(ids: Iterable[str], profile: RiichiProfile) -> tuple[Yaku, ...]:
    times = {one: 2 if one in profile.hand.double_yakuman.value else 1 for one in ids}
    found = _ordered(Yaku(one, COUNTED * many, many) for one, many in times.items())
    if profile.hand.several_yakuman.value == "highest":
        return (max(found, key=lambda one: one.yakuman),)
    return found


def _ordered(yaku: Iterable[Yaku]) -> tuple[Yaku, ...]:
    return tuple(sorted(yaku, key=lambda one: place(one.id)))


def _worth(one: Value, said: Situation, profile: RiichiProfile) -> tuple[int, int, int]:
    """Give what readings are compared by: the base of the payments, then han, then fu."""
    base = base_of(one.win(said), profile.points)[0] if one.yaku else 0
    return base, one.han, one.fu.sum if one.fu else 0


def _of_disjoint(said: Situation, profile: RiichiProfile) -> Value:
    """Count the disjoint hand: no sets, so neither tenhou nor chiihou, but a win after eight counters as any other."""
    yakuman = ["shiisanputa"] if profile.hand.shiisanputa.value == "yakuman" else []
    if said.after_eight_counters and profile.hand.paarenchan.value != "none":
        yakuman.append("paarenchan")
    return Value(_yakuman(yakuman, profile) if yakuman else (Yaku("shiisanputa", MANGAN_HAN),), None)
