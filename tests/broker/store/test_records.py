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
        assert journal.recorded_faults() == [Fault(LOST, 7, 1, 2, "id-00007")]
    for statement in ("DELETE FROM set_aside", "UPDATE set_aside SET seq = 3"):
        with pytest.raises(Exception, match="append-only"):
            kept.alter(statement)


def test_the_store_s_file_is_what_sqlite_says_it_is(tmp_path: Path) -> None:
    with Kept(tmp_path).journal() as journal:
        fill(journal, *LOG)
    with closing(sqlite3.connect(tmp_path / STORE)) as store:
        assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",)
