"""Melds in 16 bits: what is packed as the format says is read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.riichi.mjlog.melds import meld_of, tile_of
from broker.rules.errors import RuleError
from broker.rules.riichi.hand import Meld
from broker.rules.tiles import KINDS

KIND = st.integers(0, 33)
SOURCE = st.integers(1, 3)
COPY = st.integers(0, 3)


@given(st.integers(0, 20), st.integers(0, 2), st.tuples(COPY, COPY, COPY), SOURCE)
def test_a_chii_is_read(low: int, called: int, copies: tuple[int, int, int], source: int) -> None:
    bits = (low * 3 + called) << 10 | copies[2] << 7 | copies[1] << 5 | copies[0] << 3 | 0x4 | source
    first = low // 7 * 9 + low % 7
    assert meld_of(bits, red=False) == Meld("chii", KINDS[first : first + 3])


@given(KIND, st.integers(0, 2), COPY, SOURCE)
def test_a_pon_is_read_without_the_fourth_tile(kind: int, called: int, fourth: int, source: int) -> None:
    bits = (kind * 3 + called) << 9 | fourth << 5 | 0x8 | source
    assert meld_of(bits, red=False) == Meld("pon", (KINDS[kind],) * 3)


@given(KIND, st.integers(0, 2), COPY, SOURCE)
def test_a_kan_added_to_a_pon_is_an_open_one(kind: int, called: int, fourth: int, source: int) -> None:
    bits = (kind * 3 + called) << 9 | fourth << 5 | 0x10 | source
    assert meld_of(bits, red=False) == Meld("kan", (KINDS[kind],) * 4)


@given(KIND, COPY, st.integers(0, 3))
def test_a_kan_is_closed_where_its_tile_came_from_nobody(kind: int, called: int, source: int) -> None:
    bits = (kind * 4 + called) << 8 | source
    assert meld_of(bits, red=False) == Meld("kan", (KINDS[kind],) * 4, open=source != 0)


def test_a_red_five_is_read_where_the_game_has_them() -> None:
    assert [tile_of(52, red=red) for red in (True, False)] == ["0p", "5p"]
    assert meld_of((13 * 3) << 9 | 3 << 5 | 0x8 | 1, red=True) == Meld("pon", ("0p", "5p", "5p"))


@pytest.mark.parametrize("bits", [-1, 1 << 16, 0x20, 102 << 9 | 0x8, 136 << 8])
def test_what_is_no_meld_is_refused(bits: int) -> None:
    with pytest.raises(RuleError) as refused:
        meld_of(bits, red=False)
    assert refused.value.code == "bad_record"


@given(st.integers(-5, 1 << 17))
def test_any_number_is_a_meld_or_refused(bits: int) -> None:
    try:
        meld_of(bits, red=True)
    except RuleError as refused:
        assert refused.code in {"bad_record", "not_a_meld"}  # noqa: PT017 - both ends are right
