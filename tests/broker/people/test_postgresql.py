"""Accounts in PostgreSQL are shared by two machines, and a folder's own accounts are imported."""

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from broker.files import PEOPLE_FILE
from broker.people import Authentication, PeopleStoreBroken
from broker.people.copies import MOVED, UNUSED
from broker.people.database import all_rows
from broker.read_ahead import STORE_ADDRESS_FILE
from broker.store import DatabaseAddress, write_address
from broker.web.paper.keying import Keying, Keyings
from broker.web.tables.orders import OrderGiven, Orders
from tests.broker.people.conftest import BY, NOON, PASSWORD, Hand, in_database
from tests.broker.store.server import OWNER, Server
from tests.patience import PATIENCE_S

PAUSE = OrderGiven((1,), "pause", 0, "fire alarm", "Anne")


@pytest.fixture
def two(tmp_path: Path, clock: Hand, address: str) -> Iterator[tuple[Authentication, Authentication]]:
    """Yield the accounts as the active scorer and its standby open them."""
    event = in_database(tmp_path / "a", address)
    in_database(tmp_path / "b", address, event)
    with (
        closing(Authentication(tmp_path / "a", clock)) as active,
        closing(Authentication(tmp_path / "b", clock)) as standby,
    ):
        yield active, standby


def test_accounts_and_sessions_are_shared_by_both_machines(two: tuple[Authentication, Authentication]) -> None:
    active, standby = two
    account = active.accounts.add("anne", "Anne Lefèvre", "head_arbiter", PASSWORD, BY)
    active.accounts.add("tao", "Tao Lin", "table_arbiter", PASSWORD, BY)
    token = active.log_in("tao", PASSWORD, agent="Firefox", address="10.0.0.1")
    assert standby.accounts.get("anne") == account
    assert standby.known(token, agent="Firefox", address="10.0.0.2") is not None
    standby.accounts.disable("tao", BY)
    assert (active.known(token, agent="Firefox", address="10.0.0.1"), active.accounts.get("tao").disabled) == (
        None,
        True,
    )
    assert list(active.audit.checked()) == list(standby.audit.checked())


def test_two_machines_writing_at_once_keep_the_log_intact(two: tuple[Authentication, Authentication]) -> None:
    def write_ten(auth: Authentication) -> None:
        for number in range(10):
            auth.audit.note(NOON, "anne", "tried", str(number))

    threads = [threading.Thread(target=write_ten, args=(auth,)) for auth in two]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert len(list(two[0].audit.checked())) == 20


def asked(auth: Authentication, what: str) -> str:
    """Return the value of an SQL expression."""
    with auth.store.commit() as sql:
        return str(sql.exec_driver_sql(f"SELECT {what}").scalar())


def end_session(auth: Authentication, server: Server) -> None:
    server.ask(f"SELECT pg_terminate_backend({asked(auth, 'pg_backend_pid()')}, 5000)")


def test_a_lost_connection_is_reopened_and_an_unfinished_commit_is_rolled_back(
    two: tuple[Authentication, Authentication], server: Server
) -> None:
    auth, other = two
    auth.accounts.add("anne", "Anne", "head_arbiter", PASSWORD, BY)
    end_session(auth, server)
    assert [one.name for one in auth.accounts.all()] == ["anne"]
    end_session(auth, server)
    auth.audit.note(NOON, "anne", "tried")

    def interrupted() -> None:
        with auth.store.commit():
            auth.audit.note(NOON, "anne", "half")
            end_session(auth, server)
            auth.accounts.set_password("anne", PASSWORD, BY)  # writes as if the connection were not lost

    with pytest.raises(PeopleStoreBroken) as lost:
        interrupted()
    assert lost.value.code == "people_store_broken"
    assert [one.action for one in other.audit.checked()] == ["account_added", "tried"]
    assert [one.action for one in auth.audit.checked()] == ["account_added", "tried"]


def test_closed_accounts_stay_closed(two: tuple[Authentication, Authentication]) -> None:
    two[0].close()
    with pytest.raises(PeopleStoreBroken):
        two[0].accounts.all()


def test_events_in_one_database_do_not_share_accounts(
    two: tuple[Authentication, Authentication], tmp_path: Path, address: str, clock: Hand
) -> None:
    two[0].accounts.add("anne", "Anne", "head_arbiter", PASSWORD, BY)
    in_database(tmp_path / "c", address)
    with closing(Authentication(tmp_path / "c", clock)) as other:
        assert (other.accounts.any(), list(other.audit.entries())) == (False, [])
        other.accounts.add("anne", "Another Anne", "display", PASSWORD, BY)
    assert two[0].accounts.get("anne").full == "Anne"


def folder_with_people(folder: Path, clock: Hand) -> dict[str, list[tuple[object, ...]]]:
    """Create a folder's own accounts with rows in all tables; return the rows."""
    folder.mkdir()
    with closing(Authentication(folder, clock)) as auth:
        account = auth.accounts.add("anne", "Anne Lefèvre", "head_arbiter", PASSWORD, BY)
        auth.admit(account, agent="Firefox", address="10.0.0.1")
        Orders(auth.store).keep("order-1", PAUSE, "anne", NOON)
        Keyings(auth.store).keep(
            Keying(number=0, at=NOON, who="anne", whose="anne", round=1, table=2, after="", body=b"\0x")
        )
        with auth.store.commit() as sql:
            return all_rows(sql)


def rows_of(auth: Authentication) -> dict[str, list[tuple[object, ...]]]:
    with auth.store.commit() as sql:
        return all_rows(sql)


def test_a_folders_accounts_are_imported_into_the_database_once(tmp_path: Path, address: str, clock: Hand) -> None:
    had = folder_with_people(tmp_path / "a", clock)
    own = (tmp_path / "a" / PEOPLE_FILE).read_bytes()
    in_database(tmp_path / "a", address)
    with closing(Authentication(tmp_path / "a", clock)) as auth:
        assert rows_of(auth) == had
    assert [(tmp_path / "a" / f"{PEOPLE_FILE}{end}").exists() for end in ("", MOVED, "-wal")] == [False, True, False]
    (tmp_path / "a" / PEOPLE_FILE).write_bytes(own)  # as after a power cut between commit and renaming
    with closing(Authentication(tmp_path / "a", clock)) as auth:
        assert rows_of(auth) == had
    assert (tmp_path / "a" / f"{PEOPLE_FILE}{MOVED}-1").exists()


def test_a_folders_accounts_are_put_aside_if_the_database_has_others(tmp_path: Path, address: str, clock: Hand) -> None:
    event = in_database(tmp_path / "a", address)
    with closing(Authentication(tmp_path / "a", clock)) as first:
        first.accounts.add("tao", "Tao Lin", "head_arbiter", PASSWORD, BY)
    folder_with_people(tmp_path / "b", clock)
    in_database(tmp_path / "b", address, event)
    with closing(Authentication(tmp_path / "b", clock)) as auth:
        assert [one.name for one in auth.accounts.all()] == ["tao"]
        assert [one.action for one in auth.audit.checked()] == ["account_added", "people_put_aside"]
    assert (tmp_path / "b" / f"{PEOPLE_FILE}{UNUSED}").exists()


def test_a_database_user_with_minimal_rights_works_and_cannot_forge_the_log(
    two: tuple[Authentication, Authentication], tmp_path: Path, address: str, server: Server, clock: Hand
) -> None:
    database = asked(two[0], "current_database()")
    server.ask("DROP ROLE IF EXISTS usher")
    server.ask(f"CREATE ROLE usher LOGIN PASSWORD '{server.quoted}'")
    for grant in (
        "USAGE ON SCHEMA homologue_people",
        "SELECT ON ALL TABLES IN SCHEMA homologue_people",
        *(f"INSERT ON homologue_people.{table}" for table in ("accounts", "sessions", "audit", "orders", "keyings")),
        "UPDATE ON homologue_people.accounts, homologue_people.sessions",
        "DELETE ON homologue_people.sessions",
    ):
        server.ask(f"GRANT {grant} TO usher", database)
    write_address(tmp_path / "a", DatabaseAddress(address.replace(f"{OWNER}@", "usher@"), "password"))
    with closing(Authentication(tmp_path / "a", clock)) as auth:
        account = auth.accounts.add("anne", "Anne", "head_arbiter", PASSWORD, BY)
        auth.admit(account, agent="", address="")
        auth.log_out(auth.sessions.of("anne")[0], "")
        for statement in ("UPDATE audit SET who = 'x'", "DELETE FROM all_audit", "DELETE FROM accounts"):
            with pytest.raises(PeopleStoreBroken, match="permission denied"), auth.store.commit() as sql:
                sql.exec_driver_sql(statement)


def test_a_database_user_who_may_not_create_tables_gets_an_explanation(
    tmp_path: Path, server: Server, clock: Hand
) -> None:
    server.ask("DROP ROLE IF EXISTS stranger")
    server.ask(f"CREATE ROLE stranger LOGIN PASSWORD '{server.quoted}'")
    in_database(tmp_path / "a", server.address("postgres").replace(f"{OWNER}@", "stranger@"))
    with pytest.raises(PeopleStoreBroken, match="another database user"):
        Authentication(tmp_path / "a", clock)


def test_tables_of_a_newer_version_are_refused(
    two: tuple[Authentication, Authentication], tmp_path: Path, server: Server, clock: Hand
) -> None:
    database, change = asked(two[0], "current_database()"), "UPDATE homologue_people.about SET version = version"
    server.ask(f"{change} + 99", database)
    try:
        with pytest.raises(PeopleStoreBroken, match="of version 1"):
            Authentication(tmp_path / "a", clock)
    finally:
        server.ask(f"{change} - 99", database)


def test_the_log_cannot_be_truncated(two: tuple[Authentication, Authentication], server: Server) -> None:
    two[0].audit.note(NOON, "anne", "tried")
    with pytest.raises(psycopg.Error, match="append-only"):
        server.ask("TRUNCATE homologue_people.all_audit", asked(two[0], "current_database()"))


def test_an_address_that_is_none_is_a_refusal_of_people(tmp_path: Path) -> None:
    (tmp_path / STORE_ADDRESS_FILE).write_text("address = 'mysql://x'")
    with pytest.raises(PeopleStoreBroken):
        Authentication(tmp_path)
