"""The command `homologue read`: pictures in, serials in order out, as text or as a JSON line each."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from broker.console import EXISTING_FILE, json_option, progress, report
from vision.enrolled.file import EnrolledSet, read_complete
from vision.errors import PictureMissingError, VisionError
from vision.overlay import draw_overlay, list_serials, write_overlay
from vision.picture import load_picture
from vision.reader import read_picture
from vision.reading import PictureReading, TileRead, TrayFault, TrayFaultType
from vision.verdict import ExpectedSerials, compare, load_expected, verified

_FAULT_SENTENCES = {
    TrayFaultType.MISSING: "{expected:03d} is missing",
    TrayFaultType.SWAPPED: "{found:03d} lies here and belongs to row {with_row}, tile {with_col}",
    TrayFaultType.FACE_UP: "a tile lies face up; {expected:03d} belongs here",
    TrayFaultType.UPSIDE_DOWN: "the tile is turned by half a turn",
    TrayFaultType.FOREIGN: "{what} of another set lies here instead of {expected:03d}",
    TrayFaultType.WRONG_HAND: "{found:03d} belongs in another tray; {expected:03d} belongs here",
    TrayFaultType.OCCLUDED: "something covers the tile",
    TrayFaultType.SIDEWAYS: "the tile lies askew",
}

ENROL_SET = (
    "many backs are not read: if their print is to blame (worn, by hand, no leading zeros), enrol this set: "
    "homologue set enrol"
)


@dataclass(frozen=True, slots=True)
class TrayVerdict:
    """What a reading is against what should lie there."""

    faults: tuple[TrayFault, ...]
    verified: bool


def reading_line(
    image: str, milliseconds: float, reading: PictureReading, verdict: TrayVerdict | None
) -> dict[str, Any]:
    """Return the object that `homologue read --json` prints for one picture; without an expected deal no verdict."""
    line = {
        "image": image,
        "ms": round(milliseconds, 1),
        "reads": [_read_object(read) for read in reading.reads],
        "faults": [_fault_object(fault) for fault in verdict.faults] if verdict else [],
    }
    return {**line, "verified": verdict.verified} if verdict else line


def reading_error_line(image: str, error: VisionError) -> dict[str, Any]:
    """Return the object that `homologue read --json` prints for a picture that cannot be read."""
    return {"image": image, "error": {"code": error.code, "message": str(error)}}


def _read_object(read: TileRead) -> dict[str, Any]:
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
        **({"likeness": read.likeness} if read.likeness is not None else {}),
    }


def _fault_object(fault: TrayFault) -> dict[str, Any]:
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


def reading_text(image: str, milliseconds: float, reading: PictureReading, verdict: TrayVerdict | None) -> str:
    """Return what a person wants to know: the rows, then what is wrong and whether the tray is verified."""
    read = sum(one.serial is not None for one in reading.reads)
    lines = [f"{image}: {read} read, {len(reading.reads) - read} seen but not read ({milliseconds:.0f} ms)"]
    lines += _tray_lines(reading)
    if verdict:
        lines += [f"  {fault_sentence(fault)}" for fault in verdict.faults]
        tiles = len(reading.places)
        lines.append(f"  verified: all {tiles} tiles lie as they should" if verdict.verified else "  NOT verified")
    return "\n".join(lines)


def _tray_lines(reading: PictureReading) -> list[str]:
    """The serials row by row, in a carrier with the seat before each row; without a tray those that were read."""
    if not reading.places:
        serials = sorted(one.serial for one in reading.reads if one.serial is not None)
        return ["  no tray found; " + (" ".join(f"{one:03d}" for one in serials) or "no mark either")]
    return [
        "  " + (f"{seat} " if seat else "") + " ".join("---" if one is None else f"{one:03d}" for one in row)
        for seat, rows in reading.seats.items()
        for row in rows
    ]


def fault_sentence(fault: TrayFault) -> str:
    """Return a fault in plain words; people count rows and tiles from 1."""
    with_row, with_col = fault.with_ or (-1, -1)
    words = _FAULT_SENTENCES[fault.type].format(
        expected=fault.expected,
        found=fault.found or 0,
        what="a tile" if fault.found is None else f"{fault.found:03d}",
        with_row=with_row + 1,
        with_col=with_col + 1,
    )
    where = f"{fault.seat}, row" if fault.seat else "row"
    return f"{where} {fault.row + 1}, tile {fault.col + 1}: {words}"


@click.command(short_help="Read pictures of tile backs.")
@click.argument("pictures", metavar="PICTURE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@json_option("Print one JSON object per picture and line, including errors.")
@click.option(
    "--expected",
    "expected_file",
    type=EXISTING_FILE,
    help='JSON file with the expected serials: {"tray": [[13 serials], [11], [10]]}, or such rows '
    'under "E", "S", "W" and "N".',
)
@click.option(
    "--overlay",
    type=click.Path(path_type=Path),
    help="Write the picture with each tile's verdict, and below it each tile with its serial, the doubtful first, "
    "to a PNG or JPEG file, or to a folder for several pictures.",
)
@click.option(
    "--set",
    "enrolled_file",
    type=EXISTING_FILE,
    help="File of the set's own pictures (`homologue set enrol`): each serial is checked against that tile's picture.",
)
def read(
    pictures: tuple[Path, ...],
    expected_file: Path | None,
    overlay: Path | None,
    enrolled_file: Path | None,
    *,
    as_json: bool,
) -> None:
    """Read the serials on tile backs, row by row. With --expected, list what is wrong in the tray.

    If a picture cannot be read, its error is printed and the next one is read. The exit code is then 1; with --json,
    where an error is a line like any other, only if a picture is missing.
    """
    expected = load_expected(expected_file) if expected_file else None
    enrolled = read_complete(enrolled_file) if enrolled_file else None
    if overlay is not None and len(pictures) > 1 and not overlay.is_dir():
        raise click.UsageError("--overlay names a folder that is there when several pictures are read")
    failed = False
    for path in progress(pictures, "Reading"):
        try:
            click.echo(_read_one(path, expected, overlay, enrolled, as_json=as_json))
        except VisionError as error:
            failed = failed or not as_json or isinstance(error, PictureMissingError)
            if as_json:
                click.echo(json.dumps(reading_error_line(path.name, error)))
            else:
                report(error, path)
    raise click.exceptions.Exit(int(failed))


def _read_one(
    path: Path,
    expected: ExpectedSerials | None,
    overlay: Path | None,
    enrolled: EnrolledSet | None,
    *,
    as_json: bool,
) -> str:
    """Return the lines for one picture. Raises VisionError."""
    image = path.name
    began = time.perf_counter()
    picture = load_picture(path)
    reading = read_picture(picture, enrolled=enrolled)
    verdict = _judge(reading, expected) if expected else None
    took = (time.perf_counter() - began) * 1000
    if overlay is not None:
        faults = verdict.faults if verdict else ()
        drawn = draw_overlay(picture, reading, faults), list_serials(picture, reading, faults)
        write_overlay(overlay, image, np.vstack(drawn))
    if as_json:
        return json.dumps(reading_line(image, took, reading, verdict))
    text = reading_text(image, took, reading, verdict)
    return f"{text}\n  {ENROL_SET}" if enrolled is None and reading.print_to_blame else text


def _judge(reading: PictureReading, expected: ExpectedSerials) -> TrayVerdict:
    faults = compare(reading, expected)
    return TrayVerdict(faults, verified(reading, expected, faults))
