"""Where the Green Book and the library differ, in both; and that no other division of a hand is ever worth more."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, product
from typing import Final

import pytest

from broker.rules.fan.catalogue import value
from broker.rules.fan.count import count
from broker.rules.fan.green_book import by_green_book
from broker.rules.fan.hand import Hand, Meld, Situation
from broker.rules.fan.library import fan_ids
from broker.rules.tiles import KINDS
from tests.broker.rules.fan.hands import hand, ids, situation, without, worth
from tests.broker.rules.fan.oracle import CHOWS, PUNGS, seven_pairs

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
def test_two_kongs_differ_by_how_many_are_concealed(held: Hand, green_book: str, of_1998: str) -> None:
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
def test_self_drawn_a_hand_concealed_by_nature_is_a_fully_concealed_hand(held: Hand, green_book: str) -> None:
    expected = green_book if "{}" in green_book else green_book + " + {}"
    assert worth(held, DRAWN) == expected.format("4 Fully Concealed Hand")
    of_1998 = ids(count(held, DRAWN, "1998"))
    assert "self_drawn" in of_1998
    assert count(held, DRAWN).fan == count(held, DRAWN, "1998").fan + 3


@pytest.mark.parametrize(("held", "green_book"), CONCEALED_BY_NATURE)
def test_it_stays_so_on_the_last_tile_where_self_drawn_is_implied(held: Hand, green_book: str) -> None:  # noqa: ARG001 - a row of the table has it
    gained = Counter(ids(count(held, LAST_DRAW))) - Counter(ids(count(held, LAST_DRAW, "1998")))
    assert gained == {"fully_concealed_hand": 1}
    assert "self_drawn" not in ids(count(held, LAST_DRAW, "1998"))


@pytest.mark.parametrize(("held", "green_book"), CONCEALED_BY_NATURE)
def test_won_on_a_discard_it_is_worth_the_same_in_both_books(held: Hand, green_book: str) -> None:  # noqa: ARG001 - a row of the table has it
    assert count(held, situation()) == count(held, situation(), "1998")


@pytest.mark.parametrize("how", ["drawn", "drawn kong", "drawn last_tile kong"])
def test_four_concealed_pungs_with_concealed_kongs_are_fully_concealed_too(how: str) -> None:
    held = hand("222m 555p 8m", "8m", "(7777s)", "(3333p)")
    gained = Counter(ids(count(held, situation(how)))) - Counter(ids(count(held, situation(how), "1998")))
    assert gained == {"fully_concealed_hand": 1}
    lost = Counter(ids(count(held, situation(how), "1998"))) - Counter(ids(count(held, situation(how))))
    assert lost == ({"self_drawn": 1} if how == "drawn" else {})


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        (hand("1234567z 147m 25p 3s", "6s"), "24 Greater Honors and Knitted Tiles + 1 Self-Drawn"),
        (hand("123456z 147m 258p 3s", "6s"), "12 Lesser Honors and Knitted Tiles + 1 Self-Drawn"),
    ],
)
def test_honors_and_knitted_tiles_are_not_among_them(held: Hand, expected: str) -> None:
    assert worth(held, DRAWN) == expected
    assert worth(held, DRAWN, "1998") == expected


def test_seven_pairs_overtake_the_division_that_the_library_chose() -> None:
    held = hand("4555566m 445566p", "4m")
    assert worth(held, DRAWN, "1998") == (
        "24 Middle Tiles + 16 All Fives + 4 Fully Concealed Hand + 2 All Chows + 2 Tile Hog"
        " + 1 Pure Double Chow + 1 Pure Double Chow + 1 Mixed Double Chow + 1 One Voided Suit"
    )
    assert worth(held, DRAWN) == (
        "24 Seven Pairs + 24 Middle Tiles + 4 Fully Concealed Hand + 2 Tile Hog + 1 One Voided Suit"
    )


def pairs_and_sets() -> Iterator[tuple[str, ...]]:
    """Give every hand that is seven pairs and also four sets and a pair (why these are all: green_book.py)."""
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
    """Add up values."""
    return sum(value(fan_id, "green-book") for fan_id in fan_ids_)


def divided_otherwise(tiles: tuple[str, ...]) -> Iterator[tuple[Hand, Situation, list[str]]]:
    """Give the ways to draw the last of these tiles in which the library does not say Seven Pairs.

    It says so the least readily on the last tile of the wall, where it counts them no Self-Drawn.
    """
    for winning in sorted(set(tiles)):
        held = Hand(without(tiles, winning), winning)
        if {"seven_pairs", "seven_shifted_pairs"}.isdisjoint(by_library := fan_ids(held, LAST_DRAW)):
            yield held, LAST_DRAW, by_library
            if "seven_pairs" not in (by_library := fan_ids(held, DRAWN)):
                yield held, DRAWN, by_library


def test_no_hand_of_pairs_is_worth_more_divided_otherwise() -> None:
    overtaken = 0
    for tiles in sorted(set(pairs_and_sets())):
        for held, how, by_library in divided_otherwise(tiles):
            chosen, pairs = by_green_book(by_library, held, how), seven_pairs(tiles, how)
            if green_book_worth(pairs) > green_book_worth(by_library):
                overtaken += 1
                assert sorted(chosen) == sorted(pairs)
            else:
                assert chosen == by_library
    assert overtaken == 144


def three_consecutive_pungs() -> Iterator[Hand]:
    """Give every hand of four concealed pungs, one perhaps a kong, that can be divided into chows as well."""
    for low in (low for low in range(27) if low % 9 < 7):
        consecutive = tuple(tile for pung in PUNGS[low : low + 3] for tile in pung)
        for fourth, pair in product(KINDS, KINDS):
            if fourth in consecutive or pair in consecutive or fourth == pair:
                continue
            yield Hand((*consecutive, fourth, fourth, fourth, pair), pair)
            yield Hand((*consecutive, pair), pair, (Meld("kong", (fourth,) * 4, concealed=True),))


def test_no_hand_of_four_concealed_pungs_is_worth_more_divided_otherwise() -> None:
    assert {"four_concealed_pungs" in fan_ids(held, LAST_DRAW) for held in three_consecutive_pungs()} == {True}
