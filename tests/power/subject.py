"""What is cut: something that writes in a process of its own, and what must hold of the disk that it leaves."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.power.disk import Lie

Tell = Callable[..., None]
"""Promises something: its kind, and what."""

Said = dict[str, Any]
"""A promise as it was recorded."""


@dataclass(slots=True)
class Outcome:
    """What one opening has shown."""

    problems: list[str] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    """What was met that is allowed: a stable code, or what came back from elsewhere."""

    def must(self, holds: object, problem: str) -> None:
        """Note a problem unless something holds."""
        if not holds:
            self.problems.append(problem)


@dataclass(frozen=True, slots=True)
class Cut:
    """One state of the disk: where it lies, and what was promised before the power went."""

    disk: Path
    promises: Sequence[Said]
    """All of the recording."""
    made: int
    """So many of them were made before the cut."""
    lie: Lie = "none"

    def before(self, kind: str) -> list[Said]:
        """Return the promises of a kind that were made before the cut."""
        return [one for one in self.promises[: self.made] if one["kind"] == kind]

    def around(self, kind: str) -> list[Said]:
        """Return the last promise of a kind before the cut, and the first after it."""
        return [*self.before(kind)[-1:], *self.after(kind)[:1]]

    def after(self, kind: str) -> list[Said]:
        """Return the promises of a kind that were not made yet."""
        return [one for one in self.promises[self.made :] if one["kind"] == kind]

    def all(self, kind: str) -> list[Said]:
        """Return all promises of a kind."""
        return [one for one in self.promises if one["kind"] == kind]


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that writes."""

    name: str
    write: Callable[[Path, int, Tell], None]
    """Writes on a disk, by a seed; begun again after a kill it goes on where it was."""
    check: Callable[[Cut, Outcome], None]
    """Opens what is left."""
    kills: bool = True
    """Whether it can be begun again."""


SHORT: Final = 16


def digest(said: object) -> str:
    """Return a mark of a value."""
    return hashlib.sha256(said if isinstance(said, bytes) else msgspec.json.encode(said)).hexdigest()[:SHORT]
