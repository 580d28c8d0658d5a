"""Several hu on one discard: all win, or two at most, or the nearest in turn order. Examples are the sources' own."""

from itertools import combinations, permutations
from typing import get_args

import pytest

from broker.contract.words import SEATS, Seat
from broker.rules.declarers import SeveralHu, Winners, after, winners
from broker.rules.errors import RuleError

SETTINGS: tuple[SeveralHu, ...] = get_args(SeveralHu)

DECLARED = [
    (discarder, who)
    for discarder in SEATS
    for count in (1, 2, 3)
    for who in combinations([seat for seat in SEATS if seat != discarder], count)
]


def test_a_double_ron_counts_and_a_triple_is_refused() -> None:
    """MONTREAL: « Le double ron est compté, le triple est refusé. »."""
    assert winners(["west", "south"], "east", "two") == Winners(("south", "west"))
    assert winners(["north", "west", "south"], "east", "two") == Winners((), ("south", "west", "north"))


def test_where_one_ron_counts_it_is_that_of_the_nearest_in_turn_order() -> None:
    """RIICHI-PLAY: « le ron déclaré par le joueur le plus près dans l'ordre de tour ... Tous les autres annulés »."""
    assert winners(["north", "west"], "south", "nearest") == Winners(("west",), ("north",))
    assert winners(["south", "west"], "north", "nearest") == Winners(("south",), ("west",))


def test_all_hu_count_in_duplicate_whatever_their_seats() -> None:
    """OEDMC rule 2."""
    assert winners(["north", "south", "west"], "east", "all") == Winners(("south", "west", "north"))


@pytest.mark.parametrize("several", SETTINGS)
@pytest.mark.parametrize(("discarder", "who"), DECLARED, ids=str)
def test_who_was_quicker_decides_nothing(several: SeveralHu, discarder: Seat, who: tuple[Seat, ...]) -> None:
    assert len({winners(order, discarder, several) for order in permutations(who)}) == 1


@pytest.mark.parametrize("several", SETTINGS)
@pytest.mark.parametrize(("discarder", "who"), DECLARED, ids=str)
def test_everybody_who_declared_has_won_or_is_refused_and_stands_in_turn_order(
    several: SeveralHu, discarder: Seat, who: tuple[Seat, ...]
) -> None:
    told = winners(who, discarder, several)
    assert (*told.won, *told.refused) == tuple(seat for seat in after(discarder) if seat in who)
    wins = {"all": len(who), "two": len(who) % 3, "nearest": 1}[several]
    assert len(told.won) == wins


def test_turn_order_goes_round_the_table() -> None:
    assert [after(seat) for seat in SEATS] == [
        ("south", "west", "north"),
        ("west", "north", "east"),
        ("north", "east", "south"),
        ("east", "south", "west"),
    ]


@pytest.mark.parametrize(
    ("declared", "code"),
    [([], "winner_missing"), (["west", "west"], "winner_twice"), (["west", "east"], "discarder_wins")],
)
def test_what_cannot_have_been_declared_is_refused(declared: list[Seat], code: str) -> None:
    with pytest.raises(RuleError) as refused:
        winners(declared, "east", "all")
    assert refused.value.code == code
