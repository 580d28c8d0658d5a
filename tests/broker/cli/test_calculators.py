"""`homologue fan --json`, `points --json` and `imp --json`."""

import json
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from broker.cli.main import homologue
from broker.rules import KINDS, mcr_folder
from broker.rules.mcr import fan
from tests.broker.cli.asking import ask, code
from tests.broker.rules.variants import seats
from tests.broker.scoring.oracle import imps

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
    return {"fan": sum(fan for fan, _ in pairs), "elements": [{"name": name, "fan": fan} for fan, name in pairs]}


def test_the_answer_is_one_line_of_json() -> None:
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


def test_only_melds_and_false_values_may_be_left_out() -> None:
    assert ask("fan", PAIRS) == [elements((24, "Seven Pairs"), (4, "Fully Concealed Hand"))]
    for key in PAIRS.keys() - {"self_drawn"}:
        assert code(ask("fan", {name: said for name, said in PAIRS.items() if name != key})[0]) == "malformed"


def test_a_fan_that_counts_twice_is_listed_twice() -> None:
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
def test_fan_names_are_in_the_requested_language(language: str, names: list[str]) -> None:
    (answer,) = ask("fan", PAIRS, options=("--language", language))
    assert [element["name"] for element in answer["elements"]] == names


def test_the_ruleset_can_be_chosen_by_option() -> None:
    assert ask("fan", PAIRS, options=("--ruleset", "green-book"))[0]["fan"] == 28
    assert ask("fan", PAIRS, options=("--ruleset", "1998")) == [elements((24, "Seven Pairs"), (1, "Self-Drawn"))]


def test_the_refusal_of_a_hand_under_the_minimum_lists_its_fan() -> None:
    told = elements((1, "Self-Drawn"))
    problem = {"code": "below_minimum", "message": "the hand is worth 1, under the minimum of 8"}
    assert ask("fan", {**BARE, "self_drawn": True}) == [{"error": problem | told}]


def test_the_minimum_comes_from_the_option_or_else_the_profile() -> None:
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
def test_an_impossible_hand_gets_an_error_on_its_line(change: dict[str, Any], expected: str) -> None:
    answers = ask("fan", BARE, {**BARE, **change}, BARE)
    assert [answers[0], answers[2]] == [elements((8, "Chicken Hand"))] * 2
    assert set(answers[1]) == {"error"}
    assert answers[1]["error"]["code"] == expected


@pytest.mark.parametrize("line", ["", "{", "[]", "null", "8", '"fan"', "{}", '{"concealed": [], "concealed": []}'])
def test_a_line_that_is_not_a_hand_is_malformed(line: str) -> None:
    answers = ask("fan", line, BARE)
    assert answers.pop() == elements((8, "Chicken Hand"))
    assert [code(answer) for answer in answers] == ["malformed"] * bool(line)


def test_a_library_that_is_not_installed_is_an_error_on_each_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "MahjongGB", None)
    fan.mahjong_gb.cache_clear()
    try:
        assert [code(answer) for answer in ask("fan", BARE, PAIRS)] == ["fan_counter_missing"] * 2
    finally:
        fan.mahjong_gb.cache_clear()


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
def test_every_line_gets_one_answer_whatever_it_contains(questions: list[Any]) -> None:
    answers = ask("fan", *(json.dumps(question) for question in questions))
    assert len(answers) == len(questions)
    for answer in answers:
        if "error" in answer:
            assert set(answer) == {"error"}
            assert answer["error"]["code"] not in {"fan_counter_failed", "fan_counter_missing"}
        else:
            assert answer["fan"] == sum(element["fan"] for element in answer["elements"]) >= 8


def test_the_contracts_example_has_this_answer() -> None:
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
def test_the_points_of_each_outcome_are_computed(asked: dict[str, Any], points: dict[str, int]) -> None:
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
def test_an_impossible_outcome_gets_an_error_on_its_line(asked: object, expected: str) -> None:
    before = after = {"win": "draw"}
    answers = ask("points", before, asked, after)
    assert [answers[0], answers[2]] == [{"points": seats(0, 0, 0, 0)}] * 2
    assert code(answers[1]) == expected


def test_the_error_for_an_unknown_profile_lists_the_known_ones() -> None:
    (answer,) = ask("points", {"win": "draw", "profile": "none"})
    assert "oedmc-2020" in answer["error"]["message"]


def test_with_a_single_winner_the_nearest_declarer_wins(tmp_path: Path) -> None:
    two = {"win": "discard", "winners": {"east": 9, "west": 88}, "discarder": "north"}
    expected = {"east": 33, "south": -8, "west": -8, "north": -17}
    assert ask("points", two | {"profile": "mcr"}) == [{"points": expected}]
    assert ask("points", two, options=("--profile", "mcr")) == [{"points": expected}]
    path = tmp_path / "club.toml"
    own = (mcr_folder() / "mcr.toml").read_text(encoding="utf-8").replace('id = "mcr"', 'id = "club"')
    path.write_text(own, encoding="utf-8")
    assert ask("points", two, options=("--profile", str(path))) == [{"points": expected}]
    path.write_text(own.replace('id = "club"', 'id = "mcr"').replace("value = 3000", "value = 1"), encoding="utf-8")
    assert [code(answer) for answer in ask("points", two, options=("--profile", str(path)))] == ["bad_profile"]


def test_a_repeated_key_is_refused() -> None:
    twice = '{"win": "discard", "winners": {"east": 8, "east": 18}, "discarder": "north"}'
    assert [code(answer) for answer in ask("points", twice)] == ["malformed"]


@pytest.mark.parametrize(
    ("written", "imp"),
    [
        ('"8.6"', 3),
        ("8.6", 3),
        ('"43/5"', 3),
        ('"8.2"', 2),
        ('"10.4"', 3),
        ('"-6.5"', -2),
        ('"-12"', -3),
        ('"8.5"', 3),
        ("8.5", 3),
        ('"17/2"', 3),
        ('"8.499999999999"', 2),
        ("8.499999999999", 2),
        ('"-8.5"', -3),
        ('"\N{MINUS SIGN}8.5"', -3),
        ('"+8.5"', 3),
        ('" 8.5 "', 3),
        ('"8.50"', 3),
        ('"008.5"', 3),
        ("-9", -3),
        ("0", 0),
        ("-0", 0),
        ('"0/7"', 0),
        ("1.49", 0),
        ("1.5", 1),
        ("399.5", 24),
        ("999999999999", 24),
    ],
)
def test_a_difference_is_converted_to_imps(written: str, imp: int) -> None:
    assert ask("imp", f'{{"difference": {written}}}') == [{"imp": imp}]


@pytest.mark.parametrize(
    ("written", "worth"),
    [
        ("8.200000000000003", 2),  # 42 - 33.8 in floating point
        ('"8.444444444444444"', 2),
        ("8.49999999999999999999", 2),  # as a float this would be 8.5 and worth 3
        ("8.50000000000000000000", 3),
        ("9999999999999", 24),
        ("1e3", 24),
        ('"-8.5e0"', -3),
        ("1" + "0" * 399, 24),
    ],
    ids=lambda part: str(part)[:24],
)
def test_any_number_of_digits_is_read_exactly(written: str, worth: int) -> None:
    assert ask("imp", f'{{"difference": {written}}}') == [{"imp": worth}]


@pytest.mark.parametrize(
    "written",
    [
        '""',
        '"eight"',
        '"8,6"',
        '"8.6 points"',
        '"8."',
        '".5"',
        '"8/0"',
        '"8/-3"',
        '"--8"',
        '"\N{ARABIC-INDIC DIGIT EIGHT}"',
        '"8 6"',
        '"nan"',
        '"inf"',
        '"0x10"',
        '"1_000"',
        "1E400",
        "true",
        "null",
        "[8]",
        "{}",
        '"1e333"',
        "9" * 500,
    ],
)
def test_a_number_that_cannot_be_read_exactly_is_refused(written: str) -> None:
    assert code(ask("imp", f'{{"difference": {written}}}')[0]) == "not_a_number"


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        '{"difference": NaN}',
        '{"difference": }',
        '{"difference": "8", "x": 1}',
        '{"difference": "\\ud800"}',
        "8.6",
    ],
)
def test_a_line_without_a_difference_is_malformed(line: str) -> None:
    assert code(ask("imp", line)[0]) == "malformed"


def test_the_profile_is_an_option_and_an_unknown_one_is_an_error_on_each_line() -> None:
    assert ask("imp", {"difference": "8.6"}, options=("--profile", "oedmc-2020")) == [{"imp": 3}]
    answers = ask("imp", {"difference": "8.6"}, {"difference": "1"}, options=("--profile", "none"))
    assert [code(answer) for answer in answers] == ["unknown_profile"] * 2


@given(st.lists(st.tuples(st.integers(-99999, 99999), st.integers(1, 60)), min_size=1, max_size=20))
def test_every_fraction_is_converted_exactly(fractions: list[tuple[int, int]]) -> None:
    asked = [{"difference": f"{over}/{under}"} for over, under in fractions]
    assert ask("imp", *asked) == [{"imp": imps(-over, under, 0)} for over, under in fractions]


@given(st.lists(st.decimals(-500, 500, places=4), min_size=1, max_size=20))
def test_a_decimal_means_the_same_as_text_or_number(decimals: list[object]) -> None:
    as_text = ask("imp", *(json.dumps({"difference": str(number)}) for number in decimals))
    assert ask("imp", *(f'{{"difference": {number}}}' for number in decimals)) == as_text
    assert all(set(answer) == {"imp"} for answer in as_text)
