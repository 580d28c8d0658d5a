"""The commands that read pictures: `homologue read` (trays and heaps), `homologue record laid` (rivers and hands)."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from broker.console import ANY, EXISTING_FILE, json_option, language_option, progress, report
from broker.i18n import N_, Translator
from vision.enrolled.file import EnrolledSet, read_complete
from vision.errors import PictureMissingError, VisionError
from vision.overlay import checked_picture, write_overlay
from vision.picture import load_picture
from vision.reader import read_picture
from vision.reading import PictureReading, TileRead, TrayFault
from vision.rivers import read_hand, read_river
from vision.verdict import ENROL_SET, FAULT_SENTENCES, ExpectedSerials, compare, load_expected, verified


@dataclass(frozen=True, slots=True)
class TrayVerdict:
    """The result of comparing a reading with the expected deal."""

    faults: tuple[TrayFault, ...]
    verified: bool


def reading_line(
    image: str, milliseconds: float, reading: PictureReading, verdict: TrayVerdict | None
) -> dict[str, Any]:
    """Return the object that `homologue read --json` prints for one picture; `verified` only if there is a verdict."""
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


def reading_text(
    _: Translator, image: str, milliseconds: float, reading: PictureReading, verdict: TrayVerdict | None
) -> str:
    """Return the text for people: the rows of serials, then the faults, and whether the tray is verified."""
    read, ms = sum(tile.serial is not None for tile in reading.reads), round(milliseconds)
    left = len(reading.reads) - read
    lines = [_("{image}: {read} read, {left} seen but not read ({ms} ms)", image=image, read=read, left=left, ms=ms)]
    lines += _tray_lines(_, reading)
    if verdict:
        lines += [f"  {fault_sentence(_, fault)}" for fault in verdict.faults]
        every = N_("verified: all {tiles} tiles lie as they should", tiles=len(reading.places))
        lines.append("  " + _(every if verdict.verified else N_("NOT verified")))
    return "\n".join(lines)


def _tray_lines(_: Translator, reading: PictureReading) -> list[str]:
    """Return the serials row by row, each with its seat in a carrier; without a tray, a sorted list of all serials."""
    if not reading.places:
        serials = sorted(serial.serial for serial in reading.reads if serial.serial is not None)
        read = " ".join(f"{serial:03d}" for serial in serials)
        return ["  " + _("no tray found"), *([f"  {read}"] if read else [])]
    return [
        "  " + (f"{seat} " if seat else "") + " ".join("---" if serial is None else f"{serial:03d}" for serial in row)
        for seat, rows in reading.seats.items()
        for row in rows
    ]


def fault_sentence(_: Translator, fault: TrayFault) -> str:
    """Return a fault as a sentence, preceded by its seat in a carrier; rows and places are counted from 1."""
    row2, col2 = fault.with_ or (-1, -1)
    sentence = _(
        FAULT_SENTENCES[fault.type],
        row=fault.row + 1,
        col=fault.col + 1,
        row2=row2 + 1,
        col2=col2 + 1,
        expected=f"{fault.expected:03d}",
        found=f"{fault.found or 0:03d}",
    )
    return f"{fault.seat} {sentence}" if fault.seat else sentence


set_option = click.option(
    "--set",
    "enrolled_file",
    type=EXISTING_FILE,
    help="File of the set's own pictures (`homologue set enrol`): each serial is checked against that tile's picture.",
)


@click.command(short_help="Read pictures of tile backs.")
@click.argument("pictures", metavar="PICTURE...", nargs=-1, required=True, type=ANY)
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
    type=ANY,
    help="Write the picture with each tile's verdict, and below it each tile with its serial, the doubtful first, "
    "to a PNG or JPEG file, or to a folder for several pictures.",
)
@set_option
@language_option("the messages")
def read(
    pictures: tuple[Path, ...],
    expected_file: Path | None,
    overlay: Path | None,
    enrolled_file: Path | None,
    language: str,
    *,
    as_json: bool,
) -> None:
    """Read the serials on tile backs, row by row. With --expected, list what is wrong in the tray.

    If a picture cannot be read, its error is printed and the next one is read. The exit code is then 1; with --json,
    where errors are lines of the output, it is 1 only if a file does not exist.
    """
    expected = load_expected(expected_file) if expected_file else None
    enrolled = read_complete(enrolled_file) if enrolled_file else None
    if overlay is not None and len(pictures) > 1 and not overlay.is_dir():
        raise click.UsageError("with several pictures, --overlay must be an existing folder")
    failed = False
    for path in progress(pictures, "Reading"):
        try:
            click.echo(_read_one(path, expected, overlay, enrolled, None if as_json else Translator(language)))
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
    _: Translator | None,
) -> str:
    """Return the output for one picture: JSON if there is no translator, otherwise text. Raises VisionError."""
    image = path.name
    began = time.perf_counter()
    picture = load_picture(path)
    reading = read_picture(picture, enrolled=enrolled)
    faults = compare(reading, expected) if expected else ()
    verdict = TrayVerdict(faults, verified(reading, expected, faults)) if expected else None
    milliseconds = (time.perf_counter() - began) * 1000
    if overlay is not None:
        write_overlay(overlay, image, checked_picture(picture, reading, faults))
    if _ is None:
        return json.dumps(reading_line(image, milliseconds, reading, verdict))
    text = reading_text(_, image, milliseconds, reading, verdict)
    return "\n  ".join([text, _(ENROL_SET)]) if enrolled is None and reading.print_to_blame else text


SEAT_NAMES: Final = ("east", "south", "west", "north")

PICTURE: Final = (click.Choice(SEAT_NAMES), ANY)


@click.command("laid", short_help="Read rivers, melds and hands from pictures.")
@click.option("--river", "rivers", type=PICTURE, multiple=True, metavar="SEAT PICTURE", help="The seat's river.")
@click.option(
    "--hand", "hands", type=PICTURE, multiple=True, metavar="SEAT PICTURE", help="The seat's hand, then its melds."
)
@click.option(
    "--gaps/--no-gaps", default=True, show_default=True, help="Whether claimed tiles have left gaps in the rivers."
)
@set_option
def laid(
    rivers: tuple[tuple[str, Path], ...],
    hands: tuple[tuple[str, Path], ...],
    enrolled_file: Path | None,
    *,
    gaps: bool,
) -> None:
    """Read pictures of rivers and of hands with their melds, all tiles face down, for `homologue record rivers`.

    Turn each tile of a river over where it lies, in rows of six. In the picture of a hand, the concealed tiles come
    first, then each meld, set apart, and last a winning tile. If the last row is full, either end may be the first. See
    docs/play.md.

    \b
    homologue record laid --river east east.jpg --river south south.jpg --hand east east-hand.jpg >laid.json
    """
    enrolled = read_complete(enrolled_file) if enrolled_file else None
    seats: dict[str, dict[str, Any]] = {}
    found: dict[str, Any] = {"seats": seats}
    for seat, path in progress(rivers, "Reading rivers"):
        picture = load_picture(path)
        river = read_river(picture, read_picture(picture, close=False, enrolled=enrolled).reads)
        seats.setdefault(seat, {}).update(river=river.serials, gaps=gaps and river.gaps, either_end=river.either_end)
    for seat, path in progress(hands, "Reading hands"):
        picture = load_picture(path)
        hand = read_hand(picture, read_picture(picture, close=False, enrolled=enrolled).reads)
        seats.setdefault(seat, {}).update(hand=hand.hand, melds=hand.melds)
        if hand.winning is not None:
            found["winning"] = hand.winning
    click.echo(json.dumps(found))
