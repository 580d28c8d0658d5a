"""`homologue points --json`."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from broker.command import homologue
from broker.rules.profile_files import folder
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


def test_where_one_wins_the_nearest_of_those_who_declared_has_won(tmp_path: Path) -> None:
    two = {"win": "discard", "winners": {"east": 9, "west": 88}, "discarder": "north"}
    expected = {"east": 33, "south": -8, "west": -8, "north": -17}
    assert ask("points", two | {"profile": "mcr"}) == [{"points": expected}]
    assert ask("points", two, options=("--profile", "mcr")) == [{"points": expected}]
    path = tmp_path / "club.toml"
    own = (folder() / "mcr.toml").read_text(encoding="utf-8").replace('id = "mcr"', 'id = "club"')
    path.write_text(own, encoding="utf-8")
    assert ask("points", two, options=("--profile", str(path))) == [{"points": expected}]
    path.write_text(own.replace('id = "club"', 'id = "mcr"').replace("value = 3000", "value = 1"), encoding="utf-8")
    assert [code(answer) for answer in ask("points", two, options=("--profile", str(path)))] == ["bad_profile"]


def test_a_name_said_twice_is_refused() -> None:
    twice = '{"win": "discard", "winners": {"east": 8, "east": 18}, "discarder": "north"}'
    assert [code(answer) for answer in ask("points", twice)] == ["malformed"]
