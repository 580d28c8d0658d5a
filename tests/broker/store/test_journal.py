"""What holds for the journal in every kind of store, and what is special about SQLite."""

import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from broker.errors import StoreBroken, StoreError, StoreInUse, StoreMissing
from broker.protocol import LogMessage
from broker.scorer.lease import Lease
from broker.store import ALTERED, Journal, RefusedRow, SqliteJournal, copy_journal, stand_by
from broker.store.journal import MOST_BYTES, MOST_BYTES_IN_ALL, MOST_BYTES_OF_TABLE, MOST_REFUSALS, fingerprint
from broker.store.postgresql import TABLES as SHARED_TABLES
from broker.store.records import decoded
from broker.store.sqlite import TABLES
from tests.broker.scorer.hall import STORE, open_journal
from tests.broker.scorer.small import NAME, fact, restored, whole_event, whole_log
from tests.broker.store.stores import Kept, Refusal, fill
from tests.examples import COSTLY
from tests.flushes import note_flushes

ROOT = Path(__file__).parents[3]

LOG = whole_log(1)
ROW = RefusedRow(7, "malformed", "hm/cup/table/1/log", b"?")


def test_messages_are_read_in_the_order_in_which_they_were_accepted(journal: Journal) -> None:
    fill(journal, LOG[2], LOG[0], LOG[1])
    assert list(journal.messages()) == [LOG[2], LOG[0], LOG[1]]
    assert journal.height == 3


def test_a_new_store_is_empty(journal: Journal) -> None:
    assert (journal.height, list(journal.messages()), list(journal.refused())) == (0, [], [])


def test_an_index_names_only_its_own_database() -> None:
    named = [{name for index in one.journal.indexes for name in index.kwargs} for one in (TABLES, SHARED_TABLES)]
    assert named == [{"sqlite_where"}, {"postgresql_where"}]


def test_an_id_is_found_through_an_index(journal: Journal) -> None:
    fill(journal, *LOG[:3])
    assert [journal.place_of(one.id) for one in LOG[:4]] == [(1, 1), (1, 2), (1, 3), None]
    if isinstance(journal, SqliteJournal):  # PostgreSQL uses none for three rows
        plan = journal._connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {journal._by_id}", ("",)).all()
        assert [row[3] for row in plan] == ["SEARCH journal USING INDEX journal_by_id (id=?)"]


def test_committed_messages_are_there_when_the_store_is_reopened(kept: Kept) -> None:
    with kept.journal() as first:
        fill(first, *LOG[:3])
        with first.commit():
            first.refuse(ROW)
    with kept.journal() as second:
        assert (second.height, list(second.messages()), list(second.refused())) == (3, LOG[:3], [ROW])
        fill(second, LOG[3])
        assert second.height == 4


def test_stored_values_are_the_last_of_each_key_and_not_part_of_the_journal(kept: Kept) -> None:
    with kept.journal() as first:
        fill(first, LOG[0])
        with first.commit():
            for key, value in (("serves/1", "a"), ("serves/12", "b"), ("serves/1", "c"), ("served/1", "d")):
                first.set_value(key, value)
    with kept.journal() as second:
        assert second.stored_values("serves/") == {"1": "c", "12": "b"}
        assert [*second.messages()] == [LOG[0]]


def test_stored_structs_are_read_again_and_unreadable_ones_skipped(kept: Kept) -> None:
    with kept.journal() as journal:
        with journal.commit():
            journal.set_struct("lease/1", Lease("one", 1))
            journal.set_struct("lease/2", None)
            journal.set_value("lease/3", "nonsense")
        assert journal.stored_structs("lease/", Lease) == {"1": Lease("one", 1)}


def test_a_store_keeps_its_identity(kept: Kept) -> None:
    names = set()
    for _ in range(2):
        with kept.journal() as journal:
            names.add(journal.store)
    assert len(names) == 1
    assert len(names.pop()) == 32


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE journal SET seq = 0",
        "UPDATE journal SET received_at = 0 WHERE height = 1",
        "DELETE FROM journal",
        "DELETE FROM journal WHERE height = 3",
    ],
)
def test_the_database_refuses_to_change_or_delete_rows_of_the_journal(kept: Kept, statement: str) -> None:
    with kept.journal() as journal:
        fill(journal, *LOG[:3])
        with pytest.raises(Refusal, match="append-only"):
            kept.alter(statement)
        assert list(journal.messages()) == LOG[:3]


def commit(journal: Journal, *messages: LogMessage, fails: type[BaseException] | None = None) -> None:
    """Commit a refusal and messages as one batch, which may fail at its end."""
    with journal.commit():
        journal.refuse(ROW)
        for message in messages:
            journal.append(message, 7)
        if fails:
            raise fails


@pytest.mark.parametrize(
    "twice",
    [LOG[0], fact(1, 1, restored(1), id_="another-id"), fact(1, 9, restored(1), id_=LOG[0].id)],
    ids=["the same", "the same number", "the same id"],
)
def test_a_batch_is_stored_completely_or_not_at_all(journal: Journal, twice: LogMessage) -> None:
    fill(journal, LOG[0])
    with pytest.raises(StoreBroken, match="nothing of the batch was stored"):
        commit(journal, LOG[1], twice)
    assert (list(journal.messages()), list(journal.refused())) == (LOG[:1], [])
    commit(journal, LOG[1], LOG[2])
    assert (list(journal.messages()), list(journal.refused())) == (LOG[:3], [ROW])


def test_an_aborted_batch_leaves_nothing(journal: Journal) -> None:
    with pytest.raises(KeyboardInterrupt):
        commit(journal, LOG[0], fails=KeyboardInterrupt)
    assert (list(journal.messages()), list(journal.refused())) == ([], [])


def test_a_second_scorer_is_refused_while_the_store_is_in_use(kept: Kept) -> None:
    with kept.journal() as first:
        fill(first, *LOG[:3])
        with pytest.raises(StoreInUse) as refused, kept.journal():
            pass
        assert refused.value.code == "store_in_use"
        first.check()
        fill(first, LOG[3])
    with kept.journal() as second:
        assert list(second.messages()) == LOG[:4]


def test_a_store_may_be_closed_twice(kept: Kept) -> None:
    with kept.journal() as journal:
        journal.close()


def test_a_reader_sees_a_snapshot_and_does_not_hinder_the_scorer(kept: Kept) -> None:
    with kept.journal() as journal:
        fill(journal, LOG[0])
        with kept.reader() as reader:
            assert list(decoded(reader.entries())) == LOG[:1]
            fill(journal, LOG[1])
            assert list(decoded(reader.entries())) == LOG[:1]
        with kept.reader() as reader:
            assert list(decoded(reader.entries())) == LOG[:2]


def test_a_missing_store_cannot_be_read(kept: Kept) -> None:
    with pytest.raises(StoreMissing) as missing, kept.reader():
        pass
    assert missing.value.code == "store_missing"


def test_a_store_of_a_newer_version_is_refused(kept: Kept) -> None:
    with kept.journal():
        pass
    kept.alter("UPDATE about SET value = '3' WHERE key = 'version'")
    with pytest.raises(StoreBroken, match="version"), kept.reader():
        pass
    with pytest.raises(StoreBroken, match="its version is 3, not 2"), kept.journal():
        pass


def test_a_row_that_is_not_a_message_is_broken(kept: Kept) -> None:
    with kept.journal() as journal, journal.commit():
        journal.append(LOG[0], 7, b"{}")
    with kept.journal() as journal:
        assert journal.faults() == []
        with pytest.raises(StoreBroken, match="not a message"):
            list(journal.messages())


def test_an_altered_row_is_identified_and_skipped_until_another_repairs_it(kept: Kept) -> None:
    with kept.journal() as journal:
        fill(journal, *LOG[:3])
    kept.force("UPDATE journal SET received_at = 6 WHERE height = 2")
    with kept.journal() as journal:
        (fault,) = journal.faults()
        assert fault == (ALTERED, 2, LOG[1].table, LOG[1].seq, LOG[1].id)
        assert list(journal.messages()) == [LOG[0], LOG[2]]
        with journal.commit():
            journal.append(LOG[1], 8, repairs=2)
        assert (journal.faults(), list(journal.messages())) == ([], [LOG[0], LOG[2], LOG[1]])
        with pytest.raises(StoreBroken, match="nothing of the batch"):
            fill(journal, LOG[1])
    with kept.journal() as journal:
        assert (journal.height, journal.faults()) == (4, [])


def test_a_copy_has_the_same_faults(kept: Kept, tmp_path_factory: pytest.TempPathFactory) -> None:
    with kept.journal() as journal:
        fill(journal, *LOG[:3])
    kept.force("UPDATE journal SET received_at = 6 WHERE height = 2")
    other = SqliteJournal(tmp_path_factory.mktemp("other") / "x.sqlite", NAME)
    with closing(other), kept.journal() as journal:
        with journal.commit():
            journal.record_faults(journal.faults())
        copy_journal(journal, other)
        assert (other.faults(), other.recorded_faults()) == (journal.faults(), journal.recorded_faults())


def test_a_copy_in_the_other_kind_of_store_has_the_same_journal(
    kept: Kept, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = SqliteJournal(tmp_path_factory.mktemp("other") / "x.sqlite", NAME)
    try:
        with kept.journal() as journal:
            fill(journal, *whole_event())
            with journal.commit():
                journal.refuse(ROW)
                journal.refuse(RefusedRow(8, "conflict", "\0 \u6771 \U0001f004", bytes(range(256)), 1, 2, "id-1"))
        with kept.reader() as reader:
            assert copy_journal(reader, other) == len(whole_event())
            assert fingerprint(other) == fingerprint(reader)
        assert list(other.messages()) == whole_event()
        assert other.store != journal.store
    finally:
        other.close()


@settings(COSTLY, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some.randoms(use_true_random=False), some.lists(some.integers(1, 6), max_size=8))
def test_exactly_the_committed_messages_are_stored_in_any_batches(
    journal: Journal, chance: Random, sizes: list[int]
) -> None:
    """Batches that are aborted in the middle leave nothing. The others are complete, and in order."""
    before, rest = list(journal.messages()), [one for one in whole_event() if one not in list(journal.messages())]
    for size in sizes:
        batch, rest = rest[:size], rest[size:]
        if chance.random() < 0.4:
            with pytest.raises(RuntimeError):
                commit(journal, *batch, fails=RuntimeError)
        else:
            fill(journal, *batch)
            before += batch
        assert (list(journal.messages()), journal.height) == (before, len(before))


def test_refused_messages_are_stored_as_received_but_shortened(journal: Journal) -> None:
    long = RefusedRow(8, "too_large", "hm/cup/table/1/log", b"x" * (MOST_BYTES + 1))
    known = RefusedRow(9, "conflict", "hm/cup/table/1/log", b"{}", 1, 2, "id-00001")
    with journal.commit():
        for row in (ROW, long, known):
            journal.refuse(row)
    assert list(journal.refused()) == [ROW, RefusedRow(8, "too_large", long.topic, b"x" * MOST_BYTES), known]


def test_refused_messages_cannot_fill_the_disk(journal: Journal) -> None:
    with journal.commit():
        for _ in range(MOST_REFUSALS + 5):
            journal.refuse(ROW)
    assert len(list(journal.refused())) == MOST_REFUSALS


def test_one_table_cannot_use_up_the_space_for_refusals_of_others(journal: Journal) -> None:
    other = RefusedRow(9, "conflict", "hm/cup/table/2/log", b"{}", 2, 2, "id-00001")
    with journal.commit():
        for _ in range(MOST_REFUSALS + 5):
            journal.refuse(ROW)
        journal.refuse(other)
    assert list(journal.refused())[-1] == other


def test_a_repeated_refusal_is_stored_once(journal: Journal) -> None:
    row = RefusedRow(9, "conflict", "hm/cup/table/2/log", b"{}", 2, 2, "id-00001")
    with journal.commit():
        for _ in range(3):
            journal.refuse(row)
    assert list(journal.refused()) == [row]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "scorer.lock").mkdir()  # root may write everywhere, but cannot open a folder as a file
    with pytest.raises(StoreBroken, match=r"scorer\.lock cannot be written: Is a directory"):
        SqliteJournal(tmp_path / "scorer.sqlite", NAME)


@pytest.mark.slow
def test_committed_messages_survive_kill_9_and_others_are_gone(kept: Kept) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.broker.store.victim", kept.folder], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout is not None
        try:
            assert [child.stdout.readline() for _ in range(4)] == ["committed\n"] * 3 + ["open\n"]
            with pytest.raises(StoreInUse), kept.journal():
                pass
        finally:
            child.kill()
    assert child.returncode == -signal.SIGKILL
    opened = stand_by(kept.folder, NAME, threading.Event(), lambda _: None, pause_s=0.02)  # PostgreSQL has to notice it
    assert opened is not None
    with closing(opened) as journal:
        assert list(journal.messages()) == LOG[:3]


def store(folder: Path) -> Path:
    return folder / "store.sqlite3"


def test_the_store_of_another_event_is_refused_and_unchanged(tmp_path: Path) -> None:
    with open_journal(tmp_path) as first:
        fill(first, *LOG[:3])
    with pytest.raises(StoreBroken, match="its event is cup, not other") as refused, open_journal(tmp_path, "other"):
        pass
    assert refused.value.code == "store_broken"
    with open_journal(tmp_path) as again:
        assert list(again.messages()) == LOG[:3]


@pytest.mark.parametrize(
    "rubbish", [b"rubbish" * 1000, b"SQLite format 3\x00" + b"\xff" * 5000], ids=["text", "header"]
)
def test_a_file_that_is_not_a_store_is_refused_and_unchanged(tmp_path: Path, rubbish: bytes) -> None:
    store(tmp_path).write_bytes(rubbish)
    for _ in range(2):
        with pytest.raises(StoreBroken), open_journal(tmp_path):
            pass
    assert store(tmp_path).read_bytes() == rubbish


def test_every_commit_is_synced_to_the_disk(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        asked = {
            name: journal._connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous")
        }
    assert asked == {"journal_mode": "wal", "synchronous": 2}  # 2 is FULL


def test_a_commit_waits_while_another_program_writes_to_the_file(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        with closing(sqlite3.connect(tmp_path / STORE, isolation_level=None, check_same_thread=False)) as other:
            other.execute("BEGIN IMMEDIATE")
            release = threading.Timer(0.1, other.execute, ("ROLLBACK",))
            release.start()
            fill(journal, LOG[0])
            release.join()
        assert list(journal.messages()) == [LOG[0]]


def test_the_store_has_the_name_of_its_event(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        about = journal._about()
        assert about == {"version": "2", "event": NAME, "store": journal.store}


@pytest.mark.parametrize(("error", "like"), [(StoreInUse, OSError), (StoreBroken, OSError)])
def test_store_errors_are_both_ours_and_the_systems(error: type[Exception], like: type[Exception]) -> None:
    assert issubclass(error, StoreError)
    assert issubclass(error, like)


def test_messages_in_the_log_of_a_killed_scorer_are_synced_before_their_receipt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make power` found facts that had a receipt from the next scorer and were lost in the power cut after it."""
    killed = tmp_path / "killed.sqlite"
    with open_journal(tmp_path) as journal:
        fill(journal, LOG[0])
        killed.write_bytes((tmp_path / "store.sqlite3").read_bytes())
        killed.with_name("killed.sqlite-wal").write_bytes((tmp_path / "store.sqlite3-wal").read_bytes())
    flushed = note_flushes(monkeypatch)
    with closing(SqliteJournal(killed, NAME)) as again:
        assert list(again.messages()) == LOG[:1]
    assert flushed == [killed.with_name("killed.sqlite-wal"), tmp_path]


def test_the_bytes_of_a_tables_refusals_are_limited_and_do_not_affect_others(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        with journal.commit():
            for number in range(MOST_REFUSALS):
                topic, payload = "t" * 60_000, b"x" * MOST_BYTES
                name = f"rubbish-{number}"
                journal.refuse(RefusedRow(1, "malformed", topic, payload, table=1, seq=number + 1, id=name))
            journal.refuse(RefusedRow(1, "malformed", "topic", b"of another", table=2))
        rows = [*journal.refused()]
    assert len(rows) == MOST_REFUSALS + 1
    assert (
        MOST_BYTES_OF_TABLE - MOST_BYTES < sum(len(row.body) for row in rows if row.table == 1) <= MOST_BYTES_OF_TABLE
    )
    assert (max(len(row.topic) for row in rows), rows[-1].body) == (200, b"of another")
    with open_journal(tmp_path) as journal:  # a restart does not raise the limit
        with journal.commit():
            journal.refuse(RefusedRow(1, "malformed", "topic", b"x" * MOST_BYTES, table=3))
            assert not journal.refuse(
                RefusedRow(1, "malformed", "t", b"x" * MOST_BYTES, table=1, seq=1000, id="rubbish-999")
            )
        assert MOST_BYTES_IN_ALL > MOST_BYTES_OF_TABLE
