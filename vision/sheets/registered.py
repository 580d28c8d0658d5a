"""Which faces a set's labels stand for: those of the registry, or newly drawn ones that the registry gets.

A label that is on a tile must never be printed for another: a set is drawn once, and again only if somebody insists.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vision.errors import RegistryMissingError, RegistrySetExistsError, RegistrySetMissingError
from vision.sheets.registry import Faces, Registry, draw_faces, read_registry


@dataclass(frozen=True, slots=True)
class Registered:
    """A set's faces, and the registry that has to be written because of them; None where it stays as it is."""

    faces: Faces = field(repr=False)
    registry: Registry | None = field(repr=False)


def printed_again(path: Path, number: int) -> Registered:
    """Give the set as the registry has it. Raises RegistryError."""
    known = read_registry(path)
    if number not in known:
        raise RegistrySetMissingError(f"set {number} is not in {path}")
    return Registered(known[number], None)


def drawn(path: Path, number: int, chance: random.Random, *, force: bool) -> Registered:
    """Draw the set. Raises RegistryError where the registry has it already, unless `force`."""
    known = _known(path)
    if number in known and not force:
        again = f"--registry {path} prints its labels again, --force draws it anew and makes all its labels worthless"
        raise RegistrySetExistsError(f"set {number} is in {path} already: {again}")
    faces = draw_faces(chance)
    return Registered(faces, {**known, number: faces})


def has(path: Path, number: int) -> bool:
    """Tell whether the registry is there and has the set. Raises RegistryError."""
    return number in _known(path)


def _known(path: Path) -> Mapping[int, Faces]:
    try:
        return read_registry(path)
    except RegistryMissingError:
        return {}
