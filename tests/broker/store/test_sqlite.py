"""What is SQLite's own: a file that is another event's, or none of ours."""

from pathlib import Path

import pytest

from broker.store.errors import StoreBroken, StoreError, StoreInUse
from tests.broker.scorer.hall import open_journal
from tests.broker.scorer.small import NAME, whole_log
from tests.broker.store.stores import fill

LOG = whole_log(1)


def store(folder: Path) -> Path:
    return folder / "store.sqlite3"


def test_the_store_of_another_event_is_refused_and_stays_as_it_was(tmp_path: Path) -> None:
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
def test_a_file_that_is_no_store_is_refused_and_stays_as_it_was(tmp_path: Path, rubbish: bytes) -> None:
    store(tmp_path).write_bytes(rubbish)
    for _ in range(2):
        with pytest.raises(StoreBroken), open_journal(tmp_path):
            pass
    assert store(tmp_path).read_bytes() == rubbish


def test_the_disk_is_asked_to_keep_every_commit(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        asked = {
            name: journal._store.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
        }
    assert asked == {"journal_mode": "wal", "synchronous": 2}  # 2 is FULL


def test_the_name_of_the_event_is_kept_in_the_store(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        about = dict(journal._store.execute("SELECT key, value FROM about"))
        assert about == {"version": "1", "event": NAME, "store": journal.store}


@pytest.mark.parametrize(("error", "like"), [(StoreInUse, OSError), (StoreBroken, OSError)])
def test_errors_of_the_store_are_ours_and_the_system_s(error: type[Exception], like: type[Exception]) -> None:
    assert issubclass(error, StoreError)
    assert issubclass(error, like)
