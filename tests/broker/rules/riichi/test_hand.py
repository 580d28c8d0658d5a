"""Impossible hands and situations are refused with their codes."""

from typing import Any

import pytest

from broker.rules import RuleError
from broker.rules.riichi import RiichiProfile
from broker.rules.riichi.hand import RiichiHandMeld
from tests.broker.rules.riichi.hands import MONTREAL, TENHOU, counted, made
from tests.broker.rules.riichi.impossible import CLOSED, SITUATIONS, TILES


def refused(tiles: tuple[str, ...], profile: RiichiProfile = MONTREAL, **how: Any) -> str:  # noqa: ANN401 - fields of a situation
    """Return the code with which a hand is refused at any stage."""
    with pytest.raises(RuleError) as problem:
        counted(made(*tiles), profile, **how)
    return problem.value.code


@pytest.mark.parametrize(("tiles", "code"), TILES)
def test_tiles_that_cannot_win_are_refused(tiles: tuple[str, ...], code: str) -> None:
    assert refused(tiles) == code


def test_only_a_kan_can_be_a_closed_meld() -> None:
    with pytest.raises(RuleError) as problem:
        RiichiHandMeld("pon", ("1m",) * 3, open=False)
    assert problem.value.code == "concealed_meld"


@pytest.mark.parametrize(("tiles", "how", "code"), SITUATIONS)
def test_a_situation_that_contradicts_the_hand_is_refused(
    tiles: tuple[str, ...], how: dict[str, Any], code: str
) -> None:
    assert refused(tiles, **how) == code


def test_open_riichi_is_refused_where_it_is_not_played() -> None:
    assert refused(CLOSED, TENHOU, riichi=1, open_riichi=True) == "open_riichi_refused"


@pytest.mark.parametrize("concealed", ["234m678p2340078s", "234m678p555578s2p"])
def test_a_second_red_five_of_a_suit_or_a_fourth_plain_five_is_refused(concealed: str) -> None:
    assert refused((concealed, "6s"), TENHOU) == "wrong_red_fives"
