"""Bytes to lines: it does not matter how they are cut into pieces, and nothing grows without bound."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.scan_lines import CUT_NS, LONGEST, LineCutter, ReadLine

NOW = 1_000_000_000_000


def lines_of(*pieces: bytes) -> list[ReadLine]:
    cutter = LineCutter(heard=NOW)
    return [line for piece in pieces for line in cutter.take(piece, NOW)]


@pytest.mark.parametrize("end", [b"\r", b"\n", b"\r\n", b"\t", b"\x03", b"\x03\r\n"])
@pytest.mark.parametrize("start", [b"", b"\x02"])
def test_each_common_terminator_ends_a_line_once_with_or_without_stx(start: bytes, end: bytes) -> None:
    lines = lines_of(start + b"117" + end + start + b"118" + end)
    assert [line for line in lines if line.content] == [
        ReadLine(b"117", "whole"),
        ReadLine(b"118", "whole"),
    ]


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6))
def test_lines_are_the_same_however_the_bytes_are_cut(content: bytes, cuts: list[int]) -> None:
    at = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    pieces = [content[start:end] for start, end in pairwise(at)]
    assert lines_of(*pieces) == lines_of(content)


@given(st.binary(max_size=1000))
def test_what_is_kept_is_bounded_and_no_line_is_longer(content: bytes) -> None:
    cutter = LineCutter(heard=NOW)
    lines = list(cutter.take(content, NOW))
    assert [line for line in lines if len(line.content) > LONGEST] == []
    assert len(cutter._begun) <= LONGEST


def test_a_line_that_stands_still_has_broken_off_and_not_before() -> None:
    cutter = LineCutter(heard=NOW)
    assert list(cutter.take(b"HM1-08", NOW)) == []
    assert list(cutter.take(b"", NOW + CUT_NS - 1)) == []
    assert list(cutter.take(b"", NOW + CUT_NS)) == [ReadLine(b"HM1-08", "cut")]
    assert list(cutter.take(b"-117\r", NOW + CUT_NS)) == [ReadLine(b"-117", "whole")]


def test_a_line_that_goes_on_in_time_is_one_however_long_it_takes() -> None:
    cutter = LineCutter(heard=NOW)
    told = [
        line for at, byte in enumerate(b"HM1-08-117\r") for line in cutter.take(bytes([byte]), NOW + at * (CUT_NS - 1))
    ]
    assert told == [ReadLine(b"HM1-08-117", "whole")]


def test_what_comes_after_a_pause_without_an_idle_call_is_a_new_line_too() -> None:
    cutter = LineCutter(heard=NOW)
    assert list(cutter.take(b"HM1-08", NOW)) == []
    assert list(cutter.take(b"117\r", NOW + CUT_NS)) == [ReadLine(b"HM1-08", "cut"), ReadLine(b"117", "whole")]


def test_a_line_that_is_too_long_is_told_once_and_the_next_one_is_read() -> None:
    assert lines_of(b"x" * 500, b"y" * 500, b"\r117\r") == [ReadLine(b"x" * LONGEST, "long"), ReadLine(b"117", "whole")]


def test_a_line_of_the_greatest_length_is_whole() -> None:
    assert lines_of(b"x" * LONGEST + b"\r") == [ReadLine(b"x" * LONGEST, "whole")]


def test_a_line_that_is_too_long_and_then_stands_still_has_broken_off() -> None:
    cutter = LineCutter(heard=NOW)
    told = [*cutter.take(b"x" * 100, NOW), *cutter.take(b"17\r", NOW + CUT_NS)]
    assert told == [ReadLine(b"x" * LONGEST, "long"), ReadLine(b"", "cut"), ReadLine(b"17", "whole")]


def test_zero_bytes_alone_are_no_line_that_broke_off() -> None:
    cutter = LineCutter(heard=NOW)
    assert [*cutter.take(b"\0", NOW), *cutter.take(b"", NOW + CUT_NS)] == []
