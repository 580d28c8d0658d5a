"""The desk's decisions are on a second disk before the desk confirms them, and the event goes on without that disk."""

import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from broker.store import STORE, SqliteJournal, Witness, WitnessLine
from broker.store.backup_worker import BackupReport
from broker.store.second_home import SecondHome, SecondHomeWriter
from tests.broker.scorer.small import NAME, whole_event
from tests.broker.store.stores import fill
from tests.patience import PATIENCE_S

ENTRIES: Final = [(1_000 + number, b'{"ruling":%d,"reason":"a b"}' % number) for number in range(5)]


class Heard:
    """The reports for arbiters."""

    def __init__(self) -> None:
        self.reports: list[BackupReport] = []
        self.news = threading.Condition()

    def __call__(self, report: BackupReport) -> None:
        with self.news:
            self.reports.append(report)
            self.news.notify_all()

    def wait(self, wanted: Callable[[BackupReport], bool]) -> None:
        """Wait for a report of a kind."""
        with self.news:
            assert self.news.wait_for(lambda: any(map(wanted, self.reports)), PATIENCE_S)


@pytest.fixture
def home(tmp_path: Path) -> SecondHome:
    (tmp_path / "second").mkdir()
    return SecondHome(tmp_path / "second", NAME)


def test_written_decisions_are_read_again_and_stored_once(home: SecondHome) -> None:
    assert home.read() == []
    home.write(ENTRIES[:2])
    home.write(ENTRIES)
    home.write(ENTRIES[1:])
    assert SecondHome(home.folder, NAME).read() == ENTRIES
    assert home.decisions.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("cut", [1, 10, 30])
def test_a_half_written_line_hides_no_other(home: SecondHome, cut: int) -> None:
    home.write(ENTRIES[:3])
    home.decisions.write_bytes(home.decisions.read_bytes()[:-cut])
    left = home.read()
    assert left == ENTRIES[: len(left)]
    home.write(ENTRIES)
    assert sorted(home.read()) == ENTRIES


def test_a_changed_byte_hides_only_its_line(home: SecondHome) -> None:
    home.write(ENTRIES)
    whole = home.decisions.read_bytes()
    home.decisions.write_bytes(whole.replace(b'"ruling":2', b'"ruling":9'))
    assert home.read() == [ENTRIES[0], ENTRIES[1], *ENTRIES[3:]]


def test_a_decision_is_written_when_the_wait_ends(home: SecondHome, tmp_path: Path) -> None:
    heard = Heard()
    with SecondHomeWriter(home, tmp_path, heard) as writer:
        for entry in ENTRIES:
            writer.queue_entries([entry])
            assert writer.wait()
            assert home.read()[-1] == entry
    assert heard.reports == []


def test_a_missing_disk_is_reported_without_waiting_and_gets_everything_later(
    home: SecondHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.store.second_home.RETRY_S", 0.01)
    heard = Heard()
    home.folder.rename(tmp_path / "away")
    with SecondHomeWriter(home, tmp_path, heard) as writer:
        writer.queue_entries(ENTRIES[:2])
        assert not writer.wait()
        heard.wait(lambda report: not report.well)
        writer.queue_entries(ENTRIES[2:])
        assert not writer.wait()
        assert not home.folder.exists()
        (tmp_path / "away").rename(home.folder)
        heard.wait(lambda report: report.well)
        assert home.read() == ENTRIES
    assert [report.well for report in heard.reports] == [False, True]


def named(writer: SecondHomeWriter, _: object, lines: Sequence[WitnessLine]) -> None:
    """Queue witness lines as the scorer does."""
    writer.queue_lines(lines)


def test_all_rows_of_the_journal_are_listed_in_the_second_home(home: SecondHome, tmp_path: Path) -> None:
    log, heard = whole_event(), Heard()
    with closing(SqliteJournal(tmp_path / STORE, NAME)) as journal:
        fill(journal, *log[:3])
        for first in (3, 5):
            with SecondHomeWriter(home, tmp_path, heard) as writer:
                writer.queue_journal(journal)
                journal.follow(partial(named, writer))
                fill(journal, *log[first : first + 2])
        assert [line.id for line in Witness(home.witness, read_only=True).lines()] == [one.id for one in log[:7]]
    assert heard.reports == []


def test_witness_lines_that_could_not_be_written_are_written_later(
    home: SecondHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.store.second_home.RETRY_S", 0.01)
    heard = Heard()
    with closing(SqliteJournal(tmp_path / STORE, NAME)) as journal:
        fill(journal, *whole_event()[:5])
        lines = journal.witness_lines()
    home.witness.mkdir()  # a file that cannot be written
    with SecondHomeWriter(home, tmp_path, heard) as writer:
        writer.queue_lines(lines[:3])
        heard.wait(lambda report: not report.well)
        home.witness.rmdir()
        heard.wait(lambda report: report.well)
        writer.queue_lines(lines[3:])
    assert [*Witness(home.witness, read_only=True).lines()] == lines


def test_witness_lines_dropped_for_lack_of_memory_are_written_at_the_next_start(
    home: SecondHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.store.second_home.RETRY_S", 0.01)
    monkeypatch.setattr("broker.store.second_home.MOST_LINES", 2)
    heard = Heard()
    with closing(SqliteJournal(tmp_path / STORE, NAME)) as journal:
        fill(journal, *whole_event()[:5])
        lines = journal.witness_lines()
        home.folder.rename(tmp_path / "away")
        with SecondHomeWriter(home, tmp_path, heard) as writer:
            for line in lines[:4]:
                writer.queue_lines([line])
            heard.wait(lambda report: not report.well)
            (tmp_path / "away").rename(home.folder)
            heard.wait(lambda report: report.well)
            writer.queue_lines(lines[4:])
        with SecondHomeWriter(home, tmp_path, heard) as writer:
            writer.queue_journal(journal)
    assert [*Witness(home.witness, read_only=True).lines()] == lines


@pytest.mark.parametrize(("named_before", "expected"), [(3, 5), (7, 7)], ids=["older", "newer"])
def test_a_disk_missing_at_the_start_keeps_its_lines_of_lost_rows(
    home: SecondHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named_before: int, expected: int
) -> None:
    monkeypatch.setattr("broker.store.second_home.RETRY_S", 0.01)
    heard = Heard()
    with closing(SqliteJournal(tmp_path / STORE, NAME)) as journal:
        fill(journal, *whole_event()[:7])
        lines = journal.witness_lines()
    with closing(Witness(home.witness)) as witness:
        witness.append(lines[:named_before])
    home.folder.rename(tmp_path / "away")
    (tmp_path / "restored").mkdir()
    with closing(SqliteJournal(tmp_path / "restored" / STORE, NAME)) as journal:
        fill(journal, *whole_event()[:5])
        with SecondHomeWriter(home, tmp_path, heard) as writer:
            writer.queue_journal(journal)
            heard.wait(lambda report: not report.well)
            (tmp_path / "away").rename(home.folder)
            heard.wait(lambda report: report.well)
    assert [*Witness(home.witness, read_only=True).lines()] == lines[:expected]


def test_rows_are_listed_after_a_half_written_line_of_lost_rows(home: SecondHome, tmp_path: Path) -> None:
    with closing(SqliteJournal(tmp_path / STORE, NAME)) as journal:
        fill(journal, *whole_event()[:7])
        lines = journal.witness_lines()
    with closing(Witness(home.witness)) as witness:
        witness.append(lines)
    home.witness.write_bytes(home.witness.read_bytes()[:-9])
    (tmp_path / "restored").mkdir()
    with closing(SqliteJournal(tmp_path / "restored" / STORE, NAME)) as journal:
        fill(journal, *whole_event()[:5])
        with SecondHomeWriter(home, tmp_path, Heard()) as writer:
            writer.queue_journal(journal)
    assert [*Witness(home.witness, read_only=True).lines()] == lines[:5]
