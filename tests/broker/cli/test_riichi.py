"""`homologue riichi`: JSON lines as the contract says, and sentences for people."""

from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from broker.cli.riichi import parse_tiles
from tests.broker.cli.asking import ask, code
from tests.broker.rules.riichi.impossible import SITUATIONS, TILES
from tests.refusals import codes

HAND: Final[dict[str, Any]] = {
    "concealed": list(parse_tiles("234m678p2345578s")),
    "melds": [],
    "winning_tile": "6s",
    "self_drawn": False,
    "round_wind": "east",
    "seat_wind": "south",
    "riichi": 1,
    "ippatsu": False,
    "rinshan": False,
    "chankan": False,
    "haitei": False,
    "houtei": False,
    "first_turn": False,
    "dora_indicators": ["1m"],
    "ura_indicators": [],
    "honba": 0,
    "rules": "montreal",
}

POINTS: Final[dict[str, Any]] = {
    "han": 2,
    "fu": 30,
    "yakuman": 0,
    "dealer": True,
    "self_drawn": False,
    "honba": 0,
}


def told(*arguments: str) -> tuple[int, str]:
    """Run a command; return its exit code and output."""
    result = CliRunner().invoke(homologue, ["riichi", *arguments])
    return result.exit_code, result.output


def test_a_hand_is_answered_with_yaku_han_fu_and_payments() -> None:
    (answer,) = ask("riichi", HAND)
    assert answer == {
        "yaku": [
            {"id": "riichi", "name": "riichi", "han": 1},
            {"id": "pinfu", "name": "pinfu", "han": 1},
            {"id": "tanyao", "name": "tanyao", "han": 1},
            {"id": "dora", "name": "dora", "han": 1},
        ],
        "han": 4,
        "fu": 30,
        "yakuman": 0,
        "payments": {"discarder_pays": 7700, "winner_gain": 7700},
        "winner_gain": 7700,
        "limit": None,
        "fu_items": [
            {"id": "winning", "name": "fuutei", "fu": 20},
            {"id": "concealed_ron", "name": "menzen kafu", "fu": 10},
        ],
    }


def test_han_and_fu_are_answered_with_payments() -> None:
    # RIICHI-POINTS, both examples.
    dealer, other = ask("riichi", POINTS, {"han": 3, "fu": 50, "dealer": False, "self_drawn": True})
    assert dealer["payments"] == {"discarder_pays": 2900, "winner_gain": 2900}
    assert other["payments"] == {"dealer_pays": 3200, "each_non_dealer_pays": 1600, "winner_gain": 6400}


def test_counters_and_deposits_are_added() -> None:
    (answer,) = ask("riichi", HAND | {"self_drawn": True, "seat_wind": "east", "honba": 2, "riichi_sticks": 1})
    assert answer["payments"] == {"each_other_pays": 4200, "winner_gain": 13_600}


def test_melds_red_fives_and_other_rules_are_read() -> None:
    melds = [
        {"kind": "chii", "tiles": ["3p", "4p", "0p"], "open": True},
        {"kind": "kan", "tiles": ["8s"] * 4, "open": False},
    ]
    asked = HAND | {"concealed": list(parse_tiles("23466m34s")), "winning_tile": "2s", "melds": melds, "riichi": 0}
    (answer,) = ask("riichi", asked | {"rules": "riichi-tenhou"})
    assert {one["id"]: one["han"] for one in answer["yaku"]} == {"tanyao": 1, "dora": 1, "red_five": 1}
    assert answer["fu_items"][1]["tiles"] == ["8s"] * 4


def test_yakuman_are_counted_from_a_hand_or_a_number() -> None:
    orphans = HAND | {"concealed": list(parse_tiles("19m19p19s1234567z")), "winning_tile": "7z", "riichi": 0}
    hand, points = ask("riichi", orphans, {"yakuman": 2, "dealer": False})
    assert (hand["yakuman"], hand["fu"], hand["payments"]["discarder_pays"]) == (2, 0, 64_000)
    assert points["payments"] == {"discarder_pays": 64_000, "winner_gain": 64_000}


@pytest.mark.parametrize(("language", "name"), [("ja", "pinfu"), ("en", "all sequences"), ("zh", "平和")])
def test_names_of_yaku_are_in_the_requested_language(language: str, name: str) -> None:
    (answer,) = ask("riichi", HAND, options=("--language", language))
    assert answer["yaku"][1]["name"] == name


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (HAND | {"concealed": HAND["concealed"][:-1]}, "wrong_tile_count"),
        (HAND | {"honba": -1}, "negative_counters"),
        (HAND | {"riichi_sticks": -1}, "negative_deposits"),
        (HAND | {"riichi": 3}, "malformed"),
        (HAND | {"riichi": True}, "malformed"),
        (HAND | {"ippatsu": 1}, "malformed"),
        (HAND | {"concealed": "234m678p2345578s"}, "malformed"),
        (HAND | {"concealed": [2, 3]}, "malformed"),
        (HAND | {"melds": [{"kind": "pon"}]}, "malformed"),
        (HAND | {"honba": 1000}, "malformed"),
        (HAND | {"winning_tile": "6s" * 5000}, "unknown_tile"),
        (HAND | {"concealed": ["1m"] * 5000}, "wrong_tile_count"),
        (HAND | {"open_riichi": True, "riichi": 0}, "open_riichi_without_riichi"),
        (HAND | {"discarder": "south"}, "discarder_wins"),
        (HAND | {"discarder": "up"}, "unknown_wind"),
        (HAND | {"discarder": "east", "self_drawn": True}, "discarder_not_asked"),
        (HAND | {"rules": "paris"}, "unknown_profile"),
        (HAND | {"rules": "own.toml"}, "unknown_profile"),
        (HAND | {"riichi": 0, "winning_tile": "3s"}, "not_winning"),
        (HAND | {"stake": 5}, "malformed"),
        (POINTS | {"han": 0}, "han_missing"),
        (POINTS | {"fu": 32}, "impossible_fu"),
        (POINTS | {"han": 1, "fu": 20}, "impossible_value"),
        (POINTS | {"han": 1, "fu": 25}, "impossible_value"),
        (POINTS | {"honba": -1}, "negative_counters"),
        (POINTS | {"yakuman": -1}, "negative_yakuman"),
        (POINTS | {"discarder": "east"}, "discarder_wins"),
        (POINTS | {"han": "2"}, "malformed"),
        ({"han": 2, "fu": 30}, "malformed"),
        ([], "malformed"),
        ("{", "malformed"),
    ],
)
def test_a_wrong_question_has_an_error_code_and_the_next_one_is_answered(asked: object, expected: str) -> None:
    bad, good = ask("riichi", asked, POINTS)
    assert code(bad) == expected
    assert good["payments"]["discarder_pays"] == 2900


def question(tiles: tuple[str, ...], **said: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """Return a question about a hand in the notation of the tests of the rules."""
    concealed, winning_tile, *melds = tiles
    laid = [
        {"kind": "kan" if kind == "closed" else kind, "tiles": parse_tiles(of), "open": kind != "closed"}
        for kind, of in (meld.split() for meld in melds)
    ]
    return {
        "concealed": parse_tiles(concealed),
        "winning_tile": winning_tile,
        "melds": laid,
        "round_wind": "east",
        "seat_wind": "south",
        **said,
    }


def test_the_command_refuses_what_the_rules_refuse_with_the_same_code() -> None:
    asked = [question(tiles) for tiles, _ in TILES] + [question(tiles, **said) for tiles, said, _ in SITUATIONS]
    assert [code(answer) for answer in ask("riichi", *asked)] == [
        *(code for _, code in TILES),
        *(code for *_, code in SITUATIONS),
    ]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "2.5", "true", "null", '"2"', "9" * 5000])
@pytest.mark.parametrize(
    "line",
    [
        '{{"han": {}, "fu": 30, "dealer": true}}',
        '{{"han": 2, "fu": {}, "dealer": true}}',
        '{{"han": 2, "fu": 30, "dealer": true, "honba": {}}}',
    ],
)
def test_a_number_that_is_not_whole_is_malformed_and_the_next_line_is_answered(line: str, number: str) -> None:
    bad, good = ask("riichi", line.format(number), POINTS)
    assert (code(bad), good["payments"]["discarder_pays"]) == ("malformed", 2900)


def test_the_form_for_people_lists_a_hand_item_by_item() -> None:
    assert told("hand", "2233m456p678s", "3m", "--pon", "777z", "--tsumo", "--seat", "east", "--language", "en") == (
        0,
        """     1 han  red dragon

     20 fu  winning
      4 fu  open triplet of terminals or honours  7z 7z 7z
      4 fu  concealed triplet  3m 3m 3m
      2 fu  self-drawn

1 han 30 fu: every other player pays 500, the winner gains 1500
""",
    )


def test_the_sum_of_fu_is_printed_before_and_after_rounding_in_french_too() -> None:
    exit_code, text = told("hand", "333m234567p1388s", "2s", "--riichi", "--language", "fr")
    assert exit_code == 0
    assert "            36 fu, arrondis à 40\n" in text
    assert text.endswith("1 han 40 fu: le joueur qui a défaussé paie 1300, le gagnant reçoit 1300\n")


def test_a_hand_is_printed_in_chinese_with_aligned_columns() -> None:
    _, said = told("hand", "234m678p2345578s", "6s", "--riichi", "--language", "zh")
    assert said.splitlines() == [
        "       1番  立直",
        "       1番  平和",
        "       1番  断幺九",
        "",
        "      20符  底符",
        "      10符  门前清荣和",
        "",
        "3番 30符: 放铳者付3900, 和牌者得3900",
    ]


def test_the_form_for_people_gives_the_payments_of_han_and_fu() -> None:
    assert told("points", "2", "30", "--dealer") == (
        0,
        "2 han 30 fu: the discarder pays 2900, the winner gains 2900\n",
    )
    assert told("points", "6", "--tsumo")[1].startswith("6 han, haneman: the dealer pays 6000")


@pytest.mark.parametrize(
    "arguments",
    [("hand", "234m678p2345578x", "6s"), ("hand", "234m", "6s"), ("points", "0"), ("table", "--rules", "paris")],
)
def test_a_mistake_on_the_command_line_has_an_error_code(arguments: tuple[str, ...]) -> None:
    exit_code, text = told(*arguments)
    assert (exit_code, len(codes(text))) == (1, 1)


def test_without_arguments_the_command_prints_its_usage() -> None:
    assert told()[0] == 2


def test_an_own_profile_is_read_from_a_file(tmp_path: Path) -> None:
    from broker.rules.profiles import riichi_folder  # noqa: PLC0415 - only here

    text = (riichi_folder() / "riichi-montreal.toml").read_text(encoding="utf-8")
    own = tmp_path / "ours.toml"
    own.write_text(text.replace("riichi-montreal", "ours").replace("value = 300\n", "value = 600\n"), encoding="utf-8")
    (answer,) = ask("riichi", POINTS | {"honba": 1}, options=("--rules", str(own)))
    assert answer["payments"]["discarder_pays"] == 3500
