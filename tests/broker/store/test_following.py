"""A copy of an event on another machine receives what it lacks, part by part, until it is equal."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.errors import FollowedDiffers, StoreInUse
from broker.store import ALTERED, STORE, Fault, RefusedRow, SqliteJournal, SqliteReader
from broker.store.following import NOT_COPIED, REFUSED_UPTO, EventCopy, FollowedEvent, JournalPart
from broker.store.journal import fingerprint
from tests.broker.scorer.small import NAME, whole_event
from tests.broker.store.stores import fill
from tests.examples import COSTLY

FACTS = whole_event()


@pytest.fixture
def first(tmp_path: Path) -> Iterator[SqliteJournal]:
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    with closing(SqliteJournal(tmp_path / "first" / STORE, NAME)) as journal:
        yield journal


@pytest.fixture
def copy(first: SqliteJournal, tmp_path: Path) -> Iterator[EventCopy]:
    assert first.height == 0
    with closing(EventCopy(tmp_path / "second", NAME)) as made:
        yield made


def follow(copy: EventCopy, folder: Path) -> None:
    """Request and store parts, encoded as messages, until nothing is missing."""
    for _ in range(50):
        part = msgspec.msgpack.encode(FollowedEvent(folder, NAME).part(copy.have))
        if copy.store_part(msgspec.msgpack.decode(part, type=JournalPart)):
            return
    raise AssertionError(copy.have)


def equal(copy: EventCopy, first: SqliteJournal) -> bool:
    return (fingerprint(copy.journal), copy.journal.last_link()) == (fingerprint(first), first.last_link())


@COSTLY
@given(st.lists(st.integers(0, 12), max_size=6))
def test_wherever_it_is_interrupted_the_copy_gets_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, steps: list[int]
) -> None:
    base = tmp_path_factory.mktemp("law")
    (base / "first").mkdir()
    (base / "second").mkdir()
    left = list(FACTS)
    with closing(SqliteJournal(base / "first" / STORE, NAME)) as first:
        for step in steps:
            fill(first, *left[:step])
            del left[:step]
            with first.commit():
                first.refuse(RefusedRow(5, "unknown_table", "hm/x", b"{}", 9, step, f"refused-{step:04}"))
            with closing(EventCopy(base / "second", NAME)) as copy:
                follow(copy, base / "first")
                assert equal(copy, first)


def test_values_beside_the_journal_are_copied_except_the_stores_own(
    first: SqliteJournal, copy: EventCopy, tmp_path: Path
) -> None:
    with first.commit():
        first.set_value("serves/1", "kiosk-0002")
        first.set_value("lease", "of the first")
        first.record_faults([Fault(ALTERED, 3, 1, 2, "fact-0003")])
    follow(copy, tmp_path / "first")
    assert copy.journal.stored_values("serves/") == {"1": "kiosk-0002"}
    assert copy.journal.stored_values("lease") == {}
    assert copy.journal.store != first.store
    assert copy.journal.recorded_faults() == first.recorded_faults()


def test_a_copy_of_a_former_copy_lacks_no_refusal_after_a_restart(
    first: SqliteJournal, copy: EventCopy, tmp_path: Path
) -> None:
    with first.commit():
        first.set_value(REFUSED_UPTO, "500")  # in the store that it was copied from
        first.refuse(RefusedRow(5, "unknown_table", "hm/x", b"{}", 9, 1, "refused-0001"))
    follow(copy, tmp_path / "first")
    copy.close()
    with first.commit():
        first.refuse(RefusedRow(6, "unknown_table", "hm/x", b"{}", 9, 2, "refused-0002"))
    with closing(EventCopy(tmp_path / "second", NAME)) as again:
        follow(again, tmp_path / "first")
        assert [row.id for row in again.journal.refused()] == ["refused-0001", "refused-0002"]


def test_files_are_copied_when_changed_and_removed_when_removed_and_are_private(
    copy: EventCopy, tmp_path: Path
) -> None:
    one, other = tmp_path / "first", tmp_path / "second"
    (one / "tls").mkdir()
    (one / "event.toml").write_text("one")
    (one / "deals.key").write_text("sealed")
    (one / "tls" / "ca.key").write_text("authority")
    (other / "old.csv").write_text("of a plan that is no more")
    for name in NOT_COPIED:
        if name != STORE:
            (one / ("tls" if name.startswith("server") else ".") / name).write_text("of the first alone")
    follow(copy, one)
    (one / "event.toml").write_text("another")
    follow(copy, one)
    found = {str(path.relative_to(other)): path for path in other.rglob("*") if path.is_file()}
    assert {name for name in found if not name.startswith("scorer.")} == {"event.toml", "deals.key", "tls/ca.key"}
    assert (other / "event.toml").read_text() == "another"
    assert {found[name].stat().st_mode & 0o077 for name in ("deals.key", "tls/ca.key")} == {0}


def test_a_database_is_copied_as_a_snapshot_and_no_old_files_stay_beside_it(copy: EventCopy, tmp_path: Path) -> None:
    for end in ("-wal", "-shm"):
        (tmp_path / "second" / f"people.sqlite{end}").write_bytes(b"of a process that was killed")
    with closing(sqlite3.connect(tmp_path / "first" / "people.sqlite", isolation_level=None)) as people:
        people.execute("PRAGMA journal_mode=WAL")
        people.execute("CREATE TABLE accounts (name TEXT)")
        for name in ("anne", "bob"):
            people.execute("INSERT INTO accounts VALUES (?)", (name,))
            follow(copy, tmp_path / "first")
    with closing(sqlite3.connect(tmp_path / "second" / "people.sqlite")) as people:
        assert people.execute("SELECT name FROM accounts").fetchall() == [("anne",), ("bob",)]


def test_a_diverged_store_is_set_aside_and_copied_from_the_beginning(
    first: SqliteJournal, copy: EventCopy, tmp_path: Path
) -> None:
    fill(first, *FACTS[:4])
    follow(copy, tmp_path / "first")
    fill(copy.journal, FACTS[4], FACTS[5])
    fill(first, FACTS[6])
    before = fingerprint(copy.journal)
    with pytest.raises(FollowedDiffers):
        follow(copy, tmp_path / "first")
    aside = copy.start_over()
    follow(copy, tmp_path / "first")
    assert equal(copy, first)
    with closing(SqliteReader(aside / STORE, NAME)) as old:
        assert fingerprint(old) == before


def test_a_row_altered_on_the_first_disk_is_copied_unchanged_and_counted_as_altered(
    first: SqliteJournal, copy: EventCopy, tmp_path: Path
) -> None:
    fill(first, *FACTS[:4])
    first._connection.exec_driver_sql("DROP TRIGGER journal_append_only_update")
    first._connection.exec_driver_sql("UPDATE journal SET body = CAST('{}' AS BLOB) WHERE height = 2")
    follow(copy, tmp_path / "first")
    assert copy.altered == 1
    assert [fault.height for fault in copy.journal.faults()] == [2]


def test_no_scorer_can_use_a_store_while_it_is_a_copy(copy: EventCopy, tmp_path: Path) -> None:
    assert copy.journal.height == 0
    with pytest.raises(StoreInUse):
        SqliteJournal(tmp_path / "second" / STORE, NAME)


def test_a_copy_writes_no_file_outside_its_folder(copy: EventCopy, tmp_path: Path) -> None:
    copy.store_part(JournalPart(0, states={"../stolen": "1"}))
    with pytest.raises(FollowedDiffers):
        copy.store_part(JournalPart(0, files={"../stolen": b"x"}))
    assert not (tmp_path / "stolen").exists()
