"""A door whose clock is set by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from broker.people import passwords
from broker.people.accounts import By
from broker.people.door import Door

NOON = 1_800_000_000_000
PASSWORD = "four winds and a dragon"
BY = By("test")


class Hand:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def door(tmp_path: Path, clock: Hand) -> Iterator[Door]:
    opened = Door(tmp_path, clock)
    yield opened
    opened.close()


@pytest.fixture
def anne(door: Door) -> Door:
    """A door that knows one head arbiter."""
    door.accounts.add("anne", "Anne Lefèvre", "head_arbiter", PASSWORD, BY)
    return door


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash with little memory: the same library, and the tests are not about what it costs."""
    quick_hashes(monkeypatch)


def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let passwords be hashed in no time."""
    monkeypatch.setattr(passwords, "_HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    monkeypatch.setattr(passwords, "_NOBODY", [])
