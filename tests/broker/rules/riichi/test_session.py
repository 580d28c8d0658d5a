"""A session from hand to hand: the next dealer, the end, and properties."""

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.rules import RuleError
from broker.rules.riichi import (
    ROUNDS,
    Abort,
    Chombo,
    DeadHand,
    ExhaustiveDraw,
    MinorFault,
    RiichiProfile,
    Ron,
    SessionEnd,
    SessionEvent,
    SessionState,
    SessionWin,
    Tsumo,
    settle_event,
)
from tests.broker.rules.riichi.session_steps import BASIC, BEGIN, LAST, MONTREAL, TENHOU, deal_name, ron, settled, tsumo

COUNTED = replace(BEGIN, counters=2)
SOUTH = replace(COUNTED, round_wind="S", dealer=1)
AHEAD = replace(LAST, scores=(31000, 25000, 24000, 20000))


def next_deal(state: SessionState) -> tuple[str, int]:
    return deal_name(state), state.counters


def test_a_winning_dealer_deals_again_with_another_counter() -> None:
    assert next_deal(settled(ron(0, 2), COUNTED).state) == ("E1", 3)
    both = Ron(loser=3, wins=(SessionWin(1, 1, 30), SessionWin(0, 1, 30)))
    assert next_deal(settled(both, COUNTED).state) == ("E1", 3)


def test_a_win_by_another_player_passes_the_deal_and_clears_the_counters() -> None:
    assert next_deal(settled(ron(1, 0), COUNTED).state) == ("E2", 0)


@pytest.mark.parametrize(("tenpai", "deal"), [((0,), "E1"), ((), "E2"), ((1, 2, 3), "E2")])
def test_after_a_draw_in_the_east_round_only_a_tenpai_dealer_deals_again(tenpai: tuple[int, ...], deal: str) -> None:
    assert next_deal(settled(ExhaustiveDraw(tenpai=tenpai), COUNTED).state) == (deal, 3)


def test_in_the_south_round_only_a_win_passes_the_deal() -> None:
    assert next_deal(settled(ExhaustiveDraw(), SOUTH).state) == ("S2", 3)
    assert next_deal(settled(ron(2, 3), SOUTH).state) == ("S3", 0)
    assert next_deal(settle_event(SOUTH, ExhaustiveDraw(), TENHOU).state) == ("S3", 3)


def test_an_aborted_hand_adds_a_counter_and_is_dealt_again() -> None:
    result = settled(Abort(reason="four_riichi", riichi=(0, 1, 2, 3)), COUNTED)
    assert (next_deal(result.state), result.deltas, result.state.deposits) == (("E1", 3), (-1000,) * 4, 4)


@pytest.mark.parametrize(
    ("tenpai", "deltas"),
    [
        ((), (0, 0, 0, 0)),
        ((2,), (-1000, -1000, 3000, -1000)),
        ((0, 3), (1500, -1500, -1500, 1500)),
        ((0, 1, 3), (1000, 1000, -3000, 1000)),
        ((0, 1, 2, 3), (0, 0, 0, 0)),
    ],
)
def test_players_who_are_not_tenpai_pay_3000_in_total(tenpai: tuple[int, ...], deltas: tuple[int, ...]) -> None:
    assert settled(ExhaustiveDraw(tenpai=tenpai)).deltas == deltas


def test_nagashi_is_a_draw_paid_as_a_self_drawn_mangan_without_counters_or_deposits() -> None:
    state = replace(COUNTED, deposits=1)
    result = settled(ExhaustiveDraw(tenpai=(1,), nagashi=(2,), riichi=(1,)), state)
    assert result.deltas == (-4000, -2000 - 1000, 8000, -2000)
    assert (next_deal(result.state), result.state.deposits) == (("E2", 3), 2)
    assert settled(ExhaustiveDraw(nagashi=(0,))).deltas == (12000, -4000, -4000, -4000)


def test_a_chombo_pays_a_reversed_mangan_and_the_hand_is_dealt_again() -> None:
    result = settled(Chombo(offenders=(2,), riichi=(2, 3)), replace(COUNTED, deposits=1))
    assert result.deltas == (4000, 2000, -8000, 2000)
    assert (next_deal(result.state), result.state.deposits) == (("E1", 2), 1)


def test_a_dealer_who_commits_a_chombo_loses_the_deal_but_the_counters_stay() -> None:
    result = settled(Chombo(offenders=(0,)), COUNTED)
    assert (result.deltas, next_deal(result.state)) == ((-12000, 4000, 4000, 4000), ("E2", 2))
    assert next_deal(settle_event(COUNTED, Chombo(offenders=(0,)), TENHOU).state) == ("E1", 2)


def test_two_chombos_are_paid_separately_unless_one_depends_on_the_other() -> None:
    assert settled(Chombo(offenders=(1, 2))).deltas == (8000, -6000, -6000, 4000)
    assert settled(Chombo(offenders=(1, 2), dependent=(2,))) == settled(Chombo(offenders=(1,)))


def test_a_chombo_against_another_player_s_possible_yakuman_costs_double() -> None:
    assert settled(Chombo(offenders=(1,), yakuman_tenpai=(3,))).deltas == (8000, -16000, 4000, 4000)
    assert settled(Chombo(offenders=(1,), yakuman_tenpai=(1,))).deltas == (4000, -8000, 2000, 2000)


def test_a_last_dealer_who_still_leads_after_a_chombo_deals_again() -> None:
    leading = replace(LAST, counters=1, scores=(20000, 15000, 15000, 50000))
    assert next_deal(settled(Chombo(offenders=(3,)), leading).state) == ("S4", 1)
    assert next_deal(settled(Chombo(offenders=(3,)), replace(leading, scores=(34000, 20000, 20000, 26000))).state) == (
        "W1",
        1,
    )


def test_a_minor_fault_costs_a_deposit_of_1000_and_the_hand_continues() -> None:
    result = settled(MinorFault(offenders=(2,)), COUNTED)
    assert (result.deltas, next_deal(result.state), result.state.deposits) == ((0, 0, -1000, 0), ("E1", 2), 1)


def test_a_dead_hand_pays_nothing_and_the_hand_continues() -> None:
    assert settled(DeadHand(offenders=(2,)), COUNTED).state == COUNTED


def test_the_session_ends_after_the_south_round_if_somebody_has_30_000() -> None:
    assert settled(ron(1, 2), AHEAD).state.over
    assert next_deal(settled(ron(3, 2), AHEAD).state) == ("S4", 1)
    exactly = settled(ron(0, 2, han=2, fu=40), replace(LAST, scores=(27400, 25000, 24000, 23600)))
    assert (exactly.state.scores[0], exactly.state.over) == (30000, True)


def test_without_30_000_points_the_session_is_extended_until_a_won_hand() -> None:
    result = settled(ron(0, 1, han=1)).state
    west = settled(ron(0, 1, han=1), replace(LAST, scores=result.scores)).state
    assert (next_deal(west), west.over) == (("W1", 0), False)
    drawn = settled(ExhaustiveDraw(tenpai=(0,)), replace(west, scores=(29000, 24000, 23000, 24000))).state
    assert (drawn.scores[0], drawn.over) == (32000, False)
    assert settled(tsumo(2, han=1), drawn).state.over


def test_an_extension_ends_with_any_won_hand_if_somebody_has_30_000() -> None:
    ahead = replace(BEGIN, round_wind="W", scores=(31000, 24000, 23000, 22000))
    assert settled(ron(1, 2, han=1), ahead).state.over
    assert not settled(Chombo(offenders=(1,)), ahead).state.over
    assert settle_event(ahead, ExhaustiveDraw(), TENHOU).state.over


def test_after_the_north_round_the_session_ends_whoever_leads() -> None:
    north = replace(BEGIN, round_wind="N", dealer=3)
    assert settled(ron(0, 1, han=1), north).state.over
    assert settle_event(replace(north, round_wind="W"), ron(0, 1, han=1), TENHOU).state.over


def test_a_negative_score_ends_the_session_and_zero_does_not() -> None:
    poor = replace(BEGIN, scores=(25000, 25000, 3900, 46100))
    assert not settled(ron(1, 2), poor).state.over
    assert settled(ron(1, 2), replace(poor, counters=1)).state.over
    assert settled(Chombo(offenders=(2,)), poor).state.over
    assert settled(MinorFault(offenders=(2,)), replace(poor, scores=(50000, 24500, 500, 25000))).state.over
    assert settle_event(poor, ron(1, 2), BASIC).state.over


def test_on_tenhou_a_last_dealer_who_stays_and_leads_ends_the_session() -> None:
    leading = replace(LAST, scores=(20000, 20000, 20000, 40000))
    assert settle_event(leading, ron(3, 1), TENHOU).state.over
    assert settle_event(leading, ExhaustiveDraw(tenpai=(3,)), TENHOU).state.over
    assert not settle_event(leading, Abort(reason="four_winds"), TENHOU).state.over
    assert not settled(ron(3, 1), leading).state.over


def test_under_the_basic_rules_eight_hands_are_a_session() -> None:
    state, deals = BEGIN, []
    while not state.over:
        deals.append(deal_name(state))
        state = settle_event(state, ron(state.dealer, (state.dealer + 1) % 4, han=1), BASIC).state
    assert deals == ["E1", "E2", "E3", "E4", "S1", "S2", "S3", "S4"]


def test_deposits_that_nobody_won_go_to_the_winner() -> None:
    result = settled(SessionEnd(), replace(AHEAD, deposits=3))
    assert (result.deltas, result.state.deposits, result.state.over, result.places) == (
        (3000, 0, 0, 0),
        0,
        True,
        (1, 2, 3, 4),
    )


def test_ties_are_kept_and_tied_winners_share_the_deposits() -> None:
    tied = replace(LAST, deposits=1, scores=(20000, 30000, 30000, 19000))
    result = settled(SessionEnd(), tied)
    assert (result.deltas, result.places) == ((0, 500, 500, 0), (3, 1, 1, 4))
    three = settled(SessionEnd(), replace(tied, scores=(30000, 30000, 30000, 9000)))
    assert (three.deltas, three.places) == ((400, 300, 300, 0), (1, 1, 1, 4))
    tenhou = settle_event(tied, SessionEnd(), TENHOU)
    assert (tenhou.deltas, tenhou.places) == ((0, 1000, 0, 0), (3, 1, 2, 4))


PLAYER = st.integers(0, 3)
SOME = st.lists(PLAYER, unique=True, max_size=4).map(tuple)
NOBODY: tuple[int, ...] = ()
YAKUMAN = st.sampled_from([(), (), ("daisangen",), ("daisuushii", "tsuuiisou"), ("kazoe",)])
SCORES = st.tuples(*[st.integers(0, 600).map(lambda hundreds: 100 * hundreds)] * 4)
STATES = st.builds(SessionState, st.sampled_from(ROUNDS), PLAYER, st.integers(0, 9), st.integers(0, 5), SCORES)
RULES = st.sampled_from([MONTREAL, TENHOU, BASIC])


@st.composite
def wins(draw: st.DrawFn, winner: int) -> SessionWin:
    """Draw a win, sometimes with a responsible player."""
    names = draw(YAKUMAN)
    responsible = draw(st.none() | PLAYER.filter(lambda player: player != winner)) if names else None
    return SessionWin(
        winner, draw(st.integers(1, 14)), draw(st.sampled_from([20, 25, 30, 70])), names, responsible=responsible
    )


@st.composite
def rons(draw: st.DrawFn) -> Ron:
    """Draw one to three wins on one tile."""
    order = draw(st.permutations(range(4)))
    count = draw(st.integers(1, 3))
    return Ron(loser=order[0], wins=tuple(draw(wins(player)) for player in order[1 : 1 + count]), riichi=draw(SOME))


@st.composite
def draws(draw: st.DrawFn) -> ExhaustiveDraw:
    """Draw an exhaustive draw in which all players in riichi are tenpai."""
    tenpai = draw(SOME)
    riichi = tuple(player for player in tenpai if draw(st.booleans()))
    return ExhaustiveDraw(tenpai=tenpai, nagashi=draw(st.just(NOBODY) | SOME), riichi=riichi)


EVENTS: st.SearchStrategy[SessionEvent] = st.one_of(
    rons(),
    st.builds(Tsumo, win=PLAYER.flatmap(wins), riichi=SOME),
    draws(),
    st.builds(Abort, reason=st.sampled_from(["nine_terminals", "four_riichi"]), riichi=SOME),
    st.builds(Chombo, offenders=SOME.filter(bool), yakuman_tenpai=SOME, riichi=SOME),
    st.builds(MinorFault, offenders=SOME.filter(bool)),
    st.builds(DeadHand, offenders=SOME.filter(bool)),
    st.just(SessionEnd()),
)


@given(STATES, EVENTS, RULES)
def test_points_and_deposits_are_conserved(state: SessionState, event: SessionEvent, rules: RiichiProfile) -> None:
    try:
        result = settle_event(state, event, rules)
    except RuleError:
        return
    assert sum(result.deltas) == 1000 * (state.deposits - result.state.deposits)
    assert result.state.scores == tuple(map(sum, zip(state.scores, result.deltas, strict=True)))


@given(STATES, EVENTS, RULES)
def test_every_reachable_state_continues_or_is_over(
    state: SessionState, event: SessionEvent, rules: RiichiProfile
) -> None:
    try:
        result = settle_event(state, event, rules)
    except RuleError:
        return
    assert (result.places is not None) == result.state.over
    assert result.state.over or min(result.state.scores) >= 0
    if not result.state.over:
        settle_event(result.state, Abort(reason="four_winds"), rules)


@given(STATES, rons(), RULES)
def test_the_order_of_simultaneous_wins_does_not_matter(state: SessionState, ron: Ron, rules: RiichiProfile) -> None:
    results = set()
    for order in permutations(ron.wins):
        try:
            results.add(settle_event(state, Ron(loser=ron.loser, wins=order, riichi=ron.riichi), rules))
        except RuleError as refused:
            results.add(refused.code)  # type: ignore[arg-type]  # a refusal always has a code
    assert len(results) == 1


@given(STATES, st.data(), RULES)
def test_two_wins_pay_the_sum_of_each_alone_without_deposits_and_counters(
    state: SessionState, data: st.DataObject, rules: RiichiProfile
) -> None:
    plain = SessionState(state.round_wind, state.dealer, 0, 0, (90_000,) * 4)
    loser, first, second, _ = data.draw(st.permutations(range(4)))
    pair = data.draw(wins(first)), data.draw(wins(second))
    if rules is BASIC:
        return
    try:
        alone = [settle_event(plain, Ron(loser=loser, wins=(win,)), rules).deltas for win in pair]
        both = settle_event(plain, Ron(loser=loser, wins=pair), rules).deltas
    except RuleError:
        return
    assert both == tuple(map(sum, zip(*alone, strict=True)))


@given(st.lists(EVENTS.filter(lambda event: not isinstance(event, SessionEnd)), max_size=40), RULES)
def test_rounds_and_dealers_only_go_forward(events: list[SessionEvent], rules: RiichiProfile) -> None:
    state = BEGIN
    for event in events:
        try:
            result = settle_event(state, event, rules).state
        except RuleError:
            continue
        steps = 4 * (result.round - state.round) + result.dealer - state.dealer
        assert steps in (0, 1)
        if result.over:
            assert steps == 0
        state = result
        if state.over:
            break


@pytest.mark.parametrize("rules", [MONTREAL, TENHOU, BASIC], ids=lambda rules: rules.id)
def test_after_the_end_only_another_end_is_accepted(rules: RiichiProfile) -> None:
    over = settle_event(BEGIN, SessionEnd(), rules).state
    with pytest.raises(RuleError) as refused:
        settle_event(over, ExhaustiveDraw(), rules)
    assert refused.value.code == "session_over"
    assert settle_event(over, SessionEnd(), rules).deltas == (0, 0, 0, 0)
