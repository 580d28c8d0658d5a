"""`homologue read`: pictures in, serials in order out."""

import json
import time
from pathlib import Path

import click

from vision.errors import ExpectedDealError, VisionError
from vision.expected import Expected, load_expected
from vision.live.overlay import draw_overlay, write_overlay
from vision.picture import load_picture
from vision.reader import read_picture
from vision.reading import Reading
from vision.report import Verdict, error_line, reading_line, reading_text
from vision.verdict import compare, verified


@click.command(short_help="Read pictures of tile backs.")
@click.argument("pictures", metavar="PICTURE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each picture, errors included.")
@click.option(
    "--expected",
    "expected_file",
    type=click.Path(path_type=Path),
    help='What should lie there: {"tray": [[13 serials], [11], [10]]}, or such rows under "E", "S", "W" and "N".',
)
@click.option(
    "--overlay",
    type=click.Path(path_type=Path),
    help="Write the picture with each tile's verdict: a PNG or JPEG file, or a folder for several pictures.",
)
def read(pictures: tuple[Path, ...], expected_file: Path | None, overlay: Path | None, *, as_json: bool) -> None:
    """Read the serials on tile backs, row by row; with --expected, name what is wrong in the tray.

    A picture that cannot be read is told by its code and stops no other; the exit code is 0 all the same.
    """
    try:
        expected = load_expected(expected_file) if expected_file else None
    except ExpectedDealError as error:
        message = {"error": {"code": error.code, "message": str(error)}}
        click.echo(json.dumps(message) if as_json else f"{error.code}: {error}", err=not as_json)
        raise click.exceptions.Exit(1) from error
    if overlay is not None and len(pictures) > 1 and not overlay.is_dir():
        raise click.UsageError("--overlay names a folder that is there when several pictures are read")
    for picture in pictures:
        click.echo(_read_one(picture, expected, overlay, as_json=as_json))


def _read_one(path: Path, expected: Expected | None, overlay: Path | None, *, as_json: bool) -> str:
    """Give the lines for one picture; a picture that cannot be read stops no other."""
    image = path.name
    began = time.perf_counter()
    try:
        picture = load_picture(path)
        reading = read_picture(picture)
        verdict = _judge(reading, expected) if expected else None
        took = (time.perf_counter() - began) * 1000
        if overlay is not None:
            write_overlay(overlay, image, draw_overlay(picture, reading, verdict.faults if verdict else ()))
    except VisionError as error:
        return json.dumps(error_line(image, error)) if as_json else f"{image}: {error} ({error.code})"
    if as_json:
        return json.dumps(reading_line(image, took, reading, verdict))
    return reading_text(image, took, reading, verdict)


def _judge(reading: Reading, expected: Expected) -> Verdict:
    faults = compare(reading, expected)
    return Verdict(faults, verified(reading, expected, faults))
