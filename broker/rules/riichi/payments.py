"""The payments of a hand in a session (MONTREAL, RIICHI-POINTS).

Covers shares, counters, responsibility, deposits, tenpai, nagashi and faults. A win is worth base points, for part of
which another player may be responsible. Yakuman are recognised by their names, in the spellings that people use.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from broker.errors import RuleError
from broker.i18n import N_
from broker.rules.riichi import points
from broker.rules.riichi.events import (
    NO_POINTS,
    PLAYERS,
    Chombo,
    ExhaustiveDraw,
    PlayerNo,
    PlayerPoints,
    Ron,
    SessionState,
    SessionWin,
    Tsumo,
    add_points,
    pay_one,
    player_points,
)
from broker.rules.riichi.profile import HandRules, RiichiProfile, SessionRules

PAARENCHAN: Final = "paarenchan"

KAZOE: Final = "kazoe"

OF_OWN_VALUE: Final = ("renhou", "shiisanputa")
"""Yaku that are a yakuman in some clubs and a mangan in others."""

EIGHT: Final = 8
"""The number of counters after which a win is paarenchan, as its name says."""

SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "tenhou": ("tenho",),
    "chiihou": ("chiho", "chiiho", "chihou"),
    "renhou": ("renho",),
    "kokushi": ("kokushimusou", "kokushimuso"),
    "kokushi_thirteen_wait": ("kokushimusou13", "kokushi13", "kokushimusoujuusanmen", "daburukokushimusou"),
    "ryuuiisou": ("ryuiisou", "ryuuiiso"),
    "daisharin": (),
    "shiisanputa": (),
    "daisangen": (),
    "daisuushii": ("daisuushi", "daisushi", "daisuushiii"),
    "shousuushii": ("shousuushi", "shosushi"),
    "tsuuiisou": ("tsuiisou", "tsuuiso"),
    "chinroutou": ("chinroto",),
    "chuuren": ("chuurenpoutou", "chuurenpouto", "churenpoto"),
    "junsei_chuuren": ("junseichuurenpoutou", "daburuchuurenpoutou", "chuurenpoutou9"),
    "suuankou": ("suanko", "suuanko"),
    "suuankou_tanki": ("suuankoutankimachi", "suankotanki"),
    "suukantsu": ("sukantsu",),
    PAARENCHAN: ("parenchan",),
    KAZOE: ("kazoeyakuman", "kazoyakuman"),
}
"""Our name of each yakuman, and its other spellings. Spaces, hyphens and case do not matter."""


def _normal(written: str) -> str:
    return re.sub(r"[^a-z0-9]", "", written.lower())


NAMES: Final[Mapping[str, str]] = {
    _normal(spelling): name for name, spellings in SPELLINGS.items() for spelling in (name, *spellings)
}


def special_yaku(yaku: Iterable[str], rules: HandRules) -> tuple[str, ...]:
    """Return those of a hand's yaku that have a value of their own under these rules."""
    found = (NAMES.get(_normal(written)) for written in yaku)
    return tuple(name for name in found if name in OF_OWN_VALUE and _setting(name, rules) != "none")


def yakuman_names(written: Iterable[str]) -> tuple[str, ...]:
    """Return our names of yakuman. Raises RuleError `unknown_yakuman` or `yakuman_named_twice`."""
    found = tuple(map(_yakuman_name, written))
    if len({*found}) < len(found):
        raise RuleError("yakuman_named_twice", f"a yakuman is named twice in {', '.join(found)}")
    return found


def yakuman_worth(name: str, rules: HandRules) -> int:
    """Return the count of one yakuman by its name: 1, 2 if it is doubled, or 0 if it is worth a mangan.

    Raises RuleError `yakuman_not_played`.
    """
    setting = _setting(name, rules)
    if setting == "none":
        raise RuleError("yakuman_not_played", f"{name} is not played under these rules")
    if setting == "mangan":
        return 0
    return 2 if name in rules.double_yakuman.value else 1


def count_yakuman(found: Iterable[str], rules: HandRules) -> int:
    """Count all yakuman of a hand. A counted yakuman is a last resort and adds nothing to others (MONTREAL)."""
    each = {name: yakuman_worth(name, rules) for name in found}
    own = [number for name, number in each.items() if name != KAZOE and number]
    return add_yakuman(own, rules) if own else each.get(KAZOE, 0)


def add_yakuman(numbers: Iterable[int], rules: HandRules) -> int:
    """Combine the yakuman counts that one hand has for several reasons."""
    return sum(numbers) if rules.several_yakuman.value == "added" else max(numbers, default=0)


def _yakuman_name(written: str) -> str:
    found = NAMES.get(_normal(written))
    if found is None:
        raise RuleError("unknown_yakuman", f"no yakuman is called {written[:40]!r}")
    return found


def _setting(name: str, rules: HandRules) -> str:
    special = {
        "renhou": rules.renhou.value,
        "shiisanputa": rules.shiisanputa.value,
        "daisharin": rules.daisharin.value,
        PAARENCHAN: rules.paarenchan.value,
    }
    return special.get(name, "yakuman")


FU_MATTER_UNDER: Final = 5
"""The han from which fu no longer matter."""


@dataclass(frozen=True, slots=True)
class WinWorth:
    """The base points of a hand, and of the part that pao covers."""

    base: int
    of_pao: int


def win_worth(state: SessionState, win: SessionWin, rules: RiichiProfile, *, self_drawn: bool) -> WinWorth:
    """Return what a win is worth.

    Raises RuleError if its value is missing or impossible, or if pao is claimed for no yakuman.
    """
    special = special_yaku(win.yaku, rules.hand)
    names = yakuman_names(dict.fromkeys((*win.yakuman, *special)))
    number = _yakuman_count(state, win, names, rules)
    base = _base(win, number, rules, self_drawn=self_drawn)
    if any(yakuman_worth(name, rules.hand) == 0 for name in names):
        base = max(base, points.MANGAN)
    if not base:
        raise RuleError(
            "value_missing",
            N_("player {player}: give han and fu, or from 5 han only han, or a yakuman", player=win.winner),
        )
    return WinWorth(base, _pao_base(win, names, number, base, rules))


def _base(win: SessionWin, number: int, rules: RiichiProfile, *, self_drawn: bool) -> int:
    """Return the base points from the yakuman, or from han and fu; 0 if neither is given completely."""
    if not number and (win.han is None or (win.fu is None and win.han < FU_MATTER_UNDER)):
        return 0
    hand = points.PaidWin(win.han or 0, win.fu or 0, dealer=False, self_drawn=self_drawn, yakuman=number)
    points.refuse_impossible_win(hand, rules.fu)
    return points.base_of(hand, rules.points)[0]


def _yakuman_count(state: SessionState, win: SessionWin, names: tuple[str, ...], rules: RiichiProfile) -> int:
    """Count the yakuman of a win, including paarenchan."""
    if win.yakuman_count is not None and win.yakuman_count < 0:
        raise RuleError("negative_yakuman", N_("the number of yakuman cannot be {count}", count=win.yakuman_count))
    own = count_yakuman(names, rules.hand) if win.yakuman_count is None else win.yakuman_count
    if PAARENCHAN in names or not _after_eight(state, win, rules):
        return own
    return 1 if names == (KAZOE,) else add_yakuman((own, 1), rules.hand)


def _after_eight(state: SessionState, win: SessionWin, rules: RiichiProfile) -> bool:
    if rules.hand.paarenchan.value == "none":
        return False
    recorded = win.after_eight_counters
    return state.counters >= EIGHT if recorded is None else recorded


def _pao_base(win: SessionWin, names: tuple[str, ...], number: int, base: int, rules: RiichiProfile) -> int:
    if win.responsible is None:
        return 0
    played = rules.session.pao.yakuman.value
    fed = [name for name in names if name in played]
    only_counted = not names and bool(win.yakuman_count)  # the number was given without the names
    if not played or not number or not (fed or only_counted):
        raise RuleError(
            "pao_not_asked",
            N_("player {player} can be responsible for none of this hand’s yakuman", player=win.responsible),
        )
    if rules.session.pao.covers.value == "hand" or not names:
        return base
    return min(base, points.YAKUMAN * count_yakuman(fed, rules.hand))


def wins_that_count(state: SessionState, ron: Ron, rules: RiichiProfile) -> tuple[SessionWin, ...]:
    """Return the wins that count, in turn order after the loser; none if the hand is aborted."""
    in_turn = tuple(sorted(ron.wins, key=lambda win: (win.winner - ron.loser) % len(PLAYERS)))
    for win in in_turn:  # an impossible win is refused even if another one takes precedence
        win_worth(state, win, rules, self_drawn=False)
    several = rules.session.ron.several.value
    if several == "nearest":
        return in_turn[:1]
    return () if several == "triple_aborts" and len(in_turn) > len(PLAYERS) - 2 else in_turn


def ron_payment(
    state: SessionState, loser: PlayerNo, win: SessionWin, counters: int, rules: RiichiProfile
) -> PlayerPoints:
    """Return the payments for one win on a discard, with these counters. A responsible player pays half (MONTREAL)."""
    value, times = win_worth(state, win, rules, self_drawn=False), 6 if win.winner == state.dealer else 4
    more = counters * rules.points.counter.value
    fed = points.share(value.of_pao, times) // 2  # half of a yakuman is a multiple of 1000 too
    owed = {loser: points.share(value.base, times) - fed}
    responsible = loser if win.responsible is None else win.responsible
    owed[responsible] = owed.get(responsible, 0) + fed
    owed[responsible if rules.session.pao.counters.value == "responsible" else loser] += more
    return pay_one(owed, win.winner)


def tsumo_payment(state: SessionState, tsumo: Tsumo, rules: RiichiProfile) -> PlayerPoints:
    """Return the payments for a win on a drawn tile. Whoever is responsible (yakuman, live kan) pays for the others."""
    win, value = tsumo.win, win_worth(state, tsumo.win, rules, self_drawn=True)
    more = state.counters * rules.points.counter.value // 3
    if win.responsible is not None:
        return _pao_shares(state, win, win.responsible, value, more)
    if tsumo.kan_from is not None and rules.session.pao.live_kan.value:
        return _all_by(tsumo.kan_from, state, win.winner, value.base, more)
    return _tsumo_shares(state, win.winner, value.base, more)


def _pao_shares(
    state: SessionState, win: SessionWin, responsible: PlayerNo, value: WinWorth, more: int
) -> PlayerPoints:
    covered = _all_by(responsible, state, win.winner, value.of_pao, more)
    left = value.base - value.of_pao
    return add_points(covered, _tsumo_shares(state, win.winner, left, 0)) if left else covered


def _tsumo_shares(state: SessionState, winner: PlayerNo, base: int, more: int) -> PlayerPoints:
    dealer_wins = winner == state.dealer
    owed = {player: points.share(base, 2 if dealer_wins or player == state.dealer else 1) + more for player in PLAYERS}
    return pay_one(owed, winner)


def _all_by(responsible: PlayerNo, state: SessionState, winner: PlayerNo, base: int, more: int) -> PlayerPoints:
    return pay_one({responsible: _tsumo_shares(state, winner, base, more)[winner]}, winner)


def deposits_to(winner: PlayerNo, deposits: int, rules: RiichiProfile) -> PlayerPoints:
    """Return the points that a player gets for deposits taken from the table."""
    return player_points(deposits * rules.points.deposit.value if player == winner else 0 for player in PLAYERS)


def deposits_laid(players: tuple[PlayerNo, ...], rules: RiichiProfile, times: int = 1) -> PlayerPoints:
    """Return the points of deposits that players lay on the table."""
    return add_points(NO_POINTS, *(_negated(deposits_to(player, times, rules)) for player in players))


def _negated(points: PlayerPoints) -> PlayerPoints:
    return player_points(-each for each in points)


def draw_payment(dealer: PlayerNo, draw: ExhaustiveDraw, rules: SessionRules) -> PlayerPoints:
    """Return the payments of an exhaustive draw. Nagashi replaces tenpai payments, without counters or deposits."""
    if draw.nagashi and rules.draw.nagashi.value:
        return add_points(*(mangan_tsumo(player, dealer) for player in draw.nagashi))
    return _tenpai(draw.tenpai, rules.draw.tenpai.value)


def _tenpai(tenpai: tuple[PlayerNo, ...], pot: int) -> PlayerPoints:
    noten = len(PLAYERS) - len(tenpai)
    if not tenpai or not noten:
        return NO_POINTS
    return player_points(pot // len(tenpai) if player in tenpai else -pot // noten for player in PLAYERS)


def mangan_tsumo(winner: PlayerNo, dealer: PlayerNo) -> PlayerPoints:
    """Return the payments for a self-drawn mangan."""
    owed = {player: points.share(points.MANGAN, 2 if dealer in (player, winner) else 1) for player in PLAYERS}
    return pay_one(owed, winner)


def chombo_payment(dealer: PlayerNo, chombo: Chombo, rules: SessionRules) -> PlayerPoints:
    """Return the payments for grave faults: a reversed mangan for each, and more if a possible yakuman was spoilt."""
    parts = [NO_POINTS]
    for player in (one for one in chombo.offenders if one not in chombo.dependent):
        spoilt = any(one != player for one in chombo.yakuman_tenpai)
        parts += [_negated(mangan_tsumo(player, dealer))] * (1 + spoilt * rules.faults.yakuman_tenpai.value)
    return add_points(*parts)
