"""A hand that no wall tells of is taken as it lies and as it is said: concealed tiles first, then melds."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.rules.errors import RuleError
from broker.rules.laid_hand import LaidMeld
from broker.rules.said_hand import SaidHand, sort_as_said

Groups = tuple[tuple[int, ...], ...]

THIRTEEN: Final = tuple(range(1, 14))


@st.composite
def hands(draw: st.DrawFn) -> tuple[Groups, frozenset[int], SaidHand]:
    """Any hand as it lies, and what it is."""
    serials = iter(draw(st.permutations(range(1, 137))))
    sizes = draw(st.lists(st.sampled_from([3, 4]), max_size=4))
    concealed = tuple(next(serials) for _ in range(13 - 3 * len(sizes)))
    melds = tuple(tuple(next(serials) for _ in range(size)) for size in sizes)
    kongs = frozenset(at for at, size in enumerate(sizes, 2) if size == 4 and draw(st.booleans()))
    winning, drawn = next(serials), draw(st.booleans())
    laid = tuple(LaidMeld(meld, concealed=at in kongs) for at, meld in enumerate(melds, 2))
    return (concealed, *melds, (winning,)), kongs, SaidHand(concealed, laid, winning, drawn)


@given(hands())
def test_whatever_is_laid_concealed_tiles_first_is_what_is_said_of_it(
    laid: tuple[Groups, frozenset[int], SaidHand],
) -> None:
    groups, kongs, hand = laid
    assert sort_as_said(groups, self_drawn=hand.self_drawn, concealed_kongs=kongs) == hand


def test_four_concealed_tiles_that_lie_first_are_no_kong() -> None:
    hand = sort_as_said([(1, 2, 3, 4), (5, 6, 7), (8, 9, 10), (11, 12, 13, 14), (15,)], self_drawn=True)
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
def test_what_is_no_hand_so_is_refused(groups: Groups, kongs: tuple[int, ...], code: str) -> None:
    with pytest.raises(RuleError) as refusal:
        sort_as_said(groups, self_drawn=True, concealed_kongs=kongs)
    assert refusal.value.code == code
