"""Sensitive actions raise an alert at the desk, even after a restart or if a command performed them."""

import queue
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from broker.cli.people import note_faces_shown
from broker.cli.scorer_process import _follow_audit
from broker.i18n import languages
from broker.people import Actor, Authentication
from broker.scorer import AlertView
from broker.scorer.alerts import Concern
from broker.store import AnchorPlace, find_anchor
from broker.web.alerts import TOLD_ACTIONS, AuditWatch, concern_of_entry
from broker.web.i18n import translators
from broker.web.render import environment
from tests.broker.people.conftest import PASSWORD, Hand, quick_hashes
from tests.broker.scorer.hall import make_hall, open_journal
from tests.broker.scorer.small import NAME
from tests.patience import PATIENCE_S


@pytest.fixture
def auth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Authentication]:
    quick_hashes(monkeypatch)
    opened = Authentication(tmp_path, Hand())
    yield opened
    opened.close()


def do_all(auth: Authentication, folder: Path) -> None:
    """Perform every action that raises an alert, and some that do not."""
    by = Actor("mallory", "10.0.0.6")
    auth.accounts.add("crony", "A crony", "table_arbiter", PASSWORD, by)
    auth.accounts.add("anne", "Anne", "head_arbiter", PASSWORD, by)
    auth.accounts.disable("crony", by)
    auth.accounts.enable("crony", by)
    auth.accounts.set_password("crony", PASSWORD, by)
    auth.tokens.add("feed", "arbiter", by)
    auth.webhooks.add("club", "https://club.example/results", by)
    for action, about, detail in (
        ("arbiters_pin_set", "", ""),
        ("pairing_opened", "1,2", ""),
        ("pairing_taken", "3", "laptop"),
        ("device_accepted", "4", "d" * 32),
        ("device_listed", "3", "e" * 32),
        ("device_revoked", "4", "d" * 32),
        ("people_restored", "cup-20261123-101500", ""),
        ("event_closed", "", "4"),
    ):
        auth.audit.note(auth.clock(), "mallory", action, about, detail)
    note_faces_shown(folder, "deal 7")


def test_each_sensitive_action_raises_one_alert(auth: Authentication, tmp_path: Path) -> None:
    told: list[Concern] = []
    watch = AuditWatch(auth.audit, told.append)
    do_all(auth, tmp_path)
    watch.look()
    watch.look()
    assert [one.code for one in told].count("account_added") == 2
    assert {one.code for one in told} == TOLD_ACTIONS
    assert {one.code: one.table for one in told if one.table} == {
        "pairing_taken": 3,
        "device_accepted": 4,
        "device_listed": 3,
        "device_revoked": 4,
    }


def test_an_anchor_covers_all_audit_entries_of_its_time(auth: Authentication, tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal, ExitStack() as running:
        scorer = make_hall(tmp_path, journal).scorer
        do_all(auth, tmp_path)
        _follow_audit(running, auth, scorer)
        digests = [entry.digest for entry in auth.audit.entries()]
        place = find_anchor(scorer.anchor(), NAME, journal.linked_rows(), digests)
        assert place == AnchorPlace(journal.height, len(digests))


def test_an_account_added_by_a_command_raises_an_alert(auth: Authentication, tmp_path: Path) -> None:
    watch = AuditWatch(auth.audit, lambda _: None)
    assert watch.past() == []
    asked = ["add", str(tmp_path), "crony", "--full", "A crony", "--role", "head_arbiter", "--password-stdin"]
    assert CliRunner().invoke(homologue, ["event", "people", *asked], input=f"{PASSWORD}\n").exit_code == 0
    (concern,) = [one for entry in auth.audit.newest(1) if (one := concern_of_entry(entry))]
    assert (concern.code, concern.values["who"], concern.values["about"]) == ("account_added", "(command)", "crony")


def test_alerts_are_shown_and_recalled_after_a_restart(auth: Authentication, tmp_path: Path) -> None:
    (tmp_path / "event").mkdir()
    with open_journal(tmp_path / "event") as journal:
        hall = make_hall(tmp_path / "event", journal)
        watch = AuditWatch(auth.audit, hall.scorer.report)
        do_all(auth, tmp_path)
        watch.look()
        hall.scorer.step(timeout=0)
        shown = {alert.code for alert in hall.scorer.feed.current.alerts}
    with open_journal(tmp_path / "event") as journal:
        again = make_hall(tmp_path / "event", journal).scorer
        again.recall(AuditWatch(auth.audit, again.report).past())
        recalled = {alert.code for alert in again.feed.current.alerts}
    assert (shown, recalled) == (set(TOLD_ACTIONS), set(TOLD_ACTIONS))


def test_new_audit_entries_are_reported_while_it_runs(auth: Authentication) -> None:
    told = queue.SimpleQueue[Concern]()
    with AuditWatch(auth.audit, told.put, pause_s=0.001):
        auth.audit.note(auth.clock(), "mallory", "arbiters_pin_set")
        assert told.get(timeout=PATIENCE_S).code == "arbiters_pin_set"


def test_each_alert_is_translated(auth: Authentication, tmp_path: Path) -> None:
    do_all(auth, tmp_path)
    concerns = [one for _, one in AuditWatch(auth.audit, lambda _: None).past()]
    template = environment().from_string("{{ alert|alert_text }}")
    for language in languages():
        for one in concerns:
            alert = AlertView(0, one.code, one.table, one.text, dict(one.values), one.about)
            said = template.render(_=translators()[language], alert=alert)
            assert str((one.values["about"] or one.values["detail"]) if one.table is None else one.table) in said
            assert one.code not in said


def test_no_audit_log_is_created_in_a_folder_without_accounts(tmp_path: Path) -> None:
    note_faces_shown(tmp_path, "deal 7")
    assert list(tmp_path.iterdir()) == []
