"""What is special about PostgreSQL: which scorer is active, what a lost server means, and passwords."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import psycopg
import pytest

from broker.errors import (
    StoreAddressRefused,
    StoreBroken,
    StoreDiffers,
    StoreError,
    StoreInUse,
    StoreLost,
    StoreUnreachable,
)
from broker.store import DatabaseAddress, connection_parameters, database_of, open_journal, stand_by, write_address
from broker.store import postgresql as postgresql_module
from broker.store.location import agreed_database
from broker.store.postgresql import PostgresJournal
from tests.broker.scorer.small import NAME, whole_log
from tests.broker.store.server import Server
from tests.broker.store.stores import Kept, fill, in_postgresql
from tests.patience import PATIENCE_S

LOG = whole_log(1)

ROOT = Path(__file__).parents[3]


def opened(kept: Kept) -> PostgresJournal:
    journal = open_journal(kept.folder, NAME)
    assert isinstance(journal, PostgresJournal)
    return journal


def backend(journal: PostgresJournal) -> int:
    return int(journal._connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())


def test_events_in_the_same_database_are_independent(postgresql: Kept) -> None:
    with postgresql.journal("cup") as cup, postgresql.journal("league") as league:
        fill(cup, *LOG[:2])
        fill(league, LOG[0])
        assert (list(cup.messages()), list(league.messages())) == (LOG[:2], LOG[:1])
        assert (cup.height, league.height, cup.store == league.store) == (2, 1, False)


def test_the_journal_cannot_be_truncated(postgresql: Kept) -> None:
    with postgresql.journal() as journal:
        fill(journal, LOG[0])
        with pytest.raises(psycopg.Error, match="append-only"):
            postgresql.alter("TRUNCATE homologue.journal")


def test_a_scorer_whose_session_was_ended_cannot_write_and_says_so(postgresql: Kept, server: Server) -> None:
    first = opened(postgresql)
    fill(first, LOG[0])
    server.ask(f"SELECT pg_terminate_backend({backend(first)}, 5000)")
    with postgresql.journal() as second:
        fill(second, LOG[1])
        for attempt in (first.check, lambda: fill(first, LOG[2])):
            with pytest.raises(StoreLost) as lost:
                attempt()
            assert lost.value.code == "store_lost"
        assert list(second.messages()) == LOG[:2]
    first.close()


def test_a_scorer_of_an_older_term_cannot_write_even_in_a_live_session(postgresql: Kept) -> None:
    with postgresql.journal() as first:
        fill(first, LOG[0])
        postgresql.alter("UPDATE about SET value = '2' WHERE key = 'term'")
        with pytest.raises(StoreLost, match="another scorer has become active"):
            fill(first, LOG[1])
        with pytest.raises(StoreLost, match="another scorer has become active"):
            first.check()
        assert list(first.messages()) == LOG[:1]


def test_a_commit_ends_before_the_next_term_begins(postgresql: Kept, server: Server) -> None:
    with postgresql.journal() as first:
        with first.commit():
            first.append(LOG[0], 7)
            hurried = "SET lock_timeout = 100; UPDATE homologue.about SET value = '2' WHERE key = 'term'"
            with pytest.raises(psycopg.errors.LockNotAvailable):
                server.ask(hurried, postgresql.database)
        assert list(first.messages()) == LOG[:1]


def test_a_frozen_scorer_loses_its_lease_and_another_takes_over(
    postgresql: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql_module, "SILENCE_S", 1)
    frozen = opened(postgresql)
    frozen.check()
    second = stand_by(postgresql.folder, NAME, threading.Event(), lambda _: None, pause_s=0.05)
    assert second is not None
    fill(second, LOG[0])
    with pytest.raises(StoreLost):
        fill(frozen, LOG[1])
    assert list(second.messages()) == LOG[:1]
    second.close()
    frozen.close()


def test_a_scorer_may_be_silent_before_its_first_pulse(postgresql: Kept) -> None:
    with postgresql.journal() as journal:
        assert isinstance(journal, PostgresJournal)
        ask = "SELECT current_setting('idle_session_timeout')"
        before = journal._connection.exec_driver_sql(ask).fetchone()
        journal.check()
        assert (before, journal._connection.exec_driver_sql(ask).fetchone()) == (("0",), ("15s",))


def test_the_pulse_is_sent_once_a_second(postgresql: Kept) -> None:
    now = [100.0]
    with postgresql.journal() as journal:
        assert isinstance(journal, PostgresJournal)
        journal._lease._clock = lambda: now[0]
        journal.check()
        postgresql.alter("UPDATE about SET value = '9' WHERE key = 'term'")
        now[0] = 100.9
        journal.check()
        now[0] = 101.0
        with pytest.raises(StoreLost):
            journal.check()


def test_a_standby_waits_until_the_active_scorer_is_gone(postgresql: Kept) -> None:
    said: list[str] = []
    waits = threading.Event()

    def tell(why: StoreError) -> None:
        said.append(why.code)
        waits.set()

    took: list[object] = []
    with postgresql.journal() as active:
        fill(active, LOG[0])
        thread = threading.Thread(
            target=lambda: took.append(stand_by(postgresql.folder, NAME, threading.Event(), tell, pause_s=0.02))
        )
        thread.start()
        assert waits.wait(PATIENCE_S)
        fill(active, LOG[1])
    thread.join(PATIENCE_S)
    (journal,) = took
    assert isinstance(journal, PostgresJournal)
    assert (list(journal.messages()), said) == (LOG[:2], ["store_in_use"])
    journal.close()


def test_a_scorer_that_closes_releases_the_store_before_its_session_ends(
    postgresql: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy server may take a while to notice that a session has ended."""
    with postgresql.journal() as journal:
        with monkeypatch.context() as later:
            later.setattr(journal._connection, "close", lambda: None)
            later.setattr(journal._engine, "dispose", lambda: None)
            journal.close()
        with postgresql.journal() as following:
            fill(following, *LOG[:1])


def test_a_stopped_standby_has_taken_nothing(postgresql: Kept) -> None:
    stop = threading.Event()
    with postgresql.journal():
        assert stand_by(postgresql.folder, NAME, stop, lambda _: stop.set()) is None


@pytest.mark.slow
def test_a_killed_scorer_releases_the_store_at_once(postgresql: Kept) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.broker.store.victim", postgresql.folder],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdout is not None
        try:
            assert [child.stdout.readline() for _ in range(4)] == ["committed\n"] * 3 + ["open\n"]
        finally:
            child.kill()
    journal = stand_by(postgresql.folder, NAME, threading.Event(), lambda _: None, pause_s=0.02)
    assert journal is not None
    assert list(journal.messages()) == LOG[:3]
    journal.close()


@pytest.fixture
def own_server() -> Server:
    return Server()


@pytest.mark.slow
def test_committed_messages_survive_a_power_cut_of_the_server(own_server: Server, tmp_path: Path) -> None:
    kept = in_postgresql(tmp_path, own_server)
    try:
        journal = opened(kept)
        fill(journal, *LOG[:3])
        os.kill(own_server._process.pid, signal.SIGQUIT)
        own_server.stop()
        with pytest.raises(StoreLost):
            fill(journal, LOG[3])
        with pytest.raises(StoreUnreachable):
            open_journal(kept.folder, NAME)
        own_server.start()
        with kept.journal() as again:
            assert list(again.messages()) == LOG[:3]
            fill(again, LOG[3])
        own_server.stop()
        own_server.start("-c", "fsync=off")
        with pytest.raises(StoreBroken, match="fsync = off"), kept.journal():
            pass
    finally:
        own_server.close()


def test_every_commit_waits_for_the_disk_whatever_the_default(postgresql: Kept, server: Server) -> None:
    server.ask(f"ALTER DATABASE {postgresql.database} SET synchronous_commit = off")
    with postgresql.journal() as journal:
        assert isinstance(journal, PostgresJournal)
        assert journal._connection.exec_driver_sql("SHOW synchronous_commit").fetchone() == ("on",)


def test_a_user_without_the_right_to_create_tables_can_keep_the_journal(postgresql: Kept, server: Server) -> None:
    with postgresql.journal("other"):
        pass
    server.ask("DROP ROLE IF EXISTS modest")
    server.ask(f"CREATE ROLE modest LOGIN PASSWORD '{server.quoted}'")
    server.ask("GRANT USAGE ON SCHEMA homologue TO modest", postgresql.database)
    server.ask("GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA homologue TO modest", postgresql.database)
    server.ask("GRANT UPDATE ON homologue.about TO modest", postgresql.database)
    address = server.address(postgresql.database).replace("homologue@", "modest@")
    write_address(postgresql.folder, DatabaseAddress(address, "store-password"))
    with postgresql.journal() as journal:
        fill(journal, *LOG[:2])
        assert list(journal.messages()) == LOG[:2]


def test_a_wrong_password_is_refused_without_revealing_it(postgresql: Kept) -> None:
    (postgresql.folder / "store-password").write_text("wrong-secret")
    with pytest.raises(StoreUnreachable) as refused, postgresql.journal():
        pass
    assert "password authentication failed" in str(refused.value)
    assert "wrong-secret" not in repr(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:s3cret@host/db",
        "postgresql://me@host/db?password=s3cret",
        "postgresql://me:s3 cret@host/db",
        "postgresql://me:s3cret@host:port:port/db",
        "mysql://me:s3cret@host/db",
        "",
    ],
)
def test_an_address_with_a_password_is_refused_without_repeating_it(tmp_path: Path, address: str) -> None:
    with pytest.raises(StoreAddressRefused) as refused:
        connection_parameters(DatabaseAddress(address), tmp_path)
    assert refused.value.code == "store_address_refused"
    assert "cret" not in str(refused.value)


def test_a_password_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("x")
    (tmp_path / "password").chmod(0o640)
    with pytest.raises(StoreAddressRefused, match="other users can read"):
        connection_parameters(DatabaseAddress("postgresql://host/db", "password"), tmp_path)


@pytest.mark.parametrize("text", ["address = 1", "addres = 'x'", "=", "", "address = 'postgresql://x/y'\nx = 1"])
def test_an_address_other_than_the_stored_one_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "store.toml").write_text(text)
    with pytest.raises(StoreAddressRefused):
        database_of(tmp_path)


def test_the_journal_of_an_event_is_in_one_place(tmp_path: Path) -> None:
    here, there = DatabaseAddress("postgresql://here/db"), DatabaseAddress("postgresql://there/db", "password")
    assert agreed_database(tmp_path, here) == here
    write_address(tmp_path, here)
    assert agreed_database(tmp_path, here) == here
    with pytest.raises(StoreDiffers) as differs:
        agreed_database(tmp_path, there)
    assert (differs.value.code, database_of(tmp_path)) == ("store_differs", here)


def test_a_journal_in_the_folder_is_not_abandoned_for_a_database(tmp_path: Path) -> None:
    (tmp_path / "scorer.sqlite").touch()
    with pytest.raises(StoreDiffers, match="homologue store move"):
        agreed_database(tmp_path, DatabaseAddress("postgresql://here/db"))
    assert database_of(tmp_path) is None


def test_of_two_scorers_that_start_at_once_one_is_refused(postgresql: Kept) -> None:
    won: list[PostgresJournal] = []
    refused: list[StoreInUse] = []

    def start() -> None:
        try:
            won.append(opened(postgresql))
        except StoreInUse as in_use:
            refused.append(in_use)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert (len(won), len(refused)) == (1, 3)
    won[0].close()


def test_a_test_server_can_be_made_where_the_temporary_folder_is_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    own = Server()
    try:
        assert own.ask("SELECT 1") == [(1,)]
    finally:
        own.close()
