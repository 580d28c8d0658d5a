"""Places: by total, shared where equal."""

from hypothesis import given
from hypothesis import strategies as st

from broker.scoring.ranking import Total, rank
from tests.broker.contract.laws import LAW


def placed(**imps: int) -> list[tuple[int, str]]:
    return [(one.place, one.name) for one in rank({name: Total(imp=imp) for name, imp in imps.items()})]


def test_equal_totals_share_a_place_and_the_next_stays_free() -> None:
    assert placed(cho=3, ana=7, ben=7) == [(1, "ana"), (1, "ben"), (3, "cho")]


def test_all_equal_are_all_first() -> None:
    assert placed(cho=0, ana=0, ben=0) == [(1, "ana"), (1, "ben"), (1, "cho")]


def test_a_tie_further_down_is_shared_too() -> None:
    assert placed(a=5, b=1, c=1, d=-2, e=1) == [(1, "a"), (2, "b"), (2, "c"), (2, "e"), (5, "d")]


def test_nobody_is_nobody() -> None:
    assert rank({}) == ()


def test_fines_and_plays_do_not_break_a_tie() -> None:
    ranked = rank({"a": Total(imp=4, fines=8, plays=3), "b": Total(imp=4)})
    assert [one.place for one in ranked] == [1, 1]


def test_a_play_adds_its_imps_and_takes_its_fine() -> None:
    assert Total().plus(3, 0).plus(-1, 8) == Total(imp=-6, fines=8, plays=2)


@given(st.dictionaries(st.text(max_size=3), st.integers(-5, 5), max_size=12))
@LAW
def test_a_place_is_one_more_than_there_are_better_ones(imps: dict[str, int]) -> None:
    ranked = rank({name: Total(imp=imp) for name, imp in imps.items()})
    assert {one.name: one.place for one in ranked} == {
        name: 1 + sum(other > imp for other in imps.values()) for name, imp in imps.items()
    }
    assert [one.total.imp for one in ranked] == sorted(imps.values(), reverse=True)
