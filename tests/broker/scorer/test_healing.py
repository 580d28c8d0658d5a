"""Faults of a store are noticed when it is opened, identified, do not count, and are repaired by the tables."""

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from broker.event import open_event
from broker.protocol import LogMessage, Receipt, Result, SigningKey, TableState, Taken, encode
from broker.scorer import open_stored_event, read_journal, verify_store
from broker.store import STORE, SqliteJournal, SqliteReader, message_of, witness_of
from broker.store.backup import check_copy, copy_faults
from broker.store.backup_worker import BackupWorker
from kiosk.config import BrokerSettings, Config, DeviceSettings
from kiosk.journal import TableJournal
from kiosk.journal_file import JournalOwner
from kiosk.table import Table
from kiosk.uplink import state_message
from tests.broker.scorer.folders import event_folder, until_round
from tests.broker.scorer.hall import NOW, Hall, make_hall
from tests.broker.scorer.small import (
    DEVICES,
    KEY,
    NAME,
    fact,
    list_devices,
    restored,
    result,
    signed,
    state,
    whole_event,
)
from tests.broker.store.stores import Kept, fill

LOG: Final = whole_event()
LOSING: Final = next(one for one in LOG if isinstance(one.fact, Result) and min(one.fact.points.values()) < -9)


WITHOUT_ONE: Final = 15
"""Number of plays that count while one result is requested again. Later facts of its table count as before."""


def named_by_table(facts: list[LogMessage]) -> str:
    """Return facts by table, as alerts name them. Those of each table are consecutive."""
    seqs: dict[int, list[int]] = {}
    for one in facts:
        seqs.setdefault(one.table, []).append(one.seq)
    return "; ".join(f"{table}: {found[0]}-{found[-1]}" for table, found in sorted(seqs.items()))


def flip(folder: Path, message: LogMessage) -> None:
    """Change one digit of a result's points in the store's file, as a failing disk does: -26 becomes -96."""
    path = folder / STORE
    with closing(sqlite3.connect(path)) as store:
        (body,) = store.execute("SELECT body FROM journal WHERE id = ?", (message.id,)).fetchone()
    altered = re.sub(rb":-[0-8](?=[0-9])", b":-9", body, count=1)
    whole = path.read_bytes()
    assert (altered != body, len(altered), whole.count(body)) == (True, len(body), 1)
    path.write_bytes(whole.replace(body, altered))


def receipt(hall: Hall, table: int) -> Receipt:
    """Return the last receipt of a table."""
    return [one for one in hall.ear.heard(f"receipt/{table}") if isinstance(one, Receipt)][-1]


@pytest.fixture
def flipped(tmp_path: Path) -> Path:
    """An event of which one byte was changed on the disk."""
    folder = event_folder(tmp_path / "event")
    list_devices(folder, range(1, 5))
    flip(folder, LOSING)
    return folder


def test_neither_sqlite_nor_the_row_itself_shows_the_change(flipped: Path) -> None:
    with closing(sqlite3.connect(flipped / STORE)) as store:
        assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (body,) = store.execute("SELECT body FROM journal WHERE id = ?", (LOSING.id,)).fetchone()
    message = message_of(body)
    assert isinstance(message, LogMessage)
    assert message.fact != LOSING.fact


def test_a_changed_byte_is_noticed_at_the_start_and_repaired_by_the_table(flipped: Path, tmp_path: Path) -> None:
    with closing(SqliteJournal(flipped / STORE, NAME)) as journal:
        hall = make_hall(flipped, journal)
        assert hall.scorer.feed.current.plays_in == WITHOUT_ONE
        hall.connect(up=True)
        assert hall.alerts() == [("row_altered", LOSING.table)]
        asked = receipt(hall, LOSING.table)
        assert (asked.wanted, asked.gaps) == ((LOSING.seq,), (LOSING.seq,))

        table = TableJournal(tmp_path / "journal", JournalOwner(NAME, LOSING.table), KEY)
        with closing(table):
            table.add_facts([encode(one) for one in LOG if one.table == LOSING.table])
            table.apply_receipt(replace(asked, wanted=(), gaps=(), taken=named(LOSING.table)))
            assert table.unsent() == ()
            table.apply_receipt(asked)
            (again,) = table.unsent()
        assert (again.id, again.fact) == (LOSING.id, LOSING.fact)
        hall.hear(LOSING)
        assert hall.scorer.feed.current.plays_in == 16
        assert hall.alerts()[1] == ("row_repaired", LOSING.table)
        assert (receipt(hall, LOSING.table).wanted, receipt(hall, LOSING.table).gaps) == ((), ())
    with closing(SqliteJournal(flipped / STORE, NAME)) as journal:
        hall = make_hall(flipped, journal)
        hall.connect(up=True)
        assert (hall.alerts(), hall.scorer.feed.current.plays_in) == ([], 16)
        assert [fault.code for fault in journal.recorded_faults()] == ["row_altered"]
        assert [*read_journal(journal, open_event(flipped)).lost()] == [(LOSING.table, LOSING.seq)]
    assert verify_store(flipped).faults == ()
    assert {one.id for one, _ in open_stored_event(flipped).results()} == {
        one.id for one in LOG if isinstance(one.fact, Result)
    }


def named(table: int) -> tuple[Taken, ...]:
    """Return all facts of a table as named in a receipt."""
    return tuple(Taken(seq=one.seq, id=one.id) for one in LOG if one.table == table)


def test_commands_that_read_an_event_skip_a_changed_row(flipped: Path) -> None:
    stored = open_stored_event(flipped)
    assert LOSING.id not in {one.id for one, _ in stored.results()}
    (fault,) = verify_store(flipped).faults
    assert (fault.code, fault.table, fault.seq, fault.id) == ("row_altered", LOSING.table, LOSING.seq, LOSING.id)


def test_a_stored_result_with_wrong_points_does_not_count(tmp_path: Path) -> None:
    """A store of version 1 may have been altered before its rows got links."""
    assert isinstance(LOSING.fact, Result)
    points = {seat: points + 3 for seat, points in LOSING.fact.points.items()}
    wrong = replace(LOSING, fact=replace(LOSING.fact, points=points))
    folder = event_folder(tmp_path, [signed(wrong) if one == LOSING else one for one in LOG])
    list_devices(folder, range(1, 5))
    (fault,) = verify_store(folder).faults
    assert (fault.code, fault.table, fault.seq) == ("row_wrong_points", LOSING.table, LOSING.seq)
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        hall = make_hall(folder, journal)
        assert hall.scorer.feed.current.plays_in == WITHOUT_ONE
        hall.hear(LOSING)
        assert (hall.scorer.feed.current.plays_in, hall.alerts()[:2]) == (
            16,
            [("row_wrong_points", LOSING.table), ("row_repaired", LOSING.table)],
        )
    assert verify_store(folder).faults == ()


def test_a_row_that_is_not_a_message_is_requested_again(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    with kept.journal() as journal, journal.commit():
        journal.append(LOG[0], 7, b'{"no": "message"}')
    with kept.journal() as journal:
        hall = make_hall(kept.folder, journal)
        hall.connect(up=True)
        assert (hall.alerts(), receipt(hall, LOG[0].table).wanted) == (
            [("row_unreadable", LOG[0].table)],
            (LOG[0].seq,),
        )
        hall.hear(LOG[0])
    with kept.journal() as journal:
        hall = make_hall(kept.folder, journal)
        hall.connect(up=True)
        assert hall.alerts() == []


def test_missing_messages_are_reported_until_they_are_recovered(tmp_path: Path) -> None:
    """The write-ahead log is gone. The desk begins with less than it had, and says so."""
    folder = event_folder(tmp_path / "event", until_round(2))
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        fill(journal, *[one for one in LOG if one.fact.round == 3])
        shutil.copytree(folder, tmp_path / "killed")
    folder = tmp_path / "killed"
    for end in ("-wal", "-shm"):
        (folder / f"{STORE}{end}").unlink()
    gone = [one for one in LOG if one.fact.round == 3]
    for _ in range(2):
        with closing(SqliteJournal(folder / STORE, NAME)) as journal:
            hall = make_hall(folder, journal)
            hall.connect(up=True)
            assert hall.alerts() == [("store_shrunk", None)]
            assert shrunk(hall) == {"count": len(gone), "tables": named_by_table(gone), "rulings": "-"}
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        hall = make_hall(folder, journal)
        assert receipt_of(hall, 1).wanted == tuple(one.seq for one in gone if one.table == 1)
        hall.hear(*gone[:-1])
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        hall = make_hall(folder, journal)
        hall.connect(up=True)
        assert shrunk(hall)["tables"] == f"{gone[-1].table}: {gone[-1].seq}"
        hall.hear(gone[-1])
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        hall = make_hall(folder, journal)
        hall.connect(up=True)
        assert hall.alerts() == []


def test_a_folder_replaced_by_an_older_copy_is_noticed_by_the_tables_receipts(tmp_path: Path) -> None:
    """The witness is as old as the store, so nothing in the folder shows that messages are missing."""
    folder = event_folder(tmp_path / "event", until_round(1))
    shutil.copytree(folder, tmp_path / "older")
    ours = [one for one in LOG if one.table == 1 and one.fact.round <= 2]
    gone = [one for one in ours if one.fact.round == 2]
    with closing(TableJournal(tmp_path / "table" / "table.sqlite", JournalOwner(NAME, 1), KEY)) as table:
        table.add_facts([encode(one) for one in ours])
        with closing(SqliteJournal(folder / STORE, NAME)) as journal:
            hall = make_hall(folder, journal)
            hall.hear(said_by(table))
            hall.hear(*gone)
            table.apply_receipt(receipt(hall, 1))
            hall.hear(said_by(table))
            assert (hall.alerts(), hall.scorer.feed.current.lost, table.unsent()) == ([], 0, ())

        shutil.rmtree(folder)
        shutil.copytree(tmp_path / "older", folder)
        with closing(SqliteJournal(folder / STORE, NAME)) as journal:
            hall = make_hall(folder, journal)
            hall.connect(up=True)
            assert hall.alerts() == []
            for _ in range(2):
                hall.hear(said_by(table))
                assert (hall.alerts(), hall.scorer.feed.current.lost) == ([("store_older", 1)], len(gone))
            (alert,) = [one for one in hall.scorer.feed.current.alerts if one.code == "store_older"]
            assert alert.values == {"safe": ours[-1].seq, "upto": ours[-1].seq - len(gone)}
            table.apply_receipt(receipt(hall, 1))
            assert [one.id for one in table.unsent()] == [one.id for one in gone]
            hall.hear(*gone)
            assert hall.scorer.feed.current.lost == 0


def test_receipts_of_another_store_are_ignored(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "event", until_round(2))
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        hall = make_hall(folder, journal)
        hall.hear(replace(state(1), store="another-store", safe=10_000))
        assert (hall.alerts(), hall.scorer.feed.current.lost) == ([], 0)


def said_by(table: TableJournal) -> TableState:
    """Return the state of a table with this journal."""
    broker, devices = BrokerSettings("localhost", 1883, "password"), DeviceSettings("sim://buttons", "sim://tray")
    config = Config(event=NAME, table=1, folder="table", broker=broker, devices=devices)
    return replace(state_message(config, table, Table(), "ready", len(table.unsent()), {}), device=DEVICES[0])


def test_a_row_that_was_lost_recovered_and_altered_is_repaired(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "event", [one for one in LOG if one != LOSING])
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        fill(journal, LOSING)
        shutil.copytree(folder, tmp_path / "killed")
    folder = tmp_path / "killed"
    for end in ("-wal", "-shm"):
        (folder / f"{STORE}{end}").unlink()
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        make_hall(folder, journal).hear(LOSING)
    flip(folder, LOSING)
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        hall = make_hall(folder, journal)
        hall.connect(up=True)
        hall.hear(LOSING)
        assert hall.scorer.feed.current.plays_in == 16


def shrunk(hall: Hall) -> dict[str, int | str]:
    """Return the alert about a store with missing messages."""
    (alert,) = [one for one in hall.scorer.feed.current.alerts if one.code == "store_shrunk"]
    return dict(alert.values)


def receipt_of(hall: Hall, table: int) -> Receipt:
    """Connect a scorer, and return a table's receipt."""
    hall.connect(up=True)
    return receipt(hall, table)


def test_a_byte_changed_while_a_scorer_works_is_found_by_the_next_copy(tmp_path: Path) -> None:
    folder, stick = event_folder(tmp_path / "event"), tmp_path / "stick"
    stick.mkdir()
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        hall = make_hall(folder, journal)
        worker = BackupWorker(
            folder,
            NAME,
            stick,
            pause_s=1,
            keep=1,
            clock=lambda: NOW,
            on_report=print,
            on_faults=hall.scorer.report_faults,
        )
        worker.make_one()
        flip(folder, LOSING)
        worker.make_one()
        hall.scorer.step(timeout=0)
        assert (hall.alerts(), receipt(hall, LOSING.table).wanted) == ([("row_altered", LOSING.table)], (LOSING.seq,))
        assert hall.scorer.feed.current.plays_in == 16
        older, newer = sorted(stick.iterdir())  # the older one has what the newer one has not
        assert (copy_faults(older, NAME), len(copy_faults(newer, NAME))) == ([], 1)
        assert check_copy(newer).height == len(LOG)
        hall.hear(LOSING)
        worker.make_one()
        hall.scorer.step(timeout=0)
        assert hall.alerts()[1:] == [("row_repaired", LOSING.table)]
        assert len([*stick.iterdir()]) == 1
    with closing(SqliteReader(folder / STORE, NAME)) as reader:
        assert reader.faults() == []


def test_a_fact_is_stored_byte_for_byte(hall: Hall) -> None:
    """A signature covers the bytes. Otherwise unknown fields and the order of fields would be lost."""
    one = fact(1, 1, restored(1))
    hall.hear(one)
    hall.hear(fact(1, 2, result(1)))
    assert len([*hall.journal.entries()]) == 2
    assert witness_of(hall.folder).name == "scorer.witness"


def test_verifying_a_store_finds_a_fact_with_a_wrong_signature(tmp_path: Path) -> None:
    other = SigningKey.new()
    forged = replace(LOG[3], signature=signed(LOG[3], other).signature)
    stranger = signed(LOG[5], other)
    folder = event_folder(tmp_path, [LOG[0], forged, stranger])
    list_devices(folder, range(1, 5))
    assert [(fault.code, fault.height) for fault in verify_store(folder).faults] == [
        ("row_bad_signature", 2),
        ("row_bad_signature", 3),
    ]
