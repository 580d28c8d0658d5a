"""What a journal has had is known beside it: rows that are gone from its end are missed by name."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from broker.store import STORE, Journal, witness_of
from broker.store.chain import LOST, Fault
from broker.store.witness import Witness, WitnessLine
from tests.broker.scorer.small import whole_event
from tests.broker.store.stores import Kept, fill

LOG: Final = whole_event()


def lost(journal: Journal) -> list[tuple[int | None, int | None]]:
    """Return table and number of what is known to be gone."""
    return [(fault.table, fault.seq) for fault in journal.set_aside() if fault.code == LOST]


def without_wal(folder: Path) -> None:
    """Take away the write-ahead log of a store that was not closed, as a careless hand or a repair of a disk does."""
    for end in ("-wal", "-shm"):
        (folder / f"{STORE}{end}").unlink()


def killed(folder: Path, before: int, after: int) -> Path:
    """Return a folder as a kill leaves it: some messages are in the store's file, later ones only in its log."""
    kept = Kept(folder / "live")
    kept.folder.mkdir()
    with kept.journal() as journal:
        fill(journal, *LOG[:before])
    with kept.journal() as journal:
        fill(journal, *LOG[before : before + after])
        shutil.copytree(kept.folder, folder / "killed")
    return folder / "killed"


def test_a_store_whose_log_was_deleted_has_shrunk_and_what_is_missing_is_named(tmp_path: Path) -> None:
    folder = killed(tmp_path, before=3, after=2)
    without_wal(folder)
    for _ in range(2):
        with Kept(folder).journal() as journal:
            assert journal.height == 3
            assert lost(journal) == [(one.table, one.seq) for one in LOG[3:5]]


def test_a_store_of_which_nothing_is_left_has_shrunk_too(tmp_path: Path) -> None:
    folder = killed(tmp_path, before=0, after=5)
    without_wal(folder)
    (folder / STORE).unlink()
    with Kept(folder).journal() as journal:
        assert (journal.height, len(lost(journal))) == (0, 5)


def test_an_older_copy_in_the_place_of_a_store_is_noticed_though_it_has_grown_since(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    with kept.journal() as journal:
        fill(journal, *LOG[:2])
    shutil.copy(tmp_path / STORE, tmp_path / "older")
    with kept.journal() as journal:
        fill(journal, *LOG[2:4])
    shutil.move(tmp_path / "older", tmp_path / STORE)
    witness = witness_of(tmp_path).rename(tmp_path / "witness")
    with kept.journal() as journal:
        fill(journal, *LOG[4:6])
    witness.rename(witness_of(tmp_path))
    with kept.journal() as journal:
        assert lost(journal) == [(one.table, one.seq) for one in LOG[2:4]]
        fill(journal, LOG[2])
    with kept.journal() as journal:
        assert list(journal.messages()) == [*LOG[:2], *LOG[4:6], LOG[2]]


def test_a_store_that_is_whole_has_lost_nothing(kept: Kept) -> None:
    for message in LOG[:4]:
        with kept.journal() as journal:
            fill(journal, message)
            assert lost(journal) == []
    lines = [*Witness(witness_of(kept.folder), read_only=True).lines()]
    assert [(line.height, line.id) for line in lines] == [(at, one.id) for at, one in enumerate(LOG[:4], 1)]


def give_up(journal: Journal) -> None:
    """Begin a batch, and do not end it."""
    with journal.commit():
        journal.append(LOG[0], 1)
        raise RuntimeError


def test_a_batch_that_was_given_up_was_never_there(kept: Kept) -> None:
    with kept.journal() as journal:
        with pytest.raises(RuntimeError):
            give_up(journal)
        fill(journal, LOG[1])
    with kept.journal() as journal:
        assert lost(journal) == []


@pytest.mark.parametrize("left", ["nothing", "half a line", "rubbish", "less"])
def test_a_witness_that_is_gone_or_behind_catches_up(kept: Kept, left: str) -> None:
    path = witness_of(kept.folder)
    with kept.journal() as journal:
        fill(journal, *LOG[:4])
    whole = path.read_bytes()
    path.write_bytes({"nothing": b"", "half a line": whole[:-7], "rubbish": b"\xff" * 500, "less": b""}[left])
    if left == "less":
        path.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    with kept.journal() as journal:
        assert lost(journal) == []
    assert path.read_bytes() == whole


def test_a_witness_on_a_disk_that_is_full_or_gone_keeps_nothing_from_being_stored(tmp_path: Path) -> None:
    (tmp_path / "scorer.witness").mkdir()
    with Kept(tmp_path).journal() as journal:
        fill(journal, *LOG[:2])
        assert list(journal.messages()) == LOG[:2]


def test_a_witness_is_its_owner_s_alone(kept: Kept) -> None:
    with kept.journal() as journal:
        fill(journal, LOG[0])
    assert witness_of(kept.folder).stat().st_mode & 0o077 == 0


def test_the_desk_s_rulings_are_witnessed_too(tmp_path: Path) -> None:
    line = WitnessLine.of(7, 0, 2, "ruling-0002", b"\1" * 32)
    with closing(Witness(tmp_path / "w")) as witness:
        witness.note([line])
        assert (witness.last(), [*witness.lines()]) == (line, [line])
    assert Fault(LOST, *line[:4]) == Fault(LOST, 7, 0, 2, "ruling-0002")


def test_what_was_set_aside_is_never_taken_away(kept: Kept) -> None:
    with kept.journal() as journal:
        with journal.commit():
            journal.put_aside([Fault(LOST, 7, 1, 2, "id-00007")])
            journal.put_aside([Fault(LOST, 7, 1, 2, "id-00007")])
        assert journal.set_aside() == [Fault(LOST, 7, 1, 2, "id-00007")]
    for statement in ("DELETE FROM set_aside", "UPDATE set_aside SET seq = 3"):
        with pytest.raises(Exception, match="append-only"):
            kept.alter(statement)


def test_the_store_s_file_is_what_sqlite_says_it_is(tmp_path: Path) -> None:
    with Kept(tmp_path).journal() as journal:
        fill(journal, *LOG)
    with closing(sqlite3.connect(tmp_path / STORE)) as store:
        assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",)
