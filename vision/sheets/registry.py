"""The registry of tile sets, `sets.json`: for each set, which serial is on the back of which face. It is secret.

An object: the set's number to an object from serial (`"1"` to `"136"`) to face. An event's folder has the same file.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from vision.errors import RegistryInvalidError, RegistryMissingError
from vision.payload import LAST_SERIAL, LAST_SET
from vision.sheets.entries import Entry, entries
from vision.sheets.faces import FACES, OF_EACH

MOST_BYTES: Final = 1_000_000
"""A hundred sets, twice over."""

Faces = dict[int, str]
"""Serial to face."""

Registry = dict[int, Faces]
"""Set number to serial to face."""


def draw_faces(chance: random.Random) -> Faces:
    """Give each serial a face, four of each, any assignment as likely as any other."""
    faces = [face for face in FACES for _ in range(OF_EACH)]
    chance.shuffle(faces)
    return dict(enumerate(faces, start=1))


def read_registry(path: Path) -> Registry:
    """Read and check a registry. Raises RegistryMissingError, RegistryInvalidError that names every mistake."""
    found = entries(_content(path), path.name)
    mistakes = [*_wrong(found), *_not_whole(found)]
    if mistakes:
        raise RegistryInvalidError("\n".join(f"{path.name}: {mistake}" for mistake in mistakes))
    registry: Registry = {}
    for entry in found:
        registry.setdefault(int(entry.set), {})[int(entry.serial)] = str(entry.face)
    return registry


def registry_bytes(registry: Mapping[int, Mapping[int, str]]) -> bytes:
    """Give the file's content: sets and serials in order, a line each, so that a mistake can be found by its line."""
    return (json.dumps({one: registry[one] for one in sorted(registry)}, indent=1) + "\n").encode()


def _content(path: Path) -> str:
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


def _wrong(found: tuple[Entry, ...]) -> Iterator[str]:
    """Name entries that cannot be. Faces are not shown: this goes to a screen."""
    first: dict[tuple[str, str], int] = {}
    for entry in found:
        if not _counts(entry.set, 0, LAST_SET):
            yield f"line {entry.line}: {entry.set[:12]!r} is no set, 0 to {LAST_SET}"
        elif not _counts(entry.serial, 1, LAST_SERIAL):
            yield f"line {entry.line}: {entry.serial[:12]!r} is no serial, 1 to {LAST_SERIAL}"
        elif entry.face not in FACES:
            yield f"line {entry.line}: serial {entry.serial} of set {entry.set} has no face of 1m to 9s and 1z to 7z"
        elif first.setdefault((entry.set, entry.serial), entry.line) != entry.line:
            told = f"serial {entry.serial} of set {entry.set} is in line {first[entry.set, entry.serial]} already"
            yield f"line {entry.line}: {told}"


def _not_whole(found: tuple[Entry, ...]) -> Iterator[str]:
    """Name what sets lack, or have too much of."""
    for one in dict.fromkeys(entry.set for entry in found):
        faces = {entry.serial: entry.face for entry in found if entry.set == one}
        lacking = [str(serial) for serial in range(1, LAST_SERIAL + 1) if str(serial) not in faces]
        if lacking:
            yield f"set {one}: no entry for serial {', '.join(lacking)}"
        for face, times in Counter(face for face in faces.values() if face in FACES).items():
            if times > OF_EACH:
                yield f"set {one}: {times} tiles of {face}"


def _counts(text: str, first: int, last: int) -> bool:
    return text in map(str, range(first, last + 1))
