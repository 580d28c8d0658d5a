"""`homologue furiten --json`."""

from typing import Any

import pytest

from tests.broker.calculators.asking import ask, code

HAND = ["1m", "2m", "3m", "4p", "5p", "6p", "7s", "8s", "9s", "1z", "1z", "5z", "5z"]


def test_a_player_in_riichi_who_let_a_tile_pass_may_not_ron() -> None:
    seen = [
        {"player": 0, "tile": "9p"},
        {"player": 1, "tile": "3z", "riichi": True},
        {"player": 2, "tile": "1m"},
        {"player": 1, "tile": "2s"},
    ]
    asked = {"player": 1, "wait": ["1m", "4m"], "discards": seen, "tile": "4m"}
    assert ask("furiten", asked) == [{"may_ron": False, "furiten": ["riichi"], "wait": ["1m", "4m"]}]


def test_the_hand_tells_its_wait() -> None:
    assert ask("furiten", {"player": 1, "concealed": HAND}, {"player": 1, "concealed": HAND, "tile": "2z"}) == [
        {"may_ron": True, "furiten": [], "wait": ["1z", "5z"]},
        {"may_ron": False, "furiten": [], "wait": ["1z", "5z"]},
    ]
    melds = [{"kind": "pon", "tiles": ["7z"] * 3}]
    assert ask("furiten", {"player": 1, "concealed": HAND[3:], "melds": melds})[0]["wait"] == ["1z", "5z"]


def test_a_claimed_discard_is_an_own_one() -> None:
    seen = [{"player": 1, "tile": "5z", "called": True}]
    assert ask("furiten", {"player": 1, "concealed": HAND, "discards": seen})[0]["furiten"] == ["own_discard"]


def test_a_kan_that_passed_is_an_added_one_and_of_a_concealed_one_for_thirteen_orphans_alone() -> None:
    orphans = [*(f"{rank}{suit}" for suit in "mps" for rank in "19"), *(f"{rank}z" for rank in (1, 1, 2, 3, 4, 5, 6))]

    def why(kan: object, **hand: Any) -> list[str]:  # noqa: ANN401 - any JSON
        passed = {"player": 0, "tile": "7z", "kan": kan}
        told: list[str] = ask("furiten", {"player": 1, "discards": [passed], **hand})[0]["furiten"]
        return told

    assert [why(kan, concealed=orphans) for kan in ("added", "concealed", True)] == [["same_turn"]] * 3
    assert [why(kan, wait=["7z"]) for kan in ("added", "concealed", True)] == [["same_turn"], [], ["same_turn"]]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"player": 1}, "wait_or_hand"),
        ({"player": 1, "wait": ["1m"], "concealed": HAND}, "wait_or_hand"),
        ({"player": 4, "wait": ["1m"]}, "no_such_player"),
        ({"player": 1, "wait": ["8z"]}, "unknown_tile"),
        ({"player": 1, "wait": ["1m"], "tile": "x"}, "unknown_tile"),
        ({"player": 1, "concealed": HAND[1:]}, "wrong_tile_count"),
        ({"player": 1, "concealed": ["1m"] * 5 + HAND[5:]}, "five_of_a_tile"),
        ({"player": 1, "wait": ["1m"], "discards": [{"player": 1, "tile": "1p", "riichi": True}] * 2}, "riichi_twice"),
        ({"player": 1, "wait": ["1m"], "discards": [{"player": 0, "tile": "1m", "kan": "open"}]}, "malformed"),
        ({"player": "1", "wait": ["1m"]}, "malformed"),
        ({"wait": ["1m"]}, "malformed"),
        ([], "malformed"),
    ],
    ids=lambda part: repr(part)[:60],
)
def test_what_cannot_be_has_an_error_on_its_line(asked: Any, expected: str) -> None:  # noqa: ANN401 - any JSON
    refused, after = ask("furiten", asked, {"player": 0, "wait": []})
    assert (code(refused), after) == (expected, {"may_ron": False, "furiten": [], "wait": []})
