"""Whether a set is complete, from what was read in any number of pictures. Pure.

One tile may be in several pictures, so a serial in two pictures is no double; in one picture it is.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from vision.payload import LAST_SERIAL


@dataclass(frozen=True, slots=True)
class Tile:
    """What the back of a tile says; `set` is two digits, a letter, or None where it says no set."""

    set: str | None
    serial: int


@dataclass(frozen=True, slots=True)
class Look:
    """What one picture shows: an entry for each tile that was read, and how many were not."""

    tiles: tuple[Tile, ...]
    unread: int = 0
    face_up: int = 0


@dataclass(frozen=True, slots=True)
class Completeness:
    """What is wrong with a set. `unread` and `face_up` are summed over pictures, and may be tiles read in others."""

    set: str | None
    missing: tuple[int, ...]
    double: tuple[int, ...]
    foreign: tuple[Tile, ...]
    unread: int
    face_up: int

    @property
    def complete(self) -> bool:
        """Whether each of the 136 was read, none twice in one picture, and no tile of another set."""
        return not (self.missing or self.double or self.foreign)


def judge(looks: Iterable[Look], named: str | None = None) -> Completeness:
    """Judge a set by all its pictures; without a name the set is the one that most tiles say.

    A tile that says no set although the set has a name may be of any: it counts as not read.
    """
    looks = tuple(looks)
    own = named if named is not None else _most_said(looks)
    silent = sum(tile.set is None for look in looks for tile in look.tiles) if own is not None else 0
    tiles = {tile for look in looks for tile in look.tiles}
    seen = {tile.serial for tile in tiles if tile.set == own}
    foreign = {tile for tile in tiles if tile.set not in {own, None}}
    return Completeness(
        own,
        tuple(serial for serial in range(1, LAST_SERIAL + 1) if serial not in seen),
        tuple(sorted({serial for look in looks for serial in _doubles(look, own)})),
        tuple(sorted(foreign, key=lambda tile: (tile.set or "", tile.serial))),
        sum(look.unread for look in looks) + silent,
        sum(look.face_up for look in looks),
    )


def _most_said(looks: tuple[Look, ...]) -> str | None:
    said = Counter(tile.set for tile in {tile for look in looks for tile in look.tiles})
    return max(said, key=lambda one: (said[one], one or "")) if said else None


def _doubles(look: Look, own: str | None) -> Iterable[int]:
    times = Counter(tile for tile in look.tiles if tile.set == own)
    return (tile.serial for tile, count in times.items() if count > 1)
