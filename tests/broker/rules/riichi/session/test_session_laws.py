"""What holds of a session whatever happens in it."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.rules.errors import RuleError
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.session.apply import apply
from broker.rules.riichi.session.events import (
    Abort,
    Chombo,
    DeadHand,
    Event,
    ExhaustiveDraw,
    MinorFault,
    Ron,
    SessionEnd,
    Tsumo,
    Win,
)
from broker.rules.riichi.session.state import ROUNDS, State
from tests.broker.rules.riichi.session.playing import BASIC, BEGIN, MONTREAL, TENHOU

PLAYER = st.integers(0, 3)
SOME = st.lists(PLAYER, unique=True, max_size=4).map(tuple)
NOBODY: tuple[int, ...] = ()
YAKUMAN = st.sampled_from([(), (), ("daisangen",), ("daisuushii", "tsuuiisou"), ("kazoe",)])
SCORES = st.tuples(*[st.integers(0, 600).map(lambda hundreds: 100 * hundreds)] * 4)
STATES = st.builds(State, st.sampled_from(ROUNDS), PLAYER, st.integers(0, 9), st.integers(0, 5), SCORES)
RULES = st.sampled_from([MONTREAL, TENHOU, BASIC])


@st.composite
def wins(draw: st.DrawFn, winner: int) -> Win:
    """Give a win, sometimes with somebody responsible."""
    names = draw(YAKUMAN)
    responsible = draw(st.none() | PLAYER.filter(lambda player: player != winner)) if names else None
    return Win(
        winner, draw(st.integers(1, 14)), draw(st.sampled_from([20, 25, 30, 70])), names, responsible=responsible
    )


@st.composite
def rons(draw: st.DrawFn) -> Ron:
    """Give one to three wins on one tile."""
    order = draw(st.permutations(range(4)))
    count = draw(st.integers(1, 3))
    return Ron(loser=order[0], wins=tuple(draw(wins(player)) for player in order[1 : 1 + count]), riichi=draw(SOME))


@st.composite
def draws(draw: st.DrawFn) -> ExhaustiveDraw:
    """Give a draw where all who declared riichi are tenpai."""
    tenpai = draw(SOME)
    riichi = tuple(player for player in tenpai if draw(st.booleans()))
    return ExhaustiveDraw(tenpai=tenpai, nagashi=draw(st.just(NOBODY) | SOME), riichi=riichi)


EVENTS: st.SearchStrategy[Event] = st.one_of(
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
def test_points_are_conserved_with_what_lies_on_the_table(state: State, event: Event, rules: RiichiProfile) -> None:
    try:
        came = apply(state, event, rules)
    except RuleError:
        return
    assert sum(came.deltas) == 1000 * (state.deposits - came.state.deposits)
    assert came.state.scores == tuple(map(sum, zip(state.scores, came.deltas, strict=True)))


@given(STATES, EVENTS, RULES)
def test_a_state_that_is_reached_goes_on_or_is_over(state: State, event: Event, rules: RiichiProfile) -> None:
    try:
        came = apply(state, event, rules)
    except RuleError:
        return
    assert (came.places is not None) == came.state.over
    assert came.state.over or min(came.state.scores) >= 0
    if not came.state.over:
        apply(came.state, Abort(reason="four_winds"), rules)


@given(STATES, rons(), RULES)
def test_the_order_in_which_simultaneous_wins_are_told_changes_nothing(
    state: State, ron: Ron, rules: RiichiProfile
) -> None:
    told = set()
    for order in permutations(ron.wins):
        try:
            told.add(apply(state, Ron(loser=ron.loser, wins=order, riichi=ron.riichi), rules))
        except RuleError as refused:
            told.add(refused.code)  # type: ignore[arg-type]  # a refusal always has a code
    assert len(told) == 1


@given(STATES, st.data(), RULES)
def test_two_wins_pay_what_each_pays_alone_but_for_deposits_and_counters(
    state: State, data: st.DataObject, rules: RiichiProfile
) -> None:
    plain = State(state.round_wind, state.dealer, 0, 0, (90_000,) * 4)
    loser, first, second, _ = data.draw(st.permutations(range(4)))
    pair = data.draw(wins(first)), data.draw(wins(second))
    if rules is BASIC:
        return
    try:
        alone = [apply(plain, Ron(loser=loser, wins=(win,)), rules).deltas for win in pair]
        both = apply(plain, Ron(loser=loser, wins=pair), rules).deltas
    except RuleError:
        return
    assert both == tuple(map(sum, zip(*alone, strict=True)))


@given(st.lists(EVENTS.filter(lambda event: not isinstance(event, SessionEnd)), max_size=40), RULES)
def test_rounds_and_dealers_only_go_forward(events: list[Event], rules: RiichiProfile) -> None:
    state = BEGIN
    for event in events:
        try:
            came = apply(state, event, rules).state
        except RuleError:
            continue
        steps = 4 * (came.round - state.round) + came.dealer - state.dealer
        assert steps in (0, 1)
        if came.over:
            assert steps == 0
        state = came
        if state.over:
            break


@pytest.mark.parametrize("rules", [MONTREAL, TENHOU, BASIC], ids=lambda rules: rules.id)
def test_after_the_end_only_the_end_can_be_settled(rules: RiichiProfile) -> None:
    over = apply(BEGIN, SessionEnd(), rules).state
    with pytest.raises(RuleError) as refused:
        apply(over, ExhaustiveDraw(), rules)
    assert refused.value.code == "session_over"
    assert apply(over, SessionEnd(), rules).deltas == (0, 0, 0, 0)
