"""The journal writes an event and its facts together, loses nothing accepted, and its log never grows in a play."""

import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from broker.protocol import Result
from kiosk.errors import JournalBroken, JournalInUse
from kiosk.journal import TableJournal
from kiosk.journal_file import JournalOwner, allocate_log
from kiosk.table import NotNow, Phase, Table
from kiosk.table.events import ButtonPressed, CallToggled, Restarted
from tests.flushes import note_flushes
from tests.kiosk.journals import CONFIRMED, HAPPENED, OURS, Broken, core, played, receipt, told
from tests.kiosk.tables import EVENT, TABLE, Sitting, sitting_in


@pytest.mark.parametrize("phase", [*Phase])
def test_a_reopened_table_is_as_it_was(path: Path, phase: Phase) -> None:
    sitting = sitting_in(phase)
    journal = TableJournal(path, OURS)
    lived = core(journal)
    messages = [message for event in sitting.events for message in lived.apply(event)]
    journal.close()
    again = TableJournal(path, OURS)
    assert core(again).state == lived.state == sitting.table
    assert again.unsent() == tuple(messages)
    assert [message.fact for message in messages] == sitting.facts
    again.close()


def test_facts_are_numbered_from_one_without_gaps(journal: TableJournal) -> None:
    lived = core(journal)
    for event in sitting_in(Phase.FINISHED).events:
        lived.apply(event)
    numbers = [message.seq for message in journal.unsent()]
    assert numbers == [*range(1, 10)]
    assert journal.last_seq == 9


def test_a_fact_names_its_event_table_and_time(journal: TableJournal) -> None:
    (message,) = journal.record(HAPPENED, [CONFIRMED], wall=1_604_142_000_000)
    assert (message.event, message.table, message.seq, message.at) == (EVENT, TABLE, 1, 1_604_142_000_000)
    assert message.fact == CONFIRMED


def test_numbers_continue_after_those_of_this_table_that_the_scorer_has(path: Path) -> None:
    """For a new card in the table's device, even if the power fails before the first fact."""
    journal = TableJournal(path, OURS)
    journal.apply_receipt(receipt(upto=41))
    journal.apply_receipt(receipt(upto=3))
    journal.close()
    again = TableJournal(path, OURS)
    again.record(HAPPENED, [CONFIRMED, CONFIRMED], wall=5)
    again.record(HAPPENED, [CONFIRMED], wall=5)
    assert [message.seq for message in again.unsent()] == [42, 43, 44]
    again.close()


def test_numbers_of_another_store_no_longer_count(journal: TableJournal) -> None:
    journal.apply_receipt(receipt(upto=41, store="of-a-rehearsal"))
    journal.apply_receipt(receipt(upto=2))
    assert [message.seq for message in told(journal, 2)] == [3, 4]


def test_each_start_of_the_program_has_its_number(path: Path) -> None:
    starts = []
    for _ in range(3):
        journal = TableJournal(path, OURS)
        starts.append(journal.start)
        journal.close()
    assert starts == [1, 2, 3]


def test_rounds_whose_results_were_accepted_here_are_known(journal: TableJournal) -> None:
    lived = core(journal)
    assert journal.results() == frozenset()
    for event in sitting_in(Phase.FINISHED).events:
        lived.apply(event)
    assert journal.results() == {(1, 1), (2, 2)}


def test_a_result_that_was_refused_counts_only_if_there_is_one_already(journal: TableJournal) -> None:
    lived = core(journal)
    for event in sitting_in(Phase.FINISHED).events:
        lived.apply(event)
    results = [one for one in journal.unsent() if isinstance(one.fact, Result)]
    codes = ("already_recorded", "not_planned")
    refused = {one.seq: (one.id, code) for one, code in zip(results, codes, strict=True)}
    journal.apply_receipt(receipt(refused=refused))
    assert journal.results() == {(1, 1)}


@pytest.mark.parametrize(
    ("word", "nth"), [("BEGIN", 1), ("happened", 1), ("INTO outbox", 1), ("INTO outbox", 2), ("COMMIT", 1)]
)
def test_an_error_in_the_middle_leaves_neither_event_nor_facts_and_a_usable_journal(
    path: Path, word: str, nth: int
) -> None:
    journal = TableJournal(path, OURS)
    whole = journal._store
    journal._store = Broken(whole, word, nth)  # type: ignore[assignment] # stands in for a failing disk
    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        journal.record(HAPPENED, [CONFIRMED, CONFIRMED], wall=5)
    journal._store = whole
    assert ([*journal.events()], journal.unsent()) == ([], ())
    assert [message.seq for message in journal.record(HAPPENED, [CONFIRMED], wall=5)] == [1]
    assert len([*journal.events()]) == 1
    journal.close()


def test_the_state_does_not_change_if_the_journal_cannot_store_the_event(journal: TableJournal) -> None:
    lived = core(journal)
    journal._store = Broken(journal._store, "COMMIT", 1)  # type: ignore[assignment] # stands in for a failing disk
    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        lived.apply(Sitting().events[0])
    assert lived.state == Table()


def test_a_rollback_by_sqlite_itself_hides_no_error(journal: TableJournal) -> None:
    whole = journal._store

    class RolledBack(Broken):
        def execute(self, statement: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
            if "outbox" in statement:
                whole.execute("ROLLBACK")
                raise sqlite3.OperationalError("database or disk is full")
            return whole.execute(statement, values)

    journal._store = RolledBack(whole, "", 0)  # type: ignore[assignment] # stands in for a full disk
    with pytest.raises(sqlite3.OperationalError, match="full"):
        journal.record(HAPPENED, [CONFIRMED], wall=5)


def test_a_refused_event_is_not_stored(journal: TableJournal) -> None:
    lived = core(journal)
    with pytest.raises(NotNow):
        lived.apply(ButtonPressed(at=5, seat="east"))
    assert journal.empty


def test_an_event_that_changes_nothing_is_not_stored(journal: TableJournal) -> None:
    lived = core(journal)
    for event in sitting_in(Phase.CONFIRMING).events:
        lived.apply(event)
    press = ButtonPressed(at=lived.state.since + 10**10, seat="east")
    lived.apply(press)
    before = [*journal.events()]
    assert lived.apply(press) == ()
    assert [*journal.events()] == before


def test_a_restart_is_recorded_only_in_a_used_journal(journal: TableJournal) -> None:
    lived = core(journal)
    lived.restarted(7)
    assert journal.empty
    lived.apply(Sitting().events[0])
    lived.restarted(9)
    assert [*journal.events()][-1] == Restarted(at=9, doubts=True)


# ---- the owner --------------------------------------------------------------------------------------


def test_a_second_kiosk_is_kept_out_until_the_first_has_gone(path: Path, journal: TableJournal) -> None:
    with pytest.raises(JournalInUse) as refused:
        TableJournal(path, OURS)
    assert refused.value.code == "journal_in_use"
    journal.close()
    journal.close()
    TableJournal(path, OURS).close()


@pytest.mark.parametrize(
    ("whose", "what"),
    [(JournalOwner("other-cup", TABLE), "its event is"), (JournalOwner(EVENT, 4), "its table is 3, not 4")],
)
def test_the_journal_of_another_event_or_table_is_refused(path: Path, whose: JournalOwner, what: str) -> None:
    TableJournal(path, OURS).close()
    with pytest.raises(JournalBroken, match=what) as refused:
        TableJournal(path, whose)
    assert refused.value.code == "journal_broken"
    TableJournal(path, OURS).close()


def test_the_device_keeps_its_id(path: Path) -> None:
    first = TableJournal(path, OURS)
    first.close()
    again = TableJournal(path, OURS)
    again.close()
    assert again.device == first.device


def _rubbish(path: Path) -> None:
    path.write_bytes(b"no database at all" * 100)


def _event(line: bytes) -> Callable[[Path], None]:
    def put(path: Path) -> None:
        journal = TableJournal(path, OURS)
        journal._store.execute("INSERT INTO happened (wall, event) VALUES (1, ?)", (line,))
        journal.close()

    return put


def _cut(path: Path) -> None:
    journal = TableJournal(path, OURS)
    told(journal, 200)
    journal.close()
    path.write_bytes(path.read_bytes()[:9000])


def _folder(path: Path) -> None:
    path.mkdir()


def _lock_is_a_folder(path: Path) -> None:
    path.with_suffix(".lock").mkdir()


@pytest.mark.parametrize(
    "spoil",
    [
        _rubbish,
        _cut,
        _folder,
        _lock_is_a_folder,
        _event(b"{"),
        _event(b"\xff"),
    ],
)
def test_a_journal_that_cannot_be_replayed_is_refused(path: Path, spoil: Callable[[Path], None]) -> None:
    path.parent.mkdir()
    spoil(path)
    with pytest.raises(JournalBroken) as broken:
        played(path)
    assert broken.value.code == "journal_broken"


def test_an_interrupted_start_on_another_clock_is_on_another_clock_the_next_time_too(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise times of two clocks would be taken for one, and a claim window close at once or never."""
    boot = path.parent / "boot"
    monkeypatch.setattr("kiosk.journal_file.BOOT", boot)
    path.parent.mkdir()
    told_same: list[bool] = []
    for run, tells in (("one", True), ("two", False), ("two", True), ("two", True)):
        boot.write_text(run, encoding="ascii")
        with closing(TableJournal(path, OURS)) as journal:
            told_same.append(journal.same_boot)
            journal.record(HAPPENED, [], wall=1)
            if tells:
                journal.record(Restarted(at=1), [], wall=1)
    assert told_same == [False, False, False, True]


FEW = 8
"""Pages, so few that a log starts over every few events."""


def log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def kept(path: Path) -> list[int]:
    """Return the events on a card, with their times."""
    with closing(sqlite3.connect(path)) as store:
        return [at for (at,) in store.execute("SELECT json_extract(event, '$.at') FROM happened ORDER BY number")]


def happen(journal: TableJournal, at: int) -> None:
    journal.record(CallToggled(at=at, open=True), [CONFIRMED] if at % 5 == 0 else [], wall=5)


@pytest.fixture
def fast(journal: TableJournal) -> TableJournal:
    """A journal whose commits wait for no disk, as only lengths matter here."""
    journal._store.execute("PRAGMA synchronous=OFF")
    return journal


def test_a_kiosks_log_keeps_its_length_however_much_happens(fast: TableJournal, path: Path) -> None:
    fast.allocate_log()
    length = log_of(path).stat().st_size
    for at in range(1500):
        happen(fast, at)
    assert log_of(path).stat().st_size == length
    assert kept(path) == [*range(1500)]


def test_each_start_needs_no_more_room_than_the_first(path: Path) -> None:
    lengths = []
    for at in range(3):
        with closing(TableJournal(path, OURS)) as journal:
            journal.allocate_log()
            happen(journal, at)
            lengths.append((path.stat().st_size, log_of(path).stat().st_size))
    first, *later = lengths
    assert later == [(first[0], later[0][1])] * 2
    assert later[0][1] <= first[1]
    assert kept(path) == [*range(3)]


def test_a_start_interrupted_while_allocating_the_log_is_followed_by_a_complete_one(
    journal: TableJournal, path: Path
) -> None:
    journal._store.execute("CREATE TABLE ahead (pages BLOB)")
    journal._store.execute("INSERT INTO ahead VALUES (zeroblob(9999))")
    journal.allocate_log()
    happen(journal, 1)
    tables = {name for (name,) in journal._store.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert (tables, kept(path)) == ({"happened", "outbox", "kept", "about"}, [1])


def test_without_room_for_the_log_the_journal_stores_events_all_the_same(journal: TableJournal, path: Path) -> None:
    (pages,) = journal._store.execute("PRAGMA page_count").fetchone()
    journal._store.execute(f"PRAGMA max_page_count={pages + 40}")
    journal.allocate_log()
    assert journal.refuses_writes
    journal.try_room()
    happen(journal, 1)
    assert (journal.refuses_writes, kept(path)) == (False, [1])


def test_an_error_that_is_not_the_disks_is_raised(journal: TableJournal) -> None:
    journal._store = Broken(journal._store, "ahead", 1)  # type: ignore[assignment] # its error has no code of SQLite's
    with pytest.raises(sqlite3.OperationalError):
        journal.allocate_log()


def torn(before: bytes, after: bytes) -> Iterator[bytes]:
    """Yield a log at instants of its writing: new up to a point, and as it was from there on."""
    (page,) = struct.unpack(">I", after[8:12])
    changed = max(at for at in range(len(after)) if after[at] != before[at])
    for start in range(0, changed, page // 2):
        yield after[:start] + before[start:]
    yield after


def test_old_contents_of_a_log_are_never_an_event_wherever_a_write_over_them_is_cut(path: Path, tmp_path: Path) -> None:
    """An event is there completely or not at all, as in a log that grows (`test_cuts.py`)."""
    card, seen = tmp_path / "card.sqlite", set()
    with closing(TableJournal(path, OURS)) as journal:
        allocate_log(journal._store, FEW)
        journal._store.execute("PRAGMA synchronous=OFF")
        for at in range(10):
            before, had = log_of(path).read_bytes(), path.read_bytes()
            happen(journal, at)
            if path.read_bytes() != had:
                continue  # everything has just been moved into the file
            for log in torn(before, log_of(path).read_bytes()):
                card.write_bytes(had)
                log_of(card).write_bytes(log)
                found = kept(card)
                assert found in ([*range(at)], [*range(at + 1)])
                seen.add(len(found) - at)
    assert seen == {0, 1}


def test_a_journal_copied_for_another_machine_is_complete(journal: TableJournal, tmp_path: Path) -> None:
    journal.allocate_log()
    journal.record(HAPPENED, [CONFIRMED], wall=5)
    journal.copy_to(tmp_path / "copy.sqlite")
    with closing(TableJournal(tmp_path / "copy.sqlite", OURS)) as copy:
        assert copy.unsent() == journal.unsent()


def test_log_entries_of_a_killed_program_are_on_the_disk_before_they_are_shown(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make power` found facts that the next program had shown, and that a power cut after it lost."""
    with closing(TableJournal(path, OURS)) as journal:
        told(journal, 1)
        log = path.with_name("table.sqlite-wal")
        path.with_name("killed.sqlite-wal").write_bytes(log.read_bytes())
        path.with_name("killed.sqlite").write_bytes(path.read_bytes())
    flushed = note_flushes(monkeypatch)
    with closing(TableJournal(path.with_name("killed.sqlite"), OURS)) as again:
        assert len(again.unsent()) == 1
    assert flushed[-2:] == [path.with_name("killed.sqlite-wal"), path.parent]


def test_a_journal_that_has_lost_a_page_is_refused_when_opened_and_not_at_a_press(path: Path) -> None:
    """Its events can still be read; that an index lacks a fact would show at the next one."""
    with closing(TableJournal(path, OURS)) as journal:
        told(journal, 3)
    with closing(sqlite3.connect(path)) as store:
        (page,) = store.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_outbox_1'"
        ).fetchone()
        (size,) = store.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as card:
        card.seek((page - 1) * size)
        card.write(bytes(size))
    with pytest.raises(JournalBroken):
        TableJournal(path, OURS)
