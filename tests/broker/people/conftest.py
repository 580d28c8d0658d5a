"""Fixtures of accounts with a manual clock. Tests that use `auth` run with SQLite and with a real PostgreSQL."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from broker.people import Actor, Authentication, accounts
from broker.store import DatabaseAddress, write_address
from tests.broker.store.server import PASSWORD as DATABASE_PASSWORD
from tests.broker.store.server import Server

NOON = 1_800_000_000_000
PASSWORD = "four winds and a dragon"
BY = Actor("test")


EVENTS = itertools.count(1)
"""Numbers for event names, since the events of all tests share a database."""


class Hand:
    """A clock that only moves when it is set."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture(scope="session")
def address(server: Server) -> str:
    return server.address(server.database())


def in_database(folder: Path, address: str, event: str = "") -> str:
    """Configure an event's folder to keep its store in a database; return the event's name."""
    folder.mkdir(exist_ok=True)
    event = event or f"cup-{next(EVENTS)}"
    (folder / "event.toml").write_text(f'name = "{event}"')
    password = folder / "password"
    password.touch(mode=0o600)
    password.write_text(DATABASE_PASSWORD)
    write_address(folder, DatabaseAddress(address, password.name))
    return event


@pytest.fixture(params=["sqlite", "postgresql"])
def auth(request: pytest.FixtureRequest, tmp_path: Path, clock: Hand) -> Iterator[Authentication]:
    if request.param == "postgresql":
        in_database(tmp_path, request.getfixturevalue("address"))
    opened = Authentication(tmp_path, clock)
    yield opened
    opened.close()


@pytest.fixture
def anne(auth: Authentication) -> Authentication:
    """Return accounts with one head arbiter."""
    auth.accounts.add("anne", "Anne Lefèvre", "head_arbiter", PASSWORD, BY)
    return auth


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash with little memory and time, since most tests are not about the cost of hashing."""
    quick_hashes(monkeypatch)


def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make password hashing fast."""
    monkeypatch.setattr(accounts, "_HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    accounts._decoy_hash.cache_clear()
