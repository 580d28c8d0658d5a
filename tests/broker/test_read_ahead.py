"""A journal read ahead gives the same rows as the journal itself, or nothing if any row was changed."""

import sqlite3
from collections.abc import Iterable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final, NamedTuple, cast

import pytest

from broker.read_ahead import COLUMNS, FIRST_LINK, STORE, TEXTS, CheckedAhead, IntactRow, Rows
from broker.scorer import read_journal
from broker.scorer.whole_plays import StoredRows
from broker.store import Fault, SqliteJournal
from tests.broker.scorer.small import NAME, event, whole_event
from tests.broker.store.stores import Kept, fill


def rows_of(read: Iterable[Rows]) -> list[IntactRow]:
    stored = StoredRows(read)
    return [*map(stored.row, range(len(stored)))]


def test_rows_written_after_the_read_ahead_are_read_from_the_journal(tmp_path: Path) -> None:
    log = whole_event()
    with closing(SqliteJournal(tmp_path / STORE, NAME)) as journal, ExitStack() as running:
        fill(journal, *log[:5])
        ahead = [running.enter_context(CheckedAhead(tmp_path / STORE, large=0)) for _ in range(2)]
        read = [one.rows() for one in ahead]  # wait here, or it may also read the rows added below
        fill(journal, *log[5:])
        rows = [tuple(row) for row in journal.intact([])]
        assert rows_of(read[0][0]) == rows[:5]
        Kept(tmp_path).force("UPDATE journal SET received_at = 6 WHERE height IN (2, 8)")
        journal.read_ahead(cast("CheckedAhead", _Read(read[1])))
        faults: list[Fault] = []
        assert rows_of(journal.columns(faults)) == [row for row in rows if row[0] != 8]  # row 2 was already verified
        assert [fault.height for fault in faults] == [8]
        assert [fault.height for fault in journal.faults()] == [2, 8]


class _Read(NamedTuple):
    """A finished read-ahead."""

    read: tuple[list[Rows], int, bytes]

    def rows(self) -> tuple[list[Rows], int, bytes]:
        return self.read


NOTHING: Final[tuple[list[Rows], int, bytes]] = ([], 0, FIRST_LINK)

OF_ROW: Final = "UPDATE journal SET * WHERE height = ?"


@pytest.mark.parametrize("height", [1, 3, 4, 5, 8])  # two processes read, the second from row 5 on
@pytest.mark.parametrize(
    "change",
    [
        "received_at = 6",
        "body = CAST(replace(CAST(body AS TEXT), 'table', 'tabla') AS BLOB)",
        "link = zeroblob(32)",
        "height = height + 100",
    ],
)
def test_the_read_ahead_gives_nothing_if_any_row_was_changed(tmp_path: Path, height: int, change: str) -> None:
    with closing(SqliteJournal(tmp_path / STORE, NAME)) as journal:
        fill(journal, *whole_event()[:8])
    Kept(tmp_path).force(OF_ROW.replace("*", change).replace("?", str(height)))
    with CheckedAhead(tmp_path / STORE, large=0) as ahead:
        assert ahead.rows() == NOTHING


def test_the_read_ahead_gives_nothing_if_its_parts_do_not_link_up(tmp_path: Path) -> None:
    """The first half is copied from another journal, in which each row's link is correct."""
    for name, log in (("one", whole_event()[:8]), ("other", whole_event()[8:16])):
        (tmp_path / name).mkdir()
        with closing(SqliteJournal(tmp_path / name / STORE, NAME)) as journal:
            fill(journal, *log)
    with closing(sqlite3.connect(tmp_path / "other" / STORE)) as other:
        rows = other.execute("SELECT quote(body), quote(link), received_at, height FROM journal").fetchall()
    for body, link, at, height in rows[:4]:
        replaced = f"body = {body}, link = {link}, received_at = {at}"
        Kept(tmp_path / "one").force(OF_ROW.replace("*", replaced).replace("?", str(height)))
    with CheckedAhead(tmp_path / "one" / STORE, large=0) as ahead:
        assert ahead.rows() == NOTHING


def test_the_journal_itself_names_the_row_that_made_the_read_ahead_give_nothing(tmp_path: Path) -> None:
    with closing(SqliteJournal(tmp_path / STORE, NAME)) as journal:
        fill(journal, *whole_event())
    Kept(tmp_path).force("UPDATE journal SET received_at = 6 WHERE height = 2")
    with CheckedAhead(Path(__file__), large=0) as ahead:
        assert ahead.rows() == NOTHING
    with closing(SqliteJournal(tmp_path / STORE, NAME)) as journal, CheckedAhead(tmp_path / STORE, large=0) as ahead:
        alone = read_journal(journal, event())
        journal.read_ahead(ahead)
        assert read_journal(journal, event()) == alone
        assert [fault.height for fault in alone.faults] == [2]


def test_a_read_ahead_of_another_journal_is_ignored(tmp_path: Path) -> None:
    for name, log in (("one", whole_event()[:5]), ("other", whole_event()[5:])):
        (tmp_path / name).mkdir()
        with closing(SqliteJournal(tmp_path / name / STORE, NAME)) as journal:
            fill(journal, *log)
            with CheckedAhead(tmp_path / "one" / STORE, large=0) as ahead:
                journal.read_ahead(ahead)
                assert read_journal(journal, event()).ids() == {one.id for one in log}


def test_the_read_ahead_of_a_missing_file_gives_nothing(tmp_path: Path) -> None:
    with CheckedAhead(tmp_path / STORE, large=0) as ahead:
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
def test_a_facts_fields_are_read_into_columns(said: bytes, players: bytes, rest: bytes) -> None:
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
def test_a_row_written_in_another_form_has_no_columns(body: bytes) -> None:
    rows = Rows.of([(1, 2000, body)])
    row = dict(zip(COLUMNS, (column[0] for column in rows.columns), strict=True))
    assert [rows.texts[row[name]] for name in TEXTS] == [b""] * len(TEXTS)
