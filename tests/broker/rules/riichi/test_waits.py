"""The tiles that complete a hand, and furiten, which prevents a win on a discard."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.rules import FULL_SET, RuleError
from broker.rules.mcr import McrMeld
from broker.rules.mcr.fan import mcr_waits
from broker.rules.riichi.waits import PassedTile, furiten, may_ron, orphans_wait, riichi_waits


def tiles(text: str) -> tuple[str, ...]:
    """Parse `123m55z`."""
    found: list[str] = []
    ranks = ""
    for letter in text:
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
def test_a_hand_waits_for_the_tiles_that_complete_it(
    concealed: str, melds: tuple[str, ...], expected: str | None
) -> None:
    laid_down = [tiles(meld) for meld in melds]
    if expected is None:
        with pytest.raises(RuleError) as refused:
            riichi_waits(tiles(concealed), laid_down)
        assert refused.value.code == "wrong_tile_count"
    else:
        assert riichi_waits(tiles(concealed), laid_down) == tiles(expected)


@pytest.mark.parametrize(
    ("concealed", "code"), [("11111m23456789p", "five_of_a_tile"), ("8z123456789m111p", "unknown_tile")]
)
def test_an_impossible_hand_is_refused(concealed: str, code: str) -> None:
    with pytest.raises(RuleError) as refused:
        riichi_waits(tiles(concealed))
    assert refused.value.code == code


@given(st.permutations(FULL_SET).map(lambda mixed: tuple(mixed[:4])))
def test_with_three_melds_mcr_and_riichi_waits_agree(concealed: tuple[str, ...]) -> None:
    # With only four concealed tiles there are no seven pairs, orphans or knitted tiles, so both rule books agree.
    melds = [("5z",) * 3, ("6z",) * 3, ("7z",) * 3]
    assert answer_or_code(riichi_waits, concealed, melds) == answer_or_code(
        mcr_waits, concealed, [McrMeld("pung", meld) for meld in melds]
    )


def answer_or_code(function: Callable[..., tuple[str, ...]], *arguments: object) -> tuple[str, ...] | str:
    """Return an answer, or the code of its refusal."""
    try:
        return function(*arguments)
    except RuleError as refused:
        return refused.code


def test_thirteen_orphans_wait_with_twelve_or_thirteen_of_their_kinds() -> None:
    assert orphans_wait(tiles("19m19p19s1234567z"))
    assert orphans_wait(tiles("19m19p19s1123456z"))
    assert not orphans_wait(tiles("19m19p19s1122345z"))
    assert not orphans_wait(tiles("129m19p19s123456z"))


ME, NEXT, OVER = 1, 2, 3
WAIT = ("1m", "4m")


def test_the_first_waited_tile_can_be_won_on() -> None:
    seen = [PassedTile(ME, "9p"), PassedTile(NEXT, "2m")]
    assert furiten(ME, WAIT, seen) == ()
    assert may_ron(ME, WAIT, seen, "4m")
    assert not may_ron(ME, WAIT, seen, "7m")


def test_an_own_discard_of_a_waited_tile_is_furiten_until_the_wait_changes() -> None:
    seen = [PassedTile(ME, "1m"), *[PassedTile(player, "9p") for player in (NEXT, OVER, 0, ME, NEXT)]]
    assert furiten(ME, WAIT, seen) == ("own_discard",)
    assert not may_ron(ME, WAIT, seen, "4m")
    assert furiten(ME, ("4m", "7m"), seen) == ()


def test_a_passed_tile_is_furiten_until_the_end_of_the_player_s_next_turn() -> None:
    passed = [PassedTile(ME, "9p"), PassedTile(NEXT, "1m"), PassedTile(OVER, "8p")]
    assert furiten(ME, WAIT, passed) == ("same_turn",)
    assert furiten(ME, WAIT, [*passed, PassedTile(ME, "9p")]) == ()


def test_calls_of_others_do_not_end_temporary_furiten() -> None:
    passed = [PassedTile(ME, "9p"), PassedTile(NEXT, "1m"), *[PassedTile(OVER, "8p"), PassedTile(NEXT, "8p")] * 3]
    assert furiten(ME, WAIT, passed) == ("same_turn",)


def test_a_passed_tile_in_riichi_is_furiten_until_the_end() -> None:
    seen = [PassedTile(NEXT, "4m"), PassedTile(ME, "9p", riichi=True), PassedTile(OVER, "1m"), PassedTile(ME, "8p")]
    assert furiten(ME, WAIT, seen) == ("riichi",)
    assert furiten(ME, WAIT, seen[:-1]) == ("same_turn", "riichi")
    assert furiten(ME, WAIT, [*seen[:2], PassedTile(ME, "8p")]) == ()


def test_the_riichi_tile_itself_counts_as_an_own_discard() -> None:
    assert furiten(ME, WAIT, [PassedTile(ME, "4m", riichi=True)]) == ("own_discard",)


def test_an_unrobbed_added_kan_is_a_passed_tile_but_a_concealed_kan_only_for_thirteen_orphans() -> None:
    assert furiten(ME, WAIT, [PassedTile(NEXT, "1m", kan="added")]) == ("same_turn",)
    assert furiten(ME, WAIT, [PassedTile(NEXT, "1m", kan="concealed")]) == ()
    assert furiten(ME, ("1m",), [PassedTile(NEXT, "1m", kan="concealed")], orphans=True) == ("same_turn",)
    assert furiten(ME, WAIT, [PassedTile(ME, "1m", kan="added")]) == ()


def test_a_red_five_counts_as_a_five() -> None:
    assert furiten(ME, ("5m",), [PassedTile(ME, "0m")]) == ("own_discard",)
    assert may_ron(ME, ("5m",), [], "0m")


def test_a_second_riichi_of_a_player_is_refused() -> None:
    with pytest.raises(RuleError) as refused:
        furiten(ME, WAIT, [PassedTile(ME, "9p", riichi=True), PassedTile(ME, "9p", riichi=True)])
    assert refused.value.code == "riichi_twice"
