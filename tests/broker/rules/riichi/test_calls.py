"""Calls on one tile with their times (MONTREAL: 0.5 s, and 3 s for a ron; RIICHI-PLAY: precedence)."""

from itertools import permutations
from typing import Any

import pytest

from broker.protocol import Seat
from broker.rules import RuleError
from broker.rules.riichi.board import ActionKind, RiichiAction
from broker.rules.riichi.calls import TimedCall, settle_calls
from tests.broker.rules.riichi.referee_steps import BASIC, MONTREAL


def call(do: ActionKind, seat: Seat, ms: int) -> TimedCall:
    return TimedCall(RiichiAction(do, seat), ms)


@pytest.mark.parametrize(
    ("calls", "through", "refused"),
    [
        ([], "no_call", {}),
        ([call("chii", "south", 10), call("pon", "north", 500)], "pon north", {"south": "other_call"}),
        ([call("chii", "south", 10), call("pon", "north", 501)], "chii south", {"north": "too_late"}),
        ([call("chii", "south", 900), call("pon", "north", 800)], "pon north", {"south": "other_call"}),
        ([call("chii", "south", 800), call("pon", "north", 900)], "chii south", {"north": "too_late"}),
        ([call("pon", "west", 10), call("ron", "north", 3000)], "ron north", {"west": "other_call"}),
        ([call("pon", "west", 10), call("ron", "north", 3001)], "pon west", {"north": "too_late"}),
        ([call("ron", "north", 3001)], "no_call", {"north": "too_late"}),
        ([call("ron", "north", 10), call("ron", "south", 2900)], "ron south north", {}),
        ([call("pon", "west", 10), call("ron", "west", 900)], "ron west", {}),
        ([call("ron", "west", 10), call("ron", "south", 3100)], "ron west", {"south": "too_late"}),
    ],
)
def test_calls_settle_to_the_same_action_in_any_order(
    calls: list[TimedCall], through: str, refused: dict[Seat, Any]
) -> None:
    for ordered in permutations(calls):
        settled = settle_calls("east", ordered, MONTREAL)
        assert (" ".join([settled.action.do, *settled.action.actors]), settled.refused) == (through, refused)


def test_under_the_basic_rules_only_the_nearest_ron_wins() -> None:
    settled = settle_calls("south", [call("ron", "east", 10), call("ron", "north", 20)], BASIC)
    assert (settled.action.actors, settled.refused) == (("north",), {"east": "other_call"})


@pytest.mark.parametrize(
    ("calls", "code"),
    [
        ([call("draw", "south", 1)], "not_a_claim"),
        ([call("pon", "east", 1)], "own_discard"),
        ([TimedCall(RiichiAction("pon"), 1)], "seat_missing"),
        ([call("pon", "south", -1)], "time_negative"),
        ([call("pon", "south", 1), call("chii", "south", 2)], "claimed_twice"),
    ],
)
def test_an_invalid_call_is_refused(calls: list[TimedCall], code: str) -> None:
    with pytest.raises(RuleError) as refused:
        settle_calls("east", calls, MONTREAL)
    assert refused.value.code == code
