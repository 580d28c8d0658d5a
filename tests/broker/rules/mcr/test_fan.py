"""The 81 fan: values and names, an example hand for each, differences between the books, and properties."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement, product
from pathlib import Path
from random import Random
from typing import Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from broker.rules import KINDS, RuleError
from broker.rules.mcr import (
    LANGUAGES,
    RULESETS,
    Language,
    McrHand,
    McrMeld,
    McrSituation,
    Ruleset,
    count_fan,
    fan_81,
    fan_index,
    fan_name,
    fan_value,
)
from broker.rules.mcr.fan import by_green_book, fan_entries, fan_ids, ids_by_library_name, mahjong_gb
from broker.rules.mcr.hand import is_winning
from tests.broker.rules.mcr.every_fan import EVERY_FAN
from tests.broker.rules.mcr.hands import hand, ids, situation, without, worth
from tests.broker.rules.mcr.oracle import CHOWS, PUNGS, seven_pairs
from tests.broker.rules.mcr.strategies import any_tiles, pairs, regular_hands, situations

BESIDE = "concealed_kong_and_melded_kong"


def test_there_are_81_fan_and_one_further_value() -> None:
    assert len(fan_81()) == 81
    assert [fan_id for fan_id in fan_entries() if fan_id not in fan_81()] == [BESIDE]


def test_each_class_has_as_many_fan_as_in_the_green_book() -> None:
    by_class = Counter(fan.fan for fan in fan_81().values())
    assert by_class == {88: 7, 64: 6, 48: 2, 32: 3, 24: 9, 16: 6, 12: 5, 8: 10, 6: 6, 4: 4, 2: 10, 1: 13}


def test_fan_are_listed_by_descending_value() -> None:
    values = [fan.fan for fan in fan_81().values()]
    assert values == sorted(values, reverse=True)
    assert [fan_index(fan_id) for fan_id in fan_entries()] == list(range(82))


def test_only_two_values_differ_in_1998() -> None:
    differing = {fan_id: (fan_value(fan_id, "green-book"), fan_value(fan_id, "1998")) for fan_id in fan_entries()}
    assert {fan_id: both for fan_id, both in differing.items() if both[0] != both[1]} == {
        "two_concealed_kongs": (8, 6),
        BESIDE: (6, 5),
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_fan_names_are_unique_in_each_language(language: Language) -> None:
    names = [fan_name(fan_id, language) for fan_id in fan_entries()]
    assert len(set(names)) == 82
    assert [name for name in names if name != name.strip() or not name] == []


def test_fan_ids_are_made_from_the_english_names() -> None:
    made = [fan_name(fan_id).lower().replace("-", "_").replace(" ", "_") for fan_id in fan_entries()]
    assert made == [*fan_entries()]


def test_each_library_name_belongs_to_one_entry() -> None:
    assert sorted(ids_by_library_name().values()) == sorted(fan_entries())
    compiled = Path(mahjong_gb().__file__).read_bytes()
    assert [name for name in ids_by_library_name() if name.encode() + b"\0" not in compiled] == []


def test_situation_fan_have_the_names_that_the_referee_uses() -> None:
    ids = ["last_tile_draw", "last_tile_claim", "out_with_replacement_tile", "robbing_the_kong"]
    assert [fan_name(fan_id) for fan_id in ids] == [
        "Last Tile Draw",
        "Last Tile Claim",
        "Out with Replacement Tile",
        "Robbing the Kong",
    ]


def test_the_french_names_for_the_last_tile_are_oedmc_s() -> None:
    assert fan_name("last_tile_draw", "fr") == "Dernière tuile tirée"
    assert fan_name("last_tile_claim", "fr") == "Dernière tuile jetée"


def test_an_unknown_ruleset_is_refused() -> None:
    with pytest.raises(RuleError) as refused:
        fan_value("seven_pairs", "2006")  # type: ignore[arg-type] # an unknown ruleset
    assert (refused.value.code, refused.value.text) == (
        "unknown_ruleset",
        "no ruleset '2006'; there are: green-book, 1998",
    )


def test_example_hands_are_worth_what_the_book_says() -> None:
    counted = {fan_id: worth(row.hand, row.how) for fan_id, row in EVERY_FAN.items()}
    assert counted == {fan_id: row.worth for fan_id, row in EVERY_FAN.items()}
    assert [fan_id for fan_id, row in EVERY_FAN.items() if fan_id not in ids(count_fan(row.hand, row.how))] == []


def test_there_is_an_example_hand_for_every_fan_but_the_flowers() -> None:
    assert list(EVERY_FAN) == [fan_id for fan_id in fan_entries() if fan_id != "flower_tiles"]


DRAWN: Final = situation("drawn")

LAST_DRAW: Final = situation("drawn last_tile")


@pytest.mark.parametrize(
    ("held", "green_book", "of_1998"),
    [
        (hand("67s 33z", "8s", "123m", "(8888p)", "(6666m)"), "8 Two Concealed Kongs", "6 Two Concealed Kongs"),
        (
            hand("67s 33z", "8s", "123m", "(8888p)", "6666m"),
            "6 Concealed Kong and Melded Kong",
            "5 Concealed Kong and Melded Kong",
        ),
        (hand("67s 33z", "8s", "123m", "8888p", "6666m"), "4 Two Melded Kongs", "4 Two Melded Kongs"),
    ],
)
def test_the_value_of_two_kongs_depends_on_how_many_are_concealed(held: McrHand, green_book: str, of_1998: str) -> None:
    assert worth(held) == green_book
    assert worth(held, ruleset="1998") == of_1998


CONCEALED_BY_NATURE: Final = [
    (hand("1133m 5577p 2299s 4z", "4z"), "24 Seven Pairs"),
    (hand("2233445566778p", "8p"), "88 Seven Shifted Pairs + {} + 2 All Simples"),
    (hand("19m 19p 19s 1234567z", "1m"), "88 Thirteen Orphans"),
    (hand("1112345678999m", "3m"), "88 Nine Gates + {} + 1 Short Straight"),
    (hand("222m 555p 777s 333p 8m", "8m"), "64 Four Concealed Pungs + {} + 2 All Simples + 1 Single Wait"),
]


@pytest.mark.parametrize(("held", "green_book"), CONCEALED_BY_NATURE)
def test_a_self_drawn_hand_concealed_by_nature_is_a_fully_concealed_hand(held: McrHand, green_book: str) -> None:
    expected = green_book if "{}" in green_book else green_book + " + {}"
    assert worth(held, DRAWN) == expected.format("4 Fully Concealed Hand")
    of_1998 = ids(count_fan(held, DRAWN, "1998"))
    assert "self_drawn" in of_1998
    assert count_fan(held, DRAWN).fan == count_fan(held, DRAWN, "1998").fan + 3


@pytest.mark.parametrize(("held", "green_book"), CONCEALED_BY_NATURE)
def test_a_hand_concealed_by_nature_is_fully_concealed_on_the_last_tile_too(held: McrHand, green_book: str) -> None:  # noqa: ARG001 - a row of the table has it
    gained = Counter(ids(count_fan(held, LAST_DRAW))) - Counter(ids(count_fan(held, LAST_DRAW, "1998")))
    assert gained == {"fully_concealed_hand": 1}
    assert "self_drawn" not in ids(count_fan(held, LAST_DRAW, "1998"))


@pytest.mark.parametrize(("held", "green_book"), CONCEALED_BY_NATURE)
def test_won_on_a_discard_such_a_hand_is_worth_the_same_in_both_books(held: McrHand, green_book: str) -> None:  # noqa: ARG001 - a row of the table has it
    assert count_fan(held, situation()) == count_fan(held, situation(), "1998")


@pytest.mark.parametrize("how", ["drawn", "drawn kong", "drawn last_tile kong"])
def test_four_concealed_pungs_with_concealed_kongs_are_fully_concealed_too(how: str) -> None:
    held = hand("222m 555p 8m", "8m", "(7777s)", "(3333p)")
    gained = Counter(ids(count_fan(held, situation(how)))) - Counter(ids(count_fan(held, situation(how), "1998")))
    assert gained == {"fully_concealed_hand": 1}
    lost = Counter(ids(count_fan(held, situation(how), "1998"))) - Counter(ids(count_fan(held, situation(how))))
    assert lost == ({"self_drawn": 1} if how == "drawn" else {})


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        (hand("1234567z 147m 25p 3s", "6s"), "24 Greater Honors and Knitted Tiles + 1 Self-Drawn"),
        (hand("123456z 147m 258p 3s", "6s"), "12 Lesser Honors and Knitted Tiles + 1 Self-Drawn"),
    ],
)
def test_honors_and_knitted_tiles_are_not_fully_concealed(held: McrHand, expected: str) -> None:
    assert worth(held, DRAWN) == expected
    assert worth(held, DRAWN, "1998") == expected


def test_seven_pairs_are_counted_if_worth_more_than_the_librarys_division() -> None:
    held = hand("4555566m 445566p", "4m")
    assert worth(held, DRAWN, "1998") == (
        "24 Middle Tiles + 16 All Fives + 4 Fully Concealed Hand + 2 All Chows + 2 Tile Hog"
        " + 1 Pure Double Chow + 1 Pure Double Chow + 1 Mixed Double Chow + 1 One Voided Suit"
    )
    assert worth(held, DRAWN) == (
        "24 Seven Pairs + 24 Middle Tiles + 4 Fully Concealed Hand + 2 Tile Hog + 1 One Voided Suit"
    )


def pairs_and_sets() -> Iterator[tuple[str, ...]]:
    """Yield every hand that is both seven pairs and four sets and a pair. `green_book.py` explains why."""
    doubled = [one * 2 + other * 2 for one, other in combinations_with_replacement(CHOWS, 2)]
    suited = [kind for kind in KINDS if kind[1] != "z" and kind[0] <= "6"]
    bridged = [
        (low,) * 3 + (high,) * 3 + KINDS[at : at + 3] + KINDS[at + 1 : at + 4]
        for low in suited
        for at in [KINDS.index(low)]
        for high in [KINDS[at + 3]]
    ]
    for sets, pair in product(doubled + bridged, KINDS):
        tiles = tuple(sorted((*sets, pair, pair)))
        if max(Counter(tiles).values()) <= 4:
            yield tiles


def green_book_worth(fan_ids_: Sequence[str]) -> int:
    """Return the sum of the values."""
    return sum(fan_value(fan_id, "green-book") for fan_id in fan_ids_)


def library_divisions(tiles: tuple[str, ...]) -> Iterator[tuple[McrHand, McrSituation, list[str]]]:
    """Yield the ways to self-draw one of these tiles for which the library does not count Seven Pairs.

    It prefers them least on the last tile of the wall, for which it counts no Self-Drawn with them.
    """
    for winning in sorted(set(tiles)):
        held = McrHand(without(tiles, winning), winning)
        if {"seven_pairs", "seven_shifted_pairs"}.isdisjoint(by_library := fan_ids(held, LAST_DRAW)):
            yield held, LAST_DRAW, by_library
            if "seven_pairs" not in (by_library := fan_ids(held, DRAWN)):
                yield held, DRAWN, by_library


def test_every_hand_that_is_also_seven_pairs_gets_its_most_valuable_division() -> None:
    overtaken = 0
    for tiles in sorted(set(pairs_and_sets())):
        for held, how, by_library in library_divisions(tiles):
            chosen, pairs = by_green_book(by_library, held, how), seven_pairs(tiles, how)
            if green_book_worth(pairs) > green_book_worth(by_library):
                overtaken += 1
                assert sorted(chosen) == sorted(pairs)
            else:
                assert chosen == by_library
    assert overtaken == 144


def three_consecutive_pungs() -> Iterator[McrHand]:
    """Yield every hand of four concealed pungs, one perhaps a kong, that can also be divided into chows."""
    for low in (low for low in range(27) if low % 9 < 7):
        consecutive = tuple(tile for pung in PUNGS[low : low + 3] for tile in pung)
        for fourth, pair in product(KINDS, KINDS):
            if fourth in consecutive or pair in consecutive or fourth == pair:
                continue
            yield McrHand((*consecutive, fourth, fourth, fourth, pair), pair)
            yield McrHand((*consecutive, pair), pair, (McrMeld("kong", (fourth,) * 4, concealed=True),))


def test_every_hand_that_is_also_four_concealed_pungs_is_counted_as_such() -> None:
    assert {"four_concealed_pungs" in fan_ids(held, LAST_DRAW) for held in three_consecutive_pungs()} == {True}


OF_CERTAIN_TILES: Final = {"all_green", "reversible_tiles"}
"""Fan that depend on particular tiles."""


def with_other_tiles(hand: McrHand, names: dict[str, str]) -> McrHand:
    """Return the hand with some tiles replaced by others."""
    to = {tile: names.get(tile, tile) for meld in hand.melds for tile in meld.tiles}
    to |= {tile: names.get(tile, tile) for tile in hand.standing}
    melds = tuple(replace(meld, tiles=tuple(to[tile] for tile in meld.tiles)) for meld in hand.melds)
    return McrHand(tuple(to[tile] for tile in hand.concealed), to[hand.winning_tile], melds)


@given(regular_hands(), situations(), st.sampled_from(RULESETS))
def test_four_sets_and_a_pair_are_always_counted(hand: McrHand, how: McrSituation, ruleset: Ruleset) -> None:
    counted = count_fan(hand, how, ruleset)
    assert counted.fan == sum(element.fan for element in counted.elements) >= 1
    assert [element.fan for element in counted.elements] == [fan_value(fan_id, ruleset) for fan_id in ids(counted)]
    in_the_book_s_order = sorted(
        ids(counted), key=lambda fan_id: (-fan_value(fan_id, ruleset), list(fan_entries()).index(fan_id))
    )
    assert ids(counted) == in_the_book_s_order


@given(regular_hands(), situations(), st.randoms())
def test_the_order_of_tiles_and_melds_does_not_matter(hand: McrHand, how: McrSituation, rng: Random) -> None:
    def mixed(parts: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(rng.sample(parts, len(parts)))

    other = McrHand(mixed(hand.concealed), hand.winning_tile, mixed(hand.melds))  # type: ignore[arg-type] # `mixed` loses the element type
    assert count_fan(other, how) == count_fan(hand, how)


@given(regular_hands(), situations(), st.permutations("mps"))
def test_exchanging_suits_changes_nothing(hand: McrHand, how: McrSituation, suits: list[str]) -> None:
    swapped = {f"{rank}{old}": f"{rank}{new}" for rank in range(1, 10) for old, new in zip("mps", suits, strict=True)}
    one, other = count_fan(hand, how), count_fan(with_other_tiles(hand, swapped), how)
    assume(OF_CERTAIN_TILES.isdisjoint(ids(one) + ids(other)))
    assert one == other


@given(regular_hands(), situations())
def test_reversing_the_ranks_does_not_change_the_value(hand: McrHand, how: McrSituation) -> None:
    turned = {f"{rank}{suit}": f"{10 - rank}{suit}" for rank in range(1, 10) for suit in "mps"}
    one, other = count_fan(hand, how), count_fan(with_other_tiles(hand, turned), how)
    assume(OF_CERTAIN_TILES.isdisjoint(ids(one) + ids(other)))
    assert one.fan == other.fan


@given(any_tiles(), situations())
def test_any_fourteen_tiles_are_counted_or_refused_as_not_winning(hand: McrHand, how: McrSituation) -> None:
    if is_winning(hand.standing):
        assert count_fan(hand, how).fan >= 1
    else:
        with pytest.raises(RuleError) as refused:
            count_fan(hand, how)
        assert refused.value.code == "not_winning"


@given(pairs(), situations())
def test_seven_pairs_are_worth_what_the_oracle_counts(hand: McrHand, how: McrSituation) -> None:
    found = ids(count_fan(hand, how))
    assume("seven_pairs" in found)
    assert Counter(found) == Counter(seven_pairs(hand.standing, how))


@given(regular_hands(), situations())
def test_the_green_book_never_gives_less_than_1998(hand: McrHand, how: McrSituation) -> None:
    by_green_book, by_1998 = count_fan(hand, how), count_fan(hand, how, "1998")
    assert by_green_book.fan - by_1998.fan in {0, 1, 2, 3, 4, 5}


def test_the_count_of_1998_is_that_of_the_library() -> None:
    hand = McrHand(
        ("6s", "7s", "3z", "3z"),
        "8s",
        (
            McrMeld("kong", ("8p",) * 4, concealed=True),
            McrMeld("kong", ("6m",) * 4),
            McrMeld("chow", ("1m", "2m", "3m")),
        ),
    )
    packs = (("GANG", "B8", 0), ("GANG", "W6", 1), ("CHI", "W2", 1))
    own = mahjong_gb().MahjongFanCalculator(packs, ("T6", "T7", "F3", "F3"), "T8", 0, False, False, False, False, 1, 0)  # noqa: FBT003 - as it is called
    assert sum(worth for worth, _ in own) == count_fan(hand, situation(), "1998").fan == 5
