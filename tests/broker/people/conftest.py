"""A door whose clock is set by hand: each test that asks for one runs with SQLite and with a real PostgreSQL."""

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
"""A database is shared by the events of all tests: each has a name of its own."""


class Hand:
    """A clock that stands until it is moved."""

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
    """Say in an event's folder that its store is in a database; return the event's name."""
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
    """A door that knows one head arbiter."""
    auth.accounts.add("anne", "Anne Lefèvre", "head_arbiter", PASSWORD, BY)
    return auth


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash with little memory: the same library, and the tests are not about what it costs."""
    quick_hashes(monkeypatch)


def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let passwords be hashed in no time."""
    monkeypatch.setattr(accounts, "_HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    accounts._decoy_hash.cache_clear()
