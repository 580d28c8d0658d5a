"""`homologue referee --json`."""

from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from broker.cli.main import homologue
from broker.protocol import SEATS
from broker.rules.mcr.turns import ACTION_KINDS
from tests.broker.cli.asking import ask, code
from tests.broker.rules.variants import seats

FULL: dict[str, int] = dict.fromkeys(SEATS, 21)
START = {"walls": FULL, "turn": "east", "phase": "draw", "ltw": False}
CLAIM = {**START, "phase": "claim"}


def steps(start: Any, *steps: Any, options: tuple[str, ...] = ()) -> list[dict[str, Any]]:  # noqa: ANN401 - any JSON
    """Ask one question and return the answers to its steps."""
    (answer,) = ask("referee", {"start": start, "steps": steps}, options=options)
    assert set(answer) == {"steps"}
    told: list[dict[str, Any]] = answer["steps"]
    return told


def test_the_contracts_example_has_this_answer() -> None:
    asked = (
        '{"start": {"walls": {"east": 21, "south": 21, "west": 21, "north": 21}, "turn": "east", "phase": "draw",'
        ' "ltw": false}, "steps": [{"do": "draw", "seat": "east"}]}\n'
    )
    said = CliRunner().invoke(homologue, ["referee", "--json"], input=asked)
    assert said.stdout == (
        '{"steps":[{"legal":true,"reason":null,"ltw":false,"walls":{"east":20,"south":21,"west":21,"north":21},'
        '"turn":"east","over":null,"situation_fans":[]}]}\n'
    )


def test_a_whole_play_is_judged_step_by_step() -> None:
    start = {"walls": seats(1, 1, 0, 3), "turn": "north", "phase": "claim"}
    told = steps(
        start,
        {"do": "no_claim"},
        {"do": "draw", "seat": "east"},
        {"do": "discard", "seat": "east"},
        {"do": "melded_kong", "seat": "south"},
        {"do": "draw", "seat": "south"},
        {"do": "added_kong", "seat": "south"},
        {"do": "self_hu", "seat": "south"},
        {"do": "discard", "seat": "south"},
    )
    walls = [seats(1, 1, 0, 3), *[seats(0, 1, 0, 3)] * 3, *[seats(0, 0, 0, 3)] * 4]
    turns = ["east", "east", "east", *["south"] * 5]
    reasons = [None, None, None, None, None, "only_hu_in_ltw", None, "play_over"]
    assert told == [
        {
            "legal": reason is None,
            "reason": reason,
            "ltw": turn == "south",
            "walls": left,
            "turn": turn,
            "over": "win" if at > 5 else None,
            "situation_fans": ["Last Tile Draw", "Out with Replacement Tile"] if at == 6 else [],
        }
        for at, (left, turn, reason) in enumerate(zip(walls, turns, reasons, strict=True))
    ]


def test_three_players_may_win_on_the_last_discard() -> None:
    (told,) = steps({**CLAIM, "ltw": True}, {"do": "hu_on_discard", "seats": ["north", "south", "west"]})
    assert (told["legal"], told["over"], told["situation_fans"]) == (True, "win", ["Last Tile Claim"])


def test_last_tile_warning_is_reported_even_if_the_start_denies_it() -> None:
    (told,) = steps({**START, "walls": {**FULL, "south": 0}}, {"do": "draw", "seat": "east"})
    assert told["ltw"] is True


def test_a_step_may_have_additional_fields() -> None:
    told = steps(CLAIM, {"do": "pung", "seat": "west", "tile": "5m", "at": 12.5}, {"do": "discard", "seat": "west"})
    assert [step["legal"] for step in told] == [True, True]


@pytest.mark.parametrize("step", [{"do": "no_claim"}, {"do": "no_claim", "seat": "south"}])
def test_no_claim_may_name_a_seat(step: dict[str, str]) -> None:
    assert steps(CLAIM, step)[0]["turn"] == "south"


def test_a_single_winner_may_be_named_as_the_seat() -> None:
    assert steps(CLAIM, {"do": "hu_on_discard", "seat": "west"})[0]["over"] == "win"


@pytest.mark.parametrize(
    "step",
    [
        None,
        5,
        "draw",
        [],
        {},
        {"seat": "east"},
        {"do": "sleep", "seat": "east"},
        {"do": None},
        {"do": "draw", "seat": "middle"},
        {"do": "draw", "seat": ["east"]},
        {"do": "draw", "seat": "East"},
        {"do": "hu_on_discard", "seats": "west"},
        {"do": "hu_on_discard", "seats": ["west", 2]},
        {"do": "pung", "seat": "west", "tile": 5},
    ],
    ids=str,
)
def test_a_malformed_step_is_not_legal_and_the_next_is_judged(step: Any) -> None:  # noqa: ANN401 - any JSON
    told = steps(START, step, {"do": "draw", "seat": "east"})
    assert [(one["legal"], one["reason"], one["walls"]["east"]) for one in told] == [
        (False, "malformed", 21),
        (True, None, 20),
    ]


@pytest.mark.parametrize(
    ("start", "refused"),
    [
        (None, "malformed"),
        ({}, "malformed"),
        ({**START, "turn": "middle"}, "malformed"),
        ({**START, "phase": "kong"}, "malformed"),
        ({**START, "ltw": 1}, "malformed"),
        ({**START, "walls": {**FULL, "east": True}}, "malformed"),
        ({**START, "walls": {**FULL, "east": 20.5}}, "malformed"),
        ({**START, "walls": {**FULL, "east": "21"}}, "malformed"),
        ({**START, "walls": {**FULL, "middle": 1}}, "malformed"),
        ({**START, "wall": 1}, "malformed"),
        ({**START, "walls": {**FULL, "east": 22}}, "bad_walls"),
        ({**START, "walls": {**FULL, "east": -1}}, "bad_walls"),
        ({**START, "walls": {"east": 21}}, "bad_walls"),
    ],
    ids=str,
)
def test_a_wrong_start_is_an_error_and_the_next_line_is_answered(
    start: Any,  # noqa: ANN401 - any JSON
    refused: str,
) -> None:
    bad, good = ask("referee", {"start": start, "steps": []}, {"start": START, "steps": []})
    assert (code(bad), good) == (refused, {"steps": []})


@pytest.mark.parametrize(
    "line", ["{", '{"start": ', "[]", '{"steps": []}', '{"start": {"walls": {}}}', '{"steps": 5}', "\x00"]
)
def test_a_line_that_is_not_a_question_is_malformed(line: str) -> None:
    bad, good = ask("referee", line, {"start": START, "steps": []})
    assert (code(bad), good) == ("malformed", {"steps": []})


def test_an_unknown_profile_is_an_error_on_each_line() -> None:
    question = {"start": START, "steps": []}
    answers = ask("referee", question, question, options=("--profile", "none"))
    assert [code(answer) for answer in answers] == ["unknown_profile"] * 2


@pytest.mark.parametrize("profile", ["oedmc-2020", "mcr"])
def test_several_may_declare_even_if_only_the_nearest_wins(profile: str) -> None:
    two = {"do": "hu_on_discard", "seats": ["south", "west"]}
    (step,) = steps(CLAIM, two, options=("--profile", profile))
    assert (step["reason"], step["over"]) == (None, "win")


@pytest.mark.parametrize(
    ("named", "reason"),
    [(["south", "east"], "discarder_wins"), (["south", "south"], "winner_twice"), ([], "winner_missing")],
)
def test_a_wrong_seat_among_several_winners_is_illegal_even_if_the_nearest_wins(named: list[str], reason: str) -> None:
    (step,) = steps(CLAIM, {"do": "hu_on_discard", "seats": named}, options=("--profile", "mcr"))
    assert (step["reason"], step["over"]) == (reason, None)


STEP = st.fixed_dictionaries(
    {"do": st.sampled_from(ACTION_KINDS)},
    optional={"seat": st.sampled_from(SEATS), "seats": st.lists(st.sampled_from(SEATS), max_size=3)},
)
POSITION = st.fixed_dictionaries(
    {
        "walls": st.fixed_dictionaries(dict.fromkeys(SEATS, st.integers(0, 3))),
        "turn": st.sampled_from(SEATS),
        "phase": st.sampled_from(["draw", "hold", "claim"]),
    }
)


@given(POSITION, st.lists(STEP, max_size=40))
def test_an_illegal_step_has_a_reason_and_changes_nothing(start: Any, tried: list[Any]) -> None:  # noqa: ANN401 - any JSON
    told = steps(start, *tried)
    state = {"walls": start["walls"], "turn": start["turn"], "over": None}
    for step in told:
        stands = {name: step[name] for name in state}
        assert step["legal"] == (step["reason"] is None)
        assert step["legal"] or (stands == state and step["situation_fans"] == [])
        state = stands
