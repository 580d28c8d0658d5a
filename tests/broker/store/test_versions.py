"""Stores of earlier versions can be opened. The folders beside this file were written by those versions."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from broker.errors import StoreBroken
from broker.people import Authentication
from broker.protocol import Call, LogMessage, Ruling
from broker.scorer import open_stored_event, verify_store
from broker.store import STORE, Recorded, message_of
from tests.broker.scorer.hall import make_hall
from tests.broker.scorer.small import event, fact, list_devices
from tests.broker.store.server import Server
from tests.broker.store.stores import Kept, Refusal, in_postgresql

HERE: Final = Path(__file__).parent
VERSION_1: Final = HERE / "version_1"
"""Three rounds of the small event, two rulings of the desk, a refusal, and accounts."""

VERSION_2: Final = HERE / "version_2"
"""The same, with devices, the event's key and witnesses, by the program of 25 November 2026 (1cd2f2f4)."""


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    """A store of version 1."""
    folder = shutil.copytree(VERSION_1 / "sqlite", tmp_path / "old")
    if request.param == "sqlite":
        return Kept(folder)
    server: Server = request.getfixturevalue("server")
    kept = in_postgresql(folder, server)
    server.ask((VERSION_1 / "postgresql.sql").read_text(encoding="utf-8"), kept.database)
    (folder / STORE).unlink()
    return kept


def written() -> list[bytes]:
    """Return what the program of that version stored."""
    with closing(sqlite3.connect(VERSION_1 / "sqlite" / STORE)) as store:
        return [body for (body,) in store.execute("SELECT body FROM journal ORDER BY height")]


def check_messages(messages: list[Recorded]) -> None:
    """Check that these messages are the stored ones. Raises AssertionError."""
    assert messages == [message_of(body) for body in written()]
    rulings = [one for one in messages if isinstance(one, Ruling)]
    assert [(one.number, one.author) for one in rulings] == [(1, "Hélène Roy"), (2, "Hélène Roy")]


def test_a_store_of_version_1_gets_links_and_loses_nothing(old: Kept) -> None:
    with old.reader() as reader:
        assert not reader.has_links
        bodies, refused = [*reader.entries()], [*reader.refused()]
        assert reader.faults() == []
    with old.journal() as journal:
        check_messages([*journal.messages()])
        assert ([*journal.entries()], [*journal.refused()]) == (bodies, refused)
        assert (journal.faults(), journal.stored_values("seen/")) == ([], {"gap/1/2": "null"})
        name = journal.store
    with old.reader() as reader:
        assert (reader.has_links, [*reader.entries()]) == (True, bodies)
    with old.journal() as journal:
        assert journal.store == name


def test_a_scorer_can_use_a_store_of_version_1(old: Kept) -> None:
    list_devices(old.folder, range(1, 5))
    with old.journal() as journal:
        hall = make_hall(old.folder, journal)
        hall.connect(up=True)
        last = max(one.seq for one in journal.messages() if isinstance(one, LogMessage) and one.table == 1)
        hall.hear(fact(1, last + 1, Call(round=3, deal=event().bookings[1, 3].deal, open=True)))
        assert (hall.scorer.feed.current.plays_in, hall.alerts()) == (12, [])
        assert hall.scorer.state.tables.times.queue() == [1]
    found = verify_store(old.folder)
    assert (found.faults, found.has_links, found.messages) == ((), True, len(written()) + 4 + 1)  # four devices


def test_a_store_of_version_2_is_intact_and_a_scorer_can_use_it(tmp_path: Path) -> None:
    folder = shutil.copytree(VERSION_2, tmp_path / "event")
    found = verify_store(folder)
    assert (found.faults, found.messages) == ((), 74)
    with Kept(folder).journal() as journal:
        hall = make_hall(folder, journal)
        hall.connect(up=True)
        last = max(one.seq for one in journal.messages() if isinstance(one, LogMessage) and one.table == 1)
        hall.hear(fact(1, last + 1, Call(round=3, deal=event().bookings[1, 3].deal, open=True)))
        assert (hall.scorer.feed.current.plays_in, len(hall.scorer.state.book.entries), hall.alerts()) == (12, 2, [])
    found = verify_store(folder)
    assert (found.faults, found.messages) == ((), 75)


def test_an_altered_row_of_a_migrated_store_is_identified(old: Kept) -> None:
    with old.journal() as journal:
        height = journal.height
    old.force("UPDATE journal SET received_at = 6 WHERE height = 5")
    with old.reader() as reader:
        assert [(fault.code, fault.height) for fault in reader.faults()] == [("row_altered", 5)]
        assert len([*reader.entries()]) == height - 1


def test_an_event_of_version_1_can_be_read_without_migration(old: Kept) -> None:
    stored = open_stored_event(old.folder)
    assert (stored.state.plays_in, len(stored.state.book.entries)) == (12, 2)
    with old.reader() as reader:
        assert not reader.has_links


def test_a_copy_of_a_store_of_version_1_is_checked_and_restored(old: Kept, tmp_path: Path) -> None:
    (tmp_path / "stick").mkdir()

    def run(*words: object) -> int:
        return CliRunner().invoke(homologue, ["store", *map(str, words)]).exit_code

    assert run("backup", old.folder, "--to", tmp_path / "stick") == 0
    assert run("check", tmp_path / "stick") == 0
    assert run("restore", tmp_path / "stick", tmp_path / "new") == 0
    with Kept(tmp_path / "new").journal() as journal:
        check_messages([*journal.messages()])


def test_migrating_one_event_of_a_database_leaves_others_unchanged(server: Server, tmp_path: Path) -> None:
    folder = shutil.copytree(VERSION_1 / "sqlite", tmp_path / "old")
    kept = in_postgresql(folder, server)
    server.ask((VERSION_1 / "postgresql.sql").read_text(encoding="utf-8"), kept.database)
    with kept.journal():
        pass
    query = "SELECT event, value FROM homologue.about WHERE key = 'version' ORDER BY event"
    assert server.ask(query, kept.database) == [("cup", "2"), ("league", "1")]
    # A scorer of version 1 may go on writing the other one.
    old_row = "INSERT INTO homologue.journal VALUES ('league', 1, 7, 1, 1, 'id-00001', '{}')"
    server.ask(old_row, kept.database)
    with pytest.raises(Refusal, match="append-only"):
        server.ask("UPDATE homologue.journal SET seq = 0", kept.database)


def test_an_interrupted_migration_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(VERSION_1 / "sqlite", tmp_path / "old")
    before = dump(folder)
    monkeypatch.setattr("broker.store.sqlite.VERSION", "2' WHERE no such thing")
    with pytest.raises(StoreBroken), Kept(folder).journal():
        pass
    assert dump(folder) == before
    monkeypatch.undo()
    with Kept(folder).journal() as journal:
        check_messages([*journal.messages()])


def dump(folder: Path) -> list[str]:
    """Return everything that is in a store's file."""
    with closing(sqlite3.connect(folder / STORE)) as opened:
        return [*opened.iterdump()]


@pytest.mark.parametrize("kept", [VERSION_1 / "sqlite", VERSION_2], ids=["version 1", "version 2"])
def test_accounts_and_audit_log_of_earlier_versions_can_be_used(kept: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(kept, tmp_path / "old")
    auth = Authentication(folder, lambda: 1_900_000_000_000)
    try:
        assert [one.name for one in auth.accounts.all()] == ["helene", "tao"]
        assert [entry.action for entry in auth.audit.checked()] == [
            "account_added",
            "account_added",
            "account_disabled",
        ]
    finally:
        auth.close()
