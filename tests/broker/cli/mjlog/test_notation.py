"""A record's file is read completely or refused, within limits; melds packed in 16 bits are decoded."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.cli.mjlog.notation import LONGEST, MOST_TAGS, MjlogTag, decode_meld, decode_tile, tags_of
from broker.rules import KINDS, RuleError
from broker.rules.riichi.hand import RiichiHandMeld

SMALL = b'<mjloggm ver="2.3"><T1/><AGARI who="0" sc="1,2"/></mjloggm>'
TAGS = (MjlogTag("T1", {}), MjlogTag("AGARI", {"who": "0", "sc": "1,2"}))


def refused(content: bytes) -> str:
    with pytest.raises(RuleError) as problem:
        tags_of(content)
    return problem.value.code


def test_a_record_is_read_as_its_tags_in_order() -> None:
    assert tags_of(SMALL) == TAGS


def test_a_record_may_be_gzipped() -> None:
    assert tags_of(gzip.compress(SMALL)) == TAGS


def test_another_declared_encoding_is_ignored() -> None:
    assert tags_of(b'<?xml version="1.0" encoding="Shift_JIS"?>' + SMALL) == TAGS


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no record",
        SMALL[:-3],
        b"<other/>",
        gzip.compress(SMALL, mtime=0)[:25],
        gzip.compress(SMALL, mtime=0)[:10] + b"\xff" * 20,
        b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><mjloggm>&b;</mjloggm>',
        b'<!DOCTYPE a [<!ENTITY b "cc"><!ENTITY d "&b;&b;&b;&b;">]><mjloggm><T a="&d;"/></mjloggm>',
    ],
)
def test_content_that_is_not_a_record_is_refused(content: bytes) -> None:
    assert refused(content) == "not_a_record"


def test_a_small_file_that_would_unpack_to_a_huge_one_is_refused() -> None:
    bomb = gzip.compress(b"<mjloggm>" + b" " * (20 * LONGEST))
    assert len(bomb) < LONGEST / 10
    assert refused(bomb) == "record_too_large"


def test_a_file_that_is_too_long_is_refused() -> None:
    assert refused(b"<mjloggm>" + b" " * LONGEST) == "record_too_large"


def test_too_many_tags_are_refused() -> None:
    assert refused(b"<mjloggm>" + b"<T1/>" * (MOST_TAGS + 1) + b"</mjloggm>") == "record_too_large"


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    for tried in (content, b"\x1f\x8b" + content, b"<mjloggm>" + content):
        try:
            tags_of(tried)
        except RuleError as problem:
            assert problem.code == "not_a_record"  # noqa: PT017 - either outcome is correct


KIND = st.integers(0, 33)
SOURCE = st.integers(1, 3)
COPY = st.integers(0, 3)


@given(st.integers(0, 20), st.integers(0, 2), st.tuples(COPY, COPY, COPY), SOURCE)
def test_a_chii_is_read(low: int, called: int, copies: tuple[int, int, int], source: int) -> None:
    bits = (low * 3 + called) << 10 | copies[2] << 7 | copies[1] << 5 | copies[0] << 3 | 0x4 | source
    first = low // 7 * 9 + low % 7
    assert decode_meld(bits, red=False) == RiichiHandMeld("chii", KINDS[first : first + 3])


@given(KIND, st.integers(0, 2), COPY, SOURCE)
def test_a_pon_is_read_without_the_fourth_tile(kind: int, called: int, fourth: int, source: int) -> None:
    bits = (kind * 3 + called) << 9 | fourth << 5 | 0x8 | source
    assert decode_meld(bits, red=False) == RiichiHandMeld("pon", (KINDS[kind],) * 3)


@given(KIND, st.integers(0, 2), COPY, SOURCE)
def test_a_kan_added_to_a_pon_is_open(kind: int, called: int, fourth: int, source: int) -> None:
    bits = (kind * 3 + called) << 9 | fourth << 5 | 0x10 | source
    assert decode_meld(bits, red=False) == RiichiHandMeld("kan", (KINDS[kind],) * 4)


@given(KIND, COPY, st.integers(0, 3))
def test_a_kan_without_a_source_is_concealed(kind: int, called: int, source: int) -> None:
    bits = (kind * 4 + called) << 8 | source
    assert decode_meld(bits, red=False) == RiichiHandMeld("kan", (KINDS[kind],) * 4, open=source != 0)


def test_a_red_five_is_read_where_the_game_has_them() -> None:
    assert [decode_tile(52, red=red) for red in (True, False)] == ["0p", "5p"]
    assert decode_meld((13 * 3) << 9 | 3 << 5 | 0x8 | 1, red=True) == RiichiHandMeld("pon", ("0p", "5p", "5p"))


@pytest.mark.parametrize("bits", [-1, 1 << 16, 0x20, 102 << 9 | 0x8, 136 << 8])
def test_an_invalid_meld_is_refused(bits: int) -> None:
    with pytest.raises(RuleError) as refused:
        decode_meld(bits, red=False)
    assert refused.value.code == "bad_record"


@given(st.integers(-5, 1 << 17))
def test_any_number_is_read_as_a_meld_or_refused(bits: int) -> None:
    try:
        decode_meld(bits, red=True)
    except RuleError as refused:
        assert refused.code in {"bad_record", "not_a_meld"}  # noqa: PT017 - either outcome is correct
