"""Laws of the count, on random winning hands: it agrees with the library's, and with itself."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.rules.errors import RuleError
from broker.rules.riichi.forms import fits
from broker.rules.riichi.hand import Hand, Situation
from broker.rules.riichi.points import base_of
from broker.rules.riichi.profile_files import load, shipped
from broker.rules.riichi.reading import readings
from broker.rules.riichi.value import Value, value
from tests.benchmarks.riichi.agreement import verdicts
from tests.benchmarks.riichi.hands import winning_hand
from tests.broker.rules.riichi.hands import MONTREAL, TENHOU


@st.composite
def wins(draw: st.DrawFn) -> tuple[Hand, Situation]:
    """Make a winning hand and how it won."""
    return winning_hand(Random(draw(st.integers(0, 2**32))))


def found(hand: Hand, said: Situation) -> Value | None:
    """Count a hand; None without a yaku."""
    try:
        return value(hand, said, MONTREAL)
    except RuleError as problem:
        if problem.code != "no_yaku":
            raise
        return None


@pytest.mark.parametrize("profile_id", shipped())
def test_our_fu_and_the_librarys_agree(profile_id: str) -> None:
    # `python -m tests.benchmarks.riichi.agreement 1000000` does the same at length.
    counts, different = verdicts(load(profile_id), 250, seed=8)
    assert different == []
    assert counts["agree"] > 100
    assert set(counts) <= {"agree", "no_yaku", "yakuman", "agree but for the option"}
    assert "agree but for the option" not in counts or profile_id == MONTREAL.id


@given(wins())
def test_the_order_of_tiles_and_melds_does_not_matter(win: tuple[Hand, Situation]) -> None:
    hand, said = win
    turned = Hand(hand.concealed[::-1], hand.winning_tile, hand.melds[::-1])
    one, other = found(hand, said), found(turned, said)
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert (one.yaku, one.fu and one.fu.sum) == (other.yaku, other.fu and other.fu.sum)


@given(wins())
def test_the_fu_are_those_of_a_reading_that_has_the_yaku(win: tuple[Hand, Situation]) -> None:
    hand, said = win
    counted = found(hand, said)
    if counted is not None and not counted.yakuman:
        yaku = {one.id for one in counted.yaku}
        assert any(fits(one, yaku, said) for one in readings(hand, self_drawn=said.self_drawn))


@given(wins())
def test_a_dora_more_never_makes_a_hand_worth_less(win: tuple[Hand, Situation]) -> None:
    hand, said = win
    bare = found(hand, replace(said, dora_indicators=()))
    if bare is not None:
        more = found(hand, said)
        assert more is not None
        bases = [base_of(one.win(said), MONTREAL.points)[0] for one in (bare, more)]
        assert bases == sorted(bases)


@given(wins())
def test_riichi_never_makes_a_closed_hand_worth_less(win: tuple[Hand, Situation]) -> None:
    hand, said = win
    if not hand.open and not said.riichi:
        silent, declared = found(hand, said), found(hand, replace(said, riichi=1))
        assert declared is not None
        least = base_of(silent.win(said), TENHOU.points)[0] if silent else 0
        assert base_of(declared.win(said), TENHOU.points)[0] >= least
