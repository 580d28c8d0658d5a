"""A winner's hand by its serials, sorted by the recorded walls or as its groups are described."""

from collections.abc import Callable
from itertools import chain
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import SEATS, Seat
from broker.rules import TRAY, RuleError, SerialTray, in_rows
from broker.rules.hand_from_serials import DescribedHand, LaidHand, LaidMeld, sort_as_described, sort_by_walls

ORDER: Final[dict[Seat, SerialTray]] = {
    seat: in_rows(range(1 + at * TRAY, 1 + (at + 1) * TRAY)) for at, seat in enumerate(SEATS)
}
"""East's tray is 1 to 34, with 1 to 13 as the hand. South has 35 to 68, west 69 to 102, north 103 to 136."""

Groups = tuple[tuple[int, ...], ...]


def code_of(*groups: tuple[int, ...]) -> str:
    with pytest.raises(RuleError) as refusal:
        sort_by_walls(groups, ORDER, "east")
    return refusal.value.code


@st.composite
def hands_by_walls(draw: st.DrawFn) -> tuple[Groups, LaidHand]:
    """Any hand of East's: its groups in any order, and the hand they are."""
    own = draw(st.permutations(range(1, 34)))
    others = draw(st.lists(st.integers(35, 136), min_size=20, max_size=20, unique=True))
    sizes = draw(st.lists(st.sampled_from([3, 4]), max_size=4))
    claimed = tuple((*others[at * 4 : at * 4 + 1], *own[at * 4 : at * 4 + size - 1]) for at, size in enumerate(sizes))
    kongs = draw(st.integers(0, 4 - len(claimed)))
    concealed_kongs = tuple(tuple(own[16 + at * 4 : 20 + at * 4]) for at in range(kongs))
    left = [one for one in own if one not in {*chain(*claimed), *chain(*concealed_kongs)}]
    concealed = tuple(left[: 13 - 3 * (len(claimed) + kongs)])
    self_drawn = draw(st.booleans())
    winning = 34 if self_drawn else others[-1]
    discarder = None if self_drawn else next(seat for seat in SEATS if winning in chain(*ORDER[seat]))
    groups = draw(st.permutations([*([concealed] if concealed else []), *claimed, *concealed_kongs]))
    drawn = max(0, *(one - 13 for one in chain(*groups, [winning]) if one <= 34), 0)
    melds = tuple(LaidMeld(one) for one in groups if one in claimed)
    kong_melds = tuple(LaidMeld(one, concealed=True) for one in groups if one in concealed_kongs)
    hand = LaidHand(concealed, (*melds, *kong_melds), winning, discarder, drawn)
    return (*groups, (winning,)), hand


@given(hands_by_walls())
def test_every_possible_hand_is_sorted_whatever_the_order_of_its_groups(laid: tuple[Groups, LaidHand]) -> None:
    groups, hand = laid
    if len(hand.concealed) == 4 and any(meld.concealed for meld in hand.melds):
        assert code_of(*groups) == "kong_unclear"
    else:
        assert sort_by_walls(groups, ORDER, "east") == hand


def test_concealed_sets_laid_apart_count_as_concealed_tiles() -> None:
    hand = sort_by_walls([(1, 2, 3), (4, 5, 6), (7, 8, 9), (10, 11, 12), (13,), (14,)], ORDER, "east")
    assert (hand.concealed, hand.melds, hand.discarder) == (tuple(range(1, 14)), (), None)


@pytest.mark.parametrize(
    ("groups", "code"),
    [
        ((), "winning_tile_not_apart"),
        ((tuple(range(1, 14)), (14, 15)), "winning_tile_not_apart"),
        ((tuple(range(1, 14)), (13,)), "tile_laid_twice"),
        ((tuple(range(1, 13)), (14,)), "wrong_tile_count"),
        ((tuple(range(1, 15)), (16,)), "wrong_tile_count"),
        ((tuple(range(1, 8)), (8, 9, 35), (10, 11, 36), (12, 13, 37), (38,)), "wrong_tile_count"),
        ((tuple(range(1, 11)), (11, 12, 35, 36), (37,)), "not_a_meld"),
        ((tuple(range(1, 12)), (12, 35), (37,)), "not_a_meld"),
        ((tuple(range(1, 8)), (8, 9, 10, 35, 36, 37), (38,)), "not_a_meld"),
        (((1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 35), (11, 12, 36), (37,)), "kong_unclear"),
        (((1, *range(3, 15)), (2,)), "not_drawn_last"),
        (((*range(1, 13), 20), (19,)), "not_drawn_last"),
        ((tuple(range(2, 15)), (1,)), "not_drawn_last"),
    ],
)
def test_an_impossible_hand_is_refused_with_its_code(groups: Groups, code: str) -> None:
    def sorted_out() -> str:
        try:
            sort_by_walls(groups, ORDER, "east")
        except RuleError as refusal:
            return refusal.code
        return ""

    assert sorted_out() == code


LAYOUTS: Final[dict[str, Callable[[int], Groups]]] = {
    "self-drawn, all concealed": lambda last: (tuple(range(1, 14)), (last,)),
    "self-drawn, one claimed": lambda last: (tuple(range(1, 11)), (11, 12, 35), (last,)),
}


@pytest.mark.parametrize(
    ("laid", "serial", "may_be"),
    [
        ("self-drawn, all concealed", 13 + 16, False),
        ("self-drawn, all concealed", 13 + 17, True),
        ("self-drawn, one claimed", 13 + 15, False),
        ("self-drawn, one claimed", 13 + 16, True),
    ],
)
def test_the_last_tile_is_offered_only_once_enough_of_the_winners_wall_is_drawn(
    laid: str, serial: int, *, may_be: bool
) -> None:
    """The next player's 21 tiles follow 16 of the winner's discards, four kongs and a dealer's first tile."""
    assert sort_by_walls(LAYOUTS[laid](serial), ORDER, "east").may_be_last_tile is may_be


def test_the_last_tile_is_always_offered_for_a_win_on_a_discard() -> None:
    assert sort_by_walls((tuple(range(1, 14)), (40,)), ORDER, "east").may_be_last_tile


THIRTEEN: Final = tuple(range(1, 14))


@st.composite
def hands_described(draw: st.DrawFn) -> tuple[Groups, frozenset[int], DescribedHand]:
    """Any hand: its groups with the concealed kongs among them, and the hand they are."""
    serials = iter(draw(st.permutations(range(1, 137))))
    sizes = draw(st.lists(st.sampled_from([3, 4]), max_size=4))
    concealed = tuple(next(serials) for _ in range(13 - 3 * len(sizes)))
    melds = tuple(tuple(next(serials) for _ in range(size)) for size in sizes)
    kongs = frozenset(at for at, size in enumerate(sizes, 2) if size == 4 and draw(st.booleans()))
    winning, drawn = next(serials), draw(st.booleans())
    laid = tuple(LaidMeld(meld, concealed=at in kongs) for at, meld in enumerate(melds, 2))
    return (concealed, *melds, (winning,)), kongs, DescribedHand(concealed, laid, winning, drawn)


@given(hands_described())
def test_a_described_hand_is_read_as_described(
    laid: tuple[Groups, frozenset[int], DescribedHand],
) -> None:
    groups, kongs, hand = laid
    assert sort_as_described(groups, self_drawn=hand.self_drawn, concealed_kongs=kongs) == hand


def test_four_tiles_in_the_first_group_are_concealed_tiles_and_not_a_kong() -> None:
    hand = sort_as_described([(1, 2, 3, 4), (5, 6, 7), (8, 9, 10), (11, 12, 13, 14), (15,)], self_drawn=True)
    assert (hand.concealed, [len(meld.serials) for meld in hand.melds], hand.kongs) == ((1, 2, 3, 4), [3, 3, 4], 1)


@pytest.mark.parametrize(
    ("groups", "kongs", "code"),
    [
        ((), (), "winning_tile_not_apart"),
        ((THIRTEEN, (14, 15)), (), "winning_tile_not_apart"),
        ((THIRTEEN, (13,)), (), "tile_laid_twice"),
        ((THIRTEEN[:12], (14,)), (), "wrong_tile_count"),
        ((THIRTEEN[:7], THIRTEEN[7:12], (14,)), (), "wrong_tile_count"),
        (((1,),), (), "wrong_tile_count"),
        (((1, 2, 3), tuple(range(4, 14)), (14,)), (), "not_a_meld"),
        ((THIRTEEN[:7], THIRTEEN[7:], (14,)), (), "not_a_meld"),
        ((tuple(range(1, 11)), (11, 12, 13), (14,)), (2,), "concealed_meld"),
        ((THIRTEEN, (14,)), (1,), "concealed_meld"),
        ((THIRTEEN, (14,)), (2,), "concealed_meld"),
        ((THIRTEEN, (14,)), (9,), "concealed_meld"),
    ],
)
def test_an_impossible_described_hand_is_refused_with_its_code(
    groups: Groups, kongs: tuple[int, ...], code: str
) -> None:
    with pytest.raises(RuleError) as refusal:
        sort_as_described(groups, self_drawn=True, concealed_kongs=kongs)
    assert refusal.value.code == code
