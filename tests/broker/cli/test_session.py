"""`homologue session --json`."""

from typing import Any

import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from tests.broker.cli.asking import ask, code

BEGIN: dict[str, Any] = {
    "round_wind": "E",
    "dealer": 0,
    "honba": 0,
    "riichi_sticks": 0,
    "scores": [25000, 25000, 25000, 25000],
}
RON = {"type": "ron", "winner": 1, "loser": 2, "han": 3, "fu": 30}

FED = {"type": "ron", "winner": 1, "loser": 2, "responsible": 3}


def deltas(event: Any, start: Any = BEGIN, rules: str = "montreal") -> list[int]:  # noqa: ANN401 - any JSON
    (answer,) = ask("session", {"rules": rules, "start": start, "event": event})
    told: list[int] = answer["deltas"]
    return told


def refusal(event: Any, start: Any = BEGIN, rules: str = "montreal") -> str:  # noqa: ANN401 - any JSON
    """Return the code with which an event is refused; check that the next line is answered."""
    question = {"rules": rules, "start": start, "event": event}
    refused, after = ask("session", question, {"start": BEGIN, "event": RON})
    assert after["deltas"] == [0, 3900, -3900, 0]
    return code(refused)


def test_the_contracts_example_has_this_answer() -> None:
    asked = (
        '{"rules": "montreal", "start": {"round_wind": "E", "dealer": 0, "honba": 0, "riichi_sticks": 0, "scores": '
        '[25000, 25000, 25000, 25000]}, "event": {"type": "ron", "winner": 1, "loser": 2, "han": 3, "fu": 30}}\n'
    )
    said = CliRunner().invoke(homologue, ["session", "--json"], input=asked)
    assert said.stdout == (
        '{"deltas":[0,3900,-3900,0],"next":{"round_wind":"E","dealer":1,"honba":0,"riichi_sticks":0,'
        '"game_over":false,"scores":[25000,28900,21100,25000]}}\n'
    )


def test_next_is_the_start_of_the_next_line() -> None:
    start: Any = BEGIN
    for event in [RON, {"type": "exhaustive_draw", "tenpai": [3]}, {"type": "abort", "reason": "kyuushu kyuuhai"}]:
        (answer,) = ask("session", {"start": start, "event": event})
        start = answer["next"]
    assert (start["dealer"], start["honba"], start["scores"]) == (2, 2, [24000, 27900, 20100, 28000])


@pytest.mark.parametrize(
    ("event", "paid"),
    [
        ({"type": "tsumo", "winner": 0, "han": 2, "fu": 40, "riichi_declared": [0, 3]}, [4900, -1300, -1300, -2300]),
        ({"type": "tsumo", "winner": 0, "han": 2, "fu": 40, "riichi_declared": True}, [3900, -1300, -1300, -1300]),
        ({"type": "tsumo", "winner": 1, "han": 3, "fu": 40, "rinshan": True, "daiminkan_from": 3}, [0, 5200, 0, -5200]),
        ({"type": "tsumo", "winner": 1, "han": 3, "fu": 40, "daiminkan_from": 3}, [0, 5200, 0, -5200]),
        (
            {"type": "tsumo", "winner": 1, "han": 3, "fu": 40, "rinshan": False, "daiminkan_from": 3},
            [-2600, 5200, -1300, -1300],
        ),
        (
            {"type": "multi_ron", "loser": 2, "wins": [{"winner": 1, "han": 5}, {"winner": 3, "han": 1, "fu": 30}]},
            [0, 8000, -9000, 1000],
        ),
        (
            {"type": "ron", "winner": 1, "loser": 2, "yakuman": ["Daisangen"], "responsible": 3},
            [0, 32000, -16000, -16000],
        ),
        ({"type": "ron", "winner": 1, "loser": 2, "yakuman": 2}, [0, 64000, -64000, 0]),
        ({"type": "ron", "winner": 1, "loser": 2, "yakuman_count": 2}, [0, 64000, -64000, 0]),
        ({"type": "ron", "winner": 1, "loser": 2, "yaku": ["riichi", "renhou"]}, [0, 8000, -8000, 0]),
        ({**RON, "after_eight_counters": True}, [0, 32000, -32000, 0]),
        ({**RON, "chombo": [3]}, [0, 3900, -3900, 0]),
        ({"type": "exhaustive_draw", "tenpai": [True, False, False, True]}, [1500, -1500, -1500, 1500]),
        ({"type": "exhaustive_draw", "tenpai": []}, [0, 0, 0, 0]),
        ({"type": "nagashi", "player": 2, "tenpai": [1]}, [-4000, -2000, 8000, -2000]),
        ({"type": "abort", "reason": "nine_terminals"}, [0, 0, 0, 0]),
        ({"type": "chombo", "offender": 1}, [4000, -8000, 2000, 2000]),
        ({"type": "chombo", "offenders": [1, 2], "dependent": [2]}, [4000, -8000, 2000, 2000]),
        ({"type": "minor_fault", "offender": 1}, [0, -1000, 0, 0]),
        ({"type": "minor_fault", "player": 1}, [0, -1000, 0, 0]),
        ({"type": "dead_hand", "player": 1}, [0, 0, 0, 0]),
        ({"type": "game_end"}, [0, 0, 0, 0]),
    ],
    ids=str,
)
def test_every_kind_of_event_is_settled(event: Any, paid: list[int]) -> None:  # noqa: ANN401 - any JSON
    assert deltas(event) == paid


def test_the_end_of_the_session_gives_the_places() -> None:
    start = {**BEGIN, "round_wind": "S", "dealer": 3, "riichi_sticks": 1, "scores": [24000, 31000, 20000, 24000]}
    (answer,) = ask("session", {"start": start, "event": {"type": "game_end"}})
    assert (answer["deltas"], answer["places"], answer["next"]["game_over"]) == ([0, 1000, 0, 0], [2, 1, 4, 2], True)


@pytest.mark.parametrize(("rules", "first"), [("montreal", 0), ("riichi-basic", 3900), ("tenhou", 0)])
def test_rules_have_a_long_and_a_short_name(rules: str, first: int) -> None:
    three = {"type": "multi_ron", "loser": 0, "wins": [{"winner": one, "han": 3, "fu": 30} for one in (3, 1, 2)]}
    assert deltas(three, rules=rules)[1] == first


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({**RON, "loser": 1}, "loser_wins"),
        ({**RON, "winner": 4}, "no_such_player"),
        ({**RON, "winner": -1}, "no_such_player"),
        ({**RON, "han": 0}, "han_missing"),
        ({**RON, "fu": 31}, "impossible_fu"),
        ({**RON, "han": 1, "fu": 20}, "impossible_value"),
        ({**RON, "han": 1, "fu": 25}, "impossible_value"),
        ({"type": "ron", "winner": 1, "loser": 2}, "value_missing"),
        ({"type": "ron", "winner": 1, "loser": 2, "han": 3}, "value_missing"),
        ({**RON, "responsible": 3}, "pao_not_asked"),
        ({**RON, "yakuman": ["tsuuiisou"], "responsible": 3}, "pao_not_asked"),
        ({**RON, "yakuman": ["daisangen"], "responsible": 1}, "responsible_wins"),
        ({**RON, "yakuman": ["royal flush"]}, "unknown_yakuman"),
        ({**RON, "yakuman": ["daisangen", "Dai Sangen"]}, "yakuman_named_twice"),
        ({**RON, "yakuman_count": -1}, "negative_yakuman"),
        ({**RON, "rinshan": True}, "replacement_on_discard"),
        ({**RON, "dead_hands": [1]}, "dead_hand_counts"),
        ({**RON, "riichi_declared": [1, 1]}, "player_named_twice"),
        ({"type": "tsumo", "winner": 1, "han": 1, "fu": 30, "daiminkan_from": 1}, "responsible_wins"),
        ({"type": "multi_ron", "loser": 1, "wins": []}, "winner_missing"),
        ({"type": "multi_ron", "loser": 1, "wins": [RON]}, "malformed"),
        ({"type": "exhaustive_draw", "tenpai": [0, 0]}, "player_named_twice"),
        ({"type": "exhaustive_draw", "tenpai": [True, False]}, "malformed"),
        ({"type": "exhaustive_draw", "tenpai": [1, True]}, "malformed"),
        ({"type": "exhaustive_draw", "tenpai": [0], "riichi_declared": [1]}, "riichi_noten"),
        ({"type": "exhaustive_draw", "riichi_declared": True}, "malformed"),
        ({"type": "nagashi"}, "winner_missing"),
        ({"type": "abort", "reason": "tea"}, "unknown_abort"),
        ({"type": "chombo"}, "offender_missing"),
        ({"type": "chombo", "offender": 1, "dependent": [1]}, "no_first_fault"),
        ({"type": "minor_fault"}, "offender_missing"),
        ({"type": "flood"}, "malformed"),
        ({"type": "ron", "winner": 1}, "malformed"),
        ({**RON, "colour": "red"}, "malformed"),
        ({**RON, "han": "3"}, "malformed"),
        ({**RON, "winner": 10**4000}, "malformed"),
        ({}, "malformed"),
        (None, "malformed"),
    ],
    ids=lambda part: repr(part)[:70],
)
def test_an_impossible_event_gets_an_error_on_its_line(event: Any, expected: str) -> None:  # noqa: ANN401 - any JSON
    assert refusal(event) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"honba": -1}, "negative_counters"),
        ({"riichi_sticks": -1}, "negative_deposits"),
        ({"dealer": 4}, "no_such_player"),
        ({"round_wind": "east"}, "malformed"),
        ({"scores": [25000, 25000, 50000]}, "malformed"),
        ({"scores": [25000, 25000, 50100, -100]}, "session_over"),
        ({"game_over": True}, "session_over"),
        ({"honba": 10**6}, "malformed"),
    ],
    ids=str,
)
def test_an_impossible_start_gets_an_error_on_its_line(change: dict[str, Any], expected: str) -> None:
    assert refusal(RON, {**BEGIN, **change}) == expected


def test_a_riichi_without_1000_points_is_refused() -> None:
    poor = {**BEGIN, "scores": [900, 33100, 33000, 33000]}
    assert refusal({**RON, "riichi_declared": [0]}, poor) == "riichi_without_points"


@pytest.mark.parametrize(("rules", "expected"), [("mcr", "unknown_profile"), ("../x", "unknown_profile")])
def test_unknown_rules_are_refused(rules: str, expected: str) -> None:
    assert refusal(RON, rules=rules) == expected


def test_events_that_the_rules_do_not_have_are_refused() -> None:
    assert refusal({"type": "nagashi", "player": 1}, rules="basic") == "nagashi_not_played"
    assert refusal({**RON, "yakuman": ["daisharin"]}, rules="tenhou") == "yakuman_not_played"
    assert refusal({**FED, "yakuman": ["daisangen"]}, rules="basic") == "pao_not_asked"
    assert refusal({**FED, "yakuman_count": 1}, rules="basic") == "pao_not_asked"


def test_a_number_of_yakuman_without_names_may_have_a_responsible_player() -> None:
    assert deltas({**FED, "yakuman_count": 1}) == [0, 32000, -16000, -16000]
    assert refusal({**FED, "han": 3, "fu": 30}, {**BEGIN, "honba": 8}) == "pao_not_asked"


def test_a_duplicate_play_is_scored_alone_in_hundreds() -> None:
    start = {**BEGIN, "dealer": 1, "honba": 8, "riichi_sticks": 2}
    told = ask("session", {"start": start, "event": {**RON, "riichi_declared": [1]}, "alone": True})
    assert told == [{"points": {"east": 0, "south": 58, "west": -58, "north": 0}}]
    assert code(ask("session", {"event": {"type": "chombo", "offender": 1}, "alone": True})[0]) == "fined_not_scored"
