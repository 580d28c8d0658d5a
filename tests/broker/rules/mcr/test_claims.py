"""Simultaneous claims: hu precedes pung and kong, which precede chow."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import Seat
from broker.rules import RuleError
from broker.rules.mcr import Action, ActionKind, TurnState, begin_turns, settle_claims
from tests.broker.rules.variants import seats

ON_WEST = begin_turns(seats(5, 5, 5, 5), "west", "claim")
NEAREST = begin_turns(seats(5, 5, 5, 5), "west", "claim", nearest_only=True)

CHOW = Action("chow", "north", "3m")
PUNG = Action("pung", "south")
KONG = Action("melded_kong", "east")


def hu(*winners: Seat) -> Action:
    return Action("hu_on_discard", seats=winners)


@pytest.mark.parametrize(
    ("claims", "goes_through"),
    [
        ([], Action("no_claim")),
        ([CHOW], CHOW),
        ([CHOW, PUNG], PUNG),
        ([CHOW, KONG], KONG),
        ([PUNG, hu("north")], hu("north")),
        ([hu("south"), CHOW], hu("south")),
        ([hu("south"), hu("north"), KONG], hu("north", "south")),
        ([hu("south", "east"), hu("north")], hu("north", "east", "south")),
        ([Action("hu_on_discard", "south")], hu("south")),
    ],
)
def test_the_claim_of_highest_precedence_succeeds(claims: list[Action], goes_through: Action) -> None:
    assert settle_claims(ON_WEST, claims) == goes_through


def test_only_the_nearest_after_the_discarder_wins_where_the_profile_says_so() -> None:
    assert settle_claims(NEAREST, [hu("south"), hu("east"), CHOW]) == hu("east")


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ([Action("discard", "north", "1m")], "not_a_claim"),
        ([Action("no_claim")], "not_a_claim"),
        ([Action("self_hu", "north")], "not_a_claim"),
        ([Action("pung")], "seat_missing"),
        ([Action("hu_on_discard")], "seat_missing"),
        ([CHOW, hu("north")], "claimed_twice"),
        ([PUNG, PUNG], "claimed_twice"),
    ],
)
def test_actions_that_are_not_valid_claims_are_refused(claims: list[Action], code: str) -> None:
    with pytest.raises(RuleError) as refused:
        settle_claims(ON_WEST, claims)
    assert refused.value.code == code


CLAIM: st.SearchStrategy[ActionKind] = st.sampled_from(["hu_on_discard", "pung", "melded_kong", "chow"])


CLAIMS = st.dictionaries(st.sampled_from(["north", "east", "south"]), CLAIM)


@given(CLAIMS, st.randoms(use_true_random=False), st.sampled_from([ON_WEST, NEAREST]))
def test_the_order_in_which_claims_arrive_does_not_matter(
    by_seat: dict[Seat, ActionKind], rng: Random, state: TurnState
) -> None:
    claims = [Action(do, seat) for seat, do in by_seat.items()]
    settled = settle_claims(state, claims)
    rng.shuffle(claims)
    assert settle_claims(state, claims) == settled
