"""What holds of the points of every possible outcome."""

from collections.abc import Mapping
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.contract.words import SEATS, Seat
from broker.rules.points import Outcome, points
from tests.broker.rules.variants import MAHJONGSOFT, MCR, OEDMC

HAND_VALUE = st.integers(8, 999)
SEAT: st.SearchStrategy[Seat] = st.sampled_from(SEATS)


@st.composite
def discards(draw: st.DrawFn, winners: int = 3) -> Outcome:
    """Give any win on a discard with at most so many winners."""
    discarder = draw(SEAT)
    others = st.sampled_from([seat for seat in SEATS if seat != discarder])
    return Outcome("discard", draw(st.dictionaries(others, HAND_VALUE, min_size=1, max_size=winners)), discarder)


SELF_DRAWN = st.builds(lambda seat, value: Outcome("self_drawn", {seat: value}), SEAT, HAND_VALUE)

ANY = st.one_of(discards(), SELF_DRAWN, st.just(Outcome("draw", {})))


def moved(outcome: Outcome, chairs: Mapping[Seat, Seat]) -> Outcome:
    """Give the same outcome with the players in other chairs."""
    winners = {chairs[seat]: value for seat, value in outcome.winners.items()}
    return Outcome(outcome.win, winners, chairs[outcome.discarder] if outcome.discarder else None)


@given(ANY)
def test_players_who_change_chairs_take_their_points_along(outcome: Outcome) -> None:
    for order in permutations(SEATS):
        chairs = dict(zip(SEATS, order, strict=True))
        expected = {chairs[seat]: score for seat, score in points(outcome, OEDMC).items()}
        assert points(moved(outcome, chairs), OEDMC) == expected


@given(discards())
def test_a_bystander_gives_8_whatever_was_won(outcome: Outcome) -> None:
    scored = points(outcome, OEDMC)
    assert {scored[seat] for seat in SEATS if seat not in outcome.winners and seat != outcome.discarder} <= {-8}


@given(discards())
def test_a_winner_scores_hv_and_24_whoever_else_wins(outcome: Outcome) -> None:
    scored = points(outcome, OEDMC)
    assert {seat: scored[seat] for seat in outcome.winners} == {s: hv + 24 for s, hv in outcome.winners.items()}


@given(discards())
def test_the_sum_on_a_discard_is_0_or_32_or_64_by_the_number_of_winners(outcome: Outcome) -> None:
    assert sum(points(outcome, OEDMC).values()) == {1: 0, 2: 32, 3: 64}[len(outcome.winners)]


@given(SELF_DRAWN)
def test_the_sum_of_a_drawn_win_is_what_rounding_up_takes(outcome: Outcome) -> None:
    (value,) = outcome.winners.values()
    assert sum(points(outcome, OEDMC).values()) == {0: 0, 1: -2, 2: -1}[value % 3]


@given(SELF_DRAWN)
def test_the_three_who_did_not_draw_give_alike(outcome: Outcome) -> None:
    scored = points(outcome, OEDMC)
    assert len({score for seat, score in scored.items() if seat not in outcome.winners}) == 1


@given(discards())
def test_points_on_a_discard_sum_to_zero_where_winners_pay_each_other(outcome: Outcome) -> None:
    assert sum(points(outcome, MAHJONGSOFT).values()) == 0


@given(st.one_of(discards(winners=1), SELF_DRAWN))
def test_points_sum_to_zero_under_standard_mcr(outcome: Outcome) -> None:
    assert sum(points(outcome, MCR).values()) == 0


@pytest.mark.parametrize("value", range(8, 90))
def test_a_third_is_rounded_up_and_never_down(value: int) -> None:
    gives = -points(Outcome("self_drawn", {"east": value}), OEDMC)["south"] - 8
    assert 3 * gives - value in {0, 1, 2}
