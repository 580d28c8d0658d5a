"""Points for han and fu: RIICHI-POINTS, every cell of the usual table, limits, counters and deposits."""

from contextlib import nullcontext
from dataclasses import replace
from typing import Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.rules import RuleError, Setting, load_riichi
from broker.rules.riichi import PaidWin, RiichiPayments, refuse_impossible_win, riichi_payments
from broker.rules.riichi.points import MANGAN

MONTREAL: Final = load_riichi("riichi-montreal")
RULES: Final = MONTREAL.points

TABLE: Final = """
fu  han  ron    each/dealer   dealer-ron  each
20  2    -      400/700       -           700
20  3    -      700/1300      -           1300
20  4    -      1300/2600     -           2600
25  2    1600   -             2400        -
25  3    3200   800/1600      4800        1600
25  4    6400   1600/3200     9600        3200
30  1    1000   300/500       1500        500
30  2    2000   500/1000      2900        1000
30  3    3900   1000/2000     5800        2000
30  4    7700   2000/3900     11600       3900
40  1    1300   400/700       2000        700
40  2    2600   700/1300      3900        1300
40  3    5200   1300/2600     7700        2600
40  4    8000   2000/4000     12000       4000
50  1    1600   400/800       2400        800
50  2    3200   800/1600      4800        1600
50  3    6400   1600/3200     9600        3200
50  4    8000   2000/4000     12000       4000
60  1    2000   500/1000      2900        1000
60  2    3900   1000/2000     5800        2000
60  3    7700   2000/3900     11600       3900
60  4    8000   2000/4000     12000       4000
70  1    2300   600/1200      3400        1200
70  2    4500   1200/2300     6800        2300
70  3    8000   2000/4000     12000       4000
70  4    8000   2000/4000     12000       4000
80  1    2600   700/1300      3900        1300
80  2    5200   1300/2600     7700        2600
80  3    8000   2000/4000     12000       4000
80  4    8000   2000/4000     12000       4000
90  1    2900   800/1500      4400        1500
90  2    5800   1500/2900     8700        2900
90  3    8000   2000/4000     12000       4000
90  4    8000   2000/4000     12000       4000
100 1    3200   800/1600      4800        1600
100 2    6400   1600/3200     9600        3200
100 3    8000   2000/4000     12000       4000
100 4    8000   2000/4000     12000       4000
110 1    3600   900/1800      5300        1800
110 2    7100   1800/3600     10600       3600
110 3    8000   2000/4000     12000       4000
110 4    8000   2000/4000     12000       4000
30  5    8000   2000/4000     12000       4000
30  6    12000  3000/6000     18000       6000
30  7    12000  3000/6000     18000       6000
30  8    16000  4000/8000     24000       8000
30  9    16000  4000/8000     24000       8000
30  10   16000  4000/8000     24000       8000
30  11   24000  6000/12000    36000       12000
30  12   24000  6000/12000    36000       12000
30  13   32000  8000/16000    48000       16000
30  40   32000  8000/16000    48000       16000
"""
"""The usual table of clubs, copied by hand. A dash is a cell that no hand reaches."""

ROWS: Final = [line.split() for line in TABLE.split("\n")[2:] if line]

CELLS: Final = [
    (int(fu), int(han), at, cell)
    for fu, han, *cells in ROWS
    for at, cell in zip(("ron", "tsumo", "dealer ron", "dealer tsumo"), cells, strict=True)
    if cell != "-"
]


def cell_of(paid: RiichiPayments) -> str:
    """Return payments as written in the table."""
    if paid.dealer_pays is not None:
        return f"{paid.each_non_dealer_pays}/{paid.dealer_pays}"
    return str(paid.discarder_pays if paid.each_other_pays is None else paid.each_other_pays)


def test_each_cell_of_the_usual_table_is_reproduced() -> None:
    paid = {
        (fu, han, how): cell_of(
            riichi_payments(PaidWin(han, fu, dealer="dealer" in how, self_drawn="tsumo" in how), RULES)
        )
        for fu, han, how, _ in CELLS
    }
    assert paid == {(fu, han, how): cell for fu, han, how, cell in CELLS}


def test_two_han_thirty_fu_won_by_the_dealer_on_a_discard_is_2900() -> None:
    # RIICHI-POINTS: 30 x 2 x 2 x 2 x 2 = 480; 480 x 6 = 2880, rounded up.
    assert riichi_payments(PaidWin(2, 30, dealer=True, self_drawn=False), RULES) == RiichiPayments(
        480, None, 2900, discarder_pays=2900
    )


def test_three_han_fifty_fu_self_drawn_is_3200_from_the_dealer_and_1600_each() -> None:
    assert riichi_payments(PaidWin(3, 50, dealer=False, self_drawn=True), RULES) == RiichiPayments(
        1600, None, 6400, dealer_pays=3200, each_non_dealer_pays=1600
    )


def test_four_han_thirty_fu_self_drawn_is_3900_from_the_dealer_and_to_the_dealer() -> None:
    # RIICHI-POINTS, "Astuces": the dealer pays what each would have paid a dealer.
    assert riichi_payments(PaidWin(4, 30, dealer=False, self_drawn=True), RULES).dealer_pays == 3900
    assert riichi_payments(PaidWin(4, 30, dealer=True, self_drawn=True), RULES).each_other_pays == 3900


def test_counters_are_300_from_the_discarder_and_100_from_each_of_three() -> None:
    assert riichi_payments(PaidWin(3, 30, dealer=False, self_drawn=False, honba=2), RULES).discarder_pays == 4500
    drawn = riichi_payments(PaidWin(3, 30, dealer=False, self_drawn=True, honba=2), RULES)
    assert (drawn.dealer_pays, drawn.each_non_dealer_pays, drawn.winner_gain) == (2200, 1200, 4600)


def test_deposits_go_to_the_winner_without_any_further_payment() -> None:
    assert riichi_payments(PaidWin(1, 30, dealer=False, self_drawn=False, deposits=3), RULES) == RiichiPayments(
        240, None, 4000, discarder_pays=1000
    )


def test_each_yakuman_is_four_mangan_whatever_its_han_and_fu() -> None:
    assert riichi_payments(PaidWin(0, 0, dealer=False, self_drawn=False, yakuman=2), RULES) == RiichiPayments(
        16_000, "yakuman", 64_000, discarder_pays=64_000
    )


@pytest.mark.parametrize(("han", "fu"), [(4, 30), (3, 60)])
def test_rounding_up_to_a_mangan_is_an_option(han: int, fu: int) -> None:
    rounding = msgspec.structs.replace(RULES, kiriage=Setting(True, "a test's"))  # noqa: FBT003 - the setting's value
    win = PaidWin(han, fu, dealer=False, self_drawn=False)
    assert [riichi_payments(win, rules).discarder_pays for rules in (RULES, rounding)] == [7700, 8000]


def test_thirteen_han_are_a_sanbaiman_where_no_yakuman_is_counted() -> None:
    uncounted = msgspec.structs.replace(RULES, counted_yakuman=Setting("sanbaiman", "a test's"))
    win = PaidWin(13, 30, dealer=False, self_drawn=False)
    assert [riichi_payments(win, rules).limit for rules in (RULES, uncounted)] == ["counted_yakuman", "sanbaiman"]


wins = st.builds(
    PaidWin,
    han=st.integers(1, 20),
    fu=st.sampled_from([20, 25, *range(30, 180, 10)]),
    dealer=st.booleans(),
    self_drawn=st.booleans(),
    yakuman=st.integers(0, 6),
    honba=st.integers(0, 20),
    deposits=st.integers(0, 20),
)


@given(wins)
def test_the_winner_gains_the_payments_and_the_deposits(win: PaidWin) -> None:
    paid = riichi_payments(win, RULES)
    parts = (paid.discarder_pays, paid.each_other_pays, paid.dealer_pays, paid.each_non_dealer_pays)
    payer_counts = (1, 3, 1, 2)
    paying = sum(part * payers for part, payers in zip(parts, payer_counts, strict=True) if part is not None)
    assert paying + 1000 * win.deposits == paid.winner_gain


@given(wins)
def test_another_han_never_lowers_the_payment(win: PaidWin) -> None:
    assert riichi_payments(replace(win, han=win.han + 1), RULES).winner_gain >= riichi_payments(win, RULES).winner_gain


@given(wins, st.integers(1, 4))
def test_below_five_han_nothing_is_worth_more_than_a_mangan(win: PaidWin, han: int) -> None:
    assert riichi_payments(replace(win, han=han, yakuman=0), RULES).base <= MANGAN


@given(wins)
def test_self_drawn_and_discard_wins_differ_only_by_rounding(win: PaidWin) -> None:
    drawn, discarded = (riichi_payments(replace(win, self_drawn=own), RULES).winner_gain for own in (True, False))
    assert abs(drawn - discarded) < 300


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"han": 0}, "han_missing"),
        ({"han": -1}, "han_missing"),
        ({"fu": 22}, "impossible_fu"),
        ({"fu": 10}, "impossible_fu"),
        ({"fu": 35}, "impossible_fu"),
        ({"fu": 180}, "impossible_fu"),
        ({"honba": -1}, "negative_counters"),
        ({"deposits": -1}, "negative_deposits"),
        ({"yakuman": -1}, "negative_yakuman"),
    ],
)
def test_an_impossible_value_is_refused(wrong: dict[str, int], code: str) -> None:
    right = PaidWin(3, 30, dealer=False, self_drawn=False)
    with pytest.raises(RuleError) as refused:
        replace(right, **wrong)  # type: ignore[arg-type]  # only numbers are wrong here
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("han", "fu", "discard", "drawn"),
    [
        (1, 20, False, False),
        (2, 20, False, True),
        (1, 25, False, False),
        (2, 25, True, False),
        (3, 25, True, True),
        (1, 30, True, True),
    ],
)
def test_20_and_25_fu_need_the_han_of_pinfu_and_seven_pairs(han: int, fu: int, *, discard: bool, drawn: bool) -> None:
    for self_drawn, possible in ((False, discard), (True, drawn)):
        win = PaidWin(han, fu, dealer=False, self_drawn=self_drawn)
        with nullcontext() if possible else pytest.raises(RuleError, match=f"no hand wins {han} han {fu} fu"):
            refuse_impossible_win(win, MONTREAL.fu)


def test_an_open_hand_may_have_20_fu_where_the_rules_say_so() -> None:
    open_20 = msgspec.structs.replace(MONTREAL.fu, open_pinfu=Setting(20, "a test"))
    refuse_impossible_win(PaidWin(1, 20, dealer=False, self_drawn=False), open_20)


def test_fu_are_not_checked_from_5_han_and_for_yakuman() -> None:
    refuse_impossible_win(PaidWin(5, 0, dealer=False, self_drawn=False), MONTREAL.fu)
    refuse_impossible_win(PaidWin(0, 0, dealer=False, self_drawn=True, yakuman=1), MONTREAL.fu)
