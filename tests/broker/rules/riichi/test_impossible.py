"""Hands and situations that cannot be are refused, each with its code."""

from typing import Any

import pytest

from broker.rules.errors import RuleError
from broker.rules.riichi.hand import Meld
from broker.rules.riichi.profile import RiichiProfile
from tests.broker.rules.riichi.hands import MONTREAL, TENHOU, counted, made

CLOSED = ("234m678p2345578s", "6s")
CALLED = ("678p2345578s", "6s", "chii 234m")
KAN = ("678p2345578s", "6s", "closed 8888m")


def refused(tiles: tuple[str, ...], profile: RiichiProfile = MONTREAL, **said: Any) -> str:  # noqa: ANN401 - what is said of a win
    """Give the code with which a hand is refused, wherever that is found."""
    with pytest.raises(RuleError) as problem:
        counted(made(*tiles), profile, **said)
    return problem.value.code


@pytest.mark.parametrize(
    ("tiles", "code"),
    [
        (("234m678p234557s", "6s"), "wrong_tile_count"),
        (("234m678p23455788s", "6s"), "wrong_tile_count"),
        (("234m678p2345578s", "6s", "pon 555z"), "wrong_tile_count"),
        (("", "6s", "pon 555z", "pon 666z", "pon 777z", "pon 111z"), "wrong_tile_count"),
        (("222234m678p2278s", "2m"), "five_of_a_tile"),
        (("0555m678p22378s1z", "5m"), "five_of_a_tile"),
        (("678p2345578s", "6s", "chii 234z"), "not_a_meld"),
        (("678p2345578s", "6s", "chii 235m"), "not_a_meld"),
        (("678p2345578s", "6s", "pon 2345m"), "not_a_meld"),
        (("678p2345578s", "6s", "kan 222m"), "not_a_meld"),
        (("678p2345578s", "6s", "quad 2222m"), "not_a_meld"),
        (("234m678p2345578s", "8z"), "unknown_tile"),
        (("234m678p2345578s", "0z"), "unknown_tile"),
        (("234m678p2345578s", ""), "unknown_tile"),
        (("234m678p2345578s", "1z"), "not_winning"),
        (("1122m3344p55667s", "8s"), "not_winning"),
        (("1111m3344p55667s", "7s"), "not_winning"),
    ],
)
def test_tiles_that_nobody_can_win_with_are_refused(tiles: tuple[str, ...], code: str) -> None:
    assert refused(tiles) == code


def test_only_a_kan_is_laid_down_closed() -> None:
    with pytest.raises(RuleError) as problem:
        Meld("pon", ("1m",) * 3, open=False)
    assert problem.value.code == "concealed_meld"


@pytest.mark.parametrize(
    ("tiles", "said", "code"),
    [
        (CALLED, {"riichi": 1}, "riichi_with_open_hand"),
        (CALLED, {"riichi": 2}, "riichi_with_open_hand"),
        (CLOSED, {"ippatsu": True}, "ippatsu_without_riichi"),
        (CLOSED, {"open_riichi": True}, "open_riichi_without_riichi"),
        (CLOSED, {"haitei": True}, "haitei_on_discard"),
        (CLOSED, {"houtei": True, "self_drawn": True}, "houtei_self_drawn"),
        (KAN, {"haitei": True, "rinshan": True, "self_drawn": True}, "haitei_with_rinshan"),
        (CLOSED, {"houtei": True, "chankan": True}, "houtei_with_chankan"),
        (KAN, {"rinshan": True}, "rinshan_on_discard"),
        (CLOSED, {"rinshan": True, "self_drawn": True}, "replacement_without_kong"),
        (KAN, {"rinshan": True, "self_drawn": True, "riichi": 1, "ippatsu": True}, "ippatsu_with_rinshan"),
        (CLOSED, {"chankan": True, "self_drawn": True}, "chankan_self_drawn"),
        (("234m678p2345566s", "6s"), {"chankan": True}, "kong_not_robbed"),
        (CLOSED, {"chankan": True, "dora_indicators": ("6s",)}, "kong_not_robbed"),
        (KAN, {"first_turn": True, "self_drawn": True}, "not_first_turn"),
        (CLOSED, {"first_turn": True, "self_drawn": True, "riichi": 2}, "not_first_turn"),
        (CLOSED, {"first_turn": True, "self_drawn": True, "haitei": True}, "not_first_turn"),
        (CLOSED, {"first_turn": True, "seat_wind": "east"}, "not_first_turn"),
        (CLOSED, {"dora_indicators": ("1m",) * 6}, "too_many_indicators"),
        (CLOSED, {"riichi": 1, "ura_indicators": ("1m",) * 6}, "too_many_indicators"),
        (CLOSED, {"dora_indicators": ("8z",)}, "unknown_tile"),
        (CLOSED, {"dora_indicators": ("5s", "5s", "0s")}, "five_of_a_tile"),
        (CLOSED, {"seat_wind": "up"}, "unknown_wind"),
        (CLOSED, {"round_wind": "red"}, "unknown_wind"),
    ],
)
def test_what_contradicts_the_hand_is_refused(tiles: tuple[str, ...], said: dict[str, Any], code: str) -> None:
    assert refused(tiles, **said) == code


def test_open_riichi_is_refused_where_it_is_not_played() -> None:
    assert refused(CLOSED, TENHOU, riichi=1, open_riichi=True) == "open_riichi_refused"


@pytest.mark.parametrize("concealed", ["234m678p2340078s", "234m678p555578s2p"])
def test_a_set_with_red_fives_has_one_of_each_suit(concealed: str) -> None:
    assert refused((concealed, "6s"), TENHOU) == "wrong_red_fives"
