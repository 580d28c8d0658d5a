"""`homologue referee --json` with riichi rules, and `homologue rules furiten --json`."""

from typing import Any

import pytest

from tests.broker.cli.asking import ask, code

TURN = [{"do": "draw", "seat": "east"}, {"do": "discard", "seat": "east", "tile": "3m"}]

PON = {"kind": "pon", "tiles": ["1m"] * 3}


def steps(start: Any, *steps: Any, rules: str = "montreal") -> list[dict[str, Any]]:  # noqa: ANN401 - any JSON
    """Ask one question and return the answers to its steps."""
    (answer,) = ask("referee", {"rules": rules, "start": start, "steps": steps})
    told: list[dict[str, Any]] = answer["steps"]
    return told


def test_a_step_is_answered_with_the_state_after_it() -> None:
    (drawn,) = steps({"dealer": "east"}, TURN[0])
    assert drawn == {
        "legal": True,
        "reason": None,
        "turn": "east",
        "phase": "hold",
        "live": 69,
        "dead": 14,
        "indicators": 1,
        "riichi": [],
        "over": None,
        "situation": {},
    }


def test_of_several_calls_on_a_tile_one_succeeds_and_the_others_are_refused() -> None:
    calls = [
        {"do": "chii", "seat": "south", "tiles": ["1m", "2m"], "ms": 100},
        {"do": "pon", "seat": "west", "ms": 450},
        {"do": "ron", "seat": "north", "ms": 3100},
    ]
    *_, called = steps({}, *TURN, {"calls": calls})
    assert (called["turn"], called["phase"]) == ("west", "hold")
    assert called["refused"] == {"south": "other_call", "north": "too_late"}


def test_calls_that_are_illegal_by_themselves_are_refused() -> None:
    calls = [{"do": "chii", "seat": "west", "tiles": ["1m", "2m"]}, {"do": "pon", "seat": "east"}]
    *_, called = steps({}, *TURN, {"calls": calls})
    assert (called["turn"], called["phase"]) == ("south", "draw")
    assert called["refused"] == {"west": "chow_not_next", "east": "own_discard"}


def test_an_illegal_step_changes_nothing_and_the_next_is_judged() -> None:
    told = steps({}, TURN[0], {"do": "draw", "seat": "east"}, {"do": "sleep"}, TURN[1])
    assert [(one["legal"], one["reason"]) for one in told] == [
        (True, None),
        (False, "wrong_phase"),
        (False, "malformed"),
        (True, None),
    ]


def test_a_hand_may_start_in_the_middle_with_tiles_melds_discards_and_points() -> None:
    start = {
        "dealer": "south",
        "turn": "north",
        "phase": "hold",
        "live": 3,
        "hands": {"north": ["1m"] * 2 + ["2p", "3p", "4p"] * 3 + ["5z"] * 2 + ["9s"]},
        "melds": {"west": [{"kind": "pon", "tiles": ["7z"] * 3}]},
        "discards": [{"seat": "south", "tile": "7z", "called": True}],
        "points": {"north": 25000},
    }
    riichi = {"do": "riichi", "seat": "north", "tile": "9s"}
    (late,) = steps(start, riichi)
    assert late["reason"] == "riichi_too_late"
    declared, won = steps(
        {**start, "live": 4}, {"do": "riichi", "seat": "north", "tile": "9s"}, {"do": "ron", "seat": "south"}
    )
    assert (declared["riichi"], won["over"], won["situation"]) == (["north"], "win", {"south": []})


def test_an_exhaustive_draw_names_the_seats_with_nagashi_mangan() -> None:
    start = {"live": 0, "phase": "claim", "discards": [{"seat": "south", "tile": "2p"}, {"seat": "east", "tile": "1z"}]}
    (over,) = steps(start, {"do": "no_call"})
    assert (over["over"], over["nagashi"]) == ("exhaustive_draw", ["east"])


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (None, "malformed"),
        ({"phase": "kan"}, "bad_start"),
        ({"phase": "claim"}, "bad_start"),
        ({"phase": "claim", "discards": [{"seat": "west", "tile": "1z"}]}, "bad_start"),
        ({"live": 71}, "bad_wall"),
        ({"live": -1}, "bad_wall"),
        ({"hands": {"east": ["1m"]}}, "wrong_tile_count"),
        ({"hands": {"east": ["1m"] * 3 + ["2m"] * 10}}, "five_of_a_tile"),
        ({"melds": {"east": [PON], "west": [PON]}}, "five_of_a_tile"),
        ({"melds": {"east": [{"kind": "chii", "tiles": ["1m", "2m", "4m"]}]}}, "not_a_meld"),
        ({"melds": {"east": [{**PON, "open": False}]}}, "concealed_meld"),
        ({"discards": [{"seat": "west", "tile": "8z"}]}, "unknown_tile"),
        ({"wind": "east"}, "malformed"),
    ],
    ids=lambda part: repr(part)[:60],
)
def test_a_wrong_start_is_an_error_and_the_next_line_is_answered(start: Any, expected: str) -> None:  # noqa: ANN401 - any JSON
    question = {"rules": "montreal", "start": {}, "steps": []}
    bad, good = ask("referee", question | {"start": start}, question)
    assert (code(bad), good) == (expected, {"steps": []})


def test_unknown_rules_are_an_error() -> None:
    assert code(ask("referee", {"rules": "mcr", "start": {}, "steps": []})[0]) == "unknown_profile"


HAND = ["1m", "2m", "3m", "4p", "5p", "6p", "7s", "8s", "9s", "1z", "1z", "5z", "5z"]


def test_a_player_in_riichi_who_let_a_winning_tile_pass_may_not_ron() -> None:
    seen = [
        {"player": 0, "tile": "9p"},
        {"player": 1, "tile": "3z", "riichi": True},
        {"player": 2, "tile": "1m"},
        {"player": 1, "tile": "2s"},
    ]
    asked = {"player": 1, "wait": ["1m", "4m"], "discards": seen, "tile": "4m"}
    assert ask("furiten", asked) == [{"may_ron": False, "furiten": ["riichi"], "wait": ["1m", "4m"]}]


def test_the_wait_is_computed_from_the_hand() -> None:
    assert ask("furiten", {"player": 1, "concealed": HAND}, {"player": 1, "concealed": HAND, "tile": "2z"}) == [
        {"may_ron": True, "furiten": [], "wait": ["1z", "5z"]},
        {"may_ron": False, "furiten": [], "wait": ["1z", "5z"]},
    ]
    melds = [{"kind": "pon", "tiles": ["7z"] * 3}]
    assert ask("furiten", {"player": 1, "concealed": HAND[3:], "melds": melds})[0]["wait"] == ["1z", "5z"]


def test_a_called_discard_still_counts_as_ones_own() -> None:
    seen = [{"player": 1, "tile": "5z", "called": True}]
    assert ask("furiten", {"player": 1, "concealed": HAND, "discards": seen})[0]["furiten"] == ["own_discard"]


def test_a_concealed_kan_causes_furiten_only_for_thirteen_orphans() -> None:
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
def test_an_impossible_question_gets_an_error_on_its_line(asked: Any, expected: str) -> None:  # noqa: ANN401 - any JSON
    refused, after = ask("furiten", asked, {"player": 0, "wait": []})
    assert (code(refused), after) == (expected, {"may_ron": False, "furiten": [], "wait": []})
