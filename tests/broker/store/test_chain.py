"""A row that was changed, or taken away, is named, and no other is doubted."""

from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as some

from broker.read_ahead import FIRST_LINK, StoredRow
from broker.store.chain import ALTERED, LINK_ALTERED, MISSING, intact_rows, link_after

COUNT: Final = 10


def made() -> list[StoredRow]:
    """Return rows as they are written."""
    rows: list[StoredRow] = []
    for height in range(1, COUNT + 1):
        before = rows[-1][3] if rows else FIRST_LINK
        body = b'{"points":%d}' % -height
        rows.append((height, 1000 + height, body, link_after(before, height, 1000 + height, body)))
    return rows


def judged(rows: list[StoredRow]) -> tuple[list[int], list[tuple[str, int]]]:
    """Return the heights of the rows that count, and what is wrong."""
    faults: list[object] = []
    heights = [height for height, _, _ in intact_rows(rows, faults)]  # type: ignore[arg-type] # a list of them
    return heights, [(fault[0], fault[1]) for fault in faults]  # type: ignore[index] # each is a fault


def without(*gone: int) -> list[int]:
    """Return all heights but some."""
    return [height for height in range(1, COUNT + 1) if height not in gone]


def test_rows_as_they_were_written_all_count() -> None:
    assert judged(made()) == (without(), [])
    assert judged([]) == ([], [])


@given(some.integers(1, COUNT), some.integers(0, 7), some.data())
def test_one_flipped_bit_of_a_body_names_its_row_alone(height: int, bit: int, chance: some.DataObject) -> None:
    rows = made()
    number, at, body, link = rows[height - 1]
    place = chance.draw(some.integers(0, len(body) - 1))
    altered = bytearray(body)
    altered[place] ^= 1 << bit
    rows[height - 1] = number, at, bytes(altered), link
    assert judged(rows) == (without(height), [(ALTERED, height)])


@given(some.integers(1, COUNT))
def test_a_changed_time_names_its_row_alone(height: int) -> None:
    rows = made()
    rows[height - 1] = (height, 7, *rows[height - 1][2:])
    assert judged(rows) == (without(height), [(ALTERED, height)])


@given(some.integers(1, COUNT - 1))
def test_a_changed_link_makes_no_content_doubtful(height: int) -> None:
    rows = made()
    rows[height - 1] = (*rows[height - 1][:3], b"x" * 32)
    assert judged(rows) == (without(), [(LINK_ALTERED, height)])


def test_the_last_row_has_no_other_that_shows_that_only_its_link_was_changed() -> None:
    rows = made()
    rows[-1] = (*rows[-1][:3], b"x" * 32)
    assert judged(rows) == (without(COUNT), [(ALTERED, COUNT)])


@given(some.sets(some.integers(1, COUNT - 1), min_size=1))
def test_rows_that_are_gone_are_named_and_those_after_them_count(gone: set[int]) -> None:
    rows = [row for row in made() if row[0] not in gone]
    assert judged(rows) == (without(*gone), [(MISSING, height) for height in sorted(gone)])


@given(some.integers(1, COUNT), some.sampled_from([-1, 0, 1, 261, 1 << 60]))
def test_a_changed_number_is_put_right_by_its_link(height: int, number: int) -> None:
    rows = made()
    if number == height:
        return
    rows[height - 1] = (number, *rows[height - 1][1:])
    assert judged(rows) == (without(), [(LINK_ALTERED, height)])


@given(some.sets(some.integers(1, COUNT), min_size=2))
def test_several_changed_rows_are_all_named(heights: set[int]) -> None:
    rows = made()
    for height in heights:
        rows[height - 1] = (*rows[height - 1][:2], b"{}", rows[height - 1][3])
    assert judged(rows) == (without(*heights), [(ALTERED, height) for height in sorted(heights)])


@pytest.mark.parametrize(
    "rubbish",
    [
        lambda row: (row[0], None, *row[2:]),
        lambda row: (*row[:2], "text", row[3]),
        lambda row: (*row[:2], None, row[3]),
        lambda row: (*row[:3], None),
    ],
)
def test_columns_of_another_kind_are_no_reason_to_stop(rubbish: Callable[[StoredRow], StoredRow]) -> None:
    rows = made()
    rows[4] = rubbish(rows[4])
    counts, faults = judged(rows)
    assert [height for _, height in faults] == [5]
    assert counts in (without(5), without())


def test_a_row_written_anew_with_its_own_link_is_noticed_by_the_row_after_it() -> None:
    """Whoever changes a row and its link changes all links after it, or is noticed."""
    rows = made()
    rows[4] = (5, 1005, b"{}", link_after(rows[3][3], 5, 1005, b"{}"))
    assert judged(rows) == (without(6), [(ALTERED, 6)])
