"""What `set check` found, as one JSON object for scripts or a few lines for people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vision.errors import VisionError
from vision.payload import LAST_SERIAL
from vision.sheets.completeness import Completeness, Look


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: what was seen in it, or why it could not be read."""

    image: str
    look: Look | None
    error: VisionError | None


def shot_text(shot: Shot) -> str:
    """Give a line on one picture."""
    if shot.look is None:
        return f"{shot.image}: {shot.error} ({shot.error.code if shot.error else ''})"
    return f"{shot.image}: {len(shot.look.tiles)} read, {shot.look.unread} seen but not read"


def check_object(found: Completeness, shots: Sequence[Shot], faces: Mapping[int, str]) -> dict[str, Any]:
    """Give the object that `homologue set check --json` prints; faces only where there is a registry."""
    line = {
        "set": found.set,
        "complete": found.complete,
        "missing": list(found.missing),
        "double": list(found.double),
        "foreign": [{"set": tile.set, "serial": tile.serial} for tile in found.foreign],
        "unread": found.unread,
        "face_up": found.face_up,
        "pictures": [_shot_object(shot) for shot in shots],
    }
    named = {str(serial): faces[serial] for serial in (*found.missing, *found.double) if serial in faces}
    return {**line, "faces": named} if faces else line


def _shot_object(shot: Shot) -> dict[str, Any]:
    if shot.look is None:
        return {
            "image": shot.image,
            "error": {"code": shot.error.code if shot.error else "", "message": str(shot.error)},
        }
    return {"image": shot.image, "read": len(shot.look.tiles), "unread": shot.look.unread, "face_up": shot.look.face_up}


def check_text(found: Completeness, faces: Mapping[int, str]) -> str:
    """Give what a person wants to know."""
    name = f"set {found.set}" if found.set else "the set"
    if found.complete:
        return "\n".join([f"{name}: complete, each of the {LAST_SERIAL} tiles once", *_beside(found)])
    lines = [f"{name}: NOT complete"]
    if found.missing:
        lines.append(f"  missing {len(found.missing)}: {_serials(found.missing, faces)}")
    if found.double:
        lines.append(f"  double {len(found.double)}: {_serials(found.double, faces)}")
    if found.foreign:
        strange = ", ".join(f"{tile.serial:03d} of set {tile.set}" for tile in found.foreign)
        lines.append(f"  foreign {len(found.foreign)}: {strange}")
    return "\n".join([*lines, *_beside(found)])


def _serials(serials: Sequence[int], faces: Mapping[int, str]) -> str:
    return " ".join(f"{serial:03d}" + (f" ({faces[serial]})" if faces else "") for serial in serials)


def _beside(found: Completeness) -> list[str]:
    lines = []
    if found.unread:
        lines.append(f"  seen but not read, over all pictures: {found.unread}")
    if found.face_up:
        lines.append(f"  lying face up, over all pictures: {found.face_up}")
    return lines
