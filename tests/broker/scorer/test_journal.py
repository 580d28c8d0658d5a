"""The store: append-only, a batch whole or not at all, one scorer at a time, and there after the worst."""

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from broker.contract.messages import LogMessage
from broker.scorer.errors import ScorerError, StoreBroken, StoreInUse
from broker.scorer.journal import MOST_BYTES, MOST_REFUSALS, Journal, RefusedRow
from tests.broker.scorer.hall import open_journal
from tests.broker.scorer.small import NAME, fact, restored, whole_log

ROOT = Path(__file__).parents[3]

LOG = whole_log(1)
ROW = RefusedRow(7, "malformed", "hm/cup/table/1/log", b"?")


def fill(journal: Journal, count: int = 3) -> None:
    with journal.commit():
        for message in LOG[:count]:
            journal.append(message, 7)


def store(folder: Path) -> Path:
    return folder / "store.sqlite3"


def alter(folder: Path, *statements: str) -> None:
    """Change a store behind the scorer's back."""
    connection = sqlite3.connect(store(folder))
    try:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    finally:
        connection.close()


def test_messages_come_back_in_the_order_in_which_they_were_taken(journal: Journal) -> None:
    with journal.commit():
        for message in (LOG[2], LOG[0], LOG[1]):
            journal.append(message, 7)
    assert list(journal.messages()) == [LOG[2], LOG[0], LOG[1]]
    assert journal.height == 3


def test_a_new_store_is_empty(journal: Journal) -> None:
    assert (journal.height, list(journal.messages()), list(journal.refused())) == (0, [], [])


def test_what_was_committed_is_there_when_the_store_is_opened_again(tmp_path: Path) -> None:
    with open_journal(tmp_path) as first:
        fill(first)
        with first.commit():
            first.refuse(ROW)
    with open_journal(tmp_path) as second:
        assert (second.height, list(second.messages()), list(second.refused())) == (3, LOG[:3], [ROW])
        with second.commit():
            second.append(LOG[3], 8)
        assert second.height == 4


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE journal SET body = x'00'",
        "UPDATE journal SET received_at = 0 WHERE height = 1",
        "DELETE FROM journal",
        "DELETE FROM journal WHERE height = 3",
    ],
)
def test_nothing_in_the_journal_is_changed_or_taken_away(tmp_path: Path, statement: str) -> None:
    with open_journal(tmp_path) as journal:
        fill(journal)
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            alter(tmp_path, statement)
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
def test_a_batch_is_in_the_store_whole_or_not_at_all(journal: Journal, twice: LogMessage) -> None:
    fill(journal, 1)
    with pytest.raises(StoreBroken, match="nothing of the batch was kept"):
        commit(journal, LOG[1], twice)
    assert (list(journal.messages()), list(journal.refused())) == (LOG[:1], [])
    commit(journal, LOG[1], LOG[2])
    assert (list(journal.messages()), list(journal.refused())) == (LOG[:3], [ROW])


def test_a_batch_that_is_given_up_leaves_nothing(journal: Journal) -> None:
    with pytest.raises(KeyboardInterrupt):
        commit(journal, LOG[0], fails=KeyboardInterrupt)
    assert (list(journal.messages()), list(journal.refused())) == ([], [])


def test_a_second_scorer_is_told_that_the_store_is_in_use(tmp_path: Path) -> None:
    with open_journal(tmp_path) as first:
        fill(first)
        with pytest.raises(StoreInUse) as refused, open_journal(tmp_path):
            pass
        assert refused.value.code == "store_in_use"
        assert list(first.messages()) == LOG[:3]
    with open_journal(tmp_path) as second:
        assert second.height == 3


def test_the_store_of_another_event_is_refused_and_stays_as_it_was(tmp_path: Path) -> None:
    with open_journal(tmp_path) as first:
        fill(first)
    with pytest.raises(StoreBroken, match="its event is cup, not other") as refused, open_journal(tmp_path, "other"):
        pass
    assert refused.value.code == "store_broken"
    with open_journal(tmp_path) as again:
        assert list(again.messages()) == LOG[:3]


def test_the_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    with open_journal(tmp_path) as first:
        fill(first)
    alter(tmp_path, "UPDATE about SET value = '2' WHERE key = 'version'")
    with pytest.raises(StoreBroken, match="its version is 2, not 1"), open_journal(tmp_path):
        pass


@pytest.mark.parametrize(
    "rubbish", [b"rubbish" * 1000, b"SQLite format 3\x00" + b"\xff" * 5000], ids=["text", "header"]
)
def test_a_file_that_is_no_store_is_refused_and_stays_as_it_was(tmp_path: Path, rubbish: bytes) -> None:
    store(tmp_path).write_bytes(rubbish)
    for _ in range(2):
        with pytest.raises(StoreBroken), open_journal(tmp_path):
            pass
    assert store(tmp_path).read_bytes() == rubbish


def test_a_journal_that_holds_what_is_no_message_is_broken(tmp_path: Path) -> None:
    with open_journal(tmp_path):
        pass
    alter(tmp_path, "INSERT INTO journal VALUES (1, 7, 1, 1, 'id-00001', x'7b7d')")
    with open_journal(tmp_path) as journal, pytest.raises(StoreBroken, match="no message"):
        list(journal.messages())


def test_a_store_may_be_closed_twice(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        journal.close()


def test_refused_messages_are_kept_as_they_came_but_cut_short(journal: Journal) -> None:
    long = RefusedRow(8, "too_large", "hm/cup/table/1/log", b"x" * (MOST_BYTES + 1))
    known = RefusedRow(9, "conflict", "hm/cup/table/1/log", b"{}", 1, 2, "id-00001")
    with journal.commit():
        for row in (ROW, long, known):
            journal.refuse(row)
    assert list(journal.refused()) == [ROW, RefusedRow(8, "too_large", long.topic, b"x" * MOST_BYTES), known]


def test_nobody_fills_the_disk_with_refused_messages(journal: Journal) -> None:
    with journal.commit():
        for _ in range(MOST_REFUSALS + 5):
            journal.refuse(ROW)
    assert len(list(journal.refused())) == MOST_REFUSALS


def test_one_table_cannot_take_the_room_of_another_s_refusals(journal: Journal) -> None:
    other = RefusedRow(9, "conflict", "hm/cup/table/2/log", b"{}", 2, 2, "id-00001")
    with journal.commit():
        for _ in range(MOST_REFUSALS + 5):
            journal.refuse(ROW)
        journal.refuse(other)
    assert list(journal.refused())[-1] == other


def test_the_same_refusal_is_kept_once_however_often_it_comes(journal: Journal) -> None:
    row = RefusedRow(9, "conflict", "hm/cup/table/2/log", b"{}", 2, 2, "id-00001")
    with journal.commit():
        for _ in range(3):
            journal.refuse(row)
    assert list(journal.refused()) == [row]


def test_what_was_committed_survives_kill_9_and_what_was_not_is_gone(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.broker.scorer.victim", tmp_path], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout is not None
        try:
            assert [child.stdout.readline() for _ in range(4)] == ["committed\n"] * 3 + ["open\n"]
            with pytest.raises(StoreInUse), open_journal(tmp_path):
                pass
        finally:
            child.kill()
    assert child.returncode == -signal.SIGKILL
    with open_journal(tmp_path) as journal:
        assert list(journal.messages()) == LOG[:3]


def test_the_disk_is_asked_to_keep_every_commit(journal: Journal) -> None:
    settings = {
        name: journal._store.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
    }
    assert settings == {"journal_mode": "wal", "synchronous": 2}  # 2 is FULL


@pytest.mark.parametrize(("error", "like"), [(StoreInUse, OSError), (StoreBroken, OSError)])
def test_errors_of_the_store_are_ours_and_the_system_s(error: Callable[[], Exception], like: type[Exception]) -> None:
    assert isinstance(error(), ScorerError)
    assert isinstance(error(), like)


def test_the_name_of_the_event_is_kept_in_the_store(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        about = dict(journal._store.execute("SELECT key, value FROM about"))
        assert about == {"version": "1", "event": NAME, "store": journal.store}
