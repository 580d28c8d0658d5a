"""Every entry of the audit log is recorded in the witness file, so an unchanged log is never reported as broken."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection

from broker.people.accounts import AuditLog
from broker.people.database import PeopleDatabase, SqlitePeople

ENTRIES = 5


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[SqlitePeople]:
    with closing(opened(tmp_path)) as store:
        yield store


def opened(folder: Path) -> SqlitePeople:
    return SqlitePeople(folder / "people.sqlite", folder / "people.witness")


def enter(store: PeopleDatabase, what: str) -> None:
    with store.commit():
        AuditLog(store).note(1, "anne", what, "")


def test_a_witness_line_that_failed_on_a_full_disk_is_written_with_the_next_entry(
    desk: SqlitePeople, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_handle: int, _content: bytes) -> int:
        raise OSError(28, os.strerror(28))

    enter(desk, "first")
    with monkeypatch.context() as patch:
        patch.setattr("broker.store.records.os.write", full)
        enter(desk, "second")
        enter(desk, "third")
    enter(desk, "fourth")
    enter(desk, "fifth")
    assert len(list(AuditLog(desk).checked())) == ENTRIES


def test_an_entry_is_witnessed_even_if_another_process_witnesses_the_next_one_first(
    desk: SqlitePeople, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(desk, "first")
    tell = PeopleDatabase._write_witness
    with closing(opened(tmp_path)) as command, monkeypatch.context() as patch:

        def late(store: PeopleDatabase) -> None:
            if store is desk:
                enter(command, "third")
            tell(store)

        patch.setattr(PeopleDatabase, "_write_witness", late)
        enter(desk, "second")
    enter(desk, "fourth")
    enter(desk, "fifth")
    assert len(list(AuditLog(desk).checked())) == ENTRIES


@pytest.mark.parametrize("at", ["before the commit", "by the commit"])
def test_an_uncommitted_entry_is_not_witnessed(desk: SqlitePeople, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    @contextmanager
    def refusing(connection: Connection, begin: str) -> Iterator[None]:
        connection.exec_driver_sql(begin)
        try:
            yield
        finally:
            connection.exec_driver_sql("ROLLBACK")
        raise InterruptedError

    def fail() -> None:
        with desk.commit():
            AuditLog(desk).note(1, "anne", "nothing", "")
            if at == "before the commit":
                raise InterruptedError

    enter(desk, "first")
    with monkeypatch.context() as patch:
        patch.setattr("broker.people.database.transaction", refusing)
        with pytest.raises(InterruptedError):
            fail()
    for what in ("second", "third", "fourth", "fifth"):
        enter(desk, what)
    assert len(list(AuditLog(desk).checked())) == ENTRIES
