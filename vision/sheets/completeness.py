"""Judge whether a set is complete from the tiles read in any number of pictures; as JSON or as text. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vision.errors import VisionError
from vision.reading import LAST_SERIAL


@dataclass(frozen=True, slots=True)
class SetTile:
    """What was read on one back; `set` is two digits, a letter, or None if the back names no set."""

    set: str | None
    serial: int


@dataclass(frozen=True, slots=True)
class PictureTiles:
    """The tiles in one picture: an entry for each that was read, and counts of those unread and those face up."""

    tiles: tuple[SetTile, ...]
    unread: int = 0
    face_up: int = 0


@dataclass(frozen=True, slots=True)
class Completeness:
    """The result of checking a set.

    `unread` and `face_up` are summed over all pictures, and may include tiles that were read in another picture.
    """

    set: str | None
    missing: tuple[int, ...]
    double: tuple[int, ...]
    foreign: tuple[SetTile, ...]
    unread: int
    face_up: int

    @property
    def complete(self) -> bool:
        """Whether all 136 tiles were read, none of them twice in one picture, and none of another set."""
        return not (self.missing or self.double or self.foreign)


def judge_set(pictures: Iterable[PictureTiles], named: str | None = None) -> Completeness:
    """Judge a set by all its pictures; without a name, it is the set that most tiles name.

    If the set has a name, a tile that names none may be of any set, and counts as unread.
    """
    pictures = tuple(pictures)
    own = named if named is not None else _most_named(pictures)
    unnamed = sum(tile.set is None for picture in pictures for tile in picture.tiles) if own is not None else 0
    tiles = {tile for picture in pictures for tile in picture.tiles}
    seen = {tile.serial for tile in tiles if tile.set == own}
    foreign = {tile for tile in tiles if tile.set not in {own, None}}
    return Completeness(
        own,
        tuple(serial for serial in range(1, LAST_SERIAL + 1) if serial not in seen),
        tuple(sorted({serial for picture in pictures for serial in _doubles(picture, own)})),
        tuple(sorted(foreign, key=lambda tile: (tile.set or "", tile.serial))),
        sum(picture.unread for picture in pictures) + unnamed,
        sum(picture.face_up for picture in pictures),
    )


def _most_named(pictures: tuple[PictureTiles, ...]) -> str | None:
    names = Counter(tile.set for tile in {tile for picture in pictures for tile in picture.tiles})
    return max(names, key=lambda name: (names[name], name or "")) if names else None


def _doubles(picture: PictureTiles, own: str | None) -> Iterable[int]:
    times = Counter(tile for tile in picture.tiles if tile.set == own)
    return (tile.serial for tile, count in times.items() if count > 1)


@dataclass(frozen=True, slots=True)
class CheckedPicture:
    """One picture: the tiles in it, or the error if it could not be read."""

    image: str
    result: PictureTiles | None
    error: VisionError | None


def picture_line(picture: CheckedPicture) -> str:
    """Return the progress line for one picture."""
    if picture.result is None:
        return f"{picture.image}: {picture.error} ({picture.error.code if picture.error else ''})"
    return f"{picture.image}: {len(picture.result.tiles)} read, {picture.result.unread} seen but not read"


def check_object(found: Completeness, checked: Sequence[CheckedPicture], faces: Mapping[int, str]) -> dict[str, Any]:
    """Return the object that `homologue set check --json` prints; it has faces only if there is a registry."""
    line = {
        "set": found.set,
        "complete": found.complete,
        "missing": list(found.missing),
        "double": list(found.double),
        "foreign": [{"set": tile.set, "serial": tile.serial} for tile in found.foreign],
        "unread": found.unread,
        "face_up": found.face_up,
        "pictures": [_picture_object(picture) for picture in checked],
    }
    named = {str(serial): faces[serial] for serial in (*found.missing, *found.double) if serial in faces}
    return {**line, "faces": named} if faces else line


def _picture_object(picture: CheckedPicture) -> dict[str, Any]:
    if picture.result is None:
        return {
            "image": picture.image,
            "error": {"code": picture.error.code if picture.error else "", "message": str(picture.error)},
        }
    return {
        "image": picture.image,
        "read": len(picture.result.tiles),
        "unread": picture.result.unread,
        "face_up": picture.result.face_up,
    }


def check_text(found: Completeness, faces: Mapping[int, str]) -> str:
    """Return the text for people."""
    name = f"set {found.set}" if found.set else "the set"
    if found.complete:
        return "\n".join([f"{name}: complete, each of the {LAST_SERIAL} tiles once", *_uncounted(found)])
    lines = [f"{name}: NOT complete"]
    if found.missing:
        lines.append(f"  missing {len(found.missing)}: {_serials(found.missing, faces)}")
    if found.double:
        lines.append(f"  double {len(found.double)}: {_serials(found.double, faces)}")
    if found.foreign:
        foreign = ", ".join(f"{tile.serial:03d} of set {tile.set}" for tile in found.foreign)
        lines.append(f"  foreign {len(found.foreign)}: {foreign}")
    return "\n".join([*lines, *_uncounted(found)])


def _serials(serials: Sequence[int], faces: Mapping[int, str]) -> str:
    return " ".join(f"{serial:03d}" + (f" ({faces[serial]})" if faces else "") for serial in serials)


def _uncounted(found: Completeness) -> list[str]:
    lines = []
    if found.unread:
        lines.append(f"  seen but not read, over all pictures: {found.unread}")
    if found.face_up:
        lines.append(f"  lying face up, over all pictures: {found.face_up}")
    return lines
