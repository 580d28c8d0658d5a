"""What holds for every hand."""

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from broker.rules.errors import RuleError
from broker.rules.fan.catalogue import RULESETS, Ruleset, entries, value
from broker.rules.fan.count import count
from broker.rules.fan.hand import Hand, Meld, Situation
from broker.rules.fan.library import module
from broker.rules.fan.shape import wins
from tests.broker.rules.fan.hands import ids, situation
from tests.broker.rules.fan.oracle import seven_pairs
from tests.broker.rules.fan.strategies import any_tiles, pairs, regular_hands, situations

OF_CERTAIN_TILES: Final = {"all_green", "reversible_tiles"}
"""Fan that name tiles of one suit."""


def renamed(hand: Hand, names: dict[str, str]) -> Hand:
    """Write other tiles for these; those that are not named stay."""
    to = {tile: names.get(tile, tile) for meld in hand.melds for tile in meld.tiles}
    to |= {tile: names.get(tile, tile) for tile in hand.standing}
    melds = tuple(replace(meld, tiles=tuple(to[tile] for tile in meld.tiles)) for meld in hand.melds)
    return Hand(tuple(to[tile] for tile in hand.concealed), to[hand.winning_tile], melds)


@given(regular_hands(), situations(), st.sampled_from(RULESETS))
def test_four_sets_and_a_pair_are_always_counted(hand: Hand, how: Situation, ruleset: Ruleset) -> None:
    counted = count(hand, how, ruleset)
    assert counted.fan == sum(element.fan for element in counted.elements) >= 1
    assert [element.fan for element in counted.elements] == [value(fan_id, ruleset) for fan_id in ids(counted)]
    in_the_book_s_order = sorted(
        ids(counted), key=lambda fan_id: (-value(fan_id, ruleset), list(entries()).index(fan_id))
    )
    assert ids(counted) == in_the_book_s_order


@given(regular_hands(), situations(), st.randoms())
def test_the_order_of_tiles_and_melds_makes_no_difference(hand: Hand, how: Situation, chance: Random) -> None:
    def mixed(parts: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(chance.sample(parts, len(parts)))

    other = Hand(mixed(hand.concealed), hand.winning_tile, mixed(hand.melds))  # type: ignore[arg-type] # `mixed` forgets what it mixes
    assert count(other, how) == count(hand, how)


@given(regular_hands(), situations(), st.permutations("mps"))
def test_the_suits_are_alike(hand: Hand, how: Situation, suits: list[str]) -> None:
    swapped = {f"{rank}{old}": f"{rank}{new}" for rank in range(1, 10) for old, new in zip("mps", suits, strict=True)}
    one, other = count(hand, how), count(renamed(hand, swapped), how)
    assume(OF_CERTAIN_TILES.isdisjoint(ids(one) + ids(other)))
    assert one == other


@given(regular_hands(), situations())
def test_nothing_changes_its_value_when_the_ranks_are_turned_round(hand: Hand, how: Situation) -> None:
    turned = {f"{rank}{suit}": f"{10 - rank}{suit}" for rank in range(1, 10) for suit in "mps"}
    one, other = count(hand, how), count(renamed(hand, turned), how)
    assume(OF_CERTAIN_TILES.isdisjoint(ids(one) + ids(other)))
    assert one.fan == other.fan


@given(any_tiles(), situations())
def test_any_fourteen_tiles_are_counted_or_are_not_a_winning_hand(hand: Hand, how: Situation) -> None:
    if wins(hand.standing):
        assert count(hand, how).fan >= 1
    else:
        with pytest.raises(RuleError) as refused:
            count(hand, how)
        assert refused.value.code == "not_winning"


@given(pairs(), situations())
def test_seven_pairs_are_worth_what_is_reckoned_without_the_library(hand: Hand, how: Situation) -> None:
    found = ids(count(hand, how))
    assume("seven_pairs" in found)
    assert Counter(found) == Counter(seven_pairs(hand.standing, how))


@given(regular_hands(), situations())
def test_the_green_book_never_gives_less_than_1998(hand: Hand, how: Situation) -> None:
    by_green_book, by_1998 = count(hand, how), count(hand, how, "1998")
    assert by_green_book.fan - by_1998.fan in {0, 1, 2, 3, 4, 5}


def test_a_count_of_1998_is_the_library_s_own() -> None:
    hand = Hand(
        ("6s", "7s", "3z", "3z"),
        "8s",
        (Meld("kong", ("8p",) * 4, concealed=True), Meld("kong", ("6m",) * 4), Meld("chow", ("1m", "2m", "3m"))),
    )
    packs = (("GANG", "B8", 0), ("GANG", "W6", 1), ("CHI", "W2", 1))
    own = module().MahjongFanCalculator(packs, ("T6", "T7", "F3", "F3"), "T8", 0, False, False, False, False, 1, 0)  # noqa: FBT003 - as it is called
    assert sum(worth for worth, _ in own) == count(hand, situation(), "1998").fan == 5
