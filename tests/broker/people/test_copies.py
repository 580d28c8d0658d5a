"""Copies of an event have its people, wherever those are kept; on the way back who was closed out stays out."""

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


def test_accounts_orders_and_the_log_are_in_a_copy_without_what_was_not_yet_kept(tmp_path: Path, clock: Hand) -> None:
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
    """Restore the first copy, as somebody does who wants an older state of the results."""
    first = min(stick.iterdir())
    told = CliRunner().invoke(homologue, ["store", "restore", str(first), str(folder)])
    assert told.exit_code == 0, told.output
    return Authentication(folder, Hand())


@pytest.fixture(params=["sqlite", "postgresql"])
def event(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the folder of an event whose people are in it, or in a database."""
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


def test_who_was_closed_out_since_an_older_copy_stays_out_and_everybody_logs_in_again(
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


def test_a_later_copy_of_other_people_or_a_forged_one_lends_none(tmp_path: Path, clock: Hand) -> None:
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


def test_a_copy_is_asked_for_when_somebody_is_closed_out_and_not_when_somebody_comes_in(auth: Authentication) -> None:
    auth.accounts.add("anne", "Anne", "head_arbiter", PASSWORD, BY)
    auth.accounts.add("tao", "Tao", "display", PASSWORD, BY)
    closings, said = ClosedAccounts(auth.store), []
    auth.log_in("tao", PASSWORD, agent="", address="")
    said.append(closings.news())
    auth.accounts.disable("tao", BY)
    said += [closings.news(), closings.news()]
    assert said == [False, True, False]
