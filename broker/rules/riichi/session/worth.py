"""What a win is worth before counters and deposits: a base, and how much of it somebody may be responsible for."""

from dataclasses import dataclass
from typing import Final

from broker.rules.errors import RuleError
from broker.rules.riichi import points
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.session import yakuman
from broker.rules.riichi.session.events import Win
from broker.rules.riichi.session.state import State

FU_MATTER_UNDER: Final = 5
"""Han."""


@dataclass(frozen=True, slots=True)
class Worth:
    """Base points of a hand, and those of the part that pao covers."""

    base: int
    of_pao: int


def worth(state: State, win: Win, rules: RiichiProfile) -> Worth:
    """Give what a win is worth. Raises RuleError where its value is missing or cannot be, or pao is of no yakuman."""
    special = yakuman.special(win.yaku, rules.hand)
    names = yakuman.names(dict.fromkeys((*win.yakuman, *special)))
    number = _number(state, win, names, rules)
    base = _base(win, number, rules)
    if any(yakuman.worth(name, rules.hand) == 0 for name in names):
        base = max(base, points.MANGAN)
    if not base:
        raise RuleError("value_missing", f"player {win.winner}: han and fu are needed, from 5 han on han; or a yakuman")
    return Worth(base, _of_pao(win, names, number, base, rules))


def _base(win: Win, number: int, rules: RiichiProfile) -> int:
    """Give the base that yakuman, or han and fu, make; 0 where too little is said."""
    if not number and (win.han is None or (win.fu is None and win.han < FU_MATTER_UNDER)):
        return 0
    hand = points.Win(win.han or 0, win.fu or 0, dealer=False, self_drawn=False, yakuman=number)
    return points.base_of(hand, rules.points)[0]


def _number(state: State, win: Win, names: tuple[str, ...], rules: RiichiProfile) -> int:
    """Count the yakuman of a win, paarenchan among them."""
    if win.yakuman_count is not None and win.yakuman_count < 0:
        raise RuleError("negative_yakuman", f"{win.yakuman_count} yakuman: none is the least")
    own = yakuman.count(names, rules.hand) if win.yakuman_count is None else win.yakuman_count
    if yakuman.PAARENCHAN in names or not _after_eight(state, win, rules):
        return own
    return 1 if names == (yakuman.COUNTED,) else yakuman.together((own, 1), rules.hand)


def _after_eight(state: State, win: Win, rules: RiichiProfile) -> bool:
    if rules.hand.paarenchan.value == "none":
        return False
    said = win.after_eight_counters
    return state.counters >= yakuman.EIGHT if said is None else said


def _of_pao(win: Win, names: tuple[str, ...], number: int, base: int, rules: RiichiProfile) -> int:
    if win.responsible is None:
        return 0
    played = rules.session.pao.yakuman.value
    fed = [name for name in names if name in played]
    only_counted = not names and bool(win.yakuman_count)  # the number was told without the names
    if not played or not number or not (fed or only_counted):
        raise RuleError("pao_not_asked", f"player {win.responsible} can be responsible for none of this hand's yakuman")
    if rules.session.pao.covers.value == "hand" or not names:
        return base
    return min(base, points.YAKUMAN * yakuman.count(fed, rules.hand))
