"""The log of a journal never grows while a table plays, and what it held before can never be taken for an event."""

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kiosk.journal import Journal
from kiosk.log_ahead import lay_out
from kiosk.table.events import CallToggled
from tests.kiosk.journals import CONFIRMED, HAPPENED, OURS

FEW = 8
"""Pages, so that a log begins anew every few events."""


def log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def kept(path: Path) -> list[int]:
    """Give the events that a card holds, by when they were."""
    with closing(sqlite3.connect(path)) as store:
        return [at for (at,) in store.execute("SELECT json_extract(event, '$.at') FROM happened ORDER BY number")]


def happen(journal: Journal, at: int) -> None:
    journal.record(CallToggled(at=at, open=True), [CONFIRMED] if at % 5 == 0 else [], wall=5)


@pytest.fixture
def fast(journal: Journal) -> Journal:
    """A journal whose commits wait for no disk: what is looked at here is lengths."""
    journal._store.execute("PRAGMA synchronous=OFF")
    return journal


def test_the_log_of_a_kiosk_keeps_its_length_however_much_happens(fast: Journal, path: Path) -> None:
    fast.lay_out()
    length = log_of(path).stat().st_size
    for at in range(1500):
        happen(fast, at)
    assert log_of(path).stat().st_size == length
    assert kept(path) == [*range(1500)]


def test_each_start_needs_no_more_of_the_card_than_the_first(path: Path) -> None:
    lengths = []
    for at in range(3):
        with closing(Journal(path, OURS)) as journal:
            journal.lay_out()
            happen(journal, at)
            lengths.append((path.stat().st_size, log_of(path).stat().st_size))
    first, *later = lengths
    assert later == [(first[0], later[0][1])] * 2
    assert later[0][1] <= first[1]
    assert kept(path) == [*range(3)]


def test_a_start_that_was_cut_while_it_wrote_the_log_full_is_followed_by_one_that_does(
    journal: Journal, path: Path
) -> None:
    journal._store.execute("CREATE TABLE ahead (pages BLOB)")
    journal._store.execute("INSERT INTO ahead VALUES (zeroblob(9999))")
    journal.lay_out()
    happen(journal, 1)
    tables = {name for (name,) in journal._store.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert (tables, kept(path)) == ({"happened", "outbox", "about"}, [1])


def test_without_room_for_it_the_journal_keeps_events_all_the_same(journal: Journal, path: Path) -> None:
    (pages,) = journal._store.execute("PRAGMA page_count").fetchone()
    journal._store.execute(f"PRAGMA max_page_count={pages + 40}")
    journal.lay_out()
    assert journal.tight
    journal.try_room()
    happen(journal, 1)
    assert (journal.tight, kept(path)) == (False, [1])


def test_another_error_than_want_of_room_is_told(journal: Journal) -> None:
    journal._store.execute("PRAGMA query_only=ON")
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        journal.lay_out()


def torn(before: bytes, after: bytes) -> Iterator[bytes]:
    """Give a log at instants of its writing: new up to somewhere, as it was from there on."""
    (page,) = struct.unpack(">I", after[8:12])
    changed = max(at for at in range(len(after)) if after[at] != before[at])
    for start in range(0, changed, page // 2):
        yield after[:start] + before[start:]
    yield after


def test_what_a_log_held_before_is_no_event_wherever_a_write_over_it_is_cut(path: Path, tmp_path: Path) -> None:
    """An event is there whole or not at all, as in a log that grows (`test_cuts.py`)."""
    card, seen = tmp_path / "card.sqlite", set()
    with closing(Journal(path, OURS)) as journal:
        lay_out(journal._store, FEW)
        journal._store.execute("PRAGMA synchronous=OFF")
        for at in range(10):
            before, had = log_of(path).read_bytes(), path.read_bytes()
            happen(journal, at)
            if path.read_bytes() != had:
                continue  # all was moved into the file in this moment
            for log in torn(before, log_of(path).read_bytes()):
                card.write_bytes(had)
                log_of(card).write_bytes(log)
                found = kept(card)
                assert found in ([*range(at)], [*range(at + 1)])
                seen.add(len(found) - at)
    assert seen == {0, 1}


def test_a_journal_copied_for_another_machine_is_whole(journal: Journal, tmp_path: Path) -> None:
    journal.lay_out()
    journal.record(HAPPENED, [CONFIRMED], wall=5)
    journal.copy_to(tmp_path / "copy.sqlite")
    with closing(Journal(tmp_path / "copy.sqlite", OURS)) as copy:
        assert copy.unsent() == journal.unsent()
