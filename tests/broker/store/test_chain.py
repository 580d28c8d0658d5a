"""A row that was changed, or taken away, is named, and no other is doubted."""

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final, NamedTuple, cast

import pytest
from hypothesis import given
from hypothesis import strategies as some

from broker.scorer.stored_event import read_journal
from broker.scorer.whole_plays import StoredRows
from broker.store import STORE
from broker.store.chain import (
    ALTERED,
    COLUMNS,
    FIRST_LINK,
    LINK_ALTERED,
    MISSING,
    TEXTS,
    CheckedAhead,
    Fault,
    IntactRow,
    Rows,
    StoredRow,
    intact_rows,
    link_after,
)
from broker.store.sqlite import SqliteJournal
from tests.broker.scorer.small import NAME, event, whole_event
from tests.broker.store.stores import Kept, fill

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


def rows_of(read: Iterable[Rows]) -> list[IntactRow]:
    """Return all rows in their order."""
    stored = StoredRows(read)
    return [*map(stored.row, range(len(stored)))]


def test_a_file_is_read_ahead_and_what_comes_after_it_as_always(tmp_path: Path) -> None:
    log = whole_event()
    with closing(SqliteJournal(tmp_path / STORE, NAME)) as journal, ExitStack() as running:
        fill(journal, *log[:5])
        ahead = [running.enter_context(CheckedAhead(tmp_path / STORE, long=0)) for _ in range(2)]
        read = [one.rows() for one in ahead]  # else it may read what comes later, too
        fill(journal, *log[5:])
        rows = [tuple(row) for row in journal.intact([])]
        assert rows_of(read[0][0]) == rows[:5]
        Kept(tmp_path).force("UPDATE journal SET received_at = 6 WHERE height IN (2, 8)")
        journal.read_ahead(cast("CheckedAhead", _Read(read[1])))
        faults: list[Fault] = []
        assert rows_of(journal.columns(faults)) == [row for row in rows if row[0] != 8]  # 2 is what was verified
        assert [fault.height for fault in faults] == [8]
        assert [fault.height for fault in journal.faults()] == [2, 8]


class _Read(NamedTuple):
    """Somebody who has read ahead."""

    read: tuple[list[Rows], int, bytes]

    def rows(self) -> tuple[list[Rows], int, bytes]:
        """Return what was read."""
        return self.read


NOTHING: Final[tuple[list[Rows], int, bytes]] = ([], 0, FIRST_LINK)

OF_ROW: Final = "UPDATE journal SET * WHERE height = ?"


@pytest.mark.parametrize("height", range(1, 9))
@pytest.mark.parametrize(
    "change",
    [
        "received_at = 6",
        "body = CAST(replace(CAST(body AS TEXT), 'table', 'tabla') AS BLOB)",
        "link = zeroblob(32)",
        "height = height + 100",
    ],
)
def test_who_reads_ahead_gives_nothing_where_any_row_was_changed(tmp_path: Path, height: int, change: str) -> None:
    with closing(SqliteJournal(tmp_path / STORE, NAME)) as journal:
        fill(journal, *whole_event()[:8])
    Kept(tmp_path).force(OF_ROW.replace("*", change).replace("?", str(height)))
    with CheckedAhead(tmp_path / STORE, long=0) as ahead:
        assert ahead.rows() == NOTHING


def test_parts_that_do_not_follow_each_other_are_given_back(tmp_path: Path) -> None:
    """The first half is that of another journal, each row with a link that fits."""
    for name, log in (("one", whole_event()[:8]), ("other", whole_event()[8:16])):
        (tmp_path / name).mkdir()
        with closing(SqliteJournal(tmp_path / name / STORE, NAME)) as journal:
            fill(journal, *log)
    with closing(sqlite3.connect(tmp_path / "other" / STORE)) as other:
        rows = other.execute("SELECT quote(body), quote(link), received_at, height FROM journal").fetchall()
    for body, link, at, height in rows[:4]:
        replaced = f"body = {body}, link = {link}, received_at = {at}"
        Kept(tmp_path / "one").force(OF_ROW.replace("*", replaced).replace("?", str(height)))
    with CheckedAhead(tmp_path / "one" / STORE, long=0) as ahead:
        assert ahead.rows() == NOTHING


def test_what_is_found_ahead_is_found_again_by_who_names_it(tmp_path: Path) -> None:
    with closing(SqliteJournal(tmp_path / STORE, NAME)) as journal:
        fill(journal, *whole_event())
    Kept(tmp_path).force("UPDATE journal SET received_at = 6 WHERE height = 2")
    with CheckedAhead(Path(__file__), long=0) as ahead:
        assert ahead.rows() == NOTHING
    with closing(SqliteJournal(tmp_path / STORE, NAME)) as journal, CheckedAhead(tmp_path / STORE, long=0) as ahead:
        alone = read_journal(journal, event())
        journal.read_ahead(ahead)
        assert read_journal(journal, event()) == alone
        assert [fault.height for fault in alone.faults] == [2]


def test_another_journal_than_was_read_ahead_is_read_by_itself(tmp_path: Path) -> None:
    for name, log in (("one", whole_event()[:5]), ("other", whole_event()[5:])):
        (tmp_path / name).mkdir()
        with closing(SqliteJournal(tmp_path / name / STORE, NAME)) as journal:
            fill(journal, *log)
            with CheckedAhead(tmp_path / "one" / STORE, long=0) as ahead:
                journal.read_ahead(ahead)
                assert read_journal(journal, event()).ids() == {one.id for one in log}


def test_nobody_reads_ahead_where_there_is_no_file(tmp_path: Path) -> None:
    with CheckedAhead(tmp_path / STORE, long=0) as ahead:
        assert ahead.rows() == NOTHING


FACT_OF: Final = (
    b'{"schema":1,"id":"a","event":"b","table":2,"seq":7,"at":1000,"fact":{"type":"%b","round":3,"deal":4%b}'
    b',"device":"c","before":null,"signature":"d"}'
)


@pytest.mark.parametrize(
    ("said", "players", "rest"),
    [
        (b"", b"", b""),
        (b',"open":true', b"", b',"open":true'),
        (b',"players":{"east":"a"}', b',"players":{"east":"a"}', b""),
        (
            b',"profile":"p","players":{"east":"a"},"win":"draw"',
            b',"profile":"p","players":{"east":"a"}',
            b',"win":"draw"',
        ),
    ],
)
def test_what_a_fact_says_is_told_by_columns(said: bytes, players: bytes, rest: bytes) -> None:
    rows = Rows.of([(5, 2000, FACT_OF % (b"call", said))])
    row = dict(zip(COLUMNS, (column[0] for column in rows.columns), strict=True))
    texts = [rows.texts[row[name]] for name in ("kind", "players", "rest")]
    assert texts == [b"call", players, rest]
    assert [row[name] for name in ("height", "received", "table", "seq", "at", "round", "deal")] == [
        5,
        2000,
        2,
        7,
        1000,
        3,
        4,
    ]


@pytest.mark.parametrize(
    "body",
    [
        b'{"ruling":1}',
        FACT_OF.replace(b'"table":2', b'"table":02') % (b"call", b""),
        FACT_OF.replace(b'"table"', b' "table"') % (b"call", b""),
        FACT_OF.replace(b'"id":"a"', b'"id":"a\n"') % (b"call", b""),
        FACT_OF.replace(b'"id":"a"', b'"id":"a\\u0041"') % (b"call", b""),
        FACT_OF.replace(b'"id":"a"', b'"id":"\xff"') % (b"call", b""),
        FACT_OF.replace(b'"signature":"d"', b'"signature":"d","table":3') % (b"call", b""),
    ],
)
def test_what_is_told_in_other_words_has_no_kind(body: bytes) -> None:
    rows = Rows.of([(1, 2000, body)])
    row = dict(zip(COLUMNS, (column[0] for column in rows.columns), strict=True))
    assert [rows.texts[row[name]] for name in TEXTS] == [b""] * len(TEXTS)
