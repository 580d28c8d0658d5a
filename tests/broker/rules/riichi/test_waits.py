"""Which tiles complete a riichi hand."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.rules.errors import RuleError
from broker.rules.fan.hand import Meld
from broker.rules.fan.shanten import waits as mcr_waits
from broker.rules.riichi.waits import orphans_wait, waits
from broker.rules.tiles import FULL_SET


def tiles(written: str) -> tuple[str, ...]:
    """Read `123m55z` as tiles."""
    found: list[str] = []
    ranks = ""
    for letter in written:
        if letter.isdigit():
            ranks += letter
        else:
            found += [rank + letter for rank in ranks]
            ranks = ""
    return tuple(found)


@pytest.mark.parametrize(
    ("concealed", "melds", "expected"),
    [
        ("1112345678999m", (), "123456789m"),
        ("19m19p19s1234567z", (), "19m19p19s1234567z"),
        ("19m19p19s1123456z", (), "7z"),
        ("113355m2244p66s7z", (), "7z"),
        ("11335555m2244p7z", (), ""),
        ("23m11z", ("123p", "555z", "2222s"), "14m"),
        ("11m", (), None),
        ("1m", ("123p", "555z", "2222s", "789m"), "1m"),
        ("1111m", ("123p", "555z", "2222s"), ""),
        ("4067m11z", (), None),
        ("406m", ("123p", "555z", "2222s"), None),
        ("4067m", ("123p", "555z", "2222s"), "47m"),
    ],
)
def test_a_hand_waits_for_what_completes_it(concealed: str, melds: tuple[str, ...], expected: str | None) -> None:
    laid_down = [tiles(meld) for meld in melds]
    if expected is None:
        with pytest.raises(RuleError) as refused:
            waits(tiles(concealed), laid_down)
        assert refused.value.code == "wrong_tile_count"
    else:
        assert waits(tiles(concealed), laid_down) == tiles(expected)


@pytest.mark.parametrize(
    ("concealed", "code"), [("11111m23456789p", "five_of_a_tile"), ("8z123456789m111p", "unknown_tile")]
)
def test_a_hand_that_cannot_be_is_refused(concealed: str, code: str) -> None:
    with pytest.raises(RuleError) as refused:
        waits(tiles(concealed))
    assert refused.value.code == code


@given(st.permutations(FULL_SET).map(lambda mixed: tuple(mixed[:4])))
def test_with_three_melds_the_other_rule_book_waits_for_the_same(concealed: tuple[str, ...]) -> None:
    # Four tiles beside melds: no seven pairs, no orphans, no knitted tiles, so that the two books agree.
    melds = [("5z",) * 3, ("6z",) * 3, ("7z",) * 3]
    assert told(waits, concealed, melds) == told(mcr_waits, concealed, [Meld("pung", meld) for meld in melds])


def told(ask: Callable[..., tuple[str, ...]], *asked: object) -> tuple[str, ...] | str:
    """Give an answer, or the code of its refusal."""
    try:
        return ask(*asked)
    except RuleError as refused:
        return refused.code


def test_thirteen_orphans_are_waited_for_with_one_missing_or_none() -> None:
    assert orphans_wait(tiles("19m19p19s1234567z"))
    assert orphans_wait(tiles("19m19p19s1123456z"))
    assert not orphans_wait(tiles("19m19p19s1122345z"))
    assert not orphans_wait(tiles("129m19p19s123456z"))
