"""The table's memory: an event and its facts are one, and nothing that was accepted is ever lost."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from broker.contract.facts import Result
from kiosk.errors import JournalBroken, JournalInUse
from kiosk.journal import Journal, Whose
from kiosk.table.errors import NotNow
from kiosk.table.events import ButtonPressed, Restarted
from kiosk.table.state import Phase, Table
from tests.kiosk.journals import CONFIRMED, HAPPENED, OURS, Broken, core, played, receipt, told
from tests.kiosk.tables import EVENT, TABLE, Sitting, sitting_in


@pytest.mark.parametrize("phase", [*Phase])
def test_a_table_opened_again_stands_where_it_stood(path: Path, phase: Phase) -> None:
    sitting = sitting_in(phase)
    journal = Journal(path, OURS)
    lived = core(journal)
    messages = [message for event in sitting.events for message in lived.apply(event)]
    journal.close()
    again = Journal(path, OURS)
    assert core(again).state == lived.state == sitting.table
    assert again.unsent() == tuple(messages)
    assert [message.fact for message in messages] == sitting.facts
    again.close()


def test_facts_are_numbered_from_one_without_gaps(journal: Journal) -> None:
    lived = core(journal)
    for event in sitting_in(Phase.FINISHED).events:
        lived.apply(event)
    numbers = [message.seq for message in journal.unsent()]
    assert numbers == [*range(1, 10)]
    assert journal.last_seq == 9


def test_a_fact_says_whose_it_is_and_when(journal: Journal) -> None:
    (message,) = journal.record(HAPPENED, [CONFIRMED], wall=1_604_142_000_000)
    assert (message.event, message.table, message.seq, message.at) == (EVENT, TABLE, 1, 1_604_142_000_000)
    assert message.fact == CONFIRMED


def test_numbers_go_on_after_those_that_the_scorer_has_of_this_table(path: Path) -> None:
    """A new card in the table's device; and even if the power fails before the first fact."""
    journal = Journal(path, OURS)
    journal.settle(receipt(upto=41))
    journal.settle(receipt(upto=3))
    journal.close()
    again = Journal(path, OURS)
    again.record(HAPPENED, [CONFIRMED, CONFIRMED], wall=5)
    again.record(HAPPENED, [CONFIRMED], wall=5)
    assert [message.seq for message in again.unsent()] == [42, 43, 44]
    again.close()


def test_the_numbers_of_another_store_count_no_more(journal: Journal) -> None:
    journal.settle(receipt(upto=41, store="of-a-rehearsal"))
    journal.settle(receipt(upto=2))
    assert [message.seq for message in told(journal, 2)] == [3, 4]


def test_each_start_of_the_program_has_its_number(path: Path) -> None:
    starts = []
    for _ in range(3):
        journal = Journal(path, OURS)
        starts.append(journal.start)
        journal.close()
    assert starts == [1, 2, 3]


def test_the_rounds_whose_results_were_accepted_here_are_known(journal: Journal) -> None:
    lived = core(journal)
    assert journal.results() == frozenset()
    for event in sitting_in(Phase.FINISHED).events:
        lived.apply(event)
    assert journal.results() == {(1, 1), (2, 2)}


def test_a_result_that_was_refused_counts_only_if_there_is_one_already(journal: Journal) -> None:
    lived = core(journal)
    for event in sitting_in(Phase.FINISHED).events:
        lived.apply(event)
    results = [one for one in journal.unsent() if isinstance(one.fact, Result)]
    codes = ("already_recorded", "not_planned")
    refused = {one.seq: (one.id, code) for one, code in zip(results, codes, strict=True)}
    journal.settle(receipt(refused=refused))
    assert journal.results() == {(1, 1)}


@pytest.mark.parametrize(
    ("word", "nth"), [("BEGIN", 1), ("happened", 1), ("INTO outbox", 1), ("INTO outbox", 2), ("COMMIT", 1)]
)
def test_an_error_in_the_middle_leaves_neither_event_nor_facts_and_the_journal_usable(
    path: Path, word: str, nth: int
) -> None:
    journal = Journal(path, OURS)
    whole = journal._store
    journal._store = Broken(whole, word, nth)  # type: ignore[assignment] # stands in for a failing disk
    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        journal.record(HAPPENED, [CONFIRMED, CONFIRMED], wall=5)
    journal._store = whole
    assert ([*journal.events()], journal.unsent()) == ([], ())
    assert [message.seq for message in journal.record(HAPPENED, [CONFIRMED], wall=5)] == [1]
    assert len([*journal.events()]) == 1
    journal.close()


def test_state_does_not_change_when_the_journal_cannot_keep_the_event(journal: Journal) -> None:
    lived = core(journal)
    journal._store = Broken(journal._store, "COMMIT", 1)  # type: ignore[assignment] # stands in for a failing disk
    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        lived.apply(Sitting().events[0])
    assert lived.state == Table()


def test_a_sqlite_that_rolls_back_by_itself_hides_no_error(journal: Journal) -> None:
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


def test_a_refused_event_is_not_kept(journal: Journal) -> None:
    lived = core(journal)
    with pytest.raises(NotNow):
        lived.apply(ButtonPressed(at=5, seat="east"))
    assert journal.empty


def test_what_changes_nothing_is_not_kept(journal: Journal) -> None:
    lived = core(journal)
    for event in sitting_in(Phase.CONFIRMING).events:
        lived.apply(event)
    press = ButtonPressed(at=lived.state.since + 10**10, seat="east")
    lived.apply(press)
    before = [*journal.events()]
    assert lived.apply(press) == ()
    assert [*journal.events()] == before


def test_a_fresh_table_is_told_of_no_restart_and_a_used_one_is(journal: Journal) -> None:
    lived = core(journal)
    lived.restarted(7)
    assert journal.empty
    lived.apply(Sitting().events[0])
    lived.restarted(9)
    assert [*journal.events()][-1] == Restarted(at=9)


# ---- whose it is ------------------------------------------------------------------------------------


def test_a_second_kiosk_is_kept_out_until_the_first_has_gone(path: Path, journal: Journal) -> None:
    with pytest.raises(JournalInUse) as refused:
        Journal(path, OURS)
    assert refused.value.code == "journal_in_use"
    journal.close()
    journal.close()
    Journal(path, OURS).close()


@pytest.mark.parametrize(
    ("whose", "what"), [(Whose("other-cup", TABLE), "its event is"), (Whose(EVENT, 4), "its table is 3, not 4")]
)
def test_the_journal_of_another_event_or_table_is_not_taken(path: Path, whose: Whose, what: str) -> None:
    Journal(path, OURS).close()
    with pytest.raises(JournalBroken, match=what) as refused:
        Journal(path, whose)
    assert refused.value.code == "journal_broken"
    Journal(path, OURS).close()


def test_the_device_keeps_its_name(path: Path) -> None:
    first = Journal(path, OURS)
    first.close()
    again = Journal(path, OURS)
    again.close()
    assert again.device == first.device


def _rubbish(path: Path) -> None:
    path.write_bytes(b"no database at all" * 100)


def _event(line: bytes) -> Callable[[Path], None]:
    def put(path: Path) -> None:
        journal = Journal(path, OURS)
        journal._store.execute("INSERT INTO happened (wall, event) VALUES (1, ?)", (line,))
        journal.close()

    return put


def _cut(path: Path) -> None:
    journal = Journal(path, OURS)
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
        _event(b'{"type":"dreamt_up","at":1}'),
        _event(b'{"type":"next_deal_called","at":1}'),
    ],
)
def test_a_journal_that_cannot_be_played_says_so(path: Path, spoil: Callable[[Path], None]) -> None:
    path.parent.mkdir()
    spoil(path)
    with pytest.raises(JournalBroken) as broken:
        played(path)
    assert broken.value.code == "journal_broken"


def test_a_start_on_another_clock_that_is_cut_before_it_has_told_so_is_on_another_clock_the_next_time_too(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else times of two clocks would be taken for one, and a claim window close at once or never."""
    boot = path.parent / "boot"
    monkeypatch.setattr("kiosk.journal.BOOT", boot)
    path.parent.mkdir()
    told_same: list[bool] = []
    for run, tells in (("one", True), ("two", False), ("two", True), ("two", True)):
        boot.write_text(run, encoding="ascii")
        with closing(Journal(path, OURS)) as journal:
            told_same.append(journal.same_boot)
            journal.record(HAPPENED, [], wall=1)
            if tells:
                journal.record(Restarted(at=1), [], wall=1)
    assert told_same == [False, False, False, True]
