"""Copies of an event contain its accounts, and whoever was locked out stays locked out after a restore."""

from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from broker.people import Authentication
from broker.people.copies import ClosedAccounts
from broker.store import STORE, open_journal
from broker.store.backup import choose_copy, make_copy, restore_copy
from broker.web.tables.orders import OrderGiven, Orders
from tests.broker.people.conftest import BY, NOON, PASSWORD, Hand, in_database
from tests.broker.scorer.folders import event_folder, until_round
from tests.broker.scorer.small import NAME

PAUSE = OrderGiven((1,), "pause", 0, "fire alarm", "Anne")


def test_a_copy_contains_accounts_orders_and_the_log_without_uncommitted_changes(tmp_path: Path, clock: Hand) -> None:
    event, stick = event_folder(tmp_path / "event", until_round(3)), tmp_path / "stick"
    stick.mkdir()
    with closing(Authentication(event, clock)) as auth:
        auth.accounts.add("anne", "Anne Lefèvre", "head_arbiter", PASSWORD, BY)
        kept = Orders(auth.store).keep("order-1", PAUSE, "anne", NOON)
        with auth.store.commit():
            Orders(auth.store).keep("order-2", PAUSE, "anne", NOON)
            make_copy(event, NAME, stick, NOON, keep=3)
        accounts, log = auth.accounts.all(), auth.audit.newest(10)
    source, manifest, _ = choose_copy(stick, NAME)
    restore_copy(source, manifest, tmp_path / "restored")
    with closing(Authentication(tmp_path / "restored", clock)) as restored:
        assert Orders(restored.store).newest(10) == [kept]
        assert (restored.accounts.all(), restored.audit.newest(10)) == (accounts, log)
        assert restored.accounts.authenticate("anne", PASSWORD) == accounts[0]


def restored_from(stick: Path, folder: Path) -> Authentication:
    """Restore the first copy, as somebody does who wants older results."""
    first = min(stick.iterdir())
    told = CliRunner().invoke(homologue, ["store", "restore", str(first), str(folder)])
    assert told.exit_code == 0, told.output
    return Authentication(folder, Hand())


@pytest.fixture(params=["sqlite", "postgresql"])
def event(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the folder of an event with its accounts in a file or in a database."""
    folder = event_folder(tmp_path / "event", until_round(1))
    if request.param == "postgresql":
        plan = (folder / "event.toml").read_text()
        (folder / STORE).unlink()
        in_database(folder, request.getfixturevalue("address"), NAME)
        (folder / "event.toml").write_text(plan)
        open_journal(folder, NAME).close()
    return folder


def copied(event: Path, stick: Path) -> None:
    told = CliRunner().invoke(homologue, ["store", "backup", str(event), "--to", str(stick)])
    assert told.exit_code == 0, told.output


def test_restoring_an_older_copy_keeps_disabled_accounts_disabled_and_ends_all_sessions(
    event: Path, tmp_path: Path, clock: Hand
) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    with closing(Authentication(event, clock)) as auth:
        for name in ("anne", "tao"):
            account = auth.accounts.add(name, name.title(), "head_arbiter", PASSWORD, BY)
            auth.admit(account, agent="Firefox", address="10.0.0.1")
        copied(event, stick)
        auth.accounts.disable("tao", BY)
        copied(event, stick)
    with closing(restored_from(stick, tmp_path / "restored")) as restored:
        assert [(one.name, one.disabled, restored.sessions.of(one.name)) for one in restored.accounts.all()] == [
            ("anne", False, []),
            ("tao", True, []),
        ]
        assert [one.action for one in restored.audit.checked()][-2:] == ["account_disabled", "people_restored"]


def test_accounts_of_an_unrelated_newer_copy_are_not_restored(tmp_path: Path, clock: Hand) -> None:
    event, stick = event_folder(tmp_path / "event", until_round(1)), tmp_path / "stick"
    stick.mkdir()
    with closing(Authentication(event, clock)) as auth:
        auth.accounts.add("anne", "Anne", "head_arbiter", PASSWORD, BY)
    copied(event, stick)
    for path in event.glob("people.*"):
        path.unlink()
    with closing(Authentication(event, clock)) as auth:
        auth.accounts.add("mallory", "Mallory", "head_arbiter", PASSWORD, BY)
        auth.audit.note(NOON, "mallory", "tried")
    copied(event, stick)
    with closing(restored_from(stick, tmp_path / "restored")) as restored:
        assert [one.name for one in restored.accounts.all()] == ["anne"]


def test_disabling_an_account_counts_as_a_lockout_and_logging_in_does_not(auth: Authentication) -> None:
    auth.accounts.add("anne", "Anne", "head_arbiter", PASSWORD, BY)
    auth.accounts.add("tao", "Tao", "display", PASSWORD, BY)
    closings, said = ClosedAccounts(auth.store), []
    auth.log_in("tao", PASSWORD, agent="", address="")
    said.append(closings.news())
    auth.accounts.disable("tao", BY)
    said += [closings.news(), closings.news()]
    assert said == [False, True, False]
