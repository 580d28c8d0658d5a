"""A recorded play is judged action by action."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.rules.deal import Deal
from broker.rules.referee.actions import Action
from broker.rules.referee.moves import apply
from broker.rules.referee.play import begin
from broker.rules.referee.replay import StepRefused, replay
from tests.broker.rules.referee.playing import arranged, at_random, nobody, seldom
from tests.broker.rules.variants import OEDMC

SEED = st.integers(0, 2**32)


@given(SEED)
def test_a_replay_ends_where_the_play_did(seed: int) -> None:
    plays = list(at_random(seed))
    last, action = plays[-1]
    replayed = replay(last.deal, (action for _, action in plays), OEDMC, seldom)
    assert replayed == apply(last, action, seldom)


def refused_at(deal: Deal, actions: list[Action]) -> int | None:
    """Give the step at which a replay stops."""
    try:
        replay(deal, actions, OEDMC, seldom)
    except StepRefused as refused:
        return refused.step
    return None


@given(SEED, st.integers(0, 10_000))
def test_a_record_with_an_action_left_out_is_refused_and_no_earlier_than_there(seed: int, at: int) -> None:
    plays = list(at_random(seed))
    actions = [action for _, action in plays]
    gone = at % (len(plays) - 1)
    step = refused_at(plays[0][0].deal, actions[:gone] + actions[gone + 1 :])
    if plays[gone][0].turns.phase == "kong" and actions[gone].do == "no_claim":
        assert step is None  # the replacement itself says that nobody robbed the kong
    else:
        assert step is not None
        assert step > gone


def test_a_refusal_names_its_step_and_keeps_where_the_play_stood() -> None:
    deal = arranged({"east": "5m 1112223334z"}, {"east": "9s"})
    actions = [Action("draw", "east"), Action("discard", "east", "9p"), Action("no_claim")]
    with pytest.raises(StepRefused) as refused:
        replay(deal, actions, OEDMC, nobody)
    assert (refused.value.code, refused.value.step) == ("tiles_missing", 2)
    assert refused.value.text == "step 2: east has not the tiles for discard of 9p"
    assert refused.value.play == apply(begin(deal, OEDMC), actions[0], nobody)


def test_a_record_that_breaks_off_is_replayed_as_far_as_it_goes() -> None:
    deal = arranged({})
    assert replay(deal, [], OEDMC, nobody) == begin(deal, OEDMC)
