"""`homologue fan --json`."""

import json
import sys
from typing import Any, Final

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from broker.command import homologue
from broker.rules.fan import library
from broker.rules.tiles import KINDS
from tests.broker.calculators.asking import ask, code

CHOW: Final = {"kind": "chow", "tiles": ["1m", "2m", "3m"], "concealed": False}

PUNG: Final = {"kind": "pung", "tiles": ["8p", "8p", "8p"], "concealed": False}

BARE: Final[dict[str, Any]] = {
    "concealed": ["3p", "4p", "5p", "6s", "7s", "3z", "3z"],
    "melds": [CHOW, PUNG],
    "winning_tile": "8s",
    "self_drawn": False,
    "seat_wind": "south",
    "prevalent_wind": "east",
    "last_of_kind": False,
    "last_tile": False,
    "kong": False,
}
"""A hand without any fan."""

PAIRS: Final[dict[str, Any]] = {
    "concealed": ["1m", "1m", "3m", "3m", "5p", "5p", "7p", "7p", "2s", "2s", "9s", "9s", "4z"],
    "winning_tile": "4z",
    "self_drawn": True,
    "seat_wind": "east",
    "prevalent_wind": "east",
}


def elements(*pairs: tuple[int, str]) -> dict[str, Any]:
    """Give an answer from its elements."""
    return {"fan": sum(fan for fan, _ in pairs), "elements": [{"name": name, "fan": fan} for fan, name in pairs]}


def test_the_answer_is_one_line_of_this_form() -> None:
    said = (
        '{"concealed": ["3p", "4p", "5p", "6s", "7s", "3z", "3z"], "melds": [{"kind": "chow", "tiles": '
        '["1m", "2m", "3m"], "concealed": false}, {"kind": "kong", "tiles": ["8p", "8p", "8p", "8p"], "concealed": '
        'true}], "winning_tile": "8s", "self_drawn": true, "seat_wind": "east", "prevalent_wind": "east", '
        '"last_of_kind": false, "last_tile": false, "kong": true}\n'
    )
    result = CliRunner().invoke(homologue, ["fan", "--json"], input=said)
    assert result.output == (
        '{"fan":10,"elements":[{"name":"Out with Replacement Tile","fan":8},{"name":"Concealed Kong","fan":2}]}\n'
    )


def test_the_keys_that_can_be_left_out_are_melds_and_what_is_false() -> None:
    assert ask("fan", PAIRS) == [elements((24, "Seven Pairs"), (4, "Fully Concealed Hand"))]
    for key in PAIRS.keys() - {"self_drawn"}:
        assert code(ask("fan", {name: said for name, said in PAIRS.items() if name != key})[0]) == "malformed"


def test_a_fan_that_is_counted_twice_is_there_twice() -> None:
    melds = [{"kind": "pung", "tiles": ["9p"] * 3}, {"kind": "pung", "tiles": ["3z"] * 3}]
    outside = {**BARE, "melds": melds, "concealed": ["1s", "2s", "3s", "1s", "1s", "7m", "8m"], "winning_tile": "9m"}
    assert ask("fan", outside, options=("--minimum", "0")) == [
        elements((4, "Outside Hand"), (1, "Pung of Terminals or Honors"), (1, "Pung of Terminals or Honors"))
    ]


@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("en", ["Seven Pairs", "Fully Concealed Hand"]),
        ("fr", ["Sept paires", "Tout caché tiré"]),
        ("zh", ["七对", "不求人"]),
    ],
)
def test_the_names_are_in_the_language_that_is_asked_for(language: str, names: list[str]) -> None:
    (answer,) = ask("fan", PAIRS, options=("--language", language))
    assert [element["name"] for element in answer["elements"]] == names


def test_the_ruleset_is_an_option() -> None:
    assert ask("fan", PAIRS, options=("--ruleset", "green-book"))[0]["fan"] == 28
    assert ask("fan", PAIRS, options=("--ruleset", "1998")) == [elements((24, "Seven Pairs"), (1, "Self-Drawn"))]


def test_a_hand_under_the_minimum_is_refused_with_what_was_counted() -> None:
    told = elements((1, "Self-Drawn"))
    problem = {"code": "below_minimum", "message": "the hand is worth 1, under the minimum of 8"}
    assert ask("fan", {**BARE, "self_drawn": True}) == [{"error": problem | told}]


def test_the_minimum_is_the_profile_s_or_an_option() -> None:
    drawn = {**BARE, "self_drawn": True}
    for enough in ("0", "1"):
        assert ask("fan", drawn, options=("--minimum", enough)) == [elements((1, "Self-Drawn"))]
    (answer,) = ask("fan", drawn, options=("--minimum", "2"))
    assert answer["error"]["message"] == "the hand is worth 1, under the minimum of 2"
    assert ask("fan", BARE, options=("--profile", "oedmc-2020")) == [elements((8, "Chicken Hand"))]
    (answer,) = ask("fan", BARE, options=("--minimum", "9"))
    assert answer["error"]["fan"] == 8
    assert code(ask("fan", BARE, options=("--profile", "none"))[0]) == "unknown_profile"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"concealed": ["8p", "4p", "5p", "6s", "7s", "3z", "3z"], "winning_tile": "8p"}, "five_of_a_tile"),
        ({"concealed": BARE["concealed"][1:]}, "wrong_tile_count"),
        ({"concealed": [*BARE["concealed"], "8s"]}, "wrong_tile_count"),
        ({"melds": [CHOW]}, "wrong_tile_count"),
        ({"concealed": []}, "wrong_tile_count"),
        ({"winning_tile": "0s"}, "unknown_tile"),
        ({"concealed": ["", *BARE["concealed"][1:]]}, "unknown_tile"),
        ({"winning_tile": "x" * 100_000}, "unknown_tile"),
        ({"winning_tile": "9s"}, "not_winning"),
        ({"self_drawn": True}, "below_minimum"),
        ({"melds": [{**CHOW, "tiles": ["1m", "2m", "4m"]}, PUNG]}, "not_a_meld"),
        ({"melds": [{**CHOW, "tiles": ["1z", "2z", "3z"]}, PUNG]}, "not_a_meld"),
        ({"melds": [CHOW, {**PUNG, "tiles": ["8p", "8p", "8s"]}]}, "not_a_meld"),
        ({"melds": [CHOW, {**PUNG, "kind": "kong"}]}, "not_a_meld"),
        ({"melds": [CHOW, {**PUNG, "kind": "chii"}]}, "not_a_meld"),
        ({"melds": [{**CHOW, "concealed": True}, PUNG]}, "concealed_meld"),
        ({"melds": [CHOW, {**PUNG, "concealed": True}]}, "concealed_meld"),
        ({"seat_wind": "up"}, "unknown_wind"),
        ({"prevalent_wind": "E"}, "unknown_wind"),
        ({"kong": True, "self_drawn": True}, "replacement_without_kong"),
        ({"kong": True, "last_tile": True}, "robbed_on_last_tile"),
        ({"kong": True, "concealed": ["6s", "7s", "8s", "6s", "7s", "3z", "3z"]}, "kong_not_robbed"),
        ({"last_of_kind": True, "concealed": ["6s", "7s", "8s", "6s", "7s", "3z", "3z"]}, "not_last_of_kind"),
        ({"flowers": 1}, "malformed"),
        ({"self_drawn": "yes"}, "malformed"),
        ({"seat_wind": None}, "malformed"),
        ({"concealed": "3p4p5p6s7s3z3z"}, "malformed"),
        ({"concealed": [3, 4]}, "malformed"),
        ({"melds": [["chow"]]}, "malformed"),
        ({"melds": None}, "malformed"),
    ],
    ids=lambda part: repr(part)[:60],
)
def test_what_cannot_be_has_an_error_on_its_line(change: dict[str, Any], expected: str) -> None:
    answers = ask("fan", BARE, {**BARE, **change}, BARE)
    assert [answers[0], answers[2]] == [elements((8, "Chicken Hand"))] * 2
    assert set(answers[1]) == {"error"}
    assert answers[1]["error"]["code"] == expected


@pytest.mark.parametrize("line", ["", "{", "[]", "null", "8", '"fan"', "{}", '{"concealed": [], "concealed": []}'])
def test_what_is_no_question_is_malformed(line: str) -> None:
    answers = ask("fan", line, BARE)
    assert answers.pop() == elements((8, "Chicken Hand"))
    assert [code(answer) for answer in answers] == ["malformed"] * bool(line)


def test_a_library_that_is_not_installed_is_an_error_on_each_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "MahjongGB", None)
    library.module.cache_clear()
    try:
        assert [code(answer) for answer in ask("fan", BARE, PAIRS)] == ["fan_counter_missing"] * 2
    finally:
        library.module.cache_clear()


TILES: Final = st.sampled_from([*KINDS, "1m", "2m", "3m", "8p", "8p", "0m", "", "1x"])

MELDS: Final = st.fixed_dictionaries(
    {"kind": st.sampled_from(["chow", "pung", "kong", "pair"]), "tiles": st.lists(TILES, max_size=5)},
    optional={"concealed": st.booleans()},
)

JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(BARE)), inner, max_size=9),
    max_leaves=9,
)

RUBBISH: Final = JSON | st.fixed_dictionaries(
    {},
    optional={
        "concealed": st.lists(TILES, max_size=14) | JSON,
        "melds": st.lists(MELDS, max_size=6) | JSON,
        "winning_tile": TILES | JSON,
        **dict.fromkeys(["seat_wind", "prevalent_wind"], st.sampled_from(["east", "north", "up"])),
        **dict.fromkeys(["self_drawn", "last_of_kind", "last_tile", "kong"], st.booleans()),
    },
).map(lambda said: BARE | said)


@given(st.lists(RUBBISH, max_size=10))
def test_whatever_is_asked_is_answered_line_by_line(questions: list[Any]) -> None:
    answers = ask("fan", *(json.dumps(question) for question in questions))
    assert len(answers) == len(questions)
    for answer in answers:
        if "error" in answer:
            assert set(answer) == {"error"}
            assert answer["error"]["code"] not in {"fan_counter_failed", "fan_counter_missing"}
        else:
            assert answer["fan"] == sum(element["fan"] for element in answer["elements"]) >= 8
