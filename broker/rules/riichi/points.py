"""The payments for a win, from han and fu (RIICHI-POINTS, "Valeur de la main").

The base is fu doubled twice and once more for each han, 2000 at most; from 5 han on only the limit counts. Shares of it
are rounded up to the next 100: on a discard 4 (6 if the dealer wins); self-drawn 1 from each player and 2 from the
dealer, or 2 from each if the dealer wins. Counters are added after that, and deposits are taken as they are.
"""

from dataclasses import dataclass
from typing import Final, Literal

from broker.errors import RuleError, refuse_if
from broker.i18n import N_
from broker.rules.riichi.profile import FuRules, PointRules

Limit = Literal["mangan", "haneman", "baiman", "sanbaiman", "counted_yakuman", "yakuman"]

MANGAN: Final = 2000
"""The base of a mangan. Those of the other limits are multiples of it."""

YAKUMAN: Final = 4 * MANGAN
"""The base of one yakuman."""

COUNTED: Final = 13
"""The han from which a hand without a yakuman is a counted one."""

MOST_FU: Final = 170
"""An upper bound of the fu of any hand."""

SEVEN_PAIRS_FU: Final = 25
"""The only count of fu that is never rounded."""

WINNING_FU: Final = 20
"""The fu for winning alone: a self-drawn pinfu, and under some rules an open hand without other fu."""

LIMITS: Final[tuple[tuple[int, Limit, int], ...]] = (
    (COUNTED, "counted_yakuman", YAKUMAN),
    (11, "sanbaiman", 3 * MANGAN),
    (8, "baiman", 2 * MANGAN),
    (6, "haneman", MANGAN * 3 // 2),
    (5, "mangan", MANGAN),
)
"""The least han of each limit, its name and its base, highest first."""

ROUNDED_UP: Final = ((4, 30), (3, 60))
"""Han and fu with a base of 1920, which the kiriage rule rounds up to a mangan."""


@dataclass(frozen=True, slots=True)
class PaidWin:
    """A hand that won: its value, how it was won, and what lies on the table.

    `fu` is already rounded (or 25), and only used under 5 han. `yakuman` is their number; if there is one, han and fu
    do not matter. `honba`: counters; `deposits`: riichi deposits that the winner takes.

    Raises RuleError `han_missing`, `impossible_fu`, `negative_counters`, `negative_deposits` or `negative_yakuman`.
    """

    han: int
    fu: int
    dealer: bool
    self_drawn: bool
    yakuman: int = 0
    honba: int = 0
    deposits: int = 0

    def __post_init__(self) -> None:
        """Refuse values that no hand has."""
        refuse_if(self.honba < 0, "negative_counters", f"{self.honba} counters: none is the least")
        refuse_if(self.deposits < 0, "negative_deposits", f"{self.deposits} deposits: none is the least")
        refuse_if(
            self.yakuman < 0, "negative_yakuman", N_("the number of yakuman cannot be {count}", count=self.yakuman)
        )
        if not self.yakuman:
            refuse_if(
                self.han < 1,
                "han_missing",
                N_("{han} han: a winning hand needs at least one han, or a yakuman", han=self.han),
            )
            unlike = self.han < LIMITS[-1][0] and not _is_count_of_fu(self.fu)
            refuse_if(
                unlike,
                "impossible_fu",
                N_("{fu} fu: must be 25, or a multiple of 10 from 20 to {most}", fu=self.fu, most=MOST_FU),
            )


@dataclass(frozen=True, slots=True)
class RiichiPayments:
    """The payments of each player in points, including counters; None for a payment that does not occur.

    `discarder_pays` on a discard; `each_other_pays` to a dealer who draws the tile; `dealer_pays` and
    `each_non_dealer_pays` to another player who draws it. `winner_gain` is the sum, with the deposits.
    """

    base: int
    limit: Limit | None
    winner_gain: int
    discarder_pays: int | None = None
    each_other_pays: int | None = None
    dealer_pays: int | None = None
    each_non_dealer_pays: int | None = None


def riichi_payments(win: PaidWin, rules: PointRules) -> RiichiPayments:
    """Return the payments for a win."""
    base, limit = base_of(win, rules)
    counters, taken = win.honba * rules.counter.value, win.deposits * rules.deposit.value
    if not win.self_drawn:
        paid = share(base, 6 if win.dealer else 4) + counters
        return RiichiPayments(base, limit, paid + taken, discarder_pays=paid)
    more = counters // 3
    twice = share(base, 2) + more
    if win.dealer:
        return RiichiPayments(base, limit, 3 * twice + taken, each_other_pays=twice)
    once = share(base, 1) + more
    return RiichiPayments(base, limit, twice + 2 * once + taken, dealer_pays=twice, each_non_dealer_pays=once)


def base_of(win: PaidWin, rules: PointRules) -> tuple[int, Limit | None]:
    """Return the base of a hand's value in points, and the limit that set it, if any."""
    if win.yakuman:
        return win.yakuman * YAKUMAN, "yakuman"
    han = min(win.han, COUNTED - 1) if rules.counted_yakuman.value == "sanbaiman" else win.han
    for least, limit, base in LIMITS:
        if han >= least:
            return base, limit
    base = win.fu * 2 ** (2 + han)
    if base >= MANGAN or (rules.kiriage.value and (han, win.fu) in ROUNDED_UP):
        return MANGAN, "mangan"
    return base, None


def possible_wins(han: int, fu: int, rules: FuRules) -> tuple[bool, bool]:
    """Return whether hands with these han and fu exist on a discard, and self-drawn.

    20 fu self-drawn are a pinfu (RIICHI-POINTS), so at least 2 han; 25 are seven pairs, at least 2 han and self-drawn
    3.
    """
    if fu == WINNING_FU:
        return rules.open_pinfu.value == WINNING_FU, han > 1
    if fu == SEVEN_PAIRS_FU:
        return han > 1, han > 2  # noqa: PLR2004 - two for the pairs, one for drawing
    return True, True


def refuse_impossible_win(win: PaidWin, rules: FuRules) -> None:
    """Raise RuleError `impossible_value` if no hand has this value."""
    if win.yakuman or win.han >= LIMITS[-1][0] or possible_wins(win.han, win.fu, rules)[win.self_drawn]:
        return
    text = (
        N_("no hand wins {han} han {fu} fu by self-draw", han=win.han, fu=win.fu)
        if win.self_drawn
        else N_("no hand wins {han} han {fu} fu on a discard", han=win.han, fu=win.fu)
    )
    raise RuleError("impossible_value", text)


def share(base: int, times: int) -> int:
    """Return a multiple of the base, rounded up to the next 100."""
    return -(-base * times // 100) * 100


def _is_count_of_fu(fu: int) -> bool:
    return fu == SEVEN_PAIRS_FU or (fu % 10 == 0 and WINNING_FU <= fu <= MOST_FU)
