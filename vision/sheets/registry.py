"""The registry of tile sets, `sets.json`: the face of each serial of each set.

The registry is secret. Its file can be read by its owner only, and is written atomically, so that the old content stays
until the new content is completely on disk.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from broker.files import PRIVATE, locked, replacing_file
from vision.errors import (
    RegistryInvalidError,
    RegistryMissingError,
    RegistrySetExistsError,
    RegistrySetMissingError,
    UnwritableError,
    VisionError,
)
from vision.reading import LAST_SERIAL, LAST_SET

FACES: Final = tuple(
    f"{rank}{suit}" for suit, last in (("m", 9), ("p", 9), ("s", 9), ("z", 7)) for rank in range(1, last + 1)
)
"""1m..9m characters, 1p..9p dots, 1s..9s bamboo, 1z..7z east south west north white green red."""

TILES_OF_EACH: Final = 4

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"(?P<key>\s*:)?', re.DOTALL)


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """One entry as written in the file; `face` may be anything, and `serial` is empty for a set without entries."""

    set: str
    serial: str
    face: object
    line: int


class _Pairs(tuple[tuple[str, Any], ...]):
    """A JSON object as pairs in order, including repeated keys."""

    __slots__ = ()


def registry_entries(content: str, name: str) -> tuple[RegistryEntry, ...]:
    """Return the entries of a registry in order. Raises RegistryInvalidError if it is not an object of objects."""
    try:
        sets = json.loads(content, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        raise RegistryInvalidError(f"{name}: line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError):  # numbers with thousands of digits; deeply nested brackets
        raise RegistryInvalidError(f"{name} is no registry of tile sets") from None
    if not isinstance(sets, _Pairs) or not all(isinstance(faces, _Pairs) for _, faces in sets):
        raise RegistryInvalidError(f"{name} is no registry of tile sets: an object for each set, from serial to face")
    return _with_lines(sets, content)


def _with_lines(sets: _Pairs, content: str) -> tuple[RegistryEntry, ...]:
    """Pair keys with their lines; both are in the order of the text, as long as no face is an object."""
    lines = iter(_lines_of_keys(content))
    found = []
    for number, faces in sets:
        line = next(lines, 0)
        entries = [RegistryEntry(number, serial, face, next(lines, 0)) for serial, face in faces]
        found += entries or [RegistryEntry(number, "", None, line)]
    return tuple(found)


def _lines_of_keys(content: str) -> list[int]:
    lines, line, at = [], 1, 0
    for match in _STRING.finditer(content):
        line += content.count("\n", at, match.start())
        at = match.start()
        if match["key"]:
            lines.append(line)
    return lines


@contextmanager
def private_file(path: Path, content: bytes) -> Iterator[None]:
    """Write a private file that replaces `path` when the block ends, and is removed if the block fails.

    Raises UnwritableError.
    """
    with _unwritable(path), replacing_file(path, content, PRIVATE):
        yield


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Lock a folder against our other commands, so that neither of two changes to one file is lost.

    Raises UnwritableError.
    """
    with _unwritable(folder), locked(folder):
        yield


@contextmanager
def _unwritable(path: Path) -> Iterator[None]:
    try:
        yield
    except VisionError:
        raise
    except OSError as error:
        raise UnwritableError(f"{path}: {error.strerror}") from error


MOST_BYTES: Final = 1_000_000
"""Twice the size of a registry with a hundred sets."""

FacesBySerial = dict[int, str]
"""The face of each serial."""

SetRegistry = dict[int, FacesBySerial]
"""The faces of each set, by its number."""


def draw_faces(chance: random.Random) -> FacesBySerial:
    """Return a random face for each serial, four serials per face; all assignments are equally likely."""
    faces = [face for face in FACES for _ in range(TILES_OF_EACH)]
    chance.shuffle(faces)
    return dict(enumerate(faces, start=1))


def read_set_registry(path: Path) -> SetRegistry:
    """Read and validate a registry. Raises RegistryMissingError, or RegistryInvalidError that lists every mistake."""
    found = registry_entries(_registry_content(path), path.name)
    mistakes = [*_wrong_entries(found), *_incomplete_sets(found)]
    if mistakes:
        raise RegistryInvalidError("\n".join(f"{path.name}: {mistake}" for mistake in mistakes))
    registry: SetRegistry = {}
    for entry in found:
        registry.setdefault(int(entry.set), {})[int(entry.serial)] = str(entry.face)
    return registry


def registry_bytes(registry: Mapping[int, Mapping[int, str]]) -> bytes:
    """Return the file's content, with one entry per line, so that mistakes can be found by line number."""
    return (json.dumps({number: registry[number] for number in sorted(registry)}, indent=1) + "\n").encode()


def _registry_content(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise RegistryInvalidError(f"{path.name} is longer than a registry can be")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RegistryMissingError(f"there is no {path}") from None
    except UnicodeDecodeError:
        raise RegistryInvalidError(f"{path.name} is not written in UTF-8") from None
    except OSError as error:
        raise RegistryInvalidError(f"{path.name} cannot be read: {error.strerror}") from None


def _wrong_entries(found: tuple[RegistryEntry, ...]) -> Iterator[str]:
    """Yield a message for each invalid entry. Faces are secret, so they are not shown."""
    first: dict[tuple[str, str], int] = {}
    for entry in found:
        if not _counts(entry.set, 0, LAST_SET):
            yield f"line {entry.line}: {entry.set[:12]!r} is no set, 0 to {LAST_SET}"
        elif not _counts(entry.serial, 1, LAST_SERIAL):
            yield f"line {entry.line}: {entry.serial[:12]!r} is no serial, 1 to {LAST_SERIAL}"
        elif entry.face not in FACES:
            yield f"line {entry.line}: serial {entry.serial} of set {entry.set} has no face of 1m to 9s and 1z to 7z"
        elif first.setdefault((entry.set, entry.serial), entry.line) != entry.line:
            used = f"serial {entry.serial} of set {entry.set} is already used in line {first[entry.set, entry.serial]}"
            yield f"line {entry.line}: {used}"


def _incomplete_sets(found: tuple[RegistryEntry, ...]) -> Iterator[str]:
    """Yield a message for each set with missing serials, and for each face on too many tiles."""
    for number in dict.fromkeys(entry.set for entry in found):
        faces = {entry.serial: entry.face for entry in found if entry.set == number}
        lacking = [str(serial) for serial in range(1, LAST_SERIAL + 1) if str(serial) not in faces]
        if lacking:
            yield f"set {number}: no entry for serial {', '.join(lacking)}"
        for face, times in Counter(face for face in faces.values() if face in FACES).items():
            if times > TILES_OF_EACH:
                yield f"set {number}: {times} tiles of {face}"


def _counts(text: str, first: int, last: int) -> bool:
    return text in map(str, range(first, last + 1))


@dataclass(frozen=True, slots=True)
class RegisteredSet:
    """A set's faces, and the changed registry to write; None if the registry is unchanged."""

    faces: FacesBySerial = field(repr=False)
    registry: SetRegistry | None = field(repr=False)


def registered_set(path: Path, number: int) -> RegisteredSet:
    """Return a set from the registry. Raises RegistryError."""
    known = read_set_registry(path)
    if number not in known:
        raise RegistrySetMissingError(f"set {number} is not in {path}")
    return RegisteredSet(known[number], None)


def draw_new_set(path: Path, number: int, chance: random.Random, *, force: bool) -> RegisteredSet:
    """Draw a set's faces at random. Raises RegistryError if the registry has the set already, unless `force`."""
    known = _known_registry(path)
    if number in known and not force:
        again = f"--registry {path} prints its labels again, --force draws it again and makes all its labels worthless"
        raise RegistrySetExistsError(f"set {number} is in {path} already: {again}")
    faces = draw_faces(chance)
    return RegisteredSet(faces, {**known, number: faces})


def has_set(path: Path, number: int) -> bool:
    """Return whether the registry exists and has the set. Raises RegistryError."""
    return number in _known_registry(path)


def _known_registry(path: Path) -> Mapping[int, FacesBySerial]:
    try:
        return read_set_registry(path)
    except RegistryMissingError:
        return {}
