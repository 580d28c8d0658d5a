"""Rows of a journal that were changed or removed are identified, and no other row is doubted."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as some

from broker.read_ahead import FIRST_LINK, StoredRow
from broker.store import (
    ALTERED,
    LINK_ALTERED,
    LOST,
    MISSING,
    STORE,
    Fault,
    Journal,
    Witness,
    WitnessLine,
    link_after,
    witness_of,
)
from broker.store.records import intact_rows
from tests.broker.scorer.small import whole_event
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
    """Return the heights of the rows that count, and the faults."""
    faults: list[Fault] = []
    heights = [height for height, _, _ in intact_rows(rows, faults)]
    return heights, [(fault[0], fault[1]) for fault in faults]


def without(*gone: int) -> list[int]:
    """Return all heights except some."""
    return [height for height in range(1, COUNT + 1) if height not in gone]


def test_all_unchanged_rows_count() -> None:
    assert judged(made()) == (without(), [])
    assert judged([]) == ([], [])


@given(some.integers(1, COUNT), some.integers(0, 7), some.data())
def test_a_flipped_bit_in_a_body_identifies_only_its_row(height: int, bit: int, chance: some.DataObject) -> None:
    rows = made()
    number, at, body, link = rows[height - 1]
    place = chance.draw(some.integers(0, len(body) - 1))
    altered = bytearray(body)
    altered[place] ^= 1 << bit
    rows[height - 1] = number, at, bytes(altered), link
    assert judged(rows) == (without(height), [(ALTERED, height)])


@given(some.integers(1, COUNT))
def test_a_changed_time_identifies_only_its_row(height: int) -> None:
    rows = made()
    rows[height - 1] = (height, 7, *rows[height - 1][2:])
    assert judged(rows) == (without(height), [(ALTERED, height)])


@given(some.integers(1, COUNT - 1))
def test_a_changed_link_does_not_discredit_any_content(height: int) -> None:
    rows = made()
    rows[height - 1] = (*rows[height - 1][:3], b"x" * 32)
    assert judged(rows) == (without(), [(LINK_ALTERED, height)])


def test_a_changed_link_of_the_last_row_makes_that_row_doubtful() -> None:
    rows = made()
    rows[-1] = (*rows[-1][:3], b"x" * 32)
    assert judged(rows) == (without(COUNT), [(ALTERED, COUNT)])


@given(some.sets(some.integers(1, COUNT - 1), min_size=1))
def test_missing_rows_are_identified_and_those_after_them_count(gone: set[int]) -> None:
    rows = [row for row in made() if row[0] not in gone]
    assert judged(rows) == (without(*gone), [(MISSING, height) for height in sorted(gone)])


@given(some.integers(1, COUNT), some.sampled_from([-1, 0, 1, 261, 1 << 60]))
def test_a_changed_height_is_corrected_by_the_link(height: int, number: int) -> None:
    rows = made()
    if number == height:
        return
    rows[height - 1] = (number, *rows[height - 1][1:])
    assert judged(rows) == (without(), [(LINK_ALTERED, height)])


@given(some.sets(some.integers(1, COUNT), min_size=2))
def test_several_changed_rows_are_all_identified(heights: set[int]) -> None:
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
def test_columns_of_another_type_do_not_stop_the_check(rubbish: Callable[[StoredRow], StoredRow]) -> None:
    rows = made()
    rows[4] = rubbish(rows[4])
    counts, faults = judged(rows)
    assert [height for _, height in faults] == [5]
    assert counts in (without(5), without())


def test_a_row_replaced_with_a_matching_link_is_noticed_by_the_next_row() -> None:
    """Whoever changes a row and its link has to change all links after it, or is noticed."""
    rows = made()
    rows[4] = (5, 1005, b"{}", link_after(rows[3][3], 5, 1005, b"{}"))
    assert judged(rows) == (without(6), [(ALTERED, 6)])


# ---- the witness: what a journal has had is known beside it -------------------------------------

LOG: Final = whole_event()


def lost(journal: Journal) -> list[tuple[int | None, int | None]]:
    """Return table and number of the rows that are known to be lost."""
    return [(fault.table, fault.seq) for fault in journal.recorded_faults() if fault.code == LOST]


def without_wal(folder: Path) -> None:
    """Remove the write-ahead log of a store that was not closed, as a careless hand or a disk repair does."""
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


def test_after_the_log_was_deleted_the_missing_rows_are_named(tmp_path: Path) -> None:
    folder = killed(tmp_path, before=3, after=2)
    without_wal(folder)
    for _ in range(2):
        with Kept(folder).journal() as journal:
            assert journal.height == 3
            assert lost(journal) == [(one.table, one.seq) for one in LOG[3:5]]


def test_after_the_store_was_deleted_all_rows_are_named_as_missing(tmp_path: Path) -> None:
    folder = killed(tmp_path, before=0, after=5)
    without_wal(folder)
    (folder / STORE).unlink()
    with Kept(folder).journal() as journal:
        assert (journal.height, len(lost(journal))) == (0, 5)


def test_an_older_copy_in_the_stores_place_is_noticed_although_it_has_grown(tmp_path: Path) -> None:
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


def test_a_complete_store_has_lost_nothing(kept: Kept) -> None:
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


def test_an_aborted_batch_does_not_count_as_lost(kept: Kept) -> None:
    with kept.journal() as journal:
        with pytest.raises(RuntimeError):
            give_up(journal)
        fill(journal, LOG[1])
    with kept.journal() as journal:
        assert lost(journal) == []


@pytest.mark.parametrize("left", ["nothing", "half a line", "rubbish", "less"])
def test_a_missing_or_outdated_witness_is_brought_up_to_date(kept: Kept, left: str) -> None:
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


def test_a_witness_on_a_full_or_missing_disk_does_not_stop_the_store(tmp_path: Path) -> None:
    (tmp_path / "scorer.witness").mkdir()
    with Kept(tmp_path).journal() as journal:
        fill(journal, *LOG[:2])
        assert list(journal.messages()) == LOG[:2]


def test_a_witness_is_readable_only_by_its_owner(kept: Kept) -> None:
    with kept.journal() as journal:
        fill(journal, LOG[0])
    assert witness_of(kept.folder).stat().st_mode & 0o077 == 0


def test_rulings_of_the_desk_are_in_the_witness_too(tmp_path: Path) -> None:
    line = WitnessLine.of(7, 0, 2, "ruling-0002", b"\1" * 32)
    with closing(Witness(tmp_path / "w")) as witness:
        witness.append([line])
        assert (witness.last(), [*witness.lines()]) == (line, [line])
    assert Fault(LOST, *line[:4]) == Fault(LOST, 7, 0, 2, "ruling-0002")


def test_recorded_faults_are_never_removed(kept: Kept) -> None:
    with kept.journal() as journal:
        with journal.commit():
            journal.record_faults([Fault(LOST, 7, 1, 2, "id-00007")])
            journal.record_faults([Fault(LOST, 7, 1, 2, "id-00007")])
        assert journal.recorded_faults() == [Fault(LOST, 7, 1, 2, "id-00007")]
    for statement in ("DELETE FROM set_aside", "UPDATE set_aside SET seq = 3"):
        with pytest.raises(Exception, match="append-only"):
            kept.alter(statement)


def test_sqlites_check_finds_nothing_wrong_with_a_store(tmp_path: Path) -> None:
    with Kept(tmp_path).journal() as journal:
        fill(journal, *LOG)
    with closing(sqlite3.connect(tmp_path / STORE)) as store:
        assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",)
