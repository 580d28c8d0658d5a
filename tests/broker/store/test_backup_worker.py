"""Copies that are made while the scorer works, and the reports about them."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from broker.store import backup_worker as worker_module
from broker.store.backup import check_copy, choose_copy
from broker.store.backup_worker import LATE, REMIND_MS, BackupReport, BackupWatch, BackupWorker
from tests.broker.scorer.small import NAME
from tests.patience import PATIENCE_S


def test_a_failure_is_reported_once_and_again_from_time_to_time_until_it_is_over() -> None:
    watch = BackupWatch(1000, 0)
    full, gone = BackupReport(well=False, text="full"), BackupReport(well=False, text="gone")
    assert watch.made(1) is None
    assert [watch.failed("full", 2), watch.failed("full", 3), watch.failed("gone", 4)] == [full, None, gone]
    assert [watch.failed("gone", 3 + REMIND_MS), watch.failed("gone", 4 + REMIND_MS)] == [None, gone]
    assert [watch.made(5 + REMIND_MS), watch.made(6 + REMIND_MS)] == [
        BackupReport(well=True, text="copies of the event are working again"),
        None,
    ]


def test_a_copy_that_hangs_is_reported() -> None:
    watch = BackupWatch(1000, 0)
    assert [watch.check_overdue(3000), watch.check_overdue(3002)] == [None, watch._reported]
    assert watch._reported is not None
    assert "does not respond" in watch._reported.text


NOW = 1_800_000_000_000


YEAR_MS = 365 * 86_400_000


class Heard:
    """The reports for arbiters."""

    def __init__(self) -> None:
        self.reports: list[BackupReport] = []
        self.news = threading.Condition()

    def __call__(self, report: BackupReport) -> None:
        with self.news:
            self.reports.append(report)
            self.news.notify_all()

    def first(self, wanted: Callable[[BackupReport], bool]) -> BackupReport:
        """Wait for a report of a kind, and return it."""
        with self.news:
            assert self.news.wait_for(lambda: any(map(wanted, self.reports)), PATIENCE_S)
            return next(filter(wanted, self.reports))


def test_a_stick_pulled_out_is_reported_and_copies_continue_when_it_is_back(
    event: Path, stick: Path, tmp_path: Path
) -> None:
    heard = Heard()
    with BackupWorker(event, NAME, stick, pause_s=0.01, keep=2, clock=lambda: NOW, on_report=heard):
        stick.rename(tmp_path / "in a pocket")
        gone = heard.first(lambda report: "is the stick plugged in" in report.text)  # a copy under way ends otherwise
        assert not gone.well
        (event / "standings.csv").write_text("new")
        (tmp_path / "in a pocket").rename(stick)
        heard.first(lambda report: report.well)
    (event / "standings.csv").write_text("x")
    assert check_copy(choose_copy(stick, NAME)[0]).files["standings.csv"]


def test_no_copy_is_made_into_the_empty_mount_point_of_a_missing_stick(event: Path, stick: Path) -> None:
    heard = Heard()
    worker = BackupWorker(event, NAME, stick, pause_s=1, keep=2, clock=lambda: NOW, on_report=heard)
    worker._was_elsewhere = True  # it was on another disk the last time
    worker.make_one()
    assert [report.well for report in heard.reports] == [False]
    assert "no disk is mounted there" in heard.reports[0].text
    assert list(stick.iterdir()) == []


def test_a_stick_that_was_never_plugged_in_is_noticed_by_its_mount_point(
    event: Path, stick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "MOUNTS", (stick.parent,))
    heard = Heard()
    BackupWorker(event, NAME, stick, pause_s=1, keep=2, clock=lambda: NOW, on_report=heard).make_one()
    assert [(report.well, "no disk is mounted" in report.text) for report in heard.reports] == [(False, True)]
    assert list(stick.iterdir()) == []


def test_an_urgent_copy_is_made_early(event: Path, stick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "CHECK_S", 0.01)
    made, asked = threading.Event(), iter([False, True])

    def urgent() -> bool:
        (event / "standings.csv").write_text("an account was closed")
        if len(list(stick.iterdir())) == 2:
            made.set()
        return next(asked, False)

    with BackupWorker(event, NAME, stick, pause_s=1000, keep=5, clock=lambda: NOW, on_report=Heard(), urgent=urgent):
        assert made.wait(PATIENCE_S)


def test_a_last_copy_is_made_when_the_scorer_ends(event: Path, stick: Path) -> None:
    with BackupWorker(event, NAME, stick, pause_s=1000, keep=2, clock=lambda: NOW, on_report=Heard()):
        (event / "standings.csv").write_text("the last word")
    assert (choose_copy(stick, NAME)[0] / "standings.csv").read_text() == "the last word"


@pytest.mark.parametrize("years", [10, -10])
def test_a_jumping_wall_clock_neither_causes_nor_hides_an_overdue_copy(event: Path, stick: Path, years: int) -> None:
    wall, passed, heard = [NOW], [100.0], Heard()
    worker = BackupWorker(
        event, NAME, stick, pause_s=60, keep=2, clock=lambda: wall[0], on_report=heard, seconds=lambda: passed[0]
    )
    worker.make_one()
    wall[0] += years * YEAR_MS
    passed[0] += 60
    worker.look()
    assert heard.reports == []
    passed[0] += LATE * 60
    worker.look()
    assert ["does not respond" in report.text for report in heard.reports] == [True]
