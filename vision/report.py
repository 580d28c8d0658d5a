"""A reading in words: one JSON line for scripts, or a few lines for people."""

from dataclasses import dataclass
from typing import Any

from vision.errors import VisionError
from vision.reading import Fault, FaultType, Read, Reading

_WORDS = {
    FaultType.MISSING: "{expected:03d} is missing",
    FaultType.SWAPPED: "{found:03d} lies here and belongs to row {with_row}, tile {with_col}",
    FaultType.FACE_UP: "a tile lies face up; {expected:03d} belongs here",
    FaultType.UPSIDE_DOWN: "the tile is turned by half a turn",
    FaultType.FOREIGN: "{what} of another set lies here instead of {expected:03d}",
    FaultType.WRONG_HAND: "{found:03d} belongs in another tray; {expected:03d} belongs here",
    FaultType.OCCLUDED: "something covers the tile",
    FaultType.SIDEWAYS: "the tile lies askew",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reading is against what should lie there."""

    faults: tuple[Fault, ...]
    verified: bool


def reading_line(image: str, milliseconds: float, reading: Reading, verdict: Verdict | None) -> dict[str, Any]:
    """Give the object that `homologue read --json` prints for one picture; without an expected deal no verdict."""
    line = {
        "image": image,
        "ms": round(milliseconds, 1),
        "reads": [_read_object(read) for read in reading.reads],
        "faults": [_fault_object(fault) for fault in verdict.faults] if verdict else [],
    }
    return {**line, "verified": verdict.verified} if verdict else line


def error_line(image: str, error: VisionError) -> dict[str, Any]:
    """Give the object that `homologue read --json` prints for a picture that cannot be read."""
    return {"image": image, "error": {"code": error.code, "message": str(error)}}


def _read_object(read: Read) -> dict[str, Any]:
    return {
        "serial": read.serial,
        "set": read.set,
        "quad": [list(corner) for corner in read.quad],
        "confidence": read.confidence,
        "seat": read.seat,
        "row": read.row,
        "col": read.col,
        "rotation": read.rotation,
        "face_up": read.face_up,
        "foreign": read.foreign,
    }


def _fault_object(fault: Fault) -> dict[str, Any]:
    line: dict[str, Any] = {
        "type": fault.type.value,
        "seat": fault.seat,
        "row": fault.row,
        "col": fault.col,
        "expected": fault.expected,
    }
    if fault.found is not None:
        line["found"] = fault.found
    if fault.with_ is not None:
        line["with"] = list(fault.with_)
    return line


def reading_text(image: str, milliseconds: float, reading: Reading, verdict: Verdict | None) -> str:
    """Give what a person wants to know: the rows, then what is wrong and whether the tray is verified."""
    read = sum(one.serial is not None for one in reading.reads)
    lines = [f"{image}: {read} read, {len(reading.reads) - read} seen but not read ({milliseconds:.0f} ms)"]
    lines += _tray_lines(reading)
    if verdict:
        lines += [f"  {fault_text(fault)}" for fault in verdict.faults]
        tiles = len(reading.places)
        lines.append(f"  verified: all {tiles} tiles lie as they should" if verdict.verified else "  NOT verified")
    return "\n".join(lines)


def _tray_lines(reading: Reading) -> list[str]:
    """Give the serials row by row, in a carrier with the seat before each row; without a tray those that were read."""
    if not reading.places:
        serials = sorted(one.serial for one in reading.reads if one.serial is not None)
        return ["  no tray found; " + (" ".join(f"{one:03d}" for one in serials) or "no mark either")]
    return [
        "  " + (f"{seat} " if seat else "") + " ".join("---" if one is None else f"{one:03d}" for one in row)
        for seat, rows in reading.seats.items()
        for row in rows
    ]


def fault_text(fault: Fault) -> str:
    """Give a fault in plain words; people count rows and tiles from 1."""
    with_row, with_col = fault.with_ or (-1, -1)
    words = _WORDS[fault.type].format(
        expected=fault.expected,
        found=fault.found or 0,
        what="a tile" if fault.found is None else f"{fault.found:03d}",
        with_row=with_row + 1,
        with_col=with_col + 1,
    )
    where = f"{fault.seat}, row" if fault.seat else "row"
    return f"{where} {fault.row + 1}, tile {fault.col + 1}: {words}"
