"""The points of an outcome and the winners among several declarations: sourced examples and properties."""

from collections.abc import Mapping
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import SEATS, Seat, WinKind
from broker.rules import McrPaymentRules, Outcome, RuleError, allowed_outcome, seat_points
from tests.broker.rules.variants import MCR, OEDMC, ZERO_SUM, seats


def on_discard(discarder: Seat, winners: Mapping[Seat, int], payments: McrPaymentRules = OEDMC) -> dict[Seat, int]:
    return seat_points(Outcome("discard", winners, discarder), payments)


def self_drawn(winner: Seat, value: int, payments: McrPaymentRules = OEDMC) -> dict[Seat, int]:
    return seat_points(Outcome("self_drawn", {winner: value}), payments)


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


def test_a_draw_scores_zero_for_everybody() -> None:
    assert seat_points(Outcome("draw", {}), OEDMC) == seats(0, 0, 0, 0)


def test_the_smallest_win_has_a_value_of_8() -> None:
    assert on_discard("south", {"west": 8}) == seats(-8, -16, 32, -8)


def test_zero_sum_winners_also_pay_each_other() -> None:
    assert on_discard("east", {"south": 20, "west": 10}, ZERO_SUM) == seats(-46, 36, 26, -16)


def test_zero_sum_a_single_winner_is_paid_as_under_oedmc() -> None:
    assert on_discard("north", {"east": 18}, ZERO_SUM) == seats(42, -8, -8, -26)


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
def test_an_impossible_outcome_is_refused(
    code: str, win: WinKind, winners: dict[Seat, int], discarder: Seat | None
) -> None:
    with pytest.raises(RuleError) as refused:
        seat_points(Outcome(win, winners, discarder), OEDMC)
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
def test_the_nearest_in_turn_order_wins_where_only_one_may(
    discarder: Seat, winners: tuple[Seat, ...], first: Seat
) -> None:
    declared = Outcome("discard", dict.fromkeys(winners, 10), discarder)
    assert allowed_outcome(declared, MCR).winners == {first: 10}
    assert allowed_outcome(declared, OEDMC).winners == dict.fromkeys(winners, 10)


def test_the_nearest_rule_leaves_a_self_drawn_win_unchanged() -> None:
    drawn = Outcome("self_drawn", {"west": 10})
    assert allowed_outcome(drawn, MCR) == drawn


HAND_VALUE = st.integers(8, 999)
SEAT: st.SearchStrategy[Seat] = st.sampled_from(SEATS)


@st.composite
def discards(draw: st.DrawFn, winners: int = 3) -> Outcome:
    """Return any win on a discard with at most `winners` winners."""
    discarder = draw(SEAT)
    others = st.sampled_from([seat for seat in SEATS if seat != discarder])
    return Outcome("discard", draw(st.dictionaries(others, HAND_VALUE, min_size=1, max_size=winners)), discarder)


SELF_DRAWN = st.builds(lambda seat, value: Outcome("self_drawn", {seat: value}), SEAT, HAND_VALUE)

ANY = st.one_of(discards(), SELF_DRAWN, st.just(Outcome("draw", {})))


def moved(outcome: Outcome, new_seats: Mapping[Seat, Seat]) -> Outcome:
    """Return the same outcome with the players in other seats."""
    winners = {new_seats[seat]: value for seat, value in outcome.winners.items()}
    return Outcome(outcome.win, winners, new_seats[outcome.discarder] if outcome.discarder else None)


@given(ANY)
def test_players_who_change_seats_keep_their_points(outcome: Outcome) -> None:
    for order in permutations(SEATS):
        new_seats = dict(zip(SEATS, order, strict=True))
        expected = {new_seats[seat]: score for seat, score in seat_points(outcome, OEDMC).items()}
        assert seat_points(moved(outcome, new_seats), OEDMC) == expected


@given(discards())
def test_a_bystander_pays_8_for_any_win(outcome: Outcome) -> None:
    scored = seat_points(outcome, OEDMC)
    assert {scored[seat] for seat in SEATS if seat not in outcome.winners and seat != outcome.discarder} <= {-8}


@given(discards())
def test_a_winner_scores_hv_plus_24_whoever_else_wins(outcome: Outcome) -> None:
    scored = seat_points(outcome, OEDMC)
    assert {seat: scored[seat] for seat in outcome.winners} == {s: hv + 24 for s, hv in outcome.winners.items()}


@given(discards())
def test_the_sum_of_a_win_on_a_discard_is_32_for_each_winner_after_the_first(outcome: Outcome) -> None:
    assert sum(seat_points(outcome, OEDMC).values()) == {1: 0, 2: 32, 3: 64}[len(outcome.winners)]


@given(SELF_DRAWN)
def test_the_sum_of_a_self_drawn_win_is_minus_what_rounding_up_adds(outcome: Outcome) -> None:
    (value,) = outcome.winners.values()
    assert sum(seat_points(outcome, OEDMC).values()) == {0: 0, 1: -2, 2: -1}[value % 3]


@given(SELF_DRAWN)
def test_the_three_losers_of_a_self_drawn_win_pay_the_same(outcome: Outcome) -> None:
    scored = seat_points(outcome, OEDMC)
    assert len({score for seat, score in scored.items() if seat not in outcome.winners}) == 1


@given(discards())
def test_points_of_a_win_on_a_discard_sum_to_zero_where_winners_pay_each_other(outcome: Outcome) -> None:
    assert sum(seat_points(outcome, ZERO_SUM).values()) == 0


@given(st.one_of(discards(winners=1), SELF_DRAWN))
def test_points_sum_to_zero_under_standard_mcr(outcome: Outcome) -> None:
    assert sum(seat_points(outcome, MCR).values()) == 0


def test_a_third_is_rounded_up_and_never_down() -> None:
    payments = {
        value: -seat_points(Outcome("self_drawn", {"east": value}), OEDMC)["south"] - 8 for value in range(8, 90)
    }
    assert {value: each for value, each in payments.items() if 3 * each - value not in {0, 1, 2}} == {}


DECLARED = [
    (discarder, winners)
    for discarder in SEATS
    for count in (1, 2, 3)
    for winners in combinations([seat for seat in SEATS if seat != discarder], count)
]


@pytest.mark.parametrize("payments", [OEDMC, MCR])
def test_the_order_of_declarations_does_not_matter(payments: McrPaymentRules) -> None:
    for discarder, winners in DECLARED:
        outcomes = [Outcome("discard", dict.fromkeys(order, 10), discarder) for order in permutations(winners)]
        won = {tuple(sorted(allowed_outcome(one, payments).winners)) for one in outcomes}
        assert len(won) == 1, (discarder, winners)
