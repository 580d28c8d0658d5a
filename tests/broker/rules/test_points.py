"""The worked examples of the sources, and every outcome that cannot be."""

from collections.abc import Mapping

import pytest

from broker.contract.words import SEATS, Seat, WinKind
from broker.rules.errors import RuleError
from broker.rules.points import Outcome, kept, points
from broker.rules.profile import Payments
from tests.broker.rules.variants import MAHJONGSOFT, MCR, OEDMC, seats


def on_discard(discarder: Seat, winners: Mapping[Seat, int], payments: Payments = OEDMC) -> dict[Seat, int]:
    return points(Outcome("discard", winners, discarder), payments)


def self_drawn(winner: Seat, value: int, payments: Payments = OEDMC) -> dict[Seat, int]:
    return points(Outcome("self_drawn", {winner: value}), payments)


def test_oedmc_table_12_east_wins_18_on_north() -> None:
    assert on_discard("north", {"east": 18}) == seats(42, -8, -8, -26)


def test_oedmc_rule_1_hv_9_drawn_is_33_and_minus_11() -> None:
    assert self_drawn("south", 9) == seats(-11, 33, -11, -11)


def test_oedmc_rule_1_hv_10_drawn_is_34_and_minus_12() -> None:
    assert self_drawn("south", 10) == seats(-12, 34, -12, -12)


def test_a_real_record_of_two_winners_with_12_each_on_east() -> None:
    assert on_discard("east", {"south": 12, "north": 12}) == seats(-32, 36, -8, 36)


def test_oedmc_rule_2_three_winners_leave_no_bystander() -> None:
    assert on_discard("west", {"east": 8, "south": 12, "north": 24}) == seats(32, 36, -52, 48)


def test_a_draw_scores_nobody_anything() -> None:
    assert points(Outcome("draw", {}), OEDMC) == seats(0, 0, 0, 0)


def test_the_smallest_win_is_of_8() -> None:
    assert on_discard("south", {"west": 8}) == seats(-8, -16, 32, -8)


def test_mahjongsoft_winners_also_pay_each_other() -> None:
    assert on_discard("east", {"south": 20, "west": 10}, MAHJONGSOFT) == seats(-46, 36, 26, -16)


def test_mahjongsoft_one_winner_is_paid_as_ever() -> None:
    assert on_discard("north", {"east": 18}, MAHJONGSOFT) == seats(42, -8, -8, -26)


def test_mcr_a_self_drawn_win_is_paid_in_full_by_each() -> None:
    assert self_drawn("west", 10, MCR) == seats(-18, -18, 54, -18)


def test_mcr_one_winner_on_a_discard() -> None:
    assert on_discard("north", {"east": 18}, MCR) == seats(42, -8, -8, -26)


REFUSED: list[tuple[str, WinKind, dict[Seat, int], Seat | None]] = [
    ("draw_with_winner", "draw", {"east": 8}, None),
    ("discarder_not_asked", "draw", {}, "east"),
    ("discarder_not_asked", "self_drawn", {"east": 8}, "south"),
    ("discarder_not_asked", "self_drawn", {"east": 8}, "east"),
    ("winner_missing", "discard", {}, "east"),
    ("winner_missing", "self_drawn", {}, None),
    ("several_self_drawn", "self_drawn", {"east": 8, "south": 8}, None),
    ("discarder_missing", "discard", {"east": 8}, None),
    ("discarder_wins", "discard", {"east": 8}, "east"),
    ("discarder_wins", "discard", {"east": 8, "south": 8, "west": 8, "north": 8}, "east"),
    ("below_minimum", "discard", {"east": 7}, "south"),
    ("below_minimum", "discard", {"east": 8, "west": 0}, "south"),
    ("below_minimum", "self_drawn", {"east": -8}, None),
]


@pytest.mark.parametrize(("code", "win", "winners", "discarder"), REFUSED)
def test_an_outcome_that_cannot_be_is_refused(
    code: str, win: WinKind, winners: dict[Seat, int], discarder: Seat | None
) -> None:
    with pytest.raises(RuleError) as refused:
        points(Outcome(win, winners, discarder), OEDMC)
    assert refused.value.code == code
    assert str(refused.value) == refused.value.text


def test_several_winners_are_refused_where_only_the_nearest_wins() -> None:
    with pytest.raises(RuleError) as refused:
        on_discard("east", {"south": 8, "west": 8}, MCR)
    assert refused.value.code == "several_winners"


def test_points_come_in_turn_order() -> None:
    assert tuple(on_discard("east", {"north": 8})) == SEATS


@pytest.mark.parametrize(
    ("discarder", "winners", "first"),
    [
        ("east", ("south", "west"), "south"),
        ("east", ("north", "west"), "west"),
        ("south", ("east", "north"), "north"),
        ("west", ("south", "east"), "east"),
        ("north", ("west", "south", "east"), "east"),
    ],
)
def test_where_one_wins_it_is_the_nearest_in_turn_order(
    discarder: Seat, winners: tuple[Seat, ...], first: Seat
) -> None:
    declared = Outcome("discard", dict.fromkeys(winners, 10), discarder)
    assert kept(declared, MCR).winners == {first: 10}
    assert kept(declared, OEDMC).winners == dict.fromkeys(winners, 10)


def test_nothing_is_kept_back_where_no_tile_was_discarded() -> None:
    drawn = Outcome("self_drawn", {"west": 10})
    assert kept(drawn, MCR) == drawn
