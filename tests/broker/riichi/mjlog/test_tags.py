"""A record's file: read whole or refused, within bounds."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.riichi.mjlog.tags import LONGEST, MOST_TAGS, Tag, tags_of
from broker.rules.errors import RuleError

SMALL = b'<mjloggm ver="2.3"><T1/><AGARI who="0" sc="1,2"/></mjloggm>'
TAGS = (Tag("T1", {}), Tag("AGARI", {"who": "0", "sc": "1,2"}))


def refused(content: bytes) -> str:
    """Give the code with which a file is refused."""
    with pytest.raises(RuleError) as problem:
        tags_of(content)
    return problem.value.code


def test_a_record_is_its_tags_in_order() -> None:
    assert tags_of(SMALL) == TAGS


def test_a_record_may_be_gzipped() -> None:
    assert tags_of(gzip.compress(SMALL)) == TAGS


def test_names_in_another_encoding_do_no_harm() -> None:
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
def test_what_is_no_record_is_refused(content: bytes) -> None:
    assert refused(content) == "not_a_record"


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused() -> None:
    bomb = gzip.compress(b"<mjloggm>" + b" " * (20 * LONGEST))
    assert len(bomb) < LONGEST / 10
    assert refused(bomb) == "record_too_large"


def test_a_file_that_is_too_long_is_refused() -> None:
    assert refused(b"<mjloggm>" + b" " * LONGEST) == "record_too_large"


def test_more_tags_than_any_game_has_are_refused() -> None:
    assert refused(b"<mjloggm>" + b"<T1/>" * (MOST_TAGS + 1) + b"</mjloggm>") == "record_too_large"


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    for tried in (content, b"\x1f\x8b" + content, b"<mjloggm>" + content):
        try:
            tags_of(tried)
        except RuleError as problem:
            assert problem.code == "not_a_record"  # noqa: PT017 - both ends are right
