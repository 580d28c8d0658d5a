"""The subjects of the tests: each writes in its own process, and checks the disk that is left."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.power.disk import Lie

Tell = Callable[..., None]
"""Promises something: its kind, and the value."""

Said = dict[str, Any]
"""A promise as it was recorded."""


@dataclass(slots=True)
class Outcome:
    """The result of opening one state."""

    problems: list[str] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    """Codes of problems that are allowed, or the number of items that were recovered from elsewhere."""

    def must(self, holds: object, problem: str) -> None:
        """Record a problem unless a condition holds."""
        if not holds:
            self.problems.append(problem)


@dataclass(frozen=True, slots=True)
class Cut:
    """One state of the disk: its path, and the promises made before the cut."""

    disk: Path
    promises: Sequence[Said]
    """All promises of the recording."""
    made: int
    """How many of them were made before the cut."""
    lie: Lie = "none"

    def before(self, kind: str) -> list[Said]:
        """Return the promises of a kind that were made before the cut."""
        return [one for one in self.promises[: self.made] if one["kind"] == kind]

    def around(self, kind: str) -> list[Said]:
        """Return the last promise of a kind before the cut, and the first one after it."""
        return [*self.before(kind)[-1:], *self.after(kind)[:1]]

    def after(self, kind: str) -> list[Said]:
        """Return the promises of a kind that were not made yet."""
        return [one for one in self.promises[self.made :] if one["kind"] == kind]

    def all(self, kind: str) -> list[Said]:
        """Return all promises of a kind."""
        return [one for one in self.promises if one["kind"] == kind]


@dataclass(frozen=True, slots=True)
class Subject:
    """A program that writes, and the check of its disk."""

    name: str
    write: Callable[[Path, int, Tell], None]
    """Writes on a disk, using a seed; if restarted after a kill, it continues."""
    check: Callable[[Cut, Outcome], None]
    """Opens and checks what is left."""
    kills: bool = True
    """Whether it can be restarted."""


SHORT: Final = 16


def digest(said: object) -> str:
    """Return a short hash of a value."""
    return hashlib.sha256(said if isinstance(said, bytes) else msgspec.json.encode(said)).hexdigest()[:SHORT]
