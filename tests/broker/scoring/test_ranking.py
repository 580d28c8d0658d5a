"""Places: by total, shared where equal, parted by a chain where there is one."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.scoring.entries import Entries
from broker.scoring.imp import Whole
from broker.scoring.ranking import Ranking, TieBreaker, rank
from broker.scoring.totals import Totals


def ranked(imps: Mapping[str, int], *chain: TieBreaker, without: tuple[str, ...] = ()) -> Ranking:
    entries = Entries().with_names(imps)
    nothing = np.zeros(len(imps), dtype=np.int64)
    totals = Totals(np.array([*imps.values()], dtype=np.int64), nothing, nothing, nothing)
    return rank(entries, totals, chain, without)


def placed(*chain: TieBreaker, without: tuple[str, ...] = (), **imps: int) -> list[tuple[int, str]]:
    return [(one.place, one.name) for one in ranked(imps, *chain, without=without)]


def by(*keys: int) -> TieBreaker:
    """Give a tie-break that has these keys for the entries, in the order in which they were named."""

    def key(tied: Whole) -> Whole:
        return np.array(keys)[tied]

    return key


def test_equal_totals_share_a_place_and_the_next_stays_free() -> None:
    assert placed(cho=3, ana=7, ben=7) == [(1, "ana"), (1, "ben"), (3, "cho")]


def test_all_equal_are_all_first() -> None:
    assert placed(cho=0, ana=0, ben=0) == [(1, "ana"), (1, "ben"), (1, "cho")]


def test_a_tie_further_down_is_shared_too() -> None:
    assert placed(a=5, b=1, c=1, d=-2, e=1) == [(1, "a"), (2, "b"), (2, "c"), (2, "e"), (5, "d")]


def test_nobody_is_nobody() -> None:
    assert placed() == []


def test_a_tie_break_parts_the_tied_and_nobody_else() -> None:
    assert placed(by(9, 1, 2, 3), a=5, b=7, c=7, d=7) == [(1, "d"), (2, "c"), (3, "b"), (4, "a")]


def test_who_is_equal_in_the_first_tie_break_is_parted_by_the_second() -> None:
    assert placed(by(1, 1, 0), by(0, 1, 9), a=7, b=7, c=7) == [(1, "b"), (2, "a"), (3, "c")]


def test_who_is_equal_in_all_tie_breaks_shares_the_place() -> None:
    assert placed(by(1, 1, 2), a=7, b=7, c=7) == [(1, "c"), (2, "a"), (2, "b")]


def test_who_has_no_standing_takes_nobodys_place() -> None:
    assert placed(a=5, b=7, c=3, without=("b", "nobody")) == [(1, "a"), (2, "c")]


@given(st.dictionaries(st.text(max_size=3), st.integers(-5, 5), max_size=12))
def test_a_place_is_one_more_than_there_are_better_ones(imps: dict[str, int]) -> None:
    found = ranked(imps)
    assert {one.name: one.place for one in found} == {
        name: 1 + sum(other > imp for other in imps.values()) for name, imp in imps.items()
    }
    assert [one.imp for one in found] == sorted(imps.values(), reverse=True)


@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 2), st.integers(0, 2)), max_size=12))
def test_a_chain_is_the_order_of_the_keys_one_after_the_other(keys: list[tuple[int, int, int]]) -> None:
    names = {f"{at:02}": key for at, key in enumerate(keys)}
    imps = {name: key[0] for name, key in names.items()}
    found = ranked(imps, by(*(key[1] for key in keys)), by(*(key[2] for key in keys)))
    assert {one.name: one.place for one in found} == {
        name: 1 + sum(other > key for other in keys) for name, key in names.items()
    }


def test_lines_are_made_when_they_are_read_and_are_the_same_by_place_and_in_turn() -> None:
    found = ranked({"a": 1, "b": 3, "c": 2})
    assert [found[at] for at in range(3)] == list(found)
    assert [found[-1], *found[1:2]] == [list(found)[2], list(found)[1]]
    with pytest.raises(IndexError):
        found[3]
