"""Hands and situations that cannot be are refused, each with its code."""

from typing import Any

import pytest

from broker.rules import RuleError
from broker.rules.riichi import RiichiProfile
from broker.rules.riichi.hand import RiichiHandMeld
from tests.broker.rules.riichi.hands import MONTREAL, TENHOU, counted, made
from tests.broker.rules.riichi.impossible import CLOSED, SITUATIONS, TILES


def refused(tiles: tuple[str, ...], profile: RiichiProfile = MONTREAL, **said: Any) -> str:  # noqa: ANN401 - what is said of a win
    """Return the code with which a hand is refused, wherever that is found."""
    with pytest.raises(RuleError) as problem:
        counted(made(*tiles), profile, **said)
    return problem.value.code


@pytest.mark.parametrize(("tiles", "code"), TILES)
def test_tiles_that_nobody_can_win_with_are_refused(tiles: tuple[str, ...], code: str) -> None:
    assert refused(tiles) == code


def test_only_a_kan_is_laid_down_closed() -> None:
    with pytest.raises(RuleError) as problem:
        RiichiHandMeld("pon", ("1m",) * 3, open=False)
    assert problem.value.code == "concealed_meld"


@pytest.mark.parametrize(("tiles", "said", "code"), SITUATIONS)
def test_what_contradicts_the_hand_is_refused(tiles: tuple[str, ...], said: dict[str, Any], code: str) -> None:
    assert refused(tiles, **said) == code


def test_open_riichi_is_refused_where_it_is_not_played() -> None:
    assert refused(CLOSED, TENHOU, riichi=1, open_riichi=True) == "open_riichi_refused"


@pytest.mark.parametrize("concealed", ["234m678p2340078s", "234m678p555578s2p"])
def test_a_set_with_red_fives_has_one_of_each_suit(concealed: str) -> None:
    assert refused((concealed, "6s"), TENHOU) == "wrong_red_fives"
