"""May this player ron? MONTREAL: three kinds of furiten."""

import pytest

from broker.rules.errors import RuleError
from broker.rules.riichi.furiten import Seen, furiten, may_ron

ME, NEXT, OVER = 1, 2, 3
WAIT = ("1m", "4m")


def test_nothing_keeps_a_player_from_winning_on_the_first_tile_of_the_wait() -> None:
    seen = [Seen(ME, "9p"), Seen(NEXT, "2m")]
    assert furiten(ME, WAIT, seen) == ()
    assert may_ron(ME, WAIT, seen, "4m")
    assert not may_ron(ME, WAIT, seen, "7m")


def test_an_own_discard_of_any_tile_of_the_wait_keeps_from_all_until_the_wait_changes() -> None:
    seen = [Seen(ME, "1m"), *[Seen(player, "9p") for player in (NEXT, OVER, 0, ME, NEXT)]]
    assert furiten(ME, WAIT, seen) == ("own_discard",)
    assert not may_ron(ME, WAIT, seen, "4m")
    assert furiten(ME, ("4m", "7m"), seen) == ()


def test_a_tile_that_passed_keeps_from_winning_until_the_own_next_turn_ends() -> None:
    passed = [Seen(ME, "9p"), Seen(NEXT, "1m"), Seen(OVER, "8p")]
    assert furiten(ME, WAIT, passed) == ("same_turn",)
    assert furiten(ME, WAIT, [*passed, Seen(ME, "9p")]) == ()


def test_calls_of_others_do_not_end_the_own_turn() -> None:
    passed = [Seen(ME, "9p"), Seen(NEXT, "1m"), *[Seen(OVER, "8p"), Seen(NEXT, "8p")] * 3]
    assert furiten(ME, WAIT, passed) == ("same_turn",)


def test_in_riichi_a_tile_that_passed_keeps_for_ever() -> None:
    seen = [Seen(NEXT, "4m"), Seen(ME, "9p", riichi=True), Seen(OVER, "1m"), Seen(ME, "8p")]
    assert furiten(ME, WAIT, seen) == ("riichi",)
    assert furiten(ME, WAIT, seen[:-1]) == ("same_turn", "riichi")
    assert furiten(ME, WAIT, [*seen[:2], Seen(ME, "8p")]) == ()


def test_the_riichi_tile_itself_is_an_own_discard() -> None:
    assert furiten(ME, WAIT, [Seen(ME, "4m", riichi=True)]) == ("own_discard",)


def test_a_kan_that_was_not_robbed_has_passed_and_a_concealed_one_only_for_thirteen_orphans() -> None:
    assert furiten(ME, WAIT, [Seen(NEXT, "1m", kan="added")]) == ("same_turn",)
    assert furiten(ME, WAIT, [Seen(NEXT, "1m", kan="concealed")]) == ()
    assert furiten(ME, ("1m",), [Seen(NEXT, "1m", kan="concealed")], orphans=True) == ("same_turn",)
    assert furiten(ME, WAIT, [Seen(ME, "1m", kan="added")]) == ()


def test_a_red_five_is_a_five() -> None:
    assert furiten(ME, ("5m",), [Seen(ME, "0m")]) == ("own_discard",)
    assert may_ron(ME, ("5m",), [], "0m")


def test_nobody_declares_riichi_twice() -> None:
    with pytest.raises(RuleError) as refused:
        furiten(ME, WAIT, [Seen(ME, "9p", riichi=True), Seen(ME, "9p", riichi=True)])
    assert refused.value.code == "riichi_twice"
