"""`homologue points --json`."""

from typing import Any

import pytest
from click.testing import CliRunner

from broker.command import homologue
from tests.broker.calculators.asking import ask, code
from tests.broker.rules.variants import seats


def test_the_answer_to_the_contract_s_example_is_this_line() -> None:
    asked = '{"profile": "oedmc-2020", "win": "discard", "winners": {"east": 18}, "discarder": "north"}\n'
    result = CliRunner().invoke(homologue, ["points", "--json"], input=asked)
    assert result.output == '{"points":{"east":42,"south":-8,"west":-8,"north":-26}}\n'


@pytest.mark.parametrize(
    ("asked", "points"),
    [
        ({"win": "discard", "winners": {"east": 18}, "discarder": "north"}, seats(42, -8, -8, -26)),
        ({"win": "discard", "winners": {"south": 12, "north": 12}, "discarder": "east"}, seats(-32, 36, -8, 36)),
        ({"win": "self_drawn", "winners": {"west": 10}}, seats(-12, -12, 34, -12)),
        ({"win": "self_drawn", "winners": {"west": 10}, "discarder": None}, seats(-12, -12, 34, -12)),
        ({"win": "draw"}, seats(0, 0, 0, 0)),
        ({"win": "draw", "winners": {}, "discarder": None}, seats(0, 0, 0, 0)),
    ],
)
def test_each_outcome_has_its_points(asked: dict[str, Any], points: dict[str, int]) -> None:
    assert ask("points", asked) == [{"points": points}]
    assert ask("points", {**asked, "profile": "oedmc-2020"}) == [{"points": points}]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"win": "draw", "profile": "none"}, "unknown_profile"),
        ({"win": "draw", "winners": {"east": 8}}, "draw_with_winner"),
        ({"win": "draw", "discarder": "east"}, "discarder_not_asked"),
        ({"win": "discard", "discarder": "east"}, "winner_missing"),
        ({"win": "discard", "winners": {"east": 8}}, "discarder_missing"),
        ({"win": "discard", "winners": {"east": 8}, "discarder": "east"}, "discarder_wins"),
        ({"win": "discard", "winners": {"east": 7}, "discarder": "west"}, "below_minimum"),
        ({"win": "self_drawn", "winners": {"east": 8, "west": 8}}, "several_self_drawn"),
        ({"win": "tsumo", "winners": {"east": 8}}, "malformed"),
        ({"win": "discard", "winners": {"up": 8}, "discarder": "west"}, "malformed"),
        ({"win": "discard", "winners": {"east": "8"}, "discarder": "west"}, "malformed"),
        ({"win": "discard", "winners": {"east": 8.5}, "discarder": "west"}, "malformed"),
        ({"win": "discard", "winners": {"east": True}, "discarder": "west"}, "malformed"),
        ({"win": "discard", "winners": {"east": 0}, "discarder": "west"}, "malformed"),
        ({"win": "discard", "winners": {"east": 1000}, "discarder": "west"}, "malformed"),
        ({"win": "discard", "winners": {"east": 10**4000}, "discarder": "west"}, "malformed"),
        ({"win": "discard", "winners": [["east", 8]], "discarder": "west"}, "malformed"),
        ({"win": "draw", "colour": "red"}, "malformed"),
        ({}, "malformed"),
        ([], "malformed"),
        (None, "malformed"),
    ],
    ids=lambda part: repr(part)[:60],
)
def test_what_cannot_be_has_an_error_on_its_line(asked: object, expected: str) -> None:
    before = after = {"win": "draw"}
    answers = ask("points", before, asked, after)
    assert [answers[0], answers[2]] == [{"points": seats(0, 0, 0, 0)}] * 2
    assert code(answers[1]) == expected


def test_the_names_of_the_profiles_are_told_to_who_asks_for_another() -> None:
    (answer,) = ask("points", {"win": "draw", "profile": "none"})
    assert "oedmc-2020" in answer["error"]["message"]
